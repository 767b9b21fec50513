/* check_sizing.c - advice on limits from a run. */
#include <inttypes.h>
#include <math.h>
#include <string.h>

#include "base/clock.h"
#include "findings/advice.h"
#include "harness.h"
#include "made_report.h"
#include "report/report.h"
#include "stats/random.h"

/* ---- sizing ----------------------------------------------------------------------- */

static void expect_advice(struct made *m, enum mst_advice_id id, const char *answer,
                          const char *arithmetic)
{
    const struct mst_advice *advice = &m->s.sizing->advice[id];

    ck_assert_str_eq(advice->answer, answer);
    ck_assert_msg(strstr(advice->arithmetic, arithmetic) != NULL, "\"%s\"", advice->arithmetic);
}

/* How busy two CPUs were, in thousandths. */
static void add_cpus(struct made *m, unsigned busy_milli)
{
    sql(m, "INSERT INTO machine_samples (run_id, time_ns, moment, busy_ns, total_ns, "
        "listen_overflows, listen_drops, memory_stall_ns, oom_kills) VALUES "
        "(1, 1, 'before', 0, 0, 0, 0, 0, 0), (1, 2, 'end', %u, 1000, 3, 3, 0, 0)", busy_milli);
    sql(m, "INSERT OR REPLACE INTO environment VALUES (1, 'cpus', '2')");
}

/* 200 requests that each hold a worker for 450 ms, one every 45 ms: in 9.405 s, or in 9.945 s where
 * each waits for 540 ms, 19.9 at once. */
static void add_load(struct made *m, uint64_t queue_ns)
{
    unsigned i;

    for (i = 0; i < 200; i++)
        add_request(m, i, START + i * 45 * MS, queue_ns, 450 * MS, 200);
}

/* Each of ten processes, or of three with four threads each. */
static const struct { const char *mpm, *answer; } processes[] = {
    { "prefork", "10 for this load" }, { "worker", "12 for this load" },
};

START_TEST(test_enough)
{
    struct made m;

    begin(&m, NULL, "http://127.0.0.1/");
    sql(&m, "UPDATE servers SET mpm = '%s'", processes[_i].mpm);
    sql(&m, "INSERT INTO environment VALUES (1, 'apache_settings', 'ThreadsPerChild 4')");
    add_samples(&m, 9, 100);
    add_load(&m, 0);
    add_cpus(&m, 100);
    summarize(&m);
    expect_advice(&m, MST_ADVICE_WORKERS, processes[_i].answer, "Simulated: up to 10 requests want "
                  "a worker at once");
    expect_advice(&m, MST_ADVICE_PHP, "cannot tell", "no PHP was recorded");
    end(&m);
}
END_TEST

/* Of 2000 requests at random intervals, 4.5 are there on average: a few workers less than come at
 * once at most are enough. */
START_TEST(test_enough_with_a_wait)
{
    const struct mst_advice *advice;
    uint64_t random = 1, at = START;
    unsigned i, enough, at_once;
    struct made m;

    begin(&m, NULL, "http://127.0.0.1/");
    add_samples(&m, 4, 100);
    for (i = 0; i < 2000; i++) {
        at += (uint64_t)(-4.5 * (double)MS * log1p(-(double)(mst_random_word(&random) >> 11) *
                                                   0x1p-53));
        add_request(&m, i, at, 0, 20 * MS, 200);
    }
    add_cpus(&m, 100);
    summarize(&m);
    advice = &m.s.sizing->advice[MST_ADVICE_WORKERS];
    ck_assert_msg(sscanf(advice->answer, "%u for this load", &enough) == 1, "%s", advice->answer);
    ck_assert_ptr_nonnull(strstr(advice->arithmetic, "at once)"));
    ck_assert_int_eq(sscanf(strstr(advice->arithmetic, "(up to "), "(up to %u at", &at_once), 1);
    ck_assert_msg(enough >= 7 && enough <= 9, "%u", enough);     /* M/D/c: 8 wait 0.3 ms of 20 */
    ck_assert_msg(at_once > enough && at_once < 25, "%u", at_once);
    end(&m);
}
END_TEST

