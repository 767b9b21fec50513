/* study_markdown.c - a study for a pull request, or to be read as it is: see
 * study_report.h.
 */
#include <inttypes.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "lab/report/study_report.h"
#include "lab/report/study_parts.h"

static void put(struct mst_sink *sink, const char *markdown)
{
    mst_sink_puts(sink, markdown);
}

static void text(struct mst_sink *sink, const char *string)
{
    mst_sink_markdown_string(sink, string);
}

static void paragraph(struct mst_sink *sink, const char *string)
{
    if (string == NULL || string[0] == '\0')
        return;
    text(sink, string);
    put(sink, "\n\n");
}

/* ---- sentences -------------------------------------------------------------------- */

static void put_sayings(struct mst_sink *sink, const struct mst_sayings *sayings,
                        enum mst_saying_kind kind)
{
    const struct mst_study_section *section = NULL;
    bool begun = false;
    size_t i;

    for (i = 0; i < sayings->count; i++) {
        const struct mst_saying *saying = &sayings->items[i];

        if (saying->kind != kind)
            continue;
        if (!begun) {
            put(sink, "### ");
            put(sink, mst_saying_titles[kind]);
            put(sink, "\n\n");
        }
        begun = true;
        if (kind == MST_SAYING_UNSEEN && saying->section != section) {
            put(sink, section != NULL ? "\n**" : "**");
            text(sink, saying->section->runs->title);
            put(sink, "**\n\n");
            section = saying->section;
        }
        put(sink, "- ");
        if (saying->claim != NULL) {
            put(sink, "*");
            text(sink, saying->claim);
            put(sink, "* ");
        }
        text(sink, saying->text);
        put(sink, "\n");
    }
    put(sink, begun ? "\n" : "");
}

/* ---- tables ----------------------------------------------------------------------- */

static void head(struct mst_sink *sink, const enum mst_study_metric_id *figures, size_t count)
{
    size_t i;

    put(sink, "| system |");
    for (i = 0; i < count; i++) {
        put(sink, " ");
        text(sink, mst_study_metrics[figures[i]].label);
        put(sink, " |");
    }
    put(sink, "\n|---|");
    for (i = 0; i < count; i++)
        put(sink, "--:|");
    put(sink, "\n");
}

static void put_estimate(struct mst_sink *sink, const struct mst_study_case *c,
                         enum mst_study_metric_id metric)
{
    enum mst_study_unit unit = mst_study_metrics[metric].unit;
    struct mst_estimate e = mst_estimate_of(c, metric);

    put(sink, e.count > 0 ? mst_study_human(unit, e.mean).text : "-");
    if (isfinite(e.low) && e.low < e.high) {
        put(sink, " (");
        put(sink, mst_study_human(unit, e.low).text);
        put(sink, " to ");
        put(sink, mst_study_human(unit, e.high).text);
        put(sink, ")");
    }
}

/* Ours, and what was published where the case is in the original's table. */
static void put_row(struct mst_sink *sink, const struct mst_study_section *section,
                    const struct mst_study_case *c, const enum mst_study_metric_id *figures,
                    size_t count)
{
    char *label = mst_study_label(section, c);
    size_t row = 0, i;

    if (section->published != NULL)
        for (row = section->published->rows.count - 1; row > 0; row--)
            if (mst_published_is(section, row, c))
                break;
    put(sink, "| ");
    text(sink, label);
    put(sink, " |");
    for (i = 0; i < count; i++) {
        double theirs = row > 0 ? mst_published_value(section, row, figures[i]) : NAN;

        put(sink, " ");
        put_estimate(sink, c, figures[i]);
        if (isfinite(theirs)) {
            put(sink, "; published ");
            put(sink, mst_study_human(mst_study_metrics[figures[i]].unit, theirs).text);
        }
        put(sink, " |");
    }
    put(sink, "\n");
    free(label);
}

static void put_section(struct mst_sink *sink, const struct mst_study_section *section)
{
    enum mst_study_metric_id figures[MST_STUDY_FIGURES_MAX];
    size_t count = mst_study_figures(section, figures), i;
    char *about = mst_study_about_section(section), *ranking = mst_sayings_ranking(section);

    put(sink, "## ");
    text(sink, section->runs->title);
    put(sink, "\n\n");
    paragraph(sink, about);
    paragraph(sink, ranking);
    if (mst_reference_of(section) != NULL)
        head(sink, figures, count);
    else
        put(sink, "Nothing of this was run.\n");
    for (i = 0; i < section->case_count; i++)
        if (section->cases[i].run_count > 0)
            put_row(sink, section, &section->cases[i], figures, count);
    put(sink, "\n");
    free(about);
    free(ranking);
}

static void put_unrun(struct mst_sink *sink, const struct mst_study_data *data)
{
    size_t i;

    if (data->unrun_count == 0)
        return;
    put(sink, "## What was not run\n\n| step | | why |\n|---|---|---|\n");
    for (i = 0; i < data->unrun_count; i++) {
        const struct mst_study_unrun *u = &data->unrun[i];

        put(sink, "| ");
        text(sink, u->section);
        put(sink, ": ");
        text(sink, u->stack);
        put(sink, ", ");
        text(sink, u->what);
        put(sink, " | ");
        text(sink, u->state);
        put(sink, " | ");
        text(sink, u->failure);
        put(sink, " |\n");
    }
    put(sink, "\n");
}

/* ---- all of it -------------------------------------------------------------------- */

int mst_study_markdown(struct mst_sink *sink, const struct mst_study_data *data,
                       const struct mst_sayings *sayings, char error[MST_ERROR_MAX])
{
    char *about = mst_study_about(data);
    size_t i;
    int kind;

    (void)error;   /* everything is read already */
    put(sink, "# ");
    text(sink, data->study.title);
    put(sink, "\n\n");
    paragraph(sink, data->study.original);
    paragraph(sink, data->study.question);
    paragraph(sink, about);
    paragraph(sink, mst_study_caution);
    for (kind = 0; kind < MST_SAYING_KINDS; kind++)
        put_sayings(sink, sayings, (enum mst_saying_kind)kind);
    for (i = 0; i < data->section_count; i++)
        put_section(sink, &data->sections[i]);
    put_unrun(sink, data);
    put(sink, "Made by mpmstat " MPMSTAT_VERSION " from ");
    text(sink, data->path);
    put(sink, ", begun ");
    mst_sink_instant(sink, data->started_ns);
    put(sink, ", order by seed ");
    mst_sink_u64(sink, data->seed);
    put(sink, ".\n");
    free(about);
    return 0;
}
