/* remote_clock.c - how far a server's clock is ahead of ours: see remote_clock.h. */
#include "source/remote_clock.h"

#include <string.h>

#include "base/clock.h"
#include "base/saturate.h"

void mst_remote_clock_forget(struct mst_remote_clock *clock)
{
    clock->ahead_min_ns = INT64_MIN;
    clock->ahead_max_ns = INT64_MAX;
}

bool mst_remote_clock_is_known(const struct mst_remote_clock *clock)
{
    return clock->ahead_min_ns != INT64_MIN;
}

uint64_t mst_remote_clock_made(const struct mst_snapshot *status)
{
    uint64_t ns;

    if (status->started_ns == MST_UNKNOWN || status->uptime_ns == MST_UNKNOWN ||
        (status->running != NULL && strcmp(status->running, "no") == 0))
        return MST_UNKNOWN;
    ns = mst_add_saturated(status->started_ns, status->uptime_ns);
    return ns <= INT64_MAX ? ns : MST_UNKNOWN;
}

void mst_remote_clock_learn(struct mst_remote_clock *clock, const struct mst_snapshot *status,
                            uint64_t asked_ns, uint64_t answered_ns)
{
    uint64_t ns = mst_remote_clock_made(status);
    int64_t least, most;

    if (ns == MST_UNKNOWN)
        return;
    least = (int64_t)ns - (int64_t)answered_ns;
    most = (int64_t)ns - (int64_t)asked_ns;
    if (least > clock->ahead_min_ns)
        clock->ahead_min_ns = least;
    if (most < clock->ahead_max_ns)
        clock->ahead_max_ns = most;
}

/* Half of the longest round trip; beyond it, an answer was waited for. */
#define ONE_WAY_NS ((int64_t)(50 * MST_NS_PER_MS))

/* Two clocks' rates differ by some hundred millionths: that is 40 ms in a minute, at most this in a
 * long run. */
#define DRIFT_NS   ((int64_t)(2 * MST_NS_PER_S))

bool mst_remote_clock_contradicts(const struct mst_remote_clock *clock,
                                  const struct mst_snapshot *status, uint64_t asked_ns,
                                  uint64_t answered_ns, uint64_t *by_ns)
{
    struct mst_remote_clock seen;
    int64_t by;

    mst_remote_clock_forget(&seen);
    mst_remote_clock_learn(&seen, status, asked_ns, answered_ns);
    if (!mst_remote_clock_is_known(clock) || !mst_remote_clock_is_known(&seen))
        return false;
    by = seen.ahead_min_ns > clock->ahead_max_ns ? seen.ahead_min_ns - clock->ahead_max_ns
                                                 : clock->ahead_min_ns - seen.ahead_max_ns;
    *by_ns = by > 0 ? (uint64_t)by : 0;
    return by > DRIFT_NS;
}

/* Bounds that exclude each other are a status's that does not tell the truth: the lower one
 * counts. */
static int64_t estimate_ns(const struct mst_remote_clock *clock)
{
    int64_t half = clock->ahead_max_ns > clock->ahead_min_ns ?
                   (clock->ahead_max_ns - clock->ahead_min_ns) / 2 : 0;

    return clock->ahead_min_ns + (half < ONE_WAY_NS ? half : ONE_WAY_NS);
}

struct mst_clock_offset mst_remote_clock_offset(const struct mst_remote_clock *clock,
                                                uint64_t offset_ns)
{
    int64_t at = estimate_ns(clock);
    int64_t above = clock->ahead_max_ns > at ? clock->ahead_max_ns - at : 0;
    int64_t below = at - clock->ahead_min_ns;

    return (struct mst_clock_offset){
        .ahead_ns = at - (int64_t)offset_ns,
        .uncertainty_ns = (uint64_t)(above > below ? above : below),
    };
}

uint64_t mst_remote_clock_ours(const struct mst_remote_clock *clock, uint64_t offset_ns,
                               uint64_t its_ns)
{
    int64_t offset = (int64_t)offset_ns, ahead;

    if (its_ns == MST_UNKNOWN || !mst_remote_clock_is_known(clock) ||
        (clock->ahead_min_ns <= offset && offset <= clock->ahead_max_ns))
        return its_ns;
    ahead = mst_remote_clock_offset(clock, offset_ns).ahead_ns;
    return ahead >= 0 ? mst_elapsed((uint64_t)ahead, its_ns)
                      : mst_add_saturated(its_ns, -(uint64_t)ahead);
}
