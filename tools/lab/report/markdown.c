/* markdown.c - a study for a pull request, or to be read as it is: see
 * report.h.
 */
#include "archive/archive.h"
#include "doc/markup.h"
#include "doc/table.h"
#include "lab/report/parts.h"
#include "lab/report/provenance.h"
#include "lab/report/published.h"
#include "lab/report/report.h"
#include "lab/report/tables.h"

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

/* ---- a section -------------------------------------------------------------------- */

static void put_section(struct mst_sink *sink, const struct mst_study_section *section)
{
    const struct mst_doc doc = mst_doc_markdown(sink);

    mst_markdown(sink, "## %s\n\n", section->runs->title);
    put_paragraph(sink, mst_study_about_section(section));
    put_paragraph(sink, mst_insights_ranking(section));
    if (mst_reference_of(section) == NULL) {
        mst_markdown(sink, "Nothing of this was run.\n");
    } else {
        mst_study_table_published(&doc, section);
        mst_study_table_all(&doc, section);
        mst_study_table_cases(&doc, section);
    }
    mst_markdown(sink, "\n");
}

static void put_unrun(struct mst_sink *sink, const struct mst_study_data *data)
{
    static const struct mst_doc_column columns[] = {
        { "step", .kind = MST_DOC_LABEL }, { "", .kind = MST_DOC_WORDS },
        { "why", .kind = MST_DOC_WORDS },
    };
    const struct mst_doc doc = mst_doc_markdown(sink);
    struct mst_doc_table t;
    size_t i;

    if (data->unrun_count == 0)
        return;
    mst_markdown(sink, "## What was not run\n");
    mst_doc_table_begin(&t, columns, sizeof columns / sizeof *columns);
    for (i = 0; i < data->unrun_count; i++) {
        const struct mst_study_unrun *u = &data->unrun[i];

        mst_doc_row(&t, MST_STYLE_PLAIN);
        mst_doc_words(&t, "%s: %s, %s", u->section, u->stack, u->what);
        mst_doc_words(&t, "%s", u->state);
        mst_doc_words(&t, "%s", u->failure != NULL ? u->failure : "");
    }
    mst_doc_table_end(&t, &doc, "What was not run", "unrun");
    mst_markdown(sink, "\n");
}

/* ---- all of it -------------------------------------------------------------------- */

int mst_study_markdown(struct mst_sink *sink, const struct mst_study_data *data,
                       const struct mst_insights *findings, char error[MST_ERROR_MAX])
{
    const struct mst_doc doc = mst_doc_markdown(sink);
    size_t i;
    int kind;

    mst_markdown(sink, "# %s\n\n", data->study.title);
    put_paragraph(sink, data->study.original);
    put_paragraph(sink, data->study.question);
    put_paragraph(sink, mst_study_about(data));
    put_paragraph(sink, mst_study_caution);
    for (kind = 0; kind < MST_INSIGHT_KINDS; kind++)
        put_findings(sink, findings, (enum mst_insight_kind)kind);
    for (i = 0; i < data->section_count; i++)
        put_section(sink, &data->sections[i]);
    put_unrun(sink, data);
    mst_markdown(sink, "## Provenance\n");
    if (!mst_study_provenance_put(&doc, data))
        return mst_archive_unreadable(data->archive, error);
    mst_markdown(sink, "\nMade by mpmstat " MPMSTAT_VERSION ".\n");
    return 0;
}
