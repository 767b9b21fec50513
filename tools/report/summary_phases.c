/* summary_phases.c - where a server's time went, as a table for a terminal: see summary_text.h.
 *
 * A row for each phase, and for each part that is large enough below its phase. In brief, only rows
 * with their share of the time, and PHP's parts where PHP ran. The bars take what the columns leave
 * of a line.
 */
#include <stdio.h>
#include <string.h>

#include "analysis/thresholds.h"
#include "base/ratio.h"
#include "console/format.h"
#include "report/lines.h"
#include "report/summary_text.h"
#include "segment/fields.h"
#include "segment/format.h"

#define LINE_COLUMNS 100u
#define BAR_MAX      30u
#define BAR_GAP      2u

struct table {
    struct mst_sink *sink;
    const struct mst_summary_server *server;
    const struct mst_summary_server *php;   /* whose requests all are the server's; NULL: none */
    const struct mst_text_form *form;
};

/* A line of at most LINE_COLUMNS. */
struct line { char text[LINE_COLUMNS + 1]; size_t used; };

static void add_column(struct line *line, int width, const char *text)
{
    size_t room = sizeof line->text - line->used;
    int n = snprintf(line->text + line->used, room, "%*s", width, text);

    line->used += n < 0 ? 0 : (size_t)n < room ? (size_t)n : room - 1;
}

static void put_title(const struct table *t)
{
    struct line line = { 0 };
    enum mst_percentile p;

    add_column(&line, -12, "  phase");
    add_column(&line, 8, "mean");
    for (p = 0; p < MST_PERCENTILE_COUNT; p++)
        if (mst_percentile_is_shown(t->form->percentiles, p))
            add_column(&line, 9, mst_percentile_names[p]);
    add_column(&line, 9, "max");
    add_column(&line, 9, "share");
    mst_line(t->sink, "%s", line.text);
}

static void add_bar(struct line *line, uint64_t share_milli)
{
    size_t room = sizeof line->text - 1 - line->used;
    size_t most = room < BAR_GAP ? 0 : room - BAR_GAP < BAR_MAX ? room - BAR_GAP : BAR_MAX;
    size_t cells = (size_t)((share_milli * most + 500) / 1000);

    if (cells == 0)
        return;
    add_column(line, BAR_GAP, "");
    memset(line->text + line->used, '#', cells < most ? cells : most);
}

/* PART: it is a part of the phase above. */
enum level { PHASE, PART };

static void put_row(const struct table *t, enum level level, const char *name,
                    const struct mst_summary_times *times)
{
    uint64_t total_ns = t->server->phases[MST_PHASE_TOTAL].sum_ns, share = 0;
    struct line line = { 0 };
    enum mst_percentile p;

    if (times->sum_ns != MST_UNKNOWN && total_ns != MST_UNKNOWN && total_ns != 0)
        share = mst_milli(times->sum_ns, total_ns);
    if (t->form->brief && share < MST_BRIEF_SHARE_MILLI)
        return;
    add_column(&line, 2, "");
    if (level == PART)
        add_column(&line, 2, "| ");
    add_column(&line, level == PART ? -8 : -10, name);
    add_column(&line, 8, mst_format_time(times->mean_ns).text);
    for (p = 0; p < MST_PERCENTILE_COUNT; p++)
        if (mst_percentile_is_shown(t->form->percentiles, p))
            add_column(&line, 9, mst_format_time(mst_summary_percentile(times, p)).text);
    add_column(&line, 9, mst_format_time(times->max_ns).text);
    add_column(&line, 9, mst_format_percent(share).text);
    add_bar(&line, share);
    mst_line(t->sink, "%s", line.text);
}

/* Returns whether there is enough of it to be shown. */
static bool put_interval(const struct table *t, enum level level, const char *name,
                         enum mst_interval interval)
{
    if (!mst_summary_has_interval(t->server, interval))
        return false;
    put_row(t, level, name, &t->server->intervals[interval].times);
    return true;
}

/* In brief, what PHP did takes the place of the phase in which Apache waited for it. */
static bool is_replaced(const struct table *t, enum mst_phase phase)
{
    return phase == MST_PHASE_HANDLE && t->form->brief && t->server->php.joined > 0;
}

static void put_part_of_run(const struct table *t, const struct mst_summary_server *php,
                            const char *name, const struct mst_summary_times *times)
{
    if (times->count > 0 &&
        mst_summary_is_much(times->sum_ns, php->phases[MST_PHASE_PHP_RUN].sum_ns))
        put_row(t, PART, name, times);
}

