/* summary_json.c - a run's summary as JSON: see report.h. */
#include "base/saturate.h"
#include "render/json_writer.h"
#include "report/changes_json.h"
#include "report/generators.h"
#include "report/metrics.h"
#include "report/needs.h"
#include "report/names.h"
#include "report/report.h"
#include "report/resources.h"
#include "segment/fields.h"
#include "segment/format.h"

#define PROGRAMS_SHOWN 10u   /* the busiest; the archive has more */

/* ---- members --------------------------------------------------------------------- */

static void put_quantiles(struct mst_json *j, const struct mst_summary_times *t)
{
    mst_json_seconds(j, "p50_seconds", t->p50_ns);
    mst_json_seconds(j, "p90_seconds", t->p90_ns);
    mst_json_seconds(j, "p95_seconds", t->p95_ns);
    mst_json_seconds(j, "p99_seconds", t->p99_ns);
    mst_json_seconds(j, "p999_seconds", t->p999_ns);
    mst_json_seconds(j, "max_seconds", t->max_ns);
}

/* ---- the parts ------------------------------------------------------------------- */

static void put_programs(struct mst_json *j, const struct mst_summary *s)
{
    size_t i;

    mst_json_line(j, 2);
    mst_json_begin(j, "programs", '[');
    for (i = 0; i < s->program_count && i < PROGRAMS_SHOWN; i++) {
        mst_json_begin(j, NULL, '{');
        mst_json_string(j, "program", s->programs[i].name);
        mst_json_seconds(j, "cpu_seconds", s->programs[i].cpu_ns);
        mst_json_string(j, "owner", s->programs[i].owner < MST_PROC_OWNER_COUNT
                                        ? mst_proc_owner_names[s->programs[i].owner] : NULL);
        mst_json_count(j, "disk_bytes", s->programs[i].disk_bytes);
        mst_json_end(j, '}');
    }
    mst_json_end(j, ']');
}

static void put_run(struct mst_json *j, const struct mst_summary *s)
{
    mst_json_begin(j, "run", '{');
    mst_json_value(j, "id");
    mst_sink_i64(j->out, s->id);
    mst_json_string(j, "name", s->name);
    mst_json_count(j, "repetition", s->repetition);
    mst_json_value(j, "command");
    mst_sink_json(j->out, s->command_json);
    mst_json_string(j, "added", s->added);
    mst_json_instant(j, "started", s->started_ns);
    mst_json_seconds(j, "duration_seconds", s->duration_ns);
    mst_json_bool(j, "complete", s->complete);
    mst_json_string(j, "outcome", mst_outcome_names[s->outcome]);
    mst_json_count(j, "exit_status", s->exit_status);
    mst_put_milli(j, "machine_cpu_busy", s->machine_busy_milli);
    mst_put_milli(j, "machine_cpu_stolen", s->machine_stolen_milli);
    mst_json_count(j, "listen_overflows", s->listen_overflows);
    mst_json_seconds(j, "memory_cost_seconds", s->memory_cost_ns);
    mst_json_seconds(j, "memory_stall_seconds", s->memory_stall_ns);
    mst_json_count(j, "oom_kills", s->oom_kills);
    mst_json_count(j, "max_runnable", s->max_runnable);
    mst_json_seconds(j, "cpu_stall_seconds", s->cpu_stall_ns);
    mst_json_count(j, "tcp_retransmits", s->tcp_retransmits);
    mst_json_count(j, "syn_retransmits", s->syn_retransmits);
    mst_json_seconds(j, "recorder_cpu_seconds", s->recorder_cpu_ns);
    mst_machine_resources_json(j, s);
    put_programs(j, s);
    if (s->thinned_of > 0) {
        mst_json_begin(j, "thinned", '{');
        mst_json_count(j, "kept", s->thinned_kept);
        mst_json_count(j, "of", s->thinned_of);
        mst_json_string(j, "text", s->thinned);
        mst_json_end(j, '}');
    }
    mst_json_end(j, '}');
}

