/* summary.c - reads a run out of the archive: see summary.h. */
#include "analysis/summary.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "archive/query.h"
#include "base/clock.h"
#include "loadtools/loadtool.h"

/* ---- arithmetic with what may be unknown ----------------------------------------- */

static uint64_t difference(uint64_t after, uint64_t before)
{
    if (after == MST_UNKNOWN || before == MST_UNKNOWN || after < before)
        return MST_UNKNOWN;
    return after - before;
}

/* a * factor / b, rounded. */
static uint64_t ratio(uint64_t a, uint64_t factor, uint64_t b)
{
    if (a == MST_UNKNOWN || b == MST_UNKNOWN || b == 0)
        return MST_UNKNOWN;
    return (uint64_t)(((unsigned __int128)a * factor + b / 2) / b);
}

/* ---- the client's side ----------------------------------------------------------- */

/* The rows, where there is one for each request that the tool counted; else they
 * would tell of another set of requests than its own table does. */
static bool times_from_rows(struct mst_summary_client *c, uint64_t rows_step_ns, sqlite3 *db,
                            int64_t run_id)
{
    struct mst_query q = mst_query_ask(db,
        "SELECT duration_ns FROM client_requests WHERE run_id = ? AND status IS NOT 0", run_id);
    struct mst_values values = { 0 };
    bool fine = true;

    while (fine && mst_query_next(&q))
        fine = mst_values_add(&values, mst_query_number(&q, 0)) == 0;
    fine = mst_query_done(&q) && fine;
    if (fine && values.count > 0 && values.count == c->requests) {
        mst_summary_times_of(&c->times, &values);
        c->time_step_ns = rows_step_ns;
    }
    mst_values_free(&values);
    return fine;
}

static bool read_client(struct mst_summary_client *c, sqlite3 *db, int64_t run_id)
{
    struct mst_query q = mst_query_ask(db,
        "SELECT requests, failed, unfinished, requested, failed_connect, failed_receive, "
        "failed_length, failed_timeout, failed_other, non_2xx, concurrency, bytes, duration_ns, "
        "requests_per_1000s, ifnull(time_step_ns, rows_time_step_ns), rows_time_step_ns, "
        "corrected, abandons, mean_ns, p50_ns, p90_ns, p99_ns, max_ns, rows_start_step_ns "
        "FROM client_results WHERE run_id = ?", run_id);
    uint64_t rows_step_ns, corrected, abandons;
    uint64_t *const members[] = {
        &c->requests, &c->failed, &c->unfinished, &c->requested, &c->failed_connect,
        &c->failed_receive, &c->failed_length, &c->failed_timeout, &c->failed_other,
        &c->non_2xx, &c->concurrency, &c->bytes, &c->duration_ns, &c->requests_per_1000s,
        &c->time_step_ns, &rows_step_ns, &corrected, &abandons, &c->times.mean_ns,
        &c->times.p50_ns, &c->times.p90_ns, &c->times.p99_ns, &c->times.max_ns,
        &c->rows_start_step_ns,
    };
    size_t i;

    mst_summary_times_unknown(&c->times);
    for (i = 0; i < sizeof members / sizeof *members; i++)
        *members[i] = MST_UNKNOWN;
    c->known = mst_query_next(&q);
    for (i = 0; c->known && i < sizeof members / sizeof *members; i++)
        *members[i] = mst_query_number(&q, (int)i);
    c->corrected = corrected == 1;
    c->abandons = abandons == 1;
    return mst_query_done(&q) && times_from_rows(c, rows_step_ns, db, run_id);
}

/* ---- the server's side ----------------------------------------------------------- */

/* Requests of the load that is analysed: an Apache's, a PHP's. */
#define THIS_RUNS     "server_id = ?1 AND label <> '" MST_LABEL_STATUS_NAME "' AND ghost = 0"
#define THIS_RUNS_PHP "server_id = ?1 AND ghost = 0"

/* What the phases of a kind of server are in SQL, in the order of enum mst_phase. */
static const char apache_phases[] =
    "SELECT queue_ns, read_ns, handle_ns, send_ns, queue_ns + read_ns + handle_ns + send_ns, "
    "held_ns, front_ns, NULL, NULL FROM server_requests WHERE " THIS_RUNS;
