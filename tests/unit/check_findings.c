/* check_findings.c - which findings the numbers of a run make, in which order, on which figures.
 *
 * Each run is a quiet one (400 requests, ten workers) in which SQL plants the evidence.
 */
#include <sqlite3.h>
#include <stdio.h>
#include <string.h>

#include "findings/advice.h"
#include "findings/findings.h"
#include "findings/inquiry.h"
#include "harness.h"
#include "made_run.h"

/* Six of ten requests wait in PHP for what `kind` is. */
#define WAITS(kind, end, ns) \
    "UPDATE server_requests SET handle_ns = 108000000;" \
    "UPDATE php_requests SET wait_ns = 100000, run_ns = 102000000, cpu_wait_ns = 0, " \
    "waits_ns = " ns ";" \
    INTO_PHP_WAITS "SELECT 2, key, '" kind "', '" end "', NULL, NULL, " ns \
    " FROM php_requests;" \
    "INSERT INTO ends VALUES (2, '" kind "', '" end "', 400, 0, 400 * " ns ", 0);"

/* Requests that a thing served one after the other, each for 10 ms, with four inside at once. */
#define ONE_BY_ONE \
    "UPDATE server_requests SET handle_ns = 40000000, backend_ns = 40000000 - (key = 1) * " \
    "30000000, backend = 'http://127.0.0.1:1/', checks_ns = 0, upload_ns = 0;"

/* So many events of Apache's processes, a second after the load's start. */
#define LIFE(event, count) \
    "INSERT INTO lifecycle (server_id, key, time_ns, event, kind) SELECT 1, " \
    "1000 * length('" event "') + key, (SELECT started_ns FROM runs) + " \
    "1000000000, '" event "', 'child' FROM server_requests WHERE key <= " count ";"

/* A restart a second after the load's start; a child of before ends 0.7 s after it. */
#define OLD_CHILD \
    "UPDATE samples SET forks = 0, idle = 0, generations = 1; UPDATE samples SET forks = 9, " \
    "generations = 2 WHERE moment = 'after'; INSERT INTO lifecycle (server_id, key, time_ns, " \
    "event, kind, generation) SELECT 1, 1, started_ns + 1000000000, 'generation', NULL, 1 FROM " \
    "runs UNION ALL SELECT 1, 2, started_ns + 1700000000, 'exit', 'child', 0 FROM runs;"

/* A PHP-FPM that is stopped a second after the load's start. */
#define STOPPED \
    "UPDATE servers SET sapi = 'fpm-fcgi' WHERE id = 2;" \
    "INSERT INTO lifecycle (server_id, key, time_ns, event, reason) SELECT 2, 0, " \
    "started_ns + 1000000000, 'stopped', 'clean' FROM runs;"

/* A control group that uses `bytes` of 81 MB, and waited for memory. */
#define SHORT(bytes, stall_ns) \
    "UPDATE samples SET group_memory_bytes = " bytes ", group_memory_limit_bytes = 81000000 " \
    "WHERE server_id = 1; UPDATE servers SET cgroup = '/g', oom_kills = 0, memory_stall_ns = " \
    stall_ns " WHERE id = 1"

/* Programs of this machine waited for a disk nearly all the time. */
#define DISK \
    "UPDATE machine_samples SET io_stall_ns = 0;" \
    "UPDATE machine_samples SET io_stall_ns = 3900000000 WHERE moment = 'end';"

#define HEY(requests) \
    "UPDATE runs SET tool = 'hey'; UPDATE client_results SET requests = " requests ";"
#define BUSY_CPUS "UPDATE machine_samples SET busy_ns = total_ns;"

static const struct { const char *sql, *codes; } found[] = {
    { "UPDATE server_requests SET status = 404", "answers-4xx" },
    { "UPDATE server_requests SET status = 404 WHERE key = 1", "nothing answers-4xx" },
    { "UPDATE server_requests SET status = 503, backend = 'fcgi://x' WHERE key % 10 = 0",
      "answers-5xx" },
    { "UPDATE server_requests SET status = 500 WHERE key = 1", "answers-5xx" },
    { "UPDATE server_requests SET aborted = 1 WHERE key BETWEEN 100 AND 200", "client-aborts" },
    /* The load tool's end closes connections, too. */
    { "UPDATE server_requests SET aborted = 1 WHERE key > 395", "nothing" },
    { "UPDATE client_results SET failed = 40, failed_connect = 40", "client-errors" },
    { "UPDATE client_results SET failed = 400, failed_length = 400", "nothing answers-length" },
    /* Of two kinds, each too few to come first: together they are not. */
    { BUSY_CPUS "UPDATE client_results SET failed = 16, failed_connect = 8, failed_receive = 8",
      "client-errors cpu" },
    { BUSY_CPUS "UPDATE client_results SET failed = 8, failed_connect = 4, failed_receive = 4",
      "cpu client-errors" },
    { "UPDATE client_results SET failed = 16, failed_timeout = 16", "client-aborts" },
    { "UPDATE client_results SET requests = 0, failed = 0", "client-errors" },
    /* hey's rows leave out what failed. */
    { HEY("340, failed = 60"), "client-aborts" },       /* the server completed them */
    { HEY("400, failed = 60"), "client-errors" },
    { HEY("340, failed = NULL"), "client-aborts" },     /* nor is it known how many there were */
    { HEY("400, failed = NULL"), "nothing" },
    { HEY("0, failed = 400"), "client-aborts" },
    /* siege counts answers with 5xx among the failed ones. */
    { "UPDATE runs SET tool = 'siege'; UPDATE client_results SET requests = 200, failed = 200; "
      "UPDATE server_requests SET status = 503 WHERE key % 2 = 0", "answers-5xx" },
    /* Redirects: all answers, half of them, and those that the tool follows as one request. */
    { "UPDATE server_requests SET status = 301", "answers-3xx" },
    { "UPDATE server_requests SET status = 304", "nothing" },
    { "UPDATE server_requests SET status = 301 WHERE key % 2 = 0", "nothing" },
    { HEY("200, failed = 0, mean_ns = 17000000")
      "UPDATE server_requests SET status = 302 WHERE key % 2 = 0", "answers-3xx" },
    { HEY("400, failed = 0") "UPDATE server_requests SET status = 302 WHERE key % 9 = 0",
      "nothing" },
    { HEY("200, failed = 0") "UPDATE server_requests SET status = 302 + key % 2 * 102",
      "answers-4xx answers-3xx" },
    { "UPDATE runs SET complete = 0, outcome = 'failed', exit_status = 1",
      "load-cut-short nothing" },
    { "UPDATE samples SET unfinished = 0; UPDATE samples SET unfinished = 3 WHERE moment = 'after'",
      "requests-died" },
    { "UPDATE samples SET generations = 1; UPDATE samples SET generations = 2 WHERE "
      "moment = 'after'", "server-restarted" },
    { PHP "UPDATE php_requests SET wait_ns = 0, fatal = 1, status = 500 WHERE key % 3 = 0;"
      "UPDATE php_requests SET wait_ns = 0;"
      "UPDATE server_requests SET status = 500 WHERE key % 3 = 0", "php-fatal answers-5xx" },
    { PHP STOPPED "UPDATE server_requests SET status = 503, backend = "
      "'unix:/run/php.sock|fcgi://localhost' WHERE start_ns > (SELECT started_ns + 1000000000 FROM "
      "runs)", "php-down" },
    { PHP STOPPED, "php-workers" },   /* no request missed it */
    { PHP WAITS("database", "mysql db:3306", "100000000"), "database" },
    { PHP WAITS("dns", "dns", "100000000"), "dns" },
    { PHP WAITS("lock", "lock session", "100000000"), "lock" },
    { PHP WAITS("file", "file", "100000000"), "file" },
    { ONE_BY_ONE, "backend" },
    { "UPDATE server_requests SET checks_ns = 60000000, handle_ns = 65000000, upload_ns = 0, "
      "backend_ns = 0", "checks" },
    { "UPDATE server_requests SET upload_ns = 60000000, handle_ns = 65000000, checks_ns = 0, "
      "backend_ns = 0", "slow-upload" },
    { "UPDATE server_requests SET tls_ns = 30000000, read_ns = 30000000, checks_ns = 0", "tls" },
    { "UPDATE server_requests SET h2_wait_ns = 30000000, queue_ns = 30000000, checks_ns = 0",
      "h2-workers" },
    { "UPDATE server_requests SET log_ns = 30000000, checks_ns = 1", "logging" },
    { "UPDATE server_requests SET send_ns = 90000000, send_client_ns = 80000000, "
      "send_network_ns = 1000000, send_server_ns = 0, checks_ns = 1", "slow-clients" },
    { "UPDATE server_requests SET send_ns = 90000000, send_client_ns = 1000000, "
      "send_network_ns = 80000000, send_server_ns = 0, checks_ns = 1", "slow-network" },
    { "UPDATE server_requests SET send_ns = 90000000, send_client_ns = 0, send_network_ns = 0, "
      "send_server_ns = 90000000, checks_ns = 1", "server-paced" },
    { "UPDATE server_requests SET handle_ns = 900000000 WHERE key % 50 = 0", "tail" },
    { "INSERT INTO process_samples VALUES (1, 1, 7, 1000, 1, 60, 60, NULL);"
      "UPDATE server_requests SET status = 503 WHERE key % 2 = 0", "descriptors answers-5xx" },
    { "INSERT INTO process_samples VALUES (1, 1, 7, 1000, 1, 30, 60, NULL)", "nothing" },
    { "INSERT INTO port_samples VALUES (1, 1, '127.0.0.1:9', 28230, 28232);"
      "UPDATE server_requests SET status = 503 WHERE key % 2 = 0", "local-ports answers-5xx" },
    { "UPDATE samples SET exits = 0, forks = 0; UPDATE samples SET exits = 100, forks = 100 WHERE "
      "moment = 'after'", "child-churn" },
    { "UPDATE samples SET in_flight = 0; UPDATE samples SET in_flight = 4 WHERE moment = 'after'",
      "stuck-requests" },
    /* A server that was stopped and started has two boards. Its journals tell which requests
     * died. */
    { PHP "UPDATE php_requests SET wait_ns = 100000; UPDATE servers SET restarts = 1 WHERE id = 2;"
      "UPDATE samples SET unfinished = 0 WHERE server_id = 2;"
      "INSERT INTO lifecycle (server_id, key, time_ns, event, kind, unfinished, reason) SELECT 2, "
      "key, start_ns, 'exit', 'php', 1, 'killed' FROM php_requests WHERE key BETWEEN 100 AND 103",
      "server-restarted requests-died" },
    /* Requests that waited for the restart waited for nothing else. */
    { "UPDATE samples SET forks = 0, generations = 1; UPDATE samples SET forks = 9, generations = "
      "2 WHERE moment = 'after';" LIFE("generation", "1")
      "UPDATE server_requests SET queue_ns = 900000000 WHERE key BETWEEN 120 AND 130",
      "server-restarted tail" },
    /* Those that a child of the generation before has a slot for, too, and no later ones. */
    { OLD_CHILD "UPDATE server_requests SET queue_ns = 900000000 WHERE key BETWEEN 320 AND 330",
      "server-restarted tail" },
    { OLD_CHILD "UPDATE server_requests SET queue_ns = 900000000 WHERE key BETWEEN 380 AND 390",
      "apache-spawning server-restarted tail" },
    /* Processes were started, but there were idle ones all the time; unless those had ended. */
    { "UPDATE samples SET forks = 0, idle = 9; UPDATE samples SET forks = 9 WHERE moment = "
      "'after'; UPDATE server_requests SET queue_ns = 24000000", "cannot-tell" },
    { "UPDATE samples SET forks = 0, exits = 0, idle = 9; UPDATE samples SET forks = 9, exits = 9 "
      "WHERE moment = 'after'; UPDATE server_requests SET queue_ns = 24000000",
      "apache-spawning" },
    { "UPDATE samples SET forks = 0, idle = 0; UPDATE samples SET forks = 9 WHERE moment = "
      "'after'; UPDATE server_requests SET queue_ns = 24000000", "apache-spawning" },
    /* Of all slow requests, most began in the same second. */
    { "UPDATE server_requests SET handle_ns = 300000000 + key * 1000000 WHERE key BETWEEN 120 AND "
      "149", "tail" },
    /* Files are read again where the group has no room to keep them. */
    { PHP WAITS("file", "file", "100000000") SHORT("80000000", "200000000"), "memory file" },
    { PHP WAITS("file", "file", "100000000") SHORT("80000000", "0"), "file" },
    { PHP WAITS("file", "file", "100000000") SHORT("8000000", "200000000"), "file" },
    /* A disk is busy for whose bytes are most. */
    { PHP WAITS("file", "file", "100000000") DISK "INSERT INTO programs VALUES (1, 'php-fpm', "
      "1000000, 'server', 90000000), (1, 'dd', 1000000, 'other', 9000000)", "disk file" },
    { PHP WAITS("file", "file", "100000000") DISK "INSERT INTO programs VALUES (1, 'php-fpm', "
      "1000000, 'server', 9000000), (1, 'dd', 1000000, 'other', 90000000)", "disk-neighbour file" },
    { PHP WAITS("file", "file", "100000000") DISK "INSERT INTO programs VALUES (1, 'php-fpm', "
      "1000000, 'server', NULL), (1, 'dd', 1000000, 'other', 90000000)", "disk file" },
};

