/* trend.h - one figure over many recordings: where it changed by more than its noise.
 *
 * The unit is the recording: a value each, the oldest first. A value is compared with those since
 * the last change, of which there have to be three: it is outside where it is farther from their
 * mean than 95 % of such values would be (Student's t, with their own scatter). Of many values some
 * are outside by chance, so that a change is told only where the next value is outside on the same
 * side of the same ones, too; the last value of all can only be suspected. The first two have
 * none before them: they are compared with those after them.
 *
 * Each step of a slow drift is within the noise. So all values together are held against a straight
 * line, too.
 */
#ifndef MPMSTAT_TREND_H
#define MPMSTAT_TREND_H

#include <stdbool.h>
#include <stddef.h>

#define MST_TREND_BEFORE_MIN 3u
#define MST_TREND_DRIFT_MIN  8u      /* values: of fewer a single change looks like a line */

enum mst_trend {
    MST_TREND_UNKNOWN,       /* there is no value, or too few are before it */
    MST_TREND_NOISE, MST_TREND_CHANGED, MST_TREND_SUSPECTED
};

struct mst_trend_point {
    double value;            /* below 0: not known */
    enum mst_trend trend;
    double before;           /* the mean of those that it is compared with */
    double low, high;        /* the next one is expected within; low > high: not known */
};

/* A line through all values, which fits them better than the changes do: its ends. */
struct mst_trend_drift {
    bool   found;
    size_t values;
    double first, last;
};

/* Fills in all but the values. `is_ratio`: values above 0 that scatter by factors (times, rates);
 * else they scatter by differences (shares). `floor` is a scatter that is always there: a fraction
 * of the mean of ratios, or a difference. */
void mst_trend_find(struct mst_trend_point *points, size_t count, bool is_ratio, double floor);

/* Whether the points, with their changes, are a drift instead: the slope is other than 0 with 99 %
 * of confidence, and the ends are apart by more than `least` (a fraction, or a difference). */
struct mst_trend_drift mst_trend_find_drift(const struct mst_trend_point *points, size_t count,
                                            bool is_ratio, double least);

#endif
