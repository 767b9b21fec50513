/* check_chains.c - which finding follows from which other one, what is said of it, and when.
 *
 * Each run is a quiet one (400 requests in four seconds, ten workers) in which SQL plants the
 * evidence.
 */
#include <stdio.h>
#include <string.h>

#include "findings/findings.h"
#include "findings/inquiry.h"
#include "harness.h"
#include "made_run.h"

static const struct mst_finding *finding(const struct made *m, enum mst_code code)
{
    const struct mst_finding *f = mst_findings_get(&m->s, code, "");

    ck_assert_msg(f != NULL, "no %s: %s", mst_code_names[code], m->s.verdict);
    return f;
}

/* That the symptom follows from the root, and has no advice of its own. */
static void expect_cause(const struct made *m, enum mst_code symptom, enum mst_code root)
{
    const struct mst_finding *f = finding(m, symptom), *of = finding(m, root);

    ck_assert_msg(f->caused_by.known, "%s follows from nothing: %s", mst_code_names[symptom],
                  m->s.verdict);
    ck_assert_str_eq(mst_code_names[f->caused_by.code], mst_code_names[root]);
    ck_assert_str_eq(f->caused_by.subject, of->subject);
    ck_assert_str_eq(f->predicted, "");
    ck_assert_uint_eq(f->changes.count, 0);
    ck_assert_str_eq(f->action, "");
}

static void expect_says(const struct made *m, const char *words)
{
    ck_assert_msg(strstr(m->s.verdict, words) != NULL, "%s", m->s.verdict);
}

#define SERIAL_LOCK \
    "UPDATE samples SET workers_busy = 5, workers_limit = 5 WHERE server_id = 2;" \
    "UPDATE server_requests SET handle_ns = 60000000;" \
    "UPDATE php_requests SET wait_ns = 20000000, run_ns = 40000000 - (key = 1) * 30000000, " \
    "cpu_wait_ns = 0, waits_ns = run_ns, start_ns = (SELECT started_ns FROM runs) + " \
    "key * 10000000; UPDATE php_requests SET waits_ns = run_ns;" \
    INTO_PHP_WAITS "SELECT 2, key, 'lock', 'lock session', NULL, NULL, run_ns FROM " \
    "php_requests; INSERT INTO ends VALUES (2, 'lock', 'lock session', 400, 0, 16000000000, 0);"

static const struct { const char *sql; enum mst_code symptom, root; const char *says; } chains[] = {
    /* HTTP/2's workers wait for PHP's. */
    { "UPDATE server_requests SET h2_wait_ns = 30000000, queue_ns = 30000000, checks_ns = 0;" PHP,
      MST_CODE_H2_WORKERS, MST_CODE_PHP_WORKERS, " So HTTP/2's workers ran out." },
    /* PHP answers 500 after a fatal error, Apache 503 where there is no PHP. */
    { PHP "UPDATE php_requests SET wait_ns = 0, fatal = key % 3 = 0, status = 200 + 300 * "
      "(key % 3 = 0); UPDATE server_requests SET status = 500 WHERE key % 3 = 0",
      MST_CODE_ANSWERS_5XX, MST_CODE_PHP_FATAL, " So 133 answers were 500." },
    { PHP "UPDATE servers SET sapi = 'fpm-fcgi' WHERE id = 2;"
      "INSERT INTO lifecycle (server_id, key, time_ns, event, reason) SELECT 2, 0, "
      "started_ns + 1000000000, 'stopped', 'clean' FROM runs;"
      "UPDATE server_requests SET status = 503, backend = 'unix:/run/php.sock|fcgi://localhost' "
      "WHERE start_ns > (SELECT started_ns + 1000000000 FROM runs)",
      MST_CODE_ANSWERS_5XX, MST_CODE_PHP_DOWN, " answers were 503." },
    /* Apache waits for a second, and PHP's queue takes two. */
    { PHP "UPDATE server_requests SET status = 504, backend = 'unix:/x|fcgi://localhost', "
      "backend_ns = 1000000000, handle_ns = 1001000000, checks_ns = 0, upload_ns = 0; "
      "UPDATE php_requests SET request_id = request_id + 100000, wait_ns = 2000000000, "
      "run_ns = 500000000", MST_CODE_BACKEND, MST_CODE_PHP_WORKERS,
      " The cause: PHP's workers ran out: all 5 were busy" },
    /* FPM ends what runs as it reloads. */
    { PHP "UPDATE servers SET sapi = 'fpm-fcgi' WHERE id = 2;"
      "UPDATE samples SET unfinished = 0, generations = 1 WHERE server_id = 2;"
      "UPDATE samples SET unfinished = 9, generations = 2 WHERE server_id = 2 AND moment = 'after';"
      "INSERT INTO lifecycle (server_id, key, time_ns, event, kind, reason) SELECT 2, p.key, "
      "started_ns + 1000000000, 'exit', 'child', 'killed' FROM runs, php_requests p "
      "WHERE p.key < 9;"
      "INSERT INTO lifecycle (server_id, key, time_ns, event) SELECT 2, 1000, "
      "started_ns + 1050000000, 'generation' FROM runs",
      MST_CODE_REQUESTS_DIED, MST_CODE_SERVER_RESTARTED,
      " So 9 requests died with their process." },
    /* More workers would only wait for the lock. */
    { PHP SERIAL_LOCK, MST_CODE_PHP_WORKERS, MST_CODE_LOCK, " So PHP's workers ran out." },
};

