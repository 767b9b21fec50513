/* check_sizing.c - advice on limits from a run. */
#include <inttypes.h>
#include <math.h>
#include <string.h>

#include "base/clock.h"
#include "findings/advice.h"
#include "harness.h"
#include "made_report.h"
#include "report/report.h"

/* ---- sizing ----------------------------------------------------------------------- */

static void expect_advice(struct made *m, enum mst_advice_id id, const char *answer,
                          const char *arithmetic)
{
    struct mst_sizing sizing;

    ck_assert(mst_sizing_make(&sizing, &m->s, mst_archive_db(m->archive)));
    ck_assert_str_eq(sizing.advice[id].answer, answer);
    ck_assert_msg(strstr(sizing.advice[id].arithmetic, arithmetic) != NULL, "\"%s\"",
                  sizing.advice[id].arithmetic);
}

/* 200 requests that each hold a worker for 450 ms, one every 45 ms: in 9.405 s, or in 9.945 s where
 * each waits for 540 ms, 19.9 at once. */
static void add_load(struct made *m, uint64_t queue_ns)
{
    unsigned i;

    for (i = 0; i < 200; i++)
        add_request(m, i, START + i * 45 * MS, queue_ns, 450 * MS, 200);
}

START_TEST(test_sizing)
{
    struct made m;

    begin(&m, NULL, "http://127.0.0.1/");
    add_samples(&m, 9, 100);
    add_load(&m, 0);
    summarize(&m);
    /* 9.57 on average, with 95 % at most 9.57 (1 + 1.96 / sqrt 200) = 10.9; 2.33 sqrt above. */
    expect_advice(&m, MST_ADVICE_WORKERS, "19 for this load", "21.27 requests/s x 450 ms held = "
                  "9.57 ");
    expect_advice(&m, MST_ADVICE_PHP, "cannot tell", "no PHP was recorded");
    expect_advice(&m, MST_ADVICE_BACKLOG, "511, as it is", "At most 10 ");
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
    expect_advice(&m, MST_ADVICE_WORKERS, "more than 9: up to 20", "(450 ms held + 540 ms waited)");
    sql(&m, "INSERT INTO machine_samples (run_id, time_ns, moment, busy_ns, total_ns, "
        "listen_overflows, listen_drops, memory_stall_ns, oom_kills) "
        "VALUES (1, 1, 'before', 0, 0, 0, 0, 0, 0), "
        "(1, 2, 'end', 99, 100, 3, 3, 0, 0);"
        "INSERT OR REPLACE INTO environment VALUES (1, 'cpus', '2')");
    mst_summary_free(&m.s);
    summarize(&m);
    expect_advice(&m, MST_ADVICE_WORKERS, "9, as it is", "The CPUs were the limit");
    expect_advice(&m, MST_ADVICE_BACKLOG, "more than 511", "found a queue full 3 times");
    end(&m);
}
END_TEST

/* Idle connections held 6.5 workers of 10, and requests 3; 60 ms x 50.15/s = 3 waited. */
START_TEST(test_sizing_counts_idle_connections)
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
    expect_advice(&m, MST_ADVICE_WORKERS, "more than 10: up to 13", "9.50 workers busy on average "
                  "(6.50 of them with idle keep-alive connections) + 50.15/s x 60.0 ms waited = "
                  "12.5 at once");
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
    expect_advice(&m, MST_ADVICE_WORKERS, "more than 30: up to 40", "= 19.9 requests at once on "
                  "average, and up to 40: with a worker each");
    sql(&m, "UPDATE samples SET listen_queue = NULL");
    mst_summary_free(&m.s);
    summarize(&m);
    expect_advice(&m, MST_ADVICE_WORKERS, "more than 30", "= 19.9 requests at once, on average, "
                  "for 30 workers: at times there were more");
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
    expect_advice(&m, MST_ADVICE_WORKERS, "more than 9: up to 20", "20/s x (450 ms held + 540 ms "
                  "waited) = 19.8 requests at once");
    end(&m);
}
END_TEST

/* PHP's one worker is always busy. Requests of 0.1 ms that are handed over in 0.07 ms waited
 * for nothing. Of those that waited for 90 ms the limit is not known. */
static const struct { uint64_t wait_ns, run_ns; const char *answer, *arithmetic; } php_waits[] = {
    { 70000, 100000, "1 for this load", "The samples found at most 1 busy" },
    { 90 * MS, 100 * MS, "more than now: up to 6", "30/s x (100 ms held + 90.0 ms waited) = 5.7" },
};

START_TEST(test_sizing_of_php)
{
    struct made m;

    begin(&m, NULL, "http://127.0.0.1/");
    add_samples(&m, 1, 1);
    sql(&m, "INSERT INTO servers (id, run_id, target, producer, sapi, local, lost, restarts) "
        "VALUES (2, 1, 'fpm.board', 'php', 'fpm-fcgi', 1, 0, 0)");
    sql(&m, "UPDATE samples SET server_id = 2, workers_limit = NULL");
    sql(&m, "WITH RECURSIVE n(i) AS (SELECT 1 UNION ALL SELECT i + 1 FROM n WHERE i < 300) "
        "INSERT INTO php_requests (server_id, key, start_ns, wait_ns, run_ns, label, status, "
        "aborted, fatal, timeout, ghost) SELECT 2, i, %" PRIu64 " + i * 33000000, %" PRIu64
        ", %" PRIu64 ", 'www', 200, 0, 0, 0, 0 FROM n", START, php_waits[_i].wait_ns,
        php_waits[_i].run_ns);
    summarize(&m);
    expect_advice(&m, MST_ADVICE_PHP, php_waits[_i].answer, php_waits[_i].arithmetic);
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
    expect_advice(&m, MST_ADVICE_WORKERS, "cannot tell", "did not come to its end");
    end(&m);
}
END_TEST

/* Memory: 20 MB and 3 MB for each process; RAM 4 GB. */
START_TEST(test_sizing_by_memory)
{
    struct mst_sizing sizing;
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
    ck_assert(mst_sizing_make(&sizing, &m.s, mst_archive_db(m.archive)));
    ck_assert_msg(strstr(sizing.advice[MST_ADVICE_WORKERS].uncertainty,
                         "80 % of 4.00 GB / 3.00 MB a process (what one more takes, upper end) = "
                         "106") != NULL, "%s", sizing.advice[MST_ADVICE_WORKERS].uncertainty);
    end(&m);
}
END_TEST

int main(void)
{
    Suite *suite = suite_create("report");
    TCase *tests = tcase_create("report");

    tcase_add_test(tests, test_sizing);
    tcase_add_test(tests, test_sizing_where_workers_ran_out);
    tcase_add_test(tests, test_sizing_counts_idle_connections);
    tcase_add_test(tests, test_sizing_of_a_burst);
    tcase_add_test(tests, test_sizing_by_the_rate_of_the_load);
    tcase_add_loop_test(tests, test_sizing_of_php, 0,
                        (int)(sizeof php_waits / sizeof *php_waits));
    tcase_add_test(tests, test_sizing_of_too_little);
    tcase_add_test(tests, test_sizing_by_memory);
    suite_add_tcase(suite, tests);
    return test_run(suite);
}
