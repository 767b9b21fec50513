/* markdown.c - runs for a pull request: see report.h. */
#include "archive/archive.h"
#include "doc/markup.h"
#include "report/generators.h"
#include "report/metrics.h"
#include "report/needs.h"
#include "report/names.h"
#include "report/parts.h"
#include "report/report.h"
#include "report/resources.h"
#include "report/servers.h"
#include "report/sides.h"
#include "report/slowest.h"
#include "report/summary_text.h"

static void put_checks(struct mst_sink *sink, const struct mst_summary *s)
{
    static const char *const answers[] = {
        [MST_ANSWER_NO] = "**no**", [MST_ANSWER_YES] = "yes", [MST_ANSWER_UNKNOWN] = "not known",
    };
    size_t i;

    mst_markdown(sink, "\n| check | | |\n|---|---|---|\n");
    for (i = 0; i < MST_CHECK_COUNT; i++) {
        mst_markdown(sink, "| %s | ", s->checks[i].name);
        mst_sink_puts(sink, answers[s->checks[i].ok]);
        mst_markdown(sink, " | %s |\n", s->checks[i].text);
    }
}

static void put_findings(struct mst_sink *sink, const struct mst_summary *s)
{
    size_t i;

    mst_markdown(sink, "\n| finding | | do |\n|---|---|---|\n");
    for (i = 0; i < s->finding_count; i++)
        mst_markdown(sink, "| %s | %s | %s %s |\n", mst_code_names[s->findings[i].code],
                     s->findings[i].text, s->findings[i].action, s->findings[i].predicted);
}

static bool put_run(struct mst_sink *sink, const struct mst_report_run *run)
{
    const struct mst_doc doc = mst_doc_markdown(sink);
    const struct mst_summary *s = &run->summary;
    const struct mst_summary_server *front = mst_summary_front(s);
    size_t i;

    mst_markdown(sink, "### %s\n\n", run->title);
    if (s->command_line != NULL)
        mst_markdown(sink, "Command: %s\n\n", s->command_line);
    if (!s->complete)
        mst_markdown(sink, "**Not complete** (%s): what was recorded until then is shown.\n\n",
                     mst_outcome_names[s->outcome]);
    if (s->thinned[0] != '\0')
        mst_markdown(sink, "%s\n\n", s->thinned);
    mst_markdown(sink, "**%s**\n", s->verdict);
    put_findings(sink, s);
    put_checks(sink, s);
    mst_servers_put(&doc, s, &(struct mst_text_form){ 0 });
    if (front != NULL && front->requests > 0) {
        mst_parts_by_server(&doc, s);
        if (s->client.known)
            mst_sides_put(&doc, s, &(struct mst_text_form){ 0 });
        mst_parts_put(&doc, front);
    }
    for (i = 0; i < s->server_count; i++)
        mst_ends_put(&doc, s, &s->servers[i]);
    mst_generators_put(&doc, s);
    for (i = 0; i < s->server_count; i++)
        if (!mst_names_put(&doc, &s->servers[i], mst_archive_db(run->archive), MST_NAMES_FEW))
            return false;
    if (!mst_slowest_put(&doc, run, MST_SLOWEST_FEW))
        return false;
    for (i = 0; i < s->server_count; i++)
        mst_pools_put(&doc, s, &s->servers[i]);
    mst_markdown(sink, "\n");
    return true;
}

static void put_runs(struct mst_sink *sink, const struct mst_report *report)
{
    size_t m, i;

    mst_markdown(sink, "### Numbers\n\n| |");
    for (i = 0; i < report->count; i++)
        mst_markdown(sink, " %s |", report->runs[i].title);
    mst_markdown(sink, "\n|---|");
    for (i = 0; i < report->count; i++)
        mst_markdown(sink, "--:|");
    mst_markdown(sink, "\n");
    for (m = 0; m < MST_M_COUNT; m++) {
        const struct mst_metric *metric = &mst_metrics[m];

        if (!metric->brief)
            continue;
        mst_markdown(sink, "| %s: %s |", metric->group, metric->label);
        for (i = 0; i < report->count; i++)
            mst_markdown(sink, " %s |", mst_quantity_format(metric->unit, mst_metric_get(metric,
                         &report->runs[i].summary)).text);
        mst_markdown(sink, "\n");
    }
}

int mst_report_markdown(struct mst_sink *sink, const struct mst_report *report,
                        char error[MST_ERROR_MAX])
{
    const struct mst_doc doc = mst_doc_markdown(sink);
    struct mst_sizing sizing;
    struct mst_usl usl;
    char knee[768];
    size_t i, a;

    mst_markdown(sink, "## Load runs, recorded by mpmstat " MPMSTAT_VERSION "\n\n");
    for (i = 0; i < report->count; i++)
        if (!put_run(sink, &report->runs[i]))
            return mst_archive_unreadable(report->runs[i].archive, error);
    put_runs(sink, report);
    mst_markdown(sink, "\n### Sizing\n\n");
    for (i = 0; i < report->count; i++)
        mst_needs_put(&doc, &report->runs[i].summary,
                      report->count > 1 ? report->runs[i].title : "");
    mst_markdown(sink, "| run | directive | advice | why |\n|---|---|---|---|\n");
    for (i = 0; i < report->count; i++) {
        if (mst_report_sizing(&sizing, &report->runs[i], error) != 0)
            return -1;
        for (a = 0; a < MST_ADVICE_COUNT; a++)
            mst_markdown(sink, "| %s | %s | %s | %s %s |\n", report->runs[i].title,
                         sizing.advice[a].directive, sizing.advice[a].answer,
                         sizing.advice[a].arithmetic, sizing.advice[a].uncertainty);
    }
    if (report->count > 1) {
        mst_report_knee(&usl, report, knee, sizeof knee);
        mst_markdown(sink, "\nThe knee: %s\n", knee);
    }
    return 0;
}
