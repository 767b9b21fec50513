/* html.c - the page of runs: see report.h.
 *
 * What can be read is here, as HTML: verdicts, checks, tables, provenance, so that
 * the page tells without scripts too. The charts are assets/report.js's, from the
 * JSON at the end (data.c).
 */
#include <inttypes.h>
#include <stdio.h>
#include <string.h>

#include "archive/archive.h"
#include "archive/query.h"
#include "console/format.h"
#include "report/metrics.h"
#include "report/page.h"
#include "report/parts.h"
#include "report/report.h"
#include "segment/fields.h"
#include "segment/format.h"

#define OUTPUT_SHOWN 65536u   /* bytes of what the load tool printed: the end of it */
#define BAR_WIDTH    1000u
#define TITLE_MAX    64u
#define RUNS_IN_GROUPS 2u     /* with more, the table of runs is one table */

/* ---- the head -------------------------------------------------------------------- */

static void put_contents(struct mst_sink *sink, const struct mst_report *report)
{
    size_t i;

    raw(sink, "<nav aria-label=\"Contents\"><ul>\n<li><a href=\"#verdict\">Verdict</a></li>\n"
              "<li><a href=\"#numbers\">Numbers</a></li>\n");
    if (report->count > 1)
        raw(sink, "<li><a href=\"#compared\">Compared</a></li>\n");
    for (i = 0; i < report->count; i++) {
        raw(sink, "<li><a href=\"#run-");
        mst_sink_u64(sink, i + 1);
        raw(sink, "\">");
        text(sink, report->count > 1 ? report->runs[i].title : "In detail");
        raw(sink, "</a></li>\n");
    }
    raw(sink, "<li><a href=\"#sizing\">Sizing</a></li>\n"
              "<li><a href=\"#provenance\">Provenance</a></li>\n</ul></nav>\n");
}

/* ---- verdict and checks ---------------------------------------------------------- */

static void put_tile(struct mst_sink *sink, const char *label, enum mst_metric_unit unit,
                     uint64_t value, struct mst_human shown)
{
    raw(sink, "<div><dt>");
    text(sink, label);
    raw(sink, "</dt><dd>");
    mst_page_number(sink, unit, value, shown);
    raw(sink, "</dd></div>");
}

static const struct mst_metric *metric_named(const char *column)
{
    size_t i;

    for (i = 0; i < mst_metric_count; i++)
        if (strcmp(mst_metrics[i].column, column) == 0)
            return &mst_metrics[i];
    return NULL;
}

/* The client's number where it is known, else the server's. */
static void put_tile_of(struct mst_sink *sink, const struct mst_summary *s, const char *label,
                        const char *client, const char *server)
{
    const struct mst_metric *metric = metric_named(client);
    uint64_t value = metric->get(s);

    if (value == MST_UNKNOWN) {
        metric = metric_named(server);
        value = metric->get(s);
    }
    put_tile(sink, label, metric->unit, value, mst_metric_human(metric, value));
}

static void put_tiles(struct mst_sink *sink, const struct mst_summary *s)
{
    raw(sink, "<dl class=\"tiles\">");
    put_tile_of(sink, s, "requests/s", "client_requests_per_second", "server_requests_per_second");
    put_tile_of(sink, s, "p50", "client_p50_seconds", "server_p50_seconds");
    put_tile_of(sink, s, "p99", "client_p99_seconds", "server_p99_seconds");
    put_tile_of(sink, s, "failed", "client_failed", "server_errors_5xx");
    put_tile_of(sink, s, "in the queue", "queue_share", "queue_share");
    put_tile_of(sink, s, "workers busy", "workers_busy_mean", "workers_busy_mean");
    put_tile_of(sink, s, "workers, limit", "workers_limit", "workers_limit");
    raw(sink, "</dl>\n");
}

