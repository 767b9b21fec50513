/* html_run.c - a run in detail on the page of runs: see html_run.h. */
#include "report/html_run.h"

#include <inttypes.h>

#include "archive/archive.h"
#include "doc/markup.h"
#include "report/code.h"
#include "report/html_verdict.h"
#include "report/names.h"
#include "report/page.h"
#include "report/parts.h"
#include "report/resources.h"
#include "report/servers.h"
#include "report/sides.h"
#include "report/slowest.h"
#include "report/summary_text.h"

#define ROWS_MANY    20u      /* of a table of requests */
#define ROWS_FEW     5u       /* with many names, so that the page stays small */
#define NAMES_WITH_MANY_ROWS 4u

/* ---- the runs of a name ---------------------------------------------------------- */

static void put_charts(struct mst_sink *sink, size_t run)
{
    mst_html(sink, "<h3>Over time</h3>\n<div class=\"charts\" data-run=\"%zu\">"
             MST_PAGE_NO_SCRIPT "</div>\n", run);
}

/* The place of the charts of what limits the requests. assets/report.js draws them together with
 * those of put_charts(), and zooms all of them together. */
static void put_more_charts(struct mst_sink *sink, size_t run)
{
    mst_html(sink, "<h3>Errors, queues, limits, processes</h3>\n"
             "<div class=\"charts\" data-more=\"%zu\"></div>\n", run);
}

/* What the slowest requests have in common, where the first finding does not say it already. */
static void put_tail(struct mst_sink *sink, const struct mst_summary *s)
{
    size_t i;

    for (i = 1; i < s->finding_count; i++)
        if (s->findings[i].code == MST_CODE_TAIL) {
            mst_html(sink, "<div class=\"finding\">");
            mst_html_finding(sink, &s->findings[i]);
            mst_html(sink, "</div>\n");
        }
}

/* The run that is shown, in the order in which readers ask. */
static bool put_shown(struct mst_sink *sink, const struct mst_report *report, size_t i,
                      size_t most)
{
    const struct mst_report_run *run = &report->runs[i];
    const struct mst_summary_server *front = mst_summary_front(&run->summary);
    const struct mst_summary_server *behind = mst_summary_behind(&run->summary);
    const struct mst_doc doc = mst_doc_html(sink);
    bool known = front != NULL && front->requests > 0;
    sqlite3 *db = mst_archive_db(run->archive);
    size_t k;

    mst_servers_put(&doc, &run->summary, &(struct mst_text_form){ 0 });
    mst_parts_by_server(&doc, &run->summary);
    if (known)
        mst_parts_put(&doc, front);
    else
        mst_html(sink, "<p>The server's side is not known: no request of this load was recorded."
                 "</p>\n");
    put_charts(sink, i);
    if (!known) {
        put_more_charts(sink, i);
        return true;
    }
    if (!mst_names_put(&doc, front, db, most) ||
        (behind != NULL && !mst_names_put(&doc, behind, db, most)) ||
        !mst_slowest_put(&doc, run, most))
        return false;
    for (k = 0; k < run->summary.server_count; k++)
        if (!mst_code_put(&doc, &run->summary.servers[k], db, most, i, k))
            return false;
    put_tail(sink, &run->summary);
    put_more_charts(sink, i);
    if (run->summary.client.known)
        mst_sides_put(&doc, &run->summary, &(struct mst_text_form){ 0 });
    for (k = 0; k < run->summary.server_count; k++)
        mst_pools_put(&doc, &run->summary, &run->summary.servers[k]);
    for (k = 0; k < run->summary.server_count; k++)
        mst_ends_put(&doc, &run->summary, &run->summary.servers[k]);
    return true;
}

/* A repetition: its phases and charts. */
static void put_repetition(struct mst_sink *sink, const struct mst_report *report, size_t i)
{
    const struct mst_summary_server *front = mst_summary_front(&report->runs[i].summary);
    const struct mst_doc doc = mst_doc_html(sink);

    mst_html(sink, "<div class=\"repetition\" id=\"run-%zu\"><details><summary>The repetition "
             "of run %" PRId64 ": phases and charts</summary>\n", i + 1,
             report->runs[i].summary.id);
    if (front != NULL && front->requests > 0)
        mst_parts_put(&doc, front);
    put_charts(sink, i);
    put_more_charts(sink, i);
    mst_html(sink, "</details></div>\n");
}

int mst_html_runs(struct mst_sink *sink, const struct mst_report *report,
                  const struct mst_report_groups *groups, const struct mst_report_group *group,
                  char error[MST_ERROR_MAX])
{
    bool folded = groups->count > MST_HTML_RUNS_IN_GROUPS;
    size_t most = groups->count > NAMES_WITH_MANY_ROWS ? ROWS_FEW : ROWS_MANY, i;

    mst_html(sink, "<section class=\"run\" id=\"run-%zu\">\n<h2>%s</h2>\n", group->shown + 1,
             groups->count > 1 ? report->runs[group->shown].title : "The run in detail");
    if (folded)
        mst_html(sink, "<details><summary>Where the time went, and with which requests</summary>"
                 "\n");
    if (!put_shown(sink, report, group->shown, most))
        return mst_archive_unreadable(report->runs[group->shown].archive, error);
    for (i = 0; i < group->count; i++)
        if (group->runs[i] != group->shown)
            put_repetition(sink, report, group->runs[i]);
    mst_html(sink, folded ? "</details>\n</section>\n" : "</section>\n");
    return 0;
}