/* The time that the server does not see: connecting, the network, the client itself. */
static void put_difference(struct mst_json *j, const struct mst_summary *s)
{
    uint64_t client_ns = s->client.times.mean_ns;
    uint64_t server_ns = mst_summary_fronts(s).phases[MST_PHASE_TOTAL].mean_ns;

    mst_json_value(j, "mean_minus_server_seconds");
    if (client_ns == MST_UNKNOWN || server_ns == MST_UNKNOWN) {
        mst_sink_puts(j->out, "null");
        return;
    }
    if (client_ns < server_ns)
        mst_sink_char(j->out, '-');
    mst_sink_seconds(j->out, client_ns < server_ns ? server_ns - client_ns
                                                   : client_ns - server_ns);
}

/* Writes the same for each request that is known on both sides. */
static void put_join(struct mst_json *j, const struct mst_summary_join *join)
{
    static const char *const by[] = { [MST_JOIN_NONE] = NULL, [MST_JOIN_ID] = "id",
                                      [MST_JOIN_TIME] = "time" };

    mst_json_line(j, 2);
    mst_json_begin(j, "joined", '{');
    mst_json_string(j, "by", by[join->by]);
    mst_json_count(j, "requests", join->apart.count);
    mst_json_count(j, "ambiguous", join->ambiguous);
    mst_json_seconds(j, "mean_minus_server_seconds", join->apart.mean_ns);
    put_quantiles(j, &join->apart);
    mst_json_end(j, '}');
}

static void put_client(struct mst_json *j, const struct mst_summary *s)
{
    const struct mst_summary_client *c = &s->client;

    mst_json_line(j, 1);
    if (c->tool == NULL) {
        mst_json_string(j, "client", NULL);
        return;
    }
    mst_json_begin(j, "client", '{');
    mst_json_string(j, "tool", c->tool);
    mst_json_count(j, "requests", c->requests);
    mst_json_count(j, "failed", c->failed);
    mst_json_count(j, "unfinished", c->unfinished);
    mst_put_milli(j, "requests_per_second", c->requests_per_1000s);
    mst_json_seconds(j, "mean_seconds", c->times.mean_ns);
    put_quantiles(j, &c->times);
    mst_json_count(j, "non_2xx", c->non_2xx);
    mst_json_count(j, "failed_connect", c->failed_connect);
    mst_json_count(j, "failed_receive", c->failed_receive);
    mst_json_count(j, "failed_length", c->failed_length);
    mst_json_count(j, "failed_timeout", c->failed_timeout);
    mst_json_count(j, "failed_other", c->failed_other);
    mst_json_count(j, "concurrency", c->concurrency);
    mst_json_count(j, "bytes", c->bytes);
    mst_json_count(j, "rows", c->times.count);
    mst_json_seconds(j, "resolution_seconds", c->time_step_ns);
    mst_json_bool(j, "corrected", c->corrected);
    mst_json_seconds(j, "cpu_seconds", s->tool_cpu_ns);
    put_difference(j, s);
    put_join(j, &c->join);
    mst_json_end(j, '}');
}

static void put_times(struct mst_json *j, const char *name, const struct mst_summary_times *t)
{
    mst_json_line(j, 4);
    mst_json_begin(j, name, '{');
    mst_json_count(j, "count", t->count);
    mst_json_seconds(j, "sum_seconds", t->sum_ns);
    mst_json_seconds(j, "mean_seconds", t->mean_ns);
    put_quantiles(j, t);
    mst_json_end(j, '}');
}

static void put_phases(struct mst_json *j, const struct mst_summary_server *server)
{
    const enum mst_phase *phases;
    size_t count = mst_summary_phases(server, &phases), i;

    mst_json_line(j, 3);
    mst_json_begin(j, "phases", '{');
    for (i = 0; i < count; i++)
        put_times(j, mst_phase_names[phases[i]], &server->phases[phases[i]]);
    mst_json_end(j, '}');
}

