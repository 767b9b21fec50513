/* rows.c - what a recording writes into an archive, but for what its servers did
 * (rows_server.c): see writer.h. */
#include <stdio.h>
#include <stdlib.h>

#include "archive/internal.h"
#include "exec/shell_quote.h"
#include "segment/format.h"

/* ---- the run --------------------------------------------------------------------- */

int mst_archive_begin_run(struct mst_archive *a, const struct mst_archive_run *run,
                          int64_t *run_id)
{
    char *command = mst_argv_json(run->argv), *line = mst_shell_quote(run->argv);
    const struct runs_row row = {
        .name = TEXT(run->name), .command = TEXT(command), .command_line = TEXT(line),
        .added = TEXT(run->added), .tool = TEXT(run->tool), .started_ns = NUMBER(run->started_ns),
        .complete = NUMBER(0), .outcome = TEXT(mst_outcome_names[MST_OUTCOME_UNFINISHED]),
        .tool_threads = NUMBER(run->tool_threads), .mpmstat_version = TEXT(MPMSTAT_VERSION),
        .repetition = NUMBER(mst_or_unknown(run->repetition > 0, run->repetition)),
        .recording = TEXT(run->recording),
        .part = NUMBER(mst_or_unknown(run->recording != NULL, run->part)),
    };
    int status = -1;

    if (command == NULL || line == NULL)
        snprintf(a->error, sizeof a->error, "out of memory for the archive %s", a->path);
    else
        status = insert_runs(a, &row);
    free(command);
    free(line);
    *run_id = sqlite3_last_insert_rowid(a->db);
    return status == 0 ? mst_archive_commit(a) : -1;
}

int mst_archive_started(struct mst_archive *a, int64_t run_id, uint64_t started_ns)
{
    const struct runs_row row = { .id = NUMBER(run_id), .started_ns = NUMBER(started_ns) };

    return mst_archive_put(a, START_RUN, &row.id);
}

/* The last transaction waits for the disk; with it everything before it is there, too. */
int mst_archive_end_run(struct mst_archive *a, int64_t run_id,
                        const struct mst_archive_run_end *end)
{
    const struct runs_row row = {
        .id = NUMBER(run_id), .outcome = TEXT(mst_outcome_names[end->outcome]),
        .complete = NUMBER(end->complete), .started_ns = NUMBER(end->started_ns),
        .ended_ns = NUMBER(end->ended_ns), .duration_ns = NUMBER(end->duration_ns),
        .exit_status = NUMBER(end->exit_status), .exit_signal = NUMBER(end->exit_signal),
        .tool_cpu_ns = NUMBER(end->tool_cpu_ns), .memory_cost_ns = NUMBER(end->memory_cost_ns),
        .recorder_cpu_ns = NUMBER(end->recorder_cpu_ns),
    };

    if (mst_archive_commit(a) != 0 || mst_archive_execute(a, "PRAGMA synchronous = FULL") != 0 ||
        mst_archive_put(a, END_RUN, &row.id) != 0 || mst_archive_commit(a) != 0)
        return -1;
    if (a->has_log)
        mst_wal_empty(a);
    return mst_archive_execute(a, "PRAGMA synchronous = OFF");
}

int mst_archive_add_server(struct mst_archive *a, int64_t run_id, const char *target, bool local,
                           const struct mst_source_identity *identity, int64_t *server_id)
{
    const struct servers_row row = {
        .run_id = NUMBER(run_id), .target = TEXT(target), .board = TEXT(identity->board),
        .producer = TEXT(mst_producer_name(identity->producer)), .server = TEXT(identity->server),
        .mpm = TEXT(identity->mpm), .sapi = TEXT(identity->sapi),
        .version = TEXT(identity->version), .pid = NUMBER(identity->pid),
        .started_ns = NUMBER(identity->started_wall_ns), .local = NUMBER(local),
        .clock_offset_ns = NUMBER(identity->clock_offset_ns),
    };
    int status = insert_servers(a, &row);

    *server_id = sqlite3_last_insert_rowid(a->db);
    return status;
}

int mst_archive_name_server(struct mst_archive *a, int64_t server_id, const char *name)
{
    const struct servers_row row = { .id = NUMBER(server_id), .name = TEXT(name) };

    return mst_archive_put(a, NAME_SERVER, &row.id);
}

int mst_archive_clock_server(struct mst_archive *a, int64_t server_id,
                             const struct mst_clock_offset *offset)
{
    const struct servers_row row = {
        .id = NUMBER(server_id), .clock_ahead_ns = SIGNED(offset->ahead_ns),
        .clock_uncertainty_ns = NUMBER(offset->uncertainty_ns),
    };

    return mst_archive_put(a, CLOCK_SERVER, &row.id);
}

