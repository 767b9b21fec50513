/* check_summary_php.c - PHP's times behind Apache's and the parts of both, and the client's
 * times joined to the server's.
 *
 * Each test writes a run into an archive, as a recording would, changes in it
 * what the test is about, and looks at the summary.
 */
#include "harness.h"
#include "made_run.h"

/* ---- the same request on both sides ------------------------------------------------ */

/* The client's rows: of the server's requests, each begun half a millisecond before and
 * done a whole one after it, and of every fourth 2 ms more. */
#define CLIENTS(id) \
    "INSERT INTO client_requests SELECT 1, start_ns - 500000, queue_ns + read_ns + handle_ns + " \
    "send_ns + 1500000 + 2000000 * (key % 4 = 0), 0, NULL, 200, " id ", NULL FROM server_requests;"
#define STARTS(step) "UPDATE client_results SET rows_start_step_ns = " step ";"
static const struct {
    const char *sql;
    enum mst_join by;
    unsigned count, ambiguous;
    uint64_t p50_ns, p99_ns;
} joins[] = {
    { "UPDATE server_requests SET client_id = key + 1000;" CLIENTS("key + 1000"),
      MST_JOIN_ID, 400, 0, 1500000, 3500000 },
    /* Two for one, after a redirect; and one that the server does not know. */
    { "UPDATE server_requests SET client_id = key / 2;" CLIENTS("key")
      "UPDATE client_requests SET duration_ns = 18000000", MST_JOIN_ID, 200, 0, 2000000, 2000000 },
    /* Two of the client's with each number up to 100. */
    { "UPDATE server_requests SET client_id = key;" CLIENTS("1 + (key - 1) % 300")
      "UPDATE client_requests SET duration_ns = 9000000", MST_JOIN_ID, 200, 0, 1000000, 1000000 },
    { STARTS("1000") CLIENTS("NULL"), MST_JOIN_TIME, 400, 0, 1500000, 3500000 },
    /* Those without an answer are not pairs. */
    { STARTS("1000") CLIENTS("NULL") "UPDATE client_requests SET status = 0 WHERE rowid % 4 = 0",
      MST_JOIN_TIME, 300, 0, 1500000, 1500000 },
    /* Too coarse to tell; another machine's clock; two servers. */
    { STARTS("1000000000") CLIENTS("NULL"), MST_JOIN_NONE, 0, 0, MST_UNKNOWN, MST_UNKNOWN },
    { STARTS("1000") CLIENTS("NULL") "UPDATE servers SET local = 0", MST_JOIN_NONE, 0, 0,
      MST_UNKNOWN, MST_UNKNOWN },
    { STARTS("1000") CLIENTS("NULL") "INSERT INTO servers (run_id, target, producer, local) VALUES "
      "(1, 'other.board', 'apache', 1)", MST_JOIN_NONE, 0, 0, MST_UNKNOWN, MST_UNKNOWN },
    /* One connection's long request around another's short ones: each finds its own. */
    { STARTS("1000") "UPDATE server_requests SET start_ns = start_ns - 100000000, handle_ns = "
      "200000000 WHERE key = 200;" CLIENTS("NULL"), MST_JOIN_TIME, 400, 0, 1500000, 3500000 },
    /* Two at almost the same time: either might be the first one's. */
    { STARTS("1000") "UPDATE server_requests SET start_ns = 100000 + (SELECT start_ns FROM "
      "server_requests WHERE key = 200) WHERE key = 201;" CLIENTS("NULL"),
      MST_JOIN_TIME, 400, 1, 1500000, 3500000 },
    { "", MST_JOIN_NONE, 0, 0, MST_UNKNOWN, MST_UNKNOWN },
};

START_TEST(test_join)
{
    const struct mst_summary_join *join;
    struct run r = quiet_run();
    struct made m;

    make(&m, &r, joins[_i].sql);
    join = &m.s.client.join;
    ck_assert_int_eq(join->by, joins[_i].by);
    ck_assert_uint_eq(join->apart.count, joins[_i].count);
    ck_assert_uint_eq(join->ambiguous, joins[_i].ambiguous);
    ck_assert_uint_eq(join->apart.p50_ns, joins[_i].p50_ns);
    ck_assert_uint_eq(join->apart.p99_ns, joins[_i].p99_ns);
    check_output(&m.s);
    unmake(&m);
}
END_TEST

