/* check_needs.c - what each of several servers needs of workers, and how reports show it. */
#include <inttypes.h>
#include <jansson.h>
#include <stdlib.h>
#include <string.h>

#include "base/clock.h"
#include "harness.h"
#include "made_report.h"
#include "report/report.h"

/* ---- a fleet of which each server lacks something else ------------------------------- */

/* The first one is there already. */
static void add_apache(struct made *m, unsigned id, const char *name, const char *mpm)
{
    sql(m, "INSERT OR REPLACE INTO servers (id, run_id, target, producer, mpm, local, lost, "
        "restarts, name, clock_offset_ns) VALUES (%u, 1, '%s', 'apache', '%s', 1, 0, 0, '%s', "
        "1000000)", id, name, mpm, name);
}

static void add_php(struct made *m, unsigned id, const char *name)
{
    sql(m, "INSERT INTO servers (id, run_id, target, producer, sapi, local, lost, restarts, name, "
        "clock_offset_ns) VALUES (%u, 1, '%s', 'php', 'fpm-fcgi', 1, 0, 0, '%s', 1000000)", id,
        name, name);
}

/* `count` requests, one every `every_ms`. */
static void add_requests(struct made *m, unsigned id, unsigned count, unsigned every_ms,
                         unsigned queue_ms, unsigned held_ms)
{
    sql(m, "WITH RECURSIVE n(i) AS (SELECT 0 UNION ALL SELECT i + 1 FROM n WHERE i < %u) "
        "INSERT INTO server_requests (server_id, key, request_id, start_ns, queue_ns, read_ns, "
        "handle_ns, send_ns, held_ns, label, status, aborted, no_worker, worker, ghost) "
        "SELECT %u, i, %u + i, %" PRIu64 " + i * %u * 1000000, %u * 1000000, 0, %u * 1000000, 0, "
        "%u * 1000000, 'site', 200, 0, 0, i %% 3, 0 FROM n", count - 1, id, id * 1000, START,
        every_ms, queue_ms, held_ms, held_ms);
}

/* Each second: `busy` workers of `limit` handle all the time, and so many connections wait. */
static void add_load(struct made *m, unsigned id, unsigned busy, unsigned limit, unsigned waiting)
{
    unsigned i;

    for (i = 0; i <= 10; i++)
        sql(m, "INSERT INTO samples (server_id, time_ns, moment, workers_limit, workers_busy, "
            "idle_ns, reading_ns, handling_ns, sending_ns, keepalive_ns, closing_ns, "
            "listen_queue, listen_queue_limit) VALUES (%u, %" PRIu64 ", '%s', %u, %u, %" PRIu64
            ", 0, %" PRIu64 ", 0, 0, 0, %u, 511)", id, START + i * MST_NS_PER_S,
            i == 0 ? "before" : i == 10 ? "end" : "during", limit, busy,
            (limit - busy) * i * MST_NS_PER_S, busy * i * MST_NS_PER_S, waiting);
}

/* So many processes in each round. */
static void add_memory(struct made *m, unsigned id, unsigned processes, uint64_t bytes)
{
    unsigned i;

    for (i = 1; i < 10; i++)
        sql(m, "INSERT INTO memory_samples VALUES (%u, %" PRIu64 ", %" PRIu64 ", %u, %" PRIu64
            ", 1, 0, 1)", id, START + i * MST_NS_PER_S, START + i * MST_NS_PER_S, processes, bytes);
}

enum {
    LIMITED = 1, ENOUGH, MEMORY, KEEPALIVE, WITH_PHP, SERIAL, CPU, FEW, BURST, NEIGHBOUR, PHP
};

