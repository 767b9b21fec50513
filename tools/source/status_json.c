/* status_json.c - reads the status JSON by the field table: see status_json.h. */
#include "source/status_json.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

#include "base/clock.h"
#include "segment/fields.h"

/* ---- the document ------------------------------------------------------------ */

/* How far a text has been measured. */
struct measure { size_t values, depth, deepest; };

/* Behind the string that begins at i. */
static size_t skip_string(const char *body, size_t length, size_t i)
{
    for (i++; i < length && body[i] != '"'; i++)
        i += body[i] == '\\';
    return i + 1;
}

static void measure_mark(struct measure *m, char c)
{
    switch (c) {
    case '{': case '[':
        m->values++;
        if (++m->depth > m->deepest)
            m->deepest = m->depth;
        break;
    case '}': case ']':
        m->depth -= m->depth > 0;
        break;
    case ',':
        m->values++;
    }
}

/* Before it is parsed, which takes much more memory than the text does. */
static int check_extent(const char *body, size_t length, char error[MST_ERROR_MAX])
{
    struct measure m = { 0 };
    size_t i = 0;

    while (i < length && m.values <= MST_STATUS_VALUES && m.deepest <= MST_STATUS_DEPTH) {
        if (body[i] == '"') {
            i = skip_string(body, length, i);
            continue;
        }
        measure_mark(&m, body[i++]);
    }
    if (i >= length)
        return 0;
    return mst_fail(error, "expected at most %u values, %u deep, found more: is this mpmstat's "
                    "status?", MST_STATUS_VALUES, MST_STATUS_DEPTH);
}

/* Boards are objects, not too many, and so are their labels. */
static int check_boards(json_t *boards, char error[MST_ERROR_MAX])
{
    size_t i, labels = 0;
    json_t *board;

    if (!json_is_array(boards))
        return mst_fail(error, "expected {\"boards\": [...]}, found other JSON");
    json_array_foreach(boards, i, board) {
        if (!json_is_object(board))
            return mst_fail(error, "expected board %zu to be an object", i);
        labels += json_array_size(json_object_get(board, "labels"));
    }
    if (i <= MST_STATUS_BOARDS && labels <= MST_STATUS_LABELS)
        return 0;
    return mst_fail(error, "expected at most %u boards with %u labels, found %zu with %zu: is this "
                    "mpmstat's status?", MST_STATUS_BOARDS, MST_STATUS_LABELS, i, labels);
}

json_t *mst_status_load(const char *body, size_t length, char error[MST_ERROR_MAX])
{
    json_error_t reason;
    json_t *root;

    if (check_extent(body, length, error) != 0)
        return NULL;
    root = json_loadb(body, length, 0, &reason);
    if (root == NULL) {
        snprintf(error, MST_ERROR_MAX, "expected JSON, found an error in line %d column %d",
                 reason.line, reason.column);
        return NULL;
    }
    if (check_boards(json_object_get(root, "boards"), error) == 0)
        return root;
    json_decref(root);
    return NULL;
}

/* ---- one value ----------------------------------------------------------------- */

uint64_t mst_instant_ns(const char *text)
{
    char digits[10] = "000000000";
    struct tm tm;
    time_t seconds;
    const char *rest;
    size_t n;

    memset(&tm, 0, sizeof tm);
    rest = strptime(text, "%Y-%m-%dT%H:%M:%S", &tm);
    if (rest == NULL)
        return MST_UNKNOWN;
    if (*rest == '.') {
        n = strspn(++rest, "0123456789");
        memcpy(digits, rest, n < 9 ? n : 9);
        rest += n;
    }
    seconds = timegm(&tm);
    if (strcmp(rest, "Z") != 0 || seconds < 0 || (uint64_t)seconds > MST_UNKNOWN / MST_NS_PER_S - 1)
        return MST_UNKNOWN;
    return (uint64_t)seconds * MST_NS_PER_S + strtoull(digits, NULL, 10);
}

static uint64_t number(const json_t *value, enum mst_unit unit)
{
    double n = json_number_value(value);

    if (unit == MST_UNIT_INSTANT)
        return json_is_string(value) ? mst_instant_ns(json_string_value(value)) : MST_UNKNOWN;
    if (!json_is_number(value) || !(n >= 0))
        return MST_UNKNOWN;
    if (json_is_integer(value) && unit != MST_UNIT_TIME)
        return (uint64_t)json_integer_value(value);
    n = unit == MST_UNIT_TIME ? n * (double)MST_NS_PER_S + 0.5 : n;
    return n < 0x1p63 ? (uint64_t)n : MST_UNKNOWN;
}

