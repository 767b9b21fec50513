/* comparison.c - compares the runs of two sides: see comparison.h. */
#include "report/comparison.h"

#include <stdio.h>
#include <string.h>

#include "analysis/sequence.h"
#include "analysis/thresholds.h"
#include "report/comparison_ledger.h"
#include "report/comparison_steps.h"
#include "segment/format.h"

/* ---- what is compared ------------------------------------------------------------ */

bool mst_comparison_has(const char *metric)
{
    size_t i;

    for (i = 0; i < MST_M_COUNT; i++)
        if (mst_metrics[i].compared != NULL && strcmp(mst_metrics[i].column, metric) == 0)
            return true;
    return false;
}

void mst_comparison_names(char *text, size_t size)
{
    size_t used = 0, i;

    for (i = 0; i < MST_M_COUNT && used < size; i++)
        if (mst_metrics[i].compared != NULL)
            used += (size_t)snprintf(text + used, size - used, "%s%s", used > 0 ? ", " : "",
                                     mst_metrics[i].column);
}

/* ---- rows ------------------------------------------------------------------------ */

/* The values of a side's runs; *had: that one of them has it. False: not all are known. */
static bool values_of(const struct mst_metric *metric, const struct mst_compare_side *side,
                      double *values, bool *had)
{
    uint64_t value;
    size_t i;

    for (i = 0; i < side->count; i++) {
        value = mst_metric_get(metric, &side->runs[i].summary);
        if (value == MST_UNKNOWN)
            return false;
        *had |= mst_metric_is_had(metric, value);
        values[i] = (double)value;
    }
    return true;
}

/* The coarsest clock of all the runs' load tools. */
static double step_of(const struct mst_comparison_table *t)
{
    const struct mst_compare_side *const sides[] = { &t->a, &t->b };
    uint64_t step = 0, here;
    size_t i, k;

    for (k = 0; k < 2; k++)
        for (i = 0; i < sides[k]->count; i++) {
            here = sides[k]->runs[i].summary.client.time_step_ns;
            if (here != MST_UNKNOWN && here > step)
                step = here;
        }
    return (double)step;
}

/* Figures of all servers together. */
static bool is_of_all(const struct mst_metric *metric)
{
    return metric == &mst_metrics[MST_M_CPU_EACH] || metric == &mst_metrics[MST_M_SERVERS_PSS];
}

static void add_row(struct mst_comparison_table *t, const struct mst_metric *metric, double *a,
                    double *b)
{
    struct mst_comparison_row *row = &t->rows[t->row_count];
    bool client_time = metric->source == MST_FROM_CLIENT && metric->unit == MST_QUANTITY_TIME;
    const struct mst_compare_input in = {
        .a = a, .b = b, .a_count = t->a.count, .b_count = t->b.count, .paired = t->paired,
        .step = client_time ? step_of(t) : 0,
        .confidence = t->until_decided ? MST_SEQUENCE_CONFIDENCE : 0,
        .less = metric->less, .more = metric->more,
    };
    bool had = false;

    if (!values_of(metric, &t->a, a, &had) || !values_of(metric, &t->b, b, &had) || !had ||
        (is_of_all(metric) && !mst_comparison_same_servers(t)))
        return;
    *row = (struct mst_comparison_row){ .metric = metric };
    mst_compare(&row->result, &in);
    t->row_count++;
}

/* The index of a row; row_count: there is none. */
static size_t row_of(const struct mst_comparison_table *t, const char *name)
{
    size_t i;

    for (i = 0; i < t->row_count; i++)
        if (strcmp(t->rows[i].metric->column, name) == 0)
            break;
    return i;
}

static struct mst_comparison_row *find_row(struct mst_comparison_table *t, const char *name)
{
    size_t i = row_of(t, name);

    return i < t->row_count ? &t->rows[i] : NULL;
}

static bool is_much(const struct mst_comparison *part, const struct mst_comparison *whole)
{
    const double least = MST_FINDING_MILLI / 1000.0;

    return part->a >= least * whole->a || part->b >= least * whole->b;
}

bool mst_comparison_shows(const struct mst_comparison_table *t,
                          const struct mst_comparison_row *row)
{
    size_t mean = row_of(t, mst_metrics[MST_M_SERVER_MEAN].column);

    if (row->gate || row->metric->shown == MST_SHOWN_MAIN)
        return true;
    if (row->metric->shown == MST_SHOWN_INSTEAD)
        return row_of(t, mst_metrics[MST_M_RATE].column) == t->row_count;
    return row->metric->shown == MST_SHOWN_PART &&
           (mean == t->row_count || is_much(&row->result, &t->rows[mean].result));
}

/* ---- the limit ------------------------------------------------------------------- */

/* Whether the load tool's clock is too coarse for a limit of some percent. */
static bool is_coarse(const struct mst_comparison_table *t, const struct mst_comparison_row *row)
{
    return row->metric->unit == MST_QUANTITY_TIME && row->result.a > 0 &&
           step_of(t) > MST_COARSE_CLOCK * row->result.a;
}

