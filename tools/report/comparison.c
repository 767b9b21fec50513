/* comparison.c - compares the runs of two sides: see comparison.h. */
#include "report/comparison.h"

#include <inttypes.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/array.h"
#include "segment/format.h"

#define COARSE 0.02   /* a clock whose step is a larger part of a time is too coarse for it */

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

/* The values of a side's runs; false: not every run has one. */
static bool values_of(const struct mst_metric *metric, const struct mst_compare_side *side,
                      double *values)
{
    uint64_t value;
    size_t i;

    for (i = 0; i < side->count; i++) {
        value = mst_metric_get(metric, &side->runs[i].summary);
        if (value == MST_UNKNOWN)
            return false;
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

static void add_row(struct mst_comparison_table *t, const struct mst_metric *metric, double *a,
                    double *b)
{
    struct mst_comparison_row *row = &t->rows[t->row_count];
    bool client_time = metric->source == MST_FROM_CLIENT && metric->unit == MST_METRIC_TIME;
    const struct mst_compare_input in = {
        .a = a, .b = b, .a_count = t->a.count, .b_count = t->b.count, .paired = t->paired,
        .step = client_time ? step_of(t) : 0, .less = metric->less, .more = metric->more,
    };

    if (!values_of(metric, &t->a, a) || !values_of(metric, &t->b, b))
        return;
    *row = (struct mst_comparison_row){ .metric = metric };
    mst_compare(&row->result, &in);
    t->row_count++;
}

static struct mst_comparison_row *find_row(struct mst_comparison_table *t, const char *name)
{
    size_t i;

    for (i = 0; i < t->row_count; i++)
        if (strcmp(t->rows[i].metric->column, name) == 0)
            return &t->rows[i];
    return NULL;
}

/* ---- the limit ------------------------------------------------------------------- */

/* Whether the load tool's clock is too coarse for a limit of some percent. */
static bool is_coarse(const struct mst_comparison_table *t, const struct mst_comparison_row *row)
{
    return row->metric->unit == MST_METRIC_TIME && row->result.a > 0 &&
           step_of(t) > COARSE * row->result.a;
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

/* One gate beyond the limit is enough; all have to be within it. */
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
        row->limit = mst_compare_limit(&row->result, row->metric->unit == MST_METRIC_RATE,
                                       t->limit);
        within += row->limit == MST_LIMIT_WITHIN;
        if (row->limit == MST_LIMIT_BEYOND)
            t->verdict = MST_LIMIT_BEYOND;
    }
    if (t->verdict != MST_LIMIT_BEYOND && gates > 0 && within == gates)
        t->verdict = MST_LIMIT_WITHIN;
}

/* ---- what differs ---------------------------------------------------------------- */

__attribute__((format(printf, 2, 3)))
static bool warn(struct mst_comparison_table *t, const char *format, ...)
{
    char **warning = mst_append(&t->warnings, &t->warning_count, sizeof *warning);
    va_list args;
    int n;

    if (warning == NULL)
        return false;
    va_start(args, format);
    n = vasprintf(warning, format, args);
    va_end(args);
    t->warning_count -= n < 0;
    return n >= 0;
}

static const char *setting(const struct mst_compare_run *run, const char *name)
{
    size_t i;

    for (i = 0; i < run->setting_count; i++)
        if (strcmp(run->settings[i].name, name) == 0)
            return run->settings[i].value;
    return NULL;
}

static bool is_same(const char *a, const char *b)
{
    return a == b || (a != NULL && b != NULL && strcmp(a, b) == 0);
}

static const char *shown(const char *text)
{
    return text != NULL ? text : "(not known)";
}

/* A setting that is in the first run is looked for in all the others. */
static bool compare_settings(struct mst_comparison_table *t)
{
    const struct mst_compare_side *const sides[] = { &t->a, &t->b };
    const struct mst_compare_run *first = &t->a.runs[0];
    bool fine = true;
    size_t i, k, n;

    for (n = 0; n < first->setting_count && fine; n++) {
        const char *name = first->settings[n].name, *value = first->settings[n].value;
        bool differs = false;

        for (k = 0; k < 2; k++)
            for (i = 0; i < sides[k]->count && !differs; i++) {
                const char *other = setting(&sides[k]->runs[i], name);

                differs = !is_same(value, other);
                if (differs)
                    fine = warn(t, "%s differs: \"%s\" in run %" PRId64 " of A, \"%s\" in run %"
                                PRId64 " of %c", name, value, first->summary.id, shown(other),
                                sides[k]->runs[i].summary.id, k == 0 ? 'A' : 'B');
            }
    }
    return fine;
}

static bool compare_loads(struct mst_comparison_table *t)
{
    const struct mst_compare_side *const sides[] = { &t->a, &t->b };
    const struct mst_compare_run *first = &t->a.runs[0];
    size_t i, k;

    for (k = 0; k < 2; k++)
        for (i = 0; i < sides[k]->count; i++)
            if (!is_same(sides[k]->runs[i].load, first->load))
                return warn(t, "the load differs: \"%s\" in run %" PRId64 " of A, \"%s\" in run %"
                            PRId64 " of %c; other differences can come from that",
                            shown(first->load), first->summary.id, shown(sides[k]->runs[i].load),
                            sides[k]->runs[i].summary.id, k == 0 ? 'A' : 'B');
    return true;
}

/* Warns where the runs of one side requested different URLs. */
static bool compare_urls(struct mst_comparison_table *t, const struct mst_compare_side *side,
                         char letter)
{
    size_t i;

    for (i = 1; i < side->count; i++)
        if (!is_same(side->runs[i].urls, side->runs[0].urls))
            return warn(t, "the runs of %c are no repetitions of each other: \"%s\" and \"%s\"",
                        letter, shown(side->runs[0].urls), shown(side->runs[i].urls));
    return true;
}

/* Warns of failures, notes, thinned archives and runs that were left out. */
static bool check_runs(struct mst_comparison_table *t, const struct mst_compare_side *side,
                       char letter)
{
    uint64_t failed = 0;
    size_t i, noted = 0, thinned = 0;

    for (i = 0; i < side->count; i++) {
        failed += mst_summary_failures(&side->runs[i].summary.client);
        noted += side->runs[i].summary.note_count > 0;
        thinned += side->runs[i].summary.thinned_of > 0;
    }
    if (failed > 0 && !warn(t, "in the runs of %c %" PRIu64 " requests failed or had another "
                            "status than 2xx: what fails is often fast", letter, failed))
        return false;
    if (noted > 0 && !warn(t, "%zu of the %zu runs of %c have notes, which mpmstat report shows",
                           noted, side->count, letter))
        return false;
    if (thinned > 0 && !warn(t, "the archive is thinned of %zu of the %zu runs of %c: means and "
                             "percentiles are estimates", thinned, side->count, letter))
        return false;
    if (side->incomplete > 0 && !warn(t, "%zu run%s of %c did not come to an end, and %s left out",
                                      side->incomplete, side->incomplete == 1 ? "" : "s", letter,
                                      side->incomplete == 1 ? "is" : "are"))
        return false;
    return side->unpaired == 0 ||
           warn(t, "%zu run%s of %c without a counterpart %s left out", side->unpaired,
                side->unpaired == 1 ? "" : "s", letter, side->unpaired == 1 ? "is" : "are");
}

static bool find_differences(struct mst_comparison_table *t)
{
    if (t->a.count + t->b.count > 2 && !t->paired &&
        !warn(t, "the runs of A and B were not made alternately: whatever changed on the machine "
              "between them counts as a difference; record with --interleave"))
        return false;
    return compare_loads(t) && compare_urls(t, &t->a, 'A') && compare_urls(t, &t->b, 'B') &&
           compare_settings(t) && check_runs(t, &t->a, 'A') && check_runs(t, &t->b, 'B');
}

/* ---- all of it ------------------------------------------------------------------- */

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

static bool is_of_most(const struct mst_comparison_cause *cause,
                       const struct mst_compare_side *side)
{
    return 2 * cause->runs > side->count;
}

void mst_comparison_causes(const struct mst_comparison_table *t,
                           char text[MST_COMPARISON_CAUSES_MAX])
{
    const struct mst_comparison_cause *a = &t->cause_a, *b = &t->cause_b;

    text[0] = '\0';
    if (a->code == MST_CODE_COUNT || b->code == MST_CODE_COUNT)
        return;
    if (!is_of_most(a, &t->a) || !is_of_most(b, &t->b))
        snprintf(text, MST_COMPARISON_CAUSES_MAX, "Whether the cause changed is not known: it is "
                 "not the same in most runs of a side. Most often it is %s in A (%zu of %zu runs) "
                 "and %s in B (%zu of %zu).", mst_code_names[a->code], a->runs, t->a.count,
                 mst_code_names[b->code], b->runs, t->b.count);
    else if (a->code == b->code)
        snprintf(text, MST_COMPARISON_CAUSES_MAX, "The cause is the same: %s (%zu of %zu and %zu "
                 "of %zu runs).", mst_code_names[a->code], a->runs, t->a.count, b->runs,
                 t->b.count);
    else
        snprintf(text, MST_COMPARISON_CAUSES_MAX, "The cause changed from %s (%zu of %zu runs) to "
                 "%s (%zu of %zu).", mst_code_names[a->code], a->runs, t->a.count,
                 mst_code_names[b->code], b->runs, t->b.count);
}

int mst_comparison_make(struct mst_comparison_table *t, char *const *gates, size_t gate_count)
{
    double *a, *b;
    struct mst_comparison_row *row;
    size_t i, missing = 0;
    bool fine;

    t->paired = mst_compare_pair(&t->a, &t->b);
    t->cause_a = cause_of(&t->a);
    t->cause_b = cause_of(&t->b);
    a = calloc(t->a.count, sizeof *a);
    b = calloc(t->b.count, sizeof *b);
    fine = a != NULL && b != NULL;
    for (i = 0; fine && i < MST_M_COUNT; i++)
        if (mst_metrics[i].compared != NULL)
            add_row(t, &mst_metrics[i], a, b);
    free(a);
    free(b);
    for (i = 0; i < gate_count; i++) {
        row = find_row(t, gates[i]);
        missing += row == NULL;
        if (row != NULL)
            row->gate = true;
    }
    if (gate_count == 0)
        choose_gates(t);
    judge(t, missing);
    return fine && find_differences(t) ? 0 : -1;
}

void mst_comparison_free(struct mst_comparison_table *t)
{
    size_t i;

    for (i = 0; i < t->warning_count; i++)
        free(t->warnings[i]);
    free(t->warnings);
    mst_compare_side_free(&t->a);
    mst_compare_side_free(&t->b);
}
