/* read.c - reads a run from its archive into a summary: see steps.h. */
#include "analysis/steps.h"

#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "analysis/run_requests.h"
#include "archive/query.h"
#include "base/array.h"
#include "loadtools/loadtool.h"

/* ---- the client's side ----------------------------------------------------------- */

/* The rows, where there is one for each request that the tool counted; else they
 * would tell of another set of requests than its own table does. */
static bool times_from_rows(struct mst_summary_client *c, uint64_t rows_step_ns, sqlite3 *db,
                            int64_t run_id)
{
    struct mst_query q = mst_query_ask(db,
        "SELECT duration_ns, client_id FROM client_requests WHERE run_id = :id "
        "AND status IS NOT 0", run_id);
    struct mst_values values = { 0 };
    bool fine = true;

    while (fine && mst_query_next(&q)) {
        fine = mst_values_add(&values, mst_row_number(&q, "duration_ns")) == 0;
        c->has_ids |= !mst_row_is_null(&q, "client_id");
    }
    fine = mst_query_done(&q) && fine;
    if (fine && values.count > 0 && values.count == c->requests) {
        mst_summary_times_of(&c->times, &values);
        c->time_step_ns = rows_step_ns;
    }
    mst_values_free(&values);
    return fine;
}

static void take_habits(struct mst_summary_client *c)
{
    const struct mst_loadtool *tool;

    if (c->tool == NULL)
        return;
    tool = mst_loadtool_for(c->tool);
    c->follows_redirects = tool->follows_redirects;
    c->rows_omit_failures = tool->rows_omit_failures;
    c->failed_from_status = tool->failed_from_status;
    c->failure_mark = tool->failure_mark;
}

static bool read_client(struct mst_summary_client *c, sqlite3 *db, int64_t run_id)
{
    struct mst_query q = mst_query_ask(db,
        "SELECT requests, failed, unfinished, requested, failed_connect, failed_receive, "
        "failed_length, failed_timeout, failed_other, non_2xx, concurrency, bytes, duration_ns, "
        "requests_per_1000s, mean_ns, p50_ns, p90_ns, p99_ns, max_ns, "
        "ifnull(time_step_ns, rows_time_step_ns) AS step_ns, rows_start_step_ns, "
        "rows_time_step_ns, corrected, abandons FROM client_results WHERE run_id = :id", run_id);
    uint64_t rows_step_ns, corrected, abandons;
    const struct mst_row_member members[] = {
        { "requests", &c->requests }, { "failed", &c->failed }, { "unfinished", &c->unfinished },
        { "requested", &c->requested }, { "failed_connect", &c->failed_connect },
        { "failed_receive", &c->failed_receive }, { "failed_length", &c->failed_length },
        { "failed_timeout", &c->failed_timeout }, { "failed_other", &c->failed_other },
        { "non_2xx", &c->non_2xx }, { "concurrency", &c->concurrency }, { "bytes", &c->bytes },
        { "duration_ns", &c->duration_ns }, { "requests_per_1000s", &c->requests_per_1000s },
        { "mean_ns", &c->times.mean_ns }, { "p50_ns", &c->times.p50_ns },
        { "p90_ns", &c->times.p90_ns }, { "p99_ns", &c->times.p99_ns },
        { "max_ns", &c->times.max_ns }, { "step_ns", &c->time_step_ns },
        { "rows_start_step_ns", &c->rows_start_step_ns }, { "rows_time_step_ns", &rows_step_ns },
        { "corrected", &corrected }, { "abandons", &abandons },
    };
    const size_t count = sizeof members / sizeof *members;
    size_t i;

    c->times.sum_ns = c->times.p95_ns = c->times.p999_ns = MST_UNKNOWN;   /* rows tell them */
    for (i = 0; i < count; i++)
        *members[i].to = MST_UNKNOWN;
    c->known = mst_query_next(&q);
    if (c->known)
        mst_row_numbers(&q, members, count);
    c->corrected = corrected == 1;
    c->abandons = abandons == 1;
    take_habits(c);
    return mst_query_done(&q) && times_from_rows(c, rows_step_ns, db, run_id);
}

/* ---- the run --------------------------------------------------------------------- */

/* The growth of a counter of the machine from its first sample to its last. */
#define GROWN(counter) "max(" #counter ") - min(" #counter ") AS " #counter ", "

