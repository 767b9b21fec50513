/* show.c - an explanation for a terminal, and as JSON. */
#include <inttypes.h>
#include <stdio.h>
#include <string.h>

#include "base/clock.h"
#include "console/format.h"
#include "doc/lines.h"
#include "explain/explain.h"
#include "render/held.h"
#include "render/json_writer.h"
#include "report/metrics.h"
#include "report/names.h"
#include "report/report.h"
#include "segment/fields.h"

#define WORKERS_SHOWN 10u     /* the longest on their requests; JSON has all */

/* ---- text ---------------------------------------------------------------------------------- */

static const char *name_of(const struct mst_explained_server *s, char name[96])
{
    const struct mst_source_identity *id = mst_source_identity(s->source);
    const char *kind = id->mpm[0] != '\0' ? id->mpm : id->sapi;

    snprintf(name, 96, "%s%s%.40s", mst_producer_name(id->producer), kind[0] != '\0' ? " " : "",
             kind);
    return name;
}

/* Its name in the file of targets, if any, with its kind. */
static const char *called(const struct mst_explained_server *s, char text[192])
{
    char name[96];

    if (s->target->label == NULL)
        return name_of(s, text);
    snprintf(text, 192, "%.80s: %s", s->target->label, name_of(s, name));
    return text;
}

static void put_head(struct mst_sink *sink, const struct mst_explanation *e)
{
    struct mst_formatted until = mst_format_clock(e->until_ns);

    if (e->stuck_count == 0 && e->from_ns < e->until_ns)
        mst_line(sink, "%s to %s (%s): what the journals have", mst_format_clock(e->from_ns).text,
                 until.text, mst_format_time(e->until_ns - e->from_ns).text);
    else
        mst_line(sink, "%s, now", until.text);
    mst_sink_char(sink, '\n');
}

static void put_title(struct mst_sink *sink, const char *title, const char *of)
{
    mst_sink_char(sink, '\n');
    mst_line_styled(sink, MST_STYLE_STRONG, "%s%s", title, of);
}

/* "3 handling, 2 reading" of the workers that are busy. */
static void put_states(const struct mst_explained_server *s, char *text, size_t size)
{
    size_t used = 0, i;
    uint64_t count;
    unsigned state;

    text[0] = '\0';
    for (state = 0; state < MST_STATE_COUNT; state++) {
        for (count = i = 0; i < s->now.worker_count; i++)
            count += strcmp(s->now.workers[i].state, mst_state_names[state]) == 0;
        if (count > 0 && used < size)
            used += (size_t)snprintf(text + used, size - used, "%s%" PRIu64 " %s",
                                     used > 0 ? ", " : ": ", count, mst_state_names[state]);
    }
}

static bool is_shown(const struct mst_explained_server *s)
{
    return !s->is_aside || s->is_missed;
}

static void put_server(struct mst_sink *sink, const struct mst_explained_server *s)
{
    const struct mst_sample *now = &s->sample;
    char name[192], states[160], limit[40] = "", queue[96] = "", left[64] = "";

    if (!s->is_running) {
        if (s->workers_left > 0)
            snprintf(left, sizeof left, "; %" PRIu64 " of its workers serve", s->workers_left);
        mst_line_styled(sink, MST_STYLE_ERROR, "  %-22s %s%s", called(s, name),
                        s->is_without ? "runs without mpmstat" : "does not run", left);
        return;
    }
    put_states(s, states, sizeof states);
    if (now->listen_queue != MST_UNKNOWN && now->listen_queue_limit != MST_UNKNOWN)
        snprintf(queue, sizeof queue, "; accept queue %" PRIu64 " of %" PRIu64, now->listen_queue,
                 now->listen_queue_limit);
    if (now->workers_limit != MST_UNKNOWN)
        snprintf(limit, sizeof limit, "of %" PRIu64 " ", now->workers_limit);
    mst_line_styled(sink, s->now.worker_count >= now->workers_limit ? MST_STYLE_WARNING
                                                                : MST_STYLE_PLAIN,
                    "  %-22s %zu %sworkers busy%s%s", called(s, name), s->now.worker_count, limit,
                    states, queue);
}

static void put_place(struct mst_sink *sink, const struct mst_present_worker *w)
{
    char code[MST_CODE_WORDS_MAX];

    if (w->code.function[0] == '\0')
        return;
    mst_code_words(code, w->code.function, w->code.file, w->code.line);
    mst_line(sink, "  %10s  %s %s", "", w->wait[0] != '\0' ? "in" : "last seen in", code);
}

