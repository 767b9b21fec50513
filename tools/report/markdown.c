/* markdown.c - runs for a pull request: see report.h. */
#include "archive/archive.h"
#include "doc/markup.h"
#include "doc/table.h"
#include "report/advice.h"
#include "report/code.h"
#include "report/generators.h"
#include "report/needs.h"
#include "report/names.h"
#include "report/parts.h"
#include "report/report.h"
#include "report/resources.h"
#include "report/servers.h"
#include "report/side_by_side.h"
#include "report/sides.h"
#include "report/slowest.h"
#include "report/summary_text.h"

/* What does not hold is bold. */
static void put_checks(const struct mst_doc *doc, const struct mst_summary *s)
{
    static const struct mst_doc_column columns[] = {
        { "check", .kind = MST_DOC_LABEL }, { "holds", .kind = MST_DOC_WORDS },
        { "", .kind = MST_DOC_WORDS },
    };
    static const char *const answers[] = {
        [MST_ANSWER_NO] = "no", [MST_ANSWER_YES] = "yes", [MST_ANSWER_UNKNOWN] = "not known",
    };
    struct mst_doc_table t;
    size_t i;

    mst_doc_table_begin(&t, columns, sizeof columns / sizeof *columns);
    for (i = 0; i < MST_CHECK_COUNT; i++) {
        mst_doc_row(&t, s->checks[i].ok == MST_ANSWER_NO ? MST_STYLE_STRONG : MST_STYLE_PLAIN);
        mst_doc_words(&t, "%s", s->checks[i].name);
        mst_doc_words(&t, "%s", answers[s->checks[i].ok]);
        mst_doc_words(&t, "%s", s->checks[i].text);
    }
    mst_doc_table_end(&t, doc, "Checks", "checks");
}

static void put_findings(const struct mst_doc *doc, const struct mst_summary *s)
{
    static const struct mst_doc_column columns[] = {
        { "finding", .kind = MST_DOC_LABEL }, { "", .kind = MST_DOC_WORDS },
        { "do", .kind = MST_DOC_WORDS },
    };
    char cause[MST_CAUSE_WORDS_MAX];
    struct mst_doc_table t;
    size_t i;

    mst_doc_table_begin(&t, columns, sizeof columns / sizeof *columns);
    for (i = 0; i < s->finding_count; i++) {
        mst_doc_row(&t, MST_STYLE_PLAIN);
        mst_cause_words(cause, &s->findings[i].caused_by);
        mst_doc_words(&t, "%s%s%s", mst_code_names[s->findings[i].code],
                      cause[0] != '\0' ? ", " : "", cause);
        mst_doc_words(&t, "%s", s->findings[i].text);
        mst_doc_words(&t, "%s %s", s->findings[i].action, s->findings[i].predicted);
    }
    mst_doc_table_end(&t, doc, "Findings", "findings");
}

static bool put_run(struct mst_sink *sink, const struct mst_report_run *run)
{
    const struct mst_doc doc = mst_doc_markdown(sink);
    const struct mst_summary *s = &run->summary;
    const struct mst_summary_server *front = mst_summary_front(s);
    size_t i;

    mst_markdown(sink, "### %s\n\n", run->title);
    if (s->command_line != NULL)
        mst_markdown(sink, "Command: %s\n\n", s->command_line);
    if (!s->complete)
        mst_markdown(sink, "**Not complete** (%s): what was recorded until then is shown.\n\n",
                     mst_outcome_names[s->outcome]);
    if (s->thinned[0] != '\0')
        mst_markdown(sink, "%s\n\n", s->thinned);
    mst_markdown(sink, "**%s**\n", s->verdict);
    for (i = 0; i < s->note_count; i++)
        mst_doc_paragraph(&doc, MST_STYLE_WARNING, "%s", s->notes[i]);
    put_findings(&doc, s);
    put_checks(&doc, s);
    mst_servers_put(&doc, s, &(struct mst_text_form){ 0 });
    if (front != NULL && front->requests > 0) {
        mst_parts_by_server(&doc, s);
        if (s->client.known)
            mst_sides_put(&doc, s, &(struct mst_text_form){ 0 });
        mst_parts_put(&doc, front);
    }
    for (i = 0; i < s->server_count; i++)
        mst_ends_put(&doc, s, &s->servers[i]);
    mst_generators_put(&doc, s);
    for (i = 0; i < s->server_count; i++)
        if (!mst_names_put(&doc, &s->servers[i], mst_archive_db(run->archive), MST_NAMES_FEW))
            return false;
    if (!mst_slowest_put(&doc, run, MST_SLOWEST_FEW))
        return false;
    for (i = 0; i < s->server_count; i++)
        if (!mst_code_put(&doc, &s->servers[i], mst_archive_db(run->archive), MST_NAMES_FEW, 0, i))
            return false;
    for (i = 0; i < s->server_count; i++)
        mst_pools_put(&doc, s, &s->servers[i]);
    mst_markdown(sink, "\n");
    return true;
}

int mst_report_markdown(struct mst_sink *sink, const struct mst_report *report,
                        char error[MST_ERROR_MAX])
{
    const struct mst_doc doc = mst_doc_markdown(sink);
    size_t i;

    mst_markdown(sink, "## Load runs, recorded by mpmstat " MPMSTAT_VERSION "\n\n");
    for (i = 0; i < report->count; i++)
        if (!put_run(sink, &report->runs[i]))
            return mst_archive_unreadable(report->runs[i].archive, error);
    mst_markdown(sink, "### Numbers\n");
    mst_side_by_side_brief(&doc, report);
    mst_doc_details_begin(&doc, "All numbers");
    mst_side_by_side_all(&doc, report);
    mst_doc_details_end(&doc);
    mst_markdown(sink, "\n### Sizing\n");
    for (i = 0; i < report->count; i++) {
        if (report->count > 1)
            mst_doc_heading(&doc, "%s", report->runs[i].title);
        mst_needs_put(&doc, &report->runs[i].summary);
        mst_advice_put(&doc, report->runs[i].summary.sizing);
    }
    mst_knee_put(&doc, report);
    return 0;
}
