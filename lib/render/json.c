/* json.c - boards as JSON: every field, null where it is unknown.
 *
 * Dots in the table's `json` column are nested objects. So the rows of one object must follow
 * each other in fields.def.
 */
#include "render/render.h"

#include <assert.h>
#include <string.h>

#include "render/held.h"
#include "render/json_writer.h"
#include "render/scope.h"

#define PATH_MAX_JSON 64u   /* bytes of a `json` column, with its NUL */

/* What is being written, and the dotted path of the object that is open inside the present
 * element ("" or "journal.requests."). */
struct board_json {
    struct mst_json json;
    char            open[PATH_MAX_JSON];
};

/* ---- nested objects -------------------------------------------------------------- */

/* Closes the objects of b->open that are not in the first `keep` bytes of it. */
static void leave(struct board_json *b, size_t keep)
{
    char *c;

    for (c = b->open + keep; *c != '\0'; c++)
        if (*c == '.')
            mst_json_end(&b->json, '}');
    b->open[keep] = '\0';
}

/* The bytes of `path` that lead through objects which are open already. */
static size_t shared_path(const struct board_json *b, const char *path)
{
    size_t i, shared = 0;

    for (i = 0; path[i] != '\0' && path[i] == b->open[i]; i++)
        if (path[i] == '.')
            shared = i + 1;
    return shared;
}

/* Opens and closes objects until the one that `path` names a member of is open. Returns the
 * member's key. */
static const char *enter(struct board_json *b, const char *path, unsigned indent)
{
    size_t at = shared_path(b, path);
    char name[PATH_MAX_JSON];
    const char *dot;

    leave(b, at);
    if (at == 0 && indent > 0)
        mst_json_line(&b->json, indent);
    while ((dot = strchr(path + at, '.')) != NULL) {
        size_t length = (size_t)(dot - path) - at;

        assert(at + length + 1 < sizeof(b->open));
        memcpy(name, path + at, length);
        name[length] = '\0';
        mst_json_begin(&b->json, name, '{');
        at += length + 1;
        memcpy(b->open, path, at);
        b->open[at] = '\0';
    }
    return path + at;
}

/* ---- values --------------------------------------------------------------------------- */

static void put_word(struct mst_json *j, const char *key, const struct mst_field *f, uint64_t word)
{
    if (f->unit == MST_UNIT_TIME) {
        mst_json_seconds(j, key, word);
    } else if (f->unit == MST_UNIT_INSTANT) {
        mst_json_instant(j, key, word);
    } else if (f->type == MST_TYPE_I64 && word != MST_UNKNOWN) {
        mst_json_value(j, key);
        mst_sink_i64(j->out, (int64_t)word);
    } else {
        mst_json_count(j, key, word);
    }
}

static void put_field(struct mst_json *j, const char *key, const struct mst_field *f,
                      const struct mst_place *place)
{
    const char *const *names;
    size_t count = mst_type_elements(f->type, &names), i;

    if (f->type == MST_TYPE_STRING) {
        mst_json_string(j, key, mst_field_known(f, place, 0) ? mst_field_string(f, place) : NULL);
        return;
    }
    if (count == 0) {
        put_word(j, key, f, mst_field_words(f, place)[0]);
        return;
    }
    mst_json_begin(j, key, '{');
    for (i = 0; i < count; i++)
        put_word(j, names[i], f, mst_field_words(f, place)[i]);
    mst_json_end(j, '}');
}

/* ---- the distribution of all requests ----------------------------------------------------- */

/* Times of all labels but the status page's own. Returns whether any is known. */
static bool add_totals(struct mst_histogram *all, const struct mst_snapshot *board)
{
    bool known = false;
    size_t i;

    for (i = 0; i < board->label_count; i++) {
        const struct mst_snapshot_label *label = &board->labels[i];
        const struct mst_histogram *times = &label->phases[MST_PHASE_TOTAL].times;

        if (times->sum_ns == MST_UNKNOWN || (label->label != NULL &&
                                             strcmp(label->label, MST_LABEL_STATUS_NAME) == 0))
            continue;
        mst_histogram_add(all, times);
        known = true;
    }
    return known;
}

/* "total_buckets": [lower bound, requests] of each bucket that has any, of the phase `total`. The
 * difference of two snapshots is the distribution of what ended between them. */
static void put_totals(struct mst_json *j, const struct mst_snapshot *board)
{
    struct mst_histogram all = { 0 };
    unsigned i;

    if (!add_totals(&all, board)) {
        mst_json_string(j, "total_buckets", NULL);
        return;
    }
    mst_json_begin(j, "total_buckets", '[');
    for (i = 0; i < MST_HIST_BUCKETS; i++) {
        if (all.buckets[i] == 0)
            continue;
        mst_json_begin(j, NULL, '[');
        mst_json_seconds(j, NULL, mst_histogram_lower(i));
        mst_json_count(j, NULL, all.buckets[i]);
        mst_json_end(j, ']');
    }
    mst_json_end(j, ']');
}

