/* clock.c - reads the clocks. Out of line: a function that reads one inline has a buffer on its
 * stack, and with that a stack protector's canary, on all of its paths. */
#include "base/clock.h"

uint64_t mst_clock_read(clockid_t clock)
{
    struct timespec t;

    clock_gettime(clock, &t);
    return (uint64_t)t.tv_sec * MST_NS_PER_S + (uint64_t)t.tv_nsec;
}

uint64_t mst_now_ns(void)
{
    return mst_clock_read(CLOCK_MONOTONIC);
}

uint64_t mst_realtime_ns(void)
{
    return mst_clock_read(CLOCK_REALTIME);
}
