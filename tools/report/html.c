/* html.c - the page: see report.h.
 *
 * What can be read is here, as HTML: verdicts, checks, tables, provenance, so that
 * the page tells without scripts too. The charts are assets/report.js's, from the
 * JSON at the end (data.c). Everything is inline; a Content-Security-Policy allows
 * exactly these scripts and this style, by their hashes, and no connection at all.
 * Numbers are <data> elements: the text for people, the value for programs.
 */
#include <inttypes.h>
#include <stdarg.h>
#include <stdio.h>
#include <string.h>

#include "archive/archive.h"
#include "archive/query.h"
#include "fields.h"
#include "format.h"
#include "human.h"
#include "report/metrics.h"
#include "report/report.h"
#include "report/script.h"
#include "tools/report/assets.inc"

#define OUTPUT_SHOWN 65536u   /* bytes of what the load tool printed: the end of it */
#define BAR_WIDTH    1000u
#define RUNS_IN_GROUPS 2u     /* with more, the table of runs is one table */

/* ---- writing --------------------------------------------------------------------- */

static void raw(struct mst_sink *sink, const char *html)
{
    mst_sink_puts(sink, html);
}

static void text(struct mst_sink *sink, const char *string)
{
    mst_sink_html_string(sink, string);
}

static void textf(struct mst_sink *sink, const char *format, ...)
    __attribute__((format(printf, 2, 3)));

static void textf(struct mst_sink *sink, const char *format, ...)
{
    char buffer[1024];
    va_list args;

    va_start(args, format);
    vsnprintf(buffer, sizeof buffer, format, args);
    va_end(args);
    text(sink, buffer);
}

/* <TAG>string</TAG>, where there is a string. */
static void element(struct mst_sink *sink, const char *tag, const char *string)
{
    if (string == NULL)
        return;
    raw(sink, "<");
    raw(sink, tag);
    raw(sink, ">");
    text(sink, string);
    raw(sink, "</");
    mst_sink_bytes(sink, tag, strcspn(tag, " "));
    raw(sink, ">");
}

/* "35.9 us" with the letter that a page can have. */
static void human(struct mst_sink *sink, const char *value)
{
    size_t n = strlen(value);

    if (n > 3 && strcmp(value + n - 3, " us") == 0) {
        mst_sink_bytes(sink, value, n - 2);
        raw(sink, "µs");
    } else {
        text(sink, value);
    }
}

static void number(struct mst_sink *sink, enum mst_metric_unit unit, uint64_t value,
                   struct mst_human shown)
{
    if (value == MST_UNKNOWN) {
        raw(sink, "<span class=\"unknown\">not known</span>");
        return;
    }
    raw(sink, "<data value=\"");
    mst_metric_put(sink, unit, value, "");
    raw(sink, "\">");
    human(sink, shown.text);
    raw(sink, "</data>");
}

static void cell(struct mst_sink *sink, enum mst_metric_unit unit, uint64_t value,
                 struct mst_human shown)
{
    raw(sink, "<td>");
    number(sink, unit, value, shown);
    raw(sink, "</td>");
}

/* ---- the head -------------------------------------------------------------------- */

static void put_title(struct mst_sink *sink, const struct mst_report *report)
{
    if (report->count == 1)
        text(sink, report->runs[0].title);
    else
        textf(sink, "%zu load runs", report->count);
}

static void put_head(struct mst_sink *sink, const struct mst_report *report)
{
    raw(sink, "<!DOCTYPE html>\n<html lang=\"en\">\n<head>\n<meta charset=\"utf-8\">\n"
              "<meta http-equiv=\"Content-Security-Policy\" content=\"default-src 'none'; "
              "script-src " chart_js_HASH " " report_js_HASH "; style-src " report_css_HASH "; "
              "img-src data:; base-uri 'none'; form-action 'none'\">\n"
              "<meta name=\"viewport\" content=\"width=device-width, initial-scale=1\">\n"
              "<meta name=\"color-scheme\" content=\"light dark\">\n"
              "<meta name=\"generator\" content=\"mpmstat " MPMSTAT_VERSION "\">\n"
              "<link rel=\"icon\" href=\"data:,\">\n<title>");
    put_title(sink, report);
    raw(sink, " · mpmstat</title>\n<style>");
    raw(sink, report_css);
    raw(sink, "</style>\n</head>\n<body>\n"
              "<a class=\"skip\" href=\"#verdict\">To the verdict</a>\n");
}

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