static const char php_phases[] =
    "SELECT NULL, NULL, NULL, NULL, coalesce(wait_ns, 0) + run_ns, NULL, NULL, wait_ns, run_ns "
    "FROM php_requests WHERE " THIS_RUNS_PHP;
_Static_assert(MST_PHASE_COUNT == 9, "a column of these for each phase");

/* Values of the phases of this run's requests, and their quantiles. */
static bool read_phases(struct mst_summary_server *s, sqlite3 *db)
{
    struct mst_query q = mst_query_ask(db, mst_summary_is_php(s) ? php_phases : apache_phases,
                                       s->id);
    struct mst_values values[MST_PHASE_COUNT] = { { 0 } };
    bool fine = true;
    uint64_t ns;
    int i;

    while (fine && mst_query_next(&q))
        for (i = 0; i < MST_PHASE_COUNT; i++) {
            ns = mst_query_number(&q, i);
            fine = fine && (ns == MST_UNKNOWN || mst_values_add(&values[i], ns) == 0);
        }
    fine = mst_query_done(&q) && fine;
    for (i = 0; i < MST_PHASE_COUNT; i++) {
        mst_summary_times_of(&s->phases[i], &values[i]);
        mst_values_free(&values[i]);
    }
    return fine;
}

static const char apache_counts[] =
    "SELECT count(*), total(aborted), total(status >= 500), total(status NOT BETWEEN 200 AND "
    "299), total(bytes), total(start_ns + queue_ns + read_ns + handle_ns + send_ns > ?2), "
    "total(queue_ns > 0) FROM server_requests WHERE " THIS_RUNS;
static const char php_counts[] =
    "SELECT count(*), total(aborted), total(status >= 500), total(status NOT BETWEEN 200 AND "
    "299), NULL, total(start_ns + run_ns > ?2), total(wait_ns > 0) "
    "FROM php_requests WHERE " THIS_RUNS_PHP;

static bool read_counts(struct mst_summary_server *s, sqlite3 *db, uint64_t ended_ns)
{
    struct mst_query q = mst_query_ask(db, mst_summary_is_php(s) ? php_counts : apache_counts,
                                       s->id);

    mst_query_bind(&q, 2, ended_ns != MST_UNKNOWN ? (int64_t)ended_ns : INT64_MAX);
    if (mst_query_next(&q)) {
        s->requests = mst_query_number(&q, 0);
        s->aborted = mst_query_number(&q, 1);
        s->errors_5xx = mst_query_number(&q, 2);
        s->non_2xx = mst_query_number(&q, 3);
        s->bytes = mst_query_number(&q, 4);
        s->late = mst_query_number(&q, 5);
        s->waited = mst_query_number(&q, 6);
    }
    return mst_query_done(&q);
}

/* All requests, the status page's and the ghosts' too: they held workers as well,
 * from the first sample on. */
static const char apache_others[] =
    "SELECT total(ghost AND label <> '" MST_LABEL_STATUS_NAME "'), "
    "total(label = '" MST_LABEL_STATUS_NAME "'), "
    "total(CASE WHEN no_worker THEN 0 WHEN NOT ghost OR start_ns >= began THEN held_ns "
    "ELSE max(0, held_ns - (began - start_ns)) END) "
    "FROM server_requests, (SELECT min(time_ns) AS began FROM samples WHERE server_id = ?1) "
    "WHERE server_id = ?1";
static const char php_others[] =
    "SELECT total(ghost), 0, total(CASE WHEN start_ns >= began THEN run_ns "
    "ELSE max(0, run_ns - (began - start_ns)) END) "
    "FROM php_requests, (SELECT min(time_ns) AS began FROM samples WHERE server_id = ?1) "
    "WHERE server_id = ?1";

static bool read_others(struct mst_summary_server *s, sqlite3 *db)
{
    struct mst_query q = mst_query_ask(db, mst_summary_is_php(s) ? php_others : apache_others,
                                       s->id);

    if (mst_query_next(&q)) {
        s->ghosts = mst_query_number(&q, 0);
        s->status_requests = mst_query_number(&q, 1);
        s->held_ns = mst_query_number(&q, 2);
    }
    return mst_query_done(&q);
}

