/* check_archive.c - the archive: what it keeps, what a kill -9 leaves, what it
 * refuses, disks that are full or read-only.
 */
#include <errno.h>
#include <fcntl.h>
#include <limits.h>
#include <poll.h>
#include <sched.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/mount.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <unistd.h>

#include "analysis/summary.h"
#include "findings/findings.h"
#include "archive/writer.h"
#include "base/clock.h"
#include "harness.h"
#include "segment/traceparent.h"
#include "segment/fields.h"
#include "stats/random.h"

static char ab[] = "ab", minus_n[] = "-n", ten[] = "it's 10";
static char *const command[] = { ab, minus_n, ten, NULL };

static struct mst_archive *create(const char *path)
{
    char error[MST_ERROR_MAX] = "";
    struct mst_archive *a = mst_archive_create(path, NULL, error);

    ck_assert_msg(a != NULL, "%s", error);
    return a;
}

static int64_t begin(struct mst_archive *a)
{
    const struct mst_archive_run run = { .name = "first", .argv = command, .tool = "ab",
                                         .started_ns = 1000, .tool_threads = 1 };
    int64_t run_id;

    ck_assert_msg(mst_archive_begin_run(a, &run, &run_id) == 0, "%s", mst_archive_error(a));
    return run_id;
}

static int64_t add_server(struct mst_archive *a, int64_t run_id)
{
    const struct mst_source_identity identity = { .producer = MST_PRODUCER_APACHE,
                                                  .server = "Apache", .pid = 7 };
    int64_t server_id;

    ck_assert_int_eq(mst_archive_add_server(a, run_id, "x.board", true, &identity, &server_id), 0);
    return server_id;
}

static int add_request(struct mst_archive *a, int64_t server_id, uint64_t key)
{
    const struct mst_request r = {
        .id = key, .queue_ns = 1, .read_ns = 2, .handle_ns = 3, .send_ns = 4, .held_ns = 5,
        .bytes = 6, .label_status = UINT64_C(2) << 32 | MST_REQUEST_ABORTED << 16 | 503 |
                        MST_TRACE_SAMPLED << MST_TRACE_FLAGS_SHIFT,
        .pid_worker = UINT64_C(11) << 32 | UINT32_MAX, .connection = 12 << 16 | 13, .nth = 14,
        .tls_ns = 15, .h2_wait_ns = 16, .checks_ns = 17, .upload_ns = 18, .backend_ns = 19,
        .send_client_ns = 20, .send_network_ns = 21, .send_server_ns = MST_UNKNOWN, .log_ns = 22,
        .trace_high = UINT64_C(0x0af7651916cd43dd), .trace_low = 0x1f, .trace_parent = key,
    };
    const struct mst_record_names names = { "site", { "fcgi", NULL } };

    return mst_archive_add_request(a, server_id, &r, &names, 2000, key, false);
}

static void close_archive(struct mst_archive *a)
{
    char error[MST_ERROR_MAX];

    ck_assert_msg(mst_archive_close(a, error) == 0, "%s", error);
}

/* The one value that a query of the archive at path gives. */
static int64_t ask(const char *path, const char *sql)
{
    sqlite3_stmt *statement;
    sqlite3 *db;
    int64_t value;

    ck_assert_int_eq(sqlite3_open_v2(path, &db, SQLITE_OPEN_READWRITE, NULL), SQLITE_OK);
    ck_assert_msg(sqlite3_prepare_v2(db, sql, -1, &statement, NULL) == SQLITE_OK, "%s: %s", sql,
                  sqlite3_errmsg(db));
    ck_assert_msg(sqlite3_step(statement) == SQLITE_ROW, "%s", sql);
    value = sqlite3_column_int64(statement, 0);
    sqlite3_finalize(statement);
    sqlite3_close(db);
    return value;
}

static void refuse(const char *path, const char *because)
{
    char error[MST_ERROR_MAX] = "";

    ck_assert_ptr_null(mst_archive_create(path, NULL, error));
    ck_assert_msg(strstr(error, because) != NULL, "says \"%s\" and not \"%s\"", error, because);
    ck_assert_msg(strstr(error, path) != NULL, "%s does not name the file", error);
}

/* ---- what it keeps --------------------------------------------------------------- */

START_TEST(test_rows)
{
    const char *path = test_path();
    struct mst_archive *a = create(path);
    int64_t run = begin(a), server = add_server(a, run);
    struct mst_archive_run_end end = { .outcome = MST_OUTCOME_COMPLETE, .complete = true,
                                       .duration_ns = 5, .exit_signal = MST_UNKNOWN };

    ck_assert_int_eq(add_request(a, server, 1), 0);
    ck_assert_int_eq(mst_archive_end_run(a, run, &end), 0);
    close_archive(a);
    ck_assert_int_eq(ask(path, "SELECT count(*) FROM runs WHERE complete = 1 AND outcome = "
                               "'complete' AND exit_status = 0 AND exit_signal IS NULL AND "
                               "added IS NULL AND name = 'first' AND tool_threads = 1 AND "
                               "command = '[\"ab\", \"-n\", \"it''s 10\"]' AND "
                               "command_line = 'ab -n ''it''\\''''s 10'''"), 1);
    ck_assert_int_eq(ask(path, "SELECT count(*) FROM server_requests WHERE key = 1 AND start_ns = "
                               "2000 AND queue_ns = 1 AND read_ns = 2 AND handle_ns = 3 AND "
                               "send_ns = 4 AND held_ns = 5 AND bytes = 6 AND label = 'site' AND "
                               "status = 503 AND aborted = 1 AND no_worker = 0 AND pid = 11 AND "
                               "worker IS NULL AND connection = 12 AND port = 13 AND nth = 14 AND "
                               "request_id = 1 AND ghost = 0"), 1);
    ck_assert_int_eq(ask(path, "SELECT (tls_ns, h2_wait_ns, checks_ns, upload_ns, backend_ns, "
                               "send_client_ns, send_network_ns, log_ns, handler) = (15, 16, 17, "
                               "18, 19, 20, 21, 22, 'fcgi') AND send_server_ns IS NULL AND "
                               "undelivered_ns IS NULL AND undelivered_bytes IS NULL AND backend "
                               "IS NULL FROM server_requests"), 1);
    ck_assert_int_eq(ask(path, "SELECT (trace_id, parent_span, sampled) = "
                               "('0af7651916cd43dd000000000000001f', '0000000000000001', 1) "
                               "FROM server_requests"), 1);
    ck_assert_int_eq(ask(path, "PRAGMA application_id"), MST_ARCHIVE_ID);
    ck_assert_int_eq(ask(path, "PRAGMA user_version"), MST_ARCHIVE_VERSION);
    ck_assert_int_eq(ask(path, "SELECT count(*) FROM pragma_integrity_check WHERE "
                               "integrity_check = 'ok'"), 1);
}
END_TEST

