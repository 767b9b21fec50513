/* check_summary.c - what runs come to: numbers, checks, verdicts, text and JSON.
 *
 * Each test writes a run into an archive, as a recording would, changes in it
 * what the test is about, and looks at the summary.
 */
#include <jansson.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "analysis/summary.h"
#include "findings/findings.h"
#include "archive/writer.h"
#include "base/clock.h"
#include "harness.h"
#include "made_run.h"
#include "report/metrics.h"
#include "report/report.h"

static void check_output(const struct mst_summary *s);

/* ---- numbers --------------------------------------------------------------------- */

START_TEST(test_numbers)
{
    struct run r = quiet_run();
    const struct mst_summary_server *server;
    struct made m;

    r.queue_ns = 2 * MS;
    make(&m, &r, "UPDATE server_requests SET handle_ns = 98000000 WHERE key > 396");
    server = &m.s.servers[0];
    ck_assert_uint_eq(m.s.server_count, 1);
    ck_assert_uint_eq(server->requests, 400);
    ck_assert_uint_eq(server->phases[MST_PHASE_QUEUE].mean_ns, 2 * MS);
    ck_assert_uint_eq(server->phases[MST_PHASE_TOTAL].p50_ns, 10 * MS);
    ck_assert_uint_eq(server->phases[MST_PHASE_TOTAL].p99_ns, 10 * MS);
    ck_assert_uint_eq(server->phases[MST_PHASE_TOTAL].max_ns, 100 * MS);
    ck_assert_uint_eq(server->phases[MST_PHASE_TOTAL].sum_ns, 396 * 10 * MS + 4 * 100 * MS);
    ck_assert_uint_eq(server->mean_busy_milli, 800);   /* 400 * 8 ms in 4 s */
    ck_assert_uint_eq(server->max_busy, 1);
    ck_assert_uint_eq(server->counted, 400);
    ck_assert_uint_eq(m.s.machine_busy_milli, 125);
    ck_assert_uint_eq(m.s.cpus, 2);
    ck_assert(m.s.complete);
    ck_assert_str_eq(m.s.command_line, "ab http://127.0.0.1/");
    unmake(&m);
}
END_TEST

/* Looks of 10 ms and 2 s without an idle worker: all were busy, whatever the looks saw. Where
 * there was less of that than the looks took, these may have been it. */
#define TWO_SECONDS_WITHOUT_IDLE \
    "UPDATE samples SET workers_limit = 4;" \
    "UPDATE samples SET no_idle_ns = no_idle_ns + 2000000000 WHERE moment <> 'before';"

START_TEST(test_busy_between_looks)
{
    struct run r = quiet_run();
    struct made m;

    make(&m, &r, TWO_SECONDS_WITHOUT_IDLE "UPDATE samples SET cost_ns = 10000000;");
    ck_assert_uint_eq(m.s.servers[0].max_busy, 4);
    unmake(&m);
    make(&m, &r, TWO_SECONDS_WITHOUT_IDLE "UPDATE samples SET cost_ns = 2000000000;");
    ck_assert_uint_eq(m.s.servers[0].max_busy, 1);
    unmake(&m);
}
END_TEST

/* Rows make the client's quantiles where there is one for each request, and
 * only then. */
START_TEST(test_client_rows)
{
    struct run r = quiet_run();
    struct made m;
    char sql[512];

    snprintf(sql, sizeof sql, "WITH RECURSIVE n(i) AS (SELECT 1 UNION ALL SELECT i + 1 FROM n "
             "WHERE i < %d) INSERT INTO client_requests SELECT 1, %llu, i * 1000000, 0, 0, NULL, "
             "NULL, NULL FROM n", _i == 0 ? 400 : 399, (unsigned long long)START);
    make(&m, &r, sql);
    ck_assert_uint_eq(m.s.client.times.count, _i == 0 ? 400 : 0);
    ck_assert_uint_eq(m.s.client.times.p50_ns, _i == 0 ? 200 * MS : MST_UNKNOWN);
    ck_assert_uint_eq(m.s.client.times.mean_ns, _i == 0 ? 200500000 : 9 * MS);
    ck_assert_uint_eq(m.s.client.times.p99_ns, _i == 0 ? 396 * MS : 20 * MS);
    unmake(&m);
}
END_TEST

/* ---- checks ---------------------------------------------------------------------- */

START_TEST(test_all_well)
{
    struct run r = quiet_run();
    struct made m;

    make(&m, &r, NULL);
    expect_check(&m, MST_CHECK_COUNTS, MST_ANSWER_YES, "400 requests on both sides");
    expect_check(&m, MST_CHECK_JOURNAL_COMPLETE, MST_ANSWER_YES, "no record was lost");
    expect_check(&m, MST_CHECK_LITTLES_LAW, MST_ANSWER_YES, "0.78 workers, 0.78 were at work");
    expect_check(&m, MST_CHECK_GENERATOR, MST_ANSWER_YES, "2.5 %");
    expect_check(&m, MST_CHECK_ACCEPT_QUEUE, MST_ANSWER_YES, "at most 3 of 511 connections were "
                                                             "seen waiting");
    expect_verdict(&m, "Nothing ran out: at most 1 of 10 workers were busy and the CPUs to 12.5 %; "
                       "a request takes 8.00 ms, 100.0 % of it handle (the application, or what "
                       "it waits for).");
    expect_codes(&m, "nothing");
    unmake(&m);
}
END_TEST

static const struct {
    unsigned    requests, counted;
    const char *sql;
    enum mst_answer ok;
    const char *text;
} counts[] = {
    { 401, 400, NULL, MST_ANSWER_NO, "the server completed 401 requests, 1 more than ab counted" },
    { 399, 400, NULL, MST_ANSWER_NO, "1 of ab's 400 requests were not recorded here" },
    { 399, 400, "UPDATE client_results SET failed = 3", MST_ANSWER_NO, "ab itself calls 3 failed" },
    { 399, 400, "UPDATE client_results SET failed = 3, failed_length = 3", MST_ANSWER_NO,
      "were not recorded here" },
    { 0, 400, NULL, MST_ANSWER_NO, "does its URL lead to this server" },
    { 0, 0, NULL, MST_ANSWER_UNKNOWN, "neither side" },
    { 400, 400, "DELETE FROM client_results", MST_ANSWER_UNKNOWN, "is not known" },
    { 400, 400, "UPDATE runs SET tool = NULL", MST_ANSWER_UNKNOWN, "no load tool was run" },
    { 400, 400, "DELETE FROM servers", MST_ANSWER_UNKNOWN, "no server was recorded" },
    /* Others' requests do not count: those of the status page, and from before. */
    { 403, 400, "UPDATE server_requests SET label = 'mpm-status' WHERE key > 400", MST_ANSWER_YES,
      "400 requests on both sides" },
    { 402, 400, "UPDATE server_requests SET ghost = 1 WHERE key > 400", MST_ANSWER_YES,
      "; 2 that began before the load are left out" },
    /* In flight when ab ended: only where ab says that it does so. */
    { 402, 400, "UPDATE server_requests SET aborted = 1 WHERE key > 400", MST_ANSWER_NO,
      "2 more than ab counted" },
    { 402, 400, "UPDATE server_requests SET aborted = 1 WHERE key > 400; "
                "UPDATE client_results SET abandons = 1, concurrency = NULL", MST_ANSWER_YES,
      "400 requests on both sides, and 2 more on the server's" },
    { 402, 400, "UPDATE server_requests SET start_ns = start_ns + 100000000 WHERE key > 400; "
                "UPDATE runs SET complete = 0, outcome = 'interrupted'; "
                "UPDATE client_results SET concurrency = NULL", MST_ANSWER_YES,
      "in flight when ab ended" },
    { 420, 400, "UPDATE client_results SET abandons = 1", MST_ANSWER_YES, "and 20 more on the" },
    { 421, 400, "UPDATE client_results SET abandons = 1", MST_ANSWER_NO,
      "21 more than ab counted" },
    { 402, 400, "UPDATE client_results SET abandons = 1, concurrency = NULL", MST_ANSWER_NO,
      "2 more than ab counted" },
    { 400, 400, "UPDATE samples SET unfinished = 3 WHERE moment = 'after'", MST_ANSWER_YES,
      "; 3 died with their worker process" },
    /* siege counts answers with 5xx as failed, and not as requests. */
    { 403, 400, "UPDATE client_results SET failed = 3; "
                "UPDATE server_requests SET status = 503 WHERE key > 400", MST_ANSWER_YES,
      "and 3 that the server answered with 5xx and ab counts as failed" },
    { 403, 400, "UPDATE client_results SET failed = 2; "
                "UPDATE server_requests SET status = 503 WHERE key > 400", MST_ANSWER_NO,
      "3 more than ab counted" },
};

