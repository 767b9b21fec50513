/* tables.c - the tables of a study's page: see tables.h. */
#include "lab/report/tables.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "doc/markup.h"
#include "lab/report/estimates.h"
#include "lab/report/figures.h"
#include "lab/report/parts.h"
#include "lab/report/published.h"
#include "report/cells.h"
#include "report/page.h"

/* ---- numbers ---------------------------------------------------------------------- */

#define DASH "<span class=\"unknown\">–</span>"

static void put_value(struct mst_sink *sink, enum mst_quantity unit, double value)
{
    if (!isfinite(value)) {
        mst_html(sink, DASH);
        return;
    }
    mst_html(sink, "<data value=\"");
    mst_cell_put(sink, value, "");
    mst_html(sink, "\">%s</data>", mst_study_format(unit, value).text);
}

/* Below the value: its interval, or without one the least and the most of the repetitions. */
static void put_range(struct mst_sink *sink, enum mst_quantity unit, double low, double high)
{
    mst_html(sink, "<small>%s – %s</small>", mst_study_format(unit, low).text,
             mst_study_format(unit, high).text);
}

static void put_estimate(struct mst_sink *sink, enum mst_metric_id metric,
                         const struct mst_study_case *c)
{
    enum mst_quantity unit = mst_metrics[metric].unit;
    struct mst_estimate e = mst_estimate_of(c, metric);

    put_value(sink, unit, e.mean);
    if (e.count > 0 && isfinite(e.low) && e.low < e.high)
        put_range(sink, unit, e.low, e.high);
    else if (e.count > 0 && e.least < e.most)
        put_range(sink, unit, e.least, e.most);
}

static void put_estimate_cell(struct mst_sink *sink, enum mst_metric_id metric,
                              const struct mst_study_case *c)
{
    mst_html(sink, "<td>");
    put_estimate(sink, metric, c);
    mst_html(sink, "</td>");
}

/* ---- published and ours ------------------------------------------------------------ */

static void begin_published(struct mst_sink *sink, const char *name,
                         const enum mst_metric_id *figures, size_t count)
{
    size_t i;

    mst_page_table(sink, name, "beside");
    mst_html(sink, "<thead><tr><th scope=\"col\">system</th>");
    for (i = 0; i < count; i++)
        mst_html(sink, "<th scope=\"col\">%s</th>", mst_metrics[figures[i]].study_label);
    mst_html(sink, "</tr></thead><tbody>\n");
}

/* The original's name of the system, and the case that stands for it here. */
static void put_system(struct mst_sink *sink, const struct mst_study_section *section, size_t row,
                       const struct mst_study_case *c)
{
    int column = mst_published_column(section->published, MST_PUBLISHED_SYSTEM);
    const char *theirs = column >= 0 ? section->published->rows.items[row].words[column] : NULL;
    char *ours = c != NULL ? mst_study_label(section, c) : NULL;

    mst_html(sink, "<th scope=\"row\">%s", theirs != NULL ? theirs : ours);
    if (theirs != NULL && (ours == NULL || strcmp(theirs, ours) != 0))
        mst_html(sink, "<small>%s</small>", ours != NULL ? ours : "not run here");
    mst_html(sink, "</th>");
    free(ours);
}

static void put_published_cell(struct mst_sink *sink, const struct mst_study_section *section,
                            size_t row, enum mst_metric_id metric,
                            const struct mst_study_case *c)
{
    double theirs = mst_published_value(section, row, metric);

    mst_html(sink, "<td data-metric=\"%s\">", mst_metrics[metric].study);
    if (c != NULL)
        put_estimate(sink, metric, c);
    else
        mst_html(sink, DASH);
    if (isfinite(theirs))
        mst_html(sink, "<small class=\"theirs\">%s</small>",
                 mst_study_format(mst_metrics[metric].unit, theirs).text);
    mst_html(sink, "</td>");
}

/* The published row that is about the reference; 0: none. */
static size_t reference_row(const struct mst_study_section *section)
{
    const struct mst_study_case *reference = mst_reference_of(section);
    size_t row;

    for (row = 1; reference != NULL && row < section->published->rows.count; row++)
        if (mst_published_is(section, row, reference))
            return row;
    return 0;
}

