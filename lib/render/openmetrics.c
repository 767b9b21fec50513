/* openmetrics.c - boards as metrics: OpenMetrics 1.0, and Prometheus's older text format 0.0.4.
 *
 * The samples of a family, those of all boards, must follow each other. So the outer loop is
 * over the table and the inner one over the boards. Rows that share a family are texts: they
 * become the labels of one info metric, named by their ids.
 */
#include "render/render.h"

#include <string.h>

#include "render/scope.h"

/* Bucket bounds are powers of two in nanoseconds, from 16 us to 73 min, which are bounds of the
 * histogram, too. They must stay the same in every version, or rates break. */
#define LE_MIN_EXP 14u
#define LE_MAX_EXP 42u

struct metrics {
    struct mst_sink                  *out;
    bool                              classic;   /* the format 0.0.4 */
    const struct mst_snapshot *const *boards;
    size_t                            count, which;
};

enum kind { KIND_COUNTER, KIND_GAUGE, KIND_HISTOGRAM, KIND_INFO };

static enum kind kind_of(const struct mst_field *f)
{
    if (f->type == MST_TYPE_STRING)
        return KIND_INFO;
    if (f->type == MST_TYPE_HISTOGRAM)
        return KIND_HISTOGRAM;
    return f->nature == MST_NATURE_COUNTER ? KIND_COUNTER : KIND_GAUGE;
}

static bool same_family(const struct mst_field *a, const struct mst_field *b)
{
    return a->openmetrics != NULL && b->openmetrics != NULL
           && strcmp(a->openmetrics, b->openmetrics) == 0;
}

static bool first_of_family(const struct mst_field *f)
{
    const struct mst_field *earlier;

    if (f->openmetrics == NULL)
        return false;
    for (earlier = mst_fields; earlier < f; earlier++)
        if (same_family(earlier, f))
            return false;
    return true;
}

/* ---- a family's head -------------------------------------------------------------- */

/* The family's name in # lines. In OpenMetrics it lacks the suffix of the samples. */
static void put_family(struct metrics *m, const struct mst_field *f)
{
    size_t length = strlen(f->openmetrics);

    if (kind_of(f) == KIND_INFO && !m->classic)
        length -= strlen("_info");
    mst_sink_bytes(m->out, f->openmetrics, length);
    if (m->classic)
        mst_sink_puts(m->out, mst_field_suffix(f));
}

static void begin_meta(struct metrics *m, const struct mst_field *f, const char *what)
{
    mst_sink_puts(m->out, "# ");
    mst_sink_puts(m->out, what);
    mst_sink_char(m->out, ' ');
    put_family(m, f);
    mst_sink_char(m->out, ' ');
}

static void put_type(struct metrics *m, const struct mst_field *f)
{
    static const char *const types[] = {
        [KIND_COUNTER] = "counter", [KIND_GAUGE] = "gauge", [KIND_HISTOGRAM] = "histogram",
        [KIND_INFO] = "info",
    };
    enum kind kind = kind_of(f);

    begin_meta(m, f, "TYPE");
    mst_sink_puts(m->out, types[kind == KIND_INFO && m->classic ? KIND_GAUGE : kind]);
    mst_sink_char(m->out, '\n');
}

/* OpenMetrics requires that the family's name ends with its unit. */
static void put_unit(struct metrics *m, const struct mst_field *f)
{
    const char *suffix = strrchr(f->openmetrics, '_');

    if (m->classic || suffix == NULL
        || (strcmp(suffix, "_seconds") != 0 && strcmp(suffix, "_bytes") != 0))
        return;
    begin_meta(m, f, "UNIT");
    mst_sink_puts(m->out, suffix + 1);
    mst_sink_char(m->out, '\n');
}

