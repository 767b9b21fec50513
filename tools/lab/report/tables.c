/* tables.c - the tables of a study's section: see tables.h. */
#include "lab/report/tables.h"

#include <math.h>
#include <stdio.h>
#include <string.h>

#include "doc/table.h"
#include "lab/report/estimates.h"
#include "lab/report/figures.h"
#include "lab/report/parts.h"
#include "lab/report/published.h"

/* ---- cells ------------------------------------------------------------------------ */

/* Our mean, and its interval; without one, the least and the most of the repetitions. */
static void put_estimate(struct mst_doc_table *t, const struct mst_study_case *c,
                         enum mst_metric_id metric)
{
    enum mst_quantity unit = mst_metrics[metric].unit;
    struct mst_estimate e = c != NULL ? mst_estimate_of(c, metric)
                                      : (struct mst_estimate){ .mean = NAN };
    bool bounded = isfinite(e.low);
    double low = bounded ? e.low : e.least, high = bounded ? e.high : e.most;

    mst_doc_real(t, e.mean, mst_study_format(unit, e.mean).text);
    if (e.count > 0 && low < high)
        mst_doc_sub(t, "%s – %s", mst_study_format(unit, low).text,
                    mst_study_format(unit, high).text);
}

/* The columns of a table: one of names, and these figures'; keyed: their cells have the figures
 * themselves. */
static struct mst_doc_column *make_columns(apr_pool_t *pool, const char *name,
                                           const enum mst_metric_id *figures, size_t count,
                                           bool keyed)
{
    struct mst_doc_column *columns = apr_pcalloc(pool, (1 + count) * sizeof *columns);
    size_t i;

    columns[0] = (struct mst_doc_column){ name, .kind = MST_DOC_NAME };
    for (i = 0; i < count; i++)
        columns[1 + i] = (struct mst_doc_column){ mst_metrics[figures[i]].study_label,
                                                  .key = keyed ? mst_metrics[figures[i]].study
                                                               : NULL };
    return columns;
}

/* ---- published and ours ------------------------------------------------------------ */

/* The original's name of the system, and the case that stands for it here. */
static void put_system(struct mst_doc_table *t, const struct mst_study_section *section,
                       size_t row, const struct mst_study_case *c)
{
    int column = mst_published_column(section->published, MST_PUBLISHED_SYSTEM);
    const char *theirs = column >= 0 ? section->published->rows.items[row].words[column] : NULL;
    const char *ours = c != NULL ? mst_study_label(section, c) : NULL;

    mst_doc_words(t, "%s", theirs != NULL ? theirs : ours != NULL ? ours : "");
    if (theirs != NULL && (ours == NULL || strcmp(theirs, ours) != 0))
        mst_doc_sub(t, "%s", ours != NULL ? ours : "not run here");
}