/* A simulation takes 20,000 of the requests, and of a long load a part. */
START_TEST(test_enough_of_many_requests)
{
    struct made m;

    begin(&m, NULL, "http://127.0.0.1/");
    add_samples(&m, 4, 100);
    add_cpus(&m, 300);
    sql(&m, "UPDATE servers SET cpu_ns = 1000000000");
    sql(&m, "WITH RECURSIVE n(i) AS (SELECT 0 UNION ALL SELECT i + 1 FROM n WHERE i < 109999) "
        "INSERT INTO server_requests (server_id, key, request_id, start_ns, queue_ns, read_ns, "
        "handle_ns, send_ns, held_ns, label, status, aborted, no_worker, worker, ghost) SELECT 1, "
        "i, i, %" PRIu64 " + i * 90000, 0, 0, 400000, 0, 400000, 'site', 200, 0, 0, 1, 0 FROM n",
        START);
    sql(&m, "INSERT INTO servers (id, run_id, target, producer, sapi, local, lost, restarts, "
        "cpu_ns) VALUES (2, 1, 'fpm.board', 'php', 'fpm-fcgi', 1, 0, 0, 2000000000)");
    sql(&m, "INSERT INTO php_requests (server_id, key, start_ns, request_id, wait_ns, run_ns, "
        "label, status, aborted, fatal, timeout, ghost) SELECT 2, key, start_ns + 50000, key, 0, "
        "310000, 'www', 200, 0, 0, 0, 0 FROM server_requests");
    sql(&m, "INSERT INTO samples (server_id, time_ns, moment, workers_limit, workers_busy, "
        "idle_ns, handling_ns) SELECT 2, time_ns, moment, 30, 4, idle_ns, handling_ns "
        "FROM samples");
    summarize(&m);
    expect_advice(&m, MST_ADVICE_WORKERS, "5 for this load", "Simulated: up to 5 requests");
    expect_advice(&m, MST_ADVICE_PHP, "4 for this load", "Simulated: up to 4 requests");
    end(&m);
}
END_TEST

/* Eight clients keep one CPU busy: a worker or two do the same work, and requests wait for them
 * instead. */
START_TEST(test_enough_where_the_cpu_is_full)
{
    const struct mst_advice *advice;
    struct made m;

    begin(&m, NULL, "http://127.0.0.1/");
    add_samples(&m, 8, 100);
    add_cpus(&m, 1000);
    sql(&m, "UPDATE environment SET value = '1' WHERE name = 'cpus'");
    sql(&m, "UPDATE servers SET producer = 'php', mpm = NULL, sapi = 'fpm-fcgi', "
        "cpu_ns = 10000000000");
    sql(&m, "WITH RECURSIVE n(i) AS (SELECT 0 UNION ALL SELECT i + 1 FROM n WHERE i < 999) "
        "INSERT INTO php_requests (server_id, key, start_ns, wait_ns, run_ns, user_ns, system_ns, "
        "cpu_wait_ns, waits_ns, label, status, aborted, fatal, timeout, ghost) SELECT 1, i, "
        "%" PRIu64 " + i * 10000000, 0, 80000000, 10000000, 0, 70000000, 0, 'www', 200, 0, 0, 0, 0 "
        "FROM n", START);
    sql(&m, "INSERT INTO client_results (run_id, requests, abandons, failed, concurrency, "
        "requests_per_1000s) VALUES (1, 1000, 0, 0, 8, 100000)");
    summarize(&m);
    advice = &m.s.sizing->advice[MST_ADVICE_PHP];
    ck_assert_msg(strcmp(advice->answer, "1 for this load") == 0 ||
                  strcmp(advice->answer, "2 for this load") == 0, "%s: %s", advice->answer,
                  advice->arithmetic);
    ck_assert_msg(strstr(advice->arithmetic, "a worker for each (up to 8 at once) it takes no more "
                         "than 3 % less, because the limit is the CPUs;") != NULL, "%s",
                  advice->arithmetic);
    end(&m);
}
END_TEST

START_TEST(test_not_simulated)
{
    struct made m;

    begin(&m, NULL, "http://127.0.0.1/");
    add_samples(&m, 9, 100);
    add_load(&m, 0);
    summarize(&m);
    expect_advice(&m, MST_ADVICE_WORKERS, "not known; 9 busy at most", "at most 9 of 100 workers "
                  "busy, and requests hardly waited for one. No simulation of this run tells how "
                  "many are enough: how busy the CPUs were is not known.");
    expect_advice(&m, MST_ADVICE_BACKLOG, "511, as it is", "At most 10 ");
    end(&m);
}
END_TEST