/* Each value is in the column of its name: all are different here. */
START_TEST(test_columns)
{
    const char *path = test_path();
    struct mst_archive *a = create(path);
    int64_t server = add_server(a, begin(a));
    struct mst_sample s = {
        .wall_ns = 1, .cost_ns = 2, .workers_limit = 3, .workers_busy = 4, .connections = 17,
        .in_flight = 18, .accepted = 19, .shed = 20, .requests = 21, .requests_status = 22,
        .bytes = 23, .forks_failed = 26, .no_idle_ns = 27, .generations = 28, .unfinished = 29,
        .listen_queue = 30, .listen_queue_limit = 31, .listen_address = "[::]:80",
        .http2_workers_limit = 40, .http2_workers_busy = 41, .listen_pool = "shop",
    };
    const struct mst_cgroup_use use = {
        .cpu_ns = 34, .cpu_limit_milli = 35, .throttled_ns = 36, .memory_bytes = 37,
        .memory_limit = 38, .io_stall_ns = 39,
    };
    const struct mst_proc process = { .pid = 3, .pss_bytes = 4, .files = 5, .files_limit = 6 };
    char error[MST_ERROR_MAX];
    int i;

    for (i = 0; i < MST_STATE_LOGGING; i++) {
        s.states[i] = 5 + (uint64_t)i;
        s.state_ns[i] = 11 + (uint64_t)i;
    }
    s.states[MST_STATE_LOGGING] = 32;
    s.state_ns[MST_STATE_LOGGING] = 33;
    s.forks[MST_KIND_CHILD] = 24;
    s.exits[0] = 25;
    ck_assert_int_eq(mst_archive_add_sample(a, server, MST_MOMENT_END, &s, &use), 0);
    ck_assert_int_eq(mst_archive_add_process(a, server, 1, &process, 2), 0);
    ck_assert_int_eq(mst_archive_close(a, error), 0);
    ck_assert_int_eq(ask(path, "SELECT (server_id, time_ns, moment, cost_ns, workers_limit, "
                         "workers_busy) = (1, 1, 'end', 2, 3, 4) AND (connections, in_flight, "
                         "accepted, shed, requests, status_requests, bytes, forks, exits, "
                         "forks_failed, no_idle_ns, generations, unfinished, listen_queue, "
                         "listen_queue_limit) = (17, 18, 19, 20, 21, 22, 23, 24, 25, 26, 27, 28, "
                         "29, 30, 31) AND listen_address = '[::]:80' AND (http2_workers_limit, "
                         "http2_workers_busy) = (40, 41) AND listen_pool = 'shop' FROM "
                         "samples"), 1);
    ck_assert_int_eq(ask(path, "SELECT (group_cpu_ns, group_cpu_limit_milli, group_throttled_ns, "
                         "group_memory_bytes, group_memory_limit_bytes, group_io_stall_ns) = "
                         "(34, 35, 36, 37, 38, 39) FROM samples"), 1);
    ck_assert_int_eq(ask(path, "SELECT (time_ns, pid, pss_bytes, cost_ns, files, files_limit) = "
                         "(1, 3, 4, 2, 5, 6) FROM process_samples"), 1);
    ck_assert_int_eq(ask(path, "SELECT (idle, reading, handling, sending, keepalive, closing) = "
                         "(5, 6, 7, 8, 9, 10) AND (idle_ns, reading_ns, handling_ns, sending_ns, "
                         "keepalive_ns, closing_ns) = (11, 12, 13, 14, 15, 16) AND (logging, "
                         "logging_ns) = (32, 33) FROM samples"), 1);
}
END_TEST

/* A delivery goes to its request, of the same start of the server. */
START_TEST(test_deliveries)
{
    const char *path = test_path();
    struct mst_archive *a = create(path);
    int64_t server = add_server(a, begin(a));
    struct mst_delivery d = { .id = 1, .undelivered_ns = 700, .undelivered_bytes = 30 };
    bool found;

    ck_assert_int_eq(add_request(a, server, 1), 0);
    ck_assert_int_eq(add_request(a, server, 2), 0);
    ck_assert_int_eq(mst_archive_add_delivery(a, server, &d, 9, &found), 0);
    ck_assert(found);
    d.id = 2;
    ck_assert_int_eq(mst_archive_add_delivery(a, server, &d, UINT64_C(1) << 48 | 9, &found), 0);
    ck_assert(!found);
    d.undelivered_ns = MST_UNKNOWN;
    ck_assert_int_eq(mst_archive_add_delivery(a, server, &d, 10, &found), 0);
    ck_assert(found);
    close_archive(a);
    ck_assert_int_eq(ask(path, "SELECT (undelivered_ns, undelivered_bytes) = (700, 30) FROM "
                               "server_requests WHERE key = 1"), 1);
    ck_assert_int_eq(ask(path, "SELECT undelivered_ns IS NULL AND undelivered_bytes = 30 FROM "
                               "server_requests WHERE key = 2"), 1);
}
END_TEST

/* The sum by kind is exact, whatever is known of the other ends. */
START_TEST(test_waits)
{
    const char *path = test_path();
    struct mst_archive *a = create(path);
    int64_t server = add_server(a, begin(a));
    const struct mst_record_names names = { "www", { "mysql db:3306", "redis" } };
    const struct mst_sample_end end = { mst_other_end_kind_names[MST_END_DATABASE],
                                        "mysql db:3306", 3, 1, 90 };
    struct mst_php_request r = {
        .run_ns = 200, .user_ns = 10, .system_ns = 5, .cpu_wait_ns = 7,
        .waits_ns = { [MST_WAIT_DATABASE] = 100, [MST_WAIT_CACHE] = 20, [MST_WAIT_DNS] = 3 },
        .longest = {
            { (uint64_t)MST_WAIT_DATABASE << 32 | 5, UINT64_C(3) << 32 | 1, 90 },
            { (uint64_t)MST_WAIT_CACHE << 32 | 6, UINT64_C(1) << 32, 20 },
        },
    };

    ck_assert_int_eq(mst_archive_add_php_request(a, server, &r, &names, 1000, 1, false), 0);
    memset(r.waits_ns, 0xff, sizeof r.waits_ns);
    r.cpu_wait_ns = MST_UNKNOWN;
    ck_assert_int_eq(mst_archive_add_php_request(a, server, &r, &names, 1000, 2, false), 0);
    ck_assert_int_eq(mst_archive_add_end(a, server, &end), 0);
    close_archive(a);
    ck_assert_int_eq(ask(path, "SELECT (cpu_wait_ns, waits_ns) = (7, 123) FROM php_requests "
                               "WHERE key = 1"), 1);
    ck_assert_int_eq(ask(path, "SELECT cpu_wait_ns IS NULL AND waits_ns IS NULL FROM php_requests "
                               "WHERE key = 2"), 1);
    ck_assert_int_eq(ask(path, "SELECT count(*) FROM php_waits WHERE key = 1"), 4);
    ck_assert_int_eq(ask(path, "SELECT count(*) FROM php_waits"), 4);
    ck_assert_int_eq(ask(path, "SELECT (calls, failed, wait_ns) = (3, 1, 90) FROM php_waits WHERE "
                               "kind = 'database' AND end = 'mysql db:3306'"), 1);
    ck_assert_int_eq(ask(path, "SELECT calls IS NULL AND failed IS NULL AND wait_ns = 10 FROM "
                               "php_waits WHERE kind = 'database' AND end IS NULL"), 1);
    ck_assert_int_eq(ask(path, "SELECT (calls, failed, wait_ns) = (1, 0, 20) FROM php_waits WHERE "
                               "kind = 'cache'"), 1);
    ck_assert_int_eq(ask(path, "SELECT wait_ns FROM php_waits WHERE kind = 'dns' AND end IS NULL"),
                     3);
    ck_assert_int_eq(ask(path, "SELECT (calls, failed, end_ns) = (3, 1, 90) FROM ends WHERE "
                               "kind = 'database' AND end = 'mysql db:3306'"), 1);
}
END_TEST