/* What only a PHP tells. */
static bool read_php(struct mst_summary_server *s, sqlite3 *db)
{
    struct mst_query q = mst_query_ask(db,
        "SELECT total(fatal), total(timeout), total(cached = 0), "
        "CAST(total(user_ns) + total(system_ns) AS INTEGER), max(memory_bytes), "
        "(SELECT count(*) FROM marks WHERE server_id = ?1) "
        "FROM php_requests WHERE " THIS_RUNS_PHP, s->id);

    if (mst_query_next(&q)) {
        s->fatal = mst_query_number(&q, 0);
        s->timeouts = mst_query_number(&q, 1);
        s->uncached = mst_query_number(&q, 2);
        s->php_cpu_ns = mst_query_number(&q, 3);
        s->max_memory_bytes = mst_query_number(&q, 4);
        s->marks = mst_query_number(&q, 5);
    }
    return mst_query_done(&q);
}

#define STATES_SQL "idle_ns, reading_ns, handling_ns, sending_ns, keepalive_ns, closing_ns"

/* Columns of the difference between two samples. */
struct counters {
    uint64_t time_ns, state_ns[MST_STATE_COUNT];
    uint64_t requests, forks, exits, forks_failed, shed, unfinished, no_idle_ns, generations;
    uint64_t in_flight;
};

/* The sample that `which` (SQL behind WHERE server_id = ?) picks. */
static bool read_counters(struct counters *c, sqlite3 *db, int64_t server_id, const char *which)
{
    uint64_t *const members[] = { &c->requests, &c->forks, &c->exits, &c->forks_failed, &c->shed,
                                  &c->unfinished, &c->no_idle_ns, &c->generations, &c->in_flight,
                                  &c->time_ns };
    char sql[512];
    struct mst_query q;
    size_t i;

    memset(c, 0xff, sizeof *c);   /* all unknown */
    snprintf(sql, sizeof sql, "SELECT " STATES_SQL ", requests, forks, exits, forks_failed, shed, "
             "unfinished, no_idle_ns, generations, in_flight, time_ns FROM samples "
             "WHERE server_id = ? %s", which);
    q = mst_query_ask(db, sql, server_id);
    if (mst_query_next(&q)) {
        for (i = 0; i < MST_STATE_COUNT; i++)
            c->state_ns[i] = mst_query_number(&q, (int)i);
        for (i = 0; i < sizeof members / sizeof *members; i++)
            *members[i] = mst_query_number(&q, (int)(MST_STATE_COUNT + i));
    }
    return mst_query_done(&q);
}

/* From the load's start (before it these workers were idle, or another's) to the
 * sample at its end: exact, whatever happened between. */
static void mean_occupancy(struct mst_summary_server *s, const struct counters *before,
                           const struct counters *end, uint64_t load_start_ns)
{
    uint64_t span = difference(end->time_ns, load_start_ns), busy = 0, state;
    int i;

    for (i = 0; i < MST_STATE_COUNT; i++) {
        state = difference(end->state_ns[i], before->state_ns[i]);
        s->mean_state_milli[i] = ratio(state, 1000, span);
        if (i == MST_STATE_IDLE)
            continue;
        if (state == MST_UNKNOWN)
            busy = MST_UNKNOWN;
        else if (busy != MST_UNKNOWN)
            busy += state;
    }
    s->mean_busy_milli = ratio(busy, 1000, span);
}

static uint64_t working(const struct counters *before, const struct counters *after)
{
    static const int states[] = { MST_STATE_READING, MST_STATE_HANDLING, MST_STATE_SENDING };
    uint64_t total = 0, state;
    size_t i;

    for (i = 0; i < sizeof states / sizeof *states; i++) {
        state = difference(after->state_ns[states[i]], before->state_ns[states[i]]);
        if (state == MST_UNKNOWN)
            return MST_UNKNOWN;
        total += state;
    }
    return total;
}

/* Between the looks, and where each look had one, the server itself knows that all workers
 * were busy: there was time without an idle one, more than all looks together took. */
static void correct_max_busy(struct mst_summary_server *s, uint64_t looks_ns)
{
    if (s->no_idle_ns != MST_UNKNOWN && looks_ns != MST_UNKNOWN && s->no_idle_ns > looks_ns &&
        s->workers_limit != MST_UNKNOWN && s->max_busy < s->workers_limit)
        s->max_busy = s->workers_limit;
}

