/* html.c - the page of runs: see report.h.
 *
 * The page answers first what readers ask first: which of two is faster, what was found and why,
 * where the time went and with which requests; numbers and provenance are last. All that can be
 * read is HTML, so that the page also tells it without scripts. assets/report.js draws the charts
 * from the JSON at the end (data.c).
 */
#include <stdio.h>

#include "doc/markup.h"
#include "report/advice.h"
#include "report/generators.h"
#include "report/groups.h"
#include "report/html_compare.h"
#include "report/html_run.h"
#include "report/html_verdict.h"
#include "report/needs.h"
#include "report/page.h"
#include "report/provenance.h"
#include "report/report.h"
#include "report/side_by_side.h"

#define TITLE_MAX 64u

/* What all parts of the page are about. */
struct content {
    const struct mst_report  *report;
    struct mst_report_groups  groups;
    bool                      compares;   /* two names: A and B */
};

/* ---- the head -------------------------------------------------------------------- */

static void put_contents(struct mst_sink *sink, const struct content *c)
{
    size_t i;

    mst_html(sink, "<nav aria-label=\"Contents\"><ul>\n");
    if (c->compares)
        mst_html(sink, "<li><a href=\"#ab\">A and B</a></li>\n");
    mst_html(sink, "<li><a href=\"#verdict\">Verdict</a></li>\n");
    if (c->report->count > 1)
        mst_html(sink, "<li><a href=\"#compared\">Compared</a></li>\n");
    for (i = 0; i < c->groups.count; i++)
        mst_html(sink, "<li><a href=\"#run-%zu\">%s</a></li>\n", c->groups.items[i].shown + 1,
                 c->groups.count > 1 ? c->report->runs[c->groups.items[i].shown].title :
                                       "In detail");
    mst_html(sink, "<li><a href=\"#sizing\">Sizing</a></li>\n"
             "<li><a href=\"#numbers\">Numbers</a></li>\n"
             "<li><a href=\"#provenance\">Provenance</a></li>\n</ul></nav>\n");
}

/* ---- sizing ---------------------------------------------------------------------- */

/* One run of each name: the repetitions are of the same size. */
static void put_sizing(struct mst_sink *sink, const struct content *c)
{
    const struct mst_doc doc = mst_doc_html(sink);
    const struct mst_report *report = c->report;
    size_t i;

    mst_html(sink, "<section id=\"sizing\">\n<h2>Sizing</h2>\n<p>Workers by simulations of the "
             "run, memory by what a process takes, the accept queue by the longest seen.</p>\n");
    for (i = 0; i < c->groups.count; i++) {
        const struct mst_report_run *run = &report->runs[c->groups.items[i].shown];

        if (c->groups.count > 1)
            mst_html(sink, "<h3>%s</h3>", run->title);
        mst_needs_put(&doc, &run->summary);
        mst_advice_put(&doc, run->summary.sizing);
    }
    mst_knee_put(&doc, report);
    mst_html(sink, "</section>\n");
}

/* ---- all of it ------------------------------------------------------------------- */

/* The title says which run it is, or how many. */
static struct mst_html_page page_of(const struct content *c, char title[TITLE_MAX])
{
    const struct mst_report *report = c->report;
    const struct mst_report_run *first = &report->runs[0];
    struct mst_html_page page = {
        .kind = MST_PAGE_RUNS, .title = title, .brand = "mpmstat report",
        .skip_to = c->compares ? "ab" : "verdict",
        .skip_text = c->compares ? "To the comparison" : "To the verdict",
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
    const struct content *c = of;

    return mst_report_data(sink, c->report, &c->groups, error);
}

static void put_verdicts(struct mst_sink *sink, const struct content *c)
{
    size_t i;

    mst_html(sink, "<section id=\"verdict\">\n<h2>Verdict</h2>\n<div class=\"cards\">\n");
    for (i = 0; i < c->groups.count; i++)
        mst_html_verdict(sink, c->report, &c->groups, &c->groups.items[i]);
    mst_html(sink, "</div>\n</section>\n");
}

/* More runs than a group each has a column for are folded. */
static void put_numbers(struct mst_sink *sink, const struct mst_report *report)
{
    const struct mst_doc doc = mst_doc_html(sink);
    bool folded = report->count > MST_HTML_RUNS_IN_GROUPS;
    size_t i;

    mst_html(sink, "<section id=\"numbers\">\n<h2>%s</h2>\n",
             report->count > 1 ? "The runs side by side" : "The numbers");
    if (folded)
        mst_doc_details_begin(&doc, "All numbers of all runs");
    mst_side_by_side_all(&doc, report);
    if (folded)
        mst_doc_details_end(&doc);
    for (i = 0; i < report->count; i++)
        mst_generators_put(&doc, &report->runs[i].summary);
    mst_html(sink, "</section>\n");
}

static int put_provenance(struct mst_sink *sink, const struct mst_report *report,
                          char error[MST_ERROR_MAX])
{
    size_t i;

    mst_html(sink, "<section id=\"provenance\">\n<h2>Provenance</h2>\n");
    for (i = 0; i < report->count; i++)
        if (!mst_provenance_html(sink, &report->runs[i]))
            return mst_archive_unreadable(report->runs[i].archive, error);
    mst_html(sink, "</section>\n");
    return 0;
}

static int put_main(struct mst_sink *sink, const struct content *c, char error[MST_ERROR_MAX])
{
    const struct mst_report *report = c->report;
    size_t i;

    if (c->compares && mst_html_compare(sink, report, &c->groups, error) != 0)
        return -1;
    put_verdicts(sink, c);
    if (report->count > 1)
        mst_html(sink, "<section id=\"compared\">\n<h2>The runs over each other</h2>\n"
                 "<div class=\"charts\" data-compared></div>\n</section>\n");
    for (i = 0; i < c->groups.count; i++)
        if (mst_html_runs(sink, report, &c->groups, &c->groups.items[i], error) != 0)
            return -1;
    put_sizing(sink, c);
    put_numbers(sink, report);
    return put_provenance(sink, report, error);
}

int mst_report_html(struct mst_sink *sink, const struct mst_report *report,
                    char error[MST_ERROR_MAX])
{
    char title[TITLE_MAX];
    struct content c = { .report = report };
    struct mst_html_page page;
    int status;

    mst_groups_make(&c.groups, report);
    c.compares = mst_html_compares(report, &c.groups);
    page = page_of(&c, title);
    mst_page_begin(sink, &page);
    put_contents(sink, &c);
    mst_html(sink, "</header>\n<main>\n");
    status = put_main(sink, &c, error);
    mst_html(sink, "</main>\n");
    if (status == 0)
        status = mst_page_end(sink, &page, put_data, &c, error);
    return status;
}
