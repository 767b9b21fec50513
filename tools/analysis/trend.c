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
}
