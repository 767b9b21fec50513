/* trend.c - where a figure changed by more than its noise: see trend.h. */
#include "analysis/trend.h"

#include <math.h>

#include "stats/distribution.h"

struct before { size_t count; double mean, scatter; };

static double scaled(double value, bool is_ratio)
{
    return is_ratio ? log(value) : value;
}

static bool is_known(const struct mst_trend_point *p, bool is_ratio)
{
    return is_ratio ? p->value > 0 : p->value >= 0;
}

static struct before sum_up(const struct mst_trend_point *points, size_t from, size_t to,
                            bool is_ratio)
{
    struct before b = { 0 };
    double sum = 0, squares = 0, x;
    size_t i;

    for (i = from; i < to; i++)
        if (is_known(&points[i], is_ratio)) {
            b.count++;
            sum += scaled(points[i].value, is_ratio);
        }
    b.mean = b.count > 0 ? sum / (double)b.count : 0;
    for (i = from; i < to; i++)
        if (is_known(&points[i], is_ratio)) {
            x = scaled(points[i].value, is_ratio) - b.mean;
            squares += x * x;
        }
    b.scatter = b.count > 1 ? sqrt(squares / (double)(b.count - 1)) : 0;
    return b;
}

/* -1: below what is expected; 1: above; 0: within. */
static int side_of(double value, const struct mst_trend_point *expected)
{
    return value < expected->low ? -1 : value > expected->high ? 1 : 0;
}

static void expect(struct mst_trend_point *p, const struct before *b, bool is_ratio, double floor)
{
    double scatter = b->scatter > floor ? b->scatter : floor;
    double reach = mst_student(0.95, (double)(b->count - 1)) * scatter *
                   sqrt(1 + 1 / (double)b->count);

    p->before = is_ratio ? exp(b->mean) : b->mean;
    p->low = is_ratio ? exp(b->mean - reach) : b->mean - reach;
    p->high = is_ratio ? exp(b->mean + reach) : b->mean + reach;
}

/* Whether the next known value is on the same side. */
static enum mst_trend confirm(const struct mst_trend_point *points, size_t count, size_t at,
                              bool is_ratio)
{
    size_t next = at + 1;

    while (next < count && !is_known(&points[next], is_ratio))
        next++;
    if (next == count)
        return MST_TREND_SUSPECTED;
    return side_of(points[next].value, &points[at]) == side_of(points[at].value, &points[at])
               ? MST_TREND_CHANGED : MST_TREND_NOISE;
}

static size_t next_known(const struct mst_trend_point *points, size_t count, size_t at,
                         bool is_ratio)
{
    while (at < count && !is_known(&points[at], is_ratio))
        at++;
    return at;
}

/* The first two values, which nothing is before: whether both are outside, on the same side, of
 * those that follow until the next change. */
static void judge_first(struct mst_trend_point *points, size_t count, bool is_ratio, double floor)
{
    struct mst_trend_point expected;
    size_t first = next_known(points, count, 0, is_ratio);
    size_t second = next_known(points, count, first + 1, is_ratio);
    size_t third = next_known(points, count, second + 1, is_ratio), end = third;
    struct before rest, begin;

    while (end < count && points[end].trend != MST_TREND_CHANGED)
        end++;
    rest = sum_up(points, third, end, is_ratio);
    if (rest.count < MST_TREND_BEFORE_MIN)
        return;
    expect(&expected, &rest, is_ratio, floor);
    if (side_of(points[first].value, &expected) == 0 ||
        side_of(points[first].value, &expected) != side_of(points[second].value, &expected))
        return;
    begin = sum_up(points, first, third, is_ratio);
    points[third].trend = MST_TREND_CHANGED;
    points[third].before = is_ratio ? exp(begin.mean) : begin.mean;
}