static void put_checks(struct mst_sink *sink, const struct mst_summary *s)
{
    static const struct { const char *class, *mark, *word; } answers[] = {
        [MST_ANSWER_NO] = { "no", "✕", "no" }, [MST_ANSWER_YES] = { "yes", "✓", "yes" },
        [MST_ANSWER_UNKNOWN] = { "maybe", "?", "not known" },
    };
    size_t i;

    raw(sink, "<ul class=\"checks\">\n");
    for (i = 0; i < MST_CHECK_COUNT; i++) {
        raw(sink, "<li class=\"");
        raw(sink, answers[s->checks[i].ok].class);
        raw(sink, "\"><span class=\"mark\" aria-hidden=\"true\">");
        raw(sink, answers[s->checks[i].ok].mark);
        raw(sink, "</span> <strong>");
        text(sink, s->checks[i].name);
        raw(sink, "</strong><span class=\"quiet\">: ");
        raw(sink, answers[s->checks[i].ok].word);
        raw(sink, "</span> <span>");
        text(sink, s->checks[i].text);
        raw(sink, "</span></li>\n");
    }
    raw(sink, "</ul>\n");
}

/* Among many runs those whose checks all hold are folded. */
static void put_trust(struct mst_sink *sink, const struct mst_summary *s, bool among_many)
{
    size_t i, good = 0;

    for (i = 0; i < MST_CHECK_COUNT; i++)
        good += s->checks[i].ok == MST_ANSWER_YES;
    if (!among_many || good < MST_CHECK_COUNT) {
        raw(sink, "<h4>Can it be believed?</h4>\n");
        put_checks(sink, s);
        return;
    }
    raw(sink, "<details><summary>All checks hold</summary>\n");
    put_checks(sink, s);
    raw(sink, "</details>\n");
}

static void put_verdict(struct mst_sink *sink, const struct mst_report *report, size_t i)
{
    const struct mst_report_run *run = &report->runs[i];
    size_t note;

    raw(sink, "<article class=\"card\">\n");
    if (report->count > 1) {
        raw(sink, "<h3><a href=\"#run-");
        mst_sink_u64(sink, i + 1);
        raw(sink, "\">");
        text(sink, run->title);
        raw(sink, "</a></h3>\n");
        mst_page_element(sink, "p class=\"sub\"", run->summary.command_line);
    }
    if (!run->summary.complete) {
        raw(sink, "<p class=\"warning\"><strong>This run is not complete</strong>: ");
        text(sink, mst_outcome_names[run->summary.outcome]);
        raw(sink, ". What was recorded until then is shown.</p>\n");
    }
    mst_page_element(sink, "p class=\"verdict\"", run->summary.verdict);
    put_tiles(sink, &run->summary);
    put_trust(sink, &run->summary, report->count > RUNS_IN_GROUPS);
    for (note = 0; note < run->summary.note_count; note++)
        mst_page_element(sink, "p class=\"note\"", run->summary.notes[note]);
    raw(sink, "</article>\n");
}

/* ---- the table of runs ----------------------------------------------------------- */

/* A footnote for each thing that is not known. */
static void put_whys(struct mst_sink *sink, const struct mst_report *report)
{
    bool begun = false;
    size_t m, i;

    for (m = 0; m < mst_metric_count; m++)
        for (i = 0; i < report->count; i++) {
            const struct mst_summary *s = &report->runs[i].summary;

            if (mst_metrics[m].get(s) != MST_UNKNOWN)
                continue;
            raw(sink, begun ? "" : "<details class=\"whys\"><summary>What is not known, and why"
                                   "</summary><ul>\n");
            begun = true;
            raw(sink, "<li>");
            mst_page_textf(sink, "%s, %s", mst_metrics[m].group, mst_metrics[m].label);
            if (report->count > 1)
                mst_page_textf(sink, " (%s)", report->runs[i].title);
            mst_page_textf(sink, ": %s", mst_metric_why(&mst_metrics[m], s));
            raw(sink, "</li>\n");
        }
    raw(sink, begun ? "</ul></details>\n" : "");
}