/* Rates are of the whole recording, ten seconds: it has no load tool. */
static void begin_fleet(struct made *m)
{
    static const char *const names[] = { [LIMITED] = "limited", [ENOUGH] = "enough",
        [MEMORY] = "memory", [KEEPALIVE] = "keepalive", [WITH_PHP] = "with-php",
        [SERIAL] = "serial", [CPU] = "cpu", [FEW] = "few", [BURST] = "burst",
        [NEIGHBOUR] = "neighbour" };
    unsigned id;

    begin(m, NULL, "http://127.0.0.1/");
    sql(m, "UPDATE runs SET tool = NULL");
    for (id = LIMITED; id <= NEIGHBOUR; id++)
        add_apache(m, id, names[id], id == LIMITED ? "worker" : "prefork");
    add_php(m, PHP, "with-php#php");
    sql(m, "INSERT INTO machine_samples (run_id, time_ns, moment, busy_ns, total_ns) VALUES "
        "(1, 1, 'before', 0, 0), (1, 2, 'end', 50, 100)");
    sql(m, "INSERT OR REPLACE INTO environment VALUES (1, 'cpus', '2'), "
        "(1, 'memory_bytes', '4000000000'), "
        "(1, 'apache_settings', 'MaxRequestWorkers 9; ThreadsPerChild 4; StartServers 1')");
}

/* Each waits for 550 ms and is held for 450 ms: 20 a second are 20 at once, for 9 workers. */
static void add_short(struct made *m, unsigned id, unsigned waiting)
{
    add_requests(m, id, 200, 45, 550, 450);
    add_load(m, id, 9, 9, waiting);
}

/* 6.5 of 10 workers keep idle connections, 3 have requests; of 50 requests a second each tenth
 * waits for 600 ms, and 2 connections were seen in the queue. */
static void add_keepalive(struct made *m)
{
    add_requests(m, KEEPALIVE, 500, 19, 0, 60);
    add_load(m, KEEPALIVE, 10, 10, 2);
    sql(m, "UPDATE server_requests SET queue_ns = 600000000 WHERE key %% 10 = 0 AND "
        "server_id = %u", KEEPALIVE);
    sql(m, "UPDATE samples SET keepalive_ns = handling_ns / 10 * 6.5, "
        "handling_ns = handling_ns / 10 * 3 WHERE server_id = %u", KEEPALIVE);
}

/* Of its 450 ms a request waits for 350 ms for one of PHP's two workers. */
static void add_with_php(struct made *m)
{
    add_short(m, WITH_PHP, 2);
    add_load(m, PHP, 2, 2, 0);
    sql(m, "UPDATE samples SET listen_queue = NULL WHERE server_id = %u", PHP);
    sql(m, "INSERT INTO php_requests (server_id, key, start_ns, request_id, wait_ns, run_ns, "
        "label, status, aborted, fatal, timeout, ghost) SELECT %u, key, start_ns + 900000000, "
        "request_id, 350000000, 100000000, 'www', 200, 0, 0, 0, 0 FROM server_requests WHERE "
        "server_id = %u", PHP, WITH_PHP);
}

/* Its backend gives an answer every 45 ms, whatever waits there: one that waits for nobody has it
 * after that time. */
static void add_serial(struct made *m)
{
    add_short(m, SERIAL, 2);
    sql(m, "UPDATE server_requests SET backend = 'http://127.0.0.1:1/', checks_ns = 0, "
        "upload_ns = 0, backend_ns = 450000000 WHERE server_id = %u", SERIAL);
    sql(m, "UPDATE server_requests SET start_ns = start_ns + 405000000, backend_ns = 45000000, "
        "handle_ns = 45000000, held_ns = 45000000 WHERE server_id = %u AND key = 100", SERIAL);
}

static void make_fleet(struct made *m)
{
    begin_fleet(m);
    add_short(m, LIMITED, 5);
    add_memory(m, LIMITED, 3, 150000000);
    add_requests(m, ENOUGH, 200, 45, 0, 450);
    add_load(m, ENOUGH, 9, 100, 0);
    add_short(m, MEMORY, 31);
    add_memory(m, MEMORY, 10, 1000000000);
    add_keepalive(m);
    add_with_php(m);
    add_serial(m);
    add_short(m, CPU, 5);
    sql(m, "UPDATE servers SET cpu_ns = 9500000000 WHERE id = %u", CPU);
    add_requests(m, FEW, 99, 45, 550, 450);
    add_load(m, FEW, 9, 9, 0);
    add_requests(m, BURST, 200, 45, 550, 450);
    add_load(m, BURST, 30, 30, 0);
    sql(m, "UPDATE samples SET listen_queue = NULL WHERE server_id = %u", BURST);
    add_requests(m, NEIGHBOUR, 4, 45, 0, 450);
    add_load(m, NEIGHBOUR, 1, 9, 0);
    summarize(m);
}