/* Each kind of row once, with everything unknown that can be: the statements fit
 * their tables, and what is not known is NULL. */
START_TEST(test_unknown_is_null)
{
    const char *path = test_path();
    struct mst_archive *a = create(path);
    int64_t run = begin(a), server = add_server(a, run);
    struct mst_lifecycle event = { .event_kind = (uint64_t)MST_EVENT_EXIT << 32, .mpm_slot = -1,
                                   .requests = MST_UNKNOWN, .duration_ns = MST_UNKNOWN,
                                   .reason = 99 };
    struct mst_archive_server_end server_end = {
        MST_UNKNOWN, MST_UNKNOWN, MST_UNKNOWN, NULL,
        { "", MST_UNKNOWN, MST_UNKNOWN, MST_UNKNOWN, MST_UNKNOWN },
    };
    struct mst_client_row row = { 1, 2, MST_UNKNOWN, MST_UNKNOWN, MST_UNKNOWN,
                                  MST_FAILURE_OTHER, MST_UNKNOWN };
    struct mst_plan plan = { .requested = MST_UNKNOWN };
    struct mst_client_result result;
    struct mst_cgroup_use use;
    struct mst_machine machine;
    struct mst_sample sample;
    struct mst_proc process;

    memset(&use, 0xff, sizeof use);
    memset(&process, 0xff, sizeof process);
    process.pid = 2;
    process.pss_bytes = 3;
    memset(&machine, 0xff, sizeof machine);
    memset(&sample, 0xff, sizeof sample);
    sample.listen_address[0] = '\0';
    sample.wall_ns = 3;
    mst_client_result_init(&result);
    ck_assert_int_eq(mst_archive_started(a, run, 4), 0);
    ck_assert_int_eq(mst_archive_add_lifecycle(a, server, &event, 5, 6), 0);
    ck_assert_int_eq(mst_archive_add_sample(a, server, MST_MOMENT_DURING, &sample, &use), 0);
    ck_assert_int_eq(mst_archive_add_process(a, server, 1, &process, 4), 0);
    ck_assert_int_eq(mst_archive_add_memory(a, server, 1, 2, 3, 4, 5, 6), 0);
    ck_assert_int_eq(mst_archive_add_machine(a, run, 1, MST_MOMENT_DURING, &machine), 0);
    ck_assert_int_eq(mst_archive_add_program(a, run, "php-fpm", MST_PROC_SERVER, 1), 0);
    ck_assert_int_eq(mst_archive_add_client_result(a, run, &result, &plan),
                     0);
    ck_assert_int_eq(mst_archive_add_client_row(a, run, &row), 0);
    ck_assert_int_eq(mst_archive_add_environment(a, run, "cpus", "2"), 0);
    ck_assert_int_eq(mst_archive_add_output(a, run, "stdout", 3, "abc", 3), 0);
    ck_assert_int_eq(mst_archive_add_note(a, run, 1, "note"), 0);
    ck_assert_int_eq(mst_archive_end_server(a, server, &server_end), 0);
    close_archive(a);
    ck_assert_int_eq(ask(path, "SELECT count(*) FROM lifecycle WHERE event = 'exit' AND slot IS "
                               "NULL AND reason IS NULL AND requests IS NULL AND "
                               "kind = 'child'"), 1);
    ck_assert_int_eq(ask(path, "SELECT count(*) FROM samples WHERE workers_busy IS NULL AND "
                               "closing_ns IS NULL AND exits IS NULL AND listen_queue IS NULL "
                               "AND listen_address IS NULL "
                               "AND group_cpu_ns IS NULL AND group_io_stall_ns IS NULL"), 1);
    ck_assert_int_eq(ask(path, "SELECT count(*) FROM machine_samples WHERE busy_ns IS NULL AND "
                               "listen_drops IS NULL AND runnable IS NULL AND syn_retransmits "
                               "IS NULL"), 1);
    ck_assert_int_eq(ask(path, "SELECT count(*) FROM client_results WHERE requests IS NULL AND "
                               "max_ns IS NULL AND rows_time_step_ns IS NULL AND abandons = 0"), 1);
    ck_assert_int_eq(ask(path, "SELECT count(*) FROM client_requests WHERE status IS NULL "
                               "AND client_id IS NULL"), 1);
    ck_assert_int_eq(ask(path, "SELECT count(*) FROM servers WHERE lost IS NULL AND cpu_ns IS NULL "
                               "AND unknown IS NULL AND mpm IS NULL AND cgroup IS NULL AND "
                               "oom_kills IS NULL AND throttled_ns IS NULL"), 1);
    ck_assert_int_eq(ask(path, "SELECT count(*) FROM output WHERE content = x'616263'"), 1);
}
END_TEST

START_TEST(test_second_run)
{
    const char *path = test_path();
    struct mst_archive *a = create(path);

    ck_assert_int_eq(begin(a), 1);
    close_archive(a);
    a = create(path);
    ck_assert_int_eq(begin(a), 2);
    close_archive(a);
    ck_assert_int_eq(ask(path, "SELECT count(*) FROM runs WHERE outcome = 'unfinished'"), 2);
}
END_TEST

