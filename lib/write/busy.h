/* busy.h - how many workers are busy, and since when none is idle. For writers.
 *
 * A worker that is killed cannot count itself down again. So each process counts
 * its own busy workers beside the board's sum; when it has ended, its part is
 * taken off (mst_busy_drop), and what the kill tore in between is mended
 * (mst_busy_mend). On the way of a connection, not of each request (event: of
 * each time a worker takes one up).
 */
#ifndef MPMSTAT_BUSY_H
#define MPMSTAT_BUSY_H

#include "write/board.h"

/* The limit has changed (a restart), or the number of busy workers was or is there: none
 * is idle from now on, or some are. */
void mst_busy_settle(struct mst_board *b, uint64_t now_ns);

/* There were as many as `busy` at once. */
void mst_busy_raise(struct mst_board *b, int64_t busy);

/* An unknown limit is larger than any number. (A number below 0 is nonsense, and settled.) */
static inline bool mst_busy_at_limit(const struct mst_board *b, int64_t busy)
{
    return (uint64_t)busy >= __atomic_load_n(&b->header->workers_limit, __ATOMIC_RELAXED);
}

/* A worker of process p is no longer idle. */
static inline void mst_busy_begin(struct mst_board *b, struct mst_process *p, uint64_t now_ns)
{
    int64_t busy;

    __atomic_fetch_add(&p->busy, 1, __ATOMIC_RELAXED);
    busy = __atomic_add_fetch(&b->header->busy, 1, __ATOMIC_SEQ_CST);
    if (__builtin_expect(busy > __atomic_load_n(&b->header->busy_max, __ATOMIC_RELAXED), 0))
        mst_busy_raise(b, busy);
    if (__builtin_expect(mst_busy_at_limit(b, busy), 0))
        mst_busy_settle(b, now_ns);
}

/* A worker of process p is idle again. */
static inline void mst_busy_end(struct mst_board *b, struct mst_process *p, uint64_t now_ns)
{
    int64_t before;

    __atomic_fetch_sub(&p->busy, 1, __ATOMIC_RELAXED);
    before = __atomic_fetch_sub(&b->header->busy, 1, __ATOMIC_SEQ_CST);
    if (__builtin_expect(mst_busy_at_limit(b, before), 0))
        mst_busy_settle(b, now_ns);
}

/* The process has ended: none of its workers is busy. */
void mst_busy_drop(struct mst_board *b, struct mst_process *p, uint64_t now_ns);

/* After a process was killed: makes the sum agree with its parts. A worker that is between two
 * stores makes a difference, too, for a moment: only what a look finds that an earlier look of
 * this process has found is mended. The parent looks whenever a child starts or ends, and now
 * and then; it never waits. */
void mst_busy_mend(struct mst_board *b, uint64_t now_ns);

/* The same for a process that has just started and can wait: the looks are a millisecond apart. */
void mst_busy_mend_waiting(struct mst_board *b);

/* Now and then: tells how long no worker was idle where no event has yet. */
void mst_busy_tell(struct mst_board *b, uint64_t now_ns);

#endif