static void put_header(struct mst_sink *sink, const struct mst_report *report)
{
    const struct mst_report_run *first = &report->runs[0];

    raw(sink, "<header><div class=\"bar\"><p class=\"brand\">mpmstat report</p>"
              "<div id=\"controls\"></div></div>\n<h1>");
    put_title(sink, report);
    raw(sink, "</h1>\n<p class=\"sub\">");
    if (report->count == 1)
        text(sink, first->summary.command_line != NULL ? first->summary.command_line :
                   "recorded without a load tool");
    else
        text(sink, report->several_archives ? "from several archives" : first->path);
    raw(sink, "</p>\n");
    put_contents(sink, report);
    raw(sink, "</header>\n<main>\n");
}

/* ---- verdict and checks ---------------------------------------------------------- */

static void put_tile(struct mst_sink *sink, const char *label, enum mst_metric_unit unit,
                     uint64_t value, struct mst_human shown)
{
    raw(sink, "<div><dt>");
    text(sink, label);
    raw(sink, "</dt><dd>");
    number(sink, unit, value, shown);
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
        element(sink, "p class=\"sub\"", run->summary.command_line);
    }
    if (!run->summary.complete) {
        raw(sink, "<p class=\"warning\"><strong>This run is not complete</strong>: ");
        text(sink, run->summary.outcome);
        raw(sink, ". What was recorded until then is shown.</p>\n");
    }
    element(sink, "p class=\"verdict\"", run->summary.verdict);
    put_tiles(sink, &run->summary);
    put_trust(sink, &run->summary, report->count > RUNS_IN_GROUPS);
    for (note = 0; note < run->summary.note_count; note++)
        element(sink, "p class=\"note\"", run->summary.notes[note]);
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
            textf(sink, "%s, %s", mst_metrics[m].group, mst_metrics[m].label);
            if (report->count > 1)
                textf(sink, " (%s)", report->runs[i].title);
            textf(sink, ": %s", mst_metric_why(&mst_metrics[m], s));
            raw(sink, "</li>\n");
        }
    raw(sink, begun ? "</ul></details>\n" : "");
}

static void begin_table(struct mst_sink *sink, const struct mst_report *report, const char *caption)
{
    size_t i;

    raw(sink, "<div class=\"scroll\" tabindex=\"0\" role=\"region\" aria-label=\"");
    text(sink, caption);
    raw(sink, "\"><table class=\"numbers\">");
    if (report->count <= RUNS_IN_GROUPS)
        element(sink, "caption", caption);
    raw(sink, report->count > 1 ? "<thead><tr><td></td>" :
                                  "<thead class=\"hidden\"><tr><td></td>");
    for (i = 0; i < report->count; i++)
        element(sink, "th scope=\"col\"", report->runs[i].title);
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
    element(sink, "th scope=\"row\"", metric->label);
    for (i = 0; i < report->count; i++) {
        uint64_t value = metric->get(&report->runs[i].summary);

        cell(sink, metric->unit, value, mst_metric_human(metric, value));
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
            raw(sink, m > 0 ? "</tbody></table></div>\n" : "");
            begin_table(sink, report, metric->group);
        } else if (strcmp(group, metric->group) != 0) {
            put_group_row(sink, report, metric->group);
        }
        group = metric->group;
        put_metric_row(sink, report, metric);
    }
    raw(sink, "</tbody></table></div>\n");
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
        textf(sink, "< %s, the tool's clock", mst_human_time(step).text);
    else
        textf(sink, "%s%s", client >= server ? "+" : "−", mst_human_time(apart).text);
    raw(sink, "</td>");
}