/* What PHP's requests did and waited for: they add up to php_run. */
static void put_run(const struct table *t, const struct mst_summary_server *php)
{
    const struct mst_summary_run *run = &php->run;
    int i;

    put_part_of_run(t, php, "cpu", &run->cpu);
    put_part_of_run(t, php, "cpu wait", &run->cpu_wait);
    for (i = 0; i < MST_WAIT_COUNT; i++)
        put_part_of_run(t, php, mst_wait_names[i], &run->waits[i].times);
    if (run->cpu.count > 0)
        put_part_of_run(t, php, "rest", &run->rest);
}

/* What PHP did during an Apache's phase: with the intervals, the rows add up to the phase's. */
static void put_handle(const struct table *t)
{
    const struct mst_summary_overlay *php = &t->server->php;
    enum level level = is_replaced(t, MST_PHASE_HANDLE) ? PHASE : PART;
    bool split = put_interval(t, level, "checks", MST_INTERVAL_CHECKS);

    split = put_interval(t, level, "upload", MST_INTERVAL_UPLOAD) || split;
    if (php->joined == 0) {
        put_interval(t, level, "backend", MST_INTERVAL_BACKEND);
        return;
    }
    put_row(t, level, "php_wait", &php->handle_wait);
    put_row(t, level, "php_run", &php->handle_run);
    if (level == PHASE && t->php != NULL)
        put_run(t, t->php);
    put_row(t, level, "other", split ? &php->handle_rest : &php->handle_other);
}

static void put_send(const struct table *t)
{
    const struct mst_summary_overlay *php = &t->server->php;

    put_interval(t, PART, "client", MST_INTERVAL_SEND_CLIENT);
    put_interval(t, PART, "network", MST_INTERVAL_SEND_NETWORK);
    put_interval(t, PART, "server", MST_INTERVAL_SEND_SERVER);
    if (php->joined > 0 && php->send_run.sum_ns > 0) {
        put_row(t, PART, "php_run", &php->send_run);
        put_row(t, PART, "other", &php->send_other);
    }
}

/* What a phase consists of, and what follows the total. */
static void put_parts(const struct table *t, enum mst_phase phase)
{
    switch (phase) {
    case MST_PHASE_QUEUE:
        put_interval(t, PART, "h2_wait", MST_INTERVAL_H2_WAIT);
        break;
    case MST_PHASE_READ:
        put_interval(t, PART, "tls", MST_INTERVAL_TLS);
        break;
    case MST_PHASE_HANDLE:
        put_handle(t);
        break;
    case MST_PHASE_SEND:
        put_send(t);
        break;
    case MST_PHASE_HELD:
        put_interval(t, PART, "log", MST_INTERVAL_LOG);
        break;
    case MST_PHASE_PHP_RUN:
        put_run(t, t->server);
        break;
    default:
        break;
    }
}

/* It follows the total, so it has no share of it. */
static void put_undelivered(struct mst_sink *sink, const struct mst_summary_interval *i)
{
    mst_line(sink, "  undelivered then: of %s requests, for %s on average over all, %s at most",
             mst_format_count(i->requests).text, mst_format_time(i->times.mean_ns).text,
             mst_format_time(i->times.max_ns).text);
}

/* The PHP of which a part's time can be compared with the server's: all its requests are this
 * server's, and all that came to PHP are its. */
static const struct mst_summary_server *php_of(const struct mst_summary *s,
                                               const struct mst_summary_server *server)
{
    const struct mst_summary_server *php = mst_summary_php_of(s, server);

    return php != NULL && php->joined == php->requests && php->joined == server->php.joined ? php
                                                                                            : NULL;
}

/* Whether the phase is the sum of the others, or not of the server's time. */
static bool is_overall(enum mst_phase phase)
{
    return phase == MST_PHASE_TOTAL || phase == MST_PHASE_HELD;
}

void mst_summary_phases_text(struct mst_sink *sink, const struct mst_summary *s,
                             const struct mst_summary_server *server,
                             const struct mst_text_form *form)
{
    const struct table t = { sink, server, php_of(s, server), form };
    const enum mst_phase *phases;
    size_t count = mst_summary_phases(server, &phases), i;

    if (server->requests == 0)
        return;
    put_title(&t);
    for (i = 0; i < count; i++) {
        if (phases[i] == MST_PHASE_FRONT && server->phases[phases[i]].count == 0)
            continue;   /* no proxy sent X-Request-Start */
        if (form->brief && is_overall(phases[i]))
            continue;
        if (!is_replaced(&t, phases[i]))
            put_row(&t, PHASE, mst_phase_names[phases[i]], &server->phases[phases[i]]);
        put_parts(&t, phases[i]);
    }
    if (!form->brief && mst_summary_has_interval(server, MST_INTERVAL_UNDELIVERED))
        put_undelivered(sink, &server->intervals[MST_INTERVAL_UNDELIVERED]);
    if (!form->brief)
        mst_sink_char(sink, '\n');
}
