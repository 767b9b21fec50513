/* thin_choose.c - see thin_choose.h. */
#include "archive/thin_choose.h"

#include <math.h>
#include <stdlib.h>

#include "stats/random.h"

static int compare(uint64_t a, uint64_t b)
{
    return (a > b) - (a < b);
}

/* ---- the slowest ----------------------------------------------------------------------- */

/* By label, those without the side last; of each label the slowest first. */
static int by_label(const struct mst_thin_row *x, const struct mst_thin_row *y, int side)
{
    int order = compare(x->rowid[side] == 0, y->rowid[side] == 0);

    order = order != 0 ? order : compare(x->label[side], y->label[side]);
    order = order != 0 ? order : compare(y->order[side], x->order[side]);
    return order != 0 ? order : compare((uint64_t)x->rowid[side], (uint64_t)y->rowid[side]);
}

static int by_first_label(const void *a, const void *b)
{
    return by_label(a, b, MST_THIN_FIRST);
}

static int by_php_label(const void *a, const void *b)
{
    return by_label(a, b, MST_THIN_PHP);
}

static int longest_first(const void *a, const void *b)
{
    return compare(*(const uint64_t *)b, *(const uint64_t *)a);
}

/* Rows that take longer than `over` are among the slowest, and of those that take exactly so long,
 * as many as `ties`. */
struct limit { uint64_t over; size_t ties; };

static struct limit limit_of(const struct mst_thin_row *rows, size_t count, size_t slowest,
                             int side)
{
    uint64_t *times = malloc((count + 1) * sizeof *times);
    struct limit limit = { UINT64_MAX, 0 };
    size_t i;

    if (times == NULL || slowest == 0) {
        free(times);
        return limit;
    }
    for (i = 0; i < count; i++)
        times[i] = rows[i].order[side];
    qsort(times, count, sizeof *times, longest_first);
    slowest = slowest < count ? slowest : count;
    limit.over = times[slowest - 1];
    for (i = slowest; i > 0 && times[i - 1] == limit.over; i--)
        limit.ties++;
    free(times);
    return limit;
}

static void keep_slowest(struct mst_thin_row *rows, size_t count, const struct mst_thin_rule *rule,
                         int side)
{
    size_t with = 0, first, end, i;
    struct limit limit;

    qsort(rows, count, sizeof *rows, side == MST_THIN_FIRST ? by_first_label : by_php_label);
    while (with < count && rows[with].rowid[side] != 0)
        with++;
    if (with == 0)
        return;
    limit = limit_of(rows, with, rule->slowest, side);
    for (first = 0; first < with; first = end) {
        for (end = first; end < with && rows[end].label[side] == rows[first].label[side]; end++)
            if (rows[end].order[side] > limit.over ||
                (rows[end].order[side] == limit.over && limit.ties > 0)) {
                limit.ties -= rows[end].order[side] == limit.over;
                rows[end].is_kept = true;
            }
        for (i = first; rule->slow_one_of > 0 && i < first + (end - first) / rule->slow_one_of; i++)
            rows[i].is_kept = true;
    }
}

/* ---- the rest -------------------------------------------------------------------------- */

static uint64_t time_of(const struct mst_thin_row *row)
{
    return row->order[row->rowid[MST_THIN_FIRST] != 0 ? MST_THIN_FIRST : MST_THIN_PHP];
}

/* Those that are kept first. */
static int by_cell(const void *a, const void *b)
{
    const struct mst_thin_row *x = a, *y = b;
    int order = compare(y->is_kept, x->is_kept), side;

    order = order != 0 ? order : compare(x->cell, y->cell);
    order = order != 0 ? order : compare(time_of(x), time_of(y));
    for (side = 0; order == 0 && side < MST_THIN_SIDES; side++)
        order = compare((uint64_t)x->rowid[side], (uint64_t)y->rowid[side]);
    return order;
}

static size_t larger(size_t a, size_t b)
{
    return a > b ? a : b;
}

static size_t runs_of(size_t count, const struct mst_thin_rule *rule)
{
    size_t runs = rule->run_few > 0 ? count / rule->run_few : 0;

    runs = larger(rule->runs, runs < rule->runs_enough ? runs : rule->runs_enough);
    runs = larger(runs, rule->run_many > 0 ? count / rule->run_many : 0);
    return runs < count ? runs : count;
}

/* The row whose time is closest to the rows' mean, so that sums and means stay close; of several,
 * one at random: what else they are must not depend on their order. */
static size_t typical_of(const struct mst_thin_row *rows, size_t count, uint64_t *random)
{
    double mean = 0, least = INFINITY, distance;
    size_t typical = 0, ties = 0, i;

    for (i = 0; i < count; i++)
        mean += (double)time_of(&rows[i]) / (double)count;
    for (i = 0; i < count; i++) {
        distance = fabs((double)time_of(&rows[i]) - mean);
        ties = distance < least ? 1 : ties + (distance <= least);
        if (distance <= least && mst_random_below(random, ties) == 0)
            typical = i;
        least = fmin(least, distance);
    }
    return typical;
}

static void choose_of_cell(struct mst_thin_row *rows, size_t count,
                           const struct mst_thin_rule *rule, uint64_t *random)
{
    size_t runs = runs_of(count, rule), from, to, i;

    for (i = 0; i < runs; i++) {
        from = i * count / runs;
        to = (i + 1) * count / runs;
        rows[from + typical_of(&rows[from], to - from, random)].weight = to - from;
    }
}

void mst_thin_choose(struct mst_thin_row *rows, size_t count, const struct mst_thin_rule *rule,
                     uint64_t *random)
{
    size_t first, end;
    int side;

    if (count == 0)
        return;
    for (side = 0; side < MST_THIN_SIDES && rule->slowest > 0; side++)
        keep_slowest(rows, count, rule, side);
    qsort(rows, count, sizeof *rows, by_cell);
    for (first = 0; first < count && rows[first].is_kept; first++)
        rows[first].weight = 1;
    for (; first < count; first = end) {
        for (end = first; end < count && rows[end].cell == rows[first].cell; end++)
            rows[end].weight = 0;
        choose_of_cell(&rows[first], end - first, rule, random);
    }
}
