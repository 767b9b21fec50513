/* check_summary.c - what runs come to: numbers, checks, text and JSON.
 *
 * Each test writes a run into an archive, as a recording would, changes in it
 * what the test is about, and looks at the summary.
 */
#include <jansson.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "findings/findings.h"
#include "harness.h"
#include "made_run.h"
#include "report/metrics.h"

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
    expect_verdict(&m, "Nothing ran out: at most 1 of 10 workers were busy and the CPUs were "
                       "12.5 % busy; "
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

/* The time in which the tool had no request under way does not count. */
START_TEST(test_means_are_those_under_load)
{
    struct run r = quiet_run();
    struct made m;

    make(&m, &r, "UPDATE server_requests SET start_ns = start_ns / 2 + 850000002000000000;"
                 "UPDATE samples SET handling_ns = 2 * max(0, handling_ns - 1600000000)");
    ck_assert_uint_eq(m.s.servers[0].mean_busy_milli, 1600);   /* 400 * 8 ms in the last 2 s */
    ck_assert_uint_eq(m.s.servers[0].mean_state_milli[MST_STATE_HANDLING], 1600);
    unmake(&m);
    make(&m, &r, "UPDATE server_requests SET start_ns = start_ns / 2 + 850000000000000000;"
                 "UPDATE samples SET handling_ns = 2 * min(1600000000, handling_ns), "
                 "workers_busy = (moment <> 'before') * workers_busy");
    ck_assert_uint_eq(m.s.servers[0].mean_busy_milli, 1600);   /* until the sample at 2 s */
    unmake(&m);
    make(&m, &r, POOLS "UPDATE php_requests SET start_ns = start_ns / 2 + 850000002000000000;"
                 "UPDATE pool_samples SET workers_busy = (time_ns >= 1700000002000000000) * 2");
    ck_assert_uint_eq(m.s.servers[1].pools[0].mean_busy_milli, 2000);
    ck_assert_uint_eq(m.s.servers[1].pools[0].at_limit_milli, 1000);
    unmake(&m);
    /* Requests of another clock: the recording's time is all that is known. */
    make(&m, &r, "UPDATE server_requests SET start_ns = start_ns + 3600000000000");
    ck_assert_uint_eq(m.s.servers[0].mean_busy_milli, 800);
    unmake(&m);
    make(&m, &r, "UPDATE server_requests SET start_ns = start_ns - 3600000000000");
    ck_assert_uint_eq(m.s.servers[0].mean_busy_milli, 800);
    unmake(&m);
    /* Without a load tool the recording is what was asked for. */
    make(&m, &r, "UPDATE runs SET tool = NULL;"
                 "UPDATE server_requests SET start_ns = start_ns / 2 + 850000002000000000");
    ck_assert_uint_eq(m.s.servers[0].mean_busy_milli, 800);
    unmake(&m);
}
END_TEST

/* The sample before the load is taken a little earlier. Where all workers are busy from then on,
 * they are not busier than all of them. */
START_TEST(test_busy_before_the_load)
{
    static const char *const loads[] = { "", "UPDATE runs SET tool = NULL;" };
    struct run r = quiet_run();
    struct made m;
    char changes[512];

    snprintf(changes, sizeof changes, "%sUPDATE samples SET workers_busy = 5; UPDATE samples SET "
             "time_ns = time_ns - 100000000 WHERE moment = 'before'; UPDATE samples SET "
             "handling_ns = 5 * (time_ns - (SELECT time_ns FROM samples WHERE moment = 'before'))",
             loads[_i]);
    make(&m, &r, changes);
    ck_assert_uint_eq(m.s.servers[0].mean_busy_milli, 5000);
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
                 "something else than recorded requests held workers");
    unmake(&m);
    make(&m, &r, "UPDATE server_requests SET held_ns = held_ns * 11 / 10");
    expect_check(&m, MST_CHECK_LITTLES_LAW, MST_ANSWER_NO, "10.0 % apart (up to 5.0 % is fine): "
                 "times or counters are wrong");
    unmake(&m);
    make(&m, &r, "UPDATE server_requests SET held_ns = held_ns * 9 / 10; UPDATE samples SET "
         "reading_ns = reading_ns + handling_ns / 8, handling_ns = handling_ns * 7 / 8");
    expect_check(&m, MST_CHECK_LITTLES_LAW, MST_ANSWER_UNKNOWN, "on average read from "
                 "connections, also from some that sent no request");
    unmake(&m);
    make(&m, &r, "UPDATE server_requests SET held_ns = 0; UPDATE samples SET "
         "http2_workers_limit = 2, http2_workers_busy = 2");
    expect_check(&m, MST_CHECK_LITTLES_LAW, MST_ANSWER_UNKNOWN, "connections with HTTP/2 held "
                 "workers, too");
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

/* 400 requests in 4 s: 20 in each of 20 bins. */
static const struct { const char *sql; enum mst_answer ok; const char *text; } courses[] = {
    { "", MST_ANSWER_YES, "both halves are alike" },
    /* A fifth of the rate in two bins, and in one: that changes too little. */
    { "DELETE FROM server_requests WHERE key <= 40 AND key % 5", MST_ANSWER_NO,
      "the first 393 ms were a warm-up" },
    { "DELETE FROM server_requests WHERE key <= 20 AND key % 5", MST_ANSWER_YES,
      "the first 197 ms were a warm-up" },
    /* Every third bin has half: the halves are apart, and no more than the bins are. */
    { "DELETE FROM server_requests WHERE (key - 1) / 20 % 3 = 0 AND key % 2", MST_ANSWER_YES,
      "both halves are alike" },
    { "DELETE FROM server_requests WHERE key > 240 AND key % 2", MST_ANSWER_NO,
      "it never was steady" },
};

START_TEST(test_steady)
{
    struct run r = quiet_run();
    struct made m;

    make(&m, &r, courses[_i].sql);
    expect_check(&m, MST_CHECK_STEADY, courses[_i].ok, courses[_i].text);
    unmake(&m);
}
END_TEST

START_TEST(test_failures)
{
    struct run r = quiet_run();
    struct made m;

    make(&m, &r, failures[_i].sql);
    ck_assert_uint_eq(mst_summary_failures(&m.s.client), failures[_i].failures);
    unmake(&m);
}
END_TEST

START_TEST(test_promised_names)
{
    struct run r = quiet_run();
    json_t *root, *run, *client, *server, *checks;
    long long id;
    int complete, i;
    struct made m;

    make(&m, &r, NULL);
    root = summary_as_json(&m.s);
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
    root = summary_as_json(&m.s);
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
    "INSERT INTO programs SELECT 1, hex(zeroblob(20 + column1)), 5, 'other', 6 FROM "
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
        "INSERT INTO process_samples VALUES (1, 1, 1, 1, 1, 9223372036854775807, 0, NULL);"
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

#define PHP_CGI PHP "UPDATE servers SET sapi = 'cgi-fcgi' WHERE id = 2;" \
    "INSERT INTO programs VALUES (1, 'processes that cannot be seen from here', 900000000, " \
    "'unseen', NULL);"

#define OWN_PROCESSES "UPDATE php_requests SET pid = 1000 + key;"
#define WHICH_END "UPDATE samples SET exits = 0 WHERE server_id = 2;" \
    "UPDATE samples SET exits = 400 WHERE server_id = 2 AND moment = 'after';"

static enum mst_sapi sapi_of_php(const char *sql, enum mst_proc_owner *owner)
{
    const struct run r = quiet_run();
    enum mst_sapi sapi;
    struct made m;
    size_t i;

    make(&m, &r, sql);
    for (i = 0; i + 1 < m.s.program_count && m.s.programs[i].cpu_ns != 900000000; i++)
        ;
    *owner = m.s.programs[i].owner;
    ck_assert_uint_eq(m.s.server_count, 2);
    sapi = m.s.servers[1].sapi_kind;
    unmake(&m);
    return sapi;
}

/* php-cgi says the same of itself under plain CGI and under mod_fcgid. mod_cgid waits for no
 * process that it starts: CPU time that no process took is theirs. */
START_TEST(test_php_cgi)
{
    enum mst_proc_owner owner;

    ck_assert_int_eq(sapi_of_php(PHP_CGI, &owner), MST_SAPI_OTHER);
    ck_assert_int_eq(owner, MST_PROC_UNSEEN);
    ck_assert_int_eq(sapi_of_php(PHP_CGI OWN_PROCESSES, &owner), MST_SAPI_OTHER);
    ck_assert_int_eq(owner, MST_PROC_UNSEEN);
    ck_assert_int_eq(sapi_of_php(PHP_CGI OWN_PROCESSES WHICH_END, &owner), MST_SAPI_CGI);
    ck_assert_int_eq(owner, MST_PROC_SERVER);
    ck_assert_int_eq(sapi_of_php(PHP_CGI OWN_PROCESSES WHICH_END
                                 "INSERT INTO ends VALUES (1, 'handler', 'fcgid-script', 400, 0, "
                                 "4000000, NULL);", &owner), MST_SAPI_FCGID);
    ck_assert_int_eq(owner, MST_PROC_UNSEEN);
    ck_assert_int_eq(sapi_of_php(PHP_CGI "UPDATE servers SET sapi = 'fpm-fcgi' WHERE id = 2;",
                                 &owner), MST_SAPI_FPM);
    ck_assert_int_eq(owner, MST_PROC_UNSEEN);
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
    tcase_add_test(tests, test_means_are_those_under_load);
    tcase_add_loop_test(tests, test_busy_before_the_load, 0, 2);
    tcase_add_test(tests, test_lost_unknown);
    tcase_add_test(tests, test_littles_law_fails);
    tcase_add_test(tests, test_littles_law_is_of_the_whole_recording);
    tcase_add_loop_test(tests, test_rate_is_of_the_load, 0, (int)(sizeof rates / sizeof *rates));
    tcase_add_loop_test(tests, test_steady, 0, (int)(sizeof courses / sizeof *courses));
    tcase_add_loop_test(tests, test_failures, 0, (int)(sizeof failures / sizeof *failures));
    tcase_add_test(tests, test_promised_names);
    tcase_add_test(tests, test_promised_names_of_php);
    tcase_add_loop_test(tests, test_strange, 0, (int)(sizeof strange / sizeof *strange));
    tcase_add_test(tests, test_php_cgi);
    tcase_add_test(tests, test_no_such_run);
    suite_add_tcase(suite, tests);
    return test_run(suite);
}
