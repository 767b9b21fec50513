/* html.c - the page of runs: see report.h.
 *
 * What can be read is here, as HTML: verdicts, checks, tables, provenance, so that the page
 * also tells them without scripts. assets/report.js draws the charts from the JSON at the end
 * (data.c).
 */
#include <stdio.h>
#include <string.h>

#include "report/html_run.h"
#include "report/markup.h"
#include "report/metrics.h"
#include "report/page.h"
#include "report/report.h"
#include "segment/format.h"

#define TITLE_MAX 64u

/* ---- the head -------------------------------------------------------------------- */

static void put_contents(struct mst_sink *sink, const struct mst_report *report)
{
    size_t i;

    mst_html(sink, "<nav aria-label=\"Contents\"><ul>\n<li><a href=\"#verdict\">Verdict</a></li>\n"
             "<li><a href=\"#numbers\">Numbers</a></li>\n");
    if (report->count > 1)
        mst_html(sink, "<li><a href=\"#compared\">Compared</a></li>\n");
    for (i = 0; i < report->count; i++)
        mst_html(sink, "<li><a href=\"#run-%zu\">%s</a></li>\n", i + 1,
                 report->count > 1 ? report->runs[i].title : "In detail");
    mst_html(sink, "<li><a href=\"#sizing\">Sizing</a></li>\n"
             "<li><a href=\"#provenance\">Provenance</a></li>\n</ul></nav>\n");
}

/* ---- verdict and checks ---------------------------------------------------------- */

/* The client's number where it is known, else the server's. */
static void put_tile(struct mst_sink *sink, const struct mst_summary *s, const char *label,
                     enum mst_metric_id client, enum mst_metric_id server)
{
    const struct mst_metric *metric = &mst_metrics[client];

    if (mst_metric_get(metric, s) == MST_UNKNOWN)
        metric = &mst_metrics[server];
    mst_html(sink, "<div><dt>%s</dt><dd>", label);
    mst_page_number(sink, metric->unit, mst_metric_get(metric, s));
    mst_html(sink, "</dd></div>");
}

static void put_tiles(struct mst_sink *sink, const struct mst_summary *s)
{
    mst_html(sink, "<dl class=\"tiles\">");
    put_tile(sink, s, "requests/s", MST_M_RATE, MST_M_SERVER_RATE);
    put_tile(sink, s, "p50", MST_M_P50, MST_M_SERVER_P50);
    put_tile(sink, s, "p99", MST_M_P99, MST_M_SERVER_P99);
    put_tile(sink, s, "failed", MST_M_FAILED, MST_M_5XX);
    put_tile(sink, s, "in the queue", MST_M_QUEUE_SHARE, MST_M_QUEUE_SHARE);
    put_tile(sink, s, "workers busy", MST_M_BUSY, MST_M_BUSY);
    put_tile(sink, s, "workers, limit", MST_M_LIMIT, MST_M_LIMIT);
    mst_html(sink, "</dl>\n");
}

static void put_checks(struct mst_sink *sink, const struct mst_summary *s)
{
    static const struct { const char *class, *mark, *word; } answers[] = {
        [MST_ANSWER_NO] = { "no", "✕", "no" }, [MST_ANSWER_YES] = { "yes", "✓", "yes" },
        [MST_ANSWER_UNKNOWN] = { "maybe", "?", "not known" },
    };
    size_t i;

    mst_html(sink, "<ul class=\"checks\">\n");
    for (i = 0; i < MST_CHECK_COUNT; i++) {
        const struct mst_check *check = &s->checks[i];

        mst_html(sink, "<li class=\"%s\"><span class=\"mark\" aria-hidden=\"true\">%s</span> "
                 "<strong>%s</strong><span class=\"quiet\">: %s</span> <span>%s</span></li>\n",
                 answers[check->ok].class, answers[check->ok].mark, check->name,
                 answers[check->ok].word, check->text);
    }
    mst_html(sink, "</ul>\n");
}

/* Among many runs, the checks of a run are folded where all of them hold. */
static void put_trust(struct mst_sink *sink, const struct mst_summary *s, bool among_many)
{
    size_t i, good = 0;

    for (i = 0; i < MST_CHECK_COUNT; i++)
        good += s->checks[i].ok == MST_ANSWER_YES;
    if (!among_many || good < MST_CHECK_COUNT) {
        mst_html(sink, "<h4>Can it be believed?</h4>\n");
        put_checks(sink, s);
        return;
    }
    mst_html(sink, "<details><summary>All checks hold</summary>\n");
    put_checks(sink, s);
    mst_html(sink, "</details>\n");
}