/* A pool: all its servers' requests are the load's; the verdict is on the busiest. */
START_TEST(test_pool)
{
    struct run r = quiet_run();
    struct made m;

    r.counted = 410;
    make(&m, &r, "INSERT INTO servers (id, run_id, target, producer, local, lost, restarts) VALUES "
                 "(2, 1, 'other.board', 'apache', 1, 0, 0), (3, 1, 'php.board', 'php', 1, 0, 0);"
                 "CREATE TEMP TABLE others AS SELECT * FROM server_requests WHERE key <= 10;"
                 "UPDATE others SET server_id = 2;"
                 "INSERT INTO server_requests SELECT * FROM others;"
                 "INSERT INTO php_requests (server_id, key, start_ns, request_id, wait_ns, run_ns, "
                 "label, aborted, fatal, timeout, ghost) SELECT 3, key, start_ns, request_id, 0, "
                 "handle_ns, label, 0, 0, 0, 0 FROM server_requests WHERE server_id = 1");
    ck_assert_uint_eq(m.s.server_count, 3);
    ck_assert_ptr_eq(mst_summary_front(&m.s), &m.s.servers[0]);
    expect_check(&m, MST_CHECK_COUNTS, MST_ANSWER_YES, "410 requests on both sides");
    expect_verdict(&m, "Nothing ran out");
    check_output(&m.s);
    unmake(&m);
}
END_TEST

START_TEST(test_accept_queue)
{
    struct run r = quiet_run();
    struct made m;

    /* Another server's: few of this one's requests waited at once. */
    make(&m, &r, "UPDATE machine_samples SET listen_overflows = 12 WHERE moment = 'end'");
    expect_check(&m, MST_CHECK_ACCEPT_QUEUE, MST_ANSWER_YES, "Another queue of the machine was "
                 "full: connections found it so 5 times");
    unmake(&m);
    make(&m, &r, "UPDATE machine_samples SET listen_overflows = 12 WHERE moment = 'end'; "
                 "UPDATE samples SET listen_queue_limit = 4; UPDATE server_requests SET "
                 "queue_ns = 1000, start_ns = (SELECT min(start_ns) FROM server_requests)");
    expect_check(&m, MST_CHECK_ACCEPT_QUEUE, MST_ANSWER_NO, "queue full 5 times");
    expect_verdict(&m, "The accept queue was full: connections found an accept queue full 5");
    unmake(&m);
    make(&m, &r, "UPDATE machine_samples SET listen_overflows = 12 WHERE moment = 'end'; "
                 "UPDATE servers SET local = 0");
    expect_check(&m, MST_CHECK_ACCEPT_QUEUE, MST_ANSWER_YES, "at most 3");
    unmake(&m);
    make(&m, &r, "UPDATE samples SET listen_queue = 511 WHERE moment = 'during'");
    expect_check(&m, MST_CHECK_ACCEPT_QUEUE, MST_ANSWER_NO, "at most 511");
    unmake(&m);
    /* One socket of several was nearly full for a moment: its limit goes with its queue. */
    make(&m, &r, "UPDATE samples SET listen_queue = 9, listen_queue_limit = 10, "
                 "listen_address = '/run/php/shop.sock' WHERE rowid = 20");
    ck_assert_str_eq(m.s.servers[0].listen_address, "/run/php/shop.sock");
    expect_check(&m, MST_CHECK_ACCEPT_QUEUE, MST_ANSWER_YES, "at most 9 of 10 connections were "
                                                             "seen waiting");
    unmake(&m);
    make(&m, &r, "UPDATE samples SET listen_queue = NULL");
    expect_check(&m, MST_CHECK_ACCEPT_QUEUE, MST_ANSWER_UNKNOWN, "is not known");
    unmake(&m);
}
END_TEST