/* ---- the needs ------------------------------------------------------------------------- */

#define NONE MST_UNKNOWN

static const struct {
    const char *server, *directive;
    uint64_t limit, max_busy, wanted, advised, memory_bytes;
    enum mst_bound bound;
    bool ran_out;
} needs[] = {
    /* 20/s x (0.45 + 0.55 s) = 20: 5 processes of 4 threads, each of 150 MB / 3. */
    { "limited", "MaxRequestWorkers", 9, 9, 20, 20, 250000000, MST_BOUND_LIMIT, true },
    { "enough", "MaxRequestWorkers", 100, 9, 9, 100, NONE, MST_BOUND_NONE, false },
    /* 9 with a worker and 31 in the queue; 80 % of 4 GB has room for 32 of 100 MB. */
    { "memory", "MaxRequestWorkers", 9, 9, 40, 32, 4000000000, MST_BOUND_MEMORY, true },
    /* 10 busy, and 2 in the queue. */
    { "keepalive", "MaxRequestWorkers", 10, 10, 12, 12, NONE, MST_BOUND_KEEPALIVE, true },
    { "with-php", "MaxRequestWorkers", 9, 9, 20, 20, NONE, MST_BOUND_PHP, true },
    /* 20/s x (0.1 s + 0.35 s for PHP + 0.55 s for Apache). */
    { "with-php#php", "pm.max_children", 2, 2, 20, 20, NONE, MST_BOUND_LIMIT, true },
    { "serial", "MaxRequestWorkers", 9, 9, 20, 9, NONE, MST_BOUND_ONE_BY_ONE, true },
    /* Half of the CPUs is left, and of several servers nothing is predicted. */
    { "cpu", "MaxRequestWorkers", 9, 9, 20, 20, NONE, MST_BOUND_LIMIT, true },
    { "few", "MaxRequestWorkers", 9, 9, NONE, NONE, NONE, MST_BOUND_NONE, false },
    /* 20 at once on average, for 30 workers. */
    { "burst", "MaxRequestWorkers", 30, 30, NONE, NONE, NONE, MST_BOUND_LIMIT, true },
};
enum { NEEDS = sizeof needs / sizeof *needs };

START_TEST(test_each_has_its_own)
{
    struct made m;
    size_t i;

    make_fleet(&m);
    ck_assert_uint_eq(m.s.need_count, NEEDS);
    for (i = 0; i < NEEDS; i++) {
        const struct mst_need *need = &m.s.needs[i];

        ck_assert_str_eq(mst_summary_called(need->server), needs[i].server);
        ck_assert_str_eq(need->directive, needs[i].directive);
        ck_assert_ptr_null(need->pool);
        ck_assert_uint_eq(need->limit, needs[i].limit);
        ck_assert_uint_eq(need->max_busy, needs[i].max_busy);
        ck_assert_msg(need->wanted == needs[i].wanted, "%s: %" PRIu64, needs[i].server,
                      need->wanted);
        ck_assert_msg(need->advised == needs[i].advised, "%s: %" PRIu64, needs[i].server,
                      need->advised);
        ck_assert_msg(need->memory_bytes == needs[i].memory_bytes, "%s: %" PRIu64,
                      needs[i].server, need->memory_bytes);
        ck_assert_msg(need->bound == needs[i].bound, "%s: %d", needs[i].server, need->bound);
        ck_assert_int_eq(need->ran_out, needs[i].ran_out);
        ck_assert_int_eq(need->why_not != NULL, strcmp(needs[i].server, "few") == 0);
    }
    ck_assert_uint_eq(m.s.needs_bytes, 4250000000);
    ck_assert_uint_eq(m.s.room_bytes, 3200000000);
    end(&m);
}
END_TEST