/* What the share of each code is a part of; of the others it is the requests' time. */
static const char *const shares_of[MST_CODE_COUNT] = {
    [MST_CODE_ANSWERS_4XX] = "requests", [MST_CODE_ANSWERS_5XX] = "requests",
    [MST_CODE_ANSWERS_LENGTH] = "requests", [MST_CODE_CLIENT_ABORTS] = "requests",
    [MST_CODE_CLIENT_ERRORS] = "requests", [MST_CODE_ANSWERS_3XX] = "requests",
    [MST_CODE_REQUESTS_DIED] = "requests",
    [MST_CODE_PHP_FATAL] = "requests", [MST_CODE_PHP_DOWN] = "requests",
    [MST_CODE_HELD_BY] = "held", [MST_CODE_LOGGING] = "held",
    [MST_CODE_STUCK_REQUESTS] = "workers", [MST_CODE_MEMORY] = "span",
    [MST_CODE_DISK] = "span", [MST_CODE_DISK_NEIGHBOUR] = "span",
};

static void expect_shares(const struct made *m)
{
    const struct mst_finding *f = m->s.findings;
    size_t i;

    for (i = 0; i < m->s.finding_count; i++)
        if (f[i].share_milli != MST_UNKNOWN)
            ck_assert_str_eq(mst_share_of_names[f[i].share_of], shares_of[f[i].code] != NULL ?
                             shares_of[f[i].code] : "time");
}

START_TEST(test_found)
{
    struct run r = quiet_run();
    struct made m;

    make(&m, &r, found[_i].sql);
    expect_codes(&m, found[_i].codes);
    expect_shares(&m);
    unmake(&m);
}
END_TEST

/* What has a cause is no other finding, too. */
static const struct { const char *sql; enum mst_code code; } not_found[] = {
    { "UPDATE runs SET tool = 'siege'; UPDATE client_results SET requests = 200, failed = 200; "
      "UPDATE server_requests SET status = 503 WHERE key % 2 = 0", MST_CODE_CLIENT_ERRORS },
    /* The client's 33 ms are those of two requests with 16 ms each. */
    { HEY("200, failed = 0, mean_ns = 33000000") "UPDATE server_requests SET handle_ns = 16000000, "
      "status = 200 + key % 2 * 102", MST_CODE_CLIENT_BEYOND_SERVER },
    /* Those that the server logged as aborted are the load tool's. */
    { "UPDATE client_results SET failed = 200, failed_receive = 200; UPDATE server_requests "
      "SET aborted = 1 WHERE key BETWEEN 100 AND 200", MST_CODE_CLIENT_ABORTS },
};

START_TEST(test_not_found)
{
    struct run r = quiet_run();
    struct made m;

    make(&m, &r, not_found[_i].sql);
    ck_assert_ptr_null(mst_findings_get(&m.s, not_found[_i].code, ""));
    unmake(&m);
}
END_TEST

/* What to do, in the imperative, with the script and for how long. */
static const struct { const char *sql, *action; } actions[] = {
    { PHP WAITS("sleep", "sleep", "100000000"),
      "Take sleep(), usleep() and similar calls out of the script, or shorten them. Begin with "
      "/i.php." },
    { "UPDATE runs SET duration_ns = 400000000",
      "Record at least 10.0 s: 10000 requests instead of 400." },
    { "UPDATE runs SET duration_ns = 400000000, tool = NULL", "Record at least 10.0 s." },
    { "UPDATE runs SET command_line = 'ab -n 9 ''http://a/?b=c'' x'; "
      "UPDATE server_requests SET status = 301",
      "Load the URL that the redirect leads to: curl -sI 'http://a/?b=c' shows it behind "
      "\"Location\"." },
    /* One in fifty works in the kernel, as it removes old sessions. */
    { PHP "UPDATE php_requests SET wait_ns = 0; UPDATE server_requests SET handle_ns = 900000000 "
      "WHERE key % 50 = 0; UPDATE php_requests SET run_ns = 800000000, user_ns = 100000000, "
      "system_ns = 700000000, cpu_wait_ns = 0, waits_ns = 0 WHERE key % 50 = 0",
      "Count the system calls of a worker (strace -c -f -p PID). Frequent causes: directories with "
      "many files (sessions, a cache), and memory that each request allocates again." },
};

START_TEST(test_actions)
{
    struct run r = quiet_run();
    struct made m;

    make(&m, &r, actions[_i].sql);
    ck_assert_str_eq(m.s.findings[0].action, actions[_i].action);
    unmake(&m);
}
END_TEST

/* The load tool's own words, of what it printed. */
START_TEST(test_words)
{
    struct run r = quiet_run();
    struct made m;

    make(&m, &r, HEY("340, failed = 60, failed_timeout = 60") "INSERT INTO output VALUES (1, "
         "'stdout', 90, CAST('Error distribution:' || char(10) || '  [60]' || char(9) || 'Get "
         "\"http://x/\": deadline' || char(27) || ' exceeded (Client.Timeout)' || "
         "char(10) AS BLOB))");
    expect_verdict(&m, "60 of 400 requests of hey got no answer: they took longer than it waits "
                   "(\"deadline? exceeded (Client.Timeout)\").");
    unmake(&m);
}
END_TEST