void mst_trend_find(struct mst_trend_point *points, size_t count, bool is_ratio, double floor)
{
    size_t from = 0, i;
    struct before b;

    for (i = 0; i < count; i++) {
        struct mst_trend_point *p = &points[i];

        p->trend = MST_TREND_UNKNOWN;
        p->before = -1;
        p->low = 1;
        p->high = 0;
        b = sum_up(points, from, i, is_ratio);
        if (!is_known(p, is_ratio) || b.count < MST_TREND_BEFORE_MIN)
            continue;
        expect(p, &b, is_ratio, floor);
        p->trend = side_of(p->value, p) == 0 ? MST_TREND_NOISE
                                             : confirm(points, count, i, is_ratio);
        if (p->trend == MST_TREND_CHANGED)
            from = i;
    }
    judge_first(points, count, is_ratio, floor);
}

/* ---- drift ----------------------------------------------------------------------- */

/* A straight line through the values by their numbers. squares: what it leaves. */
struct line { size_t values; double middle, mean, slope, slope_error, squares; };

static struct line fit_line(const struct mst_trend_point *points, size_t count, bool is_ratio)
{
    const struct before all = sum_up(points, 0, count, is_ratio);
    struct line l = { .values = all.count, .mean = all.mean };
    double both = 0, spread = 0, x, y;
    size_t i;

    for (i = 0; i < count; i++)
        if (is_known(&points[i], is_ratio))
            l.middle += (double)i / (double)l.values;
    for (i = 0; i < count; i++)
        if (is_known(&points[i], is_ratio)) {
            x = (double)i - l.middle;
            both += x * (scaled(points[i].value, is_ratio) - l.mean);
            spread += x * x;
        }
    l.slope = spread > 0 ? both / spread : 0;
    for (i = 0; i < count; i++)
        if (is_known(&points[i], is_ratio)) {
            y = scaled(points[i].value, is_ratio) - l.mean - l.slope * ((double)i - l.middle);
            l.squares += y * y;
        }
    l.slope_error = l.values > 2 && spread > 0
                        ? sqrt(l.squares / (double)(l.values - 2) / spread) : INFINITY;
    return l;
}

/* What means from change to change leave, or where that is less, those before and after one of all
 * points. */
static double squares_of_steps(const struct mst_trend_point *points, size_t count, bool is_ratio)
{
    double least, squares;
    struct before b;
    size_t from = 0, i;

    for (i = 1, least = 0; i <= count; i++)
        if (i == count || points[i].trend == MST_TREND_CHANGED) {
            b = sum_up(points, from, i, is_ratio);
            least += b.scatter * b.scatter * (double)(b.count > 0 ? b.count - 1 : 0);
            from = i;
        }
    for (i = 1; i < count; i++) {
        b = sum_up(points, 0, i, is_ratio);
        squares = b.scatter * b.scatter * (double)(b.count > 0 ? b.count - 1 : 0);
        b = sum_up(points, i, count, is_ratio);
        squares += b.scatter * b.scatter * (double)(b.count > 0 ? b.count - 1 : 0);
        least = fmin(least, squares);
    }
    return least;
}

struct mst_trend_drift mst_trend_find_drift(const struct mst_trend_point *points, size_t count,
                                            bool is_ratio, double least)
{
    const struct line l = fit_line(points, count, is_ratio);
    double first = l.mean - l.slope * l.middle, last;
    struct mst_trend_drift drift = { .values = l.values };

    if (l.values < MST_TREND_DRIFT_MIN)
        return drift;
    last = first + l.slope * (double)(count - 1);
    drift.first = is_ratio ? exp(first) : fmax(first, 0);
    drift.last = is_ratio ? exp(last) : fmax(last, 0);
    drift.found = fabs(last - first) > (is_ratio ? log1p(least) : least) &&
                  fabs(l.slope) > mst_student(0.99, (double)(l.values - 2)) * l.slope_error &&
                  l.squares < squares_of_steps(points, count, is_ratio);
    return drift;
}
