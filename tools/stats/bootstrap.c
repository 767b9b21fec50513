/* bootstrap.c - the ratio of two sets of runs: see bootstrap.h. */
#include "stats/bootstrap.h"

#include <math.h>
#include <stdint.h>
#include <stdlib.h>

#include "stats/distribution.h"
#include "stats/random.h"

#define SEED        UINT64_C(0x6d706d73)   /* any: it only has to stay the same */
#define TAIL        (MST_BOOTSTRAP_RESAMPLES / 40)   /* resamples beyond either end of 95 % */
#define SPLITS      2000u
#define SPLIT_MIN   4u                     /* two halves of two */

/* ---- sets of logarithms ---------------------------------------------------------- */

/* The values of one side, or what b is over a. */
struct logs {
    const double *of, *over;      /* log(of[i]), less log(over[i]) unless that is NULL */
    size_t count;
    double mean, variance;        /* variance: of a value, unbiased */
};

static double log_at(const struct logs *l, size_t i)
{
    return log(l->of[i]) - (l->over != NULL ? log(l->over[i]) : 0);
}

static struct logs take_logs(const double *of, const double *over, size_t count)
{
    struct logs l = { .of = of, .over = over, .count = count };
    double apart;
    size_t i;

    for (i = 0; i < count; i++)
        l.mean += log_at(&l, i);
    l.mean /= (double)count;
    for (i = 0; i < count; i++) {
        apart = log_at(&l, i) - l.mean;
        l.variance += apart * apart;
    }
    l.variance /= count > 1 ? (double)(count - 1) : 1;
    return l;
}

/* Returns the mean of n values resampled from the n logs, minus their mean, scaled by
 * sqrt(n / (n - 1)): few runs scatter less around their own mean than around the true one. */
static double resample(const struct logs *l, const double *logs, uint64_t *state)
{
    double sum = 0;
    size_t i;

    for (i = 0; i < l->count; i++)
        sum += logs[mst_random_below(state, l->count)] - l->mean;
    return sum / (double)l->count * sqrt((double)l->count / (double)(l->count - 1));
}

/* ---- the interval ---------------------------------------------------------------- */

/* Welch's: of a difference of two means (b NULL: of one mean). */
static double freedom(const struct logs *a, const struct logs *b)
{
    double of_a = a->variance / (double)a->count, of_b;

    if (b == NULL)
        return (double)(a->count - 1);
    of_b = b->variance / (double)b->count;
    if (of_a + of_b <= 0)
        return (double)(a->count + b->count - 2);
    return (of_a + of_b) * (of_a + of_b) /
           (of_a * of_a / (double)(a->count - 1) + of_b * of_b / (double)(b->count - 1));
}

static int compare_doubles(const void *a, const void *b)
{
    double left = *(const double *)a, right = *(const double *)b;

    return (left > right) - (left < right);
}

static double *copy_logs(const struct logs *l)
{
    double *logs = malloc(l->count * sizeof *logs);
    size_t i;

    for (i = 0; logs != NULL && i < l->count; i++)
        logs[i] = log_at(l, i);
    return logs;
}

/* The interval around `ratio`, b less a (a NULL: b alone). */
static bool find_interval(struct mst_confidence *interval, const struct logs *a,
                          const struct logs *b)
{
    double *means = malloc(MST_BOOTSTRAP_RESAMPLES * sizeof *means);
    double *logs_a = a != NULL ? copy_logs(a) : NULL, *logs_b = copy_logs(b);
    bool fine = means != NULL && logs_b != NULL && (a == NULL || logs_a != NULL);
    double stretch;
    uint64_t state = SEED;
    size_t i;

    interval->freedom = freedom(b, a);
    stretch = mst_student(0.95, interval->freedom) / MST_NORMAL_95_BOTH_SIDES;

    for (i = 0; fine && i < MST_BOOTSTRAP_RESAMPLES; i++)
        means[i] = resample(b, logs_b, &state) - (a != NULL ? resample(a, logs_a, &state) : 0);
    if (fine) {
        qsort(means, MST_BOOTSTRAP_RESAMPLES, sizeof *means, compare_doubles);
        interval->low = interval->ratio * exp(stretch * means[TAIL - 1]);
        interval->high = interval->ratio * exp(stretch * means[MST_BOOTSTRAP_RESAMPLES - TAIL]);
    }
    free(means);
    free(logs_a);
    free(logs_b);
    return fine;
}

