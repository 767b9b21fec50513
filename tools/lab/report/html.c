/* html.c - the study's page: see report.h.
 *
 * What can be read is here: sentences, tables, provenance. assets/study.js draws the charts from
 * the JSON at the end (json.c).
 */
#include <stdio.h>
#include <string.h>

#include "doc/markup.h"
#include "lab/report/insights.h"
#include "lab/report/parts.h"
#include "lab/report/provenance.h"
#include "lab/report/published.h"
#include "lab/report/report.h"
#include "lab/report/tables.h"
#include "report/page.h"
#include "segment/format.h"

#define SUB_MAX 1024u

/* ---- the head --------------------------------------------------------------------- */

static void put_contents(struct mst_sink *sink, const struct mst_study_data *data)
{
    size_t i;

    mst_html(sink, "<nav aria-label=\"Contents\"><ul>\n"
             "<li><a href=\"#verdict\">What came out</a></li>\n");
    for (i = 0; i < data->section_count; i++)
        mst_html(sink, "<li><a href=\"#runs-%zu\">%s</a></li>\n", i + 1,
                 data->sections[i].runs->title);
    if (data->unrun_count > 0)
        mst_html(sink, "<li><a href=\"#unrun\">What was not run</a></li>\n");
    mst_html(sink, "<li><a href=\"#provenance\">Provenance</a></li>\n</ul></nav>\n");
}

/* ---- sentences -------------------------------------------------------------------- */

static const struct { const char *class, *mark; } marks[MST_INSIGHT_KINDS] = {
    [MST_INSIGHT_HOLDS] = { "yes", "✓" }, [MST_INSIGHT_FAILS] = { "no", "✕" },
    [MST_INSIGHT_UNSURE] = { "maybe", "?" }, [MST_INSIGHT_UNMEASURED] = { "seen", "!" },
};

static void put_finding(struct mst_sink *sink, const struct mst_insight *finding)
{
    mst_html(sink, "<li class=\"%s\"><span class=\"mark\" aria-hidden=\"true\">%s</span> ",
             marks[finding->kind].class, marks[finding->kind].mark);
    if (finding->claim != NULL)
        mst_html(sink, "<q>%s</q> ", finding->claim);
    mst_html(sink, "<span>%s</span></li>\n", finding->text);
}

static size_t count_kind(const struct mst_insights *findings, enum mst_insight_kind kind)
{
    size_t count = 0, i;

    for (i = 0; i < findings->count; i++)
        count += findings->items[i].kind == kind;
    return count;
}

/* Where the study has several sections, findings that are not a claim's are grouped by section. */
static void put_kind(struct mst_sink *sink, const struct mst_study_data *data,
                     const struct mst_insights *findings, enum mst_insight_kind kind)
{
    const struct mst_study_section *section = NULL;
    size_t i;

    if (count_kind(findings, kind) == 0)
        return;
    mst_html(sink, "<article class=\"card sayings\">\n<h3>%s</h3>\n<ul class=\"checks\">\n",
             mst_insight_titles[kind]);
    for (i = 0; i < findings->count; i++) {
        const struct mst_insight *finding = &findings->items[i];

        if (finding->kind != kind)
            continue;
        if (kind == MST_INSIGHT_UNMEASURED && data->section_count > 1 &&
            finding->section != section) {
            section = finding->section;
            mst_html(sink, "</ul>\n<h4>%s</h4>\n<ul class=\"checks\">\n", section->runs->title);
        }
        put_finding(sink, finding);
    }
    mst_html(sink, "</ul>\n</article>\n");
}

/* "Of 8 claims 3 hold, 2 do not, 3 cannot be told." */
static void put_count(struct mst_sink *sink, const struct mst_insights *findings)
{
    size_t holds = count_kind(findings, MST_INSIGHT_HOLDS);
    size_t fails = count_kind(findings, MST_INSIGHT_FAILS);
    size_t unsure = count_kind(findings, MST_INSIGHT_UNSURE), all = holds + fails + unsure;

    if (all > 0)
        mst_html(sink, "<p class=\"verdict\">Of %zu thing%s that the original says, %zu %s here, "
                 "%zu %s not, and %zu cannot be told.</p>\n", all, all == 1 ? "" : "s", holds,
                 holds == 1 ? "holds" : "hold", fails, fails == 1 ? "does" : "do", unsure);
}