/* The advice of the busiest is its own, also where a finding names another server that has it. */
START_TEST(test_details_of_the_busiest)
{
    const struct mst_advice *advice;
    struct made m;

    begin_fleet(&m);
    add_short(&m, LIMITED, 5);
    add_short(&m, MEMORY, 31);
    add_memory(&m, MEMORY, 10, 1000000000);
    sql(&m, "DELETE FROM server_requests WHERE server_id = %u AND key = 0", LIMITED);
    summarize(&m);
    ck_assert_str_eq(mst_summary_front(&m.s)->name, "memory");
    advice = &m.s.sizing->advice[MST_ADVICE_WORKERS];
    ck_assert_str_eq(advice->answer, "more than 9: up to 32");
    ck_assert_msg(strstr(advice->uncertainty, "Nothing is predicted of this run: the simulation "
                         "does not come to what was measured.") != NULL, "%s", advice->uncertainty);
    end(&m);
}
END_TEST

/* One of two pools ran out: 10/s x (100 ms + 500 ms); in the other one 2 workers were busy at
 * most. */
START_TEST(test_pools)
{
    const struct mst_need *need;
    struct made m;
    size_t i, seen = 0;

    begin_fleet(&m);
    add_short(&m, LIMITED, 5);
    add_with_php(&m);
    sql(&m, "UPDATE php_requests SET label = 'shop', wait_ns = 500000000 WHERE key %% 2 = 0");
    sql(&m, "UPDATE php_requests SET wait_ns = 0 WHERE key %% 2 = 1");
    sql(&m, "INSERT INTO pool_samples SELECT server_id, time_ns, moment, 'www', 10, 2, 0, 1 FROM "
        "samples WHERE server_id = %u", PHP);
    sql(&m, "INSERT INTO pool_samples SELECT server_id, time_ns, moment, 'shop', 2, 2, 4, 1 FROM "
        "samples WHERE server_id = %u", PHP);
    summarize(&m);
    for (i = 0; i < m.s.need_count; i++) {
        need = &m.s.needs[i];
        if (need->pool == NULL)
            continue;
        seen++;
        ck_assert_str_eq(mst_summary_called(need->server), "with-php#php");
        if (strcmp(need->pool->label, "shop") == 0) {
            ck_assert(need->ran_out && need->bound == MST_BOUND_LIMIT);
            ck_assert_uint_eq(need->limit, 2);
            ck_assert_uint_eq(need->wanted, 6);
            ck_assert_uint_eq(need->advised, 6);
        } else {
            ck_assert(!need->ran_out && need->bound == MST_BOUND_NONE);
            ck_assert_uint_eq(need->limit, 10);
            ck_assert_uint_eq(need->wanted, 2);
            ck_assert_uint_eq(need->advised, 10);
        }
    }
    ck_assert_uint_eq(seen, 2);
    end(&m);
}
END_TEST

/* Limits and what was busy are known of a run that is too short for a mean. */
START_TEST(test_an_unfinished_run)
{
    struct made m;
    size_t i;

    begin_fleet(&m);
    add_short(&m, LIMITED, 5);
    add_short(&m, ENOUGH, 5);
    sql(&m, "UPDATE runs SET duration_ns = NULL, complete = 0, outcome = 'unfinished'");
    summarize(&m);
    ck_assert_uint_eq(m.s.need_count, 2);
    for (i = 0; i < 2; i++) {
        ck_assert_uint_eq(m.s.needs[i].limit, 9);
        ck_assert_uint_eq(m.s.needs[i].max_busy, 9);
        ck_assert_ptr_nonnull(strstr(m.s.needs[i].why_not, "did not come to its end"));
    }
    end(&m);
}
END_TEST

/* ---- reports ----------------------------------------------------------------------------- */

enum format { TEXT, MARKDOWN, HTML, JSON };

static int keep(void *stream, const void *bytes, size_t n)
{
    return fwrite(bytes, 1, n, stream) == n ? 0 : -1;
}

