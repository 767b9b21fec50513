/* summary_json.c - a run's summary as JSON: see report.h. */
#include <stdio.h>

#include "report/report.h"
#include "segment/fields.h"
#include "segment/format.h"

#define PROGRAMS_SHOWN 10u   /* the busiest; the archive has more */

/* ---- members --------------------------------------------------------------------- */

static void key(struct mst_sink *sink, const char *name, bool first)
{
    mst_sink_puts(sink, first ? "\"" : ", \"");
    mst_sink_puts(sink, name);
    mst_sink_puts(sink, "\": ");
}

static void count(struct mst_sink *sink, const char *name, uint64_t n, bool first)
{
    key(sink, name, first);
    if (n == MST_UNKNOWN)
        mst_sink_puts(sink, "null");
    else
        mst_sink_u64(sink, n);
}

static void seconds(struct mst_sink *sink, const char *name, uint64_t ns, bool first)
{
    key(sink, name, first);
    if (ns == MST_UNKNOWN)
        mst_sink_puts(sink, "null");
    else
        mst_sink_seconds(sink, ns);
}

static void milli(struct mst_sink *sink, const char *name, uint64_t thousandths, bool first)
{
    char fraction[8];

    key(sink, name, first);
    if (thousandths == MST_UNKNOWN) {
        mst_sink_puts(sink, "null");
        return;
    }
    snprintf(fraction, sizeof fraction, ".%03u", (unsigned)(thousandths % 1000));
    mst_sink_u64(sink, thousandths / 1000);
    mst_sink_puts(sink, fraction);
}

static void string(struct mst_sink *sink, const char *name, const char *text, bool first)
{
    key(sink, name, first);
    mst_sink_json_string(sink, text);
}

static void quantiles(struct mst_sink *sink, const struct mst_summary_times *t)
{
    seconds(sink, "p50_seconds", t->p50_ns, false);
    seconds(sink, "p90_seconds", t->p90_ns, false);
    seconds(sink, "p99_seconds", t->p99_ns, false);
    seconds(sink, "max_seconds", t->max_ns, false);
}

/* ---- the parts ------------------------------------------------------------------- */

static void put_programs(struct mst_sink *sink, const struct mst_summary *s)
{
    size_t i;

    mst_sink_puts(sink, ",\n  \"programs\": [");
    for (i = 0; i < s->program_count && i < PROGRAMS_SHOWN; i++) {
        mst_sink_puts(sink, i > 0 ? ", {" : "{");
        string(sink, "program", s->programs[i].name, true);
        seconds(sink, "cpu_seconds", s->programs[i].cpu_ns, false);
        mst_sink_puts(sink, "}");
    }
    mst_sink_puts(sink, "]");
}

static void put_run(struct mst_sink *sink, const struct mst_summary *s)
{
    mst_sink_puts(sink, "\"run\": {\"id\": ");
    mst_sink_i64(sink, s->id);
    string(sink, "name", s->name, false);
    count(sink, "repetition", s->repetition, false);
    key(sink, "command", false);
    mst_sink_json(sink, s->command_json);
    string(sink, "added", s->added, false);
    key(sink, "started", false);
    if (s->started_ns == MST_UNKNOWN) {
        mst_sink_puts(sink, "null");
    } else {
        mst_sink_char(sink, '"');
        mst_sink_instant(sink, s->started_ns);
        mst_sink_char(sink, '"');
    }
    seconds(sink, "duration_seconds", s->duration_ns, false);
    key(sink, "complete", false);
    mst_sink_puts(sink, s->complete ? "true" : "false");
    string(sink, "outcome", mst_outcome_names[s->outcome], false);
    count(sink, "exit_status", s->exit_status, false);
    milli(sink, "machine_cpu_busy", s->machine_busy_milli, false);
    count(sink, "listen_overflows", s->listen_overflows, false);
    seconds(sink, "memory_cost_seconds", s->memory_cost_ns, false);
    seconds(sink, "memory_stall_seconds", s->memory_stall_ns, false);
    count(sink, "oom_kills", s->oom_kills, false);
    count(sink, "max_runnable", s->max_runnable, false);
    seconds(sink, "cpu_stall_seconds", s->cpu_stall_ns, false);
    count(sink, "tcp_retransmits", s->tcp_retransmits, false);
    count(sink, "syn_retransmits", s->syn_retransmits, false);
    seconds(sink, "recorder_cpu_seconds", s->recorder_cpu_ns, false);
    put_programs(sink, s);
    mst_sink_puts(sink, "}");
}

/* What the server does not see: connecting, the network, the client itself. */
static void put_difference(struct mst_sink *sink, const struct mst_summary *s)
{
    const struct mst_summary_server *server = mst_summary_front(s);
    uint64_t client_ns = s->client.times.mean_ns, server_ns;

    server_ns = server != NULL ? server->phases[MST_PHASE_TOTAL].mean_ns : MST_UNKNOWN;
    key(sink, "mean_minus_server_seconds", false);
    if (client_ns == MST_UNKNOWN || server_ns == MST_UNKNOWN) {
        mst_sink_puts(sink, "null");
        return;
    }
    if (client_ns < server_ns)
        mst_sink_char(sink, '-');
    mst_sink_seconds(sink, client_ns < server_ns ? server_ns - client_ns : client_ns - server_ns);
}

