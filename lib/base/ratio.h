/* ratio.h - ratios without overflow on the way; most are in thousandths. */
#ifndef MPMSTAT_RATIO_H
#define MPMSTAT_RATIO_H

#include <stdint.h>

#include "base/clock.h"

/* Thousandths of the whole, which is not 0; rounded, so that all who say a share say the same. */
static inline uint64_t mst_milli(uint64_t part, uint64_t whole)
{
    return (uint64_t)(((unsigned __int128)part * 1000 + whole / 2) / whole);
}

/* That part of a number: number * part / whole, of a whole that is not 0. */
static inline uint64_t mst_scale(uint64_t number, uint64_t part, uint64_t whole)
{
    return (uint64_t)((unsigned __int128)number * part / whole);
}

/* The rate of `count` events in `ns` nanoseconds (not 0), in thousandths of an event a second. */
static inline uint64_t mst_rate_milli(uint64_t count, uint64_t ns)
{
    return (uint64_t)((unsigned __int128)count * 1000 * MST_NS_PER_S / ns);
}

#endif