/* A batch becomes visible to others about every quarter of a second. */
START_TEST(test_batches)
{
    const char *path = test_path();
    struct mst_archive *a = create(path);
    int64_t server = add_server(a, begin(a));

    ck_assert_int_eq(ask(path, "SELECT count(*) FROM runs"), 1);   /* at once */
    ck_assert_int_eq(add_request(a, server, 1), 0);
    ck_assert_int_eq(mst_archive_tick(a, mst_now_ns()), 0);
    ck_assert_int_eq(ask(path, "SELECT count(*) FROM server_requests"), 0);
    ck_assert_int_eq(mst_archive_tick(a, mst_now_ns() + MST_ARCHIVE_BATCH_NS), 0);
    ck_assert_int_eq(ask(path, "SELECT count(*) FROM server_requests"), 1);
    close_archive(a);
}
END_TEST

/* ---- with readers ---------------------------------------------------------------- */

enum { WITH_LOG, WITHOUT_LOG, LOGS };

/* From here on the system's files say that they cannot share memory: some file systems do. */
static int (*open_file)(sqlite3_vfs *, const char *, sqlite3_file *, int, int *);

static int open_unshared(sqlite3_vfs *vfs, const char *name, sqlite3_file *file, int flags,
                         int *out)
{
    static sqlite3_io_methods methods;
    int status = open_file(vfs, name, file, flags, out);

    if (status == SQLITE_OK && flags & SQLITE_OPEN_MAIN_DB) {
        methods = *file->pMethods;
        methods.iVersion = 1;
        file->pMethods = &methods;
    }
    return status;
}

static void choose_log(int which)
{
    static sqlite3_vfs vfs;

    if (which == WITH_LOG)
        return;
    vfs = *sqlite3_vfs_find(NULL);
    open_file = vfs.xOpen;
    vfs.zName = "unshared";
    vfs.xOpen = open_unshared;
    ck_assert_int_eq(sqlite3_vfs_register(&vfs, 1), SQLITE_OK);
}

/* Begins to read the archive, and goes on until it is closed. */
static sqlite3 *begin_to_read(const char *path)
{
    sqlite3 *db;

    ck_assert_int_eq(sqlite3_open_v2(path, &db, SQLITE_OPEN_READWRITE, NULL), SQLITE_OK);
    ck_assert_int_eq(sqlite3_exec(db, "BEGIN; SELECT count(*) FROM runs", NULL, NULL, NULL),
                     SQLITE_OK);
    return db;
}

/* However much comes meanwhile: also what SQLite's cache has no room for. */
START_TEST(test_a_reader_ends_and_holds_up_nothing)
{
    char path[PATH_MAX];
    struct mst_archive *a;
    uint64_t i;
    int64_t server;
    sqlite3 *reader;

    choose_log(_i);
    snprintf(path, sizeof path, "%s", test_path());
    a = create(path);
    server = add_server(a, begin(a));
    reader = begin_to_read(path);
    for (i = 1; i <= 100000; i++) {
        ck_assert_msg(add_request(a, server, i) == 0, "%s", mst_archive_error(a));
        if (i % 1000 == 0)
            ck_assert_msg(mst_archive_tick(a, mst_now_ns() + MST_ARCHIVE_BATCH_NS) == 0, "%s",
                          mst_archive_error(a));
    }
    ck_assert_int_eq(sqlite3_exec(reader, "SELECT count(*) FROM runs; COMMIT", NULL, NULL, NULL),
                     SQLITE_OK);
    ck_assert_int_eq(sqlite3_close(reader), SQLITE_OK);
    ck_assert_int_eq(mst_archive_tick(a, mst_now_ns() + 2 * MST_ARCHIVE_BATCH_NS), 0);
    ck_assert_int_eq(ask(path, "SELECT count(*) FROM server_requests"), 100000);
    ck_assert_int_eq(add_request(a, server, i), 0);   /* the next batch is as any */
    close_archive(a);
    ck_assert_int_eq(ask(path, "SELECT count(*) FROM server_requests"), 100001);
}
END_TEST

START_TEST(test_a_reader_keeps_nothing_from_being_committed)
{
    char path[PATH_MAX];
    struct mst_archive *a;
    int64_t server;
    sqlite3 *reader;
    uint64_t i;

    snprintf(path, sizeof path, "%s", test_path());
    a = create(path);
    server = add_server(a, begin(a));
    reader = begin_to_read(path);
    for (i = 1; i <= 100000; i++) {
        ck_assert_int_eq(add_request(a, server, i), 0);
        if (i % 10000 != 0)
            continue;
        ck_assert_int_eq(mst_archive_offer(a), 0);
        ck_assert_int_eq(ask(path, "SELECT count(*) FROM server_requests"), (int64_t)i);
    }
    ck_assert_int_eq(sqlite3_exec(reader, "COMMIT", NULL, NULL, NULL), SQLITE_OK);
    ck_assert_int_eq(sqlite3_close(reader), SQLITE_OK);
    close_archive(a);
}
END_TEST

/* What is read is of one moment, and what came since is there for the next. */
START_TEST(test_a_report_is_of_one_moment)
{
    char path[PATH_MAX], error[MST_ERROR_MAX] = "";
    struct mst_summary summary;
    struct mst_archive *a, *reader;
    int64_t run, server;

    snprintf(path, sizeof path, "%s", test_path());
    a = create(path);
    run = begin(a);
    server = add_server(a, run);
    ck_assert_int_eq(mst_archive_commit(a), 0);
    reader = mst_archive_read(path, error);
    ck_assert_msg(reader != NULL, "%s", error);
    ck_assert_int_eq(add_request(a, server, 1), 0);
    ck_assert_int_eq(mst_archive_commit(a), 0);
    ck_assert_msg(mst_findings_summary(&summary, reader, run, error) == 0, "%s", error);
    ck_assert_uint_eq(summary.servers[0].requests, 0);
    ck_assert(!summary.complete);
    ck_assert_int_eq(summary.outcome, MST_OUTCOME_UNFINISHED);
    mst_summary_free(&summary);
    close_archive(reader);
    ck_assert_int_eq(ask(path, "SELECT count(*) FROM server_requests"), 1);
    close_archive(a);
}
END_TEST

START_TEST(test_what_has_to_be_written_waits_for_a_reader)
{
    char path[PATH_MAX], ready;
    struct mst_archive *a;
    int64_t server;
    int fds[2];
    pid_t pid;

    choose_log(_i);
    snprintf(path, sizeof path, "%s", test_path());
    a = create(path);
    server = add_server(a, begin(a));
    ck_assert_int_eq(mst_archive_commit(a), 0);
    ck_assert_int_eq(pipe(fds), 0);
    if (test_fork(&pid)) {
        begin_to_read(path);
        if (write(fds[1], "r", 1) == 1)
            sleep(5);
        _exit(0);
    }
    ck_assert_int_eq(read(fds[0], &ready, 1), 1);
    ck_assert_int_eq(add_request(a, server, 1), 0);
    ck_assert_msg(mst_archive_commit(a) == 0, "%s", mst_archive_error(a));
    ck_assert_int_eq(ask(path, "SELECT count(*) FROM server_requests"), 1);
    test_wait(pid);
    close(fds[0]);
    close(fds[1]);
    close_archive(a);
}
END_TEST