/* What to do about each finding, and what it changes; the sentences of the verdict are above. */
static void put_findings(struct mst_sink *sink, const struct mst_summary *s)
{
    size_t i;

    mst_html(sink, "<ol class=\"findings\">\n");
    for (i = 0; i < s->finding_count; i++) {
        const struct mst_finding *f = &s->findings[i];

        mst_html(sink, "<li><code>%s</code> %s", mst_code_names[f->code], f->text);
        if (f->action[0] != '\0')
            mst_html(sink, "<br><b>Do:</b> %s", f->action);
        if (f->predicted[0] != '\0')
            mst_html(sink, "<br><b>Predicted:</b> %s", f->predicted);
        mst_html(sink, "</li>\n");
    }
    mst_html(sink, "</ol>\n");
}

static void put_verdict(struct mst_sink *sink, const struct mst_report *report, size_t i)
{
    const struct mst_report_run *run = &report->runs[i];
    const struct mst_summary *s = &run->summary;
    size_t note;

    mst_html(sink, "<article class=\"card\">\n");
    if (report->count > 1)
        mst_html(sink, "<h3><a href=\"#run-%zu\">%s</a></h3>\n", i + 1, run->title);
    if (report->count > 1 && s->command_line != NULL)
        mst_html(sink, "<p class=\"sub\">%s</p>", s->command_line);
    if (!s->complete)
        mst_html(sink, "<p class=\"warning\"><strong>This run is not complete</strong>: %s. What "
                 "was recorded until then is shown.</p>\n", mst_outcome_names[s->outcome]);
    mst_html(sink, "<p class=\"verdict\">%s</p>", s->verdict);
    put_findings(sink, s);
    put_tiles(sink, s);
    put_trust(sink, s, report->count > MST_HTML_RUNS_IN_GROUPS);
    for (note = 0; note < s->note_count; note++)
        mst_html(sink, "<p class=\"note\">%s</p>", s->notes[note]);
    mst_html(sink, "</article>\n");
}

/* ---- the table of runs ----------------------------------------------------------- */

/* Whether any of the runs has it. */
static bool is_had(const struct mst_report *report, const struct mst_metric *metric)
{
    size_t i = 0;

    while (i < report->count && mst_metric_get(metric, &report->runs[i].summary) == MST_UNKNOWN)
        i++;
    return i < report->count;
}

/* A footnote for each thing that is not known. */
static void put_whys(struct mst_sink *sink, const struct mst_report *report)
{
    bool begun = false;
    size_t m, i;

    for (m = 0; m < MST_M_COUNT; m++)
        for (i = 0; i < report->count && mst_metrics[m].group != NULL; i++) {
            const struct mst_summary *s = &report->runs[i].summary;

            if (mst_metrics[m].optional || mst_metric_get(&mst_metrics[m], s) != MST_UNKNOWN)
                continue;
            if (!begun)
                mst_html(sink, "<details class=\"whys\"><summary>What is not known, and why"
                         "</summary><ul>\n");
            begun = true;
            mst_html(sink, "<li>%s, %s", mst_metrics[m].group, mst_metrics[m].label);
            if (report->count > 1)
                mst_html(sink, " (%s)", report->runs[i].title);
            mst_html(sink, ": %s</li>\n", mst_metric_why(&mst_metrics[m], s));
        }
    if (begun)
        mst_html(sink, "</ul></details>\n");
}

static void begin_table(struct mst_sink *sink, const struct mst_report *report, const char *caption)
{
    size_t i;

    mst_page_table(sink, caption, "numbers");
    if (report->count <= MST_HTML_RUNS_IN_GROUPS)
        mst_html(sink, "<caption>%s</caption>", caption);
    mst_html(sink, report->count > 1 ? "<thead><tr><td></td>" :
                                       "<thead class=\"hidden\"><tr><td></td>");
    for (i = 0; i < report->count; i++)
        mst_html(sink, "<th scope=\"col\">%s</th>", report->runs[i].title);
    mst_html(sink, "</tr></thead><tbody>\n");
}

static void put_metric_row(struct mst_sink *sink, const struct mst_report *report,
                           const struct mst_metric *metric)
{
    size_t i;

    mst_html(sink, "<tr data-metric=\"%s\"><th scope=\"row\">%s</th>", metric->column,
             metric->label);
    for (i = 0; i < report->count; i++)
        mst_page_cell(sink, metric->unit, mst_metric_get(metric, &report->runs[i].summary));
    mst_html(sink, "</tr>\n");
}

/* One or two runs: a small table for each group. More: one, so that columns line up. */
static void put_runs_table(struct mst_sink *sink, const struct mst_report *report)
{
    bool small = report->count <= MST_HTML_RUNS_IN_GROUPS;
    const char *group = "";
    size_t m;

    if (small)
        mst_html(sink, "<div class=\"groups\">\n");
    else
        begin_table(sink, report, "Table of runs");
    for (m = 0; m < MST_M_COUNT; m++) {
        const struct mst_metric *metric = &mst_metrics[m];

        if (metric->group == NULL || (metric->optional && !is_had(report, metric)))
            continue;
        if (strcmp(group, metric->group) != 0 && small) {
            mst_html(sink, group[0] != '\0' ? MST_PAGE_TABLE_END : "");
            begin_table(sink, report, metric->group);
        } else if (strcmp(group, metric->group) != 0) {
            mst_page_group(sink, metric->group, report->count);
        }
        group = metric->group;
        put_metric_row(sink, report, metric);
    }
    mst_html(sink, MST_PAGE_TABLE_END);
    if (small)
        mst_html(sink, "</div>\n");
    put_whys(sink, report);
}

