/* provenance.c - where a study's numbers come from: see provenance.h. */
#include "lab/report/provenance.h"

#include <inttypes.h>

#include "console/format.h"
#include "doc/markup.h"
#include "report/provenance.h"
#include "segment/terms.h"
#include "stats/bootstrap.h"

static struct mst_query ask(const struct mst_study_data *data, const char *sql)
{
    return mst_query_ask(mst_archive_db(data->archive), sql, data->id);
}

static void put_study(struct mst_doc_table *t, const struct mst_study_data *data)
{
    mst_doc_pair(t, "archive", "%s", data->path);
    mst_doc_pair(t, "study", "%s", data->study.name);
    mst_doc_pair(t, "size", "%s", data->size);
    if (data->only != NULL)
        mst_doc_pair(t, "only these stacks", "%s", data->only);
    if (data->started_ns != MST_UNKNOWN)
        mst_doc_pair(t, "begun", "%s", mst_format_instant(data->started_ns).text);
    if (data->ended_ns != MST_UNKNOWN)
        mst_doc_pair(t, "ended", "%s", mst_format_instant(data->ended_ns).text);
    mst_doc_pair(t, "seed of the order", "%" PRIu64, data->seed);
    mst_doc_pair(t, "intervals", "%s", MST_BOOTSTRAP_METHOD);
}

bool mst_study_provenance_put(const struct mst_doc *doc, const struct mst_study_data *data)
{
    /* What all runs have in common once, else each value that some run had. */
    struct mst_query environment = ask(data,
        "SELECT name, group_concat(DISTINCT value) AS value FROM environment WHERE run_id IN "
        "(SELECT run_id FROM steps WHERE study_id = :id) GROUP BY name ORDER BY name");
    struct mst_query servers = ask(data,
        "SELECT DISTINCT coalesce(steps.stack, '') AS name, "
        "coalesce(servers.server, servers.producer) || coalesce(', ' || servers.mpm, '') || "
        "coalesce(', ' || servers.sapi, '') AS value "
        "FROM steps JOIN servers ON servers.run_id = steps.run_id "
        "WHERE steps.study_id = :id ORDER BY steps.stack, servers.producer");
    struct mst_doc_table t;
    bool fine;

    mst_doc_pairs_begin(&t);
    put_study(&t, data);
    fine = mst_provenance_pairs(&t, &environment);
    fine = mst_provenance_pairs(&t, &servers) && fine;
    mst_doc_table_end(&t, doc, "Provenance", "pairs");
    return fine;
}

/* ---- what it was run from ------------------------------------------------------------------- */

static bool put_commands(struct mst_sink *sink, const struct mst_study_data *data)
{
    struct mst_query q = ask(data,
        "SELECT DISTINCT coalesce(command_line, '') AS command FROM runs WHERE id IN "
        "(SELECT run_id FROM steps WHERE study_id = :id) ORDER BY id");

    mst_html(sink, "<details><summary>The load tools' commands, as executed</summary><pre "
             "tabindex=\"0\">\n");
    while (mst_query_next(&q))
        mst_html(sink, "%s\n", mst_row_text(&q, "command"));
    mst_html(sink, "</pre></details>\n");
    return mst_query_done(&q);
}

static bool put_files(struct mst_sink *sink, const struct mst_study_data *data)
{
    struct mst_query q = ask(data,
        "SELECT kind, name, text FROM study_files WHERE study_id = :id ORDER BY kind, name");

    mst_html(sink, "<details><summary>The study's file, as it was run</summary><pre "
             "tabindex=\"0\">\n%s</pre></details>\n", data->study.text.contents);
    while (mst_query_next(&q))
        mst_html(sink, "<details><summary>%s %s</summary><pre tabindex=\"0\">\n%s</pre></details>"
                 "\n", mst_row_text(&q, "kind"), mst_row_text(&q, "name"),
                 mst_row_text(&q, "text"));
    return mst_query_done(&q);
}

bool mst_study_provenance_html(struct mst_sink *sink, const struct mst_study_data *data)
{
    const struct mst_doc doc = mst_doc_html(sink);
    bool fine;

    mst_html(sink, "<section id=\"provenance\">\n<h2>Provenance</h2>\n<article class=\"card\">\n");
    fine = mst_study_provenance_put(&doc, data);
    if (data->study.notes[0] != '\0')
        mst_html(sink, "<h4>How this differs from the original</h4>\n<p class=\"notes\">%s</p>",
                 data->study.notes);
    fine = fine && put_commands(sink, data) && put_files(sink, data);
    mst_html(sink, "</article>\n</section>\n");
    return fine;
}
