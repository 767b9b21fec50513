/* quantile.h - exact quantiles and means of values that are all there. */
#ifndef MPMSTAT_QUANTILE_H
#define MPMSTAT_QUANTILE_H

#include <stddef.h>
#include <stdint.h>

/* A growing list of values. Zero it before use. */
struct mst_values {
    uint64_t *items;
    size_t    count, room;
};

/* 0, or -1: out of memory. */
int  mst_values_add(struct mst_values *values, uint64_t value);
void mst_values_free(struct mst_values *values);
void mst_values_sort(struct mst_values *values);

/* A value, and the number of what it belongs to. */
struct mst_owned_value { uint64_t value, owner; };

/* By their values; the order of equal ones is not defined. items can be NULL: there are none. */
void mst_owned_values_sort(struct mst_owned_value *items, size_t count);

/* The nearest-rank quantile of sorted values: the smallest of them that at least
 * per_mille thousandths of all do not exceed; 500 is the median, 1000 the
 * largest. One of the values, never between two. MST_UNKNOWN where there are none. */
uint64_t mst_values_quantile(const struct mst_values *sorted, unsigned per_mille);

/* The sum, or MST_UNKNOWN where it does not fit. */
uint64_t mst_values_sum(const struct mst_values *values);

/* sum / count, rounded; MST_UNKNOWN where there are none. Exact: the sum can be
 * larger than 64 bits. */
uint64_t mst_values_mean(const struct mst_values *values);

#endif