/* Without a load tool it is not known how many connections keep a worker of prefork. */
START_TEST(test_not_simulated_with_idle_connections)
{
    struct made m;

    begin(&m, NULL, "http://127.0.0.1/");
    add_samples(&m, 9, 100);
    add_load(&m, 0);
    add_cpus(&m, 100);
    sql(&m, "UPDATE server_requests SET nth = key %% 4");
    summarize(&m);
    expect_advice(&m, MST_ADVICE_WORKERS, "not known; 9 busy at most", "idle connections keep "
                  "workers, and how many clients there were is not known.");
    end(&m);
}
END_TEST

START_TEST(test_sizing_where_workers_ran_out)
{
    struct made m;

    begin(&m, NULL, "http://127.0.0.1/");
    add_samples(&m, 9, 9);
    add_load(&m, 540 * MS);
    summarize(&m);
    expect_advice(&m, MST_ADVICE_WORKERS, "more than 9: up to 20", "Set MaxRequestWorkers to 20 "
                  "(now 9): 20 requests wanted to be served at once");
    add_cpus(&m, 990);
    mst_summary_free(&m.s);
    summarize(&m);
    expect_advice(&m, MST_ADVICE_WORKERS, "9, as it is", "The CPUs were the limit");
    expect_advice(&m, MST_ADVICE_BACKLOG, "more than 511", "found a queue full 3 times");
    end(&m);
}
END_TEST

/* Idle connections held 6.5 workers of 10, and requests 3. */
START_TEST(test_sizing_where_idle_connections_held_the_workers)
{
    struct made m;
    unsigned i;

    begin(&m, NULL, "http://127.0.0.1/");
    add_samples(&m, 10, 10);
    for (i = 0; i < 500; i++)
        add_request(&m, i, START + i * 19 * MS, i % 10 == 0 ? 600 * MS : 0, 60 * MS, 200);
    sql(&m, "UPDATE samples SET keepalive_ns = handling_ns / 10 * 6.5, handling_ns = handling_ns / "
        "10 * 3");
    summarize(&m);
    expect_advice(&m, MST_ADVICE_WORKERS, "not known; 10 busy at most", "at most 10 of 10 workers "
                  "busy, and requests waited for one.");
    end(&m);
}
END_TEST

/* In a burst there are enough workers on average; the accept queue tells how many came at once. */
START_TEST(test_sizing_of_a_burst)
{
    struct made m;

    begin(&m, NULL, "http://127.0.0.1/");
    add_samples(&m, 30, 30);
    add_load(&m, 540 * MS);
    summarize(&m);
    expect_advice(&m, MST_ADVICE_WORKERS, "more than 30: up to 40", "up to 40 requests wanted to "
                  "be served at once (19.9 on average)");
    sql(&m, "UPDATE samples SET listen_queue = NULL");
    mst_summary_free(&m.s);
    summarize(&m);
    expect_advice(&m, MST_ADVICE_WORKERS, "more than 30", "an average does not tell how many");
    end(&m);
}
END_TEST

/* Of 400 requests half ended when the load was over: they are none of its rate. */
START_TEST(test_sizing_by_the_rate_of_the_load)
{
    struct made m;

    begin(&m, NULL, "http://127.0.0.1/");
    add_samples(&m, 9, 9);
    add_load(&m, 540 * MS);
    sql(&m, "INSERT INTO server_requests (server_id, key, start_ns, queue_ns, read_ns, handle_ns, "
        "send_ns, held_ns, label, status, aborted, no_worker, ghost) SELECT 1, key + 200, "
        "%" PRIu64 ", queue_ns, 0, handle_ns, 0, held_ns, label, 200, 0, 0, 0 FROM "
        "server_requests", START + 10 * MST_NS_PER_S);
    summarize(&m);
    expect_advice(&m, MST_ADVICE_WORKERS, "more than 9: up to 20", "20 requests wanted to be "
                  "served at once");
    end(&m);
}
END_TEST

/* PHP's one worker is always busy. Requests of 0.1 ms that are handed over in 0.07 ms waited
 * for nothing. Of those that waited for 90 ms the limit is not known. */
static const struct { uint64_t wait_ns, run_ns; const char *answer, *arithmetic; } php_waits[] = {
    { 70000, 100000, "not known; 1 busy at most", "requests hardly waited for one" },
    { 90 * MS, 100 * MS, "more than now: up to 11", "Set pm.max_children to 11" },
};

