/* busy.h - how many workers are busy, and for how long none was idle: the all-busy clock.
 *
 * A worker that is killed cannot take itself off the count. So each process counts its own busy
 * workers, too; when the process has ended, its part is taken off the board's sum (mst_busy_drop).
 * A kill between the two additions leaves the sum wrong by one: mst_busy_correct() corrects that.
 *
 * Called when a worker takes a connection and when it lets go of it: not for each request, except
 * under event.
 */
#ifndef MPMSTAT_BUSY_H
#define MPMSTAT_BUSY_H

#include "write/board.h"

/* Starts or stops the all-busy clock to match the busy count. Call it when the limit has changed
 * (a restart), and when the count has reached the limit or left it. */
void mst_busy_update(struct mst_board *b, uint64_t now_ns);

/* Raises the largest count so far to `busy`, unless it is larger. */
void mst_busy_raise(struct mst_board *b, int64_t busy);

/* An unknown limit is larger than any count. A count below 0 is nonsense, and taken for one at the
 * limit: mst_busy_update() then stops the clock. */
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
    if (busy > __atomic_load_n(&b->header->busy_max, __ATOMIC_RELAXED))
        mst_busy_raise(b, busy);
    if (mst_busy_at_limit(b, busy))
        mst_busy_update(b, now_ns);
}

/* A worker of process p is idle again. */
static inline void mst_busy_end(struct mst_board *b, struct mst_process *p, uint64_t now_ns)
{
    int64_t before;

    __atomic_fetch_sub(&p->busy, 1, __ATOMIC_RELAXED);
    before = __atomic_fetch_sub(&b->header->busy, 1, __ATOMIC_SEQ_CST);
    if (mst_busy_at_limit(b, before))
        mst_busy_update(b, now_ns);
}

/* Takes the busy workers of a process that has ended off the count. */
void mst_busy_drop(struct mst_board *b, struct mst_process *p, uint64_t now_ns);

/* Makes the sum agree with its parts again after a process was killed. A worker between its two
 * additions makes them differ for a moment, too: so a difference is corrected only where two
 * samples of this process find the same. The parent calls this when a child starts or ends, and
 * every ten seconds. It never waits. */
void mst_busy_correct(struct mst_board *b, uint64_t now_ns);

/* The same for a process that has just started and may wait: it takes the samples itself, two
 * milliseconds apart. */
void mst_busy_correct_waiting(struct mst_board *b);

/* Writes an event for time without an idle worker that no event has reported yet. The parent calls
 * it every ten seconds. */
void mst_busy_tell(struct mst_board *b, uint64_t now_ns);

#endif