START_TEST(test_counts)
{
    struct run r = quiet_run();
    struct made m;

    r.requests = counts[_i].requests;
    r.counted = counts[_i].counted;
    make(&m, &r, counts[_i].sql);
    expect_check(&m, MST_CHECK_COUNTS, counts[_i].ok, counts[_i].text);
    unmake(&m);
}
END_TEST

/* Lost records: the counters still know how many requests there were. */
START_TEST(test_lost)
{
    struct run r = quiet_run();
    struct made m;

    r.server_end.lost = 25;
    make(&m, &r, "DELETE FROM server_requests WHERE key <= 25");
    expect_check(&m, MST_CHECK_JOURNAL_COMPLETE, MST_ANSWER_NO, "25 records were lost, 375 are");
    expect_check(&m, MST_CHECK_COUNTS, MST_ANSWER_YES, "400 requests on both sides");
    expect_check(&m, MST_CHECK_LITTLES_LAW, MST_ANSWER_UNKNOWN, "missing");
    unmake(&m);
}
END_TEST

/* Workers that log are busy, too. Samples of servers that do not know the state have no time in
 * it: what their workers did then is in other states. */
START_TEST(test_logging_is_busy)
{
    struct run r = quiet_run();
    struct made m;

    make(&m, &r, "UPDATE samples SET logging_ns = 400000000 WHERE moment = 'end'");
    ck_assert_uint_eq(m.s.servers[0].mean_state_milli[MST_STATE_LOGGING], 100);
    ck_assert_uint_eq(m.s.servers[0].mean_busy_milli, 900);
    unmake(&m);
    make(&m, &r, "UPDATE samples SET logging_ns = NULL");
    ck_assert_uint_eq(m.s.servers[0].mean_busy_milli, 800);
    unmake(&m);
}
END_TEST

START_TEST(test_lost_unknown)
{
    struct run r = quiet_run();
    struct made m;

    r.server_end.lost = MST_UNKNOWN;
    make(&m, &r, NULL);
    expect_check(&m, MST_CHECK_JOURNAL_COMPLETE, MST_ANSWER_UNKNOWN, "not known");
    unmake(&m);
}
END_TEST

START_TEST(test_littles_law_fails)
{
    struct run r = quiet_run();
    struct made m;

    make(&m, &r, "UPDATE server_requests SET held_ns = held_ns * 9 / 10");
    expect_check(&m, MST_CHECK_LITTLES_LAW, MST_ANSWER_NO, "10.0 % apart (up to 5.0 % is fine): "
                 "workers were held by what is no recorded request");
    unmake(&m);
    make(&m, &r, "UPDATE server_requests SET held_ns = held_ns * 11 / 10");
    expect_check(&m, MST_CHECK_LITTLES_LAW, MST_ANSWER_NO, "10.0 % apart (up to 5.0 % is fine): "
                 "times or counters are wrong");
    unmake(&m);
    r.duration_ns = SECOND / 2;
    make(&m, &r, NULL);
    expect_check(&m, MST_CHECK_LITTLES_LAW, MST_ANSWER_UNKNOWN, "too short a run");
    unmake(&m);
}
END_TEST

/* Both sums reach to the recording's end, four seconds after the load's here. */
START_TEST(test_littles_law_is_of_the_whole_recording)
{
    struct run r = quiet_run();
    struct made m;

    make(&m, &r, "UPDATE samples SET time_ns = time_ns + 3899000000 WHERE moment = 'after'");
    expect_check(&m, MST_CHECK_LITTLES_LAW, MST_ANSWER_YES, "0.40 workers, 0.40 were at work");
    unmake(&m);
}
END_TEST

/* What the load tool left behind ended later: no part of the rate while it ran. */
#define LATE "UPDATE server_requests SET start_ns = start_ns + 4000000000 WHERE key > 300;"
static const struct { const char *sql; uint64_t milli; } rates[] = {
    { NULL, 100299 },   /* from the first one's begin to the last one's end, 3.988 s */
    { LATE, 75000 },
    { LATE "UPDATE servers SET local = 0", 100000 },   /* its clock can be another */
};

START_TEST(test_rate_is_of_the_load)
{
    struct run r = quiet_run();
    struct made m;

    make(&m, &r, rates[_i].sql);
    ck_assert_uint_eq(mst_metric_get(&mst_metrics[MST_M_SERVER_RATE], &m.s), rates[_i].milli);
    check_output(&m.s);
    unmake(&m);
}
END_TEST

/* siege's failed are none of its requests, ab's can be its answers with an error. */
static const struct { const char *sql; uint64_t failures; } failures[] = {
    { "UPDATE client_results SET failed = 3, non_2xx = 5", 5 },
    { "UPDATE client_results SET failed = 6, failed_length = 2, non_2xx = 3", 4 },
    { "UPDATE runs SET tool = 'siege'; UPDATE client_results SET failed = 3, non_2xx = 5", 8 },
    { "UPDATE runs SET tool = 'siege'; UPDATE client_results SET failed = NULL, non_2xx = 5", 5 },
    { "UPDATE runs SET tool = NULL", 0 },
};

START_TEST(test_failures)
{
    struct run r = quiet_run();
    struct made m;

    make(&m, &r, failures[_i].sql);
    ck_assert_uint_eq(mst_summary_failures(&m.s.client), failures[_i].failures);
    unmake(&m);
}
END_TEST

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
    /* Those without an answer are no pairs. */
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

    make(&m, &r, "UPDATE machine_samples SET listen_overflows = 12 WHERE moment = 'end'");
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
                 "INSERT INTO ends VALUES (1, 'backend', 'http://b', 200, 3, 600000000)");
    s = &m.s.servers[0];
    ck_assert_uint_eq(s->intervals[MST_INTERVAL_CHECKS].requests, 200);
    ck_assert_uint_eq(s->intervals[MST_INTERVAL_CHECKS].times.count, 400);
    ck_assert_uint_eq(s->intervals[MST_INTERVAL_CHECKS].times.sum_ns, 200 * MS);
    ck_assert_uint_eq(s->intervals[MST_INTERVAL_CHECKS].times.mean_ns, MS / 2);
    ck_assert_uint_eq(s->intervals[MST_INTERVAL_UPLOAD].times.p99_ns, 2 * MS);
    ck_assert_uint_eq(s->intervals[MST_INTERVAL_UPLOAD].times.p50_ns, 0);
    ck_assert_uint_eq(s->intervals[MST_INTERVAL_BACKEND].times.max_ns, 3 * MS);
    ck_assert_uint_eq(s->handle_rest.sum_ns, 200 * 2 * MS + 200 * 8 * MS);
    ck_assert_uint_eq(s->intervals[MST_INTERVAL_SEND_CLIENT].requests, 1);
    ck_assert_uint_eq(s->intervals[MST_INTERVAL_SEND_CLIENT].times.sum_ns, 5 * MS / 2);
    ck_assert_uint_eq(s->send_rest.sum_ns, 0);
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
    ck_assert_uint_eq(m.s.servers[0].handle_rest.count, 0);
    check_output(&m.s);
    unmake(&m);
}
END_TEST

