/* journal.h - writes records into the board's rings. Hot path.
 *
 * A writer takes a ticket, stores the payload as relaxed words and the check
 * last. Killed or overtaken half-way it leaves a record whose check does not
 * match, and readers count it as lost. No lock, no system call, no wait.
 */
#ifndef MPMSTAT_JOURNAL_H
#define MPMSTAT_JOURNAL_H

#include "segment/record.h"
#include "write/board.h"

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
        __asm__("" : "+r"(mix));   /* now, not all of them at the end: read each word once */
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

/* Adds a PHP request's record to the journal. PHP's boards only. */
static inline void mst_journal_php_request(struct mst_board *b,
                                           const struct mst_php_request *request)
{
    uint64_t ticket =
        __atomic_add_fetch(&b->header->php_requests_written, 1, __ATOMIC_RELAXED);

    mst_journal_store((uint64_t *)&b->php_requests[ticket & b->php_requests_mask], ticket,
                      (const uint64_t *)request, MST_PHP_REQUEST_WORDS);
}

/* Adds a mark. PHP's boards only. */
static inline void mst_journal_mark(struct mst_board *b, const struct mst_mark *mark)
{
    uint64_t ticket = __atomic_add_fetch(&b->header->marks_written, 1, __ATOMIC_RELAXED);

    mst_journal_store((uint64_t *)&b->marks[ticket & b->marks_mask], ticket,
                      (const uint64_t *)mark, MST_MARK_WORDS);
}

/* Adds a lifecycle event, and counts it in the totals (forks, exits, ...). */
void mst_journal_lifecycle(struct mst_board *b, const struct mst_lifecycle *event);

#endif
