/* steady.h - whether a load has become steady: the rate of the second half of its time, or of the
 * last part of it, is that of the first half.
 */
#ifndef MPMSTAT_STEADY_H
#define MPMSTAT_STEADY_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#define MST_STEADY_LOOKS 512u

/* Begins as { 0 }. Its time begins with the first look that has a request: before it the load tool
 * was still starting. */
struct mst_steady {
    size_t   count;
    uint64_t step;        /* each so many looks one is kept; 0: each */
    uint64_t seen;
    struct { uint64_t at_ns, requests; } looks[MST_STEADY_LOOKS];
};

/* Takes the number of requests since the load began, which never decreases. */
void mst_steady_see(struct mst_steady *steady, uint64_t at_ns, uint64_t requests);

/* Whether the halves agree, and are `least_ns` together. */
bool mst_steady_is(const struct mst_steady *steady, uint64_t least_ns);
/* Whether those of the last `lately_ns` agree, however it began. */
bool mst_steady_lately(const struct mst_steady *steady, uint64_t lately_ns);

#endif