/* The parts add up to php_run: 1 ms, of which 0.2 ms are the CPU's. */
START_TEST(test_parts_of_php_run)
{
    struct run r = quiet_run();
    const struct mst_summary_run *run;
    const struct mst_summary_server *apache;
    struct made m;

    make(&m, &r, PHP "UPDATE server_requests SET checks_ns = 100000, upload_ns = 300000;"
                 "UPDATE php_requests SET user_ns = 150000, system_ns = 50000, "
                 "cpu_wait_ns = 100000, waits_ns = CASE key % 2 WHEN 0 THEN 500000 ELSE 0 END;"
                 "INSERT INTO php_waits SELECT 2, key, 'database', 'mysql', 3, 0, 300000 FROM "
                 "php_requests WHERE key % 2 = 0;"
                 "INSERT INTO php_waits SELECT 2, key, 'database', NULL, NULL, NULL, 100000 FROM "
                 "php_requests WHERE key % 2 = 0;"
                 "INSERT INTO php_waits SELECT 2, key, 'lock', 'session', 1, 0, 100000 FROM "
                 "php_requests WHERE key % 2 = 0");
    apache = &m.s.servers[0];
    run = &m.s.servers[1].run;
    ck_assert_uint_eq(run->cpu.sum_ns, 400 * MS / 5);
    ck_assert_uint_eq(run->cpu_wait.sum_ns, 400 * MS / 10);
    ck_assert_uint_eq(run->waits[MST_WAIT_DATABASE].requests, 200);
    ck_assert_uint_eq(run->waits[MST_WAIT_DATABASE].times.count, 400);
    ck_assert_uint_eq(run->waits[MST_WAIT_DATABASE].times.sum_ns, 200 * 2 * MS / 5);
    ck_assert_uint_eq(run->waits[MST_WAIT_DATABASE].times.max_ns, 2 * MS / 5);
    ck_assert_uint_eq(run->waits[MST_WAIT_LOCK].times.sum_ns, 200 * MS / 10);
    ck_assert_uint_eq(run->waits[MST_WAIT_DNS].times.count, 0);
    ck_assert_uint_eq(run->cpu.sum_ns + run->cpu_wait.sum_ns + run->rest.sum_ns
                      + run->waits[MST_WAIT_DATABASE].times.sum_ns
                      + run->waits[MST_WAIT_LOCK].times.sum_ns,
                      m.s.servers[1].phases[MST_PHASE_PHP_RUN].sum_ns);
    ck_assert_uint_eq(apache->php.handle_other.mean_ns, MS);
    ck_assert_uint_eq(apache->php.handle_rest.mean_ns, 6 * MS / 10);
    check_output(&m.s);
    unmake(&m);
}
END_TEST

/* ---- limits and what is used of them ------------------------------------------------ */

static int append(void *context, const void *bytes, size_t n);

static void expect_text(const struct made *m, const char *wanted)
{
    static char text[1 << 16];
    struct mst_sink sink;

    text[0] = '\0';
    mst_sink_init(&sink, append, text);
    mst_report_text(&sink, &m->s, "runs.sqlite", 0);
    mst_sink_flush(&sink);
    ck_assert_msg(strstr(text, wanted) != NULL, "no \"%s\" in\n%s", wanted, text);
}

START_TEST(test_resources)
{
    struct run r = quiet_run();
    const struct mst_summary_resources *res;
    struct made m;

    make(&m, &r, "INSERT INTO process_samples VALUES (1, 1, 70, 1, 1, 900, 20000), "
                 "(1, 2, 71, 1, 1, 59, 60), (1, 3, 71, 1, 1, 12, 60), (1, 3, 72, 1, 1, NULL, 9);"
                 "UPDATE samples SET group_cpu_ns = 5000 + rowid, group_cpu_limit_milli = 1500, "
                 "group_throttled_ns = 30 * rowid, group_memory_bytes = 100 * rowid, "
                 "group_memory_limit_bytes = 8000, group_io_stall_ns = 7 * rowid;"
                 "UPDATE samples SET group_memory_limit_bytes = 1000, group_cpu_limit_milli = 500 "
                 "WHERE rowid = 9;"
                 "UPDATE samples SET http2_workers_limit = 8, http2_workers_busy = rowid % 9;"
                 "UPDATE machine_samples SET io_stall_ns = 4, blocked = 1;"
                 "UPDATE machine_samples SET io_stall_ns = 50, blocked = 6 WHERE moment = 'end';"
                 "INSERT INTO port_samples VALUES (1, 1, '127.0.0.1:9000', 300, 28232), "
                 "(1, 2, '127.0.0.1:9000', 28000, 28232), (1, 2, '[::1]:3306', 290, 28232)");
    res = &m.s.servers[0].resources;
    ck_assert(res->files == 59 && res->files_limit == 60 && res->files_pid == 71);
    /* Samples 1 (before) to 41 (at the end). */
    ck_assert_uint_eq(res->group_cpu_ns, 40);
    ck_assert_uint_eq(res->group_throttled_ns, 40 * 30);
    ck_assert_uint_eq(res->group_io_stall_ns, 40 * 7);
    ck_assert_uint_eq(res->group_cpu_limit_milli, 500);
    ck_assert_uint_eq(res->group_memory_bytes, 900);
    ck_assert_uint_eq(res->group_memory_limit_bytes, 1000);
    ck_assert(res->http2_workers == 8 && res->http2_workers_limit == 8);
    ck_assert_uint_eq(res->http2_full_milli, 100);   /* 4 of the load's 40 */
    ck_assert_uint_eq(m.s.io_stall_ns, 46);
    ck_assert_uint_eq(m.s.max_blocked, 6);
    ck_assert_uint_eq(m.s.port_count, 2);
    ck_assert_str_eq(m.s.ports[0].remote, "127.0.0.1:9000");
    ck_assert(m.s.ports[0].ports == 28000 && m.s.ports[0].limit == 28232);
    ck_assert_str_eq(m.s.ports[1].remote, "[::1]:3306");
    expect_text(&m, "\n  HTTP/2    workers 8 of 8 in the fullest child; all of them busy for "
                    "10.0 % of the load\n");
    expect_text(&m, "\n  files     process 71 had 59 files open, limit 60\n");
    expect_text(&m, "\n  mem limit its control group had 900 B, limit 1.00 kB\n");
    expect_text(&m, "\n  ports     28000 of 28232 local ports were in use towards "
                    "127.0.0.1:9000\n");
    check_output(&m.s);
    unmake(&m);
}
END_TEST

/* A limit that is not there is not known; nor is how much a counter grew that began again. */
START_TEST(test_resources_unknown)
{
    struct run r = quiet_run();
    const struct mst_summary_resources *res;
    struct made m;

    make(&m, &r, "UPDATE samples SET group_memory_bytes = 100 * rowid, group_cpu_ns = 99 - rowid;"
                 "UPDATE machine_samples SET io_stall_ns = NULL;"
                 "INSERT INTO process_samples VALUES (1, 1, 70, 1, 1, 12, NULL)");
    res = &m.s.servers[0].resources;
    ck_assert(res->files == 12 && res->files_limit == MST_UNKNOWN);
    ck_assert_uint_eq(res->group_cpu_ns, MST_UNKNOWN);
    ck_assert_uint_eq(res->group_io_stall_ns, MST_UNKNOWN);
    ck_assert_uint_eq(res->group_cpu_limit_milli, MST_UNKNOWN);
    ck_assert_uint_eq(res->group_memory_bytes, 4100);
    ck_assert_uint_eq(res->group_memory_limit_bytes, MST_UNKNOWN);
    ck_assert(res->http2_workers == MST_UNKNOWN && res->http2_full_milli == MST_UNKNOWN);
    ck_assert_uint_eq(m.s.io_stall_ns, MST_UNKNOWN);
    ck_assert_uint_eq(m.s.port_count, 0);
    ck_assert_uint_eq(m.s.servers[0].pool_count, 0);
    check_output(&m.s);
    unmake(&m);
}
END_TEST

/* Two pools of one master: `shop`, all of whose workers are busy in half the samples, has a quarter
 * of the requests; `www` has room. */