static void put_verdict(struct mst_sink *sink, const struct mst_study_data *data,
                        const struct mst_insights *findings)
{
    const char *about = mst_study_about(data);
    int kind;

    mst_html(sink, "<section id=\"verdict\">\n<h2>What came out</h2>\n");
    if (data->study.question[0] != '\0')
        mst_html(sink, "<p class=\"question\">%s</p>", data->study.question);
    if (data->ended_ns == MST_UNKNOWN)
        mst_html(sink, "<p class=\"warning\"><strong>This study has not come to its end.</strong> "
                 "What was run until then is shown.</p>\n");
    put_count(sink, findings);
    mst_html(sink, "<p class=\"note\">%s</p><p class=\"note\">%s</p>\n", about, mst_study_caution);
    for (kind = 0; kind < MST_INSIGHT_KINDS; kind++)
        put_kind(sink, data, findings, (enum mst_insight_kind)kind);
    mst_html(sink, "</section>\n");
}

/* ---- a section -------------------------------------------------------------------- */

static void put_section(struct mst_sink *sink, const struct mst_study_data *data, size_t i)
{
    const struct mst_doc doc = mst_doc_html(sink);
    const struct mst_study_section *section = &data->sections[i];
    const char *about = mst_study_about_section(section);
    const char *ranking = mst_insights_ranking(section);

    mst_html(sink, "<section id=\"runs-%zu\">\n<h2>%s</h2><p class=\"sub\">%s</p>", i + 1,
             section->runs->title, about);
    if (ranking != NULL)
        mst_html(sink, "<p>%s</p>", ranking);
    if (mst_reference_of(section) == NULL) {
        mst_html(sink, "<p>Nothing of this was run.</p>\n");
    } else {
        mst_study_table_published(&doc, section);
        mst_html(sink, "<div class=\"charts\" data-section=\"%zu\">" MST_PAGE_NO_SCRIPT "</div>\n",
                 i);
        mst_study_table_all(&doc, section);
        mst_study_table_cases(&doc, section);
    }
    mst_html(sink, "</section>\n");
}

/* ---- what was not run ------------------------------------------------------------- */

static void put_unrun(struct mst_sink *sink, const struct mst_study_data *data)
{
    size_t i;

    if (data->unrun_count == 0)
        return;
    mst_html(sink, "<section id=\"unrun\">\n<h2>What was not run</h2>\n<p>Each with its reason; "
             "the study went on without it.</p>\n");
    for (i = 0; i < data->unrun_count; i++) {
        const struct mst_study_unrun *u = &data->unrun[i];
        char *failure = apr_pstrdup(data->pool, u->failure != NULL ? u->failure : "");
        char *rest = strchr(failure, '\n');

        if (rest != NULL)
            *rest++ = '\0';
        mst_html(sink, "<article class=\"card\">\n<h3>%s %s: %s</h3>\n<p class=\"sub\">%s, "
                 "repetition %u</p>\n<p class=\"warning\">%s</p>\n", u->stack, u->state,
                 u->section, u->what, u->repetition, failure);
        if (rest != NULL && rest[0] != '\0')
            mst_html(sink, "<pre tabindex=\"0\">%s</pre>", rest);
        mst_html(sink, "</article>\n");
    }
    mst_html(sink, "</section>\n");
}

/* ---- all of it -------------------------------------------------------------------- */

static mst_page_data put_data;
static int put_data(struct mst_sink *sink, const void *of, char *error)
{
    return mst_study_json(sink, of, error);
}

/* "Original, 2013, es". */
static void say_origin(char sub[SUB_MAX], const struct mst_study *study)
{
    snprintf(sub, SUB_MAX, "%s%s%s%s%s%s", study->original[0] != '\0' ? study->original :
             study->name, study->year[0] != '\0' ? ", " : "", study->year,
             study->language[0] != '\0' ? " (" : "", study->language,
             study->language[0] != '\0' ? ")" : "");
}

int mst_study_html(struct mst_sink *sink, const struct mst_study_data *data,
                   const struct mst_insights *findings, char error[MST_ERROR_MAX])
{
    char sub[SUB_MAX];
    const struct mst_html_page page = {
        .kind = MST_PAGE_STUDY, .title = data->study.title, .brand = "mpmstat lab", .sub = sub,
        .skip_to = "verdict", .skip_text = "To what came out",
    };
    size_t i;

    say_origin(sub, &data->study);
    mst_page_begin(sink, &page);
    put_contents(sink, data);
    mst_html(sink, "</header>\n<main>\n");
    put_verdict(sink, data, findings);
    for (i = 0; i < data->section_count; i++)
        put_section(sink, data, i);
    put_unrun(sink, data);
    if (!mst_study_provenance_html(sink, data))
        return mst_archive_unreadable(data->archive, error);
    mst_html(sink, "</main>\n");
    return mst_page_end(sink, &page, put_data, data, error);
}