static void put_ratio_cell(struct mst_sink *sink, const struct mst_study_section *section,
                           size_t row, enum mst_metric_id metric,
                           const struct mst_study_case *c)
{
    const struct mst_study_case *reference = mst_reference_of(section);
    size_t to = reference_row(section);
    double theirs = mst_published_value(section, row, metric) /
                    (to > 0 ? mst_published_value(section, to, metric) : NAN);
    struct mst_ratio r = { .ratio = NAN };

    mst_html(sink, "<td>");
    if (c != NULL && c != reference && reference != NULL)
        r = mst_ratio_of(c, reference, metric);
    if (c != NULL && c == reference)
        mst_html(sink, "1");
    else if (r.known)
        mst_html(sink, "× %s", mst_study_ratio(r.ratio).text);
    else
        mst_html(sink, DASH);
    if (r.bounded)
        mst_html(sink, "<small>%s – %s</small>", mst_study_ratio(r.low).text,
                 mst_study_ratio(r.high).text);
    if (isfinite(theirs))
        mst_html(sink, "<small class=\"theirs\">%s%s</small>", theirs == 1 ? "" : "× ",
                 theirs == 1 ? "1" : mst_study_ratio(theirs).text);
    mst_html(sink, "</td>");
}

typedef void put_cell(struct mst_sink *sink, const struct mst_study_section *section, size_t row,
                      enum mst_metric_id metric, const struct mst_study_case *c);

static void put_row(struct mst_sink *sink, const struct mst_study_section *section, size_t row,
                    const struct mst_study_case *c, const enum mst_metric_id *figures,
                    size_t count, put_cell *put)
{
    size_t i;

    mst_html(sink, "<tr>");
    put_system(sink, section, row, c);
    for (i = 0; i < count; i++)
        put(sink, section, row, figures[i], c);
    mst_html(sink, "</tr>\n");
}

/* Each published row with each case that stands for it. */
static void put_rows(struct mst_sink *sink, const struct mst_study_section *section,
                     const enum mst_metric_id *figures, size_t count, put_cell *put)
{
    size_t row, i, found;

    for (row = 1; row < section->published->rows.count; row++) {
        for (i = 0, found = 0; i < section->case_count; i++) {
            if (section->cases[i].run_count == 0 ||
                !mst_published_is(section, row, &section->cases[i]))
                continue;
            put_row(sink, section, row, &section->cases[i], figures, count, put);
            found++;
        }
        if (found == 0)
            put_row(sink, section, row, NULL, figures, count, put);
    }
}

void mst_study_table_published(struct mst_sink *sink, const struct mst_study_section *section)
{
    enum mst_metric_id figures[MST_STUDY_FIGURES_MAX];
    size_t count = mst_study_figures(section, figures);
    const struct mst_study_case *reference = mst_reference_of(section);
    char *label;

    if (section->published == NULL)
        return;
    mst_html(sink, "<h3>The original's table, and ours</h3>\n<p class=\"note\">Ours first: the "
             "mean of the repetitions and its 95 %% interval (with fewer than three: how far they "
             "reach). <span class=\"theirs\">As published</span> below it.</p>\n");
    begin_published(sink, "Published and ours", figures, count);
    put_rows(sink, section, figures, count, put_published_cell);
    mst_html(sink, MST_PAGE_TABLE_END);
    label = reference != NULL ? mst_study_label(section, reference) : NULL;
    if (label == NULL)
        return;
    mst_html(sink, "<h3>In relation to %s</h3>\n<p class=\"note\">What can be compared across "
             "machines: how many times as much as the reference, with the 95 %% interval; "
             "<span class=\"theirs\">as published</span> below it.</p>\n", label);
    begin_published(sink, "Ratios, published and ours", figures, count);
    put_rows(sink, section, figures, count, put_ratio_cell);
    mst_html(sink, MST_PAGE_TABLE_END);
    free(label);
}

/* ---- all figures ------------------------------------------------------------------ */