/* ---- one file ---------------------------------------------------------------------- */

/* How many files hold some of the archive. A recorder that is killed right after SQLite made a
 * journal leaves it empty; SQLite neither uses nor removes it. */
static int files_of(const char *path)
{
    static const char *const parts[] = { "", "-wal", "-shm", "-journal" };
    char name[PATH_MAX + 16];
    struct stat st;
    int count = 0;
    size_t i;

    for (i = 0; i < sizeof parts / sizeof *parts; i++) {
        snprintf(name, sizeof name, "%s%s", path, parts[i]);
        count += stat(name, &st) == 0 && st.st_size > 0;
    }
    return count;
}

START_TEST(test_one_file_when_nobody_has_it_open)
{
    char path[PATH_MAX], error[MST_ERROR_MAX] = "";
    struct mst_archive *a, *second, *reader;
    int64_t server;

    snprintf(path, sizeof path, "%s", test_path());
    a = create(path);
    server = add_server(a, begin(a));
    ck_assert_int_eq(add_request(a, server, 1), 0);
    ck_assert_int_eq(mst_archive_commit(a), 0);
    second = create(path);
    ck_assert_int_eq(begin(second), 2);
    close_archive(a);
    ck_assert_int_gt(files_of(path), 1);
    reader = mst_archive_read(path, error);
    ck_assert_msg(reader != NULL, "%s", error);
    close_archive(second);
    ck_assert_int_gt(files_of(path), 1);
    close_archive(reader);
    ck_assert_int_eq(files_of(path), 1);
    ck_assert_int_eq(ask(path, "SELECT count(*) FROM server_requests, runs"), 2);
    ck_assert_int_eq(ask(path, "SELECT journal_mode = 'delete' FROM pragma_journal_mode"), 1);
}
END_TEST

/* ---- killed ---------------------------------------------------------------------- */

/* Killed anywhere, mostly amid a batch: the archive can be read, what was
 * committed is there, the run says that it is not complete. */
START_TEST(test_killed)
{
    char path[PATH_MAX], error[MST_ERROR_MAX];
    struct mst_archive *a;
    int64_t committed;
    int fds[2];
    pid_t pid;

    choose_log(_i % LOGS);
    snprintf(path, sizeof path, "%s", test_path());
    ck_assert_int_eq(pipe(fds), 0);
    if (test_fork(&pid)) {
        int64_t server;
        uint64_t i;

        a = mst_archive_create(path, NULL, error);
        server = a != NULL ? add_server(a, begin(a)) : 0;
        for (i = 1; a != NULL; i++) {
            if (add_request(a, server, i) != 0)
                break;
            if (i % 500 == 0 && (mst_archive_commit(a) != 0 || write(fds[1], &i, sizeof i) < 0))
                break;
        }
        _exit(1);
    }
    for (committed = 0; committed < 2000 + 700 * _i;)
        ck_assert_int_eq(read(fds[0], &committed, sizeof committed), sizeof committed);
    kill(pid, SIGKILL);
    test_wait(pid);
    close(fds[0]);
    close(fds[1]);

    a = mst_archive_read(path, error);
    ck_assert_msg(a != NULL, "%s", error);
    close_archive(a);
    ck_assert_int_eq(files_of(path), 1);
    ck_assert_int_ge(ask(path, "SELECT count(*) FROM server_requests"), committed);
    ck_assert_int_eq(ask(path, "SELECT max(key) = count(*) FROM server_requests"), 1);
    ck_assert_int_eq(ask(path, "SELECT complete = 0 AND outcome = 'unfinished' FROM runs"), 1);
    ck_assert_int_eq(ask(path, "SELECT count(*) FROM pragma_integrity_check WHERE "
                               "integrity_check = 'ok'"), 1);
}
END_TEST

#define LOOKS_MAX 1000000u

/* What a recorder tells of itself: when each of its looks began. */
struct looks {
    volatile uint64_t count;
    volatile uint64_t began_ns[LOOKS_MAX];
};

/* As a recording does: row after row, and whenever it comes round the batch can be due. */
static void record_until_killed(const char *path, struct looks *looks)
{
    struct mst_archive *a = create(path);
    int64_t server = add_server(a, begin(a));
    uint64_t i, now;

    for (i = 0; i < LOOKS_MAX; i++) {
        now = mst_now_ns();
        looks->began_ns[i] = now;
        looks->count = i + 1;
        if (add_request(a, server, i + 1) != 0 || mst_archive_tick(a, now) != 0)
            break;
        poll(NULL, 0, 1);
    }
    _exit(1);
}

/* Until it has recorded for so long by its own account. */
static void wait_for_looks(const struct looks *looks, uint64_t ns)
{
    while (looks->count < 3 || looks->began_ns[looks->count - 1] - looks->began_ns[0] < ns)
        poll(NULL, 0, 1);
}

/* Killed at any moment, with and without a program that has been reading for long: what is
 * missing is of the last batch, which was not due. The first row of a batch can be as old as the
 * look before it, and of the last look it is not known how far it came. */
START_TEST(test_killed_at_any_moment)
{
    char path[PATH_MAX];
    struct looks *looks = mmap(NULL, sizeof *looks, PROT_READ | PROT_WRITE,
                               MAP_SHARED | MAP_ANONYMOUS, -1, 0);
    uint64_t seed = 100 + (uint64_t)_i, there, ns = 0;
    sqlite3 *reader = NULL;
    pid_t pid;

    ck_assert_ptr_ne(looks, MAP_FAILED);
    snprintf(path, sizeof path, "%s", test_path());
    if (test_fork(&pid))
        record_until_killed(path, looks);
    wait_for_looks(looks, ns = 300 * MST_NS_PER_MS);
    if (_i % 2 == 1)
        reader = begin_to_read(path);
    wait_for_looks(looks, ns + mst_random_word(&seed) % (900 * MST_NS_PER_MS));
    kill(pid, SIGKILL);
    test_wait(pid);
    sqlite3_close(reader);

    there = (uint64_t)ask(path, "SELECT count(*) FROM server_requests");
    ck_assert_uint_gt(there, 0);
    ck_assert_uint_le(there, looks->count);
    if (there + 3 <= looks->count)
        ck_assert_uint_lt(looks->began_ns[looks->count - 2] - looks->began_ns[there + 1],
                          MST_ARCHIVE_BATCH_NS);
    ck_assert_int_eq(ask(path, "SELECT max(key) = count(*) FROM server_requests"), 1);
    ck_assert_int_eq(ask(path, "SELECT complete = 0 AND outcome = 'unfinished' FROM runs"), 1);
    ck_assert_int_eq(ask(path, "SELECT count(*) FROM pragma_integrity_check WHERE "
                               "integrity_check = 'ok'"), 1);
    munmap(looks, sizeof *looks);
}
END_TEST

