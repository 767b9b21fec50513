/* compare.c - one metric of two sets of runs: see compare.h. */
#include "analysis/compare.h"

#include <math.h>
#include <stdio.h>

#include "analysis/thresholds.h"

/* ---- sentences ------------------------------------------------------------------- */

struct number { char text[24]; };

/* "12", "3.4", "0.03": by how many percent a ratio is away from 1. A value that fell nearly to 0
 * has "99.99" at most: "100 % less" would say that nothing is left. */
static struct number percent(double ratio)
{
    double away = fabs(ratio - 1) * 100;
    bool nearly_all = ratio < 1 && away >= 99.5;
    struct number n;

    if (nearly_all)
        snprintf(n.text, sizeof n.text, "%.*f", away < 99.95 ? 1 : 2, fmin(away, 99.99));
    else
        snprintf(n.text, sizeof n.text, "%.*f", away < 0.005 || away >= 9.95 ? 0 :
                 away < 0.0995 ? 2 : 1, away);
    return n;
}

/* "3.2", "26", "2600": a ratio, to two figures where it is too large for more to matter. */
static struct number factor(double ratio)
{
    double unit = ratio < 999.5 ? 1 : pow(10, floor(log10(ratio)) - 1);
    struct number n;

    snprintf(n.text, sizeof n.text, "%.*f", ratio < 9.95 ? 1 : 0,
             ratio < 999.5 ? ratio : round(ratio / unit) * unit);
    return n;
}

/* "12 % more", "3.4 % less", "26 times as much". */
static void difference(char text[48], double ratio)
{
    if (ratio >= MST_FACTOR_MIN)
        snprintf(text, 48, "%s times as much", factor(ratio).text);
    else
        snprintf(text, 48, "%s %% %s", percent(ratio).text, ratio < 1 ? "less" : "more");
}

static void say_change(struct mst_comparison *c, const char *what)
{
    const struct mst_confidence *i = &c->interval;
    bool less = c->change == MST_CHANGE_LESS;
    struct number by, from, to;

    if (i->high >= MST_FACTOR_MIN) {
        snprintf(c->by, sizeof c->by, "%s times as much (%s to %s times)", factor(i->ratio).text,
                 factor(i->low).text, factor(i->high).text);
        snprintf(c->text, sizeof c->text, "%s: %s", what, c->by);
        return;
    }
    by = percent(i->ratio);
    from = percent(less ? i->high : i->low);
    to = percent(less ? i->low : i->high);
    snprintf(c->by, sizeof c->by, "%s %% %s (%s to %s %%)", by.text, less ? "less" : "more",
             from.text, to.text);
    snprintf(c->text, sizeof c->text, "%s by %s %% (%s to %s %%)", what, by.text, from.text,
             to.text);
}

static void say_unsure(struct mst_comparison *c, bool by_step)
{
    const struct mst_confidence *i = &c->interval;
    char from[48], to[48];

    difference(from, i->low);
    difference(to, i->high);
    if (i->low >= 1 - 1e-9 && i->high <= 1 + 1e-9) {
        snprintf(c->by, sizeof c->by, "no difference at all");
        snprintf(c->text, sizeof c->text, "cannot tell: there is %s", c->by);
        return;
    }
    snprintf(c->by, sizeof c->by, "%sfrom %s to %s",
             by_step ? "with the tool's resolution " : "", from, to);
    snprintf(c->text, sizeof c->text, "cannot tell: %s", c->by);
}

static void say_too_few(struct mst_comparison *c, const struct mst_compare_input *in)
{
    char seen[48];

    difference(seen, c->b / c->a);
    snprintf(c->by, sizeof c->by, "%s", c->a == c->b ? "the same" : seen);
    if (in->a_count == 1 && in->b_count == 1)
        snprintf(c->text, sizeof c->text, "cannot tell: %s, but one run each; record with "
                 "--repeat 5", seen);
    else
        snprintf(c->text, sizeof c->text, "cannot tell: %s, but %zu and %zu runs; it takes %u "
                 "each, better five: --repeat 5", seen, in->a_count, in->b_count,
                 MST_BOOTSTRAP_RUNS_MIN);
}