static void put_line_heads(struct mst_sink *sink, const struct mst_study_section *section)
{
    size_t i;

    mst_html(sink, "<thead><tr><td></td>");
    for (i = 0; i < section->line_count; i++) {
        const struct mst_study_case *c = mst_study_heaviest(section, i);
        char *label = c != NULL ? mst_study_label(section, c) : NULL;

        if (label != NULL)
            mst_html(sink, "<th scope=\"col\">%s</th>", label);
        free(label);
    }
    mst_html(sink, "</tr></thead><tbody>\n");
}

static size_t count_lines(const struct mst_study_section *section)
{
    size_t count = 0, i;

    for (i = 0; i < section->line_count; i++)
        count += mst_study_heaviest(section, i) != NULL;
    return count;
}

void mst_study_table_all(struct mst_sink *sink, const struct mst_study_section *section)
{
    const char *group = "";
    size_t row, i;

    mst_html(sink, "<h3>All figures</h3>\n<p class=\"note\">The mean of the repetitions and its "
             "95 %% interval%s.</p>\n", section->x_name != NULL ?
             ", of the heaviest load that each came to" : "");
    mst_page_table(sink, "All figures", "numbers");
    put_line_heads(sink, section);
    for (row = 0; row < mst_study_row_count; row++) {
        enum mst_metric_id metric = mst_study_rows[row].metric;

        if (!mst_study_is_known(section, metric))
            continue;
        if (strcmp(group, mst_study_rows[row].group) != 0)
            mst_page_group(sink, mst_study_rows[row].group, count_lines(section));
        group = mst_study_rows[row].group;
        mst_html(sink, "<tr data-metric=\"%s\"><th scope=\"row\">%s</th>",
                 mst_metrics[metric].study, mst_metrics[metric].study_label);
        for (i = 0; i < section->line_count; i++) {
            const struct mst_study_case *c = mst_study_heaviest(section, i);

            if (c != NULL)
                put_estimate_cell(sink, metric, c);
        }
        mst_html(sink, "</tr>\n");
    }
    mst_html(sink, MST_PAGE_TABLE_END);
}

/* ---- every case ------------------------------------------------------------------- */

static void put_case(struct mst_sink *sink, const struct mst_study_section *section,
                     const struct mst_study_case *c, const enum mst_metric_id *columns,
                     size_t count)
{
    char *label = mst_study_label(section, c);
    size_t i;

    mst_html(sink, "<tr><th scope=\"row\">%s</th><td>%zu of %zu</td>", label, c->run_count,
             c->planned);
    for (i = 0; i < count; i++)
        put_estimate_cell(sink, columns[i], c);
    mst_html(sink, "</tr>\n");
    free(label);
}

void mst_study_table_cases(struct mst_sink *sink, const struct mst_study_section *section)
{
    static const enum mst_metric_id candidates[] = {
        MST_M_RATE, MST_M_TAKEN, MST_M_MEAN, MST_M_P50, MST_M_P99, MST_M_ERRORS, MST_M_QUEUE,
        MST_M_PHP_WAIT, MST_M_OCCUPANCY, MST_M_PHP_OCCUPANCY, MST_M_SPAWN_FIRST, MST_M_SPAWN_ALL,
        MST_M_PSS,
    };
    enum mst_metric_id columns[sizeof candidates / sizeof *candidates];
    size_t count = 0, i;

    if (section->x_name == NULL)
        return;
    for (i = 0; i < sizeof candidates / sizeof *candidates; i++)
        if (mst_study_is_known(section, candidates[i]))
            columns[count++] = candidates[i];
    mst_html(sink, "<details><summary>All %zu cases</summary>\n", section->case_count);
    mst_page_table(sink, "All cases", "cases");
    mst_html(sink, "<thead><tr><th scope=\"col\">case</th><th scope=\"col\">runs</th>");
    for (i = 0; i < count; i++)
        mst_html(sink, "<th scope=\"col\">%s</th>", mst_metrics[columns[i]].study_label);
    mst_html(sink, "</tr></thead><tbody>\n");
    for (i = 0; i < section->case_count; i++)
        put_case(sink, section, &section->cases[i], columns, count);
    mst_html(sink, MST_PAGE_TABLE_END "</details>\n");
}
