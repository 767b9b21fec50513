/* remote_clock.h - how far a server's clock is ahead of ours, where it is asked by URL.
 *
 * Its instants are monotonic times with what its wall clock was ahead of them when it started. The
 * wall clock may have been set since, and can be another machine's.
 */
#ifndef MPMSTAT_REMOTE_CLOCK_H
#define MPMSTAT_REMOTE_CLOCK_H

#include <stdbool.h>
#include <stdint.h>

#include "read/snapshot.h"

/* How far its instants are ahead of our CLOCK_MONOTONIC is between these. */
struct mst_remote_clock {
    int64_t ahead_min_ns, ahead_max_ns;   /* not known: INT64_MIN, INT64_MAX */
};

void mst_remote_clock_forget(struct mst_remote_clock *clock);

bool mst_remote_clock_is_known(const struct mst_remote_clock *clock);

/* When a status was made, by its server's clock; MST_UNKNOWN. */
uint64_t mst_remote_clock_made(const struct mst_snapshot *status);

/* Learns from a status that was made after it was asked for and before it was there, both by our
 * CLOCK_MONOTONIC. */
void mst_remote_clock_learn(struct mst_remote_clock *clock, const struct mst_snapshot *status,
                            uint64_t asked_ns, uint64_t answered_ns);

/* An instant of its own by our wall clock, which is offset_ns ahead of our CLOCK_MONOTONIC. Where
 * the clocks may agree, it is what it is; else an answer is taken to be quick once it is made, as
 * it is the worker that one waits for. */
uint64_t mst_remote_clock_ours(const struct mst_remote_clock *clock, uint64_t offset_ns,
                               uint64_t its_ns);

#endif
