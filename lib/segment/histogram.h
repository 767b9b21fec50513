/* histogram.h - log-linear histograms of nanoseconds.
 *
 * Eight buckets an octave from 2^9 ns (0.5 us) to 2^42 ns (73 min): a bucket is
 * never wider than an eighth (12.5 %) of its lower bound, and every power of
 * two in the range is an exact bucket bound, which OpenMetrics relies on.
 * The first bucket takes everything below, the last everything above.
 */
#ifndef MPMSTAT_HISTOGRAM_H
#define MPMSTAT_HISTOGRAM_H

#include <stddef.h>
#include <stdint.h>

#define MST_HIST_MIN_EXP  9u
#define MST_HIST_MAX_EXP  42u
#define MST_HIST_SUB_BITS 3u
#define MST_HIST_BUCKETS \
    (2u + ((MST_HIST_MAX_EXP - MST_HIST_MIN_EXP) << MST_HIST_SUB_BITS))

/* All words are counters (max_ns: a maximum), each atomic by itself. The number of observations
 * is the sum of the buckets, so that it agrees with them in every copy. */
struct mst_histogram {
    uint64_t sum_ns;
    uint64_t max_ns;
    uint64_t buckets[MST_HIST_BUCKETS];
};

/* The bucket of ns. Hot path. The highest bit of ns names the octave; the next three bits name the
 * bucket within it. */
static inline size_t mst_histogram_bucket(uint64_t ns)
{
    unsigned shift;

    if (ns < UINT64_C(1) << MST_HIST_MIN_EXP)
        return 0;
    shift = (63u ^ (unsigned)__builtin_clzll(ns)) - MST_HIST_SUB_BITS;
    if (shift >= MST_HIST_MAX_EXP - MST_HIST_SUB_BITS)
        return MST_HIST_BUCKETS - 1;
    /* ns >> shift is 1 and those three bits: 8 to 15. */
    return (ns >> shift) + ((size_t)shift << MST_HIST_SUB_BITS)
         + 1 - ((MST_HIST_MIN_EXP + 1 - MST_HIST_SUB_BITS) << MST_HIST_SUB_BITS);
}

/* Lower bound of a bucket in ns, inclusive, for buckets below MST_HIST_BUCKETS. The upper bound
 * (exclusive) of a bucket is the lower bound of the next. */
uint64_t mst_histogram_lower(unsigned bucket);

/* How many observations it has. */
uint64_t mst_histogram_count(const struct mst_histogram *h);

/* The q-quantile (0 < q <= 1) in ns, interpolated within its bucket and never above max_ns;
 * UINT64_MAX (unknown) without an observation. */
uint64_t mst_histogram_quantile(const struct mst_histogram *h, double q);

/* Adds `from` to `into`; max_ns becomes the larger one. */
void mst_histogram_add(struct mst_histogram *into, const struct mst_histogram *from);

#endif