static bool read_samples(struct mst_summary_server *s, sqlite3 *db, uint64_t load_start_ns)
{
    uint64_t looks_ns = MST_UNKNOWN;
    struct counters before, end, last;
    struct mst_query q = mst_query_ask(db,
        "SELECT count(*), max(workers_busy), max(workers_limit), sum(cost_ns) FROM samples "
        "WHERE server_id = ? AND moment IN ('during', 'end')", s->id);

    if (mst_query_next(&q)) {
        s->samples = mst_query_number(&q, 0);
        s->max_busy = mst_query_number(&q, 1);
        s->workers_limit = mst_query_number(&q, 2);
        looks_ns = mst_query_number(&q, 3);
    }
    if (!mst_query_done(&q) ||
        !read_counters(&before, db, s->id, "AND moment = 'before'") ||
        !read_counters(&end, db, s->id, "AND moment <> 'after' ORDER BY rowid DESC LIMIT 1") ||
        !read_counters(&last, db, s->id, "ORDER BY rowid DESC LIMIT 1"))
        return false;
    mean_occupancy(s, &before, &end, load_start_ns);
    s->working_ns = working(&before, &last);
    s->span_ns = difference(last.time_ns, before.time_ns);
    s->in_flight = last.in_flight;
    s->counted = difference(last.requests, before.requests);
    s->forks = difference(last.forks, before.forks);
    s->exits = difference(last.exits, before.exits);
    s->forks_failed = difference(last.forks_failed, before.forks_failed);
    s->shed = difference(last.shed, before.shed);
    s->unfinished = difference(last.unfinished, before.unfinished);
    s->no_idle_ns = difference(end.no_idle_ns, before.no_idle_ns);
    s->generations = difference(last.generations, before.generations);
    correct_max_busy(s, looks_ns);
    return true;
}

/* When the queue was fullest. A server of several sockets gives each sample those of its
 * fullest one, which are not always the same one's. */
static bool read_listen_queue(struct mst_summary_server *s, sqlite3 *db)
{
    struct mst_query q = mst_query_ask(db,
        "SELECT listen_queue, listen_queue_limit FROM samples WHERE server_id = ? AND moment IN "
        "('during', 'end') ORDER BY 1.0 * listen_queue / listen_queue_limit DESC, "
        "listen_queue DESC, listen_queue_limit LIMIT 1", s->id);

    s->max_listen_queue = s->listen_queue_limit = MST_UNKNOWN;
    if (mst_query_next(&q)) {
        s->max_listen_queue = mst_query_number(&q, 0);
        s->listen_queue_limit = mst_query_number(&q, 1);
    }
    return mst_query_done(&q);
}

/* A CGI's end that mod_cgid saw to is 'unknown': nobody was killed for all we know. */
static bool read_memory(struct mst_summary_server *s, sqlite3 *db)
{
    struct mst_query q = mst_query_ask(db,
        "SELECT max(pss_bytes), processes, count(*), (SELECT count(*) FROM lifecycle "
        "WHERE server_id = ?1 AND event = 'exit' AND reason IN ('killed', 'signal')), rss_bytes "
        "FROM memory_samples WHERE server_id = ?1", s->id);

    if (mst_query_next(&q)) {
        s->peak_pss_bytes = mst_query_number(&q, 0);
        s->peak_processes = mst_query_number(&q, 1);
        s->memory_rounds = mst_query_number(&q, 2);
        s->killed = mst_query_number(&q, 3);
        s->peak_rss_bytes = mst_query_number(&q, 4);
    }
    return mst_query_done(&q);
}

static bool read_server(struct mst_summary_server *s, sqlite3 *db, const struct mst_summary *run)
{
    return read_counts(s, db, run->ended_ns) && read_others(s, db) && read_phases(s, db) &&
           (!mst_summary_is_php(s) || read_php(s, db)) &&
           read_samples(s, db, run->started_ns) && read_listen_queue(s, db) && read_memory(s, db);
}

