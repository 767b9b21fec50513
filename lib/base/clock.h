/* clock.h - time in nanoseconds. Everything that is measured uses CLOCK_MONOTONIC. */
#ifndef MPMSTAT_CLOCK_H
#define MPMSTAT_CLOCK_H

#include <stdint.h>
#include <time.h>

#define MST_NS_PER_S  UINT64_C(1000000000)
#define MST_NS_PER_MS UINT64_C(1000000)
#define MST_NS_PER_US UINT64_C(1000)

static inline uint64_t mst_clock_read(clockid_t clock)
{
    struct timespec t;

    clock_gettime(clock, &t);
    return (uint64_t)t.tv_sec * MST_NS_PER_S + (uint64_t)t.tv_nsec;
}

/* The vDSO answers these two: they make no system call. */
static inline uint64_t mst_now_ns(void)      { return mst_clock_read(CLOCK_MONOTONIC); }
static inline uint64_t mst_realtime_ns(void) { return mst_clock_read(CLOCK_REALTIME); }

#endif
