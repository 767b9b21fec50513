/* text.c - boards as `Key: value` lines: for people and grep.
 *
 * A key is that of fields.def behind the names of the elements around it:
 * `Label[www]QueueP99Seconds`. Unknown values, idle workers, and the intervals and waits that no
 * request had, have no lines.
 */
#include "render/render.h"

#include <string.h>

#include "render/held.h"
#include "render/scope.h"

static void put_word(struct mst_sink *out, const struct mst_field *f, uint64_t word)
{
    if (f->unit == MST_UNIT_TIME)
        mst_sink_seconds(out, word);
    else if (f->unit == MST_UNIT_INSTANT)
        mst_sink_instant(out, word);
    else if (f->type == MST_TYPE_I64)
        mst_sink_i64(out, (int64_t)word);
    else
        mst_sink_u64(out, word);
}

static void put_value(struct mst_sink *out, const struct mst_field *f,
                      const struct mst_place *place, size_t i, bool in_key)
{
    if (f->type == MST_TYPE_STRING)
        mst_sink_text_string(out, mst_field_string(f, place), in_key);
    else if (mst_field_known(f, place, i))
        put_word(out, f, mst_field_words(f, place)[i]);
}

/* An element of which no more is known has the name of its kind: it is said once. */
static bool is_named_after_kind(const struct mst_place *place)
{
    const struct mst_field *key = mst_scope_key(place->scope);

    return mst_field_known(key + 1, place, 0)
        && strcmp(mst_field_string(key, place), mst_field_string(key + 1, place)) == 0;
}

/* The names of the elements down to a place: `Label[www]Queue`. "" for the board itself. */
static void put_prefix(struct mst_sink *out, const struct mst_place *place)
{
    const struct mst_scope_form *form = &mst_scopes[place->scope];

    if (place->parent == NULL)
        return;
    put_prefix(out, place->parent);
    if (form->names != NULL) {
        mst_sink_camel(out, form->names[place->index]);
        return;
    }
    mst_sink_puts(out, form->text);
    mst_sink_char(out, '[');
    if (form->kind != NULL && !is_named_after_kind(place)) {
        put_value(out, mst_scope_key(place->scope) + 1, place, 0, true);
        mst_sink_char(out, ' ');
    }
    put_value(out, mst_scope_key(place->scope), place, 0, true);
    mst_sink_char(out, ']');
}

/* The field's key, with the element's name instead of its '*'. */
static void put_key(struct mst_sink *out, const char *key, const char *element)
{
    const char *star = strchr(key, '*');

    if (star == NULL) {
        mst_sink_puts(out, key);
        return;
    }
    mst_sink_bytes(out, key, (size_t)(star - key));
    mst_sink_camel(out, element);
    mst_sink_puts(out, star + 1);
}

static bool never_happened(const struct mst_field *f, const struct mst_place *place, size_t i)
{
    return (f->type == MST_TYPE_INTERVAL || f->type == MST_TYPE_WAIT)
        && mst_field_words(f, place)[i] == 0;
}

static void put_field(struct mst_sink *out, const struct mst_field *f,
                      const struct mst_place *place)
{
    const char *const *names;
    size_t count = mst_type_elements(f->type, &names), i;

    for (i = 0; i < (count > 0 ? count : 1); i++) {
        if (!mst_field_known(f, place, i) || never_happened(f, place, i))
            continue;
        put_prefix(out, place);
        put_key(out, f->text, count > 0 ? names[i] : NULL);
        mst_sink_puts(out, ": ");
        put_value(out, f, place, i, false);
        mst_sink_char(out, '\n');
    }
}

static void put_place(struct mst_sink *out, const struct mst_place *place);

/* Writes those elements of a scope that text shows. */
static void put_elements(struct mst_sink *out, const struct mst_place *parent, enum mst_scope scope)
{
    const struct mst_scope_form *form = &mst_scopes[scope];
    struct mst_elements list = mst_scope_elements(parent, scope);
    size_t i, shown = 0, omitted = 0;

    for (i = 0; i < list.count; i++) {
        struct mst_place place = mst_place_at(parent, scope, &list, i);

        if (form->in_text != NULL && !form->in_text(place.element))
            continue;
        if (form->in_text != NULL && shown == form->text_limit) {
            omitted++;
            continue;
        }
        put_place(out, &place);
        shown++;
    }
    if (omitted > 0) {
        put_prefix(out, parent);
        mst_sink_puts(out, form->text_omitted);
        mst_sink_puts(out, ": ");
        mst_sink_u64(out, omitted);
        mst_sink_char(out, '\n');
    }
}

static void put_place(struct mst_sink *out, const struct mst_place *place)
{
    size_t i;
    enum mst_scope scope;

    for (i = 0; i < mst_field_count; i++)
        if (mst_fields[i].scope == place->scope && mst_fields[i].text != NULL)
            put_field(out, &mst_fields[i], place);
    for (scope = MST_SCOPE_BOARD + 1; scope < MST_SCOPE_COUNT; scope++)
        if (mst_scopes[scope].parent == place->scope)
            put_elements(out, place, scope);
}

/* A mst_held_take. */
static void put_held(void *sink, const struct mst_snapshot *board, const struct mst_held *held,
                     const char *sentence)
{
    (void)board, (void)held;
    mst_sink_puts(sink, "Now: ");
    mst_sink_text_string(sink, sentence, false);
    mst_sink_char(sink, '\n');
}

void mst_render_text(struct mst_sink *sink, const struct mst_shown *shown)
{
    size_t i;

    for (i = 0; i < shown->count; i++) {
        struct mst_place board = mst_place_board(shown->boards[i]);

        put_place(sink, &board);
    }
    mst_held_tell(shown->boards, shown->count, put_held, sink);
    for (i = 0; i < shown->unreadable_count; i++) {
        mst_sink_puts(sink, "Unreadable[");
        mst_sink_text_string(sink, shown->unreadable[i].board, true);
        mst_sink_puts(sink, "]: ");
        mst_sink_text_string(sink, shown->unreadable[i].reason, false);
        mst_sink_char(sink, '\n');
    }
}
