/* comparison_names.c - two sides compared name by name: see comparison.h.
 *
 * A page that became slower can hide in the mean of all requests. So each label's (or page's, or
 * script's) mean time is compared, and each part that is much of it. The more rows there are, the
 * more of them differ by chance: the intervals of n rows have 1 - 0.05 / n of confidence
 * (Bonferroni), with which all of them together are right in 95 of 100 comparisons.
 */
#include <stdbool.h>
#include <string.h>

#include "analysis/by_name.h"
#include "analysis/sequence.h"
#include "analysis/thresholds.h"
#include "report/comparison_steps.h"
#include "segment/parts.h"

#define NAMES_MOST   12u    /* the names with the most time: the correction is for those alone */
#define REQUESTS_MIN 5u     /* of a name in a run: fewer have no mean */

/* The runs of both sides, and their requests by name. */
struct by_name_of_runs {
    struct mst_comparison_table *t;
    struct mst_by_name *runs[2];         /* as many as the side has runs */
};

static const struct mst_compare_side *side_of(const struct mst_comparison_table *t, size_t k)
{
    return k == 0 ? &t->a : &t->b;
}

static const struct mst_by_name_row *row_of(const struct mst_by_name *run, const char *name)
{
    size_t i;

    for (i = 0; i < run->count; i++)
        if (run->rows[i].name != NULL && strcmp(run->rows[i].name, name) == 0)
            return run->rows[i].requests >= REQUESTS_MIN ? &run->rows[i] : NULL;
    return NULL;
}

/* The whole time of a name's requests (part MST_PART_COUNT), or a part of it: its mean in each run.
 * False: a run has not enough requests of that name. */
static bool means_of(const struct by_name_of_runs *of, size_t k, const char *name,
                     enum mst_part part, double *means)
{
    const struct mst_by_name_row *row;
    size_t i;

    for (i = 0; i < side_of(of->t, k)->count; i++) {
        row = row_of(&of->runs[k][i], name);
        if (row == NULL)
            return false;
        means[i] = (double)(part == MST_PART_COUNT ? row->sum_ns : row->parts_ns[part]) /
                   (double)row->requests;
    }
    return true;
}

static bool is_little(const double *part, const double *whole, size_t count)
{
    return mst_bootstrap_mean(part, count) <
           MST_FINDING_MILLI / 1000.0 * mst_bootstrap_mean(whole, count);
}

/* Adds a row, not yet compared. False: the name is not in all runs, or the part is little of its
 * time on both sides. */
static bool add_row(struct by_name_of_runs *of, const char *name, enum mst_part part,
                    const struct mst_comparison_name *whole)
{
    struct mst_comparison_table *t = of->t;
    struct mst_comparison_name row = { .name = apr_pstrdup(t->pool, name) };
    double *means[2];
    size_t k;

    for (k = 0; k < 2; k++) {
        means[k] = apr_pcalloc(t->pool, side_of(t, k)->count * sizeof *means[k]);
        if (!means_of(of, k, name, part, means[k]))
            return false;
    }
    row.a = means[0];
    row.b = means[1];
    if (whole != NULL) {
        row.part = mst_parts[part].name;
        if (is_little(row.a, whole->a, t->a.count) && is_little(row.b, whole->b, t->b.count))
            return false;
    }
    *(struct mst_comparison_name *)mst_pool_append(t->pool, &t->names, &t->name_count,
                                                   sizeof row) = row;
    return true;
}

/* The names that all runs have, the longest time in A's first run first; of one name alone the
 * metrics tell the same. */
static void add_names(struct by_name_of_runs *of)
{
    const struct mst_by_name *first = &of->runs[0][0];
    size_t i, before;
    enum mst_part part;

    for (i = 0; i < first->count; i++) {
        before = of->t->name_count;
        if (first->rows[i].name == NULL ||
            !add_row(of, first->rows[i].name, MST_PART_COUNT, NULL))
            continue;
        of->t->names_compared++;
        for (part = 0; part < MST_PART_COUNT; part++)
            add_row(of, first->rows[i].name, part, &of->t->names[before]);
    }
    if (of->t->names_compared < 2)
        of->t->names_compared = of->t->name_count = 0;
}

static bool read_names(struct by_name_of_runs *of, enum mst_by by)
{
    const struct mst_summary_server *front;
    bool fine = true;
    size_t i, k;

    for (k = 0; k < 2; k++)
        for (i = 0; i < side_of(of->t, k)->count && fine; i++) {
            front = mst_summary_front(&side_of(of->t, k)->runs[i].summary);
            fine = front != NULL && mst_summary_is_php(front) == (by == MST_BY_SCRIPT) &&
                   mst_by_name_read(&of->runs[k][i], by, front, NAMES_MOST);
        }
    return fine;
}

static void free_names(struct by_name_of_runs *of)
{
    size_t i, k;

    for (k = 0; k < 2; k++)
        for (i = 0; i < side_of(of->t, k)->count; i++)
            mst_by_name_free(&of->runs[k][i]);
}

static void compare_rows(struct mst_comparison_table *t, bool are_gates)
{
    double wrong = t->until_decided ? 1 - MST_SEQUENCE_CONFIDENCE : 0.05;
    size_t i;

    for (i = 0; i < t->name_count; i++) {
        struct mst_comparison_name *row = &t->names[i];
        const struct mst_compare_input in = {
            .a = row->a, .b = row->b, .a_count = t->a.count, .b_count = t->b.count,
            .paired = t->paired, .confidence = 1 - wrong / (double)t->name_count,
            .less = "less", .more = "more",
        };

        mst_compare(&row->result, &in);
        if (are_gates && row->part == NULL)
            row->limit = mst_compare_limit(&row->result, false, t->limit);
    }
}

void mst_comparison_by_name(struct mst_comparison_table *t, bool are_gates)
{
    static const enum mst_by ways[] = { MST_BY_LABEL, MST_BY_PAGE, MST_BY_SCRIPT };
    static const char *const words[] = { "label", "page", "script" };
    size_t i, k;

    for (i = 0; i < sizeof ways / sizeof *ways && t->names_compared == 0; i++) {
        struct by_name_of_runs of = { .t = t };

        t->name_word = words[i];
        for (k = 0; k < 2; k++)
            of.runs[k] = apr_pcalloc(t->pool, side_of(t, k)->count * sizeof **of.runs);
        if (read_names(&of, ways[i]))
            add_names(&of);
        free_names(&of);
    }
    compare_rows(t, are_gates);
}