/* The same of each request that is known on both sides. */
static void put_join(struct mst_sink *sink, const struct mst_summary_join *join)
{
    static const char *const by[] = { [MST_JOIN_NONE] = NULL, [MST_JOIN_ID] = "id",
                                      [MST_JOIN_TIME] = "time" };

    mst_sink_puts(sink, ",\n  \"joined\": {");
    string(sink, "by", by[join->by], true);
    count(sink, "requests", join->apart.count, false);
    count(sink, "ambiguous", join->ambiguous, false);
    seconds(sink, "mean_minus_server_seconds", join->apart.mean_ns, false);
    quantiles(sink, &join->apart);
    mst_sink_puts(sink, "}");
}

static void put_client(struct mst_sink *sink, const struct mst_summary *s)
{
    const struct mst_summary_client *c = &s->client;

    mst_sink_puts(sink, ",\n \"client\": ");
    if (c->tool == NULL) {
        mst_sink_puts(sink, "null");
        return;
    }
    mst_sink_puts(sink, "{");
    string(sink, "tool", c->tool, true);
    count(sink, "requests", c->requests, false);
    count(sink, "failed", c->failed, false);
    count(sink, "unfinished", c->unfinished, false);
    milli(sink, "requests_per_second", c->requests_per_1000s, false);
    seconds(sink, "mean_seconds", c->times.mean_ns, false);
    quantiles(sink, &c->times);
    count(sink, "non_2xx", c->non_2xx, false);
    count(sink, "failed_connect", c->failed_connect, false);
    count(sink, "failed_receive", c->failed_receive, false);
    count(sink, "failed_length", c->failed_length, false);
    count(sink, "failed_timeout", c->failed_timeout, false);
    count(sink, "failed_other", c->failed_other, false);
    count(sink, "concurrency", c->concurrency, false);
    count(sink, "bytes", c->bytes, false);
    count(sink, "rows", c->times.count, false);
    seconds(sink, "resolution_seconds", c->time_step_ns, false);
    key(sink, "corrected", false);
    mst_sink_puts(sink, c->corrected ? "true" : "false");
    seconds(sink, "cpu_seconds", s->tool_cpu_ns, false);
    put_difference(sink, s);
    put_join(sink, &c->join);
    mst_sink_puts(sink, "}");
}

static void put_times(struct mst_sink *sink, const char *name, const struct mst_summary_times *t,
                      bool first)
{
    mst_sink_puts(sink, first ? "\"" : ",\n    \"");
    mst_sink_puts(sink, name);
    mst_sink_puts(sink, "\": {");
    count(sink, "count", t->count, true);
    seconds(sink, "sum_seconds", t->sum_ns, false);
    seconds(sink, "mean_seconds", t->mean_ns, false);
    quantiles(sink, t);
    mst_sink_puts(sink, "}");
}

static void put_phases(struct mst_sink *sink, const struct mst_summary_server *server)
{
    const enum mst_phase *phases;
    size_t count = mst_summary_phases(server, &phases), i;

    mst_sink_puts(sink, ",\n   \"phases\": {");
    for (i = 0; i < count; i++)
        put_times(sink, mst_phase_names[phases[i]], &server->phases[phases[i]], i == 0);
    mst_sink_puts(sink, "}");
}

/* What PHP did during an Apache's phases; null where no PHP was recorded. */
static void put_overlay(struct mst_sink *sink, const struct mst_summary_server *server)
{
    const struct mst_summary_overlay *php = &server->php;

    key(sink, "php", false);
    if (!php->known) {
        mst_sink_puts(sink, "null");
        return;
    }
    mst_sink_puts(sink, "{");
    count(sink, "joined", php->joined, true);
    count(sink, "unjoined", server->requests - php->joined, false);
    count(sink, "wait_unknown", php->wait_unknown, false);
    mst_sink_puts(sink, ",\n   \"handle\": {");
    put_times(sink, "php_wait", &php->handle_wait, true);
    put_times(sink, "php_run", &php->handle_run, false);
    put_times(sink, "other", &php->handle_other, false);
    mst_sink_puts(sink, "},\n   \"send\": {");
    put_times(sink, "php_run", &php->send_run, true);
    put_times(sink, "other", &php->send_other, false);
    mst_sink_puts(sink, "}}");
}

/* What only a PHP tells. */
static void put_php(struct mst_sink *sink, const struct mst_summary_server *server)
{
    count(sink, "joined", server->joined, false);
    count(sink, "unjoined", server->requests - server->joined, false);
    count(sink, "fatal_errors", server->fatal, false);
    count(sink, "timeouts", server->timeouts, false);
    count(sink, "uncached", server->uncached, false);
    seconds(sink, "script_cpu_seconds", server->php_cpu_ns, false);
    count(sink, "max_request_memory_bytes", server->max_memory_bytes, false);
    count(sink, "marks", server->marks, false);
}