static void put_side(struct mst_sink *sink, const char *name, uint64_t client, uint64_t server,
                     uint64_t step)
{
    raw(sink, "<tr>");
    element(sink, "th scope=\"row\"", name);
    cell(sink, MST_METRIC_TIME, client, mst_human_time(client));
    cell(sink, MST_METRIC_TIME, server, mst_human_time(server));
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
              "packets, and the load tool itself.</p>\n<div class=\"scroll\" tabindex=\"0\" "
              "role=\"region\" aria-label=\"Both sides\"><table><thead><tr><td></td>");
    element(sink, "th scope=\"col\"", s->client.tool);
    element(sink, "th scope=\"col\"", server->producer);
    raw(sink, "<th scope=\"col\">client − server</th></tr></thead><tbody>\n");
    put_side(sink, "mean", c->mean_ns, t->mean_ns, s->client.time_step_ns);
    put_side(sink, "p50", c->p50_ns, t->p50_ns, s->client.time_step_ns);
    put_side(sink, "p90", c->p90_ns, t->p90_ns, s->client.time_step_ns);
    put_side(sink, "p99", c->p99_ns, t->p99_ns, s->client.time_step_ns);
    put_side(sink, "max", c->max_ns, t->max_ns, s->client.time_step_ns);
    raw(sink, "</tbody></table></div>\n");
}

static uint64_t share_of(uint64_t part, uint64_t whole, uint64_t scale)
{
    if (part == MST_UNKNOWN || whole == MST_UNKNOWN || whole == 0)
        return 0;
    return (uint64_t)((unsigned __int128)part * scale / whole);
}

/* The parts of the whole, and what PHP did in two of them, where that is known. */
struct part { const char *name, *label; const struct mst_summary_times *times; };
enum { PARTS_MAX = 7 };

static size_t parts_of(const struct mst_summary_server *s, struct part parts[PARTS_MAX])
{
    const struct mst_summary_times *p = s->phases;
    const struct part plain[] = {
        { "queue", "queue", &p[MST_PHASE_QUEUE] }, { "read", "read", &p[MST_PHASE_READ] },
        { "handle", "handle", &p[MST_PHASE_HANDLE] }, { "send", "send", &p[MST_PHASE_SEND] },
    }, with_php[] = {
        plain[0], plain[1],
        { "php_wait", "handle: waiting for PHP", &s->php.handle_wait },
        { "php_run", "handle: PHP runs", &s->php.handle_run },
        { "handle", "handle: the rest", &s->php.handle_other },
        { "send_php", "send: PHP still runs", &s->php.send_run },
        { "send", "send: the rest", &s->php.send_other },
    }, of_php[] = {
        { "php_wait", "waiting for PHP", &p[MST_PHASE_PHP_WAIT] },
        { "php_run", "PHP runs", &p[MST_PHASE_PHP_RUN] },
    };

    if (mst_summary_is_php(s)) {
        memcpy(parts, of_php, sizeof of_php);
        return sizeof of_php / sizeof *of_php;
    }
    if (s->php.joined > 0) {
        memcpy(parts, with_php, sizeof with_php);
        return sizeof with_php / sizeof *with_php;
    }
    memcpy(parts, plain, sizeof plain);
    return sizeof plain / sizeof *plain;
}

static void put_bar(struct mst_sink *sink, const struct mst_summary_server *server)
{
    struct part parts[PARTS_MAX];
    size_t count = parts_of(server, parts), i;
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
                      const struct part *part)
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
    cell(sink, MST_METRIC_TIME, t->mean_ns, mst_human_time(t->mean_ns));
    cell(sink, MST_METRIC_TIME, t->p50_ns, mst_human_time(t->p50_ns));
    cell(sink, MST_METRIC_TIME, t->p90_ns, mst_human_time(t->p90_ns));
    cell(sink, MST_METRIC_TIME, t->p99_ns, mst_human_time(t->p99_ns));
    cell(sink, MST_METRIC_TIME, t->max_ns, mst_human_time(t->max_ns));
    cell(sink, MST_METRIC_SHARE, share, mst_human_percent(share));
    raw(sink, "</tr>\n");
}