/* Thinned, an archive shows the same. */
START_TEST(test_found_of_a_thinned_archive)
{
    struct run r = quiet_run();
    struct made m;

    make_thinned(&m, &r, found[_i].sql);
    ck_assert_uint_lt(m.s.thinned_kept, m.s.thinned_of);
    expect_codes(&m, found[_i].codes);
    unmake(&m);
}
END_TEST

/* Findings for which one sample is enough, whichever it is: others have more workers that are busy,
 * and more connections. */
START_TEST(test_found_by_one_sample)
{
    static const struct { const char *others, *one, *codes; } faults[] = {
        { "forks = (moment = 'after') * 9, idle = 9, workers_busy = rowid % 5",
          "idle = 0, workers_busy = 1", "apache-spawning" },
        { "idle = 30, connections = 12 + rowid % 5, workers_busy = rowid % 5",
          "idle = 5, connections = 11, workers_busy = 0", "event-connections" },
        { "workers_limit = 400, idle = 10 - rowid % 2 * 5, connections = 34 + rowid % 2 * 25, "
          "workers_busy = rowid % 2 * 60;"
          "INSERT INTO environment VALUES (1, 'apache_settings', 'AsyncRequestWorkerFactor 4')",
          "idle = 5, connections = 50, workers_busy = 30", "event-connections" },
    };
    struct run r = quiet_run();
    struct made m;
    char sql[512];
    size_t i;

    r.queue_ns = 24 * MST_NS_PER_MS;
    for (i = 0; i < sizeof faults / sizeof *faults; i++) {
        snprintf(sql, sizeof sql, "UPDATE samples SET %s; UPDATE samples SET %s WHERE rowid = %d",
                 faults[i].others, faults[i].one, _i);
        make(&m, &r, sql);
        expect_codes(&m, faults[i].codes);
        unmake(&m);
        make_thinned(&m, &r, sql);
        expect_codes(&m, faults[i].codes);
        unmake(&m);
    }
}
END_TEST

#define FORKED    "UPDATE samples SET forks = (moment = 'after') * 3;"
#define FULL_FROM(ms) \
    "UPDATE samples SET no_idle_ns = max(0, time_ns - 1700000000000000000 - " ms "000000);"

#define PHP_WAITS_UNTIL_3500 \
    "UPDATE php_requests SET wait_ns = 0 WHERE start_ns > 1700000003500000000;"
#define WAITS_UNTIL_3500 \
    "UPDATE server_requests SET queue_ns = 0 WHERE start_ns > 1700000003470000000;"

#define SHOP_FULL_FROM_3500 POOLS \
    "UPDATE samples SET forks = (moment = 'after') * 3, workers_limit = 12 WHERE server_id = 2;" \
    "UPDATE pool_samples SET workers_busy = 1 + (time_ns > 1700000003500000000) " \
    "WHERE label = 'shop';"

/* The same of a pool, whose time at the limit its samples tell. */
START_TEST(test_a_pool_started_late)
{
    static const struct { const char *sql, *codes; } loads[] = {
        { SHOP_FULL_FROM_3500 "UPDATE php_requests SET wait_ns = 0 WHERE label = 'shop' AND "
          "start_ns > 1700000003400000000", "php-spawning" },
        { SHOP_FULL_FROM_3500, "php-workers" },
    };
    struct run r = quiet_run();
    struct made m;

    make(&m, &r, loads[_i].sql);
    expect_codes(&m, loads[_i].codes);
    unmake(&m);
}
END_TEST

/* All workers were busy in the end, but what requests waited passed before that. */
START_TEST(test_started_late)
{
    static const struct { bool php; const char *sql, *codes; } loads[] = {
        { true, PHP_WAITS_UNTIL_3500 FORKED FULL_FROM("3500"), "php-spawning" },
        { true, PHP_WAITS_UNTIL_3500 FORKED FULL_FROM("500"), "php-workers" },
        { true, FORKED FULL_FROM("3500"), "php-workers" },   /* they waited at the limit, too */
        /* No process was started meanwhile. */
        { true, PHP_WAITS_UNTIL_3500 FULL_FROM("3500"), "php-workers" },
        /* The time at the limit is not known. */
        { true, PHP_WAITS_UNTIL_3500 FORKED, "php-workers" },
        { false, WAITS_UNTIL_3500 FORKED FULL_FROM("3500"), "apache-spawning" },
        { false, WAITS_UNTIL_3500 FORKED FULL_FROM("500"), "apache-workers" },
        { false, FORKED FULL_FROM("3500"), "apache-workers" },
        /* Samples and requests have different clocks. */
        { false, WAITS_UNTIL_3500 FORKED FULL_FROM("3500") "UPDATE server_requests SET start_ns = "
                 "start_ns + 3600000000000", "apache-workers" },
    };
    struct run r = quiet_run();
    struct made m;
    char sql[4096];

    if (!loads[_i].php) {
        r.limit = r.busy;
        r.queue_ns = 24 * MST_NS_PER_MS;
    }
    snprintf(sql, sizeof sql, "%s%s", loads[_i].php ? PHP : "", loads[_i].sql);
    make(&m, &r, sql);
    expect_codes(&m, loads[_i].codes);
    unmake(&m);
}
END_TEST

/* Ten connections are all that event takes with five idle workers and a factor of one: what the
 * server's settings say decides, and without them it is only likely. */
START_TEST(test_connections_of_event)
{
    static const struct { const char *settings, *codes; enum mst_certainty certainty; } told[] = {
        { "INSERT INTO environment VALUES (1, 'apache_settings', 'AsyncRequestWorkerFactor 1.5; "
          "Timeout 60');", "event-connections", MST_CERTAIN },
        { "INSERT INTO environment VALUES (1, 'apache_settings', 'AsyncRequestWorkerFactor 4; "
          "Timeout 60');", "cannot-tell", MST_CANNOT_TELL },
        { "UPDATE samples SET connections = 11;", "event-connections", MST_LIKELY },
    };
    struct run r = quiet_run();
    struct made m;
    char sql[512];

    r.busy = 0;
    r.queue_ns = 24 * MST_NS_PER_MS;
    snprintf(sql, sizeof sql, "UPDATE samples SET idle = 5, connections = 10; %s",
             told[_i].settings);
    make(&m, &r, sql);
    expect_codes(&m, told[_i].codes);
    ck_assert_int_eq(m.s.findings[0].certainty, told[_i].certainty);
    unmake(&m);
}
END_TEST

/* A process that waits for a CPU sends as slowly as one with a rate limit: full CPUs come first,
 * and nobody is sent to look for a filter. With two threads that want a CPU, 0.5 s of CPU time do
 * not become 18 s. */
START_TEST(test_sending_under_full_cpus)
{
    static const char slow[] = "UPDATE server_requests SET send_ns = 90000000, send_client_ns = 0, "
                               "send_network_ns = 0, send_server_ns = 90000000, checks_ns = 1;"
                               "UPDATE machine_samples SET runnable = 40";
    static const char too_slow[] = "UPDATE server_requests SET send_ns = 90000000, send_client_ns "
                                   "= 0, send_network_ns = 0, send_server_ns = 90000000, "
                                   "checks_ns = 1; UPDATE machine_samples SET runnable = 2";
    struct run r = quiet_run();
    struct made m;
    const struct mst_finding *f;

    make(&m, &r, slow);
    expect_codes(&m, "server-paced");
    ck_assert_int_eq(m.s.findings[0].certainty, MST_CERTAIN);
    unmake(&m);
    r.machine_busy_ns = 2 * r.duration_ns;
    make(&m, &r, slow);
    f = mst_findings_get(&m.s, MST_CODE_SERVER_PACED, "");
    ck_assert_ptr_nonnull(f);
    ck_assert_ptr_ne(f, &m.s.findings[0]);
    ck_assert_int_eq(f->certainty, MST_LIKELY);
    ck_assert_str_eq(f->action, "");
    unmake(&m);
    make(&m, &r, too_slow);
    expect_codes(&m, "server-paced");
    ck_assert_int_eq(m.s.findings[0].certainty, MST_CERTAIN);
    unmake(&m);
}
END_TEST

/* In a load of quick requests five wait for 3 s for a database, and all that come meanwhile wait
 * for them: more workers would have waited there, too. */
START_TEST(test_a_stall_in_a_load)
{
    struct run r = quiet_run();
    const struct mst_finding *f;
    struct made m;

    make(&m, &r, PHP
         "UPDATE php_requests SET wait_ns = 0, waits_ns = 0, start_ns = start_ns + (key > 20) * "
         "3500000000 - (key > 20) * key * 9000000;"
         "UPDATE php_requests SET start_ns = (SELECT started_ns FROM runs) + 200000000, run_ns = "
         "3000000000, waits_ns = 2990000000 WHERE key BETWEEN 21 AND 25;"
         INTO_PHP_WAITS "SELECT 2, key, 'database', 'mysql db:3306', NULL, NULL, waits_ns "
         "FROM php_requests WHERE key BETWEEN 21 AND 25;"
         "UPDATE server_requests SET handle_ns = 3000000000, held_ns = 3000000000 WHERE key "
         "BETWEEN 21 AND 60");
    f = &m.s.findings[0];
    ck_assert_msg(f->code == MST_CODE_DATABASE, "%s", m.s.verdict);
    ck_assert_msg(strncmp(f->text, "PHP stood still from ", 21) == 0, "%s", f->text);
    unmake(&m);
}
END_TEST

