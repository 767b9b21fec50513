/* html_run.c - a run in detail on the page of runs, and where its numbers are from: see
 * html_run.h. */
#include "report/html_run.h"

#include <inttypes.h>
#include <string.h>

#include "analysis/provenance.h"
#include "archive/archive.h"
#include "archive/states.h"
#include "doc/markup.h"
#include "report/html_verdict.h"
#include "report/names.h"
#include "report/page.h"
#include "report/parts.h"
#include "report/resources.h"
#include "report/servers.h"
#include "report/sides.h"
#include "report/slowest.h"
#include "report/summary_text.h"
#include "segment/format.h"

#define OUTPUT_SHOWN 65536u   /* bytes of what the load tool printed: the end of it */
#define ROWS_MANY    20u      /* of a table of requests */
#define ROWS_FEW     5u       /* with many names, so that the page stays small */
#define NAMES_WITH_MANY_ROWS 4u

/* ---- the runs of a name ---------------------------------------------------------- */

static void put_charts(struct mst_sink *sink, size_t run)
{
    mst_html(sink, "<h3>Over time</h3>\n<div class=\"charts\" data-run=\"%zu\">"
             MST_PAGE_NO_SCRIPT "</div>\n", run);
}

/* What the time does not consist of: the same view as above. */
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

/* ---- provenance ------------------------------------------------------------------ */

static bool put_environment(struct mst_sink *sink, sqlite3 *db, int64_t run_id)
{
    struct mst_query q = mst_run_environment(db, run_id);

    while (mst_query_next(&q))
        mst_page_pair(sink, mst_row_text(&q, "name"), mst_row_text(&q, "value"));
    return mst_query_done(&q);
}

static void put_clock(struct mst_sink *sink, struct mst_query *q)
{
    int64_t ahead_ns = mst_row_id(q, "clock_ahead_ns");
    uint64_t uncertainty_ns = mst_row_number(q, "clock_uncertainty_ns");

    if (uncertainty_ns != MST_UNKNOWN)
        mst_html(sink, "; its clock was %s %s the recorder&#39;s, to %s, which is taken off",
                 mst_format_time(ahead_ns >= 0 ? (uint64_t)ahead_ns : -(uint64_t)ahead_ns).text,
                 ahead_ns >= 0 ? "ahead of" : "behind", mst_format_time(uncertainty_ns).text);
}

static bool put_servers(struct mst_sink *sink, sqlite3 *db, int64_t run_id)
{
    struct mst_query q = mst_run_servers(db, run_id);

    while (mst_query_next(&q)) {
        const char *mpm = mst_row_text(&q, "mpm"), *sapi = mst_row_text(&q, "sapi");
        const char *name = mst_row_text(&q, "name");

        mst_html(sink, "<tr><th scope=\"row\">%s</th><td>%s%s%s%s%s; %s%sread from "
                 "<code>%s</code>; mpmstat %s in it", mst_row_text(&q, "producer"),
                 mst_row_text(&q, "server"), mpm != NULL ? ", " : "", mpm,
                 sapi != NULL ? ", " : "", sapi, name, name != NULL ? ", " : "",
                 mst_row_text(&q, "target"), mst_row_text(&q, "version"));
        put_clock(sink, &q);
        mst_html(sink, "</td></tr>\n");
    }
    return mst_query_done(&q);
}

/* The column's whole text: a NUL in it becomes U+FFFD. */
static void put_bytes(struct mst_sink *sink, struct mst_query *q, const char *column)
{
    const char *at = mst_row_text(q, column);
    const char *end = at != NULL ? at + mst_row_text_bytes(q, column) : NULL;

    for (; at < end; at += strlen(at) + 1)
        mst_html(sink, at + strlen(at) < end ? "%s\xef\xbf\xbd" : "%s", at);
}

/* The end of the load tool's output: its results stand there. */
static bool put_output(struct mst_sink *sink, sqlite3 *db, int64_t run_id)
{
    struct mst_query q = mst_run_output(db, run_id, OUTPUT_SHOWN);

    while (mst_query_next(&q)) {
        uint64_t bytes = mst_row_number(&q, "bytes");

        if (bytes == 0)
            continue;
        mst_html(sink, "<details class=\"output\"><summary>The load tool's %s, %" PRIu64 " bytes%s"
                 "</summary><pre tabindex=\"0\">\n", mst_row_text(&q, "stream"), bytes,
                 bytes > OUTPUT_SHOWN ? " (the end of it; more is in the archive)" : "");
        put_bytes(sink, &q, "text");
        mst_html(sink, "</pre></details>\n");
    }
    return mst_query_done(&q);
}

bool mst_html_provenance(struct mst_sink *sink, const struct mst_report_run *run)
{
    const struct mst_summary *s = &run->summary;
    sqlite3 *db = mst_archive_db(run->archive);
    bool fine;

    mst_html(sink, "<article class=\"card\"><details><summary>%s</summary>\n", run->title);
    if (s->command_line != NULL)
        mst_html(sink, "<pre tabindex=\"0\">%s</pre>", s->command_line);
    mst_page_table(sink, "Provenance", "pairs");
    mst_html(sink, "<tbody>\n");
    mst_page_pair(sink, "archive", run->path);
    mst_html(sink, "<tr><th scope=\"row\">run</th><td>%" PRId64 ", begun ", s->id);
    if (s->started_ns != MST_UNKNOWN)
        mst_sink_instant(sink, s->started_ns);
    mst_html(sink, ", %s", mst_outcome_names[s->outcome]);
    if (s->exit_status != MST_UNKNOWN)
        mst_html(sink, ", exit status %" PRIu64, s->exit_status);
    if (s->exit_signal != MST_UNKNOWN)
        mst_html(sink, ", ended by signal %" PRIu64, s->exit_signal);
    mst_html(sink, "</td></tr>\n");
    mst_page_pair(sink, "flags that mpmstat added", s->added);
    fine = put_servers(sink, db, s->id) && put_environment(sink, db, s->id);
    mst_html(sink, MST_PAGE_TABLE_END);
    fine = fine && put_output(sink, db, s->id);
    mst_html(sink, "</details></article>\n");
    return fine;
}