static void begin_table(struct mst_sink *sink, const struct mst_report *report, const char *caption)
{
    size_t i;

    mst_page_table(sink, caption, "numbers");
    if (report->count <= RUNS_IN_GROUPS)
        mst_page_element(sink, "caption", caption);
    raw(sink, report->count > 1 ? "<thead><tr><td></td>" :
                                  "<thead class=\"hidden\"><tr><td></td>");
    for (i = 0; i < report->count; i++)
        mst_page_element(sink, "th scope=\"col\"", report->runs[i].title);
    raw(sink, "</tr></thead><tbody>\n");
}

static void put_group_row(struct mst_sink *sink, const struct mst_report *report,
                          const char *group)
{
    raw(sink, "<tr class=\"group\"><th scope=\"rowgroup\" colspan=\"");
    mst_sink_u64(sink, report->count + 1);
    raw(sink, "\">");
    text(sink, group);
    raw(sink, "</th></tr>\n");
}

static void put_metric_row(struct mst_sink *sink, const struct mst_report *report,
                           const struct mst_metric *metric)
{
    size_t i;

    raw(sink, "<tr data-metric=\"");
    text(sink, metric->column);
    raw(sink, "\">");
    mst_page_element(sink, "th scope=\"row\"", metric->label);
    for (i = 0; i < report->count; i++) {
        uint64_t value = metric->get(&report->runs[i].summary);

        mst_page_cell(sink, metric->unit, value, mst_metric_human(metric, value));
    }
    raw(sink, "</tr>\n");
}

/* One or two runs: a small table for each group. More: one, so that columns line up. */
static void put_runs_table(struct mst_sink *sink, const struct mst_report *report)
{
    bool small = report->count <= RUNS_IN_GROUPS;
    const char *group = "";
    size_t m;

    raw(sink, small ? "<div class=\"groups\">\n" : "");
    if (!small)
        begin_table(sink, report, "Table of runs");
    for (m = 0; m < mst_metric_count; m++) {
        const struct mst_metric *metric = &mst_metrics[m];

        if (strcmp(group, metric->group) != 0 && small) {
            raw(sink, m > 0 ? MST_PAGE_TABLE_END : "");
            begin_table(sink, report, metric->group);
        } else if (strcmp(group, metric->group) != 0) {
            put_group_row(sink, report, metric->group);
        }
        group = metric->group;
        put_metric_row(sink, report, metric);
    }
    raw(sink, MST_PAGE_TABLE_END);
    raw(sink, small ? "</div>\n" : "");
    put_whys(sink, report);
}

/* ---- a run: both sides, the phases ----------------------------------------------- */

static void put_difference(struct mst_sink *sink, uint64_t client, uint64_t server, uint64_t step)
{
    uint64_t apart = client > server ? client - server : server - client;

    raw(sink, "<td>");
    if (client == MST_UNKNOWN || server == MST_UNKNOWN)
        raw(sink, "<span class=\"unknown\">not known</span>");
    else if (step != MST_UNKNOWN && apart < step)
        mst_page_textf(sink, "< %s, the tool's clock", mst_human_time(step).text);
    else
        mst_page_textf(sink, "%s%s", client >= server ? "+" : "−", mst_human_time(apart).text);
    raw(sink, "</td>");
}

static void put_side(struct mst_sink *sink, const char *name, uint64_t client, uint64_t server,
                     uint64_t step)
{
    raw(sink, "<tr>");
    mst_page_element(sink, "th scope=\"row\"", name);
    mst_page_cell(sink, MST_METRIC_TIME, client, mst_human_time(client));
    mst_page_cell(sink, MST_METRIC_TIME, server, mst_human_time(server));
    put_difference(sink, client, server, step);
    raw(sink, "</tr>\n");
}