static bool read_servers(struct mst_summary *s, sqlite3 *db)
{
    struct mst_query q = mst_query_ask(db,
        "SELECT id, target, producer, server, mpm, sapi, unknown, lost, restarts, cpu_ns, local, "
        "cgroup, memory_limit_bytes, oom_kills, memory_stall_ns, throttled_ns "
        "FROM servers WHERE run_id = ? ORDER BY id", s->id);
    struct mst_summary_server *servers, *server;
    bool fine = true;

    while (fine && mst_query_next(&q)) {
        servers = reallocarray(s->servers, s->server_count + 1, sizeof *servers);
        fine = servers != NULL;
        if (!fine)
            break;
        s->servers = servers;
        server = &servers[s->server_count++];
        *server = (struct mst_summary_server){
            .id = sqlite3_column_int64(q.statement, 0), .target = mst_query_string(&q, 1),
            .producer = mst_query_string(&q, 2), .server = mst_query_string(&q, 3),
            .mpm = mst_query_string(&q, 4), .sapi = mst_query_string(&q, 5),
            .unknown = mst_query_string(&q, 6), .lost = mst_query_number(&q, 7),
            .restarts = mst_query_number(&q, 8), .cpu_ns = mst_query_number(&q, 9),
            .local = mst_query_number(&q, 10) == 1, .cgroup = mst_query_string(&q, 11),
            .memory_limit = mst_query_number(&q, 12), .oom_kills = mst_query_number(&q, 13),
            .memory_stall_ns = mst_query_number(&q, 14), .throttled_ns = mst_query_number(&q, 15),
        };
        fine = server->target != NULL && server->producer != NULL &&
               read_server(server, db, s);
    }
    return mst_query_done(&q) && fine;
}

/* ---- the run --------------------------------------------------------------------- */

static bool read_machine(struct mst_summary *s, sqlite3 *db)
{
    struct mst_query q = mst_query_ask(db,
        "SELECT max(busy_ns) - min(busy_ns), max(total_ns) - min(total_ns), "
        "max(listen_overflows) - min(listen_overflows), max(memory_stall_ns) - "
        "min(memory_stall_ns), max(oom_kills) - min(oom_kills), max(runnable), max(cpu_stall_ns) "
        "- min(cpu_stall_ns), max(tcp_retransmits) - min(tcp_retransmits), max(syn_retransmits) - "
        "min(syn_retransmits) FROM machine_samples "
        "WHERE run_id = ?", s->id);
    struct mst_query cpus = mst_query_ask(db,
        "SELECT CAST(value AS INTEGER) FROM environment WHERE run_id = ? AND name = 'cpus'", s->id);
    bool fine;

    s->machine_busy_milli = s->listen_overflows = s->cpus = MST_UNKNOWN;
    s->memory_stall_ns = s->oom_kills = s->max_runnable = s->cpu_stall_ns = MST_UNKNOWN;
    s->tcp_retransmits = s->syn_retransmits = MST_UNKNOWN;
    if (mst_query_next(&q)) {
        s->machine_busy_milli = ratio(mst_query_number(&q, 0), 1000, mst_query_number(&q, 1));
        s->listen_overflows = mst_query_number(&q, 2);
        s->memory_stall_ns = mst_query_number(&q, 3);
        s->oom_kills = mst_query_number(&q, 4);
        s->max_runnable = mst_query_number(&q, 5);
        s->cpu_stall_ns = mst_query_number(&q, 6);
        s->tcp_retransmits = mst_query_number(&q, 7);
        s->syn_retransmits = mst_query_number(&q, 8);
    }
    if (mst_query_next(&cpus))
        s->cpus = mst_query_number(&cpus, 0);
    fine = mst_query_done(&q);
    return mst_query_done(&cpus) && fine;
}

static bool read_programs(struct mst_summary *s, sqlite3 *db)
{
    struct mst_query q = mst_query_ask(db,
        "SELECT program, cpu_ns FROM programs WHERE run_id = ? ORDER BY cpu_ns DESC", s->id);
    struct mst_summary_program *programs;

    while (mst_query_next(&q)) {
        programs = reallocarray(s->programs, s->program_count + 1, sizeof *programs);
        if (programs == NULL) {
            q.status = SQLITE_NOMEM;
            break;
        }
        s->programs = programs;
        programs[s->program_count].name = mst_query_string(&q, 0);
        programs[s->program_count].cpu_ns = mst_query_number(&q, 1);
        s->program_count += programs[s->program_count].name != NULL;
    }
    return mst_query_done(&q);
}

static bool read_notes(struct mst_summary *s, sqlite3 *db)
{
    struct mst_query q = mst_query_ask(db,
        "SELECT text FROM notes WHERE run_id = ? ORDER BY rowid", s->id);
    char **notes;

    while (mst_query_next(&q)) {
        notes = reallocarray(s->notes, s->note_count + 1, sizeof *notes);
        if (notes == NULL) {
            q.status = SQLITE_NOMEM;
            break;
        }
        s->notes = notes;
        notes[s->note_count] = mst_query_string(&q, 0);
        s->note_count += notes[s->note_count] != NULL;
    }
    return mst_query_done(&q);
}

