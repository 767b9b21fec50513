/* scope.c - the scopes of the field table: how they nest, where their elements are in a snapshot,
 * and the values of their fields. See scope.h.
 */
#include "render/scope.h"

#include <string.h>

/* A worker that is not idle, or still has a request (on event, a response can be sent without a
 * worker). */
static bool slot_is_busy(const void *element)
{
    const struct mst_snapshot_slot *slot = element;

    return slot->request_for_ns != MST_UNKNOWN
           || (slot->state != NULL && strcmp(slot->state, mst_state_names[MST_STATE_IDLE]) != 0);
}

const struct mst_scope_form mst_scopes[MST_SCOPE_COUNT] = {
    [MST_SCOPE_BOARD] = { .parent = MST_SCOPE_BOARD, .openmetrics = "board" },
    [MST_SCOPE_LISTENER] = {
        .parent = MST_SCOPE_BOARD, .json = "listeners", .text = "Listener",
        .openmetrics = "address",
    },
    [MST_SCOPE_LABEL] = {
        .parent = MST_SCOPE_BOARD, .json = "labels", .text = "Label", .openmetrics = "label",
    },
    [MST_SCOPE_PHASE] = {
        .parent = MST_SCOPE_LABEL, .json = "phases", .openmetrics = "phase",
        .names = mst_phase_names, .name_count = MST_PHASE_COUNT,
    },
    [MST_SCOPE_SLOT] = {
        .parent = MST_SCOPE_BOARD, .json = "slots", .text = "Slot", .openmetrics = "slot",
        .in_text = slot_is_busy, .text_limit = 20, .text_omitted = "SlotsOmitted",
    },
    [MST_SCOPE_END] = {
        .parent = MST_SCOPE_BOARD, .json = "ends", .text = "End", .openmetrics = "end",
        .kind = "kind",
    },
};

static struct mst_elements elements(const void *first, size_t count, size_t stride)
{
    return (struct mst_elements){ true, count, stride, first };
}

struct mst_elements mst_scope_elements(const struct mst_place *parent, enum mst_scope scope)
{
    const struct mst_snapshot *board = parent->element;
    const struct mst_snapshot_label *label = parent->element;
    struct mst_elements none = { false, 0, 0, NULL };

    switch (scope) {
    case MST_SCOPE_LISTENER:
        return board->listeners_known ? elements(board->listeners, board->listener_count,
                                                 sizeof(board->listeners[0])) : none;
    case MST_SCOPE_LABEL:
        return elements(board->labels, board->label_count, sizeof(board->labels[0]));
    case MST_SCOPE_PHASE:
        return elements(label->phases, MST_PHASE_COUNT, sizeof(label->phases[0]));
    case MST_SCOPE_SLOT:
        return elements(board->slots, board->slot_count, sizeof(board->slots[0]));
    case MST_SCOPE_END:
        return elements(board->ends, board->end_count, sizeof(board->ends[0]));
    case MST_SCOPE_BOARD:
    case MST_SCOPE_COUNT:
        break;
    }
    return none;
}

struct mst_place mst_place_board(const struct mst_snapshot *board)
{
    return (struct mst_place){ MST_SCOPE_BOARD, board, 0, NULL };
}

struct mst_place mst_place_at(const struct mst_place *parent, enum mst_scope scope,
                              const struct mst_elements *list, size_t index)
{
    return (struct mst_place){ scope, list->first + index * list->stride, index, parent };
}

const struct mst_field *mst_scope_key(enum mst_scope scope)
{
    const struct mst_field *f = mst_fields;

    while (f->scope != scope)
        f++;
    return f;
}

bool mst_place_known(const struct mst_place *place)
{
    size_t i;

    for (i = 0; i < mst_field_count; i++)
        if (mst_fields[i].scope == place->scope && mst_field_known(&mst_fields[i], place, 0))
            return true;
    return false;
}

/* ---- values --------------------------------------------------------------------- */

static const void *member(const struct mst_field *f, const struct mst_place *place)
{
    return (const char *)place->element + mst_snapshot_offset(f);
}

const uint64_t *mst_field_words(const struct mst_field *f, const struct mst_place *place)
{
    return member(f, place);
}

const char *mst_field_string(const struct mst_field *f, const struct mst_place *place)
{
    return *(const char *const *)member(f, place);
}

const struct mst_histogram *mst_field_histogram(const struct mst_field *f,
                                                const struct mst_place *place)
{
    return member(f, place);
}

bool mst_field_known(const struct mst_field *f, const struct mst_place *place, size_t i)
{
    const char *string;

    if (f->type == MST_TYPE_STRING) {
        string = mst_field_string(f, place);
        return string != NULL && string[0] != '\0';
    }
    if (f->type == MST_TYPE_HISTOGRAM)
        return mst_field_histogram(f, place)->sum_ns != MST_UNKNOWN;
    return mst_field_words(f, place)[i] != MST_UNKNOWN;
}

const char *mst_type_key(enum mst_type type)
{
    switch (type) {
    case MST_TYPE_STATE:  return "state";
    case MST_TYPE_CLASS:  return "class";
    case MST_TYPE_KIND:   return "kind";
    case MST_TYPE_REASON: return "reason";
    case MST_TYPE_INTERVAL: return "interval";
    case MST_TYPE_WAIT:   return "wait";
    case MST_TYPE_U64:
    case MST_TYPE_I64:
    case MST_TYPE_STRING:
    case MST_TYPE_HISTOGRAM:
        break;
    }
    return NULL;
}

const char *mst_field_suffix(const struct mst_field *f)
{
    bool counter = f->nature == MST_NATURE_COUNTER && f->type != MST_TYPE_HISTOGRAM;

    return counter ? "_total" : "";
}

/* ---- a board's name ----------------------------------------------------------------- */

static const char *base_name(const struct mst_snapshot *board)
{
    const char *slash = board->path == NULL ? NULL : strrchr(board->path, '/');

    if (slash != NULL)
        return slash + 1;
    return board->path == NULL ? "" : board->path;
}

const char *mst_board_name(const struct mst_snapshot *const *boards, size_t count, size_t which)
{
    const char *name = base_name(boards[which]);
    size_t i;

    for (i = 0; i < count; i++)
        if (i != which && strcmp(base_name(boards[i]), name) == 0)
            return boards[which]->path == NULL ? "" : boards[which]->path;
    return name;
}