/* ---- elements ----------------------------------------------------------------------------- */

static void put_place(struct board_json *b, const char *key, const struct mst_place *place);

/* {"queue":{...},...}: the elements with fixed names of which any field is known. */
static void put_named(struct board_json *b, const char *key, const struct mst_place *parent,
                      enum mst_scope scope, const struct mst_elements *list)
{
    size_t i;

    mst_json_begin(&b->json, key, '{');
    for (i = 0; i < list->count; i++) {
        struct mst_place place = mst_place_at(parent, scope, list, i);

        if (mst_place_known(&place))
            put_place(b, mst_scopes[scope].names[i], &place);
    }
    mst_json_end(&b->json, '}');
}

static void put_list(struct board_json *b, const char *key, const struct mst_place *parent,
                     enum mst_scope scope, const struct mst_elements *list)
{
    size_t i;

    mst_json_begin(&b->json, key, '[');
    for (i = 0; i < list->count; i++) {
        struct mst_place place = mst_place_at(parent, scope, list, i);

        mst_json_line(&b->json, 2);
        put_place(b, NULL, &place);
    }
    mst_json_end(&b->json, ']');
}

static void put_elements(struct board_json *b, const char *key, const struct mst_place *parent,
                         enum mst_scope scope)
{
    struct mst_elements list = mst_scope_elements(parent, scope);

    if (!list.known)
        mst_json_string(&b->json, key, NULL);
    else if (mst_scopes[scope].names != NULL)
        put_named(b, key, parent, scope, &list);
    else
        put_list(b, key, parent, scope, &list);
}

/* Each member of a board is on a line of its own; the members of other elements share one. */
static void put_place(struct board_json *b, const char *key, const struct mst_place *place)
{
    unsigned indent = place->parent == NULL ? 1 : 0;
    enum mst_scope scope;
    size_t i;

    mst_json_begin(&b->json, key, '{');
    for (i = 0; i < mst_field_count; i++)
        if (mst_fields[i].scope == place->scope && mst_fields[i].json != NULL)
            put_field(&b->json, enter(b, mst_fields[i].json, indent), &mst_fields[i], place);
    leave(b, 0);
    for (scope = MST_SCOPE_BOARD + 1; scope < MST_SCOPE_COUNT; scope++)
        if (mst_scopes[scope].parent == place->scope)
            put_elements(b, enter(b, mst_scopes[scope].json, indent), place, scope);
    if (place->parent == NULL) {
        mst_json_line(&b->json, indent);
        put_totals(&b->json, place->element);
    }
    mst_json_end(&b->json, '}');
}

/* A mst_held_take. */
static void put_held(void *json, const struct mst_snapshot *board, const struct mst_held *h,
                     const char *sentence)
{
    struct mst_json *j = json;

    mst_json_line(j, 1);
    mst_json_begin(j, NULL, '{');
    mst_json_string(j, "board", board->path);
    mst_json_string(j, "pool", h->pool != NULL ? h->pool->label : NULL);
    mst_json_bool(j, "stuck", h->is_stuck);
    mst_json_string(j, "sentence", sentence);
    mst_json_count(j, "workers_limit", h->limit);
    mst_json_count(j, "held", h->busy);
    mst_json_count(j, "alike", h->count);
    mst_json_string(j, "state", h->example->state);
    mst_json_string(j, "wait", h->example->wait[0] != '\0' ? h->example->wait : NULL);
    mst_json_string(j, "wait_end", h->example->wait_end[0] != '\0' ? h->example->wait_end : NULL);
    mst_held_put_code(j, h->code_count > 0 ? &h->in_code->code : NULL);
    mst_json_seconds(j, "longest_seconds", h->longest_ns);
    mst_json_seconds(j, "none_taken_for_seconds", h->is_stuck ? h->idle_ns : MST_UNKNOWN);
    mst_json_end(j, '}');
}

void mst_render_json(struct mst_sink *sink, const struct mst_shown *shown)
{
    struct board_json b = { .json = { .out = sink } };
    struct mst_json *j = &b.json;
    size_t i;

    mst_json_begin(j, NULL, '{');
    mst_json_begin(j, "boards", '[');
    for (i = 0; i < shown->count; i++) {
        struct mst_place board = mst_place_board(shown->boards[i]);

        put_place(&b, NULL, &board);
    }
    mst_json_end(j, ']');
    mst_json_begin(j, "unreadable", '[');
    for (i = 0; i < shown->unreadable_count; i++) {
        mst_json_line(j, 1);
        mst_json_begin(j, NULL, '{');
        mst_json_string(j, "board", shown->unreadable[i].board);
        mst_json_string(j, "reason", shown->unreadable[i].reason);
        mst_json_end(j, '}');
    }
    mst_json_end(j, ']');
    mst_json_begin(j, "now", '[');
    mst_held_tell(shown->boards, shown->count, put_held, j);
    mst_json_end(j, ']');
    mst_json_end(j, '}');
    mst_sink_char(sink, '\n');
}