#define POOLS PHP \
    "UPDATE php_requests SET label = 'shop', memory_bytes = 9000000, wait_ns = 40000000 " \
    "WHERE key % 4 = 0;" \
    "INSERT INTO pool_samples SELECT 2, time_ns, moment, 'www', 10, 1, 4 FROM samples " \
    "WHERE server_id = 1;" \
    "INSERT INTO pool_samples SELECT 2, time_ns, moment, 'shop', 2, " \
    "CASE moment WHEN 'before' THEN 2 ELSE 1 + rowid % 2 END, rowid FROM samples " \
    "WHERE server_id = 1;"

START_TEST(test_pools)
{
    struct run r = quiet_run();
    const struct mst_summary_pool *shop, *www;
    struct made m;

    make(&m, &r, POOLS
                 "UPDATE php_requests SET waits_ns = 600000 WHERE label = 'shop';"
                 "INSERT INTO php_waits SELECT 2, key, 'database', 'mysql', 1, 0, 500000 FROM "
                 "php_requests WHERE label = 'shop';"
                 "INSERT INTO php_waits SELECT 2, key, 'lock', NULL, NULL, NULL, 100000 FROM "
                 "php_requests WHERE label = 'shop'");
    ck_assert_uint_eq(m.s.servers[1].pool_count, 2);
    shop = &m.s.servers[1].pools[0];
    www = &m.s.servers[1].pools[1];
    ck_assert_str_eq(shop->label, "shop");
    ck_assert_uint_eq(shop->workers_limit, 2);
    ck_assert_uint_eq(shop->samples, 40);
    ck_assert_uint_eq(shop->max_busy, 2);
    ck_assert_uint_eq(shop->mean_busy_milli, 1500);
    ck_assert_uint_eq(shop->at_limit_milli, 500);
    ck_assert_uint_eq(shop->limit_reached, 41);   /* from the first of 42 samples to the last */
    ck_assert_uint_eq(shop->requests, 100);
    ck_assert_uint_eq(shop->waited, 100);
    ck_assert_uint_eq(shop->wait_sum_ns, 100 * 40 * MS);
    ck_assert_uint_eq(shop->wait_max_ns, 40 * MS);
    ck_assert_uint_eq(shop->run_sum_ns, 100 * MS);
    ck_assert_uint_eq(shop->measured, 100);
    ck_assert_uint_eq(shop->waits_sum_ns[MST_WAIT_DATABASE], 50 * MS);
    ck_assert_uint_eq(shop->waits_sum_ns[MST_WAIT_LOCK], 10 * MS);
    ck_assert_uint_eq(shop->max_memory_bytes, 9000000);
    ck_assert_str_eq(www->label, "www");
    ck_assert(www->workers_limit == 10 && www->max_busy == 1 && www->at_limit_milli == 0);
    ck_assert(www->limit_reached == 0 && www->requests == 300 && www->measured == 0);
    ck_assert_uint_eq(www->waits_sum_ns[MST_WAIT_DATABASE], 0);
    expect_text(&m, "  limit  busy  most    full reached requests php_wait  php_run   memory   pool"
                "\n      2  1.50     2  50.0 %      41      100  40.0 ms  1.00 ms  9.00 MB   shop\n"
                "     10  1.00     1   0.0 %       0      300  6.00 ms  1.00 ms  2.10 MB   www\n");
    check_output(&m.s);
    unmake(&m);
}
END_TEST

