/* html.c - the page of runs: see report.h.
 *
 * What can be read is here, as HTML: verdicts, checks, tables, provenance, so that the page
 * also tells them without scripts. assets/report.js draws the charts from the JSON at the end
 * (data.c).
 */
#include <inttypes.h>
#include <stdio.h>
#include <string.h>

#include "archive/archive.h"
#include "archive/query.h"
#include "report/markup.h"
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

    mst_html(sink, "<nav aria-label=\"Contents\"><ul>\n<li><a href=\"#verdict\">Verdict</a></li>\n"
             "<li><a href=\"#numbers\">Numbers</a></li>\n");
    if (report->count > 1)
        mst_html(sink, "<li><a href=\"#compared\">Compared</a></li>\n");
    for (i = 0; i < report->count; i++)
        mst_html(sink, "<li><a href=\"#run-%zu\">%s</a></li>\n", i + 1,
                 report->count > 1 ? report->runs[i].title : "In detail");
    mst_html(sink, "<li><a href=\"#sizing\">Sizing</a></li>\n"
             "<li><a href=\"#provenance\">Provenance</a></li>\n</ul></nav>\n");
}

/* ---- verdict and checks ---------------------------------------------------------- */

/* The client's number where it is known, else the server's. */
static void put_tile(struct mst_sink *sink, const struct mst_summary *s, const char *label,
                     enum mst_metric_id client, enum mst_metric_id server)
{
    const struct mst_metric *metric = &mst_metrics[client];

    if (mst_metric_get(metric, s) == MST_UNKNOWN)
        metric = &mst_metrics[server];
    mst_html(sink, "<div><dt>%s</dt><dd>", label);
    mst_page_number(sink, metric->unit, mst_metric_get(metric, s));
    mst_html(sink, "</dd></div>");
}

static void put_tiles(struct mst_sink *sink, const struct mst_summary *s)
{
    mst_html(sink, "<dl class=\"tiles\">");
    put_tile(sink, s, "requests/s", MST_M_RATE, MST_M_SERVER_RATE);
    put_tile(sink, s, "p50", MST_M_P50, MST_M_SERVER_P50);
    put_tile(sink, s, "p99", MST_M_P99, MST_M_SERVER_P99);
    put_tile(sink, s, "failed", MST_M_FAILED, MST_M_5XX);
    put_tile(sink, s, "in the queue", MST_M_QUEUE_SHARE, MST_M_QUEUE_SHARE);
    put_tile(sink, s, "workers busy", MST_M_BUSY, MST_M_BUSY);
    put_tile(sink, s, "workers, limit", MST_M_LIMIT, MST_M_LIMIT);
    mst_html(sink, "</dl>\n");
}

static void put_checks(struct mst_sink *sink, const struct mst_summary *s)
{
    static const struct { const char *class, *mark, *word; } answers[] = {
        [MST_ANSWER_NO] = { "no", "✕", "no" }, [MST_ANSWER_YES] = { "yes", "✓", "yes" },
        [MST_ANSWER_UNKNOWN] = { "maybe", "?", "not known" },
    };
    size_t i;

    mst_html(sink, "<ul class=\"checks\">\n");
    for (i = 0; i < MST_CHECK_COUNT; i++) {
        const struct mst_check *check = &s->checks[i];

        mst_html(sink, "<li class=\"%s\"><span class=\"mark\" aria-hidden=\"true\">%s</span> "
                 "<strong>%s</strong><span class=\"quiet\">: %s</span> <span>%s</span></li>\n",
                 answers[check->ok].class, answers[check->ok].mark, check->name,
                 answers[check->ok].word, check->text);
    }
    mst_html(sink, "</ul>\n");
}

/* Among many runs those whose checks all hold are folded. */
static void put_trust(struct mst_sink *sink, const struct mst_summary *s, bool among_many)
{
    size_t i, good = 0;

    for (i = 0; i < MST_CHECK_COUNT; i++)
        good += s->checks[i].ok == MST_ANSWER_YES;
    if (!among_many || good < MST_CHECK_COUNT) {
        mst_html(sink, "<h4>Can it be believed?</h4>\n");
        put_checks(sink, s);
        return;
    }
    mst_html(sink, "<details><summary>All checks hold</summary>\n");
    put_checks(sink, s);
    mst_html(sink, "</details>\n");
}