START_TEST(test_chains)
{
    struct run r = quiet_run();
    struct made m;

    make(&m, &r, chains[_i].sql);
    expect_cause(&m, chains[_i].symptom, chains[_i].root);
    expect_says(&m, chains[_i].says);
    check_output(&m.s);
    unmake(&m);
}
END_TEST

#define RESETS "UPDATE client_results SET failed = 100, failed_receive = 100;"
#define FILES  "INSERT INTO process_samples VALUES (1, 1, 7, 1000, 1, 60, 60, NULL);"
#define PORTS  "INSERT INTO port_samples VALUES (1, 1, '127.0.0.1:9', 28230, 28232);"
#define HALF(status) "UPDATE server_requests SET status = " status " WHERE key % 2 = 0;"

/* full: all of Apache's workers are busy, and requests wait for one. */
static const struct { bool full; const char *sql; enum mst_code symptom, root; } failures[] = {
    { true, RESETS, MST_CODE_CLIENT_ERRORS, MST_CODE_APACHE_WORKERS },
    { false, RESETS "UPDATE samples SET unfinished = 0; UPDATE samples SET unfinished = 100 "
      "WHERE moment = 'after'", MST_CODE_CLIENT_ERRORS, MST_CODE_REQUESTS_DIED },
    { false, RESETS "UPDATE samples SET generations = 1; UPDATE samples SET generations = 2 "
      "WHERE moment = 'after'", MST_CODE_CLIENT_ERRORS, MST_CODE_SERVER_RESTARTED },
    { false, RESETS FILES, MST_CODE_CLIENT_ERRORS, MST_CODE_DESCRIPTORS },
    { false, HALF("403") FILES, MST_CODE_ANSWERS_4XX, MST_CODE_DESCRIPTORS },
    { false, HALF("503") FILES, MST_CODE_ANSWERS_5XX, MST_CODE_DESCRIPTORS },
    { false, HALF("503") PORTS, MST_CODE_ANSWERS_5XX, MST_CODE_LOCAL_PORTS },
};

START_TEST(test_failures)
{
    struct run r = quiet_run();
    struct made m;

    if (failures[_i].full) {
        r.busy = r.limit;
        r.queue_ns = 24 * MS;
    }
    make(&m, &r, failures[_i].sql);
    expect_cause(&m, failures[_i].symptom, failures[_i].root);
    check_output(&m.s);
    unmake(&m);
}
END_TEST

/* Failures stay first; what took the time is their cause. */
START_TEST(test_time_outs)
{
    struct run r = quiet_run();
    struct made m;

    make(&m, &r, PHP
         "UPDATE client_results SET failed = 100, failed_timeout = 100;"
         "UPDATE server_requests SET handle_ns = 1010000000; UPDATE php_requests SET wait_ns = 0, "
         "run_ns = 1000000000, cpu_wait_ns = 0, waits_ns = 999000000;"
         INTO_PHP_WAITS "SELECT 2, key, 'sleep', 'sleep', NULL, NULL, 999000000 "
         "FROM php_requests");
    expect_codes(&m, "client-aborts sleep");
    expect_cause(&m, MST_CODE_CLIENT_ABORTS, MST_CODE_SLEEP);
    expect_says(&m, " The cause: PHP waited for its own sleep");
    check_output(&m.s);
    unmake(&m);
}
END_TEST