/* ---- PHP behind it --------------------------------------------------------------- */

/* Every request of 8 ms came to PHP half a millisecond after its headers: it waited
 * 6 ms for a worker and ran for 1 ms, on five workers. */
START_TEST(test_php_is_laid_over)
{
    struct run r = quiet_run();
    const struct mst_summary_server *apache, *php;
    struct made m;

    make(&m, &r, PHP "INSERT INTO marks VALUES (2, 1, 5, 'step', 7, 4)");
    apache = &m.s.servers[0];
    php = &m.s.servers[1];
    ck_assert_ptr_eq(mst_summary_front(&m.s), apache);
    ck_assert_ptr_eq(mst_summary_behind(&m.s), php);
    ck_assert(apache->php.known);
    ck_assert_uint_eq(apache->php.joined, 400);
    ck_assert_uint_eq(apache->php.wait_unknown, 0);
    ck_assert_uint_eq(apache->php.handle_wait.mean_ns, 6 * MS);
    ck_assert_uint_eq(apache->php.handle_run.p99_ns, 1 * MS);
    ck_assert_uint_eq(apache->php.handle_other.mean_ns, 1 * MS);
    ck_assert_uint_eq(apache->php.handle_wait.count, 400);
    ck_assert_uint_eq(apache->php.send_run.sum_ns, 0);
    ck_assert_uint_eq(php->requests, 400);
    ck_assert_uint_eq(php->joined, 400);
    ck_assert_uint_eq(php->phases[MST_PHASE_PHP_WAIT].mean_ns, 6 * MS);
    ck_assert_uint_eq(php->phases[MST_PHASE_PHP_RUN].mean_ns, 1 * MS);
    ck_assert_uint_eq(php->phases[MST_PHASE_TOTAL].mean_ns, 7 * MS);
    ck_assert_uint_eq(php->phases[MST_PHASE_QUEUE].count, 0);
    ck_assert_uint_eq(php->php_cpu_ns, 400 * MS);
    ck_assert_uint_eq(php->max_memory_bytes, 2097152);
    ck_assert_uint_eq(php->marks, 1);
    ck_assert_uint_eq(php->mean_busy_milli, 100);   /* 400 * 1 ms in 4 s */
    expect_check(&m, MST_CHECK_COUNTS, MST_ANSWER_YES, "400 requests on both sides");
    expect_check(&m, MST_CHECK_JOURNAL_COMPLETE, MST_ANSWER_YES, "no record was lost");
    expect_check(&m, MST_CHECK_LITTLES_LAW, MST_ANSWER_YES,
                 "throughput x time held = 0.78 workers, 0.78 were at work: 0.0 % apart (up to "
                 "5.0 % is fine); PHP: throughput x php_run = 0.10 workers, "
                 "0.10 were at work: 0.0 % apart");
    check_output(&m.s);
    unmake(&m);
}
END_TEST

/* ---- parts of the phases ---------------------------------------------------------- */

