/* record.h - the check of a journal's record {ticket, payload, check}: the same for writers and
 * readers.
 */
#ifndef MPMSTAT_RECORD_H
#define MPMSTAT_RECORD_H

#include <stddef.h>
#include <stdint.h>

/* The check is a polynomial of ticket and payload modulo 2^64, two instructions a word: each
 * word has a factor of its own, a power of the odd number next to 2^64 / golden ratio (as in
 * SplitMix64). One word that is changed, or left from an older record, always changes the
 * check. Several changed words keep it only where their differences times those factors add up
 * to 0. */
static inline uint64_t mst_journal_mix(uint64_t mix, uint64_t word)
{
    return (mix + word) * UINT64_C(0x9e3779b97f4a7c15);
}

/* The ticket is a word like the others. The start value keeps the check of an all-zero record
 * from being 0. */
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

#endif
