/* journal.h - writes records into the board's two rings. Hot path.
 *
 * A writer takes a ticket, stores the payload as relaxed words and the check
 * last. Killed or overtaken half-way it leaves a record whose check does not
 * match, and readers count it as lost. No lock, no system call, no wait.
 */
#ifndef MPMSTAT_JOURNAL_H
#define MPMSTAT_JOURNAL_H

#include "board.h"

/* The check is a 64-bit mix of ticket and payload, the same for writer and reader.
 * Each word is multiplied by an odd constant (2^64 / golden ratio, as in
 * SplitMix64), so that a word changed, moved or left from an older record changes
 * the result. */
static inline uint64_t mst_journal_mix(uint64_t mix, uint64_t word)
{
    mix = (mix ^ word) * UINT64_C(0x9e3779b97f4a7c15);
    return mix ^ mix >> 32;
}

/* The ticket is mixed as a word of its own: tickets and ids count up alike, and
 * one XORed with the other would make two records' beginnings the same. */
static inline uint64_t mst_journal_mix_begin(uint64_t ticket)
{
    return mst_journal_mix(UINT64_C(0x6d706d737461743a), ticket);   /* "mpmstat:" */
}

static inline uint64_t mst_journal_check(uint64_t ticket, const uint64_t *words, size_t count)
{
    uint64_t mix = mst_journal_mix_begin(ticket);
    size_t i;

    for (i = 0; i < count; i++)
        mix = mst_journal_mix(mix, words[i]);
    return mix;
}

/* Stores a record: words[count] at `record` = {ticket, payload, check}. */
static inline void mst_journal_store(uint64_t *record, uint64_t ticket, const uint64_t *words,
                                     size_t count)
{
    uint64_t mix = mst_journal_mix_begin(ticket);
    size_t i;

    __atomic_store_n(&record[0], ticket, __ATOMIC_RELAXED);
#ifndef __clang__   /* unrolls by itself where the count is known, as it is here */
#pragma GCC unroll 16
#endif
    for (i = 0; i < count; i++) {
        __atomic_store_n(&record[1 + i], words[i], __ATOMIC_RELAXED);
        mix = mst_journal_mix(mix, words[i]);
    }
    __atomic_store_n(&record[1 + count], mix, __ATOMIC_RELAXED);
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