static void put_workers(struct mst_sink *sink, const struct mst_summary_server *server)
{
    int i;

    mst_sink_puts(sink, ",\n   \"workers\": {");
    count(sink, "limit", server->workers_limit, true);
    milli(sink, "mean_busy", server->mean_busy_milli, false);
    count(sink, "max_busy", server->max_busy, false);
    mst_sink_puts(sink, ", \"mean_states\": {");
    for (i = 0; i < MST_STATE_COUNT; i++)
        milli(sink, mst_state_names[i], server->mean_state_milli[i], i == 0);
    mst_sink_puts(sink, "}");
    seconds(sink, "no_idle_worker_seconds", server->no_idle_ns, false);
    mst_sink_puts(sink, "}");
}

static void put_cgroup(struct mst_sink *sink, const struct mst_summary_server *server)
{
    mst_sink_puts(sink, ",\n   \"cgroup\": {");
    string(sink, "name", server->cgroup, true);
    count(sink, "memory_limit_bytes", server->memory_limit, false);
    count(sink, "oom_kills", server->oom_kills, false);
    seconds(sink, "memory_stall_seconds", server->memory_stall_ns, false);
    seconds(sink, "throttled_seconds", server->throttled_ns, false);
    mst_sink_puts(sink, "}");
}

static void put_server(struct mst_sink *sink, const struct mst_summary_server *server)
{
    mst_sink_puts(sink, "{");
    string(sink, "producer", mst_producer_name(server->producer), true);
    string(sink, "target", server->target, false);
    string(sink, "server", server->server, false);
    string(sink, "mpm", server->mpm, false);
    string(sink, "sapi", server->sapi, false);
    count(sink, "requests", server->requests, false);
    count(sink, "ghosts", server->ghosts, false);
    count(sink, "aborted", server->aborted, false);
    count(sink, "errors_5xx", server->errors_5xx, false);
    count(sink, "bytes", server->bytes, false);
    seconds(sink, "mean_seconds", server->phases[MST_PHASE_TOTAL].mean_ns, false);
    put_phases(sink, server);
    if (mst_summary_is_php(server))
        put_php(sink, server);
    else
        put_overlay(sink, server);
    put_workers(sink, server);
    mst_sink_puts(sink, ",\n   \"accept_queue\": {");
    count(sink, "max", server->max_listen_queue, true);
    count(sink, "limit", server->listen_queue_limit, false);
    mst_sink_puts(sink, "}");
    count(sink, "forks", server->forks, false);
    count(sink, "exits", server->exits, false);
    count(sink, "forks_failed", server->forks_failed, false);
    count(sink, "shed", server->shed, false);
    count(sink, "unfinished", server->unfinished, false);
    count(sink, "restarts", server->restarts, false);
    count(sink, "records_lost", server->lost, false);
    mst_sink_puts(sink, ",\n   \"memory_bytes\": {");
    count(sink, "peak_pss", server->peak_pss_bytes, true);
    count(sink, "processes", server->peak_processes, false);
    mst_sink_puts(sink, "}");
    put_cgroup(sink, server);
    seconds(sink, "cpu_seconds", server->cpu_ns, false);
    string(sink, "unknown", server->unknown, false);
    mst_sink_puts(sink, "}");
}

static void put_check(struct mst_sink *sink, const struct mst_check *check)
{
    static const char *const answers[] = {
        [MST_ANSWER_NO] = "false", [MST_ANSWER_YES] = "true", [MST_ANSWER_UNKNOWN] = "null",
    };

    mst_sink_puts(sink, "{");
    string(sink, "name", check->name, true);
    key(sink, "ok", false);
    mst_sink_puts(sink, answers[check->ok]);
    string(sink, "text", check->text, false);
    mst_sink_puts(sink, "}");
}

void mst_report_json(struct mst_sink *sink, const struct mst_summary *s)
{
    size_t i;

    mst_sink_puts(sink, "{");
    put_run(sink, s);
    put_client(sink, s);
    mst_sink_puts(sink, ",\n \"servers\": [");
    for (i = 0; i < s->server_count; i++) {
        mst_sink_puts(sink, i > 0 ? ",\n  " : "");
        put_server(sink, &s->servers[i]);
    }
    mst_sink_puts(sink, "],\n \"checks\": [");
    for (i = 0; i < MST_CHECK_COUNT; i++) {
        mst_sink_puts(sink, i > 0 ? ",\n  " : "");
        put_check(sink, &s->checks[i]);
    }
    mst_sink_puts(sink, "],\n \"notes\": [");
    for (i = 0; i < s->note_count; i++) {
        mst_sink_puts(sink, i > 0 ? ",\n  " : "");
        mst_sink_json_string(sink, s->notes[i]);
    }
    mst_sink_puts(sink, "],\n");
    mst_sink_puts(sink, " \"verdict\": ");
    mst_sink_json_string(sink, s->verdict);
    mst_sink_puts(sink, "}");
}
