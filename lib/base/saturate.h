/* saturate.h - arithmetic for readers, on numbers that may be anything.
 *
 * A sum that overflows becomes UINT64_MAX, which is MST_UNKNOWN: a board that
 * holds nonsense shows unknowns, and an unknown added to a number is unknown.
 */
#ifndef MPMSTAT_SATURATE_H
#define MPMSTAT_SATURATE_H

#include <stdint.h>

static inline uint64_t mst_add_saturated(uint64_t a, uint64_t b)
{
    return a > UINT64_MAX - b ? UINT64_MAX : a + b;
}

/* How much later than `since`; 0 where it is not. */
static inline uint64_t mst_elapsed(uint64_t since, uint64_t now)
{
    return now > since ? now - since : 0;
}

#endif
