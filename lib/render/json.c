/* json.c - boards as JSON: all there is, null where unknown.
 *
 * The dots of the table's `json` column are nested objects, so rows of one
 * object must follow each other there.
 */
#include "render/render.h"

#include <assert.h>
#include <string.h>

#include "render/scope.h"

#define PATH_MAX_JSON 64u   /* bytes of a `json` column, with its NUL */

/* What is being written: whether a comma is due, and the dotted path of the
 * object that is open inside the present element ("" or "journal.requests."). */
struct json {
    struct mst_sink *out;
    bool             comma;
    char             open[PATH_MAX_JSON];
};

/* ---- punctuation -------------------------------------------------------------- */

static void separate(struct json *j)
{
    if (j->comma)
        mst_sink_char(j->out, ',');
    j->comma = false;
}

static void begin(struct json *j, char bracket)
{
    separate(j);
    mst_sink_char(j->out, bracket);
}

static void end(struct json *j, char bracket)
{
    mst_sink_char(j->out, bracket);
    j->comma = true;
}

static void put_key(struct json *j, const char *key, size_t length)
{
    separate(j);
    mst_sink_char(j->out, '"');
    mst_sink_bytes(j->out, key, length);
    mst_sink_puts(j->out, "\":");
}

static void key(struct json *j, const char *name)
{
    put_key(j, name, strlen(name));
}

/* A new line for what a reader looks for: members of a board, elements of lists. */
static void new_line(struct json *j, unsigned indent)
{
    separate(j);
    mst_sink_char(j->out, '\n');
    while (indent-- > 0)
        mst_sink_char(j->out, ' ');
}

/* ---- nested objects -------------------------------------------------------------- */

/* Closes the objects of j->open that are not in the first `keep` bytes of it. */
static void leave(struct json *j, size_t keep)
{
    char *c;

    for (c = j->open + keep; *c != '\0'; c++)
        if (*c == '.')
            end(j, '}');
    j->open[keep] = '\0';
}

/* The bytes of `path` that lead through objects which are open already. */
static size_t shared_path(const struct json *j, const char *path)
{
    size_t i, shared = 0;

    for (i = 0; path[i] != '\0' && path[i] == j->open[i]; i++)
        if (path[i] == '.')
            shared = i + 1;
    return shared;
}

/* Opens and closes objects until the one that `path` names a member of is open;
 * writes the member's key. */
static void enter(struct json *j, const char *path, unsigned indent)
{
    size_t at = shared_path(j, path);
    const char *dot;

    leave(j, at);
    if (at == 0 && indent > 0)
        new_line(j, indent);
    while ((dot = strchr(path + at, '.')) != NULL) {
        put_key(j, path + at, (size_t)(dot - path) - at);
        begin(j, '{');
        at = (size_t)(dot - path) + 1;
        assert(at < sizeof(j->open));
        memcpy(j->open, path, at);
        j->open[at] = '\0';
    }
    key(j, path + at);
}

/* ---- values --------------------------------------------------------------------------- */

/* What no board has counted, but nonsense in one may be: parsers want integers
 * of 63 bits at most. */
static bool is_beyond_json(const struct mst_field *f, uint64_t word)
{
    return word > INT64_MAX && f->type != MST_TYPE_I64
           && (f->unit == MST_UNIT_COUNT || f->unit == MST_UNIT_BYTES);
}

static void put_word(struct json *j, const struct mst_field *f, uint64_t word)
{
    if (word == MST_UNKNOWN || is_beyond_json(f, word)) {
        mst_sink_puts(j->out, "null");
    } else if (f->unit == MST_UNIT_TIME) {
        mst_sink_seconds(j->out, word);
    } else if (f->unit == MST_UNIT_INSTANT) {
        mst_sink_char(j->out, '"');
        mst_sink_instant(j->out, word);
        mst_sink_char(j->out, '"');
    } else if (f->type == MST_TYPE_I64) {
        mst_sink_i64(j->out, (int64_t)word);
    } else {
        mst_sink_u64(j->out, word);
    }
    j->comma = true;
}

