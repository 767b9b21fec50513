/* side_by_side.c - the figures of runs, a column for each: see side_by_side.h. */
#include "report/side_by_side.h"

#include <stdio.h>
#include <string.h>

#include "doc/markup.h"
#include "doc/table.h"
#include "report/html_run.h"
#include "report/metrics.h"

#define TEXT_RUNS 4u       /* text has at most so many runs in a table */

static uint64_t value_of(const struct mst_report *report, size_t run, enum mst_metric_id m)
{
    return mst_metric_get(&mst_metrics[m], &report->runs[run].summary);
}

/* An optional figure is shown where a run has it. */
static bool is_shown(const struct mst_report *report, enum mst_metric_id m)
{
    size_t i = 0;

    if (mst_metrics[m].group == NULL)
        return false;
    while (mst_metrics[m].optional && i < report->count &&
           !mst_metric_is_had(&mst_metrics[m], value_of(report, i, m)))
        i++;
    return i < report->count;
}

/* Runs that stand in one table, and its columns: the figure's name, and each run. */
struct side_by_side {
    const struct mst_report *report;
    size_t                   first, end;
    struct mst_doc_column   *columns;
};

static void begin_table(struct mst_doc_table *t, const struct side_by_side *of)
{
    mst_doc_table_begin(t, of->columns, 1 + of->end - of->first);
}

static void put_row(struct mst_doc_table *t, const struct side_by_side *of, enum mst_metric_id m,
                    const char *group)
{
    size_t i;

    mst_doc_row(t, MST_STYLE_PLAIN);
    mst_doc_key(t, mst_metrics[m].column);
    mst_doc_words(t, "%s%s%s", group, group[0] != '\0' ? ": " : "", mst_metrics[m].label);
    for (i = of->first; i < of->end; i++)
        mst_doc_number_of(t, mst_metrics[m].unit, value_of(of->report, i, m));
}

static void make_columns(struct side_by_side *of)
{
    size_t i;

    of->columns = apr_pcalloc(of->report->pool, (1 + of->end - of->first) * sizeof *of->columns);
    of->columns[0] = (struct mst_doc_column){ "figure", .kind = MST_DOC_NAME };
    for (i = of->first; i < of->end; i++)
        of->columns[1 + i - of->first].name = of->report->runs[i].title;
}

/* ---- brief ----------------------------------------------------------------------- */

static void put_brief(const struct mst_doc *doc, struct side_by_side *of)
{
    struct mst_doc_table t;
    enum mst_metric_id m;

    begin_table(&t, of);
    for (m = 0; m < MST_M_COUNT; m++)
        if (mst_metrics[m].brief && is_shown(of->report, m))
            put_row(&t, of, m, mst_metrics[m].group);
    mst_doc_table_end(&t, doc, "The runs side by side", "numbers");
}

void mst_side_by_side_brief(const struct mst_doc *doc, const struct mst_report *report)
{
    size_t most = doc->format == MST_DOC_TEXT ? TEXT_RUNS : report->count;
    struct side_by_side of = { .report = report };

    for (; of.first < report->count; of.first = of.end) {
        of.end = report->count - of.first < most ? report->count : of.first + most;
        make_columns(&of);
        put_brief(doc, &of);
        mst_doc_space(doc);
    }
}

/* ---- all ------------------------------------------------------------------------- */

/* Also of one that no group shows. */
static bool is_of(enum mst_metric_id m, const char *group)
{
    return mst_metrics[m].group == NULL || strcmp(mst_metrics[m].group, group) == 0;
}

/* One or two runs on a page: a small table for each group, set in columns. */
static void put_groups(const struct mst_doc *doc, const struct side_by_side *of)
{
    const char *group;
    struct mst_doc_table t;
    enum mst_metric_id m = 0;

    mst_html(doc->sink, "<div class=\"groups\">\n");
    while (m < MST_M_COUNT) {
        if (!is_shown(of->report, m)) {
            m++;
            continue;
        }
        group = mst_metrics[m].group;
        begin_table(&t, of);
        mst_doc_captioned(&t);
        for (; m < MST_M_COUNT && is_of(m, group); m++)
            if (is_shown(of->report, m))
                put_row(&t, of, m, "");
        mst_doc_table_end(&t, doc, group, "numbers");
    }
    mst_html(doc->sink, "</div>\n");
}