/* The parts, then what is no part of the sum. */
static void put_phases(struct mst_sink *sink, const struct mst_summary_server *server)
{
    struct part parts[PARTS_MAX];
    const struct part others[] = {
        { "total", "total", &server->phases[MST_PHASE_TOTAL] },
        { "held", "held a worker", &server->phases[MST_PHASE_HELD] },
        { "front", "before Apache (not in the total)", &server->phases[MST_PHASE_FRONT] },
    };
    size_t count = parts_of(server, parts), i;

    raw(sink, "<h3>Where the time went</h3>\n<p>queue + read + handle + send is the total, "
              "exactly; held is how much of it kept a worker.</p>\n");
    put_bar(sink, server);
    raw(sink, "<div class=\"scroll\" tabindex=\"0\" role=\"region\" aria-label=\"Phases\">"
              "<table><thead><tr><th scope=\"col\">phase</th><th scope=\"col\">mean</th>"
              "<th scope=\"col\">p50</th><th scope=\"col\">p90</th><th scope=\"col\">p99</th>"
              "<th scope=\"col\">max</th><th scope=\"col\">share</th></tr></thead><tbody>\n");
    for (i = 0; i < count; i++)
        if (parts[i].times->count > 0)
            put_phase(sink, server, &parts[i]);
    for (i = 0; i < sizeof others / sizeof *others; i++)
        if (others[i].times->count > 0)
            put_phase(sink, server, &others[i]);
    raw(sink, "</tbody></table></div>\n");
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
    element(sink, "th scope=\"row\"", advice->directive);
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
            element(sink, "h3", report->runs[i].title);
        raw(sink, "<div class=\"scroll\" tabindex=\"0\" role=\"region\" aria-label=\"Sizing\">"
                  "<table class=\"advice\"><tbody>\n");
        for (a = 0; a < MST_ADVICE_COUNT; a++)
            put_advice(sink, &sizing.advice[a]);
        raw(sink, "</tbody></table></div>\n");
    }
    if (report->count > 1) {
        mst_report_knee(&usl, report, knee, sizeof knee);
        raw(sink, "<h3>The knee</h3>\n");
        element(sink, "p", knee);
    }
    raw(sink, "</section>\n");
    return 0;
}

/* ---- provenance ------------------------------------------------------------------ */

static void put_pair(struct mst_sink *sink, const char *name, const char *value)
{
    if (value == NULL)
        return;
    raw(sink, "<tr>");
    element(sink, "th scope=\"row\"", name);
    element(sink, "td", value);
    raw(sink, "</tr>\n");
}

static bool put_environment(struct mst_sink *sink, sqlite3 *db, int64_t run_id)
{
    struct mst_query q = mst_query_ask(db, "SELECT name, value FROM environment WHERE run_id = ?1 "
                                           "ORDER BY name", run_id);

    while (mst_query_next(&q))
        put_pair(sink, mst_query_text(&q, 0), mst_query_text(&q, 1));
    return mst_query_done(&q);
}

static bool put_servers(struct mst_sink *sink, sqlite3 *db, int64_t run_id)
{
    struct mst_query q = mst_query_ask(db,
        "SELECT target, producer, server, mpm, sapi, version, pid FROM servers WHERE run_id = ?1 "
        "ORDER BY id", run_id);

    while (mst_query_next(&q)) {
        const char *mpm = mst_query_text(&q, 3), *sapi = mst_query_text(&q, 4);

        raw(sink, "<tr>");
        element(sink, "th scope=\"row\"", mst_query_text(&q, 1));
        raw(sink, "<td>");
        text(sink, mst_query_text(&q, 2));
        textf(sink, "%s%s", mpm != NULL ? ", " : "", mpm != NULL ? mpm : "");
        textf(sink, "%s%s", sapi != NULL ? ", " : "", sapi != NULL ? sapi : "");
        raw(sink, "; read from <code>");
        text(sink, mst_query_text(&q, 0));
        raw(sink, "</code>; mpmstat ");
        text(sink, mst_query_text(&q, 5));
        raw(sink, " in it</td></tr>\n");
    }
    return mst_query_done(&q);
}