static void put_part(struct mst_json *j, const char *name, const struct mst_summary_interval *i)
{
    const struct mst_summary_times *t = &i->times;

    mst_json_line(j, 4);
    mst_json_begin(j, name, '{');
    mst_json_count(j, "requests", i->requests);
    mst_json_count(j, "count", t->count);
    mst_json_seconds(j, "sum_seconds", t->sum_ns);
    mst_json_seconds(j, "mean_seconds", t->mean_ns);
    put_quantiles(j, t);
    mst_json_end(j, '}');
}

/* Those that any request had: {} where there was none. */
static void put_intervals(struct mst_json *j, const struct mst_summary_server *server)
{
    int i;

    mst_json_line(j, 3);
    mst_json_begin(j, "intervals", '{');
    for (i = 0; i < MST_INTERVAL_COUNT; i++)
        if (server->intervals[i].times.count > 0)
            put_part(j, mst_interval_names[i], &server->intervals[i]);
    mst_json_end(j, '}');
}

/* Where the time of its requests went: the parts that one of them had; they add up to the total. */
static void put_parts(struct mst_json *j, const struct mst_summary_server *server)
{
    enum mst_part i;

    mst_json_line(j, 3);
    mst_json_begin(j, "parts", '{');
    for (i = 0; i < MST_PART_COUNT; i++)
        if (server->parts[i].requests > 0)
            put_part(j, mst_parts[i].name, &server->parts[i]);
    mst_json_end(j, '}');
}

/* The parts of php_run; null where waits are not measured. */
static void put_waits(struct mst_json *j, const struct mst_summary_server *server)
{
    const struct mst_summary_interval *parts = server->parts, *waits = &parts[MST_PART_WAITS];
    int i;

    mst_json_line(j, 3);
    if (server->measured == 0) {
        mst_json_string(j, "run", NULL);
        return;
    }
    mst_json_begin(j, "run", '{');
    if (parts[MST_PART_COMPILE].requests > 0)
        put_times(j, "compile", &parts[MST_PART_COMPILE].times);
    if (parts[MST_PART_GC].requests > 0)
        put_times(j, "gc", &parts[MST_PART_GC].times);
    put_times(j, "cpu", &parts[MST_PART_CPU].times);
    put_times(j, "cpu_wait", &parts[MST_PART_CPU_WAIT].times);
    put_times(j, "rest", &parts[MST_PART_REST].times);
    mst_json_line(j, 3);
    mst_json_begin(j, "waits", '{');
    for (i = 0; i < MST_WAIT_COUNT; i++)
        if (waits[i].requests > 0)
            put_part(j, mst_wait_names[i], &waits[i]);
    mst_json_end(j, '}');
    mst_json_end(j, '}');
}

static void put_ends(struct mst_json *j, const struct mst_summary *s,
                     const struct mst_summary_server *server)
{
    size_t i;

    mst_json_line(j, 3);
    mst_json_begin(j, "ends", '[');
    for (i = 0; i < server->end_count; i++) {
        const struct mst_summary_end *end = &server->ends[i];

        mst_json_line(j, 4);
        mst_json_begin(j, NULL, '{');
        mst_json_string(j, "kind", end->kind);
        mst_json_string(j, "end", end->name);
        mst_json_count(j, "calls", end->calls);
        mst_json_count(j, "failed", end->failed);
        mst_json_seconds(j, "seconds", end->end_ns);
        mst_json_seconds(j, "connect_seconds", end->connect_ns);
        mst_put_milli(j, "at_once", mst_summary_at_once_milli(s, end));
        mst_json_end(j, '}');
    }
    mst_json_end(j, ']');
}

/* What PHP did during an Apache's phases; null where no PHP was recorded. */
static void put_php_parts(struct mst_json *j, const struct mst_summary_server *server)
{
    const struct mst_summary_overlay *php = &server->php;

    if (!php->known) {
        mst_json_string(j, "php", NULL);
        return;
    }
    mst_json_begin(j, "php", '{');
    mst_json_count(j, "joined", php->joined);
    mst_json_count(j, "unjoined", server->requests - php->joined);
    mst_json_count(j, "wait_unknown", php->wait_unknown);
    mst_json_line(j, 3);
    mst_json_begin(j, "handle", '{');
    put_times(j, "php_wait", &php->handle_wait);
    put_times(j, "php_run", &php->handle_run);
    put_times(j, "other", &php->handle_other);
    mst_json_end(j, '}');
    mst_json_line(j, 3);
    mst_json_begin(j, "send", '{');
    put_times(j, "php_run", &php->send_run);
    put_times(j, "other", &php->send_other);
    mst_json_end(j, '}');
    mst_json_end(j, '}');
}