/* The client's metrics; the server's where the client has none, or too coarse a clock. */
static void choose_gates(struct mst_comparison_table *t)
{
    static const enum mst_metric_id gates[][2] = {
        { MST_M_RATE, MST_M_SERVER_RATE }, { MST_M_MEAN, MST_M_SERVER_MEAN },
    };
    struct mst_comparison_row *row, *server;
    size_t i;

    for (i = 0; i < sizeof gates / sizeof *gates; i++) {
        row = find_row(t, mst_metrics[gates[i][0]].column);
        server = find_row(t, mst_metrics[gates[i][1]].column);
        if (server != NULL && (row == NULL || is_coarse(t, row)))
            row = server;
        if (row != NULL)
            row->gate = true;
    }
}

/* What fails is often fast: times of failures do not show that B is fast enough, nor those of A
 * that B is too slow. */
static bool is_by_failures(const struct mst_comparison_table *t)
{
    return mst_comparison_fails(&t->a) ||
           (mst_comparison_fails(&t->b) && t->verdict != MST_LIMIT_BEYOND);
}

/* One gate, or one name's time, beyond the limit is enough; all gates have to be within it. Names
 * of which it cannot be told leave that to the gates: many of them have few requests. */
static void judge(struct mst_comparison_table *t, size_t missing)
{
    size_t i, within = 0, gates = missing;

    t->verdict = MST_LIMIT_UNSURE;
    if (t->limit < 0)
        return;
    for (i = 0; i < t->row_count; i++) {
        struct mst_comparison_row *row = &t->rows[i];

        if (!row->gate)
            continue;
        gates++;
        row->limit = mst_compare_limit(&row->result, row->metric->unit == MST_QUANTITY_RATE,
                                       t->limit);
        within += row->limit == MST_LIMIT_WITHIN;
        if (row->limit == MST_LIMIT_BEYOND)
            t->verdict = MST_LIMIT_BEYOND;
    }
    for (i = 0; i < t->name_count; i++)
        if (t->names[i].limit == MST_LIMIT_BEYOND)
            t->verdict = MST_LIMIT_BEYOND;
    if (t->verdict != MST_LIMIT_BEYOND && gates > 0 && within == gates)
        t->verdict = MST_LIMIT_WITHIN;
    if (is_by_failures(t))
        t->verdict = MST_LIMIT_UNSURE;
}

/* ---- all of it ------------------------------------------------------------------- */

/* Whether all runs of both sides are pairs of a sequence. */
static bool is_until_decided(const struct mst_comparison_table *t)
{
    const struct mst_compare_side *const sides[] = { &t->a, &t->b };
    size_t i, k;

    for (k = 0; k < 2; k++)
        for (i = 0; i < sides[k]->count; i++)
            if (mst_compare_setting(&sides[k]->runs[i], MST_ENVIRONMENT_REPEATED) == NULL)
                return false;
    return t->paired;
}

static struct mst_comparison_cause cause_of(const struct mst_compare_side *side)
{
    struct mst_comparison_cause cause = { MST_CODE_COUNT, 0 };
    size_t counts[MST_CODE_COUNT] = { 0 }, i;

    for (i = 0; i < side->count; i++)
        if (side->runs[i].summary.finding_count > 0)
            counts[side->runs[i].summary.findings[0].code]++;
    for (i = 0; i < MST_CODE_COUNT; i++)
        if (counts[i] > cause.runs)
            cause = (struct mst_comparison_cause){ (enum mst_code)i, counts[i] };
    return cause;
}

void mst_comparison_make(struct mst_comparison_table *t, char *const *gates, size_t gate_count)
{
    struct mst_comparison_row *row;
    size_t i, missing = 0;
    double *a, *b;

    t->paired = mst_compare_pair(&t->a, &t->b);
    t->until_decided = is_until_decided(t);
    t->cause_a = cause_of(&t->a);
    t->cause_b = cause_of(&t->b);
    a = apr_pcalloc(t->pool, t->a.count * sizeof *a);
    b = apr_pcalloc(t->pool, t->b.count * sizeof *b);
    for (i = 0; i < MST_M_COUNT; i++)
        if (mst_metrics[i].compared != NULL)
            add_row(t, &mst_metrics[i], a, b);
    for (i = 0; i < gate_count; i++) {
        row = find_row(t, gates[i]);
        missing += row == NULL;
        if (row != NULL)
            row->gate = true;
    }
    if (gate_count == 0)
        choose_gates(t);
    mst_comparison_by_name(t, gate_count == 0 && t->limit >= 0);
    judge(t, missing);
    mst_comparison_find_differences(t);
    mst_comparison_find_predictions(t);
    mst_comparison_say(t);
}

void mst_comparison_end(struct mst_comparison_table *t)
{
    mst_compare_side_close(&t->a);
    mst_compare_side_close(&t->b);
}
