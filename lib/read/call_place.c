/* call_place.c - the one function of a call stack that is named: see call_place.h. */
#include "read/call_place.h"

#include <string.h>

#include "read/component.h"

void mst_call_choose(struct mst_call_choice *choice, uint64_t function, const char *file)
{
    struct mst_component component;

    if (file[0] == '\0')
        return;
    mst_component_of(&component, file);
    choice->outermost = function;
    if (component.is_base)
        choice->has_base = true;
    if (!choice->has_any) {
        choice->has_any = true;
        choice->any = function;
    }
    if (!component.is_base && !choice->has_own) {
        choice->has_own = true;
        choice->own = function;
    }
}

bool mst_call_chosen(const struct mst_call_choice *choice, uint64_t *function)
{
    bool only_calls_base = choice->has_base && choice->own == choice->outermost;

    *function = choice->has_own && !only_calls_base ? choice->own : choice->any;
    return choice->has_any;
}

static bool read_frame(const struct mst_reader *r, uint64_t index, struct mst_frame *frame)
{
    char ignored[MST_ERROR_MAX];

    memset(frame, 0, sizeof *frame);
    if (index >= mst_section_in(&r->header, MST_SECTION_FRAMES)->count ||
        mst_reader_entries(r, MST_SECTION_FRAMES, index, 1, frame, sizeof *frame, ignored) != 0 ||
        frame->used != 1)
        return false;
    frame->function[sizeof frame->function - 1] = frame->file[sizeof frame->file - 1] = '\0';
    return true;
}

/* A worker can have written a stack that calls itself: the depth ends the way. */
bool mst_call_place(const struct mst_reader *r, uint64_t stack, uint64_t *index,
                    struct mst_frame *frame)
{
    uint64_t count = mst_section_in(&r->header, MST_SECTION_STACKS)->count;
    struct mst_call_choice choice = { 0 };
    char ignored[MST_ERROR_MAX];
    unsigned depth;

    for (depth = 0; depth <= MST_STACK_DEPTH && stack != MST_STACK_NONE && stack < count; depth++) {
        struct mst_call_stack entry = { 0 };

        if (mst_reader_entries(r, MST_SECTION_STACKS, stack, 1, &entry, sizeof entry, ignored) != 0
            || (uint32_t)entry.caller_frame == 0)
            break;
        if (read_frame(r, (uint32_t)entry.caller_frame - 1, frame))
            mst_call_choose(&choice, (uint32_t)entry.caller_frame - 1, frame->file);
        stack = entry.caller_frame >> 32;
    }
    return mst_call_chosen(&choice, index) && read_frame(r, *index, frame);
}