static void put_verdict(struct mst_sink *sink, const struct mst_report *report, size_t i)
{
    const struct mst_report_run *run = &report->runs[i];
    const struct mst_summary *s = &run->summary;
    size_t note;

    mst_html(sink, "<article class=\"card\">\n");
    if (report->count > 1)
        mst_html(sink, "<h3><a href=\"#run-%zu\">%s</a></h3>\n", i + 1, run->title);
    if (report->count > 1 && s->command_line != NULL)
        mst_html(sink, "<p class=\"sub\">%s</p>", s->command_line);
    if (!s->complete)
        mst_html(sink, "<p class=\"warning\"><strong>This run is not complete</strong>: %s. What "
                 "was recorded until then is shown.</p>\n", mst_outcome_names[s->outcome]);
    mst_html(sink, "<p class=\"verdict\">%s</p>", s->verdict);
    put_tiles(sink, s);
    put_trust(sink, s, report->count > RUNS_IN_GROUPS);
    for (note = 0; note < s->note_count; note++)
        mst_html(sink, "<p class=\"note\">%s</p>", s->notes[note]);
    mst_html(sink, "</article>\n");
}

/* ---- the table of runs ----------------------------------------------------------- */

/* A footnote for each thing that is not known. */
static void put_whys(struct mst_sink *sink, const struct mst_report *report)
{
    bool begun = false;
    size_t m, i;

    for (m = 0; m < MST_M_COUNT; m++)
        for (i = 0; i < report->count && mst_metrics[m].group != NULL; i++) {
            const struct mst_summary *s = &report->runs[i].summary;

            if (mst_metric_get(&mst_metrics[m], s) != MST_UNKNOWN)
                continue;
            if (!begun)
                mst_html(sink, "<details class=\"whys\"><summary>What is not known, and why"
                         "</summary><ul>\n");
            begun = true;
            mst_html(sink, "<li>%s, %s", mst_metrics[m].group, mst_metrics[m].label);
            if (report->count > 1)
                mst_html(sink, " (%s)", report->runs[i].title);
            mst_html(sink, ": %s</li>\n", mst_metric_why(&mst_metrics[m], s));
        }
    if (begun)
        mst_html(sink, "</ul></details>\n");
}

static void begin_table(struct mst_sink *sink, const struct mst_report *report, const char *caption)
{
    size_t i;

    mst_page_table(sink, caption, "numbers");
    if (report->count <= RUNS_IN_GROUPS)
        mst_html(sink, "<caption>%s</caption>", caption);
    mst_html(sink, report->count > 1 ? "<thead><tr><td></td>" :
                                       "<thead class=\"hidden\"><tr><td></td>");
    for (i = 0; i < report->count; i++)
        mst_html(sink, "<th scope=\"col\">%s</th>", report->runs[i].title);
    mst_html(sink, "</tr></thead><tbody>\n");
}

static void put_metric_row(struct mst_sink *sink, const struct mst_report *report,
                           const struct mst_metric *metric)
{
    size_t i;

    mst_html(sink, "<tr data-metric=\"%s\"><th scope=\"row\">%s</th>", metric->column,
             metric->label);
    for (i = 0; i < report->count; i++)
        mst_page_cell(sink, metric->unit, mst_metric_get(metric, &report->runs[i].summary));
    mst_html(sink, "</tr>\n");
}

/* One or two runs: a small table for each group. More: one, so that columns line up. */
static void put_runs_table(struct mst_sink *sink, const struct mst_report *report)
{
    bool small = report->count <= RUNS_IN_GROUPS;
    const char *group = "";
    size_t m;

    if (small)
        mst_html(sink, "<div class=\"groups\">\n");
    else
        begin_table(sink, report, "Table of runs");
    for (m = 0; m < MST_M_COUNT; m++) {
        const struct mst_metric *metric = &mst_metrics[m];

        if (metric->group == NULL)
            continue;
        if (strcmp(group, metric->group) != 0 && small) {
            mst_html(sink, group[0] != '\0' ? MST_PAGE_TABLE_END : "");
            begin_table(sink, report, metric->group);
        } else if (strcmp(group, metric->group) != 0) {
            mst_page_group(sink, metric->group, report->count);
        }
        group = metric->group;
        put_metric_row(sink, report, metric);
    }
    mst_html(sink, MST_PAGE_TABLE_END);
    if (small)
        mst_html(sink, "</div>\n");
    put_whys(sink, report);
}