static void put_sides(struct mst_sink *sink, const struct mst_summary *s,
                      const struct mst_summary_server *server)
{
    const struct mst_summary_times *c = &s->client.times, *t = &server->phases[MST_PHASE_TOTAL];

    if (!s->client.known)
        return;
    raw(sink, "<h3>Both sides</h3>\n<p>What the client saw, and how much of it the server knows. "
              "The difference is the network, the kernel's accept queue, retransmitted "
              "packets, and the load tool itself.</p>\n");
    mst_page_table(sink, "Both sides", "sides");
    raw(sink, "<thead><tr><td></td>");
    mst_page_element(sink, "th scope=\"col\"", s->client.tool);
    mst_page_element(sink, "th scope=\"col\"", mst_producer_name(server->producer));
    raw(sink, "<th scope=\"col\">client − server</th></tr></thead><tbody>\n");
    put_side(sink, "mean", c->mean_ns, t->mean_ns, s->client.time_step_ns);
    put_side(sink, "p50", c->p50_ns, t->p50_ns, s->client.time_step_ns);
    put_side(sink, "p90", c->p90_ns, t->p90_ns, s->client.time_step_ns);
    put_side(sink, "p99", c->p99_ns, t->p99_ns, s->client.time_step_ns);
    put_side(sink, "max", c->max_ns, t->max_ns, s->client.time_step_ns);
    raw(sink, MST_PAGE_TABLE_END);
}

static uint64_t share_of(uint64_t part, uint64_t whole, uint64_t scale)
{
    if (part == MST_UNKNOWN || whole == MST_UNKNOWN || whole == 0)
        return 0;
    return (uint64_t)((unsigned __int128)part * scale / whole);
}

static void put_bar(struct mst_sink *sink, const struct mst_summary_server *server)
{
    struct mst_part parts[MST_PARTS_MAX];
    size_t count = mst_parts_of(server, parts), i;
    uint64_t at = 0, width;

    raw(sink, "<svg class=\"bar\" viewBox=\"0 0 1000 28\" preserveAspectRatio=\"none\" "
              "aria-hidden=\"true\">");
    for (i = 0; i < count; i++) {
        width = share_of(parts[i].times->sum_ns, server->phases[MST_PHASE_TOTAL].sum_ns,
                         BAR_WIDTH);
        raw(sink, "<rect height=\"28\" class=\"");
        raw(sink, parts[i].name);
        raw(sink, "\" x=\"");
        mst_sink_u64(sink, at);
        raw(sink, "\" width=\"");
        mst_sink_u64(sink, width);
        raw(sink, "\"/>");
        at += width;
    }
    raw(sink, "</svg>\n");
}

static void put_phase(struct mst_sink *sink, const struct mst_summary_server *server,
                      const struct mst_part *part)
{
    const struct mst_summary_times *t = part->times;
    uint64_t share = share_of(t->sum_ns, server->phases[MST_PHASE_TOTAL].sum_ns, 1000);

    raw(sink, "<tr data-phase=\"");
    raw(sink, part->name);
    raw(sink, "\"><th scope=\"row\"><span class=\"swatch ");
    raw(sink, part->name);
    raw(sink, "\"></span>");
    text(sink, part->label);
    raw(sink, "</th>");
    mst_page_cell(sink, MST_METRIC_TIME, t->mean_ns, mst_human_time(t->mean_ns));
    mst_page_cell(sink, MST_METRIC_TIME, t->p50_ns, mst_human_time(t->p50_ns));
    mst_page_cell(sink, MST_METRIC_TIME, t->p90_ns, mst_human_time(t->p90_ns));
    mst_page_cell(sink, MST_METRIC_TIME, t->p99_ns, mst_human_time(t->p99_ns));
    mst_page_cell(sink, MST_METRIC_TIME, t->max_ns, mst_human_time(t->max_ns));
    mst_page_cell(sink, MST_METRIC_SHARE, share, mst_human_percent(share));
    raw(sink, "</tr>\n");
}