/* An answer that was an error after a second is not the error page's time. */
START_TEST(test_an_error_that_took_long)
{
    struct run r = quiet_run();
    struct made m;

    make(&m, &r, "UPDATE server_requests SET status = 504, backend = 'fcgi://x', backend_ns = "
                 "1000000000, handle_ns = 1001000000, checks_ns = 0, upload_ns = 0");
    expect_cause(&m, MST_CODE_ANSWERS_5XX, MST_CODE_BACKEND);
    expect_says(&m, "400 of 400 answers were 504 (label site, from fcgi://x), after 1.00 s on "
                    "average. The cause: Apache waited for its backend for 1.00 s");
    ck_assert_ptr_null(strstr(m.s.verdict, "error page"));
    unmake(&m);
}
END_TEST

/* Full CPUs: no number of workers is better than this one. */
START_TEST(test_full_cpus)
{
    struct run r = quiet_run();
    struct made m;

    r.busy = r.limit;
    r.queue_ns = 24 * MS;
    r.machine_busy_ns = 2 * r.duration_ns;
    make(&m, &r, NULL);
    expect_codes(&m, "cpu apache-workers");
    expect_cause(&m, MST_CODE_APACHE_WORKERS, MST_CODE_CPU);
    expect_says(&m, " So Apache's workers ran out.");
    ck_assert_uint_eq(m.s.headline_count, 1);
    unmake(&m);
}
END_TEST

/* Most of what PHP computes is compiling, and it waits for a CPU for longer than it computes. */
START_TEST(test_full_of_compiling)
{
    struct run r = quiet_run();
    struct made m;

    r.machine_busy_ns = 2 * r.duration_ns;
    make(&m, &r, PHP "UPDATE server_requests SET handle_ns = 60000000;"
                 "UPDATE php_requests SET wait_ns = 0, run_ns = 59000000, user_ns = 18000000, "
                 "system_ns = 1000000, cpu_wait_ns = 39000000, waits_ns = 0, "
                 "compile_ns = 17000000, cached = 0;"
                 "INSERT INTO programs VALUES (1, 'php-fpm8.2', 7000000000, 'server', NULL)");
    expect_cause(&m, MST_CODE_CPU, MST_CODE_COMPILING);
    unmake(&m);
}
END_TEST

/* What the hypervisor took is no neighbour's, and nobody's of this machine. */
START_TEST(test_stolen_time)
{
    struct run r = quiet_run();
    struct made m;

    r.machine_busy_ns = 2 * r.duration_ns;
    r.queue_ns = 24 * MS;
    make(&m, &r, "UPDATE machine_samples SET stolen_ns = busy_ns * 6 / 10");
    expect_codes(&m, "cpu-stolen");
    expect_says(&m, "The hypervisor gave 60.0 % of this machine's CPU time to other machines");
    ck_assert_ptr_null(mst_findings_get(&m.s, MST_CODE_CPU_NEIGHBOUR, ""));
    unmake(&m);
}
END_TEST

/* Four fifths of the run were quick. */
START_TEST(test_when)
{
    struct run r = quiet_run();
    const struct mst_finding *f;
    struct made m;

    make(&m, &r, PHP
         "UPDATE php_requests SET wait_ns = 0;"
         "UPDATE server_requests SET handle_ns = 60000000 WHERE key BETWEEN 100 AND 180;"
         "UPDATE php_requests SET run_ns = 59000000, cpu_wait_ns = 0, waits_ns = 58000000 WHERE "
         "key BETWEEN 100 AND 180;"
         INTO_PHP_WAITS "SELECT 2, key, 'database', 'mysql db:3306', NULL, NULL, 58000000 "
         "FROM php_requests WHERE key BETWEEN 100 AND 180");
    f = finding(&m, MST_CODE_DATABASE);
    ck_assert(f->when.known);
    ck_assert_uint_ge(f->when.from_ns, m.s.started_ns + 900 * MS);
    ck_assert_uint_le(f->when.until_ns, m.s.started_ns + 1960 * MS);
    ck_assert_msg(strstr(f->text, " Most of this was from ") != NULL, "%s", f->text);
    unmake(&m);
}
END_TEST

/* A load that is the same all the time has no part of its own. */
START_TEST(test_all_the_time)
{
    struct run r = quiet_run();
    struct made m;

    make(&m, &r, PHP);
    ck_assert(!finding(&m, MST_CODE_PHP_WORKERS)->when.known);
    unmake(&m);
}
END_TEST