/* A server that may use some of the CPUs only has used these up; the others are idle. */
START_TEST(test_few_cpus)
{
    static const struct { const char *allowed, *codes; } lists[] = {
        { "0", "cpu" }, { "0-1,4,6-7", "nothing" }, { "0-3", "nothing" }, { "1-x", "nothing" },
    };
    struct run r = quiet_run();
    char sql[200];
    struct made m;

    r.server_end.cpu_ns = r.duration_ns;
    snprintf(sql, sizeof sql, "INSERT OR REPLACE INTO environment VALUES (1, 'cpus', '8'), "
             "(1, 'apache_cpus_allowed', '%s')", lists[_i].allowed);
    make(&m, &r, sql);
    expect_codes(&m, lists[_i].codes);
    unmake(&m);
}
END_TEST

/* mod_php's processes are Apache's: under mpm_itk each connection has one. FPM's are its own. */
START_TEST(test_churn_of_apaches_php)
{
    static const char *const sapis[] = { "fpm-fcgi", "apache2handler" };
    const struct run r = quiet_run();
    char sql[4096];
    struct made m;

    snprintf(sql, sizeof sql, PHP "UPDATE servers SET sapi = '%s' WHERE id = 2;"
             "UPDATE samples SET exits = 0, forks = 0;"
             "UPDATE samples SET exits = 100, forks = 100 WHERE moment = 'after' "
             "AND server_id = 2;", sapis[_i]);
    make(&m, &r, sql);
    ck_assert_int_eq(mst_findings_get(&m.s, MST_CODE_CHILD_CHURN, "") != NULL, _i == 0);
    unmake(&m);
}
END_TEST

/* Processes that end for a restart do not live shortly; those of another time do. */
START_TEST(test_churn_of_a_restart)
{
    struct run r = quiet_run();
    struct made m;

    make(&m, &r, "UPDATE samples SET exits = 0, forks = 0, generations = 1;"
         "UPDATE samples SET exits = 100, forks = 100, generations = 2 WHERE moment = 'after';"
         LIFE("generation", "1") LIFE("exit", "100"));
    expect_codes(&m, "server-restarted");
    ck_assert_ptr_null(mst_findings_get(&m.s, MST_CODE_CHILD_CHURN, ""));
    unmake(&m);
    make(&m, &r, "UPDATE samples SET exits = 0, forks = 0, generations = 1;"
         "UPDATE samples SET exits = 100, forks = 100, generations = 2 WHERE moment = 'after';"
         LIFE("generation", "1"));
    expect_codes(&m, "server-restarted child-churn");
    unmake(&m);
    /* Nor do those of a server that was stopped. */
    make(&m, &r, "UPDATE samples SET exits = 0, forks = 0;"
         "UPDATE samples SET exits = 100, forks = 100 WHERE moment = 'after';"
         LIFE("stopped", "1") LIFE("exit", "100"));
    ck_assert_ptr_null(mst_findings_get(&m.s, MST_CODE_CHILD_CHURN, ""));
    unmake(&m);
}
END_TEST

/* Two labels on workers that ran out: one has the workers, the other waits for them. */
START_TEST(test_held_by)
{
    struct run r = quiet_run();
    struct made m;
    const struct mst_finding *f;

    r.busy = r.limit;
    r.queue_ns = 24 * MST_NS_PER_MS;
    make(&m, &r, "UPDATE server_requests SET label = 'slow', held_ns = 500000000 WHERE "
             "key % 10 = 0");
    expect_codes(&m, "held-by apache-workers");
    f = &m.s.findings[0];
    ck_assert_str_eq(f->subject, "slow");
    ck_assert_uint_eq(f->requests, 40);
    ck_assert_uint_eq(f->share_milli, 874);   /* 40 x 500 ms of 40 x 500 ms + 360 x 8 ms */
    expect_shares(&m);
    unmake(&m);
    /* Where nobody waited, nobody was kept. */
    r.busy = 1;
    r.queue_ns = 0;
    make(&m, &r, "UPDATE server_requests SET label = 'slow', held_ns = 500000000 WHERE "
             "key % 10 = 0");
    expect_codes(&m, "nothing");
    unmake(&m);
}
END_TEST

static const struct mst_finding *finding(const struct made *m, enum mst_code code)
{
    const struct mst_finding *f = mst_findings_get(&m->s, code, "");

    ck_assert_msg(f != NULL, "there is no %s: %s", mst_code_names[code], m->s.verdict);
    return f;
}

static uint64_t number(const struct mst_finding *f, const char *name)
{
    uint64_t value = mst_finding_number(f, name);

    ck_assert_msg(value != MST_UNKNOWN, "%s has no %s", mst_code_names[f->code], name);
    return value;
}

/* Within so many thousandths. */
static void expect_about(uint64_t value, uint64_t wanted, uint64_t milli)
{
    uint64_t apart = value > wanted ? value - wanted : wanted - value;

    ck_assert_msg(apart * 1000 <= milli * wanted, "%" PRIu64 ", not about %" PRIu64, value, wanted);
}

/* Four at once, ten milliseconds apart, and the first alone took ten: more workers cannot help. A
 * thing that is only slow has no such spacing. */
START_TEST(test_one_at_a_time)
{
    struct run r = quiet_run();
    struct made m;

    make(&m, &r, ONE_BY_ONE);
    ck_assert_uint_eq(number(finding(&m, MST_CODE_BACKEND), "one_at_a_time"), 1);
    unmake(&m);
    make(&m, &r, ONE_BY_ONE "UPDATE server_requests SET backend_ns = 40000000");
    ck_assert_uint_eq(number(finding(&m, MST_CODE_BACKEND), "one_at_a_time"), 0);
    unmake(&m);
    /* Two answers are sent together. */
    make(&m, &r, ONE_BY_ONE "UPDATE server_requests SET backend_ns = backend_ns + (1 - key % 2) "
         "* 10000000, handle_ns = handle_ns + (1 - key % 2) * 10000000");
    ck_assert_uint_eq(number(finding(&m, MST_CODE_BACKEND), "one_at_a_time"), 1);
    unmake(&m);
    /* Two workers, and what each calls takes about twice the distance of two ends. */
    make(&m, &r, ONE_BY_ONE "UPDATE server_requests SET backend_ns = 15000000 + key % 2 * "
         "9000000, handle_ns = 15000000 + key % 2 * 9000000");
    ck_assert_uint_eq(number(finding(&m, MST_CODE_BACKEND), "one_at_a_time"), 0);
    unmake(&m);
}
END_TEST

/* Time that nothing explains is told where it is the largest part, with whose it is. */
START_TEST(test_unseen)
{
    struct run r = quiet_run();
    const struct mst_finding *f;
    struct made m;

    make(&m, &r, "UPDATE server_requests SET handle_ns = 25000000, checks_ns = 0, upload_ns = 0, "
         "backend_ns = 0, send_ns = 60000000, send_client_ns = 20000000, send_network_ns = "
         "20000000, send_server_ns = 20000000; UPDATE server_requests SET label = 'b', handle_ns = "
         "250000000, send_ns = 0, send_client_ns = 0, send_network_ns = 0, send_server_ns = 0 "
         "WHERE key % 10 = 0");
    f = finding(&m, MST_CODE_CANNOT_TELL);
    ck_assert_uint_lt(f->share_milli, 500);
    ck_assert_msg(strstr(f->text, "what it did is not measured") != NULL, "%s", f->text);
    ck_assert_msg(strstr(f->text, " b has 52.") != NULL, "%s", f->text);
    unmake(&m);
    make(&m, &r, "UPDATE server_requests SET handle_ns = 25000000, checks_ns = 0, upload_ns = 0, "
         "backend_ns = 0, send_ns = 60000000, send_client_ns = 30000000, send_network_ns = "
         "30000000, send_server_ns = 0");
    ck_assert_ptr_null(mst_findings_get(&m.s, MST_CODE_CANNOT_TELL, ""));
    unmake(&m);
}
END_TEST

/* What the finding of that code says of a thinned archive: "one_at_a_time" is null, or 0. */
static void expect_one_at_a_time(const char *changes, enum mst_code code, bool is_known)
{
    struct run r = quiet_run();
    const struct mst_finding *f;
    json_t *root, *told;
    struct made m;

    make_thinned(&m, &r, changes);
    f = finding(&m, code);
    root = summary_as_json(&m.s);
    told = json_object_get(json_object_get(json_array_get(json_object_get(root, "findings"),
                                                          (size_t)(f - m.s.findings)),
                                           "numbers"), "one_at_a_time");
    ck_assert_msg(is_known ? json_is_integer(told) && json_integer_value(told) == 0
                           : json_is_null(told), "%s", f->text);
    ck_assert_msg((strstr(f->text, "a thinned archive does not tell whether it let in one request "
                                   "at a time") == NULL) == is_known, "%s", f->text);
    ck_assert_msg((strstr(f->action, "not thinned tells whether more workers can help: report a "
                                     "later time") == NULL) == is_known, "%s", f->action);
    ck_assert_ptr_null(strstr(f->text, "; it let in one request at a time"));
    json_decref(root);
    unmake(&m);
}