static void put_published(struct mst_doc_table *t, const struct mst_study_section *section,
                          size_t row, enum mst_metric_id metric, const struct mst_study_case *c)
{
    double theirs = mst_published_value(section, row, metric);

    put_estimate(t, c, metric);
    if (isfinite(theirs))
        mst_doc_published(t, "%s", mst_study_format(mst_metrics[metric].unit, theirs).text);
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

/* "× 1.35"; "1" of the reference itself. */
static struct mst_formatted say_ratio(double ratio)
{
    struct mst_formatted said = { "1" }, number = mst_study_ratio(ratio);

    if (ratio != 1)
        snprintf(said.text, sizeof said.text, "× %.*s", (int)sizeof said.text - 5, number.text);
    return said;
}

static void put_ratio(struct mst_doc_table *t, const struct mst_study_section *section, size_t row,
                      enum mst_metric_id metric, const struct mst_study_case *c)
{
    const struct mst_study_case *reference = mst_reference_of(section);
    size_t to = reference_row(section);
    double theirs = mst_published_value(section, row, metric) /
                    (to > 0 ? mst_published_value(section, to, metric) : NAN);
    struct mst_ratio r = { .ratio = NAN };

    if (c != NULL && c == reference)
        r = (struct mst_ratio){ .known = true, .ratio = 1 };
    else if (c != NULL && reference != NULL)
        r = mst_ratio_of(c, reference, metric);
    mst_doc_real(t, r.known ? r.ratio : NAN, say_ratio(r.ratio).text);
    if (r.bounded)
        mst_doc_sub(t, "%s – %s", mst_study_ratio(r.low).text, mst_study_ratio(r.high).text);
    if (isfinite(theirs))
        mst_doc_published(t, "%s", say_ratio(theirs).text);
}

typedef void put_cell(struct mst_doc_table *t, const struct mst_study_section *section, size_t row,
                      enum mst_metric_id metric, const struct mst_study_case *c);

/* Figures of a section. */
struct figures {
    const struct mst_study_section *section;
    enum mst_metric_id              items[MST_STUDY_FIGURES_MAX];
    size_t                          count;
};

static void put_row(struct mst_doc_table *t, const struct figures *figures, size_t row,
                    const struct mst_study_case *c, put_cell *put)
{
    size_t i;

    mst_doc_row(t, MST_STYLE_PLAIN);
    put_system(t, figures->section, row, c);
    for (i = 0; i < figures->count; i++)
        put(t, figures->section, row, figures->items[i], c);
}

/* Each published row with each case that stands for it. */
static void put_rows(const struct mst_doc *doc, const struct figures *figures, put_cell *put,
                     const char *name)
{
    const struct mst_study_section *section = figures->section;
    struct mst_doc_table t;
    size_t row, i, found;

    mst_doc_table_begin(&t, make_columns(section->pool, "system", figures->items, figures->count,
                                         put == put_published), 1 + figures->count);
    for (row = 1; row < section->published->rows.count; row++) {
        for (i = 0, found = 0; i < section->case_count; i++) {
            if (section->cases[i].run_count == 0 ||
                !mst_published_is(section, row, &section->cases[i]))
                continue;
            put_row(&t, figures, row, &section->cases[i], put);
            found++;
        }
        if (found == 0)
            put_row(&t, figures, row, NULL, put);
    }
    mst_doc_table_end(&t, doc, name, "beside");
}

void mst_study_table_published(const struct mst_doc *doc, const struct mst_study_section *section)
{
    struct figures figures = { .section = section };
    const struct mst_study_case *reference = mst_reference_of(section);

    if (section->published == NULL)
        return;
    figures.count = mst_study_figures(section, figures.items);
    mst_doc_heading(doc, "The original's table, and ours");
    mst_doc_explain(doc, "Ours first: the mean of the repetitions and its 95 % interval (with "
                    "fewer than three: how far they reach). Then what was published.");
    put_rows(doc, &figures, put_published, "Published and ours");
    if (reference == NULL)
        return;
    mst_doc_heading(doc, "In relation to %s", mst_study_label(section, reference));
    mst_doc_explain(doc, "What can be compared across machines: how many times as much as the "
                    "reference, with the 95 % interval; then what was published.");
    put_rows(doc, &figures, put_ratio, "Ratios, published and ours");
}

/* ---- all figures ------------------------------------------------------------------ */

/* A column for each line whose heaviest case was run, with the case's label. */
struct lines {
    struct mst_doc_column        *columns;
    const struct mst_study_case **cases;
    size_t                        count;
};

static struct lines lines_of(const struct mst_study_section *section)
{
    struct lines lines = {
        .columns = apr_pcalloc(section->pool, (1 + section->line_count) * sizeof *lines.columns),
        .cases = apr_pcalloc(section->pool, (1 + section->line_count) * sizeof *lines.cases),
    };
    const struct mst_study_case *c;
    size_t i;

    lines.columns[0] = (struct mst_doc_column){ "figure", .kind = MST_DOC_NAME };
    for (i = 0; i < section->line_count; i++) {
        if ((c = mst_study_heaviest(section, i)) == NULL)
            continue;
        lines.cases[lines.count++] = c;
        lines.columns[lines.count].name = mst_study_label(section, c);
    }
    return lines;
}

static void put_figures(const struct mst_doc *doc, const struct mst_study_section *section,
                        const struct lines *lines)
{
    const char *group = "";
    struct mst_doc_table t;
    size_t row, i;

    mst_doc_table_begin(&t, lines->columns, 1 + lines->count);
    for (row = 0; row < mst_study_row_count; row++) {
        enum mst_metric_id metric = mst_study_rows[row].metric;

        if (!mst_study_is_known(section, metric))
            continue;
        if (strcmp(group, mst_study_rows[row].group) != 0)
            mst_doc_group(&t, mst_study_rows[row].group);
        group = mst_study_rows[row].group;
        mst_doc_row(&t, MST_STYLE_PLAIN);
        mst_doc_key(&t, mst_metrics[metric].study);
        mst_doc_words(&t, "%s", mst_metrics[metric].study_label);
        for (i = 0; i < lines->count; i++)
            put_estimate(&t, lines->cases[i], metric);
    }
    mst_doc_table_end(&t, doc, "All figures", "numbers");
}

void mst_study_table_all(const struct mst_doc *doc, const struct mst_study_section *section)
{
    const struct lines lines = lines_of(section);

    mst_doc_heading(doc, "All figures");
    mst_doc_explain(doc, section->x_name != NULL ?
                    "The mean of the repetitions and its 95 % interval, of the heaviest load that "
                    "each came to." : "The mean of the repetitions and its 95 % interval.");
    put_figures(doc, section, &lines);
}

/* ---- every case ------------------------------------------------------------------- */

static void put_case(struct mst_doc_table *t, const struct mst_study_section *section,
                     const struct mst_study_case *c, const enum mst_metric_id *figures,
                     size_t count)
{
    size_t i;

    mst_doc_row(t, MST_STYLE_PLAIN);
    mst_doc_words(t, "%s", mst_study_label(section, c));
    if (c->run_count < c->planned)
        mst_doc_sub(t, "%zu of %zu runs", c->run_count, c->planned);
    for (i = 0; i < count; i++)
        put_estimate(t, c, figures[i]);
}

void mst_study_table_cases(const struct mst_doc *doc, const struct mst_study_section *section)
{
    static const enum mst_metric_id candidates[] = {
        MST_M_RATE, MST_M_TAKEN, MST_M_MEAN, MST_M_P50, MST_M_P99, MST_M_ERRORS, MST_M_QUEUE,
        MST_M_PHP_WAIT, MST_M_OCCUPANCY, MST_M_PHP_OCCUPANCY, MST_M_SPAWN_FIRST, MST_M_SPAWN_ALL,
        MST_M_PSS,
    };
    enum mst_metric_id figures[sizeof candidates / sizeof *candidates];
    struct mst_doc_table t;
    char summary[64];
    size_t count = 0, i;

    if (section->x_name == NULL)
        return;
    for (i = 0; i < sizeof candidates / sizeof *candidates; i++)
        if (mst_study_is_known(section, candidates[i]))
            figures[count++] = candidates[i];
    snprintf(summary, sizeof summary, "All %zu cases", section->case_count);
    mst_doc_details_begin(doc, summary);
    mst_doc_table_begin(&t, make_columns(section->pool, "case", figures, count, true), 1 + count);
    for (i = 0; i < section->case_count; i++)
        put_case(&t, section, &section->cases[i], figures, count);
    mst_doc_table_end(&t, doc, "All cases", "cases");
    mst_doc_details_end(doc);
}