bool mst_bootstrap_ratio(struct mst_confidence *interval, const double *a, size_t a_count,
                         const double *b, size_t b_count, bool paired)
{
    struct logs of_a = take_logs(a, NULL, a_count), of_b = take_logs(b, paired ? a : NULL, b_count);

    interval->ratio = exp(paired ? of_b.mean : of_b.mean - of_a.mean);
    interval->low = interval->high = interval->ratio;
    if (a_count < MST_BOOTSTRAP_RUNS_MIN || b_count < MST_BOOTSTRAP_RUNS_MIN)
        return false;
    return find_interval(interval, paired ? NULL : &of_a, &of_b);
}

bool mst_bootstrap_interval(struct mst_confidence *interval, const double *values, size_t count)
{
    struct logs of = take_logs(values, NULL, count);

    interval->ratio = interval->low = interval->high = exp(of.mean);
    return count >= MST_BOOTSTRAP_RUNS_MIN && find_interval(interval, NULL, &of);
}

void mst_bootstrap_widen(struct mst_confidence *interval, double confidence)
{
    double more = mst_student(confidence, interval->freedom) / mst_student(0.95, interval->freedom);

    interval->low = interval->ratio * pow(interval->low / interval->ratio, more);
    interval->high = interval->ratio * pow(interval->high / interval->ratio, more);
}

/* The interval excludes 1 where the ratio is further from it than half of the interval. In 4 of 5
 * sets the ratio found is nearer to 1 than the true one by at most what 60 % lie within. */
double mst_bootstrap_smallest(const struct mst_confidence *interval, double confidence)
{
    double reach = log(interval->high / interval->low) / 2;

    return expm1(reach * (1 + mst_student(0.6, interval->freedom) /
                              mst_student(confidence, interval->freedom)));
}

/* The logarithms of exp(value - a middle one) are the values again: what is made for
 * ratios makes differences, too. */
static double *take_powers(const double *values, size_t count, double middle, double scale)
{
    double *powers = malloc(count * sizeof *powers);
    size_t i;

    for (i = 0; powers != NULL && i < count; i++)
        powers[i] = exp((values[i] - middle) / scale);
    return powers;
}

bool mst_bootstrap_difference(struct mst_confidence *interval, const double *a, size_t a_count,
                              const double *b, size_t b_count)
{
    double middle = b[0], scale = 1e-9, *powers_a, *powers_b;
    bool bounded = false;
    size_t i;

    for (i = 0; i < a_count; i++)
        scale = fmax(scale, fabs(a[i] - middle));
    for (i = 0; i < b_count; i++)
        scale = fmax(scale, fabs(b[i] - middle));
    powers_a = take_powers(a, a_count, middle, scale);
    powers_b = take_powers(b, b_count, middle, scale);
    if (powers_a != NULL && powers_b != NULL)
        bounded = mst_bootstrap_ratio(interval, powers_a, a_count, powers_b, b_count, false);
    interval->ratio = scale * log(interval->ratio);
    interval->low = scale * log(interval->low);
    interval->high = scale * log(interval->high);
    free(powers_a);
    free(powers_b);
    return bounded;
}

/* ---- the noise ------------------------------------------------------------------- */

/* The ratio of the first half's mean to the rest's, as an absolute logarithm, after
 * a shuffle that puts any half first. */
static double split(double *logs, size_t count, uint64_t *state)
{
    double sums[2] = { 0 }, swapped;
    size_t half = count / 2, i, with;

    for (i = 0; i < count; i++) {
        with = i + mst_random_below(state, count - i);
        swapped = logs[i];
        logs[i] = logs[with];
        logs[with] = swapped;
        sums[i >= half] += logs[i];
    }
    return fabs(sums[0] / (double)half - sums[1] / (double)(count - half));
}

double mst_bootstrap_noise(const double *values, size_t count)
{
    struct logs l = take_logs(values, NULL, count);
    double splits[SPLITS], *logs;
    uint64_t state = SEED;
    size_t i;

    if (count < SPLIT_MIN || (logs = copy_logs(&l)) == NULL)
        return -1;
    for (i = 0; i < SPLITS; i++)
        splits[i] = split(logs, count, &state);
    free(logs);
    qsort(splits, SPLITS, sizeof *splits, compare_doubles);
    return expm1(splits[SPLITS - SPLITS / 20 - 1]);
}

double mst_bootstrap_mean(const double *values, size_t count)
{
    return exp(take_logs(values, NULL, count).mean);
}