/* ---- a run: both sides, the phases ----------------------------------------------- */

static void put_difference(struct mst_sink *sink, uint64_t client, uint64_t server, uint64_t step)
{
    uint64_t apart = client > server ? client - server : server - client;

    if (client == MST_UNKNOWN || server == MST_UNKNOWN)
        mst_html(sink, "<td><span class=\"unknown\">not known</span></td>");
    else if (step != MST_UNKNOWN && apart < step)
        mst_html(sink, "<td>&lt; %s, the tool&#39;s clock</td>", mst_human_time(step).text);
    else
        mst_html(sink, "<td>%s%s</td>", client >= server ? "+" : "−", mst_human_time(apart).text);
}

static void put_side(struct mst_sink *sink, const char *name, uint64_t client, uint64_t server,
                     uint64_t step)
{
    mst_html(sink, "<tr><th scope=\"row\">%s</th>", name);
    mst_page_cell(sink, MST_METRIC_TIME, client);
    mst_page_cell(sink, MST_METRIC_TIME, server);
    put_difference(sink, client, server, step);
    mst_html(sink, "</tr>\n");
}

static void put_sides(struct mst_sink *sink, const struct mst_summary *s,
                      const struct mst_summary_server *server)
{
    const struct mst_summary_times *c = &s->client.times, *t = &server->phases[MST_PHASE_TOTAL];

    if (!s->client.known)
        return;
    mst_html(sink, "<h3>Both sides</h3>\n<p>What the client saw, and how much of it the server "
             "knows. The difference is the network, the kernel's accept queue, retransmitted "
             "packets, and the load tool itself.</p>\n");
    mst_page_table(sink, "Both sides", "sides");
    mst_html(sink, "<thead><tr><td></td><th scope=\"col\">%s</th><th scope=\"col\">%s</th>"
             "<th scope=\"col\">client − server</th></tr></thead><tbody>\n", s->client.tool,
             mst_producer_name(server->producer));
    put_side(sink, "mean", c->mean_ns, t->mean_ns, s->client.time_step_ns);
    put_side(sink, "p50", c->p50_ns, t->p50_ns, s->client.time_step_ns);
    put_side(sink, "p90", c->p90_ns, t->p90_ns, s->client.time_step_ns);
    put_side(sink, "p99", c->p99_ns, t->p99_ns, s->client.time_step_ns);
    put_side(sink, "max", c->max_ns, t->max_ns, s->client.time_step_ns);
    mst_html(sink, MST_PAGE_TABLE_END);
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

    mst_html(sink, "<svg class=\"bar\" viewBox=\"0 0 1000 28\" preserveAspectRatio=\"none\" "
             "aria-hidden=\"true\">");
    for (i = 0; i < count; i++) {
        width = share_of(parts[i].times->sum_ns, server->phases[MST_PHASE_TOTAL].sum_ns,
                         BAR_WIDTH);
        mst_html(sink, "<rect height=\"28\" class=\"%s\" x=\"%" PRIu64 "\" width=\"%" PRIu64
                 "\"/>", parts[i].name, at, width);
        at += width;
    }
    mst_html(sink, "</svg>\n");
}