/* Whether ends of waits follow each other takes all of them. How many wait at once does not: where
 * that is less than two, nothing is left to be known. */
START_TEST(test_one_at_a_time_of_a_thinned_archive)
{
    expect_one_at_a_time(ONE_BY_ONE, MST_CODE_BACKEND, false);
    expect_one_at_a_time(ONE_BY_ONE "UPDATE server_requests SET backend_ns = 15000000, handle_ns = "
                         "15000000", MST_CODE_BACKEND, true);
    expect_one_at_a_time(PHP WAITS("database", "mysql db:3306", "100000000"), MST_CODE_DATABASE,
                         false);
    expect_one_at_a_time(PHP WAITS("dns", "dns", "15000000") "UPDATE php_requests SET run_ns = "
                         "17000000", MST_CODE_DNS, true);
}
END_TEST

/* Where each request of a thinned archive stands for itself, no end is missing. */
START_TEST(test_one_at_a_time_of_few_requests)
{
    struct run r = quiet_run();
    struct made m;

    make_thinned(&m, &r, ONE_BY_ONE "UPDATE server_requests SET backend_ns = min(4, key) * "
                 "10000000; DELETE FROM server_requests WHERE key > 25");
    ck_assert_uint_eq(m.s.thinned_kept, 25);
    ck_assert_uint_eq(number(finding(&m, MST_CODE_BACKEND), "one_at_a_time"), 1);
    unmake(&m);
}
END_TEST

/* Workers ran out behind something of which it is not known whether more of them can help. */
START_TEST(test_advice_of_a_thinned_archive)
{
    static const char only_if[] = " That helps only if what they wait for lets in several at a "
                                  "time: a thinned archive does not tell.";
    struct run r = quiet_run();
    const struct mst_finding *f;
    struct made m;

    r.busy = r.limit;
    r.queue_ns = 40 * MST_NS_PER_MS;
    make_thinned(&m, &r, ONE_BY_ONE);
    f = finding(&m, MST_CODE_APACHE_WORKERS);
    ck_assert_msg(strstr(f->action, "Set MaxRequestWorkers to") != NULL &&
                  strstr(f->action, only_if) != NULL, "%s", f->action);
    check_output(&m.s);
    unmake(&m);
    make(&m, &r, ONE_BY_ONE);
    f = finding(&m, MST_CODE_APACHE_WORKERS);
    ck_assert_str_eq(f->action, "");
    ck_assert_int_eq(f->caused_by.code, MST_CODE_BACKEND);
    unmake(&m);
    make_thinned(&m, &r, NULL);
    f = finding(&m, MST_CODE_APACHE_WORKERS);
    ck_assert_ptr_null(strstr(f->action, only_if));
    unmake(&m);
}
END_TEST

/* Where records were lost, a longer run does not tell more. */
START_TEST(test_how_many_is_not_known)
{
    struct run r = quiet_run();
    const struct mst_finding *f;
    struct made m;

    r.limit = r.busy = 4;
    r.queue_ns = 40 * MST_NS_PER_MS;
    make(&m, &r, "UPDATE servers SET lost = 5");
    f = finding(&m, MST_CODE_APACHE_WORKERS);
    ck_assert_msg(strstr(f->action, "How high is not known: records of requests were lost") != NULL,
                  "%s", f->action);
    unmake(&m);
}
END_TEST

/* Where all is one script, the page is named: the Apache's path of PHP's request. What is not a
 * page's path, as "(other)", is none. */
START_TEST(test_which_page)
{
    struct run r = quiet_run();
    struct made m;
    const struct mst_finding *f;

    make(&m, &r, PHP WAITS("database", "mysql db:3306", "100000000")
         "UPDATE php_requests SET script = '/index.php';"
         "UPDATE php_waits SET wait_ns = 1000000 WHERE key % 10;"
         "UPDATE server_requests SET path = CASE WHEN key % 10 THEN '/' ELSE '/checkout' END");
    f = finding(&m, MST_CODE_DATABASE);
    ck_assert_uint_eq(number(f, "of_wait_milli"), 917);
    ck_assert_msg(strstr(f->text, " /checkout has 91.7 % of this wait, and 10.0 % of the requests")
                  != NULL, "%s", f->text);
    unmake(&m);
    make(&m, &r, PHP WAITS("database", "mysql db:3306", "100000000")
         "UPDATE php_waits SET wait_ns = 1000000 WHERE key % 10;"
         "UPDATE server_requests SET path = CASE WHEN key % 10 THEN '/' ELSE '(other)' END");
    f = finding(&m, MST_CODE_DATABASE);
    ck_assert_uint_eq(mst_finding_number(f, "of_wait_milli"), MST_UNKNOWN);
    unmake(&m);
    r.limit = r.busy = 4;
    r.queue_ns = 40 * MST_NS_PER_MS;
    make(&m, &r, "UPDATE server_requests SET held_ns = 1000000 * (1 + 99 * (key % 10 = 0)), "
         "path = CASE WHEN key % 10 THEN '/' ELSE '/checkout' END");
    f = finding(&m, MST_CODE_HELD_BY);
    ck_assert_str_eq(f->subject, "/checkout");
    ck_assert_msg(strncmp(f->text, "Requests for /checkout held 91.7 % of the busy workers' time "
                          "with 10.0 % of the requests.", 86) == 0, "%s", f->text);
    check_output(&m.s);
    unmake(&m);
}
END_TEST

/* A page that few ask for has nearly all of a wait; where all pages wait alike, no page is
 * named. */
START_TEST(test_whose_wait)
{
    struct run r = quiet_run();
    struct made m;
    const struct mst_finding *f;

    make(&m, &r, PHP WAITS("database", "mysql db:3306", "100000000")
         "UPDATE php_requests SET script = CASE WHEN key % 10 THEN '/a.php' ELSE '/b.php' END;"
         "UPDATE php_waits SET wait_ns = 1000000 WHERE key % 10");
    f = finding(&m, MST_CODE_DATABASE);
    ck_assert_uint_eq(number(f, "of_wait_milli"), 917);   /* 40 x 100 ms of that and 360 x 1 ms */
    ck_assert_uint_eq(number(f, "of_requests_milli"), 100);
    ck_assert_msg(strstr(f->text, "/b.php has 91.7 % of this wait, and 10.0 % of the requests") !=
                  NULL, "%s", f->text);
    unmake(&m);
    make(&m, &r, PHP WAITS("database", "mysql db:3306", "100000000")
         "UPDATE php_requests SET script = CASE WHEN key % 10 THEN '/a.php' ELSE '/b.php' END");
    f = finding(&m, MST_CODE_DATABASE);
    ck_assert_uint_eq(mst_finding_number(f, "of_wait_milli"), MST_UNKNOWN);
    unmake(&m);
    make(&m, &r, "UPDATE server_requests SET backend = 'http://127.0.0.1:1/', checks_ns = 0, "
         "upload_ns = 0, label = 'slow', handle_ns = 900000000, backend_ns = 900000000 "
         "WHERE key % 10 = 0");
    f = finding(&m, MST_CODE_BACKEND);
    ck_assert_uint_eq(number(f, "of_wait_milli"), 1000);
    ck_assert_msg(strstr(f->text, "slow has 100.0 % of this wait") != NULL, "%s", f->text);
    unmake(&m);
}
END_TEST

/* PHP stood still for as long as requests waited, not since the one that ended a minute before. */
START_TEST(test_a_stall_after_a_quiet_minute)
{
    struct run r = quiet_run();
    const struct mst_finding *f;
    struct made m;

    make(&m, &r, PHP
         "UPDATE runs SET command_line = NULL, tool = NULL;"
         "UPDATE server_requests SET start_ns = start_ns + 60000000000, handle_ns = 5010000000 "
         "WHERE key > 396;"
         "UPDATE php_requests SET start_ns = start_ns + 60000000000, run_ns = 5000000000, "
         "waits_ns = 4900000000 WHERE key > 396;"
         INTO_PHP_WAITS "SELECT 2, key, 'database', 'mysql db:3306', NULL, NULL, waits_ns "
         "FROM php_requests WHERE key > 396;"
         "INSERT INTO ends VALUES (2, 'database', 'mysql db:3306', 4, 0, 19600000000, 0);"
         "UPDATE server_requests SET path = CASE WHEN key > 396 THEN '/slow' ELSE '/' END;"
         "UPDATE php_requests SET script = '/index.php'");
    f = finding(&m, MST_CODE_DATABASE);
    ck_assert_msg(strncmp(f->text, "PHP stood still from ", 21) == 0, "%s", f->text);
    ck_assert_msg(strstr(f->text, ": 4 requests (all for /slow) waited for ") != NULL, "%s",
                  f->text);
    ck_assert_uint_eq(number(f, "stood_still_ns"), 5 * MST_NS_PER_S);
    ck_assert_uint_eq(f->requests, 4);
    unmake(&m);
}
END_TEST

