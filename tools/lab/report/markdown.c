/* markdown.c - a study for a pull request, or to be read as it is: see
 * report.h.
 */
#include <inttypes.h>
#include <math.h>
#include <stdlib.h>

#include "doc/markup.h"
#include "lab/report/estimates.h"
#include "lab/report/figures.h"
#include "lab/report/parts.h"
#include "lab/report/published.h"
#include "lab/report/report.h"

static void put_paragraph(struct mst_sink *sink, const char *string)
{
    if (string != NULL && string[0] != '\0')
        mst_markdown(sink, "%s\n\n", string);
}

/* ---- sentences -------------------------------------------------------------------- */

static void put_findings(struct mst_sink *sink, const struct mst_insights *findings,
                        enum mst_insight_kind kind)
{
    const struct mst_study_section *section = NULL;
    bool begun = false;
    size_t i;

    for (i = 0; i < findings->count; i++) {
        const struct mst_insight *finding = &findings->items[i];

        if (finding->kind != kind)
            continue;
        if (!begun)
            mst_markdown(sink, "### %s\n\n", mst_insight_titles[kind]);
        begun = true;
        if (kind == MST_INSIGHT_UNMEASURED && finding->section != section) {
            mst_markdown(sink, section != NULL ? "\n**%s**\n\n" : "**%s**\n\n",
                         finding->section->runs->title);
            section = finding->section;
        }
        if (finding->claim != NULL)
            mst_markdown(sink, "- *%s* %s\n", finding->claim, finding->text);
        else
            mst_markdown(sink, "- %s\n", finding->text);
    }
    mst_markdown(sink, begun ? "\n" : "");
}

/* ---- tables ----------------------------------------------------------------------- */

static void put_head(struct mst_sink *sink, const enum mst_metric_id *figures, size_t count)
{
    size_t i;

    mst_markdown(sink, "| system |");
    for (i = 0; i < count; i++)
        mst_markdown(sink, " %s |", mst_metrics[figures[i]].study_label);
    mst_markdown(sink, "\n|---|");
    for (i = 0; i < count; i++)
        mst_markdown(sink, "--:|");
    mst_markdown(sink, "\n");
}

static void put_estimate(struct mst_sink *sink, const struct mst_study_case *c,
                         enum mst_metric_id metric)
{
    enum mst_quantity unit = mst_metrics[metric].unit;
    struct mst_estimate e = mst_estimate_of(c, metric);

    mst_markdown(sink, " %s", e.count > 0 ? mst_study_format(unit, e.mean).text : "-");
    if (isfinite(e.low) && e.low < e.high)
        mst_markdown(sink, " (%s to %s)", mst_study_format(unit, e.low).text,
                     mst_study_format(unit, e.high).text);
}

/* Our figures, each with the published one where the original's table has the case. */
static void put_row(struct mst_sink *sink, const struct mst_study_section *section,
                    const struct mst_study_case *c, const enum mst_metric_id *figures,
                    size_t count)
{
    char *label = mst_study_label(section, c);
    size_t row = 0, i;

    if (section->published != NULL)
        for (row = section->published->rows.count - 1; row > 0; row--)
            if (mst_published_is(section, row, c))
                break;
    mst_markdown(sink, "| %s |", label);
    for (i = 0; i < count; i++) {
        double theirs = row > 0 ? mst_published_value(section, row, figures[i]) : NAN;

        put_estimate(sink, c, figures[i]);
        if (isfinite(theirs))
            mst_markdown(sink, "; published %s",
                         mst_study_format(mst_metrics[figures[i]].unit, theirs).text);
        mst_markdown(sink, " |");
    }
    mst_markdown(sink, "\n");
    free(label);
}

static void put_section(struct mst_sink *sink, const struct mst_study_section *section)
{
    enum mst_metric_id figures[MST_STUDY_FIGURES_MAX];
    size_t count = mst_study_figures(section, figures), i;
    char *about = mst_study_about_section(section), *ranking = mst_insights_ranking(section);

    mst_markdown(sink, "## %s\n\n", section->runs->title);
    put_paragraph(sink, about);
    put_paragraph(sink, ranking);
    if (mst_reference_of(section) != NULL)
        put_head(sink, figures, count);
    else
        mst_markdown(sink, "Nothing of this was run.\n");
    for (i = 0; i < section->case_count; i++)
        if (section->cases[i].run_count > 0)
            put_row(sink, section, &section->cases[i], figures, count);
    mst_markdown(sink, "\n");
    free(about);
    free(ranking);
}

static void put_unrun(struct mst_sink *sink, const struct mst_study_data *data)
{
    size_t i;

    if (data->unrun_count == 0)
        return;
    mst_markdown(sink, "## What was not run\n\n| step | | why |\n|---|---|---|\n");
    for (i = 0; i < data->unrun_count; i++) {
        const struct mst_study_unrun *u = &data->unrun[i];

        mst_markdown(sink, "| %s: %s, %s | %s | %s |\n", u->section, u->stack, u->what, u->state,
                     u->failure);
    }
    mst_markdown(sink, "\n");
}

/* ---- all of it -------------------------------------------------------------------- */

int mst_study_markdown(struct mst_sink *sink, const struct mst_study_data *data,
                       const struct mst_insights *findings, char error[MST_ERROR_MAX])
{
    char *about = mst_study_about(data);
    size_t i;
    int kind;

    (void)error;   /* everything is read already */
    mst_markdown(sink, "# %s\n\n", data->study.title);
    put_paragraph(sink, data->study.original);
    put_paragraph(sink, data->study.question);
    put_paragraph(sink, about);
    put_paragraph(sink, mst_study_caution);
    for (kind = 0; kind < MST_INSIGHT_KINDS; kind++)
        put_findings(sink, findings, (enum mst_insight_kind)kind);
    for (i = 0; i < data->section_count; i++)
        put_section(sink, &data->sections[i]);
    put_unrun(sink, data);
    mst_markdown(sink, "Made by mpmstat " MPMSTAT_VERSION " from %s, begun ", data->path);
    mst_sink_instant(sink, data->started_ns);
    mst_markdown(sink, ", order by seed %" PRIu64 ".\n", data->seed);
    free(about);
    return 0;
}
