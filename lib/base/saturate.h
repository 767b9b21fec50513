/* saturate.h - arithmetic for readers, on numbers from boards, which can have any value.
 *
 * A sum that overflows becomes UINT64_MAX, which is MST_UNKNOWN. So nonsense in a board shows
 * as unknown, and an unknown plus a number is unknown.
 */
#ifndef MPMSTAT_SATURATE_H
#define MPMSTAT_SATURATE_H

#include <stdint.h>

static inline uint64_t mst_add_saturated(uint64_t a, uint64_t b)
{
    return a > UINT64_MAX - b ? UINT64_MAX : a + b;
}

/* a - b, or 0 where b is more. */
static inline uint64_t mst_subtract_saturated(uint64_t a, uint64_t b)
{
    return a > b ? a - b : 0;
}

/* 0 for UINT64_MAX, which is not known: it adds nothing. */
static inline uint64_t mst_known(uint64_t n)
{
    return n != UINT64_MAX ? n : 0;
}

/* Adds what is known. */
static inline void mst_add_known(uint64_t *sum, uint64_t n)
{
    *sum = mst_add_saturated(*sum, mst_known(n));
}

/* now - since, or 0 where now is earlier. */
static inline uint64_t mst_elapsed(uint64_t since, uint64_t now)
{
    return mst_subtract_saturated(now, since);
}

/* The number without its sign; also right for INT64_MIN, for which llabs() is undefined. */
static inline uint64_t mst_magnitude(int64_t number)
{
    return number < 0 ? -(uint64_t)number : (uint64_t)number;
}

#endif
