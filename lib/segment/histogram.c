/* histogram.c - what readers compute from a log-linear histogram. Writers record into one with
 * write/worker.h.
 */
#include "segment/histogram.h"

#include "base/saturate.h"

uint64_t mst_histogram_lower(unsigned bucket)
{
    unsigned octave, sub;

    if (bucket == 0)
        return 0;
    octave = (bucket - 1) >> MST_HIST_SUB_BITS;
    sub = (bucket - 1) & ((1u << MST_HIST_SUB_BITS) - 1);
    return (uint64_t)((1u << MST_HIST_SUB_BITS) + sub)
           << (MST_HIST_MIN_EXP + octave - MST_HIST_SUB_BITS);
}

uint64_t mst_histogram_count(const struct mst_histogram *h)
{
    uint64_t sum = 0;
    unsigned i;

    for (i = 0; i < MST_HIST_BUCKETS; i++)
        sum = mst_add_saturated(sum, h->buckets[i]);
    return sum;
}

/* The rank of the q-quantile among count observations: 1..count. */
static uint64_t quantile_rank(double q, uint64_t count)
{
    double exact = q * (double)count;
    uint64_t rank;

    if (!(exact < (double)count))
        return count;
    if (exact <= 1)
        return 1;
    rank = (uint64_t)exact;
    if ((double)rank < exact)
        rank++;
    return rank < count ? rank : count;
}

/* The largest observation: at least the lower bound of the last bucket in use,
 * because a copy may fall between a writer's count and its maximum. */
static uint64_t largest(const struct mst_histogram *h)
{
    unsigned last = MST_HIST_BUCKETS - 1;
    uint64_t lower;

    while (last > 0 && h->buckets[last] == 0)
        last--;
    lower = mst_histogram_lower(last);
    return h->max_ns > lower ? h->max_ns : lower;
}

uint64_t mst_histogram_quantile(const struct mst_histogram *h, double q)
{
    uint64_t count = mst_histogram_count(h), max = largest(h);
    uint64_t rank, before = 0, lower, upper, value;
    unsigned i = 0;

    if (count == 0)
        return UINT64_MAX;
    rank = quantile_rank(q, count);
    while (i < MST_HIST_BUCKETS - 1 && rank - before > h->buckets[i])
        before += h->buckets[i++];
    lower = mst_histogram_lower(i);
    if (i == MST_HIST_BUCKETS - 1)
        return max;                     /* it has no upper bound */
    upper = mst_histogram_lower(i + 1);
    value = lower + (uint64_t)((double)(upper - lower)
                               * ((double)(rank - before) / (double)h->buckets[i]));
    return value < max ? value : max;
}

void mst_histogram_add(struct mst_histogram *into, const struct mst_histogram *from)
{
    unsigned i;

    into->sum_ns = mst_add_saturated(into->sum_ns, from->sum_ns);
    if (from->max_ns > into->max_ns)
        into->max_ns = from->max_ns;
    for (i = 0; i < MST_HIST_BUCKETS; i++)
        into->buckets[i] = mst_add_saturated(into->buckets[i], from->buckets[i]);
}