START_TEST(test_sizing_of_php)
{
    struct made m;

    begin(&m, NULL, "http://127.0.0.1/");
    add_samples(&m, 1, 1);
    sql(&m, "INSERT INTO servers (id, run_id, target, producer, sapi, local, lost, restarts) "
        "VALUES (2, 1, 'fpm.board', 'php', 'fpm-fcgi', 1, 0, 0)");
    sql(&m, "UPDATE samples SET server_id = 2, workers_limit = NULL");
    sql(&m, "DELETE FROM servers WHERE id = 1");
    sql(&m, "WITH RECURSIVE n(i) AS (SELECT 1 UNION ALL SELECT i + 1 FROM n WHERE i < 300) "
        "INSERT INTO php_requests (server_id, key, start_ns, wait_ns, run_ns, label, status, "
        "aborted, fatal, timeout, ghost) SELECT 2, i, %" PRIu64 " + i * 33000000, %" PRIu64
        ", %" PRIu64 ", 'www', 200, 0, 0, 0, 0 FROM n", START, php_waits[_i].wait_ns,
        php_waits[_i].run_ns);
    summarize(&m);
    expect_advice(&m, MST_ADVICE_PHP, php_waits[_i].answer, php_waits[_i].arithmetic);
    expect_advice(&m, MST_ADVICE_WORKERS, "cannot tell", "no Apache was recorded");
    sql(&m, "UPDATE servers SET sapi = 'apache2handler'");
    mst_summary_free(&m.s);
    summarize(&m);
    expect_advice(&m, MST_ADVICE_PHP, "cannot tell", "this PHP is not PHP-FPM");
    end(&m);
}
END_TEST

START_TEST(test_sizing_of_too_little)
{
    struct made m;

    begin(&m, NULL, "http://127.0.0.1/");
    add_request(&m, 1, START, 0, MS, 200);
    summarize(&m);
    expect_advice(&m, MST_ADVICE_WORKERS, "cannot tell", "fewer than 100");
    expect_advice(&m, MST_ADVICE_BACKLOG, "cannot tell", "not known");
    sql(&m, "UPDATE runs SET duration_ns = NULL, complete = 0, outcome = 'unfinished'");
    mst_summary_free(&m.s);
    summarize(&m);
    expect_advice(&m, MST_ADVICE_WORKERS, "cannot tell", "the recording did not come to its end");
    sql(&m, "UPDATE runs SET duration_ns = 1900000000, complete = 1, outcome = 'complete'");
    mst_summary_free(&m.s);
    summarize(&m);
    expect_advice(&m, MST_ADVICE_WORKERS, "cannot tell", "the run was shorter than two seconds");
    end(&m);
}
END_TEST

/* Memory: 20 MB and 3 MB for each process; RAM 4 GB. */
START_TEST(test_sizing_by_memory)
{
    const struct mst_advice *advice;
    struct made m;
    unsigned i;

    begin(&m, NULL, "http://127.0.0.1/");
    add_samples(&m, 9, 100);
    add_load(&m, 0);
    for (i = 0; i < 9; i++)
        sql(&m, "INSERT INTO memory_samples VALUES (1, %u, %u, %u, %u, 1, 0, 1)", i, i, 5 + i % 4,
            20000000 + (5 + i % 4) * 3000000);
    sql(&m, "INSERT INTO environment VALUES (1, 'memory_bytes', '4000000000')");
    summarize(&m);
    advice = &m.s.sizing->advice[MST_ADVICE_WORKERS];
    ck_assert_msg(strstr(advice->uncertainty, "80 % of 4.00 GB / 3.00 MB a process (what one more "
                         "takes, upper end) = 106") != NULL, "%s", advice->uncertainty);
    end(&m);
}
END_TEST

int main(void)
{
    Suite *suite = suite_create("report");
    TCase *tests = tcase_create("report");

    tcase_add_loop_test(tests, test_enough, 0, (int)(sizeof processes / sizeof *processes));
    tcase_add_test(tests, test_enough_with_a_wait);
    tcase_add_test(tests, test_enough_of_many_requests);
    tcase_add_test(tests, test_enough_where_the_cpu_is_full);
    tcase_add_test(tests, test_not_simulated);
    tcase_add_test(tests, test_not_simulated_with_idle_connections);
    tcase_add_test(tests, test_sizing_where_workers_ran_out);
    tcase_add_test(tests, test_sizing_where_idle_connections_held_the_workers);
    tcase_add_test(tests, test_sizing_of_a_burst);
    tcase_add_test(tests, test_sizing_by_the_rate_of_the_load);
    tcase_add_loop_test(tests, test_sizing_of_php, 0,
                        (int)(sizeof php_waits / sizeof *php_waits));
    tcase_add_test(tests, test_sizing_of_too_little);
    tcase_add_test(tests, test_sizing_by_memory);
    suite_add_tcase(suite, tests);
    return test_run(suite);
}
