/* remote_clock.h - how far a server's clock is ahead of ours, where it is asked by URL.
 *
 * Its instants are monotonic times with what its wall clock was ahead of them when it started. The
 * wall clock may have been set since, and can be another machine's. Each status tells when it was
 * made: after it was asked for and before it was there. So each narrows the bounds, as in NTP, and
 * the shortest round trip most.
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

/* Whether a status contradicts what is known by more than two clocks drift apart in a run: its
 * clock was set, or it does not tell the truth. *by_ns: how far it is out of the bounds. */
bool mst_remote_clock_contradicts(const struct mst_remote_clock *clock,
                                  const struct mst_snapshot *status, uint64_t asked_ns,
                                  uint64_t answered_ns, uint64_t *by_ns);

/* How far the server's clock is ahead of our wall clock, which is offset_ns ahead of our
 * CLOCK_MONOTONIC. The true value is at most uncertainty_ns away. The estimate is the middle of the
 * bounds, but at most 50 ms above the lower one: where the bounds are further apart, the answer was
 * waited for, and a status is made at the end of the wait for a worker, near the lower bound.
 * Precondition: the clock is known. */
struct mst_clock_offset { int64_t ahead_ns; uint64_t uncertainty_ns; };
struct mst_clock_offset mst_remote_clock_offset(const struct mst_remote_clock *clock,
                                                uint64_t offset_ns);

/* Converts an instant of the server's clock to our wall clock. The instant is returned unchanged
 * where the bounds are not known, or allow that both clocks agree. */
uint64_t mst_remote_clock_ours(const struct mst_remote_clock *clock, uint64_t offset_ns,
                               uint64_t its_ns);

#endif