/* Every second request checks for 1 ms, uploads for 2 ms and waits 3 ms for a backend, of 8 ms. */
START_TEST(test_intervals)
{
    struct run r = quiet_run();
    const struct mst_summary_server *s;
    struct made m;

    make(&m, &r, "UPDATE server_requests SET checks_ns = 1000000, upload_ns = 2000000, backend_ns "
                 "= 3000000, log_ns = 39999 WHERE key % 2;"
                 "UPDATE server_requests SET undelivered_ns = 7000000 WHERE key = 1;"
                 "UPDATE server_requests SET send_ns = 4000000, send_client_ns = 2500000, "
                 "send_network_ns = 500000, send_server_ns = 1000000 WHERE key = 1;"
                 "INSERT INTO ends VALUES (1, 'backend', 'http://b', 200, 3, 600000000, NULL)");
    s = &m.s.servers[0];
    ck_assert_uint_eq(s->intervals[MST_INTERVAL_CHECKS].requests, 200);
    ck_assert_uint_eq(s->intervals[MST_INTERVAL_CHECKS].times.count, 400);
    ck_assert_uint_eq(s->intervals[MST_INTERVAL_CHECKS].times.sum_ns, 200 * MS);
    ck_assert_uint_eq(s->intervals[MST_INTERVAL_CHECKS].times.mean_ns, MS / 2);
    ck_assert_uint_eq(s->intervals[MST_INTERVAL_UPLOAD].times.p99_ns, 2 * MS);
    ck_assert_uint_eq(s->intervals[MST_INTERVAL_UPLOAD].times.p50_ns, 0);
    ck_assert_uint_eq(s->intervals[MST_INTERVAL_BACKEND].times.max_ns, 3 * MS);
    ck_assert_uint_eq(s->parts[MST_PART_HANDLE].times.sum_ns, 200 * 2 * MS + 200 * 8 * MS);
    ck_assert_uint_eq(s->intervals[MST_INTERVAL_SEND_CLIENT].requests, 1);
    ck_assert_uint_eq(s->intervals[MST_INTERVAL_SEND_CLIENT].times.sum_ns, 5 * MS / 2);
    ck_assert_uint_eq(s->parts[MST_PART_SEND].requests, 0);
    ck_assert_uint_eq(s->intervals[MST_INTERVAL_UNDELIVERED].times.max_ns, 7 * MS);
    ck_assert_uint_eq(s->intervals[MST_INTERVAL_TLS].requests, 0);
    ck_assert(mst_summary_has_interval(s, MST_INTERVAL_CHECKS));
    ck_assert(mst_summary_has_interval(s, MST_INTERVAL_SEND_NETWORK));
    ck_assert(!mst_summary_has_interval(s, MST_INTERVAL_TLS));
    ck_assert(!mst_summary_has_interval(s, MST_INTERVAL_LOG));   /* 2.5 in 1000 of what they held */
    ck_assert_uint_eq(s->end_count, 1);
    ck_assert_str_eq(s->ends[0].kind, "backend");
    ck_assert_str_eq(s->ends[0].name, "http://b");
    ck_assert(s->ends[0].calls == 200 && s->ends[0].failed == 3);
    ck_assert_uint_eq(mst_summary_at_once_milli(&m.s, &s->ends[0]), 150);   /* 0.6 s in 4 s */
    check_output(&m.s);
    unmake(&m);
}
END_TEST

/* Of a server of before, nothing is known of them. */
START_TEST(test_no_intervals)
{
    struct run r = quiet_run();
    struct made m;
    int i;

    make(&m, &r, "UPDATE server_requests SET tls_ns = NULL, h2_wait_ns = NULL, checks_ns = NULL, "
                 "upload_ns = NULL, backend_ns = NULL, send_client_ns = NULL, send_network_ns = "
                 "NULL, send_server_ns = NULL, log_ns = NULL");
    for (i = 0; i < MST_INTERVAL_COUNT; i++)
        ck_assert_uint_eq(m.s.servers[0].intervals[i].times.count, 0);
    ck_assert_uint_eq(m.s.servers[0].parts[MST_PART_HANDLE].times.sum_ns,
                      m.s.servers[0].phases[MST_PHASE_HANDLE].sum_ns);
    check_output(&m.s);
    unmake(&m);
}
END_TEST