int mst_archive_end_server(struct mst_archive *a, int64_t server_id,
                           const struct mst_archive_server_end *end)
{
    const struct servers_row row = {
        .id = NUMBER(server_id), .lost = NUMBER(end->lost), .restarts = NUMBER(end->restarts),
        .cpu_ns = NUMBER(end->cpu_ns), .unknown = TEXT(end->unknown),
        .cgroup = TEXT(end->cgroup.name), .memory_limit_bytes = NUMBER(end->cgroup.memory_limit),
        .oom_kills = NUMBER(end->cgroup.oom_kills),
        .memory_stall_ns = NUMBER(end->cgroup.memory_stall_ns),
        .throttled_ns = NUMBER(end->cgroup.throttled_ns),
        .listens = TEXT(end->listens != NULL && end->listens[0] != '\0' ? end->listens : NULL),
    };

    return mst_archive_put(a, END_SERVER, &row.id);
}

/* ---- the client's side ----------------------------------------------------------- */

int mst_archive_add_client_result(struct mst_archive *a, int64_t run_id,
                                  const struct mst_client_result *r, const struct mst_plan *plan)
{
    bool rows = plan->rows != MST_ROWS_NONE;
    const struct client_results_row row = {
        .run_id = NUMBER(run_id), .requests = NUMBER(r->requests),
        .requested = NUMBER(plan->requested), .unfinished = NUMBER(r->unfinished),
        .abandons = NUMBER(plan->abandons), .failed = NUMBER(r->failed),
        .failed_connect = NUMBER(r->failed_connect), .failed_receive = NUMBER(r->failed_receive),
        .failed_length = NUMBER(r->failed_length), .failed_other = NUMBER(r->failed_other),
        .failed_timeout = NUMBER(r->failed_timeout), .non_2xx = NUMBER(r->non_2xx),
        .concurrency = NUMBER(r->concurrency), .bytes = NUMBER(r->bytes),
        .duration_ns = NUMBER(r->duration_ns), .requests_per_1000s = NUMBER(r->requests_per_1000s),
        .mean_ns = NUMBER(r->mean_ns), .p50_ns = NUMBER(r->p50_ns), .p90_ns = NUMBER(r->p90_ns),
        .p99_ns = NUMBER(r->p99_ns), .max_ns = NUMBER(r->max_ns),
        .rows_start_step_ns = NUMBER(mst_or_unknown(rows, plan->row_start_step_ns)),
        .rows_time_step_ns = NUMBER(mst_or_unknown(rows, plan->row_time_step_ns)),
        .time_step_ns = NUMBER(r->time_step_ns), .corrected = NUMBER(r->corrected),
    };

    return insert_client_results(a, &row);
}

int mst_archive_add_client_row(struct mst_archive *a, int64_t run_id,
                               const struct mst_client_row *r)
{
    return mst_archive_add_generator_row(a, run_id, 0, r);
}

int mst_archive_add_generator_row(struct mst_archive *a, int64_t run_id, int64_t generator_id,
                                  const struct mst_client_row *r)
{
    const struct client_requests_row row = {
        .run_id = NUMBER(run_id), .start_ns = NUMBER(r->start_ns),
        .duration_ns = NUMBER(r->duration_ns), .connect_ns = NUMBER(r->connect_ns),
        .wait_ns = NUMBER(r->wait_ns), .status = NUMBER(r->status),
        .client_id = NUMBER(r->client_id),
        .generator_id = NUMBER(mst_or_unknown(generator_id > 0, (uint64_t)generator_id)),
    };

    return insert_client_requests(a, &row);
}

int mst_archive_add_generator(struct mst_archive *a, int64_t run_id,
                              const struct mst_archive_generator *g, int64_t *generator_id)
{
    const struct mst_row_totals *t = g->totals;
    const struct mst_rows_said *said = &g->said;
    bool cpu = said->cpu_wall_ns > 0;
    const struct generators_row row = {
        .run_id = NUMBER(run_id), .name = TEXT(g->name), .tool = TEXT(g->tool),
        .file_hash = NUMBER(g->file_hash), .requests = NUMBER(t->rows), .failed = NUMBER(t->failed),
        .failed_connect = NUMBER(t->failures[MST_FAILURE_CONNECT]),
        .failed_receive = NUMBER(t->failures[MST_FAILURE_RECEIVE]),
        .failed_timeout = NUMBER(t->failures[MST_FAILURE_TIMEOUT]),
        .failed_other = NUMBER(t->failures[MST_FAILURE_OTHER]), .bad_lines = NUMBER(said->bad),
        .first_ns = SIGNED((int64_t)t->first_start_ns - g->clock_ahead_ns),
        .last_ns = SIGNED((int64_t)t->last_end_ns - g->clock_ahead_ns),
        .start_step_ns = NUMBER(said->start_step_ns), .clock_ahead_ns = SIGNED(g->clock_ahead_ns),
        .clock_uncertainty_ns = NUMBER(mst_or_unknown(g->clock_known, g->clock_uncertainty_ns)),
        .fitting_milli = NUMBER(g->fitting_milli), .dropped = NUMBER(said->dropped),
        .cpu_ns = NUMBER(mst_or_unknown(cpu, said->cpu_ns)),
        .cpu_wall_ns = NUMBER(mst_or_unknown(cpu, said->cpu_wall_ns)),
        .ended = NUMBER(mst_or_unknown(said->end != MST_ROWS_END_UNKNOWN,
                                       said->end == MST_ROWS_ENDED)),
    };
    int status = insert_generators(a, &row);

    *generator_id = sqlite3_last_insert_rowid(a->db);
    return status;
}