/* The end of what the load tool printed: there a load tool says what it has found. */
static bool put_output(struct mst_sink *sink, sqlite3 *db, int64_t run_id)
{
    struct mst_query q = mst_query_ask(db,
        "SELECT stream, bytes, CAST(substr(content, -?2) AS TEXT) FROM output WHERE run_id = ?1 "
        "ORDER BY stream DESC", run_id);

    mst_query_bind(&q, 2, OUTPUT_SHOWN);
    while (mst_query_next(&q)) {
        uint64_t bytes = mst_query_number(&q, 1);

        if (bytes == 0)
            continue;
        raw(sink, "<details class=\"output\"><summary>The load tool's ");
        text(sink, mst_query_text(&q, 0));
        textf(sink, ", %" PRIu64 " bytes%s", bytes, bytes > OUTPUT_SHOWN ?
              " (the end of it; more is in the archive)" : "");
        raw(sink, "</summary><pre tabindex=\"0\">\n");
        text(sink, mst_query_text(&q, 2));
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
    element(sink, "h3", run->title);
    if (s->command_line != NULL)
        element(sink, "pre tabindex=\"0\"", s->command_line);
    raw(sink, "<div class=\"scroll\" tabindex=\"0\" role=\"region\" aria-label=\"Provenance\">"
              "<table class=\"pairs\"><tbody>\n");
    put_pair(sink, "archive", run->path);
    raw(sink, "<tr><th scope=\"row\">run</th><td>");
    textf(sink, "%" PRId64 ", begun ", s->id);
    if (s->started_ns != MST_UNKNOWN)
        mst_sink_instant(sink, s->started_ns);
    textf(sink, ", %s", s->outcome);
    if (s->exit_status != MST_UNKNOWN)
        textf(sink, ", exit status %" PRIu64, s->exit_status);
    if (s->exit_signal != MST_UNKNOWN)
        textf(sink, ", ended by signal %" PRIu64, s->exit_signal);
    raw(sink, "</td></tr>\n");
    put_pair(sink, "flags that mpmstat added", s->added);
    fine = put_servers(sink, db, s->id) && put_environment(sink, db, s->id);
    raw(sink, "</tbody></table></div>\n");
    fine = fine && put_output(sink, db, s->id);
    raw(sink, "</article>\n");
    return fine;
}

static const char chart_license[] =
    "Permission is hereby granted, free of charge, to any person obtaining a copy of this "
    "software and associated documentation files (the \"Software\"), to deal in the Software "
    "without restriction, including without limitation the rights to use, copy, modify, merge, "
    "publish, distribute, sublicense, and/or sell copies of the Software, and to permit persons "
    "to whom the Software is furnished to do so, subject to the following conditions: The above "
    "copyright notice and this permission notice shall be included in all copies or substantial "
    "portions of the Software. THE SOFTWARE IS PROVIDED \"AS IS\", WITHOUT WARRANTY OF ANY KIND, "
    "EXPRESS OR IMPLIED, INCLUDING BUT NOT LIMITED TO THE WARRANTIES OF MERCHANTABILITY, FITNESS "
    "FOR A PARTICULAR PURPOSE AND NONINFRINGEMENT. IN NO EVENT SHALL THE AUTHORS OR COPYRIGHT "
    "HOLDERS BE LIABLE FOR ANY CLAIM, DAMAGES OR OTHER LIABILITY, WHETHER IN AN ACTION OF "
    "CONTRACT, TORT OR OTHERWISE, ARISING FROM, OUT OF OR IN CONNECTION WITH THE SOFTWARE OR THE "
    "USE OR OTHER DEALINGS IN THE SOFTWARE.";

static void put_footer(struct mst_sink *sink)
{
    raw(sink, "</main>\n<footer><p>Written by mpmstat " MPMSTAT_VERSION ". Every number is of all "
              "recorded rows; time is in the server's and the load tool's own clocks. Nothing on "
              "this page is fetched from anywhere.</p>\n<details><summary>Charts: Chart.js, © "
              "Chart.js Contributors, MIT License</summary><p>");
    text(sink, chart_license);
    raw(sink, "</p></details></footer>\n");
}

/* ---- all of it ------------------------------------------------------------------- */

static int put_scripts(struct mst_sink *sink, const struct mst_report *report,
                       char error[MST_ERROR_MAX])
{
    struct mst_script script = { .to = sink };
    struct mst_sink inner;
    int status;

    raw(sink, "<script type=\"application/json\" id=\"data\">");
    mst_sink_init(&inner, mst_script_write, &script);
    status = mst_report_data(&inner, report, error);
    mst_sink_flush(&inner);
    mst_script_end(&script);
    raw(sink, "</script>\n<script>");
    raw(sink, chart_js);
    raw(sink, "</script>\n<script>");
    raw(sink, report_js);
    raw(sink, "</script>\n</body>\n</html>\n");
    return status;
}

int mst_report_html(struct mst_sink *sink, const struct mst_report *report,
                    char error[MST_ERROR_MAX])
{
    size_t i;

    put_head(sink, report);
    put_header(sink, report);
    raw(sink, "<section id=\"verdict\">\n<h2>Verdict</h2>\n");
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
    raw(sink, "</section>\n");
    put_footer(sink);
    return put_scripts(sink, report, error);
}
