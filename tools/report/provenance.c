/* provenance.c - where a run's numbers come from: see provenance.h. */
#include "report/provenance.h"

#include <inttypes.h>
#include <stdio.h>
#include <string.h>

#include "archive/archive.h"
#include "archive/states.h"
#include "base/saturate.h"
#include "console/format.h"
#include "doc/markup.h"

#define OUTPUT_SHOWN 65536u   /* bytes of what the load tool printed: the end of it */

static void put_recording(struct mst_doc_table *t, const struct mst_summary *s)
{
    char end[64] = "";

    if (s->exit_signal != MST_UNKNOWN)
        snprintf(end, sizeof end, ", ended by signal %" PRIu64, s->exit_signal);
    else if (s->exit_status != MST_UNKNOWN)
        snprintf(end, sizeof end, ", exit status %" PRIu64, s->exit_status);
    mst_doc_pair(t, "run", "%" PRId64 ", begun %s, %s%s", s->id,
                 mst_format_instant(s->started_ns).text, mst_outcome_names[s->outcome], end);
    if (s->added != NULL)
        mst_doc_pair(t, "flags that mpmstat added", "%s", s->added);
}

/* "; its clock was 3 ms ahead of the recorder's, to 1 ms, which is taken off" */
struct clock { char text[160]; };

static struct clock clock_of(struct mst_query *q)
{
    int64_t ahead_ns = mst_row_id(q, "clock_ahead_ns");
    uint64_t uncertainty_ns = mst_row_number(q, "clock_uncertainty_ns");
    struct clock c = { "" };

    if (uncertainty_ns != MST_UNKNOWN)
        snprintf(c.text, sizeof c.text, "; its clock was %s %s the recorder's, to %s, which is "
                 "taken off", mst_format_time(mst_magnitude(ahead_ns)).text,
                 ahead_ns >= 0 ? "ahead of" : "behind", mst_format_time(uncertainty_ns).text);
    return c;
}

bool mst_provenance_pairs(struct mst_doc_table *t, struct mst_query *rows)
{
    const char *value;

    while (mst_query_next(rows)) {
        value = mst_row_text(rows, "value");
        if (value != NULL)
            mst_doc_pair(t, mst_row_text(rows, "name"), "%s", value);
    }
    return mst_query_done(rows);
}

static bool put_servers(struct mst_doc_table *t, sqlite3 *db, int64_t run_id)
{
    struct mst_query q = mst_query_ask(db,
        "SELECT coalesce(producer, '') AS producer, coalesce(server, '') || "
        "coalesce(', ' || mpm, '') || coalesce(', ' || sapi, '') AS server, "
        "coalesce(name || ', ', '') || 'read from ' || target || "
        "coalesce('; mpmstat ' || version || ' in it', '') AS read_from, clock_ahead_ns, "
        "clock_uncertainty_ns FROM servers WHERE run_id = :id AND target IS NOT NULL ORDER BY id",
        run_id);

    while (mst_query_next(&q))
        mst_doc_pair(t, mst_row_text(&q, "producer"), "%s; %s%s", mst_row_text(&q, "server"),
                     mst_row_text(&q, "read_from"), clock_of(&q).text);
    return mst_query_done(&q);
}

static bool put_pairs(const struct mst_doc *doc, const struct mst_report_run *run)
{
    sqlite3 *db = mst_archive_db(run->archive);
    struct mst_doc_table t;
    bool fine;

    mst_doc_pairs_begin(&t);
    mst_doc_pair(&t, "archive", "%s", run->path);
    put_recording(&t, &run->summary);
    fine = put_servers(&t, db, run->summary.id);
    if (fine) {
        struct mst_query rows = mst_query_ask(db, "SELECT name, value FROM environment "
                                              "WHERE run_id = :id ORDER BY name", run->summary.id);

        fine = mst_provenance_pairs(&t, &rows);
    }
    mst_doc_table_end(&t, doc, "Provenance", "pairs");
    return fine;
}

/* ---- what the load tool printed ------------------------------------------------------------- */

/* The column's whole text: a NUL in it becomes U+FFFD. */
static void put_bytes(struct mst_sink *sink, struct mst_query *q, const char *column)
{
    const char *at = mst_row_text(q, column);
    const char *end = at != NULL ? at + mst_row_text_bytes(q, column) : NULL;

    for (; at < end; at += strlen(at) + 1)
        mst_html(sink, at + strlen(at) < end ? "%s\xef\xbf\xbd" : "%s", at);
}

/* The end of it: the results stand there. */
static bool put_output(struct mst_sink *sink, const struct mst_report_run *run)
{
    struct mst_query q = mst_query_ask(mst_archive_db(run->archive),
        "SELECT stream, bytes, CAST(substr(content, -:shown) AS TEXT) AS text FROM output "
        "WHERE run_id = :id ORDER BY stream DESC", run->summary.id);

    mst_query_set(&q, ":shown", OUTPUT_SHOWN);
    while (mst_query_next(&q)) {
        uint64_t bytes = mst_row_number(&q, "bytes");

        if (bytes == 0)
            continue;
        mst_html(sink, "<details class=\"output\"><summary>The load tool's %s, %" PRIu64 " bytes%s"
                 "</summary><pre tabindex=\"0\">\n", mst_row_text(&q, "stream"), bytes,
                 bytes > OUTPUT_SHOWN ? " (the end of it; more is in the archive)" : "");
        put_bytes(sink, &q, "text");
        mst_html(sink, "</pre></details>\n");
    }
    return mst_query_done(&q);
}

bool mst_provenance_html(struct mst_sink *sink, const struct mst_report_run *run)
{
    const struct mst_doc doc = mst_doc_html(sink);
    bool fine;

    mst_html(sink, "<article class=\"card\"><details><summary>%s</summary>\n", run->title);
    if (run->summary.command_line != NULL)
        mst_html(sink, "<pre tabindex=\"0\">%s</pre>", run->summary.command_line);
    fine = put_pairs(&doc, run) && put_output(sink, run);
    mst_html(sink, "</details></article>\n");
    return fine;
}