/* `when`: for how long, or since when it has its request. */
static void put_worker(struct mst_sink *sink, const struct mst_explained_server *s,
                       const struct mst_present_worker *w, const char *when)
{
    char wait[2 * MST_WAIT_WORDS_MAX] = "", words[MST_WAIT_WORDS_MAX], name[96];

    mst_wait_words(words, w->wait, w->wait_end);
    if (w->wait[0] != '\0')
        snprintf(wait, sizeof wait, "  waits for %s%s%s", words,
                 w->wait_ns != MST_UNKNOWN ? ", " : "",
                 w->wait_ns != MST_UNKNOWN ? mst_format_time(w->wait_ns).text : "");
    mst_line(sink, "  %10s  %-10s pid %-8" PRIu64 " %-20s %s%s%s%s", when, w->state, w->pid,
             name_of(s, name), w->label, w->path[0] != '\0' ? " " : "", w->path, wait);
    put_place(sink, w);
}

/* Of a server that was killed: which requests it had then, and since when. */
static void put_left(struct mst_sink *sink, const struct mst_explained_server *s)
{
    size_t i;

    if (s->now.left_count == 0)
        return;
    put_title(sink, "Requests that died with ", mst_source_called(s->source));
    for (i = 0; i < s->now.left_count && i < WORKERS_SHOWN; i++)
        put_worker(sink, s, &s->now.workers[i], mst_format_clock(s->now.workers[i].since_ns).text);
}

static void put_workers(struct mst_sink *sink, const struct mst_explanation *e)
{
    const struct mst_present *now;
    size_t i, k;

    for (i = 0; i < e->server_count; i++) {
        now = &e->servers[i].now;
        if (now->worker_count > 0)
            put_title(sink, "Longest on their requests in ",
                      mst_source_called(e->servers[i].source));
        for (k = 0; k < now->worker_count && k < WORKERS_SHOWN; k++)
            put_worker(sink, &e->servers[i], &now->workers[k],
                       mst_format_time(now->workers[k].busy_ns).text);
        put_left(sink, &e->servers[i]);
    }
}

/* Rate and times of the requests that ended in the window. The last line is an empty one. */
static void put_requests(struct mst_sink *sink, const struct mst_summary *s)
{
    const struct mst_doc doc = mst_doc_text(sink, MST_TEXT_WIDTH);
    bool have_some = false;
    size_t i;

    for (i = 0; i < s->server_count; i++) {
        const struct mst_summary_server *server = &s->servers[i];
        const struct mst_summary_times *t = &server->phases[MST_PHASE_TOTAL];
        char lead[32], text[384];   /* each number takes at most 31 bytes */
        enum mst_percentile p;
        int used;

        if (server->requests == 0)
            continue;
        have_some = true;
        snprintf(lead, sizeof lead, "  %.28s",
                 server->name != NULL ? server->name : mst_producer_name(server->producer));
        used = snprintf(text, sizeof text, "%s requests (%s/s), 5xx %s; mean %s",
                        mst_format_count(server->requests).text,
                        mst_format_milli(mst_summary_rate_milli(s, server)).text,
                        mst_format_count(server->errors_5xx).text,
                        mst_format_time(t->mean_ns).text);
        for (p = 0; p < MST_PERCENTILE_COUNT; p++)
            used += snprintf(text + used, sizeof text - (size_t)used, ", %s %s",
                             mst_percentile_names[p],
                             mst_format_time(mst_summary_percentile(t, p)).text);
        mst_wrapped(sink, lead, 25, MST_TEXT_WIDTH, text);
    }
    if (!have_some)
        mst_line(sink, "  none");
    mst_sink_char(sink, '\n');
    for (i = 0; i < s->server_count; i++)
        if (!mst_summary_is_php(&s->servers[i]) && s->servers[i].requests > 0)
            mst_pages_put(&doc, &s->servers[i], MST_NAMES_FEW);
}

