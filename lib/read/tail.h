/* tail.h - follows one of a board's journals: each record once, or counted as lost. */
#ifndef MPMSTAT_TAIL_H
#define MPMSTAT_TAIL_H

#include "segment/reader.h"

/* Follows one ring, in order of the tickets. Each record is given exactly once
 * or counted as lost. A record that is being written is waited for: the reader
 * goes on past it and comes back, until it is there, the ring has lapped it, or
 * MST_TAIL_PATIENCE_NS have passed (its writer was killed). */
#define MST_TAIL_GAPS       256u
#define MST_TAIL_PATIENCE_NS UINT64_C(5000000000)

struct mst_gap { uint64_t ticket, since_ns; };

struct mst_tail {
    const struct mst_reader *reader;
    enum mst_section_id      section;    /* one of the four rings */
    uint64_t                 next;       /* first ticket not looked at yet */
    uint64_t                 lost;       /* records lost so far */
    size_t                   gap_count;
    struct mst_gap           gaps[MST_TAIL_GAPS];
    uint64_t                *buffer;     /* the records of one pread, in words */
    size_t                   buffer_records;
};

/* Where the ring's head is now: a tail from there sees only what comes. */
int mst_journal_head(const struct mst_reader *r, enum mst_section_id section, uint64_t *next,
                     char error[MST_ERROR_MAX]);

/* next: the first ticket wanted; 1 is the oldest ever, mst_journal_head()'s the
 * next to come. Records that the ring has already overwritten count as lost. */
int  mst_tail_open(struct mst_tail *t, const struct mst_reader *r, enum mst_section_id section,
                   uint64_t next, char error[MST_ERROR_MAX]);
void mst_tail_close(struct mst_tail *t);

/* Gives every record that is there to `take` (payload: the struct of the ring's
 * record, e.g. struct mst_request, zero-filled beyond what the writer has; not all in
 * ticket order, after gaps). At most `limit` records (SIZE_MAX: all).
 * Returns the number given, or -1 with a sentence. A nonzero return of `take`
 * stops the poll; the record counts as given. */
typedef int mst_take(void *context, uint64_t ticket, const void *payload);
long mst_tail_poll(struct mst_tail *t, size_t limit, mst_take *take, void *context,
                   char error[MST_ERROR_MAX]);

/* Gives up on the gaps: what is still missing is lost. Call it at the end. */
void mst_tail_finish(struct mst_tail *t);

#endif