static bool read_machine(struct mst_summary *s, sqlite3 *db)
{
    struct mst_query q = mst_query_ask(db,
        "SELECT " GROWN(busy_ns) GROWN(total_ns) GROWN(stolen_ns) GROWN(listen_overflows)
        GROWN(memory_stall_ns) GROWN(oom_kills) GROWN(cpu_stall_ns) GROWN(tcp_retransmits)
        GROWN(syn_retransmits) GROWN(io_stall_ns)
        "max(runnable) AS runnable, max(blocked) AS blocked, min(memory_available) AS available "
        "FROM machine_samples "
        "WHERE run_id = :id", s->id);
    struct mst_query cpus = mst_query_ask(db,
        "SELECT max(CASE name WHEN 'cpus' THEN CAST(value AS INTEGER) END) AS machine, "
        "max(CASE name WHEN 'servers_cpus' THEN CAST(value AS INTEGER) END) AS servers "
        "FROM environment WHERE run_id = :id AND name IN ('cpus', 'servers_cpus')", s->id);
    uint64_t of_servers;
    bool fine;

    s->machine_stolen_milli = MST_UNKNOWN;
    s->machine_busy_milli = s->listen_overflows = s->cpus = s->machine_cpus = MST_UNKNOWN;
    s->memory_stall_ns = s->oom_kills = s->max_runnable = s->cpu_stall_ns = MST_UNKNOWN;
    s->memory_available = MST_UNKNOWN;
    s->tcp_retransmits = s->syn_retransmits = s->io_stall_ns = s->max_blocked = MST_UNKNOWN;
    if (mst_query_next(&q)) {
        s->machine_busy_milli = mst_summary_milli(mst_row_number(&q, "busy_ns"),
                                                  mst_row_number(&q, "total_ns"));
        s->machine_stolen_milli = mst_summary_milli(mst_row_number(&q, "stolen_ns"),
                                                    mst_row_number(&q, "total_ns"));
        s->listen_overflows = mst_row_number(&q, "listen_overflows");
        s->memory_stall_ns = mst_row_number(&q, "memory_stall_ns");
        s->oom_kills = mst_row_number(&q, "oom_kills");
        s->cpu_stall_ns = mst_row_number(&q, "cpu_stall_ns");
        s->tcp_retransmits = mst_row_number(&q, "tcp_retransmits");
        s->syn_retransmits = mst_row_number(&q, "syn_retransmits");
        s->io_stall_ns = mst_row_number(&q, "io_stall_ns");
        s->max_runnable = mst_row_number(&q, "runnable");
        s->max_blocked = mst_row_number(&q, "blocked");
        s->memory_available = mst_row_number(&q, "available");
    }
    if (mst_query_next(&cpus)) {
        s->machine_cpus = mst_row_number(&cpus, "machine");
        of_servers = mst_row_number(&cpus, "servers");
        s->cpus = of_servers != MST_UNKNOWN ? of_servers : s->machine_cpus;
    }
    fine = mst_query_done(&q);
    return mst_query_done(&cpus) && fine;
}

static bool read_programs(struct mst_summary *s, sqlite3 *db)
{
    struct mst_query q = mst_query_ask(db,
        "SELECT program, cpu_ns, owner, disk_bytes FROM programs WHERE run_id = :id "
        "ORDER BY cpu_ns DESC, program, owner", s->id);
    struct mst_summary_program *program;

    while (mst_query_next(&q)) {
        program = mst_append(&s->programs, &s->program_count, sizeof *program);
        if (program == NULL) {
            mst_query_no_memory(&q);
            break;
        }
        program->name = mst_row_string(&q, "program");
        program->cpu_ns = mst_row_number(&q, "cpu_ns");
        program->disk_bytes = mst_row_number(&q, "disk_bytes");
        program->owner = mst_proc_owner_of(mst_row_text(&q, "owner"));
        s->program_count -= program->name == NULL;
    }
    return mst_query_done(&q);
}

static bool read_notes(struct mst_summary *s, sqlite3 *db)
{
    struct mst_query q = mst_query_ask(db,
        "SELECT text FROM notes WHERE run_id = :id ORDER BY rowid", s->id);
    char **note;

    while (mst_query_next(&q)) {
        note = mst_append(&s->notes, &s->note_count, sizeof *note);
        if (note == NULL) {
            mst_query_no_memory(&q);
            break;
        }
        *note = mst_row_string(&q, "text");
        s->note_count -= *note == NULL;
    }
    return mst_query_done(&q);
}