/* The parts, then what is no part of the sum. */
static void put_phases(struct mst_sink *sink, const struct mst_summary_server *server)
{
    struct mst_part parts[MST_PARTS_MAX];
    const struct mst_part others[] = {
        { "total", "total", &server->phases[MST_PHASE_TOTAL] },
        { "held", "held a worker", &server->phases[MST_PHASE_HELD] },
        { "front", "before Apache (not in the total)", &server->phases[MST_PHASE_FRONT] },
    };
    size_t count = mst_parts_of(server, parts), i;

    raw(sink, "<h3>Where the time went</h3>\n<p>queue + read + handle + send is the total, "
              "exactly; held is how much of it kept a worker.</p>\n");
    put_bar(sink, server);
    mst_page_table(sink, "Phases", "phases");
    raw(sink, "<thead><tr><th scope=\"col\">phase</th><th scope=\"col\">mean</th>"
              "<th scope=\"col\">p50</th><th scope=\"col\">p90</th><th scope=\"col\">p99</th>"
              "<th scope=\"col\">max</th><th scope=\"col\">share</th></tr></thead><tbody>\n");
    for (i = 0; i < count; i++)
        if (parts[i].times->count > 0)
            put_phase(sink, server, &parts[i]);
    for (i = 0; i < sizeof others / sizeof *others; i++)
        if (others[i].times->count > 0)
            put_phase(sink, server, &others[i]);
    raw(sink, MST_PAGE_TABLE_END);
}

static void put_run(struct mst_sink *sink, const struct mst_report *report, size_t i)
{
    const struct mst_report_run *run = &report->runs[i];
    const struct mst_summary_server *front = mst_summary_front(&run->summary);

    raw(sink, "<section class=\"run\" id=\"run-");
    mst_sink_u64(sink, i + 1);
    raw(sink, "\">\n<h2>");
    text(sink, report->count > 1 ? run->title : "The run in detail");
    raw(sink, report->count > RUNS_IN_GROUPS ?
              "</h2>\n<details><summary>Phases and charts of this run</summary>\n" : "</h2>\n");
    if (front != NULL && front->requests > 0) {
        put_phases(sink, front);
        put_sides(sink, &run->summary, front);
    } else {
        raw(sink, "<p>The server's side is not known: no request of this load was recorded.</p>\n");
    }
    raw(sink, "<h3>Over time</h3>\n<div class=\"charts\" data-run=\"");
    mst_sink_u64(sink, i);
    raw(sink, "\"><noscript><p>The charts need JavaScript; their numbers are in the JSON at the "
              "end of this page.</p></noscript></div>\n");
    raw(sink, report->count > RUNS_IN_GROUPS ? "</details>\n</section>\n" : "</section>\n");
}

/* ---- sizing ---------------------------------------------------------------------- */

static void put_advice(struct mst_sink *sink, const struct mst_advice *advice)
{
    raw(sink, "<tr>");
    mst_page_element(sink, "th scope=\"row\"", advice->directive);
    raw(sink, advice->known ? "<td><strong>" : "<td class=\"unknown\">");
    text(sink, advice->answer);
    raw(sink, advice->known ? "</strong></td><td>" : "</td><td>");
    text(sink, advice->arithmetic);
    raw(sink, " <span class=\"quiet\">");
    text(sink, advice->uncertainty);
    raw(sink, "</span></td></tr>\n");
}

static int put_sizing(struct mst_sink *sink, const struct mst_report *report,
                      char error[MST_ERROR_MAX])
{
    struct mst_sizing sizing;
    struct mst_usl usl;
    char knee[768];
    size_t i, a;

    raw(sink, "<section id=\"sizing\">\n<h2>Sizing</h2>\n<p>From what was measured, each with "
              "its arithmetic: workers by Little's law (arrival rate × time held), memory by what "
              "a process takes, the accept queue by the longest seen.</p>\n");
    for (i = 0; i < report->count; i++) {
        if (mst_report_sizing(&sizing, &report->runs[i], error) != 0)
            return -1;
        if (report->count > 1)
            mst_page_element(sink, "h3", report->runs[i].title);
        mst_page_table(sink, "Sizing", "advice");
        raw(sink, "<tbody>\n");
        for (a = 0; a < MST_ADVICE_COUNT; a++)
            put_advice(sink, &sizing.advice[a]);
        raw(sink, MST_PAGE_TABLE_END);
    }
    if (report->count > 1) {
        mst_report_knee(&usl, report, knee, sizeof knee);
        raw(sink, "<h3>The knee</h3>\n");
        mst_page_element(sink, "p", knee);
    }
    raw(sink, "</section>\n");
    return 0;
}

