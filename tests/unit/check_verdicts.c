/* check_verdicts.c - what a run's verdict says, and the codes of its findings.
 *
 * Each test writes a run into an archive, as a recording would, changes in it
 * what the test is about, and looks at the summary.
 */
#include <stdio.h>
#include <string.h>

#include "findings/findings.h"
#include "findings/inquiry.h"
#include "harness.h"
#include "made_run.h"

/* Each request computes for so long in its script, and in the kernel. */
#define COMPUTES(user, system) \
    "UPDATE server_requests SET handle_ns = 50000000 + 500000;" \
    "UPDATE php_requests SET wait_ns = 100000, run_ns = 50000000, user_ns = " user ", " \
    "system_ns = " system ", cpu_wait_ns = 0, waits_ns = 0;"

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
      "than 5 of 50 busy: PHP's processes were started too slowly for this load." },
    /* When all of them are there, they are too few. */
    { PHP "UPDATE samples SET workers_limit = 6 WHERE server_id = 2;"
      "UPDATE samples SET forks = 0 WHERE server_id = 2;"
      "UPDATE samples SET forks = 9 WHERE server_id = 2 AND moment = 'after';"
      "UPDATE machine_samples SET busy_ns = busy_ns / 50", "php-spawning",
      "Requests waited for PHP's workers (75.0 % of their time) although no sample found more "
      "than 5 of 6 busy: PHP's processes were started too slowly for this load, and the limit of "
      "6 is too low for up to 20 requests at once." },
    /* fastcgi_finish_request(). */
    { PHP "UPDATE php_requests SET run_ns = 500000000", "php-workers",
      "PHP's workers ran out: all 5 were busy (0.10 on average), and a request waited 6.00 ms for "
      "one, 75.0 % of its time. A worker went on for 49" },
    { PHP "UPDATE php_requests SET wait_ns = 100000", "nothing",
      "Nothing ran out: at most 1 of 10 workers were busy and the CPUs were 12.5 % busy; a request "
      "takes "
      "8.00 ms, 86.3 % of it handle (the application, or what it waits for)." },
    /* Alone, as behind nginx. */
    { PHP "DELETE FROM servers WHERE id = 1", "php-workers",
      "PHP's workers ran out: all 5 were busy (0.10 on average), and a request waited 6.00 ms for "
      "one, 85.7 % of its time." },
    { PHP "DELETE FROM servers WHERE id = 1; UPDATE php_requests SET wait_ns = NULL;"
      "UPDATE samples SET workers_limit = NULL", "nothing",
      "Nothing ran out: at most 5 workers were busy and the CPUs were 12.5 % busy; a request takes "
      "1.00 ms, 100.0 % of it cpu (PHP's computing)." },
    /* Whose CPU time it is: the scripts', or the kernel's. */
    { PHP COMPUTES("38000000", "12000000"), "application-cpu",
      "PHP computed for 44.0 ms a request (87.1 % of its time)." },
    { PHP COMPUTES("20000000", "30000000"), "application-cpu",
      "PHP computed for 44.0 ms a request (87.1 % of its time), 60.0 % of it in the kernel." },
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
                       "waited 6.00 ms for one, 30.0 % of its time. So Apache's workers ran out.");
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
    ck_assert_str_eq(m.s.findings[1].action, "");
    unmake(&m);
    r.machine_busy_ns = quiet_run().machine_busy_ns;   /* or its control group's share of them */
    make(&m, &r, "UPDATE servers SET throttled_ns = 7000000000");
    expect_codes(&m, "cpu-quota apache-workers");
    ck_assert_str_eq(m.s.findings[1].action, "");
    unmake(&m);
}
END_TEST

