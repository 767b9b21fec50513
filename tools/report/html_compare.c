/* html_compare.c - two names of a report compared, as HTML: see html_compare.h. */
#include "report/html_compare.h"

#include "doc/markup.h"
#include "report/comparison.h"
#include "report/page.h"
#include "segment/format.h"

static bool has_complete(const struct mst_report *report, const struct mst_report_group *group)
{
    return report->runs[group->shown].summary.complete;
}

bool mst_html_compares(const struct mst_report *report, const struct mst_report_groups *groups)
{
    return groups->count == 2 && has_complete(report, &groups->items[0]) &&
           has_complete(report, &groups->items[1]);
}

static int lend(struct mst_compare_side *side, const struct mst_report *report,
                const struct mst_report_group *group, char error[MST_ERROR_MAX])
{
    size_t i;
    int status = 0;

    side->given = report->runs[group->shown].title;
    for (i = 0; i < group->count && status == 0; i++)
        status = mst_compare_side_lend(side, report->runs[group->runs[i]].archive,
                                       &report->runs[group->runs[i]].summary, error);
    return status;
}

/* ---- the section ----------------------------------------------------------------------- */

static void put_side(struct mst_sink *sink, const char *letter, const struct mst_compare_side *side)
{
    const char *command = side->runs[0].summary.command_line;

    mst_html(sink, "<div><dt>%s</dt><dd>%s<span class=\"quiet\">, %zu run%s</span>", letter,
             side->given, side->count, side->count == 1 ? "" : "s");
    if (command != NULL)
        mst_html(sink, "<span class=\"sub\">%s</span>", command);
    mst_html(sink, "</dd></div>\n");
}

static void put_section(struct mst_sink *sink, const struct mst_comparison_table *t)
{
    const struct mst_doc doc = mst_doc_html(sink);

    mst_html(sink, "<section id=\"ab\">\n<h2>A and B</h2>\n<article class=\"card\">\n");
    mst_html(sink, "<p class=\"answer\">%s</p>\n", t->sentence);
    mst_comparison_put_causes(&doc, t);
    mst_comparison_put_predictions(&doc, t);
    mst_html(sink, "<dl class=\"ab\">\n");
    put_side(sink, "A", &t->a);
    put_side(sink, "B", &t->b);
    mst_html(sink, "</dl>\n<p>%s</p>\n", t->paired ?
             "The runs were made alternately: each run of B is compared with its neighbour of A." :
             "All runs of B are compared with all runs of A.");
    mst_comparison_rows(&doc, t, MST_COMPARISON_ALL);
    mst_comparison_put_names(&doc, t);
    mst_comparison_put_notes(&doc, t);
    mst_comparison_put_warnings(&doc, t, 0, t->warnings.count);
    mst_html(sink, "</article>\n</section>\n");
}

int mst_html_compare(struct mst_sink *sink, const struct mst_report *report,
                     const struct mst_report_groups *groups, char error[MST_ERROR_MAX])
{
    struct mst_comparison_table t = { .pool = report->pool, .a.pool = report->pool,
                                      .b.pool = report->pool, .limit = -1 };
    int status = lend(&t.a, report, &groups->items[0], error);

    if (status == 0)
        status = lend(&t.b, report, &groups->items[1], error);
    if (status == 0) {
        mst_comparison_make(&t, NULL, 0);
        put_section(sink, &t);
    }
    mst_comparison_end(&t);
    return status;
}