/* ---- provenance ------------------------------------------------------------------ */

static bool put_environment(struct mst_sink *sink, sqlite3 *db, int64_t run_id)
{
    struct mst_query q = mst_query_ask(db, "SELECT name, value FROM environment WHERE run_id = :id "
                                           "ORDER BY name", run_id);

    while (mst_query_next(&q))
        mst_page_pair(sink, mst_row_text(&q, "name"), mst_row_text(&q, "value"));
    return mst_query_done(&q);
}

static bool put_servers(struct mst_sink *sink, sqlite3 *db, int64_t run_id)
{
    struct mst_query q = mst_query_ask(db,
        "SELECT target, producer, server, mpm, sapi, version, pid FROM servers WHERE run_id = :id "
        "ORDER BY id", run_id);

    while (mst_query_next(&q)) {
        const char *mpm = mst_row_text(&q, "mpm"), *sapi = mst_row_text(&q, "sapi");

        raw(sink, "<tr>");
        mst_page_element(sink, "th scope=\"row\"", mst_row_text(&q, "producer"));
        raw(sink, "<td>");
        text(sink, mst_row_text(&q, "server"));
        mst_page_textf(sink, "%s%s", mpm != NULL ? ", " : "", mpm != NULL ? mpm : "");
        mst_page_textf(sink, "%s%s", sapi != NULL ? ", " : "", sapi != NULL ? sapi : "");
        raw(sink, "; read from <code>");
        text(sink, mst_row_text(&q, "target"));
        raw(sink, "</code>; mpmstat ");
        text(sink, mst_row_text(&q, "version"));
        raw(sink, " in it</td></tr>\n");
    }
    return mst_query_done(&q);
}

/* The column's text with all that comes after a NUL in it; in place of one, U+FFFD. */
static void put_bytes(struct mst_sink *sink, struct mst_query *q, const char *column)
{
    const char *at = mst_row_text(q, column);
    const char *end = at != NULL ? at + mst_row_text_bytes(q, column) : NULL;

    for (; at < end; at += strlen(at) + 1) {
        text(sink, at);
        if (at + strlen(at) < end)
            raw(sink, "\xef\xbf\xbd");
    }
}

/* The end of what the load tool printed: there a load tool says what it has found. */
static bool put_output(struct mst_sink *sink, sqlite3 *db, int64_t run_id)
{
    struct mst_query q = mst_query_ask(db,
        "SELECT stream, bytes, CAST(substr(content, -:shown) AS TEXT) AS text FROM output "
        "WHERE run_id = :id ORDER BY stream DESC", run_id);

    mst_query_set(&q, ":shown", OUTPUT_SHOWN);
    while (mst_query_next(&q)) {
        uint64_t bytes = mst_row_number(&q, "bytes");

        if (bytes == 0)
            continue;
        raw(sink, "<details class=\"output\"><summary>The load tool's ");
        text(sink, mst_row_text(&q, "stream"));
        mst_page_textf(sink, ", %" PRIu64 " bytes%s", bytes, bytes > OUTPUT_SHOWN ?
                       " (the end of it; more is in the archive)" : "");
        raw(sink, "</summary><pre tabindex=\"0\">\n");
        put_bytes(sink, &q, "text");
        raw(sink, "</pre></details>\n");
    }
    return mst_query_done(&q);
}