static uint64_t setting(const struct mst_finding *f, const char *name)
{
    size_t i;

    for (i = 0; i < f->changes.count; i++)
        if (strcmp(f->changes.settings[i].name, name) == 0)
            return strtoull(f->changes.settings[i].to, NULL, 10);
    return MST_UNKNOWN;
}

/* Apache lowers what is not a multiple of ThreadsPerChild, and what ServerLimit does not allow:
 * whatever these are, what is advised is what will be in force. */
START_TEST(test_settings_of_apache)
{
    static const unsigned each[] = { 1, 2, 3, 4, 6 }, limits[] = { 1, 2, 5, 16, 256 };
    unsigned threads = each[_i / 5], limit = limits[_i % 5];
    struct run r = quiet_run();
    const struct mst_finding *f;
    struct made m;
    uint64_t workers, processes;
    char sql[512];

    r.limit = r.busy = threads;
    r.queue_ns = 24 * MST_NS_PER_MS;
    snprintf(sql, sizeof sql, "UPDATE servers SET mpm = 'event'; INSERT INTO environment VALUES "
             "(1, 'apache_settings', 'MaxRequestWorkers %u; ThreadsPerChild %u; ServerLimit %u'); "
             "INSERT INTO settings VALUES (1, NULL, 'MaxRequestWorkers', '%u', "
             "'/etc/apache2/mods-enabled/mpm_event.conf', 9); "
             "UPDATE servers SET config_file = '/etc/apache2/apache2.conf', config_check = "
             "'apachectl configtest' WHERE id = 1", threads, threads, limit, threads);
    make(&m, &r, sql);
    f = finding(&m, MST_CODE_APACHE_WORKERS);
    workers = setting(f, "MaxRequestWorkers");
    ck_assert_msg(workers != MST_UNKNOWN, "%s", f->action);
    ck_assert_uint_gt(workers, threads);
    ck_assert_uint_eq(workers, number(f, "workers_advised"));
    ck_assert_uint_eq(workers % threads, 0);
    processes = workers / threads;
    if (processes > limit) {
        ck_assert_uint_eq(setting(f, "ServerLimit"), processes);
        ck_assert_msg(strstr(f->action, "then stop and start it:") != NULL, "%s", f->action);
    } else {
        ck_assert_uint_eq(setting(f, "ServerLimit"), MST_UNKNOWN);
        ck_assert_msg(strstr(f->action, "then reload.") != NULL, "%s", f->action);
    }
    ck_assert_str_eq(f->changes.settings[0].file, "/etc/apache2/mods-enabled/mpm_event.conf");
    ck_assert_uint_eq(f->changes.settings[0].line, 9);
    ck_assert_str_eq(f->changes.check, "apachectl configtest");
    unmake(&m);
}
END_TEST

/* What waited is counted, too: only as many from the start as were busy would start too slowly
 * again. */
START_TEST(test_spare_processes)
{
    static const struct { const char *queue, *to; } loads[] = { { "3", "3" }, { "6", "6" },
                                                                { "30", "30" } };
    struct run r = quiet_run();
    const struct mst_finding *f;
    struct made m;
    char sql[640];

    snprintf(sql, sizeof sql, "UPDATE samples SET forks = 0, idle = 0, listen_queue = %s; UPDATE "
             "samples SET forks = 9 WHERE moment = 'after'; UPDATE server_requests SET queue_ns = "
             "24000000; INSERT INTO environment VALUES (1, 'apache_settings', 'MaxRequestWorkers "
             "10; StartServers 1; MinSpareServers 1; MaxSpareServers 10'); UPDATE servers SET "
             "mpm = 'prefork', config_file = '/etc/apache2/apache2.conf' WHERE id = 1; "
             "UPDATE client_results SET concurrency = NULL", loads[_i].queue);
    make(&m, &r, sql);
    f = finding(&m, MST_CODE_APACHE_SPAWNING);
    ck_assert_uint_eq(setting(f, "StartServers"), strtoul(loads[_i].to, NULL, 10));
    ck_assert_uint_eq(setting(f, "MinSpareServers"), strtoul(loads[_i].to, NULL, 10));
    unmake(&m);
}
END_TEST

#define POOL_FILE(children) \
    "INSERT INTO settings VALUES (2, 'shop', 'pm', 'dynamic', '/etc/pool.d/shop.conf', 2), " \
    "(2, 'shop', 'pm.max_children', '" children "', '/etc/pool.d/shop.conf', 3), " \
    "(2, 'shop', 'pm.min_spare_servers', '1', '/etc/pool.d/shop.conf', 4), " \
    "(2, 'shop', 'pm.max_spare_servers', '2', '/etc/pool.d/shop.conf', 5); " \
    "UPDATE servers SET config_file = '/etc/fpm.conf', config_check = 'php-fpm8.2 -t' " \
    "WHERE id = 2;"

/* Of a pool nothing is said where its file is not what FPM has read. */
START_TEST(test_settings_of_a_pool)
{
    struct run r = quiet_run();
    const struct mst_finding *f;
    struct made m;

    make(&m, &r, SHOP_FULL_FROM_3500 "UPDATE php_requests SET wait_ns = 400000000 WHERE "
         "label = 'shop';" POOL_FILE("2"));
    f = finding(&m, MST_CODE_PHP_WORKERS);
    ck_assert_str_eq(f->subject, "shop");
    ck_assert_uint_eq(setting(f, "pm.max_children"), number(f, "workers_advised"));
    ck_assert_str_eq(f->changes.settings[0].file, "/etc/pool.d/shop.conf");
    ck_assert_str_eq(f->changes.settings[0].section, "shop");
    ck_assert_uint_eq(setting(f, "pm.start_servers"), number(f, "workers_advised"));
    ck_assert_uint_eq(setting(f, "pm.max_spare_servers"), number(f, "workers_advised"));
    ck_assert_str_eq(f->changes.check, "php-fpm8.2 -t");
    unmake(&m);
    make(&m, &r, SHOP_FULL_FROM_3500 POOL_FILE("3"));
    f = finding(&m, MST_CODE_PHP_WORKERS);
    ck_assert_uint_eq(f->changes.count, 0);
    ck_assert_str_eq(f->changes.check, "");
    unmake(&m);
}
END_TEST

/* Ten workers, each of which has a request for 80 ms, and 20 clients of ab: 125 a second, or 120
 * with the time that the last ones take. */
static struct run half_the_workers(void)
{
    struct run r = quiet_run();

    r.busy = r.limit;
    r.requests = r.counted = 500;
    r.queue_ns = r.handle_ns = 80 * MST_NS_PER_MS;
    r.machine_busy_ns = r.duration_ns / 4;
    return r;
}
#define OF_160_MS "UPDATE client_results SET mean_ns = 160000000, p50_ns = 160000000, " \
                  "p99_ns = 160000000;"

/* With a worker each 20 / 80 ms. */
START_TEST(test_advice)
{
    struct run r = half_the_workers();
    const struct mst_finding *f;
    struct made m;

    make(&m, &r, OF_160_MS);
    f = finding(&m, MST_CODE_APACHE_WORKERS);
    ck_assert_uint_eq(number(f, "workers_advised"), 20);
    ck_assert_uint_eq(number(f, "wanted"), 20);
    ck_assert_msg(strncmp(f->action, "Set MaxRequestWorkers to 20 (now 10): 20 requests", 48) == 0,
                  "%s", f->action);
    expect_about(number(f, "predicted_rate_milli"), 240000, 60);
    expect_about(number(f, "predicted_p50_ns"), 80 * MST_NS_PER_MS, 60);
    ck_assert_msg(strstr(f->predicted, " requests/s (") != NULL &&
                  strstr(f->predicted, ") instead of 120, p50 ") != NULL, "%s", f->predicted);
    unmake(&m);
}
END_TEST

/* Each request takes 12 ms of the two CPUs: these are full at 167 a second, which needs 13.3
 * workers, and some more as requests do not come in turn. */
START_TEST(test_advice_within_the_cpus)
{
    struct run r = half_the_workers();
    const struct mst_finding *f;
    struct made m;

    r.machine_busy_ns = 61 * SECOND / 10;
    r.server_end.cpu_ns = 6 * SECOND;
    make(&m, &r, OF_160_MS "UPDATE server_requests SET handle_ns = 40000000 + key * 37 % 81 * "
         "1000000; UPDATE server_requests SET held_ns = handle_ns");
    f = finding(&m, MST_CODE_APACHE_WORKERS);
    ck_assert_uint_ge(number(f, "workers_advised"), 13);
    ck_assert_uint_lt(number(f, "workers_advised"), 20);
    ck_assert_uint_eq(number(f, "wanted"), 20);
    ck_assert_msg(strstr(f->action, "; from there on the CPUs are the limit.") != NULL, "%s",
                  f->action);
    expect_about(number(f, "predicted_rate_milli"), 158000, 40);
    unmake(&m);
}
END_TEST

/* What was measured is not what a server of these limits does: nothing is predicted, and how many
 * wanted to be served at once is known. */