/* The help of an info metric explains each of its labels. */
static void put_help(struct metrics *m, const struct mst_field *f)
{
    const struct mst_field *row, *end = mst_fields + mst_field_count;

    begin_meta(m, f, "HELP");
    if (kind_of(f) != KIND_INFO)
        mst_sink_help(m->out, f->help, !m->classic);
    for (row = f; row < end && kind_of(f) == KIND_INFO; row++) {
        if (!same_family(row, f))
            continue;
        mst_sink_puts(m->out, row == f ? "" : "; ");
        mst_sink_puts(m->out, row->id);
        mst_sink_puts(m->out, ": ");
        mst_sink_help(m->out, row->help, !m->classic);
    }
    mst_sink_char(m->out, '\n');
}

/* ---- samples ------------------------------------------------------------------------- */

static void begin_label(struct metrics *m, const char *name)
{
    mst_sink_puts(m->out, name);
    mst_sink_char(m->out, '=');
}

static void put_label(struct metrics *m, const char *name, const char *value)
{
    mst_sink_char(m->out, ',');
    begin_label(m, name);
    mst_sink_label_value(m->out, value);
}

/* The value of the row that names an element: a label's name, a worker's number. */
static void put_key_label(struct metrics *m, const char *name, const struct mst_place *place)
{
    const struct mst_field *f = mst_scope_key(place->scope);

    if (f->type == MST_TYPE_STRING) {
        put_label(m, name, mst_field_string(f, place));
        return;
    }
    mst_sink_char(m->out, ',');
    begin_label(m, name);
    mst_sink_char(m->out, '"');
    mst_sink_u64(m->out, mst_field_words(f, place)[0]);
    mst_sink_char(m->out, '"');
}

/* The labels that name a place: board and producer, then the elements from the outermost on. */
static void put_place_labels(struct metrics *m, const struct mst_place *place)
{
    const struct mst_scope_form *form = &mst_scopes[place->scope];

    if (place->parent == NULL) {
        begin_label(m, form->openmetrics);
        mst_sink_label_value(m->out, mst_board_name(m->boards, m->count, m->which));
        put_key_label(m, mst_scope_key(place->scope)->id, place);
        return;
    }
    put_place_labels(m, place->parent);
    if (form->names != NULL)
        put_label(m, form->openmetrics, form->names[place->index]);
    else
        put_key_label(m, form->openmetrics, place);
    if (form->kind != NULL && mst_field_known(mst_scope_key(place->scope) + 1, place, 0))
        put_label(m, form->kind, mst_field_string(mst_scope_key(place->scope) + 1, place));
}

/* `family_suffix{board="..",producer="..",...`, open for further labels. */
static void begin_sample(struct metrics *m, const struct mst_field *f, const char *suffix,
                         const struct mst_place *place)
{
    mst_sink_puts(m->out, f->openmetrics);
    mst_sink_puts(m->out, suffix);
    mst_sink_char(m->out, '{');
    put_place_labels(m, place);
}

static void end_sample(struct metrics *m, const struct mst_field *f, uint64_t word)
{
    mst_sink_puts(m->out, "} ");
    if (f->unit == MST_UNIT_TIME || f->unit == MST_UNIT_INSTANT)
        mst_sink_seconds(m->out, word);
    else if (f->type == MST_TYPE_I64)
        mst_sink_i64(m->out, (int64_t)word);
    else
        mst_sink_u64(m->out, word);
    mst_sink_char(m->out, '\n');
}

static void end_count(struct metrics *m, uint64_t count)
{
    mst_sink_puts(m->out, "} ");
    mst_sink_u64(m->out, count);
    mst_sink_char(m->out, '\n');
}

/* A number, or a number for each element of an array. */
static void put_numbers(struct metrics *m, const struct mst_field *f, const struct mst_place *place)
{
    const char *const *names;
    size_t count = mst_type_elements(f->type, &names), i;

    for (i = 0; i < (count > 0 ? count : 1); i++) {
        if (!mst_field_known(f, place, i))
            continue;
        begin_sample(m, f, mst_field_suffix(f), place);
        if (count > 0)
            put_label(m, mst_type_key(f->type), names[i]);
        end_sample(m, f, mst_field_words(f, place)[i]);
    }
}

