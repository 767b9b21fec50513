/* check_archive.c - the archive: what it keeps of a recording. */
#include <stdlib.h>
#include <string.h>

#include "analysis/summary.h"
#include "archive/writer.h"
#include "base/clock.h"
#include "findings/findings.h"
#include "harness.h"
#include "made_archive.h"
#include "segment/fields.h"

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

/* An undo removes what was added since the last commit, and nothing else. */
START_TEST(test_undo)
{
    const char *path = test_path();
    struct mst_archive *a = create(path);
    int64_t server = add_server(a, begin(a));

    ck_assert_int_eq(add_request(a, server, 1), 0);
    ck_assert_int_eq(mst_archive_commit(a), 0);
    ck_assert_int_eq(mst_archive_undo(a), 0);   /* nothing */
    ck_assert_int_eq(add_request(a, server, 2), 0);
    ck_assert_int_eq(mst_archive_undo(a), 0);
    ck_assert_int_eq(add_request(a, server, 3), 0);
    ck_assert_int_eq(mst_archive_commit(a), 0);
    close_archive(a);
    ck_assert_int_eq(ask(path, "SELECT count(*) FROM server_requests"), 2);
    ck_assert_int_eq(ask(path, "SELECT count(*) FROM server_requests WHERE key = 2"), 0);
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
    const struct mst_record_names names = { "www", { "mysql db:3306", "redis" }, NULL,
                                            { { 7, 3 }, { 0, 0 } } };
    const struct mst_sample_end end = { mst_other_end_kind_names[MST_END_DATABASE],
                                        "mysql db:3306", 3, 1, 90, 30 };
    struct mst_php_request r = {
        .run_ns = 200, .user_ns = 10, .system_ns = 5, .cpu_wait_ns = 7,
        .waits_ns = { [MST_WAIT_DATABASE] = 100, [MST_WAIT_CACHE] = 20, [MST_WAIT_DNS] = 3 },
        .longest = {
            { (uint64_t)MST_WAIT_DATABASE << 32 | 5, UINT64_C(3) << 32 | 1, 90 },
            { (uint64_t)MST_WAIT_CACHE << 32 | 6, UINT64_C(1) << 32, 20 },
        },
        .places = { { UINT64_C(70) << 32 | 2, 80 }, { UINT64_C(71) << 32 | 1, 20 } },
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
    ck_assert_int_eq(ask(path, "SELECT (stack, frame, stack_calls, stack_ns) = (7, 3, 2, 80) FROM "
                               "php_waits WHERE kind = 'database' AND end IS NOT NULL"), 1);
    ck_assert_int_eq(ask(path, "SELECT sum(stack IS NULL AND frame IS NULL AND stack_calls IS NULL "
                               "AND stack_ns IS NULL) FROM php_waits"), 3);
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
        MST_UNKNOWN, MST_UNKNOWN, MST_UNKNOWN, NULL, NULL,
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
    sample.listen_address[0] = sample.listen_pool[0] = '\0';
    sample.wall_ns = 3;
    mst_client_result_init(&result);
    ck_assert_int_eq(mst_archive_started(a, run, 4), 0);
    ck_assert_int_eq(mst_archive_add_lifecycle(a, server, &event, 5, 6), 0);
    ck_assert_int_eq(mst_archive_add_sample(a, server, MST_MOMENT_DURING, &sample, &use), 0);
    ck_assert_int_eq(mst_archive_add_process(a, server, 1, &process, 4), 0);
    ck_assert_int_eq(mst_archive_add_memory(a, server, 1, 2, 3, 4, 5, 6), 0);
    ck_assert_int_eq(mst_archive_add_machine(a, run, 1, MST_MOMENT_DURING, &machine), 0);
    ck_assert_int_eq(mst_archive_add_program(a, run, "php-fpm", MST_PROC_SERVER, 1, 2), 0);
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

int main(void)
{
    Suite *suite = suite_create("archive");
    TCase *keeps = tcase_create("keeps"), *killed = tcase_create("killed");
    TCase *refuses = tcase_create("refuses"), *disks = tcase_create("disks");
    TCase *readers = tcase_create("readers");

    tcase_add_test(keeps, test_rows);
    tcase_add_test(keeps, test_undo);
    tcase_add_test(keeps, test_columns);
    tcase_add_test(keeps, test_deliveries);
    tcase_add_test(keeps, test_waits);
    tcase_add_test(keeps, test_unknown_is_null);
    tcase_add_test(keeps, test_second_run);
    tcase_add_test(keeps, test_batches);
    tcase_set_timeout(readers, 60);
    tcase_set_timeout(killed, 60);
    tcase_add_test(refuses, test_php_rows);
    tcase_set_timeout(refuses, 30);
    tcase_set_timeout(disks, 60);
    suite_add_tcase(suite, keeps);
    suite_add_tcase(suite, readers);
    suite_add_tcase(suite, killed);
    suite_add_tcase(suite, refuses);
    suite_add_tcase(suite, disks);
    return test_run(suite);
}