START_TEST(test_advice_without_a_prediction)
{
    struct run r = half_the_workers();
    const struct mst_finding *f;
    struct made m;

    r.queue_ns = 24 * MST_NS_PER_MS;
    r.handle_ns = 8 * MST_NS_PER_MS;
    make(&m, &r, NULL);
    f = finding(&m, MST_CODE_APACHE_WORKERS);
    ck_assert_uint_eq(number(f, "workers_advised"), 20);
    ck_assert_uint_eq(mst_finding_number(f, "predicted_rate_milli"), MST_UNKNOWN);
    ck_assert_str_eq(f->predicted, "");
    unmake(&m);
}
END_TEST

/* Half of the requests come to PHP, for 100 ms after a wait of 150 ms; the others are static. */
#define HALF_TO_PHP PHP \
    "DELETE FROM php_requests WHERE key % 2 = 1;" \
    "UPDATE server_requests SET handle_ns = 260000000, held_ns = 270000000 WHERE key % 2 = 0;" \
    "UPDATE php_requests SET start_ns = start_ns - 6500000 + 155000000, wait_ns = 150000000, " \
    "run_ns = 100000000; UPDATE client_results SET concurrency = NULL;"

/* 188 of the 200 end in the 3.985 s from the first hand-over on: 47.2/s x (100 ms + 150 ms) are
 * 11.8 at once; an uneven load has more at times. How long the tool took to start is not a part. */
START_TEST(test_advice_for_a_share)
{
    static const struct { const char *sql; uint64_t wanted; const char *action; } loads[] = {
        { HALF_TO_PHP, 12, "Set pm.max_children to 12 (now 5): 12 requests wanted to be served at "
          "once." },
        { HALF_TO_PHP "UPDATE runs SET started_ns = started_ns - 4000000000, "
          "duration_ns = 8000000000", 12, "Set pm.max_children to 12 (now 5): 12 requests wanted "
          "to be served at once." },
        { HALF_TO_PHP "UPDATE samples SET in_flight = 5, listen_queue = 15, "
          "listen_queue_limit = 511 WHERE server_id = 2", 20,
          "Set pm.max_children to 20 (now 5): up to 20 requests wanted to be served at once (11.8 "
          "on average)." },
    };
    struct run r = quiet_run();
    const struct mst_finding *f;
    struct made m;
    size_t i;

    for (i = 0; i < sizeof loads / sizeof *loads; i++) {
        make(&m, &r, loads[i].sql);
        f = finding(&m, MST_CODE_PHP_WORKERS);
        ck_assert_uint_eq(number(f, "wanted"), loads[i].wanted);
        ck_assert_msg(strncmp(f->action, loads[i].action, strlen(loads[i].action)) == 0, "%s",
                      f->action);
        unmake(&m);
    }
}
END_TEST

/* 25 clients for 4 s, each of whose requests waits for 400 ms and runs for 100 ms; then a pause,
 * and one request more: over all of the time there are less than half as many at once. */
START_TEST(test_advice_for_a_burst)
{
    struct run r = quiet_run();
    const struct mst_finding *f;
    struct made m;

    r.machine_busy_ns /= 20;
    make(&m, &r, PHP
         "UPDATE server_requests SET start_ns = (SELECT started_ns FROM runs) + key * 20000000 + "
         "(key = 200) * 14000000000, queue_ns = 0, read_ns = 0, handle_ns = 500000000, send_ns = "
         "0, held_ns = 500000000; UPDATE runs SET duration_ns = 18500000000, ended_ns = started_ns "
         "+ 18500000000; UPDATE client_results SET concurrency = NULL; UPDATE php_requests SET "
         "start_ns = (SELECT start_ns + 400000000 FROM server_requests s WHERE s.request_id = "
         "php_requests.request_id), wait_ns = 400000000, run_ns = 100000000");
    f = finding(&m, MST_CODE_PHP_WORKERS);
    ck_assert_uint_eq(number(f, "wanted"), 25);
    ck_assert_uint_eq(mst_finding_number(f, "predicted_rate_milli"), MST_UNKNOWN);
    ck_assert_msg(strstr(f->action, "Set pm.max_children to 25 (now 5): up to 25 requests wanted "
                         "to be served at once (10.") != NULL, "%s", f->action);
    unmake(&m);
}
END_TEST

/* Another Apache that served the same. */
#define PEER(id, name) \
    "INSERT INTO servers (id, run_id, target, producer, local, lost, restarts, name) SELECT " id \
    ", run_id, '" name "', producer, local, lost, restarts, '" name "' FROM servers WHERE id = 1;" \
    "INSERT INTO server_requests (server_id, key, start_ns, queue_ns, read_ns, handle_ns, " \
    "send_ns, held_ns, bytes, label, status, aborted, no_worker, ghost) SELECT " id ", key, " \
    "start_ns, queue_ns, read_ns, handle_ns, send_ns, held_ns, bytes, label, status, aborted, " \
    "no_worker, " \
    "ghost FROM server_requests WHERE server_id = 1;" \
    "INSERT INTO samples (server_id, time_ns, moment, workers_limit, workers_busy, idle_ns, " \
    "reading_ns, handling_ns, sending_ns, keepalive_ns, closing_ns, in_flight, requests) SELECT " \
    id ", time_ns, moment, workers_limit, workers_busy, idle_ns, reading_ns, handling_ns, " \
    "sending_ns, keepalive_ns, closing_ns, in_flight, requests FROM samples WHERE server_id = 1;"
#define THREE PEER("2", "b") PEER("3", "c")

#define SLOW_BACKEND "UPDATE server_requests SET backend = 'http://127.0.0.1:1/', checks_ns = 0, " \
    "upload_ns = 0, handle_ns = 900000000, backend_ns = 900000000, held_ns = 900000000 "
#define FAILING "UPDATE server_requests SET status = 500 WHERE key % 5 = 0 AND server_id "

/* What one of three has is said of that one, what several have is said once. */
static const struct {
    const char *sql;
    enum mst_code code;
    size_t servers;
    const char *begins;             /* its text and the verdict */
} whose[] = {
    { THREE SLOW_BACKEND "WHERE server_id = 2", MST_CODE_BACKEND, 1,
      "b: Apache waited for its backend for 900 ms a request" },
    { THREE SLOW_BACKEND, MST_CODE_BACKEND, 3, "All 3 servers, " },
    { PEER("2", "b") PEER("3", "c") PEER("4", "d") SLOW_BACKEND "WHERE server_id < 3",
      MST_CODE_BACKEND, 2, "b and " },
    /* A neighbour that answers three requests is not a second server. */
    { PEER("2", "b") "DELETE FROM server_requests WHERE server_id = 2 AND key > 3;" SLOW_BACKEND,
      MST_CODE_BACKEND, 0, "Apache waited for its backend" },
    { THREE FAILING "= 3", MST_CODE_ANSWERS_5XX, 1, "c: " },
    { THREE FAILING "> 1", MST_CODE_ANSWERS_5XX, 2, "b and c: " },
};

START_TEST(test_whose_finding)
{
    struct run r = quiet_run();
    const struct mst_finding *f = NULL;
    struct made m;
    size_t i, times = 0;

    make(&m, &r, whose[_i].sql);
    for (i = 0; i < m.s.finding_count; i++)
        if (m.s.findings[i].code == whose[_i].code) {
            f = &m.s.findings[i];
            times++;
        }
    ck_assert_uint_eq(times, 1);
    ck_assert_uint_eq(f->servers, whose[_i].servers);
    ck_assert_msg(strstr(m.s.verdict, whose[_i].begins) == m.s.verdict, "%s", m.s.verdict);
    ck_assert_msg(strstr(f->text, whose[_i].begins) == f->text, "%s", f->text);
    unmake(&m);
}
END_TEST

static const struct mst_finding *odd_one(const struct made *m)
{
    const struct mst_finding *odd = NULL;
    size_t i;

    for (i = 0; i < m->s.finding_count; i++)
        if (m->s.findings[i].code == MST_CODE_ODD_SERVER) {
            ck_assert_ptr_null(odd);
            odd = &m->s.findings[i];
        }
    return odd;
}

/* What is planted in one of three; in what it is odd, NULL: it is not. */
static const struct { const char *sql, *subject, *words; } peers[] = {
    { THREE, NULL, NULL },
    { THREE "UPDATE samples SET workers_limit = 5 WHERE server_id = 3", "c",
      "It has 5 workers (MaxRequestWorkers) where most have 10" },
    { THREE "UPDATE server_requests SET handle_ns = handle_ns + 40000000 WHERE server_id = 2", "b",
      "Half of its requests took" },
    { THREE "UPDATE server_requests SET queue_ns = 50000000 WHERE server_id = 2 AND key % 2", "b",
      "Requests waited 25.0 ms for an Apache worker on average" },
    { THREE "UPDATE server_requests SET status = 500 WHERE server_id = 3 AND key % 5 = 0", "c",
      "Of its answers 20.0 % were 5xx" },
    /* Noise: a fifth more, and all three unlike each other. */
    { THREE "UPDATE server_requests SET handle_ns = handle_ns * 6 / 5 WHERE server_id = 2", NULL,
      NULL },
    { THREE "UPDATE server_requests SET handle_ns = handle_ns + server_id * 40000000", NULL, NULL },
    { THREE "UPDATE samples SET workers_limit = 10 + server_id", NULL, NULL },
    /* Of two none is the odd one, and a few requests tell nothing. */
    { PEER("2", "b") "UPDATE samples SET workers_limit = 5 WHERE server_id = 2", NULL, NULL },
    { THREE "DELETE FROM server_requests WHERE server_id = 3 AND key > 50;"
      "UPDATE server_requests SET status = 500 WHERE server_id = 3", NULL, NULL },
};