/* The parts add up to php_run: 1 ms, of which 0.2 ms are the CPU's. */
START_TEST(test_parts_of_php_run)
{
    struct run r = quiet_run();
    const struct mst_summary_interval *parts;
    const struct mst_summary_server *apache;
    struct made m;

    make(&m, &r, PHP "UPDATE server_requests SET checks_ns = 100000, upload_ns = 300000;"
                 "UPDATE php_requests SET user_ns = 150000, system_ns = 50000, "
                 "cpu_wait_ns = 100000, waits_ns = CASE key % 2 WHEN 0 THEN 500000 ELSE 0 END;"
                 INTO_PHP_WAITS "SELECT 2, key, 'database', 'mysql', 3, 0, 300000 FROM "
                 "php_requests WHERE key % 2 = 0;"
                 INTO_PHP_WAITS "SELECT 2, key, 'database', NULL, NULL, NULL, 100000 FROM "
                 "php_requests WHERE key % 2 = 0;"
                 INTO_PHP_WAITS "SELECT 2, key, 'lock', 'session', 1, 0, 100000 FROM "
                 "php_requests WHERE key % 2 = 0");
    apache = &m.s.servers[0];
    parts = m.s.servers[1].parts;
    ck_assert_uint_eq(m.s.servers[1].measured, 400);
    ck_assert_uint_eq(parts[MST_PART_CPU].times.sum_ns, 400 * MS / 5);
    ck_assert_uint_eq(parts[MST_PART_CPU_WAIT].times.sum_ns, 400 * MS / 10);
    ck_assert_uint_eq(parts[MST_PART_DATABASE].requests, 200);
    ck_assert_uint_eq(parts[MST_PART_DATABASE].times.count, 400);
    ck_assert_uint_eq(parts[MST_PART_DATABASE].times.sum_ns, 200 * 2 * MS / 5);
    ck_assert_uint_eq(parts[MST_PART_DATABASE].times.max_ns, 2 * MS / 5);
    ck_assert_uint_eq(parts[MST_PART_LOCK].times.sum_ns, 200 * MS / 10);
    ck_assert_uint_eq(parts[MST_PART_DNS].times.count, 0);
    ck_assert_uint_eq(parts[MST_PART_CPU].times.sum_ns + parts[MST_PART_CPU_WAIT].times.sum_ns
                      + parts[MST_PART_REST].times.sum_ns
                      + parts[MST_PART_DATABASE].times.sum_ns
                      + parts[MST_PART_LOCK].times.sum_ns,
                      m.s.servers[1].phases[MST_PHASE_PHP_RUN].sum_ns);
    ck_assert_uint_eq(apache->php.handle_other.mean_ns, MS);
    ck_assert_uint_eq(apache->parts[MST_PART_HANDLE].times.mean_ns, 6 * MS / 10);
    ck_assert_uint_eq(apache->parts[MST_PART_DATABASE].times.sum_ns, 200 * 2 * MS / 5);
    ck_assert_uint_eq(apache->parts[MST_PART_CPU].times.sum_ns, 400 * MS / 5);
    check_output(&m.s);
    unmake(&m);
}
END_TEST

/* PHP flushed: Apache began to send while it still ran. */
START_TEST(test_php_runs_into_send)
{
    struct run r = quiet_run();
    const struct mst_summary_overlay *php;
    struct made m;

    make(&m, &r, "UPDATE server_requests SET send_ns = 2000000;"
                 PHP_SERVER PHP_SAMPLES PHP_REQUESTS("7400000"));
    php = &m.s.servers[0].php;
    ck_assert_uint_eq(php->handle_wait.mean_ns, 6 * MS);
    ck_assert_uint_eq(php->handle_run.mean_ns, 600000);
    ck_assert_uint_eq(php->handle_other.mean_ns, 1400000);
    ck_assert_uint_eq(php->send_run.mean_ns, 400000);
    ck_assert_uint_eq(php->send_other.mean_ns, 1600000);
    check_output(&m.s);
    unmake(&m);
}
END_TEST

/* Boards that say when their clock was read are compared by it; else by the wall. */
static const struct { const char *sql; uint64_t joined; } clocks[] = {
    { PHP "UPDATE servers SET clock_offset_ns = clock_offset_ns + 7000000000 WHERE id = 2;"
      "UPDATE php_requests SET start_ns = start_ns + 7000000000", 400 },
    { PHP "UPDATE php_requests SET start_ns = start_ns + 500000000", 0 },
    { PHP "UPDATE servers SET clock_offset_ns = NULL WHERE id = 2;"
      "UPDATE php_requests SET start_ns = start_ns + 500000000", 400 },
    { PHP "UPDATE servers SET clock_offset_ns = NULL;"
      "UPDATE php_requests SET start_ns = start_ns + 7000000000", 0 },
    { PHP "UPDATE php_requests SET request_id = NULL", 0 },
    { PHP "UPDATE php_requests SET request_id = request_id + 1 WHERE key % 2", 200 },
    { PHP "UPDATE php_requests SET ghost = 1 WHERE key <= 100", 300 },
    { PHP "DELETE FROM php_requests WHERE key <= 100", 300 },
    { PHP "INSERT INTO runs SELECT 9, name, command, command_line, added, tool, started_ns, "
      "ended_ns, duration_ns, complete, outcome, exit_status, exit_signal, tool_cpu_ns, "
      "tool_threads, memory_cost_ns, mpmstat_version, repetition, recorder_cpu_ns, NULL, NULL, "
      "NULL FROM runs;"
      "UPDATE servers SET run_id = 9 WHERE id = 2", MST_UNKNOWN },
};