/* ---- what it refuses ------------------------------------------------------------- */

static void write_file(const char *path, const char *text)
{
    FILE *file = fopen(path, "we");

    ck_assert_ptr_nonnull(file);
    fputs(text, file);
    fclose(file);
}

START_TEST(test_not_an_archive)
{
    char path[PATH_MAX], error[MST_ERROR_MAX];
    sqlite3 *db;

    snprintf(path, sizeof path, "%s", test_path());
    write_file(path, "root:x:0:0:root:/root:/bin/bash\nsomething longer than a page header, to "
                     "be sure of it: SQLite reads a hundred bytes before it decides\n");
    refuse(path, "is not an archive of mpmstat");
    ck_assert_ptr_null(mst_archive_read(path, error));

    snprintf(path, sizeof path, "%s", test_path());
    ck_assert_int_eq(sqlite3_open(path, &db), SQLITE_OK);
    ck_assert_int_eq(sqlite3_exec(db, "CREATE TABLE t (x)", NULL, NULL, NULL), SQLITE_OK);
    sqlite3_close(db);
    refuse(path, "is not an archive of mpmstat");
    ck_assert_int_eq(ask(path, "SELECT count(*) FROM sqlite_master"), 1);   /* untouched */
}
END_TEST

START_TEST(test_other_version)
{
    char path[PATH_MAX], error[MST_ERROR_MAX];
    struct mst_archive *a;
    sqlite3 *db;

    snprintf(path, sizeof path, "%s", test_path());
    a = create(path);
    close_archive(a);
    ck_assert_int_eq(sqlite3_open(path, &db), SQLITE_OK);
    ck_assert_int_eq(sqlite3_exec(db, "PRAGMA user_version = 99", NULL, NULL, NULL), SQLITE_OK);
    sqlite3_close(db);
    refuse(path, "version 99");
    ck_assert_ptr_null(mst_archive_read(path, error));
}
END_TEST

/* An archive as that version had it. */
static void make_version(int version, char path[PATH_MAX])
{
    char *sql = NULL, *message = NULL, dump[256];
    size_t size = 0;
    ssize_t length;
    FILE *file;
    sqlite3 *db;

    snprintf(dump, sizeof dump, MST_TESTS_DIR "/cases/archive/version-%d.sql", version);
    file = fopen(dump, "r");
    ck_assert_msg(file != NULL, "there is no %s", dump);
    length = getdelim(&sql, &size, '\0', file);
    ck_assert_int_gt(length, 0);
    fclose(file);
    snprintf(path, PATH_MAX, "%s", test_path());
    ck_assert_int_eq(sqlite3_open(path, &db), SQLITE_OK);
    ck_assert_msg(sqlite3_exec(db, sql, NULL, NULL, &message) == SQLITE_OK, "%s", message);
    ck_assert_int_eq(sqlite3_exec(db, "INSERT INTO programs (run_id, program, cpu_ns) VALUES "
                                  "(1, 'apache2', 5)", NULL, NULL, NULL), SQLITE_OK);
    sqlite3_close(db);
    free(sql);
}

/* The tables and their columns, in their order: ALTER TABLE and the schema agree. */
static char *shape(const char *path)
{
    sqlite3_stmt *statement;
    sqlite3 *db;
    char *text;

    ck_assert_int_eq(sqlite3_open(path, &db), SQLITE_OK);
    ck_assert_int_eq(sqlite3_prepare_v2(db,
        "SELECT group_concat(line, char(10)) FROM (SELECT m.type || ' ' || m.name || ' ' || "
        "coalesce((SELECT group_concat(name || ' ' || type || \"notnull\") FROM "
        "pragma_table_info(m.name)), '') AS line FROM sqlite_master m ORDER BY m.name)", -1,
        &statement, NULL), SQLITE_OK);
    ck_assert_int_eq(sqlite3_step(statement), SQLITE_ROW);
    text = strdup((const char *)sqlite3_column_text(statement, 0));
    sqlite3_finalize(statement);
    sqlite3_close(db);
    return text;
}

START_TEST(test_an_older_version_becomes_this_one)
{
    char path[PATH_MAX], fresh[PATH_MAX], *upgraded, *made;
    struct mst_archive *a;

    make_version(_i, path);
    a = create(path);
    ck_assert_int_eq(add_request(a, add_server(a, begin(a)), 9), 0);
    close_archive(a);
    ck_assert_int_eq(ask(path, "PRAGMA user_version"), MST_ARCHIVE_VERSION);
    ck_assert_int_eq(ask(path, "SELECT count(*) FROM runs"), 2);
    ck_assert_int_eq(ask(path, "SELECT count(*) FROM server_requests WHERE front_ns IS NULL AND "
                               "request_id IN (77, 78)"), 2);
    ck_assert_int_eq(ask(path, "SELECT count(*) FROM php_requests"), 0);
    ck_assert_int_eq(ask(path, "SELECT count(*) FROM programs WHERE run_id = 1 AND program = "
                               "'apache2' AND cpu_ns = 5 AND owner IS NULL"), 1);
    snprintf(fresh, sizeof fresh, "%s", test_path());
    close_archive(create(fresh));
    upgraded = shape(path);
    made = shape(fresh);
    ck_assert_str_eq(upgraded, made);
    free(upgraded);
    free(made);
}
END_TEST

/* To be read it need not be writable, and is not changed. */
START_TEST(test_an_older_version_is_read_as_it_is)
{
    char path[PATH_MAX], error[MST_ERROR_MAX] = "";
    struct mst_summary summary;
    struct mst_archive *a;

    make_version(_i, path);
    a = mst_archive_read(path, error);
    ck_assert_msg(a != NULL, "%s", error);
    ck_assert_msg(mst_findings_summary(&summary, a, 1, error) == 0, "%s", error);
    ck_assert_uint_eq(summary.servers[0].requests, 2);
    ck_assert_uint_eq(summary.servers[0].phases[MST_PHASE_FRONT].count, 0);
    ck_assert_str_eq(mst_archive_path(a), path);
    mst_summary_free(&summary);
    close_archive(a);
    ck_assert_int_eq(ask(path, "PRAGMA user_version"), _i);
    ck_assert_int_eq(ask(path, "SELECT count(*) FROM pragma_table_info('server_requests') "
                               "WHERE name = 'trace_id'"), 0);
}
END_TEST

/* ---- PHP's side ------------------------------------------------------------------ */

