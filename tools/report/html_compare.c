/* html_compare.c - two names of a report compared, as HTML: see html_compare.h. */
#include "report/html_compare.h"

#include <math.h>
#include <stdio.h>

#include "report/comparison.h"
#include "doc/markup.h"
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

static void put_value(struct mst_sink *sink, const struct mst_metric *metric, double value)
{
    if (value > 0)
        mst_page_cell(sink, metric->unit, (uint64_t)llround(value));
    else
        mst_html(sink, "<td>–</td>");
}

static void put_row(struct mst_sink *sink, const struct mst_comparison_row *row)
{
    static const char *const classes[] = {
        [MST_CHANGE_UNSURE] = "unsure", [MST_CHANGE_LESS] = "changed",
        [MST_CHANGE_MORE] = "changed",
    };
    const struct mst_comparison *c = &row->result;
    char noise[32] = "";

    if (c->noise >= 0)
        snprintf(noise, sizeof noise, c->noise < 0.0995 ? "%.1f %%" : "%.0f %%", c->noise * 100);
    mst_html(sink, "<tr data-comparison=\"%s\" class=\"%s\"><th scope=\"row\">%s</th>",
             row->metric->column, classes[c->change], row->metric->compared);
    put_value(sink, row->metric, c->a);
    put_value(sink, row->metric, c->b);
    mst_html(sink, "<td>%s</td><td class=\"text\">%s</td></tr>\n", noise, c->text);
}

static void put_causes(struct mst_sink *sink, const struct mst_comparison_table *t)
{
    char causes[MST_COMPARISON_CAUSES_MAX];

    mst_comparison_causes(t, causes);
    if (causes[0] == '\0')
        return;
    mst_html(sink, "<p>%s</p>\n", causes);
    if (t->cause_a.code != t->cause_b.code)
        mst_html(sink, "<p>A: %s</p>\n<p>B: %s</p>\n",
                 mst_comparison_cause_text(&t->a, &t->cause_a),
                 mst_comparison_cause_text(&t->b, &t->cause_b));
}

static void put_section(struct mst_sink *sink, const struct mst_comparison_table *t)
{
    size_t i;

    mst_html(sink, "<section id=\"ab\">\n<h2>A and B</h2>\n<article class=\"card\">\n");
    mst_html(sink, "<p class=\"answer\">%s</p>\n", t->sentence);
    put_causes(sink, t);
    mst_html(sink, "<dl class=\"ab\">\n");
    put_side(sink, "A", &t->a);
    put_side(sink, "B", &t->b);
    mst_html(sink, "</dl>\n<p>%s</p>\n", t->paired ?
             "The runs were made alternately: each run of B is compared with its neighbour of A." :
             "All runs of B are compared with all runs of A.");
    mst_page_table(sink, "A and B", "compared");
    mst_html(sink, "<thead><tr><td></td><th scope=\"col\">A</th><th scope=\"col\">B</th>"
             "<th scope=\"col\">A/A</th><th scope=\"col\" class=\"text\">B against A</th></tr>"
             "</thead><tbody>\n");
    for (i = 0; i < t->row_count; i++)
        put_row(sink, &t->rows[i]);
    mst_html(sink, MST_PAGE_TABLE_END "<p class=\"note\">In brackets: where the truth is in 95 of "
             "100 such comparisons. A/A: by how much halves of A&#39;s runs differ, with nothing "
             "changed. %s</p>\n", mst_comparison_whose(t));
    for (i = 0; i < t->warning_count; i++)
        mst_html(sink, "<p class=\"note\"><strong>Beware:</strong> %s</p>\n", t->warnings[i]);
    mst_html(sink, "</article>\n</section>\n");
}

int mst_html_compare(struct mst_sink *sink, const struct mst_report *report,
                     const struct mst_report_groups *groups, char error[MST_ERROR_MAX])
{
    struct mst_comparison_table t = { .limit = -1 };
    int status = lend(&t.a, report, &groups->items[0], error);

    if (status == 0)
        status = lend(&t.b, report, &groups->items[1], error);
    if (status == 0 && mst_comparison_make(&t, NULL, 0) != 0)
        status = mst_fail(error, "out of memory for the comparison");
    if (status == 0)
        put_section(sink, &t);
    mst_comparison_free(&t);
    return status;
}