int mst_archive_replace_client_result(struct mst_archive *a, int64_t run_id, const char *tool,
                                      const struct mst_client_result *result,
                                      const struct mst_plan *plan)
{
    const struct runs_row row = { .id = NUMBER(run_id), .tool = TEXT(tool) };

    if (mst_archive_put(a, SET_TOOL, &row.id) != 0)
        return -1;
    return mst_archive_add_client_result(a, run_id, result, plan);
}

/* ---- the rest -------------------------------------------------------------------- */

int mst_archive_add_environment(struct mst_archive *a, int64_t run_id, const char *name,
                                const char *value)
{
    const struct environment_row row = {
        .run_id = NUMBER(run_id), .name = TEXT(name), .value = TEXT(value),
    };

    return insert_environment(a, &row);
}

int mst_archive_add_output(struct mst_archive *a, int64_t run_id, const char *stream,
                           uint64_t bytes, const void *content, size_t n)
{
    const struct output_row row = {
        .run_id = NUMBER(run_id), .stream = TEXT(stream), .bytes = NUMBER(bytes),
        .content = BYTES(content, n),
    };

    return insert_output(a, &row);
}

int mst_archive_add_note(struct mst_archive *a, int64_t run_id, uint64_t wall_ns, const char *text)
{
    const struct notes_row row = {
        .run_id = NUMBER(run_id), .time_ns = NUMBER(wall_ns), .text = TEXT(text),
    };

    return insert_notes(a, &row);
}

int mst_archive_clear_findings(struct mst_archive *a, int64_t run_id)
{
    const struct findings_row row = { .run_id = NUMBER(run_id) };

    return mst_archive_put(a, CLEAR_FINDINGS, &row.run_id);
}

int mst_archive_add_finding(struct mst_archive *a, int64_t run_id,
                            const struct mst_archive_finding *f)
{
    const struct findings_row row = {
        .run_id = NUMBER(run_id), .rank = NUMBER(f->rank), .code = TEXT(f->code),
        .certainty = TEXT(f->certainty), .subject = TEXT(f->subject),
        .share_milli = NUMBER(f->share_milli), .requests = NUMBER(f->requests),
        .text = TEXT(f->text), .action = TEXT(f->action), .predicted = TEXT(f->predicted),
        .caused_by = TEXT(f->caused_by), .caused_by_subject = TEXT(f->caused_by_subject),
    };

    return insert_findings(a, &row);
}

int mst_archive_clear_prediction(struct mst_archive *a, int64_t run_id, uint64_t number)
{
    const struct predictions_row prediction = { .run_id = NUMBER(run_id),
                                                .number = NUMBER(number) };
    const struct predicted_settings_row settings = { .run_id = NUMBER(run_id),
                                                     .number = NUMBER(number) };

    return mst_archive_put(a, CLEAR_PREDICTION, &prediction.run_id) != 0 ? -1 :
           mst_archive_put(a, CLEAR_PREDICTED_SETTINGS, &settings.run_id);
}

int mst_archive_add_prediction(struct mst_archive *a, int64_t run_id,
                               const struct mst_archive_prediction *p)
{
    const struct predictions_row row = {
        .run_id = NUMBER(run_id), .number = NUMBER(p->number), .code = TEXT(p->code),
        .clients = NUMBER(p->clients), .load_per_1000s = NUMBER(p->load_per_1000s),
        .by_client = NUMBER(p->by_client), .measure = TEXT(p->measure),
        .predicted = NUMBER(p->predicted), .low = NUMBER(p->low), .high = NUMBER(p->high),
    };

    return insert_predictions(a, &row);
}

int mst_archive_add_predicted_setting(struct mst_archive *a, int64_t run_id, uint64_t number,
                                      const char *section, const char *name, const char *value)
{
    const struct predicted_settings_row row = {
        .run_id = NUMBER(run_id), .number = NUMBER(number), .section = TEXT(section),
        .name = TEXT(name), .value = TEXT(value),
    };

    return insert_predicted_settings(a, &row);
}