static void put_phase(struct mst_sink *sink, const struct mst_summary_server *server,
                      const struct mst_part *part)
{
    const struct mst_summary_times *t = part->times;

    if (t->count == 0)
        return;
    mst_html(sink, "<tr data-phase=\"%s\"><th scope=\"row\"><span class=\"swatch %s\"></span>%s"
             "</th>", part->name, part->name, part->label);
    mst_page_cell(sink, MST_METRIC_TIME, t->mean_ns);
    mst_page_cell(sink, MST_METRIC_TIME, t->p50_ns);
    mst_page_cell(sink, MST_METRIC_TIME, t->p90_ns);
    mst_page_cell(sink, MST_METRIC_TIME, t->p99_ns);
    mst_page_cell(sink, MST_METRIC_TIME, t->max_ns);
    mst_page_cell(sink, MST_METRIC_SHARE,
                  share_of(t->sum_ns, server->phases[MST_PHASE_TOTAL].sum_ns, 1000));
    mst_html(sink, "</tr>\n");
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

    mst_html(sink, "<h3>Where the time went</h3>\n<p>queue + read + handle + send is the total, "
             "exactly; held is how much of it kept a worker.</p>\n");
    put_bar(sink, server);
    mst_page_table(sink, "Phases", "phases");
    mst_html(sink, "<thead><tr><th scope=\"col\">phase</th><th scope=\"col\">mean</th>"
             "<th scope=\"col\">p50</th><th scope=\"col\">p90</th><th scope=\"col\">p99</th>"
             "<th scope=\"col\">max</th><th scope=\"col\">share</th></tr></thead><tbody>\n");
    for (i = 0; i < count; i++)
        put_phase(sink, server, &parts[i]);
    for (i = 0; i < sizeof others / sizeof *others; i++)
        put_phase(sink, server, &others[i]);
    mst_html(sink, MST_PAGE_TABLE_END);
}

static void put_run(struct mst_sink *sink, const struct mst_report *report, size_t i)
{
    const struct mst_report_run *run = &report->runs[i];
    const struct mst_summary_server *front = mst_summary_front(&run->summary);

    mst_html(sink, "<section class=\"run\" id=\"run-%zu\">\n<h2>%s</h2>\n", i + 1,
             report->count > 1 ? run->title : "The run in detail");
    if (report->count > RUNS_IN_GROUPS)
        mst_html(sink, "<details><summary>Phases and charts of this run</summary>\n");
    if (front != NULL && front->requests > 0) {
        put_phases(sink, front);
        put_sides(sink, &run->summary, front);
    } else {
        mst_html(sink, "<p>The server's side is not known: no request of this load was recorded."
                 "</p>\n");
    }
    mst_html(sink, "<h3>Over time</h3>\n<div class=\"charts\" data-run=\"%zu\">"
             MST_PAGE_NO_SCRIPT "</div>\n", i);
    mst_html(sink, report->count > RUNS_IN_GROUPS ? "</details>\n</section>\n" : "</section>\n");
}

/* ---- sizing ---------------------------------------------------------------------- */

static void put_advice(struct mst_sink *sink, const struct mst_advice *advice)
{
    mst_html(sink, "<tr><th scope=\"row\">%s</th>", advice->directive);
    mst_html(sink, advice->known ? "<td><strong>%s</strong></td>" : "<td class=\"unknown\">%s</td>",
             advice->answer);
    mst_html(sink, "<td>%s <span class=\"quiet\">%s</span></td></tr>\n", advice->arithmetic,
             advice->uncertainty);
}

static int put_sizing(struct mst_sink *sink, const struct mst_report *report,
                      char error[MST_ERROR_MAX])
{
    struct mst_sizing sizing;
    struct mst_usl usl;
    char knee[768];
    size_t i, a;

    mst_html(sink, "<section id=\"sizing\">\n<h2>Sizing</h2>\n<p>From what was measured, each with "
             "its arithmetic: workers by Little's law (arrival rate × time held), memory by what "
             "a process takes, the accept queue by the longest seen.</p>\n");
    for (i = 0; i < report->count; i++) {
        if (mst_report_sizing(&sizing, &report->runs[i], error) != 0)
            return -1;
        if (report->count > 1)
            mst_html(sink, "<h3>%s</h3>", report->runs[i].title);
        mst_page_table(sink, "Sizing", "advice");
        mst_html(sink, "<tbody>\n");
        for (a = 0; a < MST_ADVICE_COUNT; a++)
            put_advice(sink, &sizing.advice[a]);
        mst_html(sink, MST_PAGE_TABLE_END);
    }
    if (report->count > 1) {
        mst_report_knee(&usl, report, knee, sizeof knee);
        mst_html(sink, "<h3>The knee</h3>\n<p>%s</p>", knee);
    }
    mst_html(sink, "</section>\n");
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

        mst_html(sink, "<tr><th scope=\"row\">%s</th><td>%s%s%s%s%s; read from <code>%s</code>; "
                 "mpmstat %s in it</td></tr>\n", mst_row_text(&q, "producer"),
                 mst_row_text(&q, "server"), mpm != NULL ? ", " : "", mpm,
                 sapi != NULL ? ", " : "", sapi, mst_row_text(&q, "target"),
                 mst_row_text(&q, "version"));
    }
    return mst_query_done(&q);
}

