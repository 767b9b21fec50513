/* groups.c - groups the runs of a report by name: see groups.h. */
#include "report/groups.h"

#include <string.h>

#include "report/metrics.h"

static bool is_same(const char *a, const char *b)
{
    return a != NULL && b != NULL && strcmp(a, b) == 0;
}

static bool are_repetitions(const struct mst_report_run *a, const struct mst_report_run *b)
{
    const struct mst_summary *x = &a->summary, *y = &b->summary;

    if (a->archive != b->archive || x->client.concurrency != y->client.concurrency)
        return false;
    if (x->name != NULL || y->name != NULL)
        return is_same(x->name, y->name);
    return x->repetition != MST_UNKNOWN && y->repetition != MST_UNKNOWN &&
           is_same(x->command_line, y->command_line);
}

uint64_t mst_groups_rate(const struct mst_summary *s)
{
    uint64_t rate = mst_metric_get(&mst_metrics[MST_M_RATE], s);

    return rate != MST_UNKNOWN ? rate : mst_metric_get(&mst_metrics[MST_M_SERVER_RATE], s);
}

/* ---- the run that is shown ------------------------------------------------------------ */

static enum mst_code code_of(const struct mst_summary *s)
{
    return s->finding_count > 0 ? s->findings[0].code : MST_CODE_COUNT;
}

/* The most frequent first finding of the complete runs; the earliest of several. */
static enum mst_code common_code(const struct mst_report *report,
                                 const struct mst_report_group *group)
{
    size_t counts[MST_CODE_COUNT + 1] = { 0 }, i;
    enum mst_code best = MST_CODE_COUNT, code;

    for (i = 0; i < group->count; i++)
        counts[code_of(&report->runs[group->runs[i]].summary)] +=
            report->runs[group->runs[i]].summary.complete;
    for (i = 0; i < group->count; i++) {
        code = code_of(&report->runs[group->runs[i]].summary);
        if (counts[code] > counts[best] || i == 0)
            best = code;
    }
    return best;
}

/* How many of the candidates are slower than this one; of equal ones the earlier is. */
static size_t rank_of(const struct mst_report *report, const size_t *runs, size_t count, size_t at)
{
    uint64_t own = mst_groups_rate(&report->runs[runs[at]].summary), other;
    size_t i, rank = 0;

    for (i = 0; i < count; i++) {
        other = mst_groups_rate(&report->runs[runs[i]].summary);
        rank += other < own || (other == own && i < at);
    }
    return rank;
}

static void choose_shown(const struct mst_report *report, struct mst_report_group *group)
{
    enum mst_code code = common_code(report, group);
    size_t *candidates = apr_pcalloc(report->pool, group->count * sizeof *candidates);
    size_t count = 0, i;

    for (i = 0; i < group->count; i++) {
        const struct mst_summary *s = &report->runs[group->runs[i]].summary;

        if (s->complete && code_of(s) == code)
            candidates[count++] = group->runs[i];
    }
    group->shown = group->runs[0];
    for (i = 0; i < count; i++)
        if (rank_of(report, candidates, count, i) == count / 2)
            group->shown = candidates[i];
}

/* ---- all of it ------------------------------------------------------------------------ */

void mst_groups_make(struct mst_report_groups *groups, const struct mst_report *report)
{
    bool *taken = apr_pcalloc(report->pool, (report->count + 1) * sizeof *taken);
    size_t *runs = apr_pcalloc(report->pool, (report->count + 1) * sizeof *runs), i, k;

    *groups = (struct mst_report_groups){
        .items = apr_pcalloc(report->pool, (report->count + 1) * sizeof *groups->items),
    };
    for (i = 0; i < report->count; i++) {
        struct mst_report_group *group = &groups->items[groups->count];

        if (taken[i])
            continue;
        group->runs = runs;
        for (k = i; k < report->count; k++)
            if (!taken[k] && (k == i || are_repetitions(&report->runs[i], &report->runs[k]))) {
                taken[k] = true;
                group->runs[group->count++] = k;
            }
        runs += group->count;
        groups->count++;
        choose_shown(report, group);
    }
}