static bool put_provenance(struct mst_sink *sink, const struct mst_report_run *run)
{
    const struct mst_summary *s = &run->summary;
    sqlite3 *db = mst_archive_db(run->archive);
    bool fine;

    raw(sink, "<article class=\"card\">\n");
    mst_page_element(sink, "h3", run->title);
    if (s->command_line != NULL)
        mst_page_element(sink, "pre tabindex=\"0\"", s->command_line);
    mst_page_table(sink, "Provenance", "pairs");
    raw(sink, "<tbody>\n");
    mst_page_pair(sink, "archive", run->path);
    raw(sink, "<tr><th scope=\"row\">run</th><td>");
    mst_page_textf(sink, "%" PRId64 ", begun ", s->id);
    if (s->started_ns != MST_UNKNOWN)
        mst_sink_instant(sink, s->started_ns);
    mst_page_textf(sink, ", %s", mst_outcome_names[s->outcome]);
    if (s->exit_status != MST_UNKNOWN)
        mst_page_textf(sink, ", exit status %" PRIu64, s->exit_status);
    if (s->exit_signal != MST_UNKNOWN)
        mst_page_textf(sink, ", ended by signal %" PRIu64, s->exit_signal);
    raw(sink, "</td></tr>\n");
    mst_page_pair(sink, "flags that mpmstat added", s->added);
    fine = put_servers(sink, db, s->id) && put_environment(sink, db, s->id);
    raw(sink, MST_PAGE_TABLE_END);
    fine = fine && put_output(sink, db, s->id);
    raw(sink, "</article>\n");
    return fine;
}

/* ---- all of it ------------------------------------------------------------------- */

/* What the page is about: the one run, or how many. */
static struct mst_page page_of(const struct mst_report *report, char title[TITLE_MAX])
{
    const struct mst_report_run *first = &report->runs[0];
    struct mst_page page = {
        .kind = MST_PAGE_RUNS, .title = title, .brand = "mpmstat report",
        .skip_to = "verdict", .skip_text = "To the verdict",
    };

    if (report->count == 1) {
        page.title = first->title;
        page.sub = first->summary.command_line != NULL ? first->summary.command_line :
                   "recorded without a load tool";
    } else {
        snprintf(title, TITLE_MAX, "%zu load runs", report->count);
        page.sub = report->several_archives ? "from several archives" : first->path;
    }
    return page;
}

static mst_page_data put_data;
static int put_data(struct mst_sink *sink, const void *of, char *error)
{
    return mst_report_data(sink, of, error);
}

int mst_report_html(struct mst_sink *sink, const struct mst_report *report,
                    char error[MST_ERROR_MAX])
{
    char title[TITLE_MAX];
    const struct mst_page page = page_of(report, title);
    size_t i;

    mst_page_begin(sink, &page);
    put_contents(sink, report);
    raw(sink, "</header>\n<main>\n<section id=\"verdict\">\n<h2>Verdict</h2>\n");
    for (i = 0; i < report->count; i++)
        put_verdict(sink, report, i);
    raw(sink, "</section>\n<section id=\"numbers\">\n<h2>");
    raw(sink, report->count > 1 ? "The runs side by side" : "The numbers");
    raw(sink, "</h2>\n");
    put_runs_table(sink, report);
    raw(sink, "</section>\n");
    if (report->count > 1)
        raw(sink, "<section id=\"compared\">\n<h2>The runs over each other</h2>\n"
                  "<div class=\"charts\" data-compared></div>\n</section>\n");
    for (i = 0; i < report->count; i++)
        put_run(sink, report, i);
    if (put_sizing(sink, report, error) != 0)
        return -1;
    raw(sink, "<section id=\"provenance\">\n<h2>Provenance</h2>\n");
    for (i = 0; i < report->count; i++)
        if (!put_provenance(sink, &report->runs[i]))
            return mst_report_unreadable(&report->runs[i], error);
    raw(sink, "</section>\n</main>\n");
    return mst_page_end(sink, &page, put_data, report, error);
}