START_TEST(test_php_rows)
{
    const char *path = test_path();
    struct mst_archive *a = create(path);
    int64_t server = add_server(a, begin(a));
    struct mst_php_request r = {
        .id = 77, .wait_ns = 1, .run_ns = 2, .user_ns = 3, .system_ns = 4, .memory_bytes = 5,
        .label_status = (MST_PHP_FATAL | MST_PHP_UNCACHED) << 16 | 500,
        .pid_worker = UINT64_C(11) << 32 | 6, .script = "/srv/i.php",
    };
    const struct mst_mark mark = { .pid = 11, .name = "after \xff the query" };
    const struct mst_request request = { .front_ns = 8, .client_id = 1 };
    const struct mst_record_names www = { .label = "www" };

    ck_assert_int_eq(mst_archive_add_php_request(a, server, &r, &www, 2000, 1, false), 0);
    r = (struct mst_php_request){
        .id = MST_UNKNOWN, .wait_ns = MST_UNKNOWN, .user_ns = MST_UNKNOWN,
        .system_ns = MST_UNKNOWN, .memory_bytes = MST_UNKNOWN, .pid_worker = UINT32_MAX,
        .label_status = (MST_PHP_ABORTED | MST_PHP_TIMEOUT) << 16,
    };
    ck_assert_int_eq(mst_archive_add_php_request(a, server, &r, &www, 3000, 2, true), 0);
    ck_assert_int_eq(mst_archive_add_mark(a, server, &mark, 2001, 2000, 1), 0);
    ck_assert_int_eq(mst_archive_add_request(a, server, &request, &www, 1000, 1, false), 0);
    close_archive(a);
    ck_assert_int_eq(ask(path, "SELECT count(*) FROM php_requests WHERE key = 1 AND start_ns = "
                               "2000 AND request_id = 77 AND wait_ns = 1 AND run_ns = 2 AND "
                               "user_ns = 3 AND system_ns = 4 AND memory_bytes = 5 AND label = "
                               "'www' AND status = 500 AND script = '/srv/i.php' AND aborted = 0 "
                               "AND fatal = 1 AND timeout = 0 AND cached = 0 AND pid = 11 AND "
                               "worker = 6 AND ghost = 0"), 1);
    ck_assert_int_eq(ask(path, "SELECT count(*) FROM php_requests WHERE key = 2 AND request_id IS "
                               "NULL AND wait_ns IS NULL AND user_ns IS NULL AND system_ns IS "
                               "NULL AND memory_bytes IS NULL AND status IS NULL AND script IS "
                               "NULL AND aborted = 1 AND fatal = 0 AND timeout = 1 AND cached IS "
                               "NULL AND worker IS NULL AND ghost = 1"), 1);
    ck_assert_int_eq(ask(path, "SELECT count(*) FROM marks WHERE time_ns = 2001 AND pid = 11 AND "
                               "request_start_ns = 2000 AND name LIKE 'after %'"), 1);
    ck_assert_int_eq(ask(path, "SELECT front_ns FROM server_requests WHERE client_id = 0 AND "
                               "trace_id IS NULL AND parent_span IS NULL AND sampled IS NULL"),
                     8);
}
END_TEST

START_TEST(test_no_file)
{
    char path[PATH_MAX], error[MST_ERROR_MAX];

    refuse("/nonexistent/a.sqlite", "No such file or directory");
    refuse("/dev", "should be a file");
    refuse("", "should be a file");
    snprintf(path, sizeof path, "%s", test_path());
    ck_assert_ptr_null(mst_archive_read(path, error));
    ck_assert_ptr_nonnull(strstr(error, "No such file or directory"));
    ck_assert_int_ne(access(path, F_OK), 0);   /* reading makes none */
    write_file(path, "");
    ck_assert_ptr_null(mst_archive_read(path, error));
    ck_assert_ptr_nonnull(strstr(error, "there is no run in it"));
    close_archive(create(path));               /* an empty file is a beginning */
}
END_TEST

START_TEST(test_written_by_another)
{
    const char *path = test_path();
    struct mst_archive *a = create(path);
    int64_t server = add_server(a, begin(a));

    ck_assert_int_eq(add_request(a, server, 1), 0);   /* its batch is open */
    refuse(path, "another program is using it");
    close_archive(a);
}
END_TEST

/* ---- disks that are full, or read-only -------------------------------------------- */

/* In a mount namespace of its own, so that nobody else sees the little disk. That takes root:
 * false. */
static bool mount_little_disk(char directory[PATH_MAX])
{
    snprintf(directory, PATH_MAX, "%s", test_path());
    ck_assert_int_eq(mkdir(directory, 0700), 0);
    return unshare(CLONE_NEWNS) == 0 &&
           mount(NULL, "/", NULL, MS_REC | MS_PRIVATE, NULL) == 0 &&
           mount("tmpfs", directory, "tmpfs", 0, "size=512k") == 0;
}

static void write_junk(const char *directory)
{
    static const char junk[4096];
    char name[PATH_MAX + 16];
    FILE *file;

    snprintf(name, sizeof name, "%s/junk", directory);
    file = fopen(name, "we");
    ck_assert_ptr_nonnull(file);
    while (fwrite(junk, 1, sizeof junk, file) == sizeof junk && fflush(file) == 0)
        ;
    fclose(file);
}

START_TEST(test_disk_full)
{
    char directory[PATH_MAX], path[PATH_MAX + 16], error[MST_ERROR_MAX];
    struct mst_summary summary;
    struct mst_archive *a;
    int64_t server, committed = 0;
    uint64_t i;

    choose_log(_i);
    if (!mount_little_disk(directory))
        return;
    snprintf(path, sizeof path, "%s/a.sqlite", directory);
    a = create(path);
    server = add_server(a, begin(a));
    ck_assert_int_eq(mst_archive_commit(a), 0);
    for (i = 1; i < 100000; i++) {
        if (add_request(a, server, i) != 0 || (i % 50 == 0 && mst_archive_commit(a) != 0))
            break;
        committed = i % 50 == 0 ? (int64_t)i : committed;
    }
    ck_assert_uint_lt(i, 100000);
    ck_assert_int_gt(committed, 0);
    ck_assert_msg(strstr(mst_archive_error(a), "the disk is full. Make room on it") != NULL,
                  "says \"%s\"", mst_archive_error(a));
    ck_assert_int_eq(add_request(a, server, i), -1);   /* the first error stays */
    ck_assert_int_eq(mst_archive_close(a, error), -1);
    ck_assert_ptr_nonnull(strstr(error, "the disk is full"));

    write_junk(directory);   /* no room for anything is left */
    a = mst_archive_read(path, error);
    ck_assert_msg(a != NULL, "%s", error);
    ck_assert_msg(mst_findings_summary(&summary, a, 1, error) == 0, "%s", error);
    ck_assert(!summary.complete);
    ck_assert_int_eq(summary.outcome, MST_OUTCOME_UNFINISHED);
    ck_assert_uint_eq(summary.servers[0].requests, (uint64_t)committed);
    mst_summary_free(&summary);
    close_archive(a);
    ck_assert_int_eq(ask(path, "SELECT count(*) FROM server_requests"), committed);
    ck_assert_int_eq(umount(directory), 0);
}
END_TEST