/* How much of a thinned archive is left. Without an Apache its requests are PHP's. */
static bool read_thinned(struct mst_summary *s, sqlite3 *db)
{
    static const char *const counts[] = {
        "SELECT count(*) AS kept, CAST(total(weight) AS INTEGER) AS requests "
        "FROM main.server_requests WHERE server_id IN (SELECT id FROM servers WHERE run_id = :id) "
        "AND ghost = 0 AND label <> '" MST_LABEL_STATUS_NAME "'",
        "SELECT count(*) AS kept, CAST(total(weight) AS INTEGER) AS requests "
        "FROM main.php_requests WHERE server_id IN (SELECT id FROM servers WHERE run_id = :id) "
        "AND ghost = 0",
    };
    bool fine = true;
    size_t i;

    for (i = 0; i < sizeof counts / sizeof *counts && fine && s->is_thinned && s->thinned_of == 0;
         i++) {
        struct mst_query q = mst_query_ask(db, counts[i], s->id);

        if (mst_query_next(&q)) {
            s->thinned_kept = mst_row_number(&q, "kept");
            s->thinned_of = mst_row_number(&q, "requests");
        }
        fine = mst_query_done(&q);
    }
    if (s->thinned_of > 0)
        snprintf(s->thinned, sizeof s->thinned, "thinned: %" PRIu64 " of %" PRIu64 " requests are "
                 "kept; counts by minute, label and status are exact; other counts, means and "
                 "percentiles are estimates", s->thinned_kept, s->thinned_of);
    return fine;
}

/* 1 read, 0 there is no such run, -1 failed. */
static int read_run(struct mst_summary *s, sqlite3 *db, int64_t run_id)
{
    struct mst_query q = mst_query_ask(db,
        "SELECT name, CASE WHEN json_valid(command) THEN command ELSE '[]' END AS words, "
        "command_line, added, outcome, complete, started_ns, ended_ns, duration_ns, exit_status, "
        "exit_signal, tool_cpu_ns, tool_threads, memory_cost_ns, recorder_cpu_ns, repetition, "
        "tool, thinned_ns IS NOT NULL AS is_thinned FROM runs WHERE id = :id", run_id);
    bool found = mst_query_next(&q);

    s->id = run_id;
    if (found) {
        s->name = mst_row_string(&q, "name");
        s->command_json = mst_row_string(&q, "words");
        s->command_line = mst_row_string(&q, "command_line");
        s->added = mst_row_string(&q, "added");
        s->outcome = mst_outcome_of(mst_row_text(&q, "outcome"));
        s->complete = mst_row_number(&q, "complete") == 1;
        s->started_ns = mst_row_number(&q, "started_ns");
        s->ended_ns = mst_row_number(&q, "ended_ns");
        s->duration_ns = mst_row_number(&q, "duration_ns");
        s->exit_status = mst_row_number(&q, "exit_status");
        s->exit_signal = mst_row_number(&q, "exit_signal");
        s->tool_cpu_ns = mst_row_number(&q, "tool_cpu_ns");
        s->tool_threads = mst_row_number(&q, "tool_threads");
        s->memory_cost_ns = mst_row_number(&q, "memory_cost_ns");
        s->recorder_cpu_ns = mst_row_number(&q, "recorder_cpu_ns");
        s->repetition = mst_row_number(&q, "repetition");
        s->client.tool = mst_row_string(&q, "tool");
        s->is_thinned = mst_row_number(&q, "is_thinned") == 1;
    }
    if (!mst_query_done(&q) || (found && s->command_json == NULL))
        return -1;
    return found;
}

int mst_summary_read(struct mst_summary *s, sqlite3 *db, int64_t run_id)
{
    int found;

    memset(s, 0, sizeof *s);
    found = read_run(s, db, run_id);
    if (found > 0 && (!read_client(&s->client, db, run_id) || !read_machine(s, db) ||
                      !mst_summary_read_servers(s, db) ||
                      !mst_summary_read_generators(s, db) ||
                      !mst_summary_read_ports(s, db) ||
                      !read_programs(s, db) || !mst_summary_own_unseen(s) ||
                      !read_notes(s, db) || !read_thinned(s, db)))
        return -1;
    return found;
}

int mst_summary_runs(struct mst_archive *a, int64_t **ids, size_t *count,
                     char error[MST_ERROR_MAX])
{
    struct mst_query q = mst_query_ask(mst_archive_db(a),
                                       "SELECT id FROM runs WHERE :id ORDER BY id", 1);
    int64_t *id;

    *ids = NULL;
    *count = 0;
    while (mst_query_next(&q)) {
        id = mst_append(ids, count, sizeof *id);
        if (id == NULL) {
            mst_query_no_memory(&q);
            break;
        }
        *id = mst_row_id(&q, "id");
    }
    if (mst_query_done(&q))
        return 0;
    free(*ids);
    *ids = NULL;
    return mst_archive_unreadable(a, error);
}
