/* estimates.c - means, intervals and ratios of repetitions: see estimates.h. */
#include "lab/report/estimates.h"

#include <math.h>
#include <stdlib.h>

#include "stats/bootstrap.h"

/* Writes the values that are known. Returns how many; *positive: all of them are above 0. */
static size_t values_of(const struct mst_study_case *c, enum mst_metric_id metric,
                        double *values, bool *positive)
{
    size_t count = 0, i;

    *positive = true;
    for (i = 0; i < c->run_count; i++) {
        double value = c->runs[i].values[metric];

        if (!isfinite(value))
            continue;
        values[count++] = value;
        *positive = *positive && value > 0;
    }
    return count;
}

static void take_plain(struct mst_estimate *e, const double *values)
{
    double sum = 0;
    size_t i;

    e->least = e->most = values[0];
    for (i = 0; i < e->count; i++) {
        sum += values[i];
        e->least = fmin(e->least, values[i]);
        e->most = fmax(e->most, values[i]);
    }
    e->mean = sum / (double)e->count;
}

struct mst_estimate mst_estimate_of(const struct mst_study_case *c, enum mst_metric_id metric)
{
    struct mst_estimate e = { .mean = NAN, .low = NAN, .high = NAN, .least = NAN, .most = NAN };
    double *values = mst_have(calloc(c->run_count + 1, sizeof *values));
    struct mst_confidence interval;
    bool positive;

    e.count = values_of(c, metric, values, &positive);
    if (e.count > 0)
        take_plain(&e, values);
    if (e.count > 0 && positive) {
        bool bounded = mst_bootstrap_interval(&interval, values, e.count);
        bool exact = e.least == e.most;    /* then it is that value, to the last digit */

        e.mean = exact ? e.least : interval.ratio;
        e.low = !bounded ? NAN : exact ? e.least : interval.low;
        e.high = !bounded ? NAN : exact ? e.most : interval.high;
    }
    free(values);
    return e;
}

/* Writes the values of both cases, repetition by repetition, where each has one and in the same
 * block. Returns how many; 0: they are not paired. */
static size_t pair_up(const struct mst_study_case *a, const struct mst_study_case *b,
                      enum mst_metric_id metric, double *of_a, double *of_b)
{
    size_t i;

    if (a->run_count != b->run_count)
        return 0;
    for (i = 0; i < a->run_count; i++) {
        of_a[i] = a->runs[i].values[metric];
        of_b[i] = b->runs[i].values[metric];
        if (a->runs[i].repetition != b->runs[i].repetition ||
            a->runs[i].block != b->runs[i].block || !isfinite(of_a[i]) || !isfinite(of_b[i]))
            return 0;
    }
    return a->run_count;
}

struct mst_ratio mst_ratio_of(const struct mst_study_case *c, const struct mst_study_case *to,
                              enum mst_metric_id metric)
{
    struct mst_ratio r = { .ratio = NAN, .low = NAN, .high = NAN };
    double *a = mst_have(calloc(to->run_count + 1, sizeof *a));
    double *b = mst_have(calloc(c->run_count + 1, sizeof *b));
    bool positive_a, positive_b, paired = pair_up(to, c, metric, a, b) > 0;
    struct mst_confidence interval;

    r.of = values_of(to, metric, a, &positive_a);
    r.runs = values_of(c, metric, b, &positive_b);
    r.known = r.of > 0 && r.runs > 0 && positive_a && positive_b;
    if (r.known) {
        r.bounded = mst_bootstrap_ratio(&interval, a, r.of, b, r.runs, paired);
        r.ratio = interval.ratio;
    }
    if (r.bounded) {
        r.low = interval.low;
        r.high = interval.high;
    }
    free(a);
    free(b);
    return r;
}