/* After a new start FPM counts from 0; a pool without a request has no times. */
START_TEST(test_pools_unknown)
{
    struct run r = quiet_run();
    const struct mst_summary_pool *pool;
    struct made m;

    make(&m, &r, PHP "UPDATE servers SET restarts = 1; UPDATE php_requests SET wait_ns = NULL;"
                     "INSERT INTO pool_samples VALUES (2, 1, 'before', 'www', 5, NULL, 7), "
                     "(2, 2, 'after', 'www', 5, NULL, 9), (2, 2, 'end', 'idle', 3, 0, NULL)");
    ck_assert_uint_eq(m.s.servers[1].pool_count, 2);
    pool = &m.s.servers[1].pools[0];
    ck_assert(pool->requests == 0 && pool->wait_sum_ns == MST_UNKNOWN && pool->run_sum_ns == 0);
    ck_assert(pool->max_busy == 0 && pool->mean_busy_milli == 0);
    ck_assert_uint_eq(pool->limit_reached, MST_UNKNOWN);
    pool = &m.s.servers[1].pools[1];
    ck_assert(pool->samples == 0 && pool->max_busy == MST_UNKNOWN);
    ck_assert(pool->mean_busy_milli == MST_UNKNOWN && pool->at_limit_milli == MST_UNKNOWN);
    ck_assert_uint_eq(pool->limit_reached, MST_UNKNOWN);
    ck_assert(pool->requests == 400 && pool->waited == 0 && pool->wait_sum_ns == MST_UNKNOWN);
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
      "tool_threads, memory_cost_ns, mpmstat_version, repetition, recorder_cpu_ns, NULL, NULL "
      "FROM runs;"
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
    ck_assert_uint_eq(php->handle_wait.mean_ns, 8 * MS);
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

static const struct { const char *sql, *codes, *verdict; } php_verdicts[] = {
    { PHP, "php-workers",
      "PHP's workers ran out: all 5 were busy (0.10 on average), and a request waited 6.00 ms for "
      "one, 75.0 % of its time." },
    { PHP "UPDATE samples SET workers_limit = NULL WHERE server_id = 2;"
      "UPDATE samples SET handling_ns = 49 * handling_ns WHERE server_id = 2", "php-workers",
      "PHP's workers ran out: 5 were busy all the time (4.90 on average; their limit is not "
      "known), and a request waited 6.00 ms" },
    { PHP "UPDATE samples SET workers_limit = NULL WHERE server_id = 2", "cannot-tell",
      "Requests waited for PHP's workers (75.0 % of their time) although no sample found more "
      "than 5 busy: cannot tell why." },
    { PHP "UPDATE samples SET workers_limit = 50 WHERE server_id = 2;"
      "UPDATE samples SET forks = 0 WHERE server_id = 2;"
      "UPDATE samples SET forks = 9 WHERE server_id = 2 AND moment = 'after'", "php-spawning",
      "Requests waited for PHP's workers (75.0 % of their time) although no sample found more "
      "than 5 of 50 busy: PHP's processes were started too slowly" },
    { PHP "UPDATE php_requests SET wait_ns = 100000", "nothing",
      "Nothing ran out: at most 1 of 10 workers were busy and the CPUs to 12.5 %; a request takes "
      "8.00 ms, 100.0 % of it handle (the application, or what it waits for)." },
    /* Alone, as behind nginx. */
    { PHP "DELETE FROM servers WHERE id = 1", "php-workers",
      "PHP's workers ran out: all 5 were busy (0.10 on average), and a request waited 6.00 ms for "
      "one, 85.7 % of its time." },
    { PHP "DELETE FROM servers WHERE id = 1; UPDATE php_requests SET wait_ns = NULL;"
      "UPDATE samples SET workers_limit = NULL", "nothing",
      "Nothing ran out: at most 5 workers were busy and the CPUs to 12.5 %; a request takes "
      "1.00 ms, 100.0 % of it php_run (the application" },
};

START_TEST(test_php_verdicts)
{
    struct run r = quiet_run();
    struct made m;

    make(&m, &r, php_verdicts[_i].sql);
    expect_codes(&m, php_verdicts[_i].codes);
    expect_verdict(&m, php_verdicts[_i].verdict);
    check_output(&m.s);
    unmake(&m);
}
END_TEST

/* Which workers ran out first: those of PHP held Apache's up. */
START_TEST(test_both_ran_out)
{
    struct run r = quiet_run();
    struct made m;

    r.busy = r.limit;
    r.queue_ns = 12 * MS;
    make(&m, &r, PHP);
    expect_codes(&m, "php-workers apache-workers");
    expect_verdict(&m, "PHP's workers ran out: all 5 were busy (0.10 on average), and a request "
                       "waited 6.00 ms for one, 30.0 % of its time; Apache's own 10 workers waited "
                       "with them, and requests 12.0 ms for one of those.");
    unmake(&m);
    make(&m, &r, PHP "UPDATE php_requests SET wait_ns = 0");   /* mod_php: PHP's are Apache's */
    expect_codes(&m, "apache-workers");
    unmake(&m);
}
END_TEST

START_TEST(test_php_breaks_littles_law)
{
    struct run r = quiet_run();
    struct made m;

    make(&m, &r, PHP "UPDATE samples SET handling_ns = 2 * handling_ns WHERE server_id = 2");
    expect_check(&m, MST_CHECK_LITTLES_LAW, MST_ANSWER_NO, "; PHP: throughput x php_run = 0.10 "
                 "workers, 0.20 were at work: 50.0 % apart");
    unmake(&m);
}
END_TEST

/* ---- verdicts -------------------------------------------------------------------- */

START_TEST(test_workers_ran_out)
{
    struct run r = quiet_run();
    struct made m;

    r.busy = r.limit;
    r.queue_ns = 24 * MS;
    make(&m, &r, NULL);
    expect_verdict(&m, "Apache's workers ran out: all 10 were busy (0.80 on average), and a "
                       "request waited 24.0 ms for one, 75.0 % of its time.");
    unmake(&m);
    r.machine_busy_ns = 2 * r.duration_ns;   /* and the CPUs too: more workers cannot help */
    make(&m, &r, NULL);
    expect_codes(&m, "cpu apache-workers");
    ck_assert_msg(strstr(m.s.findings[1].action, "More workers cannot help: the CPUs are full") !=
                  NULL, "%s", m.s.findings[1].action);
    unmake(&m);
}
END_TEST

/* Few requests wait, as on kept-alive connections: the mean of all is close to 0. */
START_TEST(test_few_waited_for_long)
{
    struct run r = quiet_run();
    struct made m;

    r.busy = r.limit;
    r.handle_ns = MS;
    make(&m, &r, "UPDATE server_requests SET queue_ns = 60000000 WHERE key % 20 = 0");
    expect_verdict(&m, "Apache's workers ran out: all 10 were busy (0.10 on average), and 20 of "
                       "400 requests waited for one, 60.0 ms on average (75.0 % of the time of "
                       "all).");
    expect_codes(&m, "apache-workers tail");
    unmake(&m);
    r.busy = r.limit - 1;
    make(&m, &r, "UPDATE server_requests SET queue_ns = 60000000 WHERE key % 20 = 0");
    expect_verdict(&m, "Requests waited for workers (75.0 % of their time) although no sample "
                       "found more than 9 of 10 busy: cannot tell why.");
    unmake(&m);
}
END_TEST

/* Requests wait and there are workers left. */
START_TEST(test_waits_below_the_limit)
{
    struct run r = quiet_run();
    struct made m;

    r.queue_ns = 24 * MS;
    make(&m, &r, NULL);
    expect_verdict(&m, "Requests waited for workers (75.0 % of their time) although no sample "
                       "found more than 1 of 10 busy: cannot tell why.");
    unmake(&m);
    make(&m, &r, "UPDATE samples SET forks = 5; UPDATE samples SET forks = 9 WHERE moment = "
                 "'after'");
    expect_verdict(&m, "Requests waited for workers (75.0 % of their time) although no sample "
                       "found more than 1 of 10 busy: Apache started its processes too slowly");
    unmake(&m);
}
END_TEST

/* A few milliseconds are the clock's own resolution, whatever share they are. */
START_TEST(test_waits_too_little)
{
    struct run r = quiet_run();
    struct made m;

    r.queue_ns = 4 * MS;
    r.handle_ns = MS;
    make(&m, &r, NULL);
    expect_verdict(&m, "Nothing ran out");
    unmake(&m);
    r.busy = r.limit;
    make(&m, &r, NULL);
    expect_verdict(&m, "Cannot tell: all 10 workers were busy at times (0.10 on average), and "
                       "80.0 % of a request's time is queue (waiting for a worker), but in waits "
                       "of 4.00 ms");
    check_output(&m.s);
    unmake(&m);
}
END_TEST

/* With all CPUs busy; which programs, and whose they are. */
static const struct { const char *sql, *verdict; } cpus[] = {
    /* An FPM that Apache calls, without a board: found by its socket. */
    { "INSERT INTO programs VALUES (1, 'php-fpm8.2', 7000000000, 'server')",
      "The CPUs were the limit: 100.0 % busy, most with php-fpm8.2, while at most 1 of 10 workers "
      "were." },
    { "INSERT INTO programs VALUES (1, 'cc1', 7000000000, 'other')",
      "The CPUs were 100.0 % busy, but mostly with other programs" },
    /* A name is no proof, whether PHP was recorded or not. */
    { "INSERT INTO programs VALUES (1, 'php-fpm8.2', 1000000000, 'server'), "
      "(1, 'php-fpm8.2', 6000000000, 'other')",
      "The CPUs were 100.0 % busy, but mostly with other programs than the server, PHP "
      "and ab (most with php-fpm8.2, 6.00 s)" },
    { "INSERT INTO programs VALUES (1, 'php-fpm8.2', 7000000000, NULL)",
      "The CPUs were 100.0 % busy, but mostly with other programs" },
    { PHP_SERVER "UPDATE servers SET cpu_ns = 9000000 WHERE id = 2;"
      "INSERT INTO programs VALUES (1, 'phpunit', 7000000000, NULL)",
      "The CPUs were 100.0 % busy, but mostly with other programs" },
    { PHP_SERVER "UPDATE servers SET cpu_ns = 6000000000 WHERE id = 2;"
      "INSERT INTO programs VALUES (1, 'pool', 7000000000, NULL)",
      "The CPUs were the limit: 100.0 % busy, most with pool" },
    /* What the servers took can be the busiest program's: others, in other pid namespaces, had the
     * rest. */
    { PHP_SERVER "UPDATE servers SET cpu_ns = 2000000000 WHERE id = 2;"
      "INSERT INTO programs VALUES (1, 'php-fpm8.2', 2000000000, 'server')",
      "The CPUs were 100.0 % busy, but mostly with other programs than the server, PHP and ab." },
    { "INSERT INTO programs VALUES (1, 'apache2', 1000000000, 'server'), (1, "
      "'processes that cannot be seen from here', 6000000000, 'unseen')",
      "The CPUs were 100.0 % busy, but mostly with other programs than the server, PHP "
      "and ab (most with processes that cannot be seen from here, 6.00 s)" },
};

START_TEST(test_cpu)
{
    struct run r = quiet_run();
    struct made m;

    r.machine_busy_ns = 2 * r.duration_ns;
    make(&m, &r, cpus[_i].sql);
    expect_verdict(&m, cpus[_i].verdict);
    unmake(&m);
}
END_TEST

START_TEST(test_programs_and_their_owners)
{
    struct run r = quiet_run();
    struct made m;

    make(&m, &r, "INSERT INTO programs VALUES (1, 'php-fpm8.2', 1000000000, 'server'), "
                 "(1, 'php-fpm8.2', 3000000000, 'other'), (1, 'x', 2000000000, 'theirs')");
    ck_assert_uint_eq(m.s.program_count, 3);
    ck_assert_int_eq(m.s.programs[0].owner, MST_PROC_OTHER);
    ck_assert_int_eq(m.s.programs[1].owner, MST_PROC_OWNER_COUNT);
    ck_assert_int_eq(m.s.programs[2].owner, MST_PROC_SERVER);
    expect_text(&m, "php-fpm8.2 3.00 s (other), x 2.00 s, php-fpm8.2 1.00 s (server)\n");
    unmake(&m);
}
END_TEST

/* What the load tool takes of the CPUs it takes from the server. */
START_TEST(test_cpu_of_the_tool)
{
    struct run r = quiet_run();
    struct made m;

    r.machine_busy_ns = 2 * r.duration_ns;
    r.tool_cpu_ns = r.duration_ns / 2;
    make(&m, &r, "INSERT INTO programs VALUES (1, 'php-fpm8.2', 7000000000, 'server')");
    expect_verdict(&m, "The CPUs were the limit: 100.0 % busy, most with php-fpm8.2, while at most "
                       "1 of 10 workers were; ab itself took 25.0 % of that");
    unmake(&m);
}
END_TEST

/* The first request of each connection waits, the others find their worker. */
#define STARVED \
    "UPDATE samples SET keepalive_ns = 10 * (time_ns - 1700000000000000000) - handling_ns " \
    "WHERE moment <> 'before'; UPDATE samples SET workers_busy = 10; " \
    "UPDATE server_requests SET queue_ns = 3000000000 WHERE key % 200 = 0;"

static const struct { const char *sql, *verdict; } keepalive[] = {
    { STARVED, "Idle keep-alive connections held Apache's workers: of all 10, 9.20 on "
               "average waited for another request, and connections waited up to 3.00 s for one "
               "(65.2 % of the requests' time)" },
    { STARVED "UPDATE samples SET workers_busy = 9", "Requests waited for workers (65.2 % " },
    { STARVED "UPDATE server_requests SET queue_ns = 90000000 WHERE key % 200 = 0",
      "Nothing ran out" },
};

START_TEST(test_keepalive)
{
    struct run r = quiet_run();
    struct made m;

    make(&m, &r, keepalive[_i].sql);
    expect_verdict(&m, keepalive[_i].verdict);
    check_output(&m.s);
    unmake(&m);
}
END_TEST

START_TEST(test_slow_clients)
{
    struct run r = quiet_run();
    struct made m;

    make(&m, &r, "UPDATE server_requests SET send_ns = 72000000");
    expect_verdict(&m, "The clients, or the network to them, were slow: sending took 72.0 ms a "
                       "request (90.0 % of its time).");
    expect_codes(&m, "slow-clients");
    unmake(&m);
    make(&m, &r, "UPDATE server_requests SET send_ns = 9000000");   /* what writing may take */
    expect_verdict(&m, "Nothing ran out");
    unmake(&m);
    make(&m, &r, PHP "UPDATE server_requests SET send_ns = 72000000; "
                 "UPDATE php_requests SET run_ns = 70000000, wait_ns = 0");
    expect_codes(&m, "cannot-tell");                   /* PHP still made the response */
    unmake(&m);
}
END_TEST

static const struct { const char *state, *says; } held[] = {
    { "sending_ns", "; most of their time they sent answers." },
    { "reading_ns", "; most of their time they read from clients that sent slowly or nothing." },
    { "closing_ns", "; most of their time they waited for clients to close their connections." },
    { "idle_ns", "75.0 % of its time." },
};

START_TEST(test_what_held_the_workers)
{
    struct run r = quiet_run();
    struct made m;
    char sql[128];

    r.busy = r.limit;
    r.queue_ns = 24 * MS;
    snprintf(sql, sizeof sql, "UPDATE samples SET %s = 2 * handling_ns", held[_i].state);
    make(&m, &r, sql);
    expect_verdict(&m, "Apache's workers ran out: all 10 were busy");
    ck_assert_msg(strstr(m.s.verdict, held[_i].says) != NULL, "%s", m.s.verdict);
    unmake(&m);
}
END_TEST

#define ENDED(reason) "INSERT INTO lifecycle (server_id, key, time_ns, event, reason) VALUES " \
                      "(1, 1, 5, 'exit', '" reason "')"
#define KILLED ENDED("killed")
static const struct { const char *sql, *verdict; } memory[] = {
    { "UPDATE machine_samples SET oom_kills = 4 WHERE moment = 'end'; " KILLED,
      "Memory ran out: the kernel killed 1 process of this machine." },
    { "UPDATE machine_samples SET oom_kills = 4 WHERE moment = 'end'; " ENDED("signal"),
      "Memory ran out: the kernel killed 1 process of this machine." },
    { "UPDATE machine_samples SET oom_kills = 4 WHERE moment = 'end'; " ENDED("clean"),
      "Nothing ran out" },      /* somebody else's process */
    { "UPDATE machine_samples SET oom_kills = 4 WHERE moment = 'end'; " ENDED("unknown"),
      "Nothing ran out" },      /* and a CGI that mod_cgid saw to */
    { "UPDATE machine_samples SET oom_kills = 9 WHERE moment = 'end'; "
      "UPDATE runs SET complete = 0, outcome = 'failed'",
      "Memory ran out: the kernel killed 6 processes of this machine" },
    { "UPDATE machine_samples SET oom_kills = 9 WHERE moment = 'end'; "
      "UPDATE servers SET local = 0;" KILLED, "Nothing ran out" },
    { "UPDATE machine_samples SET memory_stall_ns = 1400000005 WHERE moment = 'end'",
      "Memory was short: for 35.0 % of the run programs of this machine waited for it" },
    { "UPDATE machine_samples SET memory_stall_ns = 390000000 WHERE moment = 'end'",
      "Nothing ran out" },
    { "UPDATE machine_samples SET memory_stall_ns = NULL, oom_kills = NULL", "Nothing ran out" },
    { "UPDATE servers SET cgroup = '/web', oom_kills = 2, memory_limit_bytes = 64000000; " KILLED,
      "Memory ran out: the kernel killed 2 processes of the server's control group (its limit is "
      "64.0 MB)." },
    { "UPDATE machine_samples SET oom_kills = 9 WHERE moment = 'end'; "
      "UPDATE servers SET cgroup = '/web', oom_kills = 0; " KILLED,
      "Nothing ran out" },      /* another group's processes */
    { "UPDATE servers SET cgroup = '/web', oom_kills = 0, memory_stall_ns = 1400000000",
      "Memory was short: for 35.0 % of the run programs of the server's control group waited" },
    { "UPDATE machine_samples SET memory_stall_ns = 1400000005 WHERE moment = 'end'; "
      "UPDATE servers SET cgroup = '/web', oom_kills = 0, memory_stall_ns = 0",
      "Nothing ran out" },      /* another group's programs */
    { "INSERT INTO servers (id, run_id, target, producer, local, cgroup, oom_kills) VALUES "
      "(2, 1, 'php.board', 'php', 1, '/fpm', 3), (3, 1, 'other.board', 'php', 1, '/fpm', 3); "
      "UPDATE servers SET cgroup = '/web', oom_kills = 0 WHERE id = 1; " KILLED,
      "Memory ran out: the kernel killed 3 processes of the server's control group." },
    /* Added up over two CPUs: longer than the load, or one after the other. */
    { "UPDATE servers SET cgroup = '/web', throttled_ns = 5800000000",
      "The CPUs were the limit: the control group of the apache had used up its share of them, "
      "and was held up for at least 2.90 s in 4.00 s of load" },
    { "UPDATE servers SET cgroup = '/web', throttled_ns = 900000000",
      "The control group of the apache had used up its share of the CPUs at times, "
      "and was held up for at least 450 ms and at most 900 ms in 4.00 s of load" },
    { "UPDATE servers SET cgroup = '/web', throttled_ns = 5800000000; DELETE FROM environment",
      "The control group of the apache had used up its share of the CPUs at times, "
      "and was held up for at least 0 and at most 4.00 s" },
    { "UPDATE servers SET cgroup = '/web', throttled_ns = 700000000", "Nothing ran out" },
};

START_TEST(test_memory)
{
    struct run r = quiet_run();
    struct made m;

    make(&m, &r, memory[_i].sql);
    expect_verdict(&m, memory[_i].verdict);
    check_output(&m.s);
    unmake(&m);
}
END_TEST

START_TEST(test_generator)
{
    struct run r = quiet_run();
    struct made m;

    r.tool_cpu_ns = r.duration_ns * 95 / 100;
    r.machine_busy_ns = 2 * r.duration_ns;
    make(&m, &r, NULL);
    expect_check(&m, MST_CHECK_GENERATOR, MST_ANSWER_NO, "ab itself was at its limit: 95.0 %");
    expect_verdict(&m, "ab was the limit, not the server");
    unmake(&m);
    make(&m, &r, "UPDATE runs SET tool_threads = NULL");
    expect_check(&m, MST_CHECK_GENERATOR, MST_ANSWER_UNKNOWN, "is not known");
    unmake(&m);
}
END_TEST

static const struct { const char *sql, *verdict; } obstacles[] = {
    { "UPDATE runs SET complete = 0, outcome = 'unfinished'",
      "Cannot tell: the recording did not come to its end." },
    { "UPDATE runs SET complete = 0, outcome = 'interrupted'",
      "Cannot tell: the run was interrupted." },
    { "UPDATE runs SET complete = 0, outcome = 'failed'", "Cannot tell: the load tool failed." },
    { "UPDATE runs SET complete = 0, outcome = 'timeout'",
      "Cannot tell: the load tool did not end in time." },
    { "DELETE FROM server_requests", "Cannot tell: no request of the load was recorded (" },
    { "UPDATE runs SET duration_ns = 400000000", "Cannot tell: the run was too short." },
    { "DELETE FROM samples WHERE moment = 'during'",
      "Cannot tell: the run has fewer than five samples of the server (a longer run has more, and "
      "one that reads the board's file, not a URL)." },
    { "UPDATE servers SET restarts = 1", "Apache was stopped and started while the load ran" },
    { "UPDATE samples SET workers_limit = NULL", "Cannot tell: how busy the workers were" },
    { "UPDATE samples SET handling_ns = NULL", "Cannot tell: how busy the workers were" },
    { "DELETE FROM machine_samples", "Cannot tell: the workers did not run out" },
    { "DELETE FROM servers", "Cannot tell: no request of the load was recorded (" },
};

START_TEST(test_cannot_tell)
{
    struct run r = quiet_run();
    struct made m;

    make(&m, &r, obstacles[_i].sql);
    expect_verdict(&m, obstacles[_i].verdict);
    unmake(&m);
}
END_TEST

/* ---- text and JSON --------------------------------------------------------------- */

static int append(void *text, const void *bytes, size_t n)
{
    size_t used = strlen(text);

    ck_assert_uint_lt(used + n, 1 << 16);
    memcpy((char *)text + used, bytes, n);
    ((char *)text)[used + n] = '\0';
    return 0;
}

static json_t *as_json(const struct mst_summary *s)
{
    static char text[1 << 16];
    struct mst_sink sink;
    json_error_t error;
    json_t *root;

    text[0] = '\0';
    mst_sink_init(&sink, append, text);
    mst_report_json(&sink, s);
    ck_assert_int_eq(mst_sink_flush(&sink), 0);
    root = json_loads(text, JSON_REJECT_DUPLICATES, &error);
    ck_assert_msg(root != NULL, "%s: %s", error.text, text);
    return root;
}

/* What is not known is absent as null, and whatever stands in the archive is JSON
 * and lines of at most a hundred columns. */
static void check_output(const struct mst_summary *s)
{
    static char text[1 << 16];
    struct mst_sink sink;
    char *line, *save = NULL;

    json_decref(as_json(s));
    text[0] = '\0';
    mst_sink_init(&sink, append, text);
    mst_report_text(&sink, s, "runs.sqlite", 0);
    ck_assert_int_eq(mst_sink_flush(&sink), 0);
    for (line = strtok_r(text, "\n", &save); line != NULL; line = strtok_r(NULL, "\n", &save))
        ck_assert_msg(strlen(line) <= 100 && line[strcspn(line, "\t\r\033")] == '\0', "%s", line);
}

START_TEST(test_promised_names)
{
    struct run r = quiet_run();
    json_t *root, *run, *client, *server, *checks;
    long long id;
    int complete, i;
    struct made m;

    make(&m, &r, NULL);
    root = as_json(&m.s);
    ck_assert_int_eq(json_unpack(root, "{s:o, s:o, s:[o], s:o, s:s}", "run", &run, "client",
                                 &client, "servers", &server, "checks", &checks, "verdict",
                                 &(const char *){ NULL }), 0);
    ck_assert_int_eq(json_unpack(run, "{s:I, s:n, s:[s,s], s:s, s:f, s:b}", "id", &id, "name",
                                 "command", &(char *){ NULL }, &(char *){ NULL }, "started",
                                 &(char *){ NULL }, "duration_seconds", &(double){ 0 },
                                 "complete", &complete), 0);
    ck_assert_int_eq(id, 1);
    ck_assert_int_eq(complete, 1);
    ck_assert_int_eq(json_unpack(client, "{s:s, s:I, s:I, s:I, s:o, s:f, s:n, s:n, s:f, s:n}",
                                 "tool", &(char *){ NULL }, "requests", &(long long){ 0 },
                                 "failed", &(long long){ 0 }, "unfinished", &(long long){ 0 },
                                 "requests_per_second", &(json_t *){ NULL }, "mean_seconds",
                                 &(double){ 0 }, "p50_seconds", "p90_seconds", "p99_seconds",
                                 &(double){ 0 }, "max_seconds"), 0);
    ck_assert_int_eq(json_unpack(server, "{s:s, s:I, s:f, s:{s:{s:I, s:f, s:f, s:f, s:f, s:f}},"
                                 "s:{s:I, s:f, s:I}, s:I, s:I, s:{s:n}, s:f}",
                                 "producer", &(char *){ NULL }, "requests", &(long long){ 0 },
                                 "mean_seconds", &(double){ 0 }, "phases", "held", "count",
                                 &(long long){ 0 }, "sum_seconds", &(double){ 0 }, "p50_seconds",
                                 &(double){ 0 }, "p90_seconds", &(double){ 0 }, "p99_seconds",
                                 &(double){ 0 }, "max_seconds", &(double){ 0 },
                                 "workers", "limit", &(long long){ 0 }, "mean_busy",
                                 &(double){ 0 }, "max_busy", &(long long){ 0 }, "forks",
                                 &(long long){ 0 }, "exits", &(long long){ 0 }, "memory_bytes",
                                 "peak_pss", "cpu_seconds", &(double){ 0 }), 0);
    ck_assert_uint_eq(json_object_size(json_object_get(server, "phases")), 7);
    ck_assert(json_is_null(json_object_get(server, "php")));
    ck_assert_uint_eq(json_array_size(checks), MST_CHECK_COUNT);
    for (i = 0; i < MST_CHECK_COUNT; i++)
        ck_assert_str_eq(json_string_value(json_object_get(json_array_get(checks, (size_t)i),
                                                           "name")), m.s.checks[i].name);
    json_decref(root);
    check_output(&m.s);
    unmake(&m);
}
END_TEST

START_TEST(test_promised_names_of_php)
{
    struct run r = quiet_run();
    struct made m;
    json_t *root, *apache, *php;
    double wait, run, other;

    make(&m, &r, PHP);
    root = as_json(&m.s);
    apache = json_array_get(json_object_get(root, "servers"), 0);
    php = json_array_get(json_object_get(root, "servers"), 1);
    ck_assert_int_eq(json_unpack(apache, "{s:{s:i, s:i, s:i, s:{s:{s:f}, s:{s:f}, s:{s:f}}, "
                                 "s:{s:{}, s:{}}}}", "php", "joined", &(int){ 0 }, "unjoined",
                                 &(int){ 0 }, "wait_unknown", &(int){ 0 }, "handle", "php_wait",
                                 "mean_seconds", &wait, "php_run", "mean_seconds", &run, "other",
                                 "mean_seconds", &other, "send", "php_run", "other"), 0);
    ck_assert_double_eq_tol(wait + run + other, 0.008, 1e-9);
    ck_assert_int_eq(json_unpack(php, "{s:s, s:s, s:i, s:f, s:{s:{}, s:{}, s:{}}, s:{s:i, s:f, "
                                 "s:i}, s:i, s:i, s:i}", "producer", &(char *){ NULL }, "sapi",
                                 &(char *){ NULL }, "requests", &(int){ 0 }, "mean_seconds",
                                 &(double){ 0 }, "phases", "php_wait", "php_run", "total",
                                 "workers", "limit", &(int){ 0 }, "mean_busy", &(double){ 0 },
                                 "max_busy", &(int){ 0 }, "forks", &(int){ 0 }, "joined",
                                 &(int){ 0 }, "unjoined", &(int){ 0 }), 0);
    ck_assert_uint_eq(json_object_size(json_object_get(php, "phases")), 3);
    json_decref(root);
    unmake(&m);
}
END_TEST

/* An archive can be a stranger's. */
static const char *const strange[] = {
    "UPDATE runs SET command = 'no json', command_line = char(27) || '[2J', name = char(10)",
    "UPDATE runs SET duration_ns = 0, ended_ns = 0, started_ns = -5",
    "UPDATE runs SET command_line = hex(zeroblob(400))",
    "UPDATE server_requests SET queue_ns = 9223372036854775807, handle_ns = -1",
    "UPDATE server_requests SET held_ns = 9223372036854775807, label = x'ff0a1b'",
    "UPDATE samples SET handling_ns = 9223372036854775807 WHERE moment = 'end'",
    "UPDATE samples SET time_ns = 0",
    "UPDATE client_results SET requests = 9223372036854775807, failed = 1, mean_ns = 'x'",
    "UPDATE machine_samples SET total_ns = 0",
    "DELETE FROM samples; DELETE FROM server_requests; DELETE FROM client_results",
    "UPDATE servers SET producer = 'php', mpm = hex(zeroblob(200)), unknown = hex(zeroblob(900))",
    "INSERT INTO notes SELECT 1, 1, hex(zeroblob(2000))",
    "INSERT INTO programs SELECT 1, hex(zeroblob(20 + column1)), 5, 'other' FROM "
    "(VALUES (1), (2), (3), (4), (5), (6))",
    "UPDATE environment SET value = '-3'",
    PHP "UPDATE php_requests SET run_ns = 9223372036854775807, wait_ns = -1, script = x'ff0a'",
    PHP PHP_REQUESTS("1") PHP_REQUESTS("2")
        "UPDATE php_requests SET wait_ns = 9223372036854775807, start_ns = 9223372036854775807;"
        "UPDATE server_requests SET start_ns = 9223372036854775807, send_ns = 9223372036854775807",
    PHP "UPDATE servers SET clock_offset_ns = -9223372036854775807 WHERE id = 2",
    PHP "UPDATE servers SET sapi = hex(zeroblob(200)), target = hex(zeroblob(200)) WHERE id = 2",
    PHP "UPDATE php_requests SET start_ns = 'x', run_ns = 'y', request_id = x'00'",
    POOLS "UPDATE pool_samples SET label = hex(zeroblob(200)), workers_limit = 9223372036854775807,"
        " limit_reached = -1, workers_busy = 9223372036854775807",
    POOLS "UPDATE pool_samples SET workers_limit = 0, workers_busy = 'x', limit_reached = 'y';"
        "UPDATE php_requests SET wait_ns = 9223372036854775807, run_ns = 9223372036854775807",
    "INSERT INTO port_samples VALUES (1, 1, hex(zeroblob(200)), 'x', 0), (1, 1, x'ff0a', 7, -1);"
        "INSERT INTO process_samples VALUES (1, 1, 1, 1, 1, 9223372036854775807, 0);"
        "UPDATE samples SET group_cpu_ns = 9223372036854775807 * (moment = 'end'), "
        "group_memory_bytes = 'x', group_memory_limit_bytes = 0, group_cpu_limit_milli = -1",
};

START_TEST(test_strange)
{
    struct run r = quiet_run();
    struct made m;

    make(&m, &r, strange[_i]);
    check_output(&m.s);
    unmake(&m);
}
END_TEST

START_TEST(test_no_such_run)
{
    struct run r = quiet_run();
    char error[MST_ERROR_MAX];
    struct mst_summary s;
    int64_t *ids;
    size_t count;
    struct made m;

    make(&m, &r, NULL);
    ck_assert_int_eq(mst_findings_summary(&s, m.archive, 77, error), -1);
    ck_assert_ptr_nonnull(strstr(error, "there is no run 77 in the archive"));
    mst_summary_free(&s);
    ck_assert_int_eq(mst_summary_runs(m.archive, &ids, &count, error), 0);
    ck_assert_uint_eq(count, 1);
    ck_assert_int_eq(ids[0], 1);
    free(ids);
    unmake(&m);
}
END_TEST

int main(void)
{
    Suite *suite = suite_create("summary");
    TCase *tests = tcase_create("summary");

    tcase_add_test(tests, test_numbers);
    tcase_add_test(tests, test_busy_between_looks);
    tcase_add_loop_test(tests, test_client_rows, 0, 2);
    tcase_add_test(tests, test_all_well);
    tcase_add_loop_test(tests, test_counts, 0, (int)(sizeof counts / sizeof *counts));
    tcase_add_test(tests, test_lost);
    tcase_add_test(tests, test_logging_is_busy);
    tcase_add_test(tests, test_lost_unknown);
    tcase_add_test(tests, test_littles_law_fails);
    tcase_add_test(tests, test_littles_law_is_of_the_whole_recording);
    tcase_add_loop_test(tests, test_rate_is_of_the_load, 0, (int)(sizeof rates / sizeof *rates));
    tcase_add_loop_test(tests, test_failures, 0, (int)(sizeof failures / sizeof *failures));
    tcase_add_loop_test(tests, test_join, 0, (int)(sizeof joins / sizeof *joins));
    tcase_add_test(tests, test_pool);
    tcase_add_test(tests, test_php_is_laid_over);
    tcase_add_test(tests, test_intervals);
    tcase_add_test(tests, test_no_intervals);
    tcase_add_test(tests, test_parts_of_php_run);
    tcase_add_test(tests, test_resources);
    tcase_add_test(tests, test_resources_unknown);
    tcase_add_test(tests, test_pools);
    tcase_add_test(tests, test_pools_unknown);
    tcase_add_test(tests, test_php_runs_into_send);
    tcase_add_loop_test(tests, test_php_is_joined_by_id_and_time, 0,
                        (int)(sizeof clocks / sizeof clocks[0]));
    tcase_add_test(tests, test_php_twice);
    tcase_add_test(tests, test_php_wait_unknown);
    tcase_add_loop_test(tests, test_php_verdicts, 0,
                        (int)(sizeof php_verdicts / sizeof php_verdicts[0]));
    tcase_add_test(tests, test_both_ran_out);
    tcase_add_test(tests, test_php_breaks_littles_law);
    tcase_add_test(tests, test_accept_queue);
    tcase_add_test(tests, test_workers_ran_out);
    tcase_add_test(tests, test_few_waited_for_long);
    tcase_add_test(tests, test_waits_below_the_limit);
    tcase_add_test(tests, test_waits_too_little);
    tcase_add_loop_test(tests, test_cpu, 0, (int)(sizeof cpus / sizeof *cpus));
    tcase_add_test(tests, test_programs_and_their_owners);
    tcase_add_test(tests, test_cpu_of_the_tool);
    tcase_add_loop_test(tests, test_keepalive, 0, (int)(sizeof keepalive / sizeof *keepalive));
    tcase_add_test(tests, test_slow_clients);
    tcase_add_loop_test(tests, test_what_held_the_workers, 0, (int)(sizeof held / sizeof *held));
    tcase_add_loop_test(tests, test_memory, 0, (int)(sizeof memory / sizeof *memory));
    tcase_add_test(tests, test_generator);
    tcase_add_loop_test(tests, test_cannot_tell, 0, (int)(sizeof obstacles / sizeof *obstacles));
    tcase_add_test(tests, test_promised_names);
    tcase_add_test(tests, test_promised_names_of_php);
    tcase_add_loop_test(tests, test_strange, 0, (int)(sizeof strange / sizeof *strange));
    tcase_add_test(tests, test_no_such_run);
    suite_add_tcase(suite, tests);
    return test_run(suite);
}