START_TEST(test_php_is_joined_by_id_and_time)
{
    struct run r = quiet_run();
    const struct mst_summary_overlay *php;
    struct made m;

    make(&m, &r, clocks[_i].sql);
    php = &m.s.servers[0].php;
    ck_assert(php->known == (clocks[_i].joined != MST_UNKNOWN));
    if (php->known) {
        ck_assert_uint_eq(php->joined, clocks[_i].joined);
        ck_assert_uint_eq(m.s.servers[1].joined, clocks[_i].joined);
        ck_assert_uint_eq(php->handle_other.count, 400);   /* all, joined or not */
        ck_assert_uint_eq(php->handle_wait.sum_ns + php->handle_run.sum_ns +
                          php->handle_other.sum_ns, m.s.servers[0].phases[MST_PHASE_HANDLE].sum_ns);
    }
    check_output(&m.s);
    unmake(&m);
}
END_TEST

/* A request that came to PHP twice, and overlapping: no part is larger than all. */
START_TEST(test_php_twice)
{
    struct run r = quiet_run();
    const struct mst_summary_overlay *php;
    struct made m;

    make(&m, &r, PHP PHP_REQUESTS("7000000"));
    php = &m.s.servers[0].php;
    ck_assert_uint_eq(php->joined, 400);
    ck_assert_uint_eq(m.s.servers[1].joined, 800);
    ck_assert_uint_eq(php->handle_run.mean_ns, 2 * MS);
    ck_assert_uint_eq(php->handle_wait.mean_ns, 6 * MS);
    ck_assert_uint_eq(php->handle_other.mean_ns, 0);
    unmake(&m);
}
END_TEST

START_TEST(test_php_wait_unknown)
{
    struct run r = quiet_run();
    struct made m;

    make(&m, &r, PHP "UPDATE php_requests SET wait_ns = NULL WHERE key <= 40");
    ck_assert_uint_eq(m.s.servers[0].php.joined, 400);
    ck_assert_uint_eq(m.s.servers[0].php.wait_unknown, 40);
    ck_assert_uint_eq(m.s.servers[1].phases[MST_PHASE_PHP_WAIT].count, 360);
    ck_assert_uint_eq(m.s.servers[1].phases[MST_PHASE_TOTAL].count, 400);
    check_output(&m.s);
    unmake(&m);
}
END_TEST

int main(void)
{
    Suite *suite = suite_create("summary_php");
    TCase *tests = tcase_create("summary_php");

    tcase_add_loop_test(tests, test_join, 0, (int)(sizeof joins / sizeof *joins));
    tcase_add_test(tests, test_pool);
    tcase_add_test(tests, test_php_is_laid_over);
    tcase_add_test(tests, test_intervals);
    tcase_add_test(tests, test_no_intervals);
    tcase_add_test(tests, test_parts_of_php_run);
    tcase_add_test(tests, test_php_runs_into_send);
    tcase_add_loop_test(tests, test_php_is_joined_by_id_and_time, 0,
                        (int)(sizeof clocks / sizeof clocks[0]));
    tcase_add_test(tests, test_php_twice);
    tcase_add_test(tests, test_php_wait_unknown);
    tcase_add_test(tests, test_accept_queue);
    suite_add_tcase(suite, tests);
    return test_run(suite);
}