START_TEST(test_cold_start)
{
    struct run r = quiet_run();
    const struct mst_finding *f;
    struct made m;

    make(&m, &r, "UPDATE server_requests SET start_ns = start_ns + 2000000000 WHERE key > 10;"
                 "UPDATE server_requests SET handle_ns = 2500000000 WHERE key <= 10");
    f = finding(&m, MST_CODE_COLD_START);
    ck_assert_uint_eq(f->requests, 11);
    ck_assert_msg(strncmp(f->text, "The first answer came 2.", 24) == 0, "%s", f->text);
    unmake(&m);
}
END_TEST

static const struct { const char *end, *listens; bool is_own; } own_ends[] = {
    { "http 127.0.0.1:80", "0.0.0.0:80 [::]:443", true },
    { "http localhost:443", "0.0.0.0:80 [::]:443", true },
    { "http [::1]:443", "0.0.0.0:80 [::]:443", true },
    { "http 127.0.0.1:443", "[::]:443 [::]:80", true },
    { "http site:80", "0.0.0.0:80", true },            /* its own label */
    { "http api.example:80", "0.0.0.0:80", false },
    { "http 127.0.0.1:8080", "0.0.0.0:80", false },
    { "http 192.0.2.1:80", "192.0.2.1:80", true },
    { "http 127.0.0.1:80", "192.0.2.1:80", false },
    { "http", "0.0.0.0:80", false },
};

START_TEST(test_own_ends)
{
    struct run r = quiet_run();
    const struct mst_finding *f;
    char sql[2048];
    struct made m;

    snprintf(sql, sizeof sql, PHP
             "UPDATE servers SET listens = '%s' WHERE id = 1;"
             "UPDATE server_requests SET handle_ns = 108000000;"
             "UPDATE php_requests SET wait_ns = 100000, run_ns = 102000000, cpu_wait_ns = 0, "
             "waits_ns = 100000000;"
             INTO_PHP_WAITS "SELECT 2, key, 'http', '%s', NULL, NULL, 100000000 "
             "FROM php_requests; INSERT INTO ends VALUES (2, 'http', '%s', 400, 0, 40000000000, 0)",
             own_ends[_i].listens, own_ends[_i].end, own_ends[_i].end);
    make(&m, &r, sql);
    f = finding(&m, MST_CODE_HTTP);
    ck_assert_int_eq(mst_finding_answer(f, MST_CALLS_ITSELF),
                     own_ends[_i].is_own ? MST_ANSWER_YES : MST_ANSWER_NO);
    ck_assert_msg((strstr(f->text, " is this server itself") != NULL) == own_ends[_i].is_own, "%s",
                  f->text);
    unmake(&m);
}
END_TEST

START_TEST(test_compiling)
{
    struct run r = quiet_run();
    struct made m;

    make(&m, &r, PHP "UPDATE server_requests SET handle_ns = 60000000;"
                 "UPDATE php_requests SET wait_ns = 0, run_ns = 59000000, user_ns = 50000000, "
                 "system_ns = 8000000, cpu_wait_ns = 0, waits_ns = 0, compile_ns = 40000000, "
                 "cached = 0");
    expect_codes(&m, "compiling");
    expect_says(&m, "PHP compiled scripts for 40.0 ms a request");
    expect_says(&m, "74.8 % of its CPU time; OPcache did not have the script of 100.0 % of the "
                    "requests.");
    check_output(&m.s);
    unmake(&m);
}
END_TEST

int main(void)
{
    Suite *suite = suite_create("chains");
    TCase *tests = tcase_create("chains");

    tcase_add_loop_test(tests, test_chains, 0, (int)(sizeof chains / sizeof *chains));
    tcase_add_loop_test(tests, test_failures, 0, (int)(sizeof failures / sizeof *failures));
    tcase_add_test(tests, test_time_outs);
    tcase_add_test(tests, test_an_error_that_took_long);
    tcase_add_test(tests, test_full_cpus);
    tcase_add_test(tests, test_full_of_compiling);
    tcase_add_test(tests, test_stolen_time);
    tcase_add_test(tests, test_when);
    tcase_add_test(tests, test_all_the_time);
    tcase_add_test(tests, test_cold_start);
    tcase_add_loop_test(tests, test_own_ends, 0, (int)(sizeof own_ends / sizeof *own_ends));
    tcase_add_test(tests, test_compiling);
    suite_add_tcase(suite, tests);
    return test_run(suite);
}