START_TEST(test_the_odd_server)
{
    struct run r = quiet_run();
    const struct mst_finding *f;
    struct made m;

    make(&m, &r, peers[_i].sql);
    f = odd_one(&m);
    if (peers[_i].subject == NULL) {
        ck_assert_msg(f == NULL, "%s", f != NULL ? f->text : "");
    } else {
        ck_assert_ptr_nonnull(f);
        ck_assert_str_eq(f->subject, peers[_i].subject);
        ck_assert_msg(strstr(f->text, peers[_i].words) != NULL, "%s", f->text);
    }
    unmake(&m);
}
END_TEST

/* The pool that ran out is named, and the one that did not is not. */
START_TEST(test_pools)
{
    struct run r = quiet_run();
    const struct mst_finding *f;
    struct made m;

    make(&m, &r, PHP "UPDATE php_requests SET label = 'shop' WHERE key % 2 = 0;"
             "UPDATE php_requests SET label = 'blog', wait_ns = 10000 WHERE key % 2 = 1;"
             "INSERT INTO pool_samples SELECT 2, time_ns, moment, 'shop', 2, 2, 0, 1 FROM samples "
             "WHERE server_id = 2;"
             "INSERT INTO pool_samples SELECT 2, time_ns, moment, 'blog', 3, 1, 0, 1 FROM samples "
             "WHERE server_id = 2");
    expect_codes(&m, "php-workers");
    f = &m.s.findings[0];
    ck_assert_str_eq(f->subject, "shop");
    ck_assert_uint_eq(number(f, "workers_limit"), 2);
    unmake(&m);
}
END_TEST

static void expect_sizing(struct made *m, const char *answer, const char *arithmetic)
{
    const struct mst_advice *php = &m->s.sizing->advice[MST_ADVICE_PHP];

    ck_assert_str_eq(php->answer, answer);
    ck_assert_ptr_nonnull(strstr(php->arithmetic, arithmetic));
}

/* Its requests come 20 at once, each second: a mean over the pauses asks for too few workers. */
START_TEST(test_a_pool_with_pauses)
{
    struct run r = quiet_run();
    const struct mst_finding *f;
    struct made m;

    make(&m, &r, POOLS "UPDATE php_requests SET start_ns = 1700000000500000000 + "
         "key / 80 * 1000000000, run_ns = 100000000 WHERE label = 'shop'");
    f = finding(&m, MST_CODE_PHP_WORKERS);
    ck_assert_uint_eq(number(f, "workers_advised"), 20);
    ck_assert_msg(strstr(f->action, "Set pm.max_children to 20 (now 2): up to 20 requests "
                         "wanted") != NULL, "%s", f->action);
    expect_sizing(&m, "shop: 20", "Set pm.max_children to 20 (now 2)");
    unmake(&m);
    make(&m, &r, POOLS "UPDATE php_requests SET wait_ns = 0");
    expect_sizing(&m, "shop: 1; www: 1", "PHP-FPM has 2 pools, each with a limit of its own");
    unmake(&m);
    make(&m, &r, POOLS "UPDATE php_requests SET wait_ns = 0; DELETE FROM machine_samples");
    expect_sizing(&m, "as they are", "PHP-FPM has 2 pools, each with a limit of its own");
    unmake(&m);
}
END_TEST

/* Whose queue was full: by the pool and its address, where both are known. */
START_TEST(test_full_queue_of_a_pool)
{
#define FULL_QUEUE \
    PHP "UPDATE samples SET listen_queue = 8, listen_queue_limit = 8, " \
    "listen_address = '/run/shop.sock' WHERE server_id = 2 AND rowid % 9 = 0;" \
    "UPDATE server_requests SET status = 503 WHERE key % 9 = 0;"
    struct run r = quiet_run();
    const struct mst_finding *f;
    struct made m;

    make(&m, &r, FULL_QUEUE "UPDATE samples SET listen_pool = 'shop' WHERE server_id = 2");
    f = finding(&m, MST_CODE_PHP_ACCEPT_QUEUE);
    ck_assert_str_eq(f->subject, "shop (/run/shop.sock)");
    ck_assert_msg(strstr(f->text, "queue was full, of the pool shop: 8 connections") != NULL, "%s",
                  f->text);
    unmake(&m);
    make(&m, &r, FULL_QUEUE);
    f = finding(&m, MST_CODE_PHP_ACCEPT_QUEUE);
    ck_assert_str_eq(f->subject, "");
    ck_assert_msg(strstr(f->text, "queue was full: 8 connections") != NULL, "%s", f->text);
    unmake(&m);
}
END_TEST

static int count_steps(void *steps)
{
    ++*(unsigned long *)steps;
    return 0;
}

/* Hundreds of SQLite's steps of the findings of a run in which PHP's requests waited. */
static unsigned long steps_of_findings(unsigned requests)
{
    struct run r = quiet_run();
    unsigned long steps = 0;
    char error[MST_ERROR_MAX];
    struct made m;

    r.requests = r.counted = requests;
    make(&m, &r, PHP WAITS("database", "mysql db:3306", "100000000"));
    mst_summary_free(&m.s);
    sqlite3_progress_handler(mst_archive_db(m.archive), 100, count_steps, &steps);
    ck_assert_msg(mst_findings_summary(&m.s, m.archive, m.run_id, error) == 0, "%s", error);
    expect_codes(&m, "database");
    unmake(&m);
    return steps;
}

/* Eight times the requests take some eight times the work, and not its square. */
START_TEST(test_work_grows_with_requests)
{
    unsigned long few = steps_of_findings(400), many = steps_of_findings(3200);

    ck_assert_msg(few > 0 && many < 16 * few, "%lu hundred steps for 400 requests, %lu for 3,200",
                  few, many);
}
END_TEST

/* Every code has a name of its own, by which it is found. */
START_TEST(test_codes)
{
    int i;

    for (i = 0; i < MST_CODE_COUNT; i++)
        ck_assert_int_eq(mst_code_of(mst_code_names[i]), i);
    ck_assert_int_eq(mst_code_of("no-such-code"), MST_CODE_COUNT);
}
END_TEST

int main(void)
{
    Suite *suite = suite_create("findings");
    TCase *tests = tcase_create("findings");

    tcase_add_loop_test(tests, test_found, 0, (int)(sizeof found / sizeof found[0]));
    tcase_add_loop_test(tests, test_not_found, 0, (int)(sizeof not_found / sizeof *not_found));
    tcase_add_test(tests, test_words);
    tcase_add_loop_test(tests, test_actions, 0, (int)(sizeof actions / sizeof *actions));
    tcase_add_loop_test(tests, test_found_of_a_thinned_archive, 0,
                        (int)(sizeof found / sizeof found[0]));
    tcase_add_loop_test(tests, test_found_by_one_sample, 10, 20);
    tcase_add_loop_test(tests, test_started_late, 0, 9);
    tcase_add_loop_test(tests, test_a_pool_started_late, 0, 2);
    tcase_add_loop_test(tests, test_connections_of_event, 0, 3);
    tcase_add_test(tests, test_sending_under_full_cpus);
    tcase_add_loop_test(tests, test_few_cpus, 0, 4);
    tcase_add_loop_test(tests, test_churn_of_apaches_php, 0, 2);
    tcase_add_test(tests, test_churn_of_a_restart);
    tcase_add_test(tests, test_a_stall_in_a_load);
    tcase_add_loop_test(tests, test_settings_of_apache, 0, 25);
    tcase_add_test(tests, test_settings_of_a_pool);
    tcase_add_loop_test(tests, test_spare_processes, 0, 3);
    tcase_add_test(tests, test_held_by);
    tcase_add_test(tests, test_one_at_a_time);
    tcase_add_test(tests, test_unseen);
    tcase_add_test(tests, test_one_at_a_time_of_a_thinned_archive);
    tcase_add_test(tests, test_one_at_a_time_of_few_requests);
    tcase_add_test(tests, test_advice_of_a_thinned_archive);
    tcase_add_test(tests, test_whose_wait);
    tcase_add_test(tests, test_how_many_is_not_known);
    tcase_add_test(tests, test_which_page);
    tcase_add_test(tests, test_a_stall_after_a_quiet_minute);
    tcase_add_test(tests, test_advice);
    tcase_add_test(tests, test_advice_within_the_cpus);
    tcase_add_test(tests, test_advice_without_a_prediction);
    tcase_add_test(tests, test_advice_for_a_share);
    tcase_add_test(tests, test_advice_for_a_burst);
    tcase_add_loop_test(tests, test_whose_finding, 0, sizeof whose / sizeof *whose);
    tcase_add_test(tests, test_pools);
    tcase_add_loop_test(tests, test_the_odd_server, 0, sizeof peers / sizeof *peers);
    tcase_add_test(tests, test_a_pool_with_pauses);
    tcase_add_test(tests, test_full_queue_of_a_pool);
    tcase_add_test(tests, test_work_grows_with_requests);
    tcase_add_test(tests, test_codes);
    suite_add_tcase(suite, tests);
    return test_run(suite);
}