/* ---- sizing ---------------------------------------------------------------------- */

static void put_advice(struct mst_sink *sink, const struct mst_advice *advice)
{
    mst_html(sink, "<tr><th scope=\"row\">%s</th>", advice->directive);
    mst_html(sink, advice->known ? "<td><strong>%s</strong></td>" : "<td class=\"unknown\">%s</td>",
             advice->answer);
    mst_html(sink, "<td>%s <span class=\"quiet\">%s</span></td></tr>\n", advice->arithmetic,
             advice->uncertainty);
}

static int put_sizing(struct mst_sink *sink, const struct mst_report *report,
                      char error[MST_ERROR_MAX])
{
    struct mst_sizing sizing;
    struct mst_usl usl;
    char knee[768];
    size_t i, a;

    mst_html(sink, "<section id=\"sizing\">\n<h2>Sizing</h2>\n<p>From what was measured, each with "
             "its arithmetic: workers by Little's law (arrival rate × time held), memory by what "
             "a process takes, the accept queue by the longest seen.</p>\n");
    for (i = 0; i < report->count; i++) {
        if (mst_report_sizing(&sizing, &report->runs[i], error) != 0)
            return -1;
        if (report->count > 1)
            mst_html(sink, "<h3>%s</h3>", report->runs[i].title);
        mst_page_table(sink, "Sizing", "advice");
        mst_html(sink, "<tbody>\n");
        for (a = 0; a < MST_ADVICE_COUNT; a++)
            put_advice(sink, &sizing.advice[a]);
        mst_html(sink, MST_PAGE_TABLE_END);
    }
    if (report->count > 1) {
        mst_report_knee(&usl, report, knee, sizeof knee);
        mst_html(sink, "<h3>The knee</h3>\n<p>%s</p>", knee);
    }
    mst_html(sink, "</section>\n");
    return 0;
}

/* ---- all of it ------------------------------------------------------------------- */

/* The title says which run it is, or how many. */
static struct mst_page page_of(const struct mst_report *report, char title[TITLE_MAX])
{
    const struct mst_report_run *first = &report->runs[0];
    struct mst_page page = {
        .kind = MST_PAGE_RUNS, .title = title, .brand = "mpmstat report",
        .skip_to = "verdict", .skip_text = "To the verdict",
    };

    if (report->count == 1) {
        page.title = first->title;
        page.sub = first->summary.command_line != NULL ? first->summary.command_line :
                   "recorded without a load tool";
    } else {
        snprintf(title, TITLE_MAX, "%zu load runs", report->count);
        page.sub = report->several_archives ? "from several archives" : first->path;
    }
    return page;
}

static mst_page_data put_data;
static int put_data(struct mst_sink *sink, const void *of, char *error)
{
    return mst_report_data(sink, of, error);
}

int mst_report_html(struct mst_sink *sink, const struct mst_report *report,
                    char error[MST_ERROR_MAX])
{
    char title[TITLE_MAX];
    const struct mst_page page = page_of(report, title);
    size_t i;

    mst_page_begin(sink, &page);
    put_contents(sink, report);
    mst_html(sink, "</header>\n<main>\n<section id=\"verdict\">\n<h2>Verdict</h2>\n");
    for (i = 0; i < report->count; i++)
        put_verdict(sink, report, i);
    mst_html(sink, "</section>\n<section id=\"numbers\">\n<h2>%s</h2>\n",
             report->count > 1 ? "The runs side by side" : "The numbers");
    put_runs_table(sink, report);
    mst_html(sink, "</section>\n");
    if (report->count > 1)
        mst_html(sink, "<section id=\"compared\">\n<h2>The runs over each other</h2>\n"
                 "<div class=\"charts\" data-compared></div>\n</section>\n");
    for (i = 0; i < report->count; i++)
        mst_html_run(sink, report, i);
    if (put_sizing(sink, report, error) != 0)
        return -1;
    mst_html(sink, "<section id=\"provenance\">\n<h2>Provenance</h2>\n");
    for (i = 0; i < report->count; i++)
        if (!mst_html_provenance(sink, &report->runs[i]))
            return mst_archive_unreadable(report->runs[i].archive, error);
    mst_html(sink, "</section>\n</main>\n");
    return mst_page_end(sink, &page, put_data, report, error);
}
