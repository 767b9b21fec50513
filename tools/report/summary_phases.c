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
#include "doc/lines.h"
#include "report/summary_text.h"
#include "segment/fields.h"
#include "segment/format.h"

#define LINE_COLUMNS 100u
#define BAR_MAX      30u
#define BAR_GAP      2u

struct table {
    struct mst_sink *sink;
    const struct mst_summary_server *server;
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

/* The parts within a phase, or php_run, whose time is `whole`: they add up to it. The rest is not
 * shown where it is all of it: that says no more than the phase. */
static bool is_shown(const struct table *t, enum mst_part part,
                     const struct mst_summary_times *whole)
{
    return t->server->parts[part].requests > 0 &&
           (t->server->parts[part].times.sum_ns != whole->sum_ns || !mst_part_is_rest(part));
}

static void put_run(const struct table *t, const struct mst_summary_times *whole)
{
    enum mst_part part;

    for (part = 0; part < MST_PART_COUNT; part++)
        if (mst_parts[part].within == MST_WITHIN_PHP_RUN && is_shown(t, part, whole))
            put_row(t, PART, mst_part_row(part), &t->server->parts[part].times);
}

/* php_run has two rows: one behind php_wait in the phase `handle`, and one in the phase `send` for
 * the part that ran while the answer was sent. In brief both are one row, with the parts below it;
 * else that row follows the total. */
static void put_parts(const struct table *t, enum mst_within within,
                      const struct mst_summary_times *whole, enum level level)
{
    const struct mst_summary_overlay *php = &t->server->php;
    bool is_joined = php->joined > 0, brief = t->form->brief;
    enum mst_part part;

    if (within == MST_WITHIN_SEND && is_joined && !brief && php->send_run.sum_ns > 0)
        put_row(t, level, "php_run", &php->send_run);
    for (part = 0; part < MST_PART_COUNT; part++) {
        if (mst_parts[part].within == within && is_shown(t, part, whole))
            put_row(t, level, mst_part_row(part), &t->server->parts[part].times);
        if (part != MST_PART_PHP_WAIT || within != MST_WITHIN_HANDLE || !is_joined)
            continue;
        put_row(t, level, "php_run", brief ? &php->run : &php->handle_run);
        if (brief)
            put_run(t, &php->run);
    }
}

static void put_log(const struct table *t)
{
    if (mst_summary_has_interval(t->server, MST_INTERVAL_LOG))
        put_row(t, PART, "log", &t->server->intervals[MST_INTERVAL_LOG].times);
}

/* In brief, php_wait and php_run take the place of the phase `handle`, in which Apache waits for
 * PHP; and the phase `send` is shown without the time in which PHP still ran. */
static void put_phase(const struct table *t, enum mst_phase phase)
{
    static const int within[MST_PHASE_COUNT] = {
        [MST_PHASE_QUEUE] = MST_WITHIN_QUEUE, [MST_PHASE_READ] = MST_WITHIN_READ,
        [MST_PHASE_HANDLE] = MST_WITHIN_HANDLE, [MST_PHASE_SEND] = MST_WITHIN_SEND,
    };
    const struct mst_summary_times *times = &t->server->phases[phase];
    bool replaced = t->form->brief && t->server->php.joined > 0;

    if (replaced && phase == MST_PHASE_SEND)
        times = &t->server->php.send_other;
    if (!replaced || phase != MST_PHASE_HANDLE)
        put_row(t, PHASE, mst_phase_names[phase], times);
    if (phase <= MST_PHASE_SEND)
        put_parts(t, (enum mst_within)within[phase], times,
                  replaced && phase == MST_PHASE_HANDLE ? PHASE : PART);
    else if (phase == MST_PHASE_HELD)
        put_log(t);
    else if (phase == MST_PHASE_PHP_RUN)
        put_run(t, times);
}

/* It follows the total, so it has no share of it. */
static void put_undelivered(struct mst_sink *sink, const struct mst_summary_interval *i)
{
    mst_line(sink, "  undelivered then: of %s requests, for %s on average over all, %s at most",
             mst_format_count(i->requests).text, mst_format_time(i->times.mean_ns).text,
             mst_format_time(i->times.max_ns).text);
}

/* Whether the phase is the sum of the others, or not of the server's time. */
static bool is_overall(enum mst_phase phase)
{
    return phase == MST_PHASE_TOTAL || phase == MST_PHASE_HELD;
}

void mst_summary_phases_text(struct mst_sink *sink, const struct mst_summary_server *server,
                             const struct mst_text_form *form)
{
    const struct table t = { sink, server, form };
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
        put_phase(&t, phases[i]);
    }
    if (!form->brief && server->php.joined > 0) {
        put_row(&t, PHASE, "php_run", &server->php.run);
        put_run(&t, &server->php.run);
    }
    if (!form->brief && mst_summary_has_interval(server, MST_INTERVAL_UNDELIVERED))
        put_undelivered(sink, &server->intervals[MST_INTERVAL_UNDELIVERED]);
    if (!form->brief)
        mst_sink_char(sink, '\n');
}