/* In one table the columns line up. */
static void put_table(const struct mst_doc *doc, const struct side_by_side *of)
{
    const char *group = "";
    struct mst_doc_table t;
    enum mst_metric_id m;

    begin_table(&t, of);
    for (m = 0; m < MST_M_COUNT; m++) {
        if (!is_shown(of->report, m))
            continue;
        if (!is_of(m, group))
            mst_doc_group(&t, mst_metrics[m].group);
        group = mst_metrics[m].group;
        put_row(&t, of, m, "");
    }
    mst_doc_table_end(&t, doc, "Table of runs", "numbers");
}

/* Why a figure that reports show is not known in the run; NULL: it is, or is optional. */
static const char *why_unknown(const struct mst_report *report, size_t run, enum mst_metric_id m)
{
    return mst_metrics[m].group == NULL || mst_metrics[m].optional ||
           value_of(report, run, m) != MST_UNKNOWN ? NULL :
           mst_metric_why(&mst_metrics[m], &report->runs[run].summary);
}

/* Lists what is not known for this reason, and takes it out of `whys`: an entry for each figure of
 * each run. "Client: p50; p99 (of 1 of the 2 runs). Server: p99.9" */
static void list_unknown(FILE *names, const char **whys, size_t runs, const char *reason)
{
    const char *group = "";
    enum mst_metric_id m;
    size_t i, count;

    for (m = 0; m < MST_M_COUNT; m++, whys += runs) {
        for (i = 0, count = 0; i < runs; i++)
            if (whys[i] != NULL && strcmp(whys[i], reason) == 0) {
                whys[i] = NULL;
                count++;
            }
        if (count == 0)
            continue;
        if (strcmp(group, mst_metrics[m].group) != 0)
            fprintf(names, "%s%s: ", group[0] != '\0' ? ". " : "", mst_metrics[m].group);
        else
            fputs("; ", names);
        fputs(mst_metrics[m].label, names);
        if (count < runs)
            fprintf(names, " (of %zu of the %zu runs)", count, runs);
        group = mst_metrics[m].group;
    }
}

static void put_reason(const struct mst_doc *doc, apr_pool_t *pool, const char **whys, size_t runs,
                       const char *reason)
{
    struct mst_stream names;

    list_unknown(mst_stream_begin(&names), whys, runs, reason);
    mst_doc_item(doc, MST_STYLE_PLAIN, reason, mst_stream_end(&names, pool));
}

/* Each reason, with what is not known for it. */
static void put_unknown(const struct mst_doc *doc, const struct mst_report *report)
{
    size_t runs = report->count, i;
    const char **whys = apr_pcalloc(report->pool, MST_M_COUNT * runs * sizeof *whys);
    bool begun = false;

    for (i = 0; i < MST_M_COUNT * runs; i++)
        whys[i] = why_unknown(report, i % runs, (enum mst_metric_id)(i / runs));
    for (i = 0; i < MST_M_COUNT * runs; i++) {
        if (whys[i] == NULL)
            continue;
        if (!begun)
            mst_doc_details_begin(doc, "What is not known, and why");
        begun = true;
        put_reason(doc, report->pool, whys, runs, whys[i]);
    }
    if (begun)
        mst_doc_details_end(doc);
}

void mst_side_by_side_all(const struct mst_doc *doc, const struct mst_report *report)
{
    struct side_by_side of = { .report = report, .end = report->count };

    make_columns(&of);
    if (doc->format == MST_DOC_HTML && report->count <= MST_HTML_RUNS_IN_GROUPS)
        put_groups(doc, &of);
    else
        put_table(doc, &of);
    put_unknown(doc, report);
}