/* The caller frees it. */
static char *report_as(struct made *m, enum format format)
{
    char title[] = "run 1", error[MST_ERROR_MAX] = "", *text = NULL;
    struct mst_report_run run = { .archive = m->archive, .path = "x.db", .title = title,
                                  .summary = m->s };
    const struct mst_report report = { .pool = memory_of_test(), .runs = &run, .count = 1 };
    size_t size;
    FILE *stream = open_memstream(&text, &size);
    struct mst_sink sink;
    int status = 0;

    ck_assert_ptr_nonnull(stream);
    mst_sink_init(&sink, keep, stream);
    switch (format) {
    case TEXT: status = mst_report_texts(&sink, &report, error); break;
    case MARKDOWN: status = mst_report_markdown(&sink, &report, error); break;
    case HTML: status = mst_report_html(&sink, &report, error); break;
    default: mst_report_json(&sink, &m->s);
    }
    ck_assert_msg(status == 0, "%s", error);
    ck_assert_int_eq(mst_sink_flush(&sink), 0);
    ck_assert_int_eq(fclose(stream), 0);
    return text;
}

static void expect_words(struct made *m, enum format format, const char *const words[],
                         size_t count)
{
    char *text = report_as(m, format);
    size_t i;

    for (i = 0; i < count; i++)
        if (strstr(text, words[i]) == NULL) {
            fprintf(stderr, "%s\n", text);
            ck_abort_msg("no \"%s\"", words[i]);
        }
    free(text);
}

#define COUNT(array) (sizeof (array) / sizeof *(array))

START_TEST(test_tables)
{
    static const char *const text[] = {
        "  requests  per s    mean      p50     p95     p99     max  5xx  php_wait  busy   of  "
        "server\n",
        "       200   20.0  450 ms   450 ms  450 ms  450 ms  450 ms    0         -  9.00  100  "
        "enough\n",
        "       200   20.0  1.00 s   1.00 s  1.00 s  1.00 s  1.00 s    0    350 ms  9.00    9  "
        "with-php\n",
        "        99   9.90  1.00 s   1.00 s  1.00 s       -  1.00 s    0         -  9.00    9  "
        "few\n",
        "      2003    200  724 ms                           1.00 s    0             104  203  "
        "all 10\n",
        "  limit  busy, most        wanted  enough   memory    set to  bounded by             "
        "server\n"
        "  MaxRequestWorkers\n"
        "      9           9            20      20   250 MB        20  this limit             "
        "limited\n"
        "    100           9             9       -        -  as it is  nothing                "
        "enough\n"
        "      9           9            40      32  4.00 GB        32  memory                 "
        "memory\n"
        "     10          10            12      12        -        12  idle connections       "
        "keepalive\n"
        "      9           9            20      20        -        20  PHP's workers          "
        "with-php\n"
        "      9           9            20       9        -  as it is  one request at a time  "
        "serial\n"
        "      9           9            20      20        -        20  this limit             cpu\n"
        "      9           9             -       -        -         -  cannot tell            few\n"
        "      fewer than 100 requests were recorded\n"
        "     30          30  more than 30       -        -      more  this limit             "
        "burst\n"
        "    194                                                                              "
        "all 9\n"
        "                                                                                     "
        "together\n"
        "  pm.max_children\n"
        "      2           2            20      20        -        20  this limit             "
        "with-php#php\n",
        "  The servers on this machine would take 4.25 GB together. 80 % of its memory is 3.20 GB: "
        "not all\n  of them can have what their load wanted.\n",
        "  In detail, of keepalive, which had most requests:\n"
        "  directive          advice\n"
        "  MaxRequestWorkers  not known; 10 busy at most\n",
    };
    static const char *const markdown[] = {
        "| memory | 9 | 9 | 40 | 32 | 4.00 GB | 32 | memory |\n",
        "| few | 9 | 9 | - | - | - | - | cannot tell: fewer than 100 requests were recorded |\n",
        "| with-php&#35;php | 2 | 2 | 20 | 20 | - | 20 | this limit |\n",
    };
    static const char *const html[] = {
        "<ul class=\"legend\"><li><span class=\"swatch queue\"></span>queue: waiting for a worker"
        "</li><li><span class=\"swatch php_wait\"></span>php_wait: waiting for a PHP worker</li>",
        "\" x=\"550\" width=\"350\" height=\"28\"><title>php_wait ",
        "<th scope=\"row\">memory</th><td><data value=\"9\">9</data></td><td><data value=\"9\">9"
        "</data></td><td>40</td><td>32</td><td><data value=\"4000000000\">4.00 GB"
        "</data></td><td>32</td><td class=\"text\">memory</td></tr>",
        "<td>more than 30</td><td>-</td><td><span class=\"unknown\">–</span></td><td>more</td>",
    };
    struct made m;

    make_fleet(&m);
    expect_words(&m, TEXT, text, COUNT(text));
    expect_words(&m, MARKDOWN, markdown, COUNT(markdown));
    expect_words(&m, HTML, html, COUNT(html));
    end(&m);
}
END_TEST

