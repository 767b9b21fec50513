/* journal.h - writes records into the board's two rings. Hot path.
 *
 * A writer takes a ticket, stores the payload as relaxed words and the check
 * last. Killed or overtaken half-way it leaves a record whose check does not
 * match, and readers count it as lost. No lock, no system call, no wait.
 */
#ifndef MPMSTAT_JOURNAL_H
#define MPMSTAT_JOURNAL_H

#include "board.h"

/* A 64-bit mix of ticket and payload, the same for writer and reader. Each word
 * is multiplied by an odd constant (2^64 / golden ratio, as in SplitMix64), so
 * that a word changed, moved or left from an older record changes the result. */
static inline uint64_t mst_journal_check(uint64_t ticket, const uint64_t *words, size_t count)
{
    uint64_t mix = ticket ^ UINT64_C(0x6d706d737461743a);   /* "mpmstat:" */
    size_t i;

    for (i = 0; i < count; i++) {
        mix = (mix ^ words[i]) * UINT64_C(0x9e3779b97f4a7c15);
        mix ^= mix >> 32;
    }
    return mix;
}

/* Stores a record: words[count] at `record` = {ticket, payload, check}. */
static inline void mst_journal_store(uint64_t *record, uint64_t ticket, const uint64_t *words,
                                     size_t count)
{
    size_t i;

    __atomic_store_n(&record[0], ticket, __ATOMIC_RELAXED);
    for (i = 0; i < count; i++)
        __atomic_store_n(&record[1 + i], words[i], __ATOMIC_RELAXED);
    __atomic_store_n(&record[1 + count], mst_journal_check(ticket, words, count),
                     __ATOMIC_RELAXED);
}

/* Adds a request's record to the journal. */
static inline void mst_journal_request(struct mst_board *b, const struct mst_request *request)
{
    uint64_t ticket =
        __atomic_add_fetch(&b->header->requests_written, 1, __ATOMIC_RELAXED);

    mst_journal_store((uint64_t *)&b->requests[ticket & b->requests_mask], ticket,
                      (const uint64_t *)request, MST_REQUEST_WORDS);
}

/* Adds a lifecycle event, and counts it in the totals (forks, exits, ...). */
void mst_journal_lifecycle(struct mst_board *b, const struct mst_lifecycle *event);

#endif
