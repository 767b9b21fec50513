/* metrics.c - the walk over families of metrics and their samples: see metrics.h. */
#include "render/metrics.h"

#include <assert.h>
#include <string.h>

#include "base/saturate.h"

struct walk {
    const struct mst_shown        *shown;
    size_t                         which;   /* the board */
    const struct mst_metrics_form *form;
    void                          *out;
};

/* ---- families ------------------------------------------------------------------------ */

enum mst_metric_kind mst_metric_kind(const struct mst_field *f)
{
    if (f->type == MST_TYPE_STRING)
        return MST_METRIC_INFO;
    if (f->type == MST_TYPE_HISTOGRAM)
        return MST_METRIC_HISTOGRAM;
    return f->nature == MST_NATURE_COUNTER ? MST_METRIC_COUNTER : MST_METRIC_GAUGE;
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

void mst_metrics_help(struct mst_sink *sink, const struct mst_field *f,
                      void (*put)(struct mst_sink *sink, const char *text))
{
    const struct mst_field *row, *end = mst_fields + mst_field_count;

    if (mst_metric_kind(f) != MST_METRIC_INFO) {
        put(sink, f->help);
        return;
    }
    for (row = f; row < end; row++) {
        if (!same_family(row, f))
            continue;
        mst_sink_puts(sink, row == f ? "" : "; ");
        mst_sink_puts(sink, row->id);
        mst_sink_puts(sink, ": ");
        put(sink, row->help);
    }
}

/* ---- labels -------------------------------------------------------------------------- */

static void add_label(struct mst_metric_sample *s, const char *name, const char *value)
{
    assert(s->label_count < MST_SAMPLE_LABELS);
    s->labels[s->label_count].name = name;
    s->labels[s->label_count].value = value;
    s->label_count++;
}

/* The value of the row that names an element. Elements that have a number have no metrics. */
static const char *key_of(const struct mst_place *place)
{
    const struct mst_field *f = mst_scope_key(place->scope);

    assert(f->type == MST_TYPE_STRING);
    return mst_field_string(f, place);
}

/* The labels that name a place: board and producer, then the elements from the outermost on. */
static void add_place(const struct walk *w, struct mst_metric_sample *s,
                      const struct mst_place *place)
{
    const struct mst_scope_form *form = &mst_scopes[place->scope];

    if (place->parent == NULL) {
        add_label(s, form->openmetrics,
                  mst_board_name(w->shown->boards, w->shown->count, w->which));
        add_label(s, mst_scope_key(place->scope)->id, key_of(place));
        return;
    }
    add_place(w, s, place->parent);
    add_label(s, form->openmetrics,
              form->names != NULL ? form->names[place->index] : key_of(place));
    if (form->kind != NULL && mst_field_known(mst_scope_key(place->scope) + 1, place, 0))
        add_label(s, form->kind, mst_field_string(mst_scope_key(place->scope) + 1, place));
}

/* ---- samples ------------------------------------------------------------------------- */

static void pass_on(const struct walk *w, const struct mst_field *f,
                    const struct mst_metric_sample *s)
{
    w->form->sample(w->out, f, s);
}

/* A number, or a number for each element of an array. */
static void show_numbers(const struct walk *w, const struct mst_field *f,
                         const struct mst_place *place)
{
    const char *const *names;
    size_t count = mst_type_elements(f->type, &names), i;

    for (i = 0; i < (count > 0 ? count : 1); i++) {
        struct mst_metric_sample s = { 0 };

        if (!mst_field_known(f, place, i))
            continue;
        add_place(w, &s, place);
        if (count > 0)
            add_label(&s, mst_type_key(f->type), names[i]);
        s.word = mst_field_words(f, place)[i];
        pass_on(w, f, &s);
    }
}

/* Sets the latest exemplar of each bucket of a phase's histogram. */
static void find_exemplars(const struct mst_exemplars *all, const struct mst_place *place,
                           const struct mst_exemplar *latest[MST_HIST_BUCKETS])
{
    const struct mst_snapshot_label *label = place->parent->element;
    size_t i;

    for (i = 0; i < all->count; i++) {
        uint64_t ns = all->items[i].phase_ns[place->index];

        if (all->items[i].label == label->label && ns != MST_UNKNOWN)
            latest[mst_histogram_bucket(ns)] = &all->items[i];
    }
}

const struct mst_exemplar *mst_sample_exemplar(const struct mst_metric_sample *s, unsigned from,
                                               unsigned end)
{
    const struct mst_exemplar *latest = NULL;

    for (; from < end; from++)
        if (s->exemplars[from] != NULL && (latest == NULL || s->exemplars[from] > latest))
            latest = s->exemplars[from];
    return latest;
}

/* Whether a phase's histogram has bounds: where nothing was asked for, not those of the page's own
 * requests, which are the scrapes themselves. */
static bool has_bounds(const struct mst_histograms_wanted *wanted, const struct mst_place *place)
{
    const struct mst_snapshot_label *label = place->parent->element;

    if (wanted->phases != 0)
        return (wanted->phases & 1u << place->index) != 0;
    return wanted->bounds != 0 || label->label == NULL
        || strcmp(label->label, MST_LABEL_STATUS_NAME) != 0;
}

/* Precondition: histograms are those of phases. */
static void show_histogram(const struct walk *w, const struct mst_field *f,
                           const struct mst_place *place)
{
    const struct mst_exemplar *latest[MST_HIST_BUCKETS] = { NULL };
    struct mst_metric_sample s = {
        .histogram = mst_field_histogram(f, place), .phase = (enum mst_phase)place->index,
        .exemplars = latest,
    };

    if (!mst_field_known(f, place, 0))
        return;
    find_exemplars(&w->shown->boards[w->which]->exemplars, place, latest);
    s.bounded = has_bounds(&w->shown->histograms, place);
    add_place(w, &s, place);
    pass_on(w, f, &s);
}

/* One sample for all rows of a family. Unknown rows have no label; without one there is nothing to
 * say. */
static void show_info(const struct walk *w, const struct mst_field *f,
                      const struct mst_place *place)
{
    const struct mst_field *row, *end = mst_fields + mst_field_count;
    struct mst_metric_sample s = { .word = 1 };
    size_t place_labels;

    add_place(w, &s, place);
    place_labels = s.label_count;
    for (row = f; row < end; row++)
        if (same_family(row, f) && mst_field_known(row, place, 0))
            add_label(&s, row->id, mst_field_string(row, place));
    if (s.label_count > place_labels)
        pass_on(w, f, &s);
}

static void show_samples_at(const struct walk *w, const struct mst_field *f,
                            const struct mst_place *place)
{
    switch (mst_metric_kind(f)) {
    case MST_METRIC_COUNTER:
    case MST_METRIC_GAUGE:     show_numbers(w, f, place); break;
    case MST_METRIC_HISTOGRAM: show_histogram(w, f, place); break;
    case MST_METRIC_INFO:      show_info(w, f, place); break;
    }
}

/* Whether elements of `inner` are within those of `outer`, at any depth. */
static bool lies_within(enum mst_scope inner, enum mst_scope outer)
{
    while (inner != outer && inner != MST_SCOPE_BOARD)
        inner = mst_scopes[inner].parent;
    return inner == outer;
}

/* Shows a field's samples at a place, or at all places of its scope within it. */
static void show_samples(const struct walk *w, const struct mst_field *f,
                         const struct mst_place *place)
{
    enum mst_scope scope;
    size_t i;

    if (place->scope == f->scope) {
        show_samples_at(w, f, place);
        return;
    }
    for (scope = MST_SCOPE_BOARD + 1; scope < MST_SCOPE_COUNT; scope++) {
        struct mst_elements list;

        if (mst_scopes[scope].parent != place->scope || !lies_within(f->scope, scope))
            continue;
        list = mst_scope_elements(place, scope);
        for (i = 0; i < list.count; i++) {
            struct mst_place inner = mst_place_at(place, scope, &list, i);

            show_samples(w, f, &inner);
        }
    }
}

/* The samples of the boards from..to-1, family by family. */
static void walk_boards(const struct mst_shown *shown, size_t from, size_t to,
                        const struct mst_metrics_form *form, void *out)
{
    struct walk w = { .shown = shown, .form = form, .out = out };
    const struct mst_field *f, *end = mst_fields + mst_field_count;

    for (f = mst_fields; f < end; f++) {
        if (!first_of_family(f))
            continue;
        form->begin_family(out, f);
        for (w.which = from; w.which < to; w.which++) {
            struct mst_place board = mst_place_board(shown->boards[w.which]);

            show_samples(&w, f, &board);
        }
        form->end_family(out);
    }
}

void mst_metrics_walk_board(const struct mst_shown *shown, size_t which,
                            const struct mst_metrics_form *form, void *out)
{
    walk_boards(shown, which, which + 1, form, out);
}

void mst_metrics_walk_own(const struct mst_shown *shown, const struct mst_metrics_form *form,
                          void *out)
{
    const struct mst_own_metric *m, *end = shown->own + shown->own_count;
    struct mst_field f = { .type = MST_TYPE_U64, .unit = MST_UNIT_COUNT };

    for (m = shown->own; m < end; m++) {
        struct mst_metric_sample s = { .word = m->number };

        f.nature = m->is_gauge ? MST_NATURE_GAUGE : MST_NATURE_COUNTER;
        f.openmetrics = m->family;
        f.help = m->help;
        if (m == shown->own || strcmp(m[-1].family, m->family) != 0)
            form->begin_family(out, &f);
        add_label(&s, m->label, m->value);
        form->sample(out, &f, &s);
        if (m + 1 == end || strcmp(m[1].family, m->family) != 0)
            form->end_family(out);
    }
}

void mst_metrics_walk(const struct mst_shown *shown, const struct mst_metrics_form *form,
                      void *out)
{
    walk_boards(shown, 0, shown->count, form, out);
    mst_metrics_walk_own(shown, form, out);
}

/* ---- the bounds of a histogram --------------------------------------------------------- */

#define BOUNDS_MIN_EXP 14u   /* 16 us; the last one is 2^MST_HIST_MAX_EXP ns, 73 min */
#define FINE_MIN_EXP   19u   /* 0.52 ms: the octave that has 1 ms */
#define FINE_MAX_EXP   36u   /* 68.7 s: the end of the octave that has 60 s */
#define SUB_BUCKETS    (1u << MST_HIST_SUB_BITS)

/* Whether the lower bound of a bucket, which is not the first, is a bound of the metrics. */
static bool is_bound(unsigned bucket, unsigned per_octave)
{
    unsigned exponent = MST_HIST_MIN_EXP + (bucket - 1) / SUB_BUCKETS;
    unsigned sub = (bucket - 1) % SUB_BUCKETS;

    if (sub == 0)
        return exponent >= BOUNDS_MIN_EXP;
    return exponent >= FINE_MIN_EXP && exponent < FINE_MAX_EXP
           && sub % (SUB_BUCKETS / per_octave) == 0;
}

/* Each bound is a series of every label and phase, and fewer bounds make quantiles worse: where all
 * requests take the same time, Prometheus's p99 is at most 12.5 % too large with eight bounds an
 * octave, 25 % with four, 50 % with two, 100 % with one. Eight are three times as many series as
 * two, so who wants them asks; native histograms are one series, and better than eight bounds. */
#define BOUNDS_DEFAULT 2u

unsigned mst_bounds_wanted(const struct mst_shown *shown)
{
    return shown->histograms.bounds > 0 ? shown->histograms.bounds : BOUNDS_DEFAULT;
}

bool mst_bound_next(struct mst_bound *b, const struct mst_histogram *h, unsigned per_octave)
{
    while (b->bucket < MST_HIST_BUCKETS - 1) {
        b->below = mst_add_saturated(b->below, h->buckets[b->bucket++]);
        if (is_bound(b->bucket, per_octave)) {
            b->ns = mst_histogram_lower(b->bucket);
            return true;
        }
    }
    return false;
}

/* A native bucket of schema 5 is 2.2 % wide, a bucket of the tallies 6.7 to 12.5 %. The whole count
 * of a tally's bucket goes into one native bucket: into that in its middle whose distance to the
 * farther end of the tally's bucket is least. So nothing is counted more than 7.8 % from its true
 * place, and a quantile is at most 7.8 % wrong, however the times are distributed. (Schema 3 has as
 * many buckets an octave as the tallies, but with other bounds: an error of 12.2 % would be
 * possible.) */
int64_t mst_native_index(unsigned bucket)
{
    /* For the octave that begins at 1 ns. */
    static const int64_t indices[SUB_BUCKETS] = {
        -954, -948, -944, -940, -936, -932, -929, -926
    };
    unsigned octave = MST_HIST_MIN_EXP + (bucket - 1) / SUB_BUCKETS;

    return ((int64_t)octave << MST_NATIVE_SCHEMA) + indices[(bucket - 1) % SUB_BUCKETS];
}