void mst_explain_text(struct mst_sink *sink, const struct mst_explanation *e)
{
    size_t i;

    put_head(sink, e);
    mst_report_findings_text(sink, &e->summary);
    put_title(sink, "Now", "");
    for (i = 0; i < e->server_count; i++)
        if (is_shown(&e->servers[i]))
            put_server(sink, &e->servers[i]);
    if (e->knows_pressure)
        mst_line(sink, "  %-22s a thread waited for a CPU for %s of 10 s, %s of 60 s, %s of 5 min",
                 "the machine", mst_format_percent(e->cpu_pressure_milli[0]).text,
                 mst_format_percent(e->cpu_pressure_milli[1]).text,
                 mst_format_percent(e->cpu_pressure_milli[2]).text);
    put_workers(sink, e);
    if (e->stuck_count == 0 && e->from_ns < e->until_ns) {
        put_title(sink, "Requests that ended", "");
        put_requests(sink, &e->summary);
    } else {
        mst_sink_char(sink, '\n');
    }
    mst_wrapped(sink, "", 0, MST_TEXT_WIDTH, "Not known without a recording (mpmstat record): what "
                "clients saw, how busy the CPUs were, and queues before now.");
}

/* ---- JSON ---------------------------------------------------------------------------------- */

static void put_json_worker(struct mst_json *j, const struct mst_present_worker *w)
{
    mst_json_begin(j, NULL, '{');
    mst_json_count(j, "pid", w->pid);
    mst_json_string(j, "state", w->state);
    mst_json_seconds(j, "busy_for_seconds", w->busy_ns);
    mst_json_instant(j, "request_since", w->since_ns);
    mst_json_string(j, "label", w->label[0] != '\0' ? w->label : NULL);
    mst_json_string(j, "path", w->path[0] != '\0' ? w->path : NULL);
    mst_json_string(j, "wait", w->wait[0] != '\0' ? w->wait : NULL);
    mst_json_string(j, "wait_end", w->wait_end[0] != '\0' ? w->wait_end : NULL);
    mst_json_seconds(j, "wait_for_seconds", w->wait_ns);
    mst_held_put_code(j, &w->code);
    mst_json_end(j, '}');
}

static void put_json_workers(struct mst_json *j, const char *name,
                             const struct mst_present *present, size_t count)
{
    size_t i;

    mst_json_begin(j, name, '[');
    for (i = 0; i < count; i++) {
        mst_json_line(j, 3);
        put_json_worker(j, &present->workers[i]);
    }
    mst_json_end(j, ']');
}

static void put_json_server(struct mst_json *j, const struct mst_explained_server *s)
{
    const struct mst_source_identity *id = mst_source_identity(s->source);

    mst_json_begin(j, NULL, '{');
    mst_json_string(j, "target", mst_source_name(s->source));
    mst_json_string(j, "name", s->target->label);
    mst_json_string(j, "producer", mst_producer_name(id->producer));
    mst_json_bool(j, "running", s->is_running);
    mst_json_count(j, "workers_limit", s->sample.workers_limit);
    mst_json_count(j, "workers_busy", s->now.worker_count);
    mst_json_count(j, "listen_queue", s->sample.listen_queue);
    mst_json_count(j, "listen_queue_limit", s->sample.listen_queue_limit);
    put_json_workers(j, "workers", &s->now, s->now.worker_count);
    put_json_workers(j, "died_with_it", &s->now, s->now.left_count);
    mst_json_end(j, '}');
}

static void put_json_pressure(struct mst_json *j, const struct mst_explanation *e)
{
    static const char *const names[MST_PRESSURE_SPANS] = { "10", "60", "300" };
    unsigned i;

    mst_json_line(j, 1);
    mst_json_begin(j, "cpu_pressure_by_seconds", '{');
    for (i = 0; i < MST_PRESSURE_SPANS; i++)
        mst_put_milli(j, names[i], e->knows_pressure ? e->cpu_pressure_milli[i] : MST_UNKNOWN);
    mst_json_end(j, '}');
}

void mst_explain_json(struct mst_sink *sink, const struct mst_explanation *e)
{
    struct mst_json writer = { .out = sink, .spaced = true }, *j = &writer;
    size_t i;

    mst_json_begin(j, NULL, '{');
    mst_json_line(j, 1);
    mst_json_instant(j, "from", e->from_ns);
    mst_json_instant(j, "until", e->until_ns);
    mst_json_line(j, 1);
    mst_json_begin(j, "now", '[');
    for (i = 0; i < e->server_count; i++) {
        if (!is_shown(&e->servers[i]))
            continue;
        mst_json_line(j, 2);
        put_json_server(j, &e->servers[i]);
    }
    mst_json_end(j, ']');
    put_json_pressure(j, e);
    mst_json_line(j, 1);
    mst_json_value(j, "past");
    mst_report_json(sink, &e->summary);
    mst_json_end(j, '}');
    mst_sink_char(sink, '\n');
}
