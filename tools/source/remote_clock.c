/* remote_clock.c - how far a server's clock is ahead of ours: see remote_clock.h. */
#include "source/remote_clock.h"

#include <string.h>

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

uint64_t mst_remote_clock_ours(const struct mst_remote_clock *clock, uint64_t offset_ns,
                               uint64_t its_ns)
{
    int64_t offset = (int64_t)offset_ns, behind;

    if (its_ns == MST_UNKNOWN || !mst_remote_clock_is_known(clock) ||
        (clock->ahead_min_ns <= offset && offset <= clock->ahead_max_ns) ||
        __builtin_sub_overflow(offset, clock->ahead_min_ns, &behind))
        return its_ns;
    return behind >= 0 ? mst_add_saturated(its_ns, (uint64_t)behind)
                       : mst_elapsed(-(uint64_t)behind, its_ns);
}
