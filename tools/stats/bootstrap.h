/* bootstrap.h - the ratio of two sets of runs, and how far it is known.
 *
 * The run is the unit: a value each, above 0. Everything is in logarithms, so that
 * B/A and A/B say the same; the ratio is that of the geometric means.
 *
 * The interval is a bootstrap percentile interval, widened as Student's t is wider
 * than the normal distribution: with the few runs that anybody makes, a plain
 * percentile interval of 95 % holds the truth in 75 % of the cases (three runs).
 * The random numbers are the same each time.
 */
#ifndef MPMSTAT_BOOTSTRAP_H
#define MPMSTAT_BOOTSTRAP_H

#include <stdbool.h>
#include <stddef.h>

#define MST_BOOTSTRAP_RESAMPLES  10000u
#define MST_BOOTSTRAP_RUNS_MIN   3u      /* of each side: fewer tell nothing of their scatter */
#define MST_BOOTSTRAP_CONFIDENCE "0.95"
#define MST_BOOTSTRAP_METHOD     "bootstrap, percentiles of the mean logarithm, 10000 resamples, " \
                                 "widened by Student's t"

struct mst_confidence {
    double ratio;        /* of b to a */
    double low, high;    /* 95 % */
    double freedom;      /* Student's degrees of it, by which the interval was widened */
};

/* paired: b[i] was measured next to a[i], and b_count is a_count. False, and nothing
 * but the ratio, where there are fewer runs than MST_BOOTSTRAP_RUNS_MIN. */
bool mst_bootstrap_ratio(struct mst_confidence *interval, const double *a, size_t a_count,
                         const double *b, size_t b_count, bool paired);

/* Widens an interval of 95 % of a ratio to another confidence (0.99: 99 %). */
void mst_bootstrap_widen(struct mst_confidence *interval, double confidence);

/* The smallest difference that an interval of that confidence, as narrow as this one, shows in 4 of
 * 5 sets of such runs: 0.05 is 5 %. */
double mst_bootstrap_smallest(const struct mst_confidence *interval, double confidence);

/* The geometric mean of one set of runs: in `ratio`, with its interval. False as above. */
bool mst_bootstrap_interval(struct mst_confidence *interval, const double *values, size_t count);

/* The difference of the means of two sets of runs, b less a, in the values' own unit, with
 * its interval: in `ratio`, `low` and `high`. Values can be anything. False as above. */
bool mst_bootstrap_difference(struct mst_confidence *interval, const double *a, size_t a_count,
                              const double *b, size_t b_count);

/* By how much such runs differ with nothing changed: in 95 % of all splits of them in
 * halves the halves' ratio is at most 1 + this. Below 0: too few to split. */
double mst_bootstrap_noise(const double *values, size_t count);

/* The geometric mean. */
double mst_bootstrap_mean(const double *values, size_t count);

#endif
