/* quantile.c - exact quantiles and means: see quantile.h. */
#include "stats/quantile.h"

#include <stdbool.h>
#include <stdlib.h>
#include <string.h>

#include "base/array.h"
#include "segment/format.h"

int mst_values_add(struct mst_values *values, uint64_t value)
{
    if (!mst_grow(&values->items, &values->room, values->count, sizeof *values->items))
        return -1;
    values->items[values->count++] = value;
    return 0;
}

void mst_values_free(struct mst_values *values)
{
    free(values->items);
    *values = (struct mst_values){ 0 };
}

#define RADIX_MIN  4096u   /* fewer are sorted as fast otherwise */
#define RADIX_BITS 11

/* Of values, and of items that begin with one. */
static int compare(const void *a, const void *b)
{
    uint64_t x = *(const uint64_t *)a, y = *(const uint64_t *)b;

    return (x > y) - (x < y);
}

/* Of items of `words` words, whose first one is the value. */
static void deal(const uint64_t *from, uint64_t *to, size_t count, size_t words, unsigned shift)
{
    size_t starts[1u << RADIX_BITS] = { 0 }, at = 0, n, i, k;
    const uint64_t mask = (1u << RADIX_BITS) - 1;

    for (i = 0; i < count; i++)
        starts[from[i * words] >> shift & mask]++;
    for (i = 0; i <= mask; i++) {
        n = starts[i];
        starts[i] = at;
        at += n;
    }
    for (i = 0; i < count; i++) {
        at = starts[from[i * words] >> shift & mask]++;
        for (k = 0; k < words; k++)
            to[at * words + k] = from[i * words + k];
    }
}

/* By digits, the lowest first. A report sorts millions of values a dozen times: with qsort()
 * instead, `make bench BENCH=report` takes 1.4 times as long. False: out of memory. */
static bool radix_sort(uint64_t *items, size_t count, size_t words)
{
    uint64_t *other = calloc(count, words * sizeof *other), *from = items, *to = other, *swap;
    uint64_t largest = 0;
    unsigned shift;
    size_t i;

    if (other == NULL)
        return false;
    for (i = 0; i < count; i++)
        largest |= items[i * words];
    for (shift = 0; shift < 64 && largest >> shift > 0; shift += RADIX_BITS) {
        deal(from, to, count, words, shift);
        swap = from, from = to, to = swap;
    }
    if (from != items)
        memcpy(items, from, count * words * sizeof *items);
    free(other);
    return true;
}

static void sort(uint64_t *items, size_t count, size_t words)
{
    if (count >= RADIX_MIN && radix_sort(items, count, words))
        return;
    if (count > 1)
        qsort(items, count, words * sizeof *items, compare);
}

void mst_values_sort(struct mst_values *values)
{
    sort(values->items, values->count, 1);
}

void mst_owned_values_sort(struct mst_owned_value *items, size_t count)
{
    sort((uint64_t *)items, count, sizeof *items / sizeof items->value);
}

uint64_t mst_values_quantile(const struct mst_values *sorted, unsigned per_mille)
{
    unsigned __int128 scaled = (unsigned __int128)sorted->count * per_mille;
    size_t rank = (size_t)((scaled + 999) / 1000);

    if (sorted->count == 0)
        return MST_UNKNOWN;
    if (rank == 0)
        rank = 1;
    if (rank > sorted->count)
        rank = sorted->count;
    return sorted->items[rank - 1];
}

static unsigned __int128 wide_sum(const struct mst_values *values)
{
    unsigned __int128 sum = 0;
    size_t i;

    for (i = 0; i < values->count; i++)
        sum += values->items[i];
    return sum;
}

uint64_t mst_values_sum(const struct mst_values *values)
{
    unsigned __int128 sum = wide_sum(values);

    return sum < MST_UNKNOWN ? (uint64_t)sum : MST_UNKNOWN;
}

uint64_t mst_values_mean(const struct mst_values *values)
{
    if (values->count == 0)
        return MST_UNKNOWN;
    return (uint64_t)((wide_sum(values) + values->count / 2) / values->count);
}
