/* call_stack.c - the tables of PHP's functions and of call stacks, as a tree.
 *
 * Both are hash tables whose entries are never freed. A function's entry is claimed by storing its
 * hash, then filled: two processes that come with the same function at once find the same entry. A
 * stack is one word, so that it is there or not. An entry is looked for in a few places only: where
 * all of them have others there is no room.
 *
 * Every worker can write to the tables. What is read from them is compared, and is never an index
 * or a length.
 */
#include "write/call_stack.h"

#include <string.h>

#include "base/fnv.h"

#define PROBES 16u   /* places in which an entry can be */

void mst_call_stack_begin(struct mst_board *b)
{
    struct mst_frame *other = b->frames;

    if (b->frame_count == 0 || b->stack_count == 0)
        return;
    memcpy(other->function, MST_FRAME_OTHER_NAME, sizeof MST_FRAME_OTHER_NAME);
    other->hash = other->used = 1;
    b->stacks[MST_STACK_NONE].caller_frame = UINT64_MAX;   /* no search takes or finds it */
    b->stacks[MST_STACK_OTHER].caller_frame = MST_FRAME_OTHER + 1;
}

/* ---- functions --------------------------------------------------------------------------- */

/* Copies the end of a text, and adds it to the hash. */
static uint64_t put(char *to, size_t size, const char *text, size_t length, uint64_t hash)
{
    size_t i;

    if (length > size - 1) {
        text += length - (size - 1);
        length = size - 1;
    }
    for (i = 0; i < length; i++) {
        to[i] = text[i] >= ' ' && text[i] <= '~' ? text[i] : '?';
        hash = mst_fnv_byte(hash, (unsigned char)to[i]);
    }
    return mst_fnv_byte(hash, 0);
}

/* Whether the entry has or gets this hash. */
static bool claim(struct mst_frame *entry, uint64_t hash)
{
    uint64_t found = 0;

    return __atomic_compare_exchange_n(&entry->hash, &found, hash, false, __ATOMIC_RELAXED,
                                       __ATOMIC_RELAXED) || found == hash;
}

/* Stores what others can be storing at the same time: it is the same. */
static void fill(struct mst_frame *entry, const struct mst_frame *frame)
{
    __atomic_store_n(&entry->line, frame->line, __ATOMIC_RELAXED);
    memcpy(entry->function, frame->function, sizeof entry->function);
    memcpy(entry->file, frame->file, sizeof entry->file);
    __atomic_store_n(&entry->used, 1, __ATOMIC_RELEASE);
}

static bool is_same(const struct mst_frame *a, const struct mst_frame *b)
{
    return a->line == b->line && memcmp(a->function, b->function, sizeof a->function) == 0
        && memcmp(a->file, b->file, sizeof a->file) == 0;
}

uint32_t mst_frame_intern(struct mst_board *b, const char *function, size_t function_length,
                          const char *file, size_t file_length, uint32_t line)
{
    struct mst_frame frame = { .line = line };
    uint64_t hash = MST_FNV_BEGIN;
    uint32_t i, mask = b->frame_count - 1;

    if (b->frame_count == 0)
        return MST_FRAME_OTHER;
    hash = put(frame.function, sizeof frame.function, function, function_length, hash);
    hash = put(frame.file, sizeof frame.file, file, file_length, hash);
    hash = mst_fnv_byte(mst_fnv_byte(hash, line & 0xff), line >> 8 & 0xff);
    hash = mst_fnv_byte(hash, line >> 16 & 0xff) | 2;
    for (i = 0; i < PROBES; i++) {
        uint32_t index = ((uint32_t)(hash >> 20) + i) & mask;
        struct mst_frame *entry = &b->frames[index];

        if (index == MST_FRAME_OTHER || !claim(entry, hash))
            continue;
        if (__atomic_load_n(&entry->used, __ATOMIC_ACQUIRE) == 0)
            fill(entry, &frame);
        if (is_same(entry, &frame))   /* else a worker has damaged it, or two hashes are the same */
            return index;
    }
    return MST_FRAME_OTHER;
}

/* ---- stacks ------------------------------------------------------------------------------ */

uint32_t mst_call_stack_intern(struct mst_board *b, uint32_t caller, uint32_t frame)
{
    uint64_t word = (uint64_t)caller << 32 | (frame + 1);
    uint64_t hash = word * UINT64_C(0x9e3779b97f4a7c15);
    uint32_t i, mask = b->stack_count - 1;

    if (b->stack_count == 0)
        return MST_STACK_OTHER;
    for (i = 0; i < PROBES; i++) {
        uint32_t index = ((uint32_t)(hash >> 32) + i) & mask;
        uint64_t found = 0;

        if (__atomic_compare_exchange_n(&b->stacks[index].caller_frame, &found, word, false,
                                        __ATOMIC_RELAXED, __ATOMIC_RELAXED) || found == word)
            return index;
    }
    return MST_STACK_OTHER;
}