static void put_opcache(struct mst_json *j, const struct mst_opcache *o)
{
    if (o->state == MST_OPCACHE_UNKNOWN) {
        mst_json_string(j, "opcache", NULL);
        return;
    }
    mst_json_begin(j, "opcache", '{');
    mst_json_string(j, "state", mst_opcache_names[o->state]);
    mst_json_count(j, "used_bytes", o->used_bytes);
    mst_json_count(j, "wasted_bytes", o->wasted_bytes);
    mst_json_count(j, "limit_bytes", o->limit_bytes);
    mst_json_count(j, "scripts", o->scripts);
    mst_json_count(j, "keys", o->keys);
    mst_json_count(j, "keys_limit", o->keys_limit);
    mst_json_count(j, "restarts", o->restarts);
    mst_json_end(j, '}');
}

/* What only PHP's board has. */
static void put_php(struct mst_json *j, const struct mst_summary_server *server)
{
    mst_json_count(j, "joined", server->joined);
    mst_json_count(j, "unjoined", server->requests - server->joined);
    mst_json_count(j, "fatal_errors", server->fatal);
    mst_json_count(j, "timeouts", server->timeouts);
    mst_json_count(j, "uncached", server->uncached);
    mst_json_seconds(j, "script_cpu_seconds", server->php_cpu_ns);
    mst_json_count(j, "max_request_memory_bytes", server->max_memory_bytes);
    mst_json_count(j, "marks", server->marks);
    put_opcache(j, &server->opcache);
}

static void put_workers(struct mst_json *j, const struct mst_summary_server *server)
{
    int i;

    mst_json_line(j, 3);
    mst_json_begin(j, "workers", '{');
    mst_json_count(j, "limit", server->workers_limit);
    mst_put_milli(j, "mean_busy", server->mean_busy_milli);
    mst_json_count(j, "max_busy", server->max_busy);
    mst_json_begin(j, "mean_states", '{');
    for (i = 0; i < MST_STATE_COUNT; i++)
        mst_put_milli(j, mst_state_names[i], server->mean_state_milli[i]);
    mst_json_end(j, '}');
    mst_json_seconds(j, "no_idle_worker_seconds", server->no_idle_ns);
    mst_json_end(j, '}');
}

static void put_cgroup(struct mst_json *j, const struct mst_summary_server *server)
{
    mst_json_line(j, 3);
    mst_json_begin(j, "cgroup", '{');
    mst_json_string(j, "name", server->cgroup);
    mst_json_count(j, "memory_limit_bytes", server->memory_limit);
    mst_json_count(j, "oom_kills", server->oom_kills);
    mst_json_seconds(j, "memory_stall_seconds", server->memory_stall_ns);
    mst_json_seconds(j, "throttled_seconds", server->throttled_ns);
    mst_json_end(j, '}');
}

/* The offset can be negative. */
static void put_clock(struct mst_json *j, const struct mst_summary_server *server)
{
    bool known = server->clock_uncertainty_ns != MST_UNKNOWN;

    mst_json_line(j, 3);
    mst_json_begin(j, "clock", '{');
    if (known && server->clock_ahead_ns < 0) {
        mst_json_value(j, "ahead_seconds");
        mst_sink_char(j->out, '-');
        mst_sink_seconds(j->out, mst_summary_clock_ns(server));
    } else {
        mst_json_seconds(j, "ahead_seconds", known ? mst_summary_clock_ns(server) : MST_UNKNOWN);
    }
    mst_json_seconds(j, "uncertainty_seconds", server->clock_uncertainty_ns);
    mst_json_end(j, '}');
}