/* The column's text with all that comes after a NUL in it; in place of one, U+FFFD. */
static void put_bytes(struct mst_sink *sink, struct mst_query *q, const char *column)
{
    const char *at = mst_row_text(q, column);
    const char *end = at != NULL ? at + mst_row_text_bytes(q, column) : NULL;

    for (; at < end; at += strlen(at) + 1) {
        mst_html(sink, at + strlen(at) < end ? "%s\xef\xbf\xbd" : "%s", at);
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
        mst_html(sink, "<details class=\"output\"><summary>The load tool's %s, %" PRIu64 " bytes%s"
                 "</summary><pre tabindex=\"0\">\n", mst_row_text(&q, "stream"), bytes,
                 bytes > OUTPUT_SHOWN ? " (the end of it; more is in the archive)" : "");
        put_bytes(sink, &q, "text");
        mst_html(sink, "</pre></details>\n");
    }
    return mst_query_done(&q);
}

static bool put_provenance(struct mst_sink *sink, const struct mst_report_run *run)
{
    const struct mst_summary *s = &run->summary;
    sqlite3 *db = mst_archive_db(run->archive);
    bool fine;

    mst_html(sink, "<article class=\"card\">\n<h3>%s</h3>", run->title);
    if (s->command_line != NULL)
        mst_html(sink, "<pre tabindex=\"0\">%s</pre>", s->command_line);
    mst_page_table(sink, "Provenance", "pairs");
    mst_html(sink, "<tbody>\n");
    mst_page_pair(sink, "archive", run->path);
    mst_html(sink, "<tr><th scope=\"row\">run</th><td>%" PRId64 ", begun ", s->id);
    if (s->started_ns != MST_UNKNOWN)
        mst_sink_instant(sink, s->started_ns);
    mst_html(sink, ", %s", mst_outcome_names[s->outcome]);
    if (s->exit_status != MST_UNKNOWN)
        mst_html(sink, ", exit status %" PRIu64, s->exit_status);
    if (s->exit_signal != MST_UNKNOWN)
        mst_html(sink, ", ended by signal %" PRIu64, s->exit_signal);
    mst_html(sink, "</td></tr>\n");
    mst_page_pair(sink, "flags that mpmstat added", s->added);
    fine = put_servers(sink, db, s->id) && put_environment(sink, db, s->id);
    mst_html(sink, MST_PAGE_TABLE_END);
    fine = fine && put_output(sink, db, s->id);
    mst_html(sink, "</article>\n");
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
    mst_html(sink, "</header>\n<main>\n<section id=\"verdict\">\n<h2>Verdict</h2>\n");
    for (i = 0; i < report->count; i++)
        put_verdict(sink, report, i);
    mst_html(sink, "</section>\n<section id=\"numbers\">\n<h2>%s</h2>\n",
             report->count > 1 ? "The runs side by side" : "The numbers");
    put_runs_table(sink, report);
    mst_html(sink, "</section>\n");
    if (report->count > 1)
        mst_html(sink, "<section id=\"compared\">\n<h2>The runs over each other</h2>\n"
                 "<div class=\"charts\" data-compared></div>\n</section>\n");
    for (i = 0; i < report->count; i++)
        put_run(sink, report, i);
    if (put_sizing(sink, report, error) != 0)
        return -1;
    mst_html(sink, "<section id=\"provenance\">\n<h2>Provenance</h2>\n");
    for (i = 0; i < report->count; i++)
        if (!put_provenance(sink, &report->runs[i]))
            return mst_report_unreadable(&report->runs[i], error);
    mst_html(sink, "</section>\n</main>\n");
    return mst_page_end(sink, &page, put_data, report, error);
}