/* 1 read, 0 there is no such run, -1 failed. */
static int read_run(struct mst_summary *s, sqlite3 *db, int64_t run_id)
{
    struct mst_query q = mst_query_ask(db,
        "SELECT name, CASE WHEN json_valid(command) THEN command ELSE '[]' END, command_line, "
        "added, outcome, complete, started_ns, duration_ns, exit_status, exit_signal, "
        "tool_cpu_ns, tool_threads, memory_cost_ns, tool, ended_ns, recorder_cpu_ns, "
        "repetition "
        "FROM runs WHERE id = ?", run_id);
    bool found = mst_query_next(&q);

    s->id = run_id;
    if (found) {
        s->name = mst_query_string(&q, 0);
        s->command_json = mst_query_string(&q, 1);
        s->command_line = mst_query_string(&q, 2);
        s->added = mst_query_string(&q, 3);
        s->outcome = mst_query_string(&q, 4);
        s->complete = mst_query_number(&q, 5) == 1;
        s->started_ns = mst_query_number(&q, 6);
        s->duration_ns = mst_query_number(&q, 7);
        s->exit_status = mst_query_number(&q, 8);
        s->exit_signal = mst_query_number(&q, 9);
        s->tool_cpu_ns = mst_query_number(&q, 10);
        s->tool_threads = mst_query_number(&q, 11);
        s->memory_cost_ns = mst_query_number(&q, 12);
        s->client.tool = mst_query_string(&q, 13);
        s->ended_ns = mst_query_number(&q, 14);
        s->recorder_cpu_ns = mst_query_number(&q, 15);
        s->repetition = mst_query_number(&q, 16);
    }
    if (!mst_query_done(&q) || (found && (s->outcome == NULL || s->command_json == NULL)))
        return -1;
    return found;
}

int mst_summary_make(struct mst_summary *s, struct mst_archive *a, int64_t run_id,
                     char error[MST_ERROR_MAX])
{
    sqlite3 *db = mst_archive_db(a);
    int found;

    memset(s, 0, sizeof *s);
    found = read_run(s, db, run_id);
    if (found == 0) {
        snprintf(error, MST_ERROR_MAX, "there is no run %lld in the archive %s",
                 (long long)run_id, mst_archive_path(a));
        return -1;
    }
    if (found < 0 || !read_client(&s->client, db, run_id) || !read_servers(s, db) ||
        !mst_summary_overlay(s, db) || !mst_summary_join(s, db) || !read_machine(s, db) ||
        !read_programs(s, db) ||
        !read_notes(s, db))
        return mst_archive_unreadable(a, error);
    mst_summary_check(s);
    mst_summary_judge(s);
    return 0;
}

void mst_summary_free(struct mst_summary *s)
{
    size_t i;

    for (i = 0; i < s->server_count; i++) {
        free(s->servers[i].target);
        free(s->servers[i].producer);
        free(s->servers[i].server);
        free(s->servers[i].mpm);
        free(s->servers[i].sapi);
        free(s->servers[i].unknown);
        free(s->servers[i].cgroup);
    }
    for (i = 0; i < s->program_count; i++)
        free(s->programs[i].name);
    free(s->programs);
    for (i = 0; i < s->note_count; i++)
        free(s->notes[i]);
    free(s->servers);
    free(s->notes);
    free(s->name);
    free(s->command_json);
    free(s->command_line);
    free(s->added);
    free(s->outcome);
    free(s->client.tool);
    memset(s, 0, sizeof *s);
}

int mst_summary_runs(struct mst_archive *a, int64_t **ids, size_t *count,
                     char error[MST_ERROR_MAX])
{
    struct mst_query q = mst_query_ask(mst_archive_db(a),
                                       "SELECT id FROM runs WHERE ? ORDER BY id", 1);
    int64_t *more;

    *ids = NULL;
    *count = 0;
    while (mst_query_next(&q)) {
        more = reallocarray(*ids, *count + 1, sizeof *more);
        if (more == NULL) {
            q.status = SQLITE_NOMEM;
            break;
        }
        *ids = more;
        more[(*count)++] = sqlite3_column_int64(q.statement, 0);
    }
    if (mst_query_done(&q))
        return 0;
    free(*ids);
    *ids = NULL;
    return mst_archive_unreadable(a, error);
}