static void put_server(struct mst_json *j, const struct mst_summary *s,
                       const struct mst_summary_server *server)
{
    mst_json_begin(j, NULL, '{');
    mst_json_string(j, "producer", mst_producer_name(server->producer));
    mst_json_string(j, "target", server->target);
    mst_json_string(j, "name", server->name);
    mst_json_string(j, "server", server->server);
    mst_json_string(j, "mpm", server->mpm);
    mst_json_string(j, "sapi", server->sapi);
    mst_json_count(j, "requests", server->requests);
    mst_json_count(j, "ghosts", server->in_flight_before);
    mst_json_count(j, "aborted", server->aborted);
    mst_json_count(j, "errors_5xx", server->errors_5xx);
    mst_json_count(j, "bytes", server->bytes);
    mst_json_seconds(j, "mean_seconds", server->phases[MST_PHASE_TOTAL].mean_ns);
    put_phases(j, server);
    put_parts(j, server);
    if (mst_summary_is_php(server)) {
        put_waits(j, server);
        put_php(j, server);
    } else {
        put_intervals(j, server);
        put_php_parts(j, server);
    }
    put_ends(j, s, server);
    mst_json_line(j, 3);
    mst_pages_json(j, server);
    put_workers(j, server);
    mst_json_line(j, 3);
    mst_json_begin(j, "accept_queue", '{');
    mst_json_count(j, "max", server->max_listen_queue);
    mst_json_count(j, "limit", server->listen_queue_limit);
    mst_json_string(j, "address", server->listen_address);
    mst_json_string(j, "pool", server->listen_pool);
    mst_json_end(j, '}');
    mst_json_count(j, "forks", server->forks);
    mst_json_count(j, "exits", server->exits);
    mst_json_count(j, "forks_failed", server->forks_failed);
    mst_json_count(j, "shed", server->shed);
    mst_json_count(j, "unfinished", server->unfinished);
    mst_json_count(j, "restarts", server->restarts);
    mst_json_count(j, "records_lost", server->lost);
    mst_json_line(j, 3);
    mst_json_begin(j, "memory_bytes", '{');
    mst_json_count(j, "peak_pss", server->peak_pss_bytes);
    mst_json_count(j, "processes", server->peak_processes);
    mst_json_end(j, '}');
    put_clock(j, server);
    put_cgroup(j, server);
    mst_resources_json(j, server);
    mst_json_seconds(j, "cpu_seconds", server->cpu_ns);
    mst_json_string(j, "unknown", server->unknown);
    mst_json_end(j, '}');
}

static void put_check(struct mst_json *j, const struct mst_check *check)
{
    static const char *const answers[] = {
        [MST_ANSWER_NO] = "false", [MST_ANSWER_YES] = "true", [MST_ANSWER_UNKNOWN] = "null",
    };

    mst_json_begin(j, NULL, '{');
    mst_json_string(j, "name", check->name);
    mst_json_value(j, "ok");
    mst_sink_puts(j->out, answers[check->ok]);
    mst_json_string(j, "text", check->text);
    mst_json_end(j, '}');
}

/* null: it follows from no other finding. */
static void put_cause(struct mst_json *j, const struct mst_cause *cause)
{
    if (!cause->known) {
        mst_json_string(j, "caused_by", NULL);
        return;
    }
    mst_json_begin(j, "caused_by", '{');
    mst_json_string(j, "code", mst_code_names[cause->code]);
    mst_json_string(j, "subject", cause->subject[0] != '\0' ? cause->subject : NULL);
    mst_json_end(j, '}');
}

/* In seconds from the run's start. null: all of it, or not known. */
static void put_when(struct mst_json *j, const struct mst_when *when, const struct mst_summary *s)
{
    if (!when->known) {
        mst_json_string(j, "when", NULL);
        return;
    }
    mst_json_begin(j, "when", '{');
    mst_json_seconds(j, "from_seconds", mst_subtract_saturated(when->from_ns, s->started_ns));
    mst_json_seconds(j, "until_seconds", mst_subtract_saturated(when->until_ns, s->started_ns));
    mst_json_end(j, '}');
}