/* It is said before the load begins, and nothing is left behind. */
START_TEST(test_disk_full_beforehand)
{
    char directory[PATH_MAX], path[PATH_MAX + 16];

    if (!mount_little_disk(directory))
        return;
    snprintf(path, sizeof path, "%s/a.sqlite", directory);
    write_junk(directory);
    refuse(path, "the disk is full. Make room on it");
    ck_assert_int_eq(files_of(path), 0);
    ck_assert_int_eq(umount(directory), 0);
}
END_TEST

static void kill_a_recorder(const char *path, int64_t requests)
{
    pid_t pid;

    if (test_fork(&pid)) {
        struct mst_archive *a = create(path);
        int64_t server = add_server(a, begin(a));
        int64_t i;

        for (i = 1; i <= requests; i++)
            ck_assert_int_eq(add_request(a, server, (uint64_t)i), 0);
        ck_assert_int_eq(mst_archive_commit(a), 0);
        raise(SIGKILL);
    }
    test_wait(pid);
}

static void set_read_only(const char *directory)
{
    ck_assert_int_eq(mount(NULL, directory, NULL, MS_REMOUNT | MS_RDONLY, NULL), 0);
}

static uint64_t requests_read(const char *path)
{
    char error[MST_ERROR_MAX] = "";
    struct mst_archive *a = mst_archive_read(path, error);
    struct mst_summary summary;
    uint64_t requests;

    ck_assert_msg(a != NULL, "%s", error);
    ck_assert_msg(mst_findings_summary(&summary, a, 1, error) == 0, "%s", error);
    ck_assert_int_eq(summary.outcome, MST_OUTCOME_UNFINISHED);
    requests = summary.servers[0].requests;
    mst_summary_free(&summary);
    close_archive(a);
    return requests;
}

/* Nothing can be written next to it: what a killed recorder left can be read nevertheless. */
START_TEST(test_disk_read_only)
{
    char directory[PATH_MAX], path[PATH_MAX + 16], error[MST_ERROR_MAX] = "";

    if (!mount_little_disk(directory))
        return;
    snprintf(path, sizeof path, "%s/killed.sqlite", directory);
    kill_a_recorder(path, 7);
    ck_assert_int_eq(files_of(path), 3);
    set_read_only(directory);
    ck_assert_uint_eq(requests_read(path), 7);
    ck_assert_int_eq(files_of(path), 3);
    refuse(path, "is read-only: it should be writable");
    snprintf(path, sizeof path, "%s/new.sqlite", directory);
    refuse(path, "Read-only file system");
    ck_assert_ptr_null(mst_archive_read(path, error));
    ck_assert_int_eq(umount(directory), 0);
}
END_TEST

/* Without its index (FILE-shm), and without its log, as somebody may have copied it. */
START_TEST(test_parts_on_a_read_only_disk)
{
    char directory[PATH_MAX], path[PATH_MAX + 32], error[MST_ERROR_MAX] = "", *part;
    struct mst_archive *a;

    if (!mount_little_disk(directory))
        return;
    snprintf(path, sizeof path, "%s/of 100%%?#.sqlite", directory);
    kill_a_recorder(path, 7);
    ck_assert_int_gt(asprintf(&part, "%s-shm", path), 0);
    ck_assert_int_eq(unlink(part), 0);
    free(part);
    set_read_only(directory);
    ck_assert_ptr_null(mst_archive_read(path, error));
    ck_assert_msg(strstr(error, "Copy all of them to where you may write") != NULL, "says \"%s\"",
                  error);
    ck_assert_int_eq(mount(NULL, directory, NULL, MS_REMOUNT, NULL), 0);
    ck_assert_int_eq(ask(path, "SELECT count(*) FROM server_requests"), 7);   /* it is one now */
    ck_assert_int_eq(files_of(path), 1);
    ck_assert_int_eq(ask(path, "SELECT journal_mode = 'wal' FROM pragma_journal_mode"), 1);
    set_read_only(directory);
    ck_assert_uint_eq(requests_read(path), 7);
    a = mst_archive_read(path, error);
    ck_assert_msg(a != NULL, "%s", error);
    ck_assert_str_eq(mst_archive_path(a), path);
    close_archive(a);
    ck_assert_int_eq(umount(directory), 0);
}
END_TEST

int main(void)
{
    Suite *suite = suite_create("archive");
    TCase *keeps = tcase_create("keeps"), *killed = tcase_create("killed");
    TCase *refuses = tcase_create("refuses"), *disks = tcase_create("disks");
    TCase *readers = tcase_create("readers");

    tcase_add_test(keeps, test_rows);
    tcase_add_test(keeps, test_columns);
    tcase_add_test(keeps, test_deliveries);
    tcase_add_test(keeps, test_waits);
    tcase_add_test(keeps, test_unknown_is_null);
    tcase_add_test(keeps, test_second_run);
    tcase_add_test(keeps, test_batches);
    tcase_add_loop_test(readers, test_a_reader_ends_and_holds_up_nothing, 0, LOGS);
    tcase_add_test(readers, test_a_reader_keeps_nothing_from_being_committed);
    tcase_add_test(readers, test_a_report_is_of_one_moment);
    tcase_add_loop_test(readers, test_what_has_to_be_written_waits_for_a_reader, 0, LOGS);
    tcase_add_test(readers, test_one_file_when_nobody_has_it_open);
    tcase_set_timeout(readers, 60);
    tcase_add_loop_test(killed, test_killed, 0, 6);
    tcase_add_loop_test(killed, test_killed_at_any_moment, 0, 10);
    tcase_set_timeout(killed, 60);
    tcase_add_test(refuses, test_not_an_archive);
    tcase_add_test(refuses, test_other_version);
    tcase_add_test(refuses, test_no_file);
    tcase_add_loop_test(refuses, test_an_older_version_becomes_this_one, 1,
                        MST_ARCHIVE_VERSION);
    tcase_add_loop_test(refuses, test_an_older_version_is_read_as_it_is, 1,
                        MST_ARCHIVE_VERSION);
    tcase_add_test(refuses, test_php_rows);
    tcase_add_test(refuses, test_written_by_another);
    tcase_set_timeout(refuses, 30);
    tcase_add_loop_test(disks, test_disk_full, 0, LOGS);
    tcase_add_test(disks, test_disk_full_beforehand);
    tcase_add_test(disks, test_disk_read_only);
    tcase_add_test(disks, test_parts_on_a_read_only_disk);
    tcase_set_timeout(disks, 60);
    suite_add_tcase(suite, keeps);
    suite_add_tcase(suite, readers);
    suite_add_tcase(suite, killed);
    suite_add_tcase(suite, refuses);
    suite_add_tcase(suite, disks);
    return test_run(suite);
}