static void put_histogram(struct metrics *m, const struct mst_field *f,
                          const struct mst_place *place)
{
    const struct mst_histogram *h = mst_field_histogram(f, place);
    uint64_t all;
    unsigned exponent;

    if (!mst_field_known(f, place, 0))
        return;
    all = mst_histogram_count(h);
    for (exponent = LE_MIN_EXP; exponent <= LE_MAX_EXP; exponent++) {
        begin_sample(m, f, "_bucket", place);
        mst_sink_puts(m->out, ",le=\"");
        mst_sink_seconds(m->out, UINT64_C(1) << exponent);
        mst_sink_char(m->out, '"');
        end_count(m, mst_histogram_below(h, exponent));
    }
    begin_sample(m, f, "_bucket", place);
    put_label(m, "le", "+Inf");
    end_count(m, all);
    begin_sample(m, f, "_count", place);
    end_count(m, all);
    begin_sample(m, f, "_sum", place);
    end_sample(m, f, h->sum_ns);
}

/* One sample for all rows of a family. Unknown rows have no label. */
static void put_info(struct metrics *m, const struct mst_field *f, const struct mst_place *place)
{
    const struct mst_field *row, *end = mst_fields + mst_field_count;

    begin_sample(m, f, "", place);
    for (row = f; row < end; row++)
        if (same_family(row, f) && mst_field_known(row, place, 0))
            put_label(m, row->id, mst_field_string(row, place));
    end_count(m, 1);
}

static void put_samples_at(struct metrics *m, const struct mst_field *f,
                           const struct mst_place *place)
{
    switch (kind_of(f)) {
    case KIND_COUNTER:
    case KIND_GAUGE:     put_numbers(m, f, place); break;
    case KIND_HISTOGRAM: put_histogram(m, f, place); break;
    case KIND_INFO:      put_info(m, f, place); break;
    }
}

/* Whether elements of `inner` are within those of `outer`, at any depth. */
static bool lies_within(enum mst_scope inner, enum mst_scope outer)
{
    while (inner != outer && inner != MST_SCOPE_BOARD)
        inner = mst_scopes[inner].parent;
    return inner == outer;
}

/* Writes a field's samples at a place, or at all places of its scope within it. */
static void put_samples(struct metrics *m, const struct mst_field *f, const struct mst_place *place)
{
    enum mst_scope scope;
    size_t i;

    if (place->scope == f->scope) {
        put_samples_at(m, f, place);
        return;
    }
    for (scope = MST_SCOPE_BOARD + 1; scope < MST_SCOPE_COUNT; scope++) {
        struct mst_elements list;

        if (mst_scopes[scope].parent != place->scope || !lies_within(f->scope, scope))
            continue;
        list = mst_scope_elements(place, scope);
        for (i = 0; i < list.count; i++) {
            struct mst_place inner = mst_place_at(place, scope, &list, i);

            put_samples(m, f, &inner);
        }
    }
}

/* ---- all ------------------------------------------------------------------------------- */

static void put_whole_family(struct metrics *m, const struct mst_field *f)
{
    put_type(m, f);
    put_unit(m, f);
    put_help(m, f);
    for (m->which = 0; m->which < m->count; m->which++) {
        struct mst_place board = mst_place_board(m->boards[m->which]);

        put_samples(m, f, &board);
    }
}

static void put_families(struct metrics *m)
{
    size_t i;

    for (i = 0; i < mst_field_count; i++)
        if (first_of_family(&mst_fields[i]))
            put_whole_family(m, &mst_fields[i]);
}

void mst_render_openmetrics(struct mst_sink *sink, const struct mst_snapshot *const *boards,
                            size_t count)
{
    struct metrics m = { .out = sink, .boards = boards, .count = count };

    put_families(&m);
    mst_sink_puts(sink, "# EOF\n");
}

void mst_render_prometheus(struct mst_sink *sink, const struct mst_snapshot *const *boards,
                           size_t count)
{
    struct metrics m = { .out = sink, .classic = true, .boards = boards, .count = count };

    put_families(&m);
}