static void put_place(struct mst_json *j, const struct mst_finding_place *place)
{
    if (place->function[0] == '\0') {
        mst_json_string(j, "place", NULL);
        return;
    }
    mst_json_begin(j, "place", '{');
    mst_json_string(j, "function", place->function);
    mst_json_string(j, "file", place->file);
    mst_json_count(j, "line", place->line > 0 ? place->line : MST_UNKNOWN);
    mst_json_string(j, "component", place->component[0] != '\0' ? place->component : NULL);
    mst_put_milli(j, "share", place->share_milli);
    mst_put_milli(j, "calls_per_request", place->calls_milli);
    mst_json_end(j, '}');
}

/* A share is a fraction of 1, as all shares in JSON are; figures keep the unit of their name. */
static void put_finding(struct mst_json *j, const struct mst_summary *s,
                        const struct mst_finding *f)
{
    size_t i;

    mst_json_begin(j, NULL, '{');
    mst_json_string(j, "code", mst_code_names[f->code]);
    mst_json_string(j, "certainty", mst_certainty_names[f->certainty]);
    mst_json_string(j, "subject", f->subject[0] != '\0' ? f->subject : NULL);
    put_cause(j, &f->caused_by);
    put_when(j, &f->when, s);
    mst_json_string(j, "server", f->server[0] != '\0' ? f->server : NULL);
    mst_json_count(j, "servers", f->servers > 0 ? f->servers : MST_UNKNOWN);
    mst_put_milli(j, "share", f->share_milli);
    mst_json_string(j, "share_of", f->share_milli != MST_UNKNOWN ? mst_share_of_names[f->share_of] :
                                                                   NULL);
    mst_json_count(j, "requests", f->requests);
    put_place(j, &f->place);
    mst_json_string(j, "text", f->text);
    mst_json_string(j, "action", f->action[0] != '\0' ? f->action : NULL);
    mst_changes_json(j, &f->changes);
    mst_json_string(j, "predicted", f->predicted[0] != '\0' ? f->predicted : NULL);
    mst_json_string(j, "otherwise", mst_code_otherwise(f->code));
    mst_json_begin(j, "numbers", '{');
    for (i = 0; i < f->number_count; i++)
        mst_json_count(j, f->numbers[i].name, f->numbers[i].value);
    mst_json_end(j, '}');
    mst_json_end(j, '}');
}

void mst_report_json(struct mst_sink *sink, const struct mst_summary *s)
{
    struct mst_json json = { .out = sink, .spaced = true }, *j = &json;
    size_t i;

    mst_json_begin(j, NULL, '{');
    put_run(j, s);
    put_client(j, s);
    mst_generators_json(j, s);
    mst_json_line(j, 1);
    mst_json_begin(j, "servers", '[');
    for (i = 0; i < s->server_count; i++) {
        mst_json_line(j, 2);
        put_server(j, s, &s->servers[i]);
    }
    mst_json_end(j, ']');
    mst_json_line(j, 1);
    mst_json_begin(j, "checks", '[');
    for (i = 0; i < MST_CHECK_COUNT; i++) {
        mst_json_line(j, 2);
        put_check(j, &s->checks[i]);
    }
    mst_json_end(j, ']');
    mst_json_line(j, 1);
    mst_json_begin(j, "notes", '[');
    for (i = 0; i < s->note_count; i++) {
        mst_json_line(j, 2);
        mst_json_string(j, NULL, s->notes[i]);
    }
    mst_json_end(j, ']');
    mst_json_line(j, 1);
    mst_json_begin(j, "findings", '[');
    for (i = 0; i < s->finding_count; i++) {
        mst_json_line(j, 2);
        put_finding(j, s, &s->findings[i]);
    }
    mst_json_end(j, ']');
    mst_needs_json(j, s);
    mst_json_line(j, 1);
    mst_json_string(j, "verdict", s->verdict);
    mst_json_end(j, '}');
}