static json_t *at_path(json_t *object, const char *path)
{
    char key[64];
    size_t n;

    for (;;) {
        n = strcspn(path, ".");
        if (n >= sizeof key)
            return NULL;
        memcpy(key, path, n);
        key[n] = '\0';
        object = json_object_get(object, key);
        if (path[n] == '\0')
            return object;
        path += n + 1;
    }
}

static void load_field(const struct mst_field *f, json_t *object, char *element)
{
    json_t *value = at_path(object, f->json);
    const char *const *names = NULL;
    size_t i, n = mst_type_elements(f->type, &names);
    uint64_t *words = (uint64_t *)(void *)(element + mst_snapshot_offset(f));

    if (f->type == MST_TYPE_STRING) {
        *(const char **)(void *)(element + mst_snapshot_offset(f)) = json_string_value(value);
        return;
    }
    if (n == 0)
        words[0] = number(value, f->unit);
    for (i = 0; i < n; i++)
        words[i] = number(json_object_get(value, names[i]), f->unit);
}

static void load_element(enum mst_scope scope, json_t *object, void *element)
{
    size_t i;

    for (i = 0; i < mst_field_count; i++)
        if (mst_fields[i].scope == scope && mst_fields[i].json != NULL)
            load_field(&mst_fields[i], object, element);
}

/* An array of objects as an array of the scope's structs. */
static void *load_elements(enum mst_scope scope, json_t *array, size_t size, size_t *count)
{
    size_t i, n = json_array_size(array);
    char *elements = calloc(n > 0 ? n : 1, size);
    json_t *object;

    if (elements == NULL)
        return NULL;
    json_array_foreach(array, i, object)
        load_element(scope, object, elements + i * size);
    *count = n;
    return elements;
}

/* ---- boards ---------------------------------------------------------------------- */

/* The phases of each label. What the answer does not have is unknown. */
static void load_phases(struct mst_snapshot *board, json_t *labels)
{
    json_t *label;
    size_t i, p;

    json_array_foreach(labels, i, label)
        for (p = 0; p < MST_PHASE_COUNT; p++)
            load_element(MST_SCOPE_PHASE,
                         json_object_get(json_object_get(label, "phases"), mst_phase_names[p]),
                         &board->labels[i].phases[p]);
}

static int load_board(struct mst_snapshot *board, json_t *object)
{
    json_t *listeners = json_object_get(object, "listeners");
    json_t *labels = json_object_get(object, "labels");

    load_element(MST_SCOPE_BOARD, object, board);
    board->listeners_known = json_is_array(listeners);
    board->listeners = load_elements(MST_SCOPE_LISTENER, listeners, sizeof *board->listeners,
                                     &board->listener_count);
    board->labels = load_elements(MST_SCOPE_LABEL, labels, sizeof *board->labels,
                                  &board->label_count);
    if (board->labels != NULL)
        load_phases(board, labels);
    board->slots = load_elements(MST_SCOPE_SLOT, json_object_get(object, "slots"),
                                 sizeof *board->slots, &board->slot_count);
    board->ends = load_elements(MST_SCOPE_END, json_object_get(object, "ends"),
                                sizeof *board->ends, &board->end_count);
    return board->listeners != NULL && board->labels != NULL && board->slots != NULL
           && board->ends != NULL ? 0 : -1;
}

int mst_status_parse(struct mst_status *status, const char *body, size_t length,
                     char error[MST_ERROR_MAX])
{
    json_t *boards, *object;
    size_t i;

    memset(status, 0, sizeof *status);
    status->root = mst_status_load(body, length, error);
    if (status->root == NULL)
        return -1;
    boards = json_object_get(status->root, "boards");
    status->count = json_array_size(boards);
    status->boards = calloc(status->count > 0 ? status->count : 1, sizeof *status->boards);
    if (status->boards == NULL)
        goto no_memory;
    json_array_foreach(boards, i, object)
        if (load_board(&status->boards[i], object) != 0)
            goto no_memory;
    return 0;
no_memory:
    snprintf(error, MST_ERROR_MAX, "out of memory");
    mst_status_free(status);
    return -1;
}

void mst_status_free(struct mst_status *status)
{
    size_t i;

    for (i = 0; status->boards != NULL && i < status->count; i++) {
        free((void *)(uintptr_t)status->boards[i].listeners);   /* const for their readers */
        free(status->boards[i].labels);
        free(status->boards[i].slots);
        free(status->boards[i].ends);
    }
    free(status->boards);
    json_decref(status->root);
    memset(status, 0, sizeof *status);
}