static void put_array(struct json *j, const struct mst_field *f, const uint64_t *words,
                      const char *const *names, size_t count)
{
    size_t i;

    begin(j, '{');
    for (i = 0; i < count; i++) {
        key(j, names[i]);
        put_word(j, f, words[i]);
    }
    end(j, '}');
}

static void put_field(struct json *j, const struct mst_field *f, const struct mst_place *place)
{
    const char *const *names;
    size_t count = mst_type_elements(f->type, &names);

    if (f->type == MST_TYPE_STRING) {
        mst_sink_json_string(j->out, mst_field_known(f, place, 0) ? mst_field_string(f, place)
                                                                  : NULL);
        j->comma = true;
    } else if (count > 0) {
        put_array(j, f, mst_field_words(f, place), names, count);
    } else {
        put_word(j, f, mst_field_words(f, place)[0]);
    }
}

/* ---- elements ----------------------------------------------------------------------------- */

static void put_place(struct json *j, const struct mst_place *place);

/* {"queue":{...},...}: those of the fixed names about which anything is known. */
static void put_named(struct json *j, const struct mst_place *parent, enum mst_scope scope,
                      const struct mst_elements *list)
{
    size_t i;

    begin(j, '{');
    for (i = 0; i < list->count; i++) {
        struct mst_place place = mst_place_at(parent, scope, list, i);

        if (!mst_place_known(&place))
            continue;
        key(j, mst_scopes[scope].names[i]);
        put_place(j, &place);
    }
    end(j, '}');
}

static void put_list(struct json *j, const struct mst_place *parent, enum mst_scope scope,
                     const struct mst_elements *list)
{
    size_t i;

    begin(j, '[');
    for (i = 0; i < list->count; i++) {
        struct mst_place place = mst_place_at(parent, scope, list, i);

        new_line(j, 2);
        put_place(j, &place);
    }
    end(j, ']');
}

static void put_elements(struct json *j, const struct mst_place *parent, enum mst_scope scope)
{
    struct mst_elements list = mst_scope_elements(parent, scope);

    if (!list.known) {
        mst_sink_puts(j->out, "null");
        j->comma = true;
    } else if (mst_scopes[scope].names != NULL) {
        put_named(j, parent, scope, &list);
    } else {
        put_list(j, parent, scope, &list);
    }
}

/* Members of a board are a line each, those of anything else are on its line. */
static void put_place(struct json *j, const struct mst_place *place)
{
    unsigned indent = place->parent == NULL ? 1 : 0;
    enum mst_scope scope;
    size_t i;

    begin(j, '{');
    for (i = 0; i < mst_field_count; i++)
        if (mst_fields[i].scope == place->scope && mst_fields[i].json != NULL) {
            enter(j, mst_fields[i].json, indent);
            put_field(j, &mst_fields[i], place);
        }
    leave(j, 0);
    for (scope = MST_SCOPE_BOARD + 1; scope < MST_SCOPE_COUNT; scope++)
        if (mst_scopes[scope].parent == place->scope) {
            enter(j, mst_scopes[scope].json, indent);
            put_elements(j, place, scope);
        }
    end(j, '}');
}

static void put_unreadable(struct json *j, const struct mst_unreadable *u)
{
    new_line(j, 1);
    begin(j, '{');
    key(j, "board");
    mst_sink_json_string(j->out, u->board);
    j->comma = true;
    key(j, "reason");
    mst_sink_json_string(j->out, u->reason);
    end(j, '}');
}

void mst_render_json(struct mst_sink *sink, const struct mst_shown *shown)
{
    struct json j = { .out = sink };
    size_t i;

    mst_sink_puts(sink, "{\"boards\":[");
    for (i = 0; i < shown->count; i++) {
        struct mst_place board = mst_place_board(shown->boards[i]);

        put_place(&j, &board);
    }
    mst_sink_puts(sink, "],\"unreadable\":[");
    j.comma = false;
    for (i = 0; i < shown->unreadable_count; i++)
        put_unreadable(&j, &shown->unreadable[i]);
    mst_sink_puts(sink, "]}\n");
}