static void expect_count(const json_t *need, const char *key, uint64_t n)
{
    const json_t *value = json_object_get(need, key);

    ck_assert_ptr_nonnull(value);
    if (n == MST_UNKNOWN)
        ck_assert(json_is_null(value));
    else
        ck_assert_uint_eq((uint64_t)json_integer_value(value), n);
}

START_TEST(test_json)
{
    static const char *const bounds[] = {
        "limit", NULL, "memory", "keepalive", "php-workers", "limit", "one-at-a-time", "limit",
        NULL, "limit",
    };
    struct made m;
    json_t *root, *sizing, *need;
    json_error_t error;
    const char *bound;
    char *text;
    size_t i;

    make_fleet(&m);
    text = report_as(&m, JSON);
    root = json_loads(text, JSON_REJECT_DUPLICATES, &error);
    ck_assert_msg(root != NULL, "%s: %s", error.text, text);
    sizing = json_object_get(root, "sizing");
    ck_assert_uint_eq(json_array_size(sizing), NEEDS);
    json_array_foreach(sizing, i, need) {
        ck_assert_str_eq(json_string_value(json_object_get(need, "server")), needs[i].server);
        ck_assert_str_eq(json_string_value(json_object_get(need, "directive")),
                         needs[i].directive);
        expect_count(need, "limit", needs[i].limit);
        expect_count(need, "max_busy", needs[i].max_busy);
        expect_count(need, "wanted", needs[i].wanted);
        expect_count(need, "enough", NONE);
        expect_count(need, "advised", needs[i].advised);
        expect_count(need, "memory_bytes", needs[i].memory_bytes);
        bound = json_string_value(json_object_get(need, "bound"));
        ck_assert(bounds[i] == NULL ? bound == NULL : strcmp(bound, bounds[i]) == 0);
        ck_assert_int_eq(json_is_null(json_object_get(need, "ran_out")),
                         strcmp(needs[i].server, "few") == 0);
    }
    json_decref(root);
    free(text);
    end(&m);
}
END_TEST

/* One server, and a neighbour that is none to size: the tables of servers have it. */
START_TEST(test_one_server_has_no_table)
{
    enum format format;
    struct made m;
    char *text;

    begin_fleet(&m);
    add_short(&m, LIMITED, 5);
    add_requests(&m, NEIGHBOUR, 1, 45, 0, 450);
    add_load(&m, NEIGHBOUR, 1, 9, 0);
    summarize(&m);
    ck_assert_uint_eq(m.s.need_count, 0);
    for (format = TEXT; format <= JSON; format++) {
        text = report_as(&m, format);
        ck_assert_ptr_null(strstr(text, "bounded by"));
        ck_assert_int_eq(strstr(text, "of each server went") != NULL,
                         format == HTML || format == MARKDOWN);
        ck_assert_ptr_null(strstr(text, "\"sizing\":"));
        free(text);
    }
    end(&m);
}
END_TEST

int main(void)
{
    Suite *suite = suite_create("needs");
    TCase *tests = tcase_create("needs");

    tcase_add_test(tests, test_each_has_its_own);
    tcase_add_test(tests, test_details_of_the_busiest);
    tcase_add_test(tests, test_pools);
    tcase_add_test(tests, test_an_unfinished_run);
    tcase_add_test(tests, test_tables);
    tcase_add_test(tests, test_json);
    tcase_add_test(tests, test_one_server_has_no_table);
    suite_add_tcase(suite, tests);
    return test_run(suite);
}