/* ---- comparing ------------------------------------------------------------------- */

static bool all_positive(const double *values, size_t count)
{
    size_t i;

    for (i = 0; i < count; i++)
        if (!(values[i] > 0))
            return false;
    return true;
}

/* Of values that can be 0, which have no geometric mean. */
static double mean(const double *values, size_t count)
{
    double sum = 0;
    size_t i;

    for (i = 0; i < count; i++)
        sum += values[i];
    return sum / (double)count;
}

/* Where a value is 0 there is no ratio. */
static void say_zero(struct mst_comparison *c, const struct mst_compare_input *in)
{
    c->a = mean(in->a, in->a_count);
    c->b = mean(in->b, in->b_count);
    if ((c->a > 0) != (c->b > 0))
        snprintf(c->by, sizeof c->by, "none in %c", c->a > 0 ? 'B' : 'A');
    snprintf(c->text, sizeof c->text, "cannot tell: there is a run in which it was 0");
}

static enum mst_change change_of(const struct mst_confidence *i)
{
    return i->high < 1 ? MST_CHANGE_LESS : i->low > 1 ? MST_CHANGE_MORE : MST_CHANGE_UNSURE;
}

/* A value read from a clock with that step can be half of it away. */
static void widen(struct mst_comparison *c, double step)
{
    double apart = 1 + step / 2 / c->a + step / 2 / c->b;

    c->interval.low /= apart;
    c->interval.high *= apart;
}

void mst_compare(struct mst_comparison *c, const struct mst_compare_input *in)
{
    double confidence = in->confidence > 0 ? in->confidence : 0.95;
    enum mst_change exact;

    *c = (struct mst_comparison){ .noise = -1, .smallest = -1, .interval = { NAN, NAN, NAN, 0 } };
    if (!all_positive(in->a, in->a_count) || !all_positive(in->b, in->b_count)) {
        say_zero(c, in);
        return;
    }
    c->a = mst_bootstrap_mean(in->a, in->a_count);
    c->b = mst_bootstrap_mean(in->b, in->b_count);
    c->noise = mst_bootstrap_noise(in->a, in->a_count);
    c->bounded = mst_bootstrap_ratio(&c->interval, in->a, in->a_count, in->b, in->b_count,
                                     in->paired);
    if (!c->bounded) {
        say_too_few(c, in);
        return;
    }
    if (confidence != 0.95)
        mst_bootstrap_widen(&c->interval, confidence);
    exact = change_of(&c->interval);
    if (in->step > 0 && (c->interval.ratio != 1 || c->interval.low < c->interval.high))
        widen(c, in->step);   /* the same runs are exactly the same, whatever the clock */
    c->smallest = mst_bootstrap_smallest(&c->interval, confidence);
    c->change = change_of(&c->interval);
    if (c->change == MST_CHANGE_UNSURE)
        say_unsure(c, exact != MST_CHANGE_UNSURE);
    else
        say_change(c, c->change == MST_CHANGE_LESS ? in->less : in->more);
}

enum mst_limit mst_compare_limit(const struct mst_comparison *c, bool more_is_better, double limit)
{
    if (!c->bounded)
        return MST_LIMIT_UNSURE;
    if (more_is_better)
        return c->interval.high < 1 - limit ? MST_LIMIT_BEYOND :
               c->interval.low >= 1 - limit ? MST_LIMIT_WITHIN : MST_LIMIT_UNSURE;
    return c->interval.low > 1 + limit ? MST_LIMIT_BEYOND :
           c->interval.high <= 1 + limit ? MST_LIMIT_WITHIN : MST_LIMIT_UNSURE;
}