/* The client's time beyond the server's: where the CPUs are full it waited for one itself. */
START_TEST(test_client_beyond_server)
{
    static const char slow[] = "UPDATE client_results SET mean_ns = 90000000";
    struct run r = quiet_run();
    const struct mst_finding *f;
    struct made m;

    make(&m, &r, slow);
    f = mst_findings_get(&m.s, MST_CODE_CLIENT_BEYOND_SERVER, "");
    ck_assert_ptr_nonnull(f);
    ck_assert_ptr_nonnull(strstr(f->action, "what is between them (a proxy, the network)"));
    unmake(&m);
    r.machine_busy_ns = 2 * r.duration_ns;
    make(&m, &r, slow);
    f = mst_findings_get(&m.s, MST_CODE_CLIENT_BEYOND_SERVER, "");
    ck_assert_ptr_nonnull(f);
    ck_assert_str_eq(f->action, "Run the load tool on another machine: the CPUs were 100.0 % busy, "
                     "and it had to wait for one, too.");
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
                       "80.0 % of a request's time is queue (waiting for a worker). But a wait "
                       "takes only 4.00 ms");
    check_output(&m.s);
    unmake(&m);
}
END_TEST

/* With all CPUs busy; which programs, and whose they are. */
static const struct { const char *sql, *verdict; } cpus[] = {
    /* An FPM that Apache calls, without a board: found by its socket. */
    { "INSERT INTO programs VALUES (1, 'php-fpm8.2', 7000000000, 'server', NULL)",
      "The CPUs were the limit: 100.0 % busy, mostly with php-fpm8.2, while at most 1 of 10 "
      "workers were busy." },
    { "INSERT INTO programs VALUES (1, 'cc1', 7000000000, 'other', NULL)",
      "The CPUs were 100.0 % busy, but mostly with other programs" },
    /* A name is not a proof, whether PHP was recorded or not. */
    { "INSERT INTO programs VALUES (1, 'php-fpm8.2', 1000000000, 'server', NULL), "
      "(1, 'php-fpm8.2', 6000000000, 'other', NULL)",
      "The CPUs were 100.0 % busy, but mostly with other programs than the server, PHP "
      "and ab (most with php-fpm8.2, 6.00 s)" },
    { "INSERT INTO programs VALUES (1, 'php-fpm8.2', 7000000000, NULL, NULL)",
      "The CPUs were 100.0 % busy, but mostly with other programs" },
    { PHP_SERVER "UPDATE servers SET cpu_ns = 9000000 WHERE id = 2;"
      "INSERT INTO programs VALUES (1, 'phpunit', 7000000000, NULL, NULL)",
      "The CPUs were 100.0 % busy, but mostly with other programs" },
    { PHP_SERVER "UPDATE servers SET cpu_ns = 6000000000 WHERE id = 2;"
      "INSERT INTO programs VALUES (1, 'pool', 7000000000, NULL, NULL)",
      "The CPUs were the limit: 100.0 % busy, mostly with pool" },
    /* What the servers took can be the busiest program's: others, in other pid namespaces, had the
     * rest. */
    { PHP_SERVER "UPDATE servers SET cpu_ns = 2000000000 WHERE id = 2;"
      "INSERT INTO programs VALUES (1, 'php-fpm8.2', 2000000000, 'server', NULL)",
      "The CPUs were 100.0 % busy, but mostly with other programs than the server, PHP and ab." },
    { "INSERT INTO programs VALUES (1, 'apache2', 1000000000, 'server', NULL), (1, "
      "'processes that cannot be seen from here', 6000000000, 'unseen', NULL)",
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

/* A database on this machine, for which PHP waits, is no neighbour; but it is named. */
START_TEST(test_cpu_of_the_database)
{
    struct run r = quiet_run();
    const struct mst_finding *f;
    struct made m;

    r.machine_busy_ns = 2 * r.duration_ns;
    make(&m, &r, PHP "UPDATE server_requests SET handle_ns = 60000000; UPDATE php_requests SET "
                 "wait_ns = 0, run_ns = 59000000, user_ns = 20000000, waits_ns = 30000000;"
                 INTO_PHP_WAITS "SELECT 2, key, 'database', 'mysql db:3306', NULL, NULL, "
                 "30000000 FROM php_requests; INSERT INTO programs VALUES (1, 'mariadbd', "
                 "4200000000, 'other', NULL), (1, 'php-fpm8.2', 2800000000, 'server', NULL)");
    f = mst_findings_get(&m.s, MST_CODE_CPU, "");
    ck_assert_msg(f != NULL && strstr(f->text, "mostly with mariadbd") != NULL, "%s",
                  f != NULL ? f->text : m.s.verdict);
    unmake(&m);
}
END_TEST

START_TEST(test_programs_and_their_owners)
{
    struct run r = quiet_run();
    struct made m;

    make(&m, &r, "INSERT INTO programs VALUES (1, 'php-fpm8.2', 1000000000, 'server', NULL), "
                 "(1, 'php-fpm8.2', 3000000000, 'other', NULL), "
                 "(1, 'x', 2000000000, 'theirs', NULL)");
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
    make(&m, &r, "INSERT INTO programs VALUES (1, 'php-fpm8.2', 7000000000, 'server', NULL)");
    expect_verdict(&m, "The CPUs were the limit: 100.0 % busy, mostly with php-fpm8.2, while at "
                       "most 1 of 10 workers were busy; ab itself took 25.0 % of that");
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
      "ab was stopped after 4.00 s. Memory ran out: the kernel killed 6 processes of this "
      "machine" },
    { "UPDATE machine_samples SET oom_kills = 9 WHERE moment = 'end'; "
      "UPDATE servers SET local = 0;" KILLED, "Nothing ran out" },
    { "UPDATE machine_samples SET memory_stall_ns = 1400000005 WHERE moment = 'end'",
      "Memory was short: during 35.0 % of the run, programs of this machine waited for memory" },
    /* The machine had memory: another group's limit made them wait. */
    { "UPDATE machine_samples SET memory_available = 9000000000, memory_stall_ns = 5;"
      "UPDATE machine_samples SET memory_stall_ns = 1400000005 WHERE moment = 'end';"
      "INSERT INTO environment VALUES (1, 'memory_bytes', '16000000000')", "Nothing ran out" },
    { "UPDATE machine_samples SET memory_available = 900000000, memory_stall_ns = 5;"
      "UPDATE machine_samples SET memory_stall_ns = 1400000005 WHERE moment = 'end';"
      "INSERT INTO environment VALUES (1, 'memory_bytes', '16000000000')",
      "Memory was short: during 35.0 % of the run, programs of this machine waited for memory" },
    { "UPDATE machine_samples SET memory_stall_ns = 390000000 WHERE moment = 'end'",
      "Nothing ran out" },
    { "UPDATE machine_samples SET memory_stall_ns = 1400000005 WHERE moment = 'end'; "
      "DELETE FROM server_requests", "Cannot tell: no request of the load was recorded" },
    { "UPDATE machine_samples SET memory_stall_ns = NULL, oom_kills = NULL", "Nothing ran out" },
    { "UPDATE servers SET cgroup = '/web', oom_kills = 2, memory_limit_bytes = 64000000; " KILLED,
      "Memory ran out: the kernel killed 2 processes of the server's control group (its limit is "
      "64.0 MB)." },
    { "UPDATE machine_samples SET oom_kills = 9 WHERE moment = 'end'; "
      "UPDATE servers SET cgroup = '/web', oom_kills = 0; " KILLED,
      "Nothing ran out" },      /* another group's processes */
    { "UPDATE servers SET cgroup = '/web', oom_kills = 0, memory_stall_ns = 1400000000",
      "Memory was short: during 35.0 % of the run, programs of the server's control group waited" },
    { "UPDATE machine_samples SET memory_stall_ns = 1400000005 WHERE moment = 'end'; "
      "UPDATE servers SET cgroup = '/web', oom_kills = 0, memory_stall_ns = 0",
      "Nothing ran out" },      /* another group's programs */
    { "INSERT INTO servers (id, run_id, target, producer, local, cgroup, oom_kills) VALUES "
      "(2, 1, 'php.board', 'php', 1, '/fpm', 3), (3, 1, 'other.board', 'php', 1, '/fpm', 3); "
      "UPDATE servers SET cgroup = '/web', oom_kills = 0 WHERE id = 1; " KILLED,
      "Memory ran out: the kernel killed 3 processes of the server's control group." },
    /* Added up over two CPUs: longer than the load, or one after the other. */
    { "UPDATE servers SET cgroup = '/web', throttled_ns = 5800000000",
      "The CPUs were the limit: the control group of Apache had used up its CPU quota, "
      "and was throttled for at least 2.90 s in 4.00 s of load" },
    { "UPDATE servers SET cgroup = '/web', throttled_ns = 900000000",
      "The control group of Apache had used up its CPU quota at times, "
      "and was throttled for at least 450 ms and at most 900 ms in 4.00 s of load" },
    { "UPDATE servers SET cgroup = '/web', throttled_ns = 5800000000; DELETE FROM environment",
      "The control group of Apache had used up its CPU quota at times, "
      "and was throttled for at least 0 and at most 4.00 s" },
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
      "The run was interrupted after 4.00 s. Nothing ran out" },
    { "UPDATE runs SET complete = 0, outcome = 'failed'",
      "ab was stopped after 4.00 s. Nothing ran out" },
    { "UPDATE runs SET complete = 0, outcome = 'failed', exit_status = 104; INSERT INTO output "
      "VALUES (1, 'stderr', 40, CAST('line' || char(10) || 'Connection reset (104)' || char(10) "
      "AS BLOB)), (1, 'stdout', 5, CAST('Hello' AS BLOB))",
      "ab failed with exit status 104 after 4.00 s (\"Connection reset (104)\"). Nothing ran" },
    { "UPDATE runs SET complete = 0, outcome = 'failed', exit_signal = 9",
      "ab was ended by signal 9 (Killed) after 4.00 s. Nothing ran out" },
    { "UPDATE runs SET complete = 0, outcome = 'failed'; DELETE FROM server_requests",
      "ab was stopped after 4.00 s." },
    { "UPDATE runs SET complete = 0, outcome = 'timeout'",
      "ab had not ended after 4.00 s, and was stopped. Nothing ran out" },
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

int main(void)
{
    Suite *suite = suite_create("verdicts");
    TCase *tests = tcase_create("verdicts");

    tcase_add_loop_test(tests, test_php_verdicts, 0,
                        (int)(sizeof php_verdicts / sizeof php_verdicts[0]));
    tcase_add_test(tests, test_both_ran_out);
    tcase_add_test(tests, test_php_breaks_littles_law);
    tcase_add_test(tests, test_workers_ran_out);
    tcase_add_test(tests, test_few_waited_for_long);
    tcase_add_test(tests, test_waits_below_the_limit);
    tcase_add_test(tests, test_waits_too_little);
    tcase_add_loop_test(tests, test_cpu, 0, (int)(sizeof cpus / sizeof *cpus));
    tcase_add_test(tests, test_cpu_of_the_database);
    tcase_add_test(tests, test_programs_and_their_owners);
    tcase_add_test(tests, test_cpu_of_the_tool);
    tcase_add_loop_test(tests, test_keepalive, 0, (int)(sizeof keepalive / sizeof *keepalive));
    tcase_add_test(tests, test_client_beyond_server);
    tcase_add_test(tests, test_slow_clients);
    tcase_add_loop_test(tests, test_what_held_the_workers, 0, (int)(sizeof held / sizeof *held));
    tcase_add_loop_test(tests, test_memory, 0, (int)(sizeof memory / sizeof *memory));
    tcase_add_test(tests, test_generator);
    tcase_add_loop_test(tests, test_cannot_tell, 0, (int)(sizeof obstacles / sizeof *obstacles));
    suite_add_tcase(suite, tests);
    return test_run(suite);
}
