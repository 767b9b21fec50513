/* rendered.c - see rendered.h. */
#include <jansson.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "boards.h"
#include "harness.h"
#include "render/fields_table.h"
#include "render/render.h"
#include "render/scope.h"
#include "rendered.h"
#include "report/glance.h"

char *rendered(enum mst_format format, const struct mst_snapshot *const *boards,
               size_t count)
{
    struct test_kept kept;

    test_kept_begin(&kept);
    ck_assert_int_eq(mst_render(&kept.sink, format,
                                &(struct mst_shown){ .boards = boards, .count = count }), 0);
    ck_assert_int_eq(test_kept_end(&kept), 0);
    return kept.text;
}

char *rendered_fields(enum mst_fields_format format)
{
    struct test_kept kept;

    test_kept_begin(&kept);
    ck_assert_int_eq(mst_render_fields(&kept.sink, format, MST_FIELDS_ALL, NULL), 0);
    ck_assert_int_eq(test_kept_end(&kept), 0);
    return kept.text;
}

json_t *parsed(const char *text)
{
    json_error_t error;
    json_t *json = json_loads(text, JSON_REJECT_DUPLICATES, &error);

    ck_assert_msg(json != NULL, "line %d, column %d: %s", error.line, error.column, error.text);
    return json;
}

const json_t *at(const json_t *json, const char *path)
{
    char step[64];
    int n;

    while (*path != '\0' && json != NULL) {
        ck_assert_int_eq(sscanf(path, "%63[^.[]%n", step, &n), 1);
        json = json_object_get(json, step);
        path += n;
        if (strncmp(path, "[0]", 3) == 0) {
            json = json_array_get(json, 0);
            path += 3;
        }
        path += *path == '.';
    }
    return json;
}

/* Puts `word`, as text's keys have it, in the place of <Word> in a name. */
static const char *camel(const char *word)
{
    static char text[64];
    struct test_kept kept;

    test_kept_begin(&kept);
    mst_sink_camel(&kept.sink, word);
    ck_assert_int_eq(test_kept_end(&kept), 0);
    snprintf(text, sizeof text, "%s", kept.text);
    free(kept.text);
    return text;
}

const char *stands_for(const struct where *w, const char *what)
{
    struct mst_elements list;
    struct mst_place place;
    enum mst_scope scope;
    static char number[32];

    if (strcasecmp(what, mst_scopes[MST_SCOPE_PHASE].openmetrics) == 0)
        return what[0] < 'a' ? camel(w->phase) : w->phase;
    for (scope = MST_SCOPE_BOARD + 1; scope < MST_SCOPE_COUNT; scope++) {
        if (scope == MST_SCOPE_PHASE || strcmp(what, mst_scopes[scope].openmetrics) != 0)
            continue;
        list = mst_scope_elements(&w->board, scope);
        place = mst_place_at(&w->board, scope, &list, 0);
        if (mst_scope_key(scope)->type == MST_TYPE_STRING)
            return mst_field_string(mst_scope_key(scope), &place);
        snprintf(number, sizeof number, "%llu",
                 (unsigned long long)mst_field_words(mst_scope_key(scope), &place)[0]);
        return number;
    }
    ck_assert_msg(w->element != NULL, "what is <%s>?", what);
    return what[0] < 'a' ? camel(w->element) : w->element;
}

void resolve(const struct where *w, const char *name, char to[256])
{
    size_t used = 0;
    char what[32];
    int n;

    while (*name != '\0') {
        if (sscanf(name, "<%31[a-zA-Z]>%n", what, &n) == 1) {
            used += (size_t)snprintf(to + used, 256 - used, "%s", stands_for(w, what));
            name += n;
        } else {
            to[used++] = *name++;
        }
    }
    to[used] = '\0';
}

void value_text(const struct where *w, bool instant_as_seconds, char to[64])
{
    const struct mst_field *f = w->field;
    uint64_t word;

    if (f->type == MST_TYPE_STRING) {
        snprintf(to, 64, "%s", mst_field_string(f, &w->place));
        return;
    }
    word = mst_field_words(f, &w->place)[w->index];
    if (f->unit == MST_UNIT_INSTANT && !instant_as_seconds)
        snprintf(to, 64, "1970-01-01T00:00:00.%09uZ", (unsigned)word);
    else if (f->unit == MST_UNIT_TIME || f->unit == MST_UNIT_INSTANT)
        snprintf(to, 64, "0.%09u", (unsigned)word);
    else
        snprintf(to, 64, "%u", (unsigned)word);
}
