/* check_thin.c - thinned archives: which rows are kept and how many they stand for, what readers
 * see of them; and which archives of a rotation are thinned and removed.
 */
#include <fcntl.h>
#include <limits.h>
#include <poll.h>
#include <signal.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <unistd.h>

#include "archive/slice.h"
#include "archive/thin.h"
#include "archive/thin_choose.h"
#include "archive/writer.h"
#include "base/clock.h"
#include "findings/findings.h"
#include "harness.h"
#include "record/rotation.h"
#include "stats/random.h"

/* ---- choosing ---------------------------------------------------------------------------- */

#define CELLS 7u

static struct mst_thin_row *made_rows(size_t count)
{
    struct mst_thin_row *rows = calloc(count, sizeof *rows);
    uint64_t random = 3;
    size_t i;

    for (i = 0; i < count; i++)
        rows[i] = (struct mst_thin_row){
            .rowid = { (int64_t)i + 1, i % 2 == 0 ? (int64_t)i + 1 : 0 }, .cell = i % CELLS,
            .label = { i % CELLS % 3, 1 },
            .order = { mst_random_below(&random, 1000000), mst_random_below(&random, 1000000) },
            .is_kept = i % 50 == 0,
        };
    return rows;
}

static int by_rowid(const void *a, const void *b)
{
    const struct mst_thin_row *x = a, *y = b;

    return (x->rowid[0] > y->rowid[0]) - (x->rowid[0] < y->rowid[0]);
}

/* The weights of a cell add up to its rows; the sum of what they stand for is close to that of all
 * rows. */
START_TEST(test_weights_add_up)
{
    const size_t count = (const size_t[]){ 1, 19, 20, 1000, 30000 }[_i];
    const struct mst_thin_rule rule = { .slowest = 20, .slow_one_of = 100, .runs = 10,
                                        .runs_enough = 50, .run_few = 10, .run_many = 100 };
    struct mst_thin_row *rows = made_rows(count);
    uint64_t random = 1, sum = 0, estimate = 0, total = 0;
    size_t of_cell[CELLS] = { 0 }, kept = 0, i;

    mst_thin_choose(rows, count, &rule, &random);
    qsort(rows, count, sizeof *rows, by_rowid);
    for (i = 0; i < count; i++) {
        ck_assert_int_eq(rows[i].rowid[0], (int64_t)i + 1);
        of_cell[rows[i].cell] += rows[i].weight;
        total += rows[i].weight;
        kept += rows[i].weight > 0;
        sum += rows[i].order[0];
        estimate += rows[i].order[0] * rows[i].weight;
        ck_assert_msg(!rows[i].is_kept || rows[i].weight == 1, "row %zu: %u", i,
                      (unsigned)rows[i].weight);
    }
    ck_assert_uint_eq(total, count);
    for (i = 0; i < CELLS; i++)
        ck_assert_uint_eq(of_cell[i], count / CELLS + (i < count % CELLS));
    ck_assert_msg(kept <= CELLS * 50 + 40 + count / 12, "%zu of %zu", kept, count);
    ck_assert_msg(estimate > sum - sum / 50 && estimate < sum + sum / 50, "%llu, not %llu",
                  (unsigned long long)estimate, (unsigned long long)sum);
    free(rows);
}
END_TEST

/* A few requests take far longer than most, as of a page that waits for a lock at times: their
 * runs are those with the most different times. */
START_TEST(test_a_mean_stays_close)
{
    const struct mst_thin_rule rule = { .slowest = 20, .slow_one_of = 100, .runs = 10,
                                        .runs_enough = 50, .run_few = 10, .run_many = 100 };
    const size_t count = 3000;
    struct mst_thin_row *rows = calloc(count, sizeof *rows);
    uint64_t random = (uint64_t)_i + 1;
    double sum = 0, estimate = 0;
    size_t i;

    ck_assert_ptr_nonnull(rows);
    for (i = 0; i < count; i++) {
        double part = ((double)mst_random_below(&random, 1000000) + 1) / 1000001;

        rows[i].rowid[0] = (int64_t)i + 1;
        rows[i].order[0] = (uint64_t)(1e5 * pow(part, -1.2));   /* Pareto's */
        sum += (double)rows[i].order[0];
    }
    mst_thin_choose(rows, count, &rule, &random);
    for (i = 0; i < count; i++)
        estimate += (double)rows[i].order[0] * (double)rows[i].weight;
    ck_assert_msg(fabs(estimate / sum - 1) < 0.01, "%g, not %g", estimate, sum);
    free(rows);
}
END_TEST

/* Each side keeps its twenty slowest, and each label its slowest hundredth. */
START_TEST(test_the_slowest_are_kept)
{
    const struct mst_thin_rule rule = { .slowest = 20, .slow_one_of = 100, .runs = 1 };
    const size_t count = 30000;
    struct mst_thin_row *rows = made_rows(count);
    uint64_t random = 1;
    size_t i, k, slower;
    int side;

    mst_thin_choose(rows, count, &rule, &random);
    for (i = 0; i < count; i++)
        for (side = 0; side < MST_THIN_SIDES; side++) {
            if (rows[i].rowid[side] == 0 || rows[i].weight == 1)
                continue;
            ck_assert_uint_lt(rows[i].order[side], 995000);
            for (k = slower = 0; k < count && slower < 20; k++)
                slower += rows[k].rowid[side] != 0 && rows[k].order[side] >= rows[i].order[side] &&
                          k != i;
            ck_assert_uint_eq(slower, 20);
            break;
        }
    free(rows);
}
END_TEST

/* ---- an archive -------------------------------------------------------------------------- */

#define BEGIN "1699999980000000000"     /* a whole minute */

/* Ten minutes of three labels, of which PHP served one; durations are spread over three decades. */
static const char made_sql[] =
    "INSERT INTO runs (id, command, started_ns, ended_ns, duration_ns, complete, outcome, "
    "mpmstat_version, recording, part) VALUES (1, '[]', " BEGIN ", " BEGIN " + 600000000000, "
    "600000000000, 1, 'complete', '0', 'abc', 1);"
    "INSERT INTO servers (id, run_id, target, producer, mpm, local, lost, restarts, "
    "clock_offset_ns) VALUES (1, 1, 'a.board', 'apache', 'event', 1, 0, 0, 0), "
    "(2, 1, 'p.board', 'php', NULL, 1, 0, 0, 0);"
    "WITH RECURSIVE n(i) AS (SELECT 1 UNION ALL SELECT i + 1 FROM n WHERE i < 30000) "
    "INSERT INTO server_requests (server_id, key, start_ns, queue_ns, read_ns, handle_ns, send_ns, "
    "held_ns, bytes, label, status, aborted, no_worker, request_id, ghost, checks_ns, upload_ns) "
    "SELECT 1, i, " BEGIN " + i * 19900000, i * 7919 % 1000 * (i % 11 = 0), 20000, "
    "1000000 + i * 104729 % 1000 * (1 + (i * 31 % 97 = 0) * 500) * 10000, 30000, "
    "1100000 + i * 104729 % 1000 * 10000, 5, CASE i % 3 WHEN 0 THEN 'shop' WHEN 1 THEN 'blog' ELSE "
    "'files' END, CASE WHEN i % 211 = 0 THEN 503 WHEN i % 17 = 0 THEN 304 ELSE 200 END, "
    "i % 307 = 0, 0, i, i < 3, 5, 6 FROM n;"
    "INSERT INTO php_requests (server_id, key, start_ns, request_id, wait_ns, run_ns, user_ns, "
    "system_ns, memory_bytes, label, status, script, aborted, fatal, timeout, ghost, waits_ns) "
    "SELECT 2, key, start_ns + queue_ns + read_ns + 500000, request_id, 100000 * (key % 5), "
    "handle_ns / 2, 900, 100, 1000000 + key * 31 % 5000, 'pool', status, 'i.php', aborted, "
    "key % 997 = 0, 0, ghost, handle_ns / 4 FROM server_requests WHERE label = 'shop';"
    "INSERT INTO php_requests (server_id, key, start_ns, wait_ns, run_ns, label, aborted, fatal, "
    "timeout, ghost) SELECT 2, key + 100000, start_ns, 0, 5000 * key, 'cron', 0, 0, 0, 0 FROM "
    "server_requests WHERE key % 7 = 0;"
    "INSERT INTO php_waits (server_id, key, kind, end, calls, failed, wait_ns) "
    "SELECT server_id, key, 'database', 'mysql', 1, 0, waits_ns FROM "
    "php_requests WHERE waits_ns IS NOT NULL;"
    "WITH RECURSIVE n(i) AS (SELECT 0 UNION ALL SELECT i + 1 FROM n WHERE i < 600) "
    "INSERT INTO samples (server_id, time_ns, moment, cost_ns, workers_limit, workers_busy, "
    "idle_ns, handling_ns, in_flight, requests, listen_queue, listen_queue_limit) SELECT s.id, "
    BEGIN " + i * 1000000000, CASE i WHEN 0 THEN 'before' WHEN 600 THEN 'end' ELSE 'during' END, "
    "1000, 100, i * 7919 % 90, i * 50, i * 60, 3, i * 50, i * 13 % 509, 511 FROM n, servers s;"
    "INSERT INTO machine_samples (run_id, time_ns, moment, busy_ns, total_ns, runnable, blocked, "
    "memory_available) SELECT 1, time_ns, moment, requests, requests * 2, requests % 37, "
    "requests % 41, 9000000000 + requests * 7919 % 997 FROM samples WHERE server_id = 1;"
    "INSERT INTO pool_samples (server_id, time_ns, moment, label, workers_limit, workers_busy, "
    "limit_reached) SELECT 2, time_ns, moment, 'pool', 20, min(20, workers_busy), requests FROM "
    "samples WHERE server_id = 2;"
    "INSERT INTO memory_samples (server_id, time_ns, began_ns, processes, pss_bytes, cost_ns) "
    "SELECT 1, time_ns, time_ns, 5, 1000 * workers_busy, 1 FROM samples WHERE server_id = 1;"
    "INSERT INTO notes VALUES (1, " BEGIN ", 'a note');";

static void change(const char *path, const char *sql)
{
    sqlite3 *db;

    ck_assert_int_eq(sqlite3_open_v2(path, &db, SQLITE_OPEN_READWRITE, NULL), SQLITE_OK);
    ck_assert_msg(sqlite3_exec(db, sql, NULL, NULL, NULL) == SQLITE_OK, "%s: %s", sql,
                  sqlite3_errmsg(db));
    sqlite3_close(db);
}

/* An archive with those rows, and what `sql` changes in them; NULL: nothing. */
static void make_archive(const char *path, const char *sql)
{
    char error[MST_ERROR_MAX] = "";
    struct mst_archive *a = mst_archive_create(path, NULL, error);

    ck_assert_msg(a != NULL, "%s", error);
    ck_assert_int_eq(mst_archive_close(a, error), 0);
    change(path, "PRAGMA synchronous = OFF");
    change(path, made_sql);
    if (sql != NULL)
        change(path, sql);
}

static int thin(const char *from, const char *to)
{
    const volatile sig_atomic_t never = 0;
    char error[MST_ERROR_MAX] = "";
    int status = mst_archive_thin(from, to, &never, error);

    ck_assert_msg(status >= 0, "%s", error);
    return status;
}

static struct mst_archive *read_archive(const char *path)
{
    char error[MST_ERROR_MAX] = "";
    struct mst_archive *a = mst_archive_read(path, error);

    ck_assert_msg(a != NULL, "%s", error);
    return a;
}

/* What a query finds, each row as a line. To be freed. */
static char *all_rows(struct mst_archive *a, const char *sql)
{
    sqlite3_stmt *statement;
    char *text;
    size_t size;
    FILE *out = open_memstream(&text, &size);
    int i;

    ck_assert_msg(sqlite3_prepare_v2(mst_archive_db(a), sql, -1, &statement, NULL) == SQLITE_OK,
                  "%s: %s", sql, sqlite3_errmsg(mst_archive_db(a)));
    while (sqlite3_step(statement) == SQLITE_ROW)
        for (i = 0; i < sqlite3_column_count(statement); i++)
            fprintf(out, "%s%c", (const char *)sqlite3_column_text(statement, i),
                    i + 1 < sqlite3_column_count(statement) ? '|' : '\n');
    sqlite3_finalize(statement);
    fclose(out);
    return text;
}

static double number(struct mst_archive *a, const char *sql)
{
    char *text = all_rows(a, sql);
    double value = atof(text);

    free(text);
    return value;
}

#define ENDED  "(start_ns + queue_ns + read_ns + handle_ns + send_ns)"
#define MINUTE " / 60000000000"

/* What is the same in an archive and in its thinned copy, to any reader. */
static const char *const same[] = {
    "SELECT server_id, " ENDED MINUTE ", label, status, aborted, ghost, count(*) FROM "
    "server_requests GROUP BY 1, 2, 3, 4, 5, 6",
    "SELECT server_id, (start_ns + run_ns)" MINUTE ", label, status, aborted, fatal, ghost, "
    "count(*) FROM php_requests GROUP BY 1, 2, 3, 4, 5, 6, 7",
    "SELECT " ENDED MINUTE ", max(queue_ns), max(read_ns), max(handle_ns), max(held_ns) "
    "FROM server_requests GROUP BY 1",
    "SELECT label, (start_ns + run_ns)" MINUTE ", max(wait_ns), max(run_ns), max(memory_bytes) "
    "FROM php_requests GROUP BY 1, 2",
    "SELECT key, queue_ns + handle_ns FROM main.server_requests WHERE status >= 500 OR aborted OR "
    "ghost ORDER BY key",
    "SELECT minute, key FROM (SELECT " ENDED MINUTE " AS minute, key, row_number() OVER (PARTITION "
    "BY " ENDED MINUTE " ORDER BY queue_ns + read_ns + handle_ns + send_ns DESC, key) AS place "
    "FROM main.server_requests) WHERE place <= 10 ORDER BY 1, 2",
    "SELECT count(*), count(p.key) FROM server_requests a LEFT JOIN php_requests p ON "
    "p.request_id = a.request_id",
    "SELECT label, max(handle_ns), tenth FROM (SELECT label, handle_ns, nth_value(handle_ns, 10) "
    "OVER (PARTITION BY label ORDER BY handle_ns DESC ROWS BETWEEN UNBOUNDED PRECEDING AND "
    "UNBOUNDED FOLLOWING) AS tenth FROM server_requests) GROUP BY label",
    "SELECT server_id, time_ns" MINUTE ", count(*), max(workers_busy), max(requests), "
    "max(1000 * listen_queue / listen_queue_limit), sum(cost_ns) FROM samples GROUP BY 1, 2",
    "SELECT time_ns" MINUTE ", max(busy_ns), max(runnable), max(blocked), min(memory_available) "
    "FROM machine_samples GROUP BY 1",
    "SELECT label, time_ns" MINUTE ", count(*), max(workers_busy), max(limit_reached) FROM "
    "pool_samples GROUP BY 1, 2",
    "SELECT count(*), max(pss_bytes) FROM memory_samples",
    "SELECT * FROM notes", "SELECT count(*) FROM servers",
};
/* What is estimated: it is wrong by 3 % at most. */
static const char *const near[] = {
    "SELECT sum(handle_ns) FROM server_requests", "SELECT sum(held_ns) FROM server_requests",
    "SELECT sum(run_ns) FROM php_requests", "SELECT sum(wait_ns) FROM php_requests",
    "SELECT sum(w.wait_ns) FROM php_requests p JOIN php_waits w ON w.server_id = p.server_id AND "
    "w.key = p.key", "SELECT avg(workers_busy) FROM samples", "SELECT avg(pss_bytes) FROM "
    "memory_samples", "SELECT avg(workers_busy >= workers_limit) FROM pool_samples",
};

START_TEST(test_a_thinned_archive_says_the_same)
{
    char from[PATH_MAX], to[PATH_MAX], *before, *after;
    struct mst_archive *whole, *thinned;
    struct stat large, small;
    char ignored[MST_ERROR_MAX];
    double a, b;
    size_t i;

    snprintf(from, sizeof from, "%s", test_path());
    snprintf(to, sizeof to, "%s", test_path());
    make_archive(from, NULL);
    ck_assert_int_eq(thin(from, to), 1);
    whole = read_archive(from);
    thinned = read_archive(to);
    for (i = 0; i < sizeof same / sizeof *same; i++) {
        before = all_rows(whole, same[i]);
        after = all_rows(thinned, same[i]);
        ck_assert_msg(strcmp(before, after) == 0, "%s\n%.3000s\nis not\n%.3000s", same[i], after,
                      before);
        free(before);
        free(after);
    }
    for (i = 0; i < sizeof near / sizeof *near; i++) {
        a = number(whole, near[i]);
        b = number(thinned, near[i]);
        ck_assert_msg(b > 0.97 * a && b < 1.03 * a, "%s: %f, not %f", near[i], b, a);
    }
    ck_assert_int_eq(stat(from, &large), 0);
    ck_assert_int_eq(stat(to, &small), 0);
    ck_assert_msg(small.st_size * 4 < large.st_size, "%lld of %lld", (long long)small.st_size,
                  (long long)large.st_size);
    ck_assert_uint_eq((unsigned)number(thinned, "SELECT max(weight) FROM server_requests"), 1);
    ck_assert_uint_gt((unsigned)number(thinned, "SELECT max(weight) FROM main.server_requests"), 5);
    mst_archive_close(whole, ignored);
    mst_archive_close(thinned, ignored);
}
END_TEST

/* Its summary counts the same requests, and joins as many. */
START_TEST(test_a_summary_of_it)
{
    char from[PATH_MAX], to[PATH_MAX], error[MST_ERROR_MAX] = "";
    struct mst_summary summaries[2];
    struct mst_archive *a;
    size_t i;

    snprintf(from, sizeof from, "%s", test_path());
    snprintf(to, sizeof to, "%s", test_path());
    make_archive(from, NULL);
    ck_assert_int_eq(thin(from, to), 1);
    for (i = 0; i < 2; i++) {
        a = read_archive(i == 0 ? from : to);
        ck_assert_msg(mst_findings_summary(&summaries[i], a, 1, error) == 0, "%s", error);
        mst_archive_close(a, error);
    }
    ck_assert_str_eq(summaries[0].thinned, "");
    ck_assert_uint_eq(summaries[1].thinned_of, 29998);
    ck_assert_msg(strstr(summaries[1].thinned, " of 29998 requests are kept") != NULL, "%s",
                  summaries[1].thinned);
    for (i = 0; i < 2; i++) {
        const struct mst_summary_server *x = &summaries[0].servers[i], *y =
                                           &summaries[1].servers[i];

        ck_assert_uint_eq(x->requests, y->requests);
        ck_assert_uint_eq(x->errors_5xx, y->errors_5xx);
        ck_assert_uint_eq(x->joined, y->joined);
        ck_assert_uint_eq(x->php.joined, y->php.joined);
        ck_assert_uint_eq(x->samples, y->samples);
        ck_assert_uint_eq(x->max_busy, y->max_busy);
        ck_assert_uint_eq(x->max_memory_bytes, y->max_memory_bytes);
    }
    mst_summary_free(&summaries[0]);
    mst_summary_free(&summaries[1]);
}
END_TEST

/* A slice takes a thinned archive and the whole one that goes on with it as one run. */
START_TEST(test_a_slice_of_both)
{
    char first[PATH_MAX], second[PATH_MAX], thinned[PATH_MAX], error[MST_ERROR_MAX] = "";
    const uint64_t from_ns = UINT64_C(1699999980) * MST_NS_PER_S + 120 * MST_NS_PER_S;
    struct mst_archive *parts[2], *slice;
    double counts[2];
    size_t i;

    snprintf(first, sizeof first, "%s", test_path());
    snprintf(second, sizeof second, "%s", test_path());
    snprintf(thinned, sizeof thinned, "%s", test_path());
    make_archive(first, NULL);
    make_archive(second, "UPDATE runs SET part = 2, started_ns = started_ns + 600000000000, "
                 "ended_ns = ended_ns + 600000000000; UPDATE server_requests SET start_ns = "
                 "start_ns + 600000000000; UPDATE php_requests SET start_ns = start_ns + "
                 "600000000000; UPDATE samples SET time_ns = time_ns + 600000000000");
    ck_assert_int_eq(thin(first, thinned), 1);
    for (i = 0; i < 2; i++) {
        parts[0] = read_archive(i == 0 ? first : thinned);
        parts[1] = read_archive(second);
        /* The thinned one is taken from its minute's begin on, the whole one is cut anywhere. */
        slice = mst_archive_slice(parts, 2, from_ns + i * 25 * MST_NS_PER_S,
                                  from_ns + 619 * MST_NS_PER_S, error);
        ck_assert_msg(slice != NULL, "%s", error);
        mst_archive_close(parts[0], error);
        mst_archive_close(parts[1], error);
        counts[i] = number(slice, "SELECT count(*) FROM server_requests");
        ck_assert(number(slice, "SELECT count(*) FROM runs") == 1);
        ck_assert((number(slice, "SELECT thinned_ns FROM runs") > 0) == (i == 1));
        ck_assert(number(slice, "SELECT duration_ns FROM runs") == 619e9);
        mst_archive_close(slice, error);
    }
    ck_assert(counts[0] > 29000 && counts[0] == counts[1]);
}
END_TEST

/* A day of a server, a sample each second: what costs time quadratic in their number takes minutes,
 * which the test does not have. */
START_TEST(test_a_slice_of_many_samples)
{
    const uint64_t from_ns = UINT64_C(1699999980) * MST_NS_PER_S;
    char path[PATH_MAX], error[MST_ERROR_MAX] = "";
    struct mst_archive *part, *slice;

    snprintf(path, sizeof path, "%s", test_path());
    make_archive(path, "UPDATE runs SET ended_ns = ended_ns + 86400000000000; "
                 "UPDATE samples SET moment = 'during'; WITH RECURSIVE n(i) AS (SELECT 0 UNION ALL "
                 "SELECT i + 1 FROM n WHERE i < 86399) INSERT INTO samples (server_id, time_ns, "
                 "moment) SELECT 1, " BEGIN " + 600500000000 + i * 1000000000, 'during' FROM n");
    part = read_archive(path);
    slice = mst_archive_slice(&part, 1, from_ns + MST_NS_PER_S, from_ns + 86400 * MST_NS_PER_S,
                              error);
    ck_assert_msg(slice != NULL, "%s", error);
    mst_archive_close(part, error);
    ck_assert(number(slice, "SELECT count(*) FROM samples WHERE moment = 'before'") == 2);
    ck_assert(number(slice, "SELECT count(*) FROM samples WHERE moment = 'end'") == 2);
    ck_assert(number(slice, "SELECT max(time_ns) - min(time_ns) FROM samples WHERE server_id = 1 "
                            "AND moment IN ('before', 'end')") == 86398.5e9);
    mst_archive_close(slice, error);
}
END_TEST

/* Requests that several of PHP's fit, and several that one of PHP's fits, are kept. */
START_TEST(test_what_is_not_clear_is_kept)
{
    char from[PATH_MAX], to[PATH_MAX], ignored[MST_ERROR_MAX];
    struct mst_archive *thinned;

    snprintf(from, sizeof from, "%s", test_path());
    snprintf(to, sizeof to, "%s", test_path());
    make_archive(from, "INSERT INTO php_requests SELECT server_id, key + 200000, start_ns, "
                 "request_id, wait_ns, run_ns, user_ns, system_ns, memory_bytes, label, status, "
                 "script, aborted, fatal, timeout, cached, pid, worker, ghost, cpu_wait_ns, NULL, "
                 "1, NULL, NULL FROM php_requests WHERE key BETWEEN 9000 AND 12000;"
                 "UPDATE server_requests SET request_id = request_id + 1 WHERE key BETWEEN 20000 "
                 "AND 21000 AND key % 3 = 2");
    ck_assert_int_eq(thin(from, to), 1);
    thinned = read_archive(to);
    ck_assert(number(thinned, "SELECT count(*) FROM main.server_requests WHERE label = 'shop' AND "
                     "key BETWEEN 9000 AND 12000") == 1001);
    ck_assert(number(thinned, "SELECT count(*) FROM main.php_requests WHERE key > 200000") == 1001);
    ck_assert(number(thinned, "SELECT count(*) FROM server_requests") == 30000);
    mst_archive_close(thinned, ignored);
}
END_TEST

/* ---- what is not thinned ------------------------------------------------------------------ */

static const char *const not_thinned[] = {
    "UPDATE runs SET recording = NULL", "UPDATE runs SET thinned_ns = 5",
    "INSERT INTO client_requests (run_id, start_ns, duration_ns) VALUES (1, 5, 5)",
    "INSERT INTO runs SELECT 2, name, command, command_line, added, tool, started_ns, ended_ns, "
    "duration_ns, complete, outcome, exit_status, exit_signal, tool_cpu_ns, tool_threads, "
    "memory_cost_ns, mpmstat_version, repetition, recorder_cpu_ns, recording, part, NULL FROM runs",
};

START_TEST(test_what_stays_whole)
{
    char from[PATH_MAX], to[PATH_MAX];

    snprintf(from, sizeof from, "%s", test_path());
    snprintf(to, sizeof to, "%s", test_path());
    make_archive(from, not_thinned[_i]);
    ck_assert_int_eq(thin(from, to), 0);
    ck_assert_int_ne(access(to, F_OK), 0);
}
END_TEST

/* SQLite takes any whole number for a rowid; thinning has a bit for each. */
START_TEST(test_rowids_of_a_stranger)
{
    char from[PATH_MAX], to[PATH_MAX + 8];

    snprintf(from, sizeof from, "%s", test_path());
    snprintf(to, sizeof to, "%s.thin", from);
    make_archive(from, "UPDATE php_requests SET rowid = -1099511627776 - rowid WHERE rowid % 2");
    ck_assert_int_eq(thin(from, to), 0);   /* it stays whole */
}
END_TEST

START_TEST(test_weights_of_a_stranger)
{
    static const struct { const char *sql, *said; } cases[] = {
        { "UPDATE runs SET thinned_ns = 5; UPDATE server_requests SET weight = 1 << 40 WHERE"
          " key = 5",
          "has a row that stands for more" },
        { "UPDATE runs SET thinned_ns = 5; UPDATE samples SET weight = -9",
          "has a row that stands for more" },
        { "UPDATE runs SET thinned_ns = 5; UPDATE server_requests SET weight = 1000000",
          "take a shorter time" },
    };
    char path[PATH_MAX], error[MST_ERROR_MAX] = "";

    snprintf(path, sizeof path, "%s", test_path());
    make_archive(path, cases[_i].sql);
    ck_assert_ptr_null(mst_archive_read(path, error));
    ck_assert_msg(strstr(error, cases[_i].said) != NULL, "%s", error);
}
END_TEST

/* ---- a rotation --------------------------------------------------------------------------- */

#define HOUR (3600 * MST_NS_PER_S)

static const char *const names[] = { "mpmstat-20231114T220000Z.db", "mpmstat-20231114T230000Z.db",
                                     "mpmstat-20231115T000000Z.db" };
static const uint64_t midnight_ns = UINT64_C(1700006400) * MST_NS_PER_S;   /* the last one's */

static void in_directory(char path[PATH_MAX], const struct mst_rotation *r, const char *name)
{
    ck_assert_int_lt(snprintf(path, PATH_MAX, "%s/%s", r->directory, name), PATH_MAX);
}

static bool is_there(const struct mst_rotation *r, const char *name)
{
    char path[PATH_MAX];

    in_directory(path, r, name);
    return access(path, F_OK) == 0;
}

/* A directory of three archives, each of an hour. */
static void make_rotation(struct mst_rotation *r)
{
    static char directory[PATH_MAX];
    char path[PATH_MAX];
    size_t i;

    snprintf(directory, sizeof directory, "%s", test_path());
    ck_assert_int_eq(mkdir(directory, 0700), 0);
    *r = (struct mst_rotation){ .directory = directory, .period_ns = HOUR };
    for (i = 0; i < 3; i++) {
        in_directory(path, r, names[i]);
        make_archive(path, NULL);
    }
}

static void written_at(const struct mst_rotation *r, const char *name, uint64_t wall_ns)
{
    const struct timespec times[] = { { (time_t)(wall_ns / MST_NS_PER_S), 0 },
                                      { (time_t)(wall_ns / MST_NS_PER_S), 0 } };
    char path[PATH_MAX];

    in_directory(path, r, name);
    ck_assert_int_eq(utimensat(AT_FDCWD, path, times, 0), 0);
}

/* Those that were copied here a moment ago ended when the next one began. */
START_TEST(test_removed_by_age)
{
    struct mst_rotation r;
    char error[MST_ERROR_MAX];

    make_rotation(&r);
    r.keep_ns = 2 * HOUR;
    ck_assert_int_eq(mst_rotation_remove_old(&r, midnight_ns + HOUR - 1, error), 0);
    ck_assert(is_there(&r, names[0]) && is_there(&r, names[1]) && is_there(&r, names[2]));
    ck_assert_int_eq(mst_rotation_remove_old(&r, midnight_ns + HOUR + 1, error), 0);
    ck_assert(!is_there(&r, names[0]) && is_there(&r, names[1]) && is_there(&r, names[2]));
    written_at(&r, names[1], midnight_ns - HOUR / 2);
    ck_assert_int_eq(mst_rotation_remove_old(&r, midnight_ns + 7 * HOUR / 4, error), 0);
    ck_assert(!is_there(&r, names[1]) && is_there(&r, names[2]));
    written_at(&r, names[2], midnight_ns + HOUR);
    ck_assert_int_eq(mst_rotation_remove_old(&r, midnight_ns + 3 * HOUR + 1, error), 0);
    ck_assert(!is_there(&r, names[2]));
}
END_TEST

START_TEST(test_removed_by_size)
{
    char path[PATH_MAX], error[MST_ERROR_MAX];
    struct mst_rotation r;
    struct stat st;

    make_rotation(&r);
    in_directory(path, &r, names[0]);
    ck_assert_int_eq(stat(path, &st), 0);
    r.size_bytes = (uint64_t)st.st_size;
    r.keep_bytes = 5 * r.size_bytes;
    ck_assert_int_eq(mst_rotation_remove_old(&r, midnight_ns, error), 0);
    ck_assert(is_there(&r, names[0]) && is_there(&r, names[2]));
    r.thin_ns = HOUR;    /* a copy of one needs room, too */
    ck_assert_int_eq(mst_rotation_remove_old(&r, midnight_ns, error), 0);
    ck_assert(!is_there(&r, names[0]) && is_there(&r, names[1]) && is_there(&r, names[2]));
}
END_TEST

static double thinned_ones(const struct mst_rotation *r, size_t i)
{
    char path[PATH_MAX], ignored[MST_ERROR_MAX];
    struct mst_archive *a;
    double thinned;

    in_directory(path, r, names[i]);
    a = read_archive(path);
    thinned = number(a, "SELECT count(*) FROM runs WHERE thinned_ns > 0");
    ck_assert(number(a, "SELECT count(*) FROM server_requests") == 30000);
    mst_archive_close(a, ignored);
    return thinned;
}

/* Archives that are old enough, but not the last one; each keeps its time, a program that reads one
 * has it on, and one with a log waits. */
START_TEST(test_old_ones_are_thinned)
{
    const volatile sig_atomic_t never = 0;
    char path[PATH_MAX], log[PATH_MAX + 8], error[MST_ERROR_MAX] = "";
    struct mst_archive *reader;
    struct mst_rotation r;
    struct stat before, after;

    make_rotation(&r);
    r.thin_ns = HOUR;
    in_directory(path, &r, names[0]);
    written_at(&r, names[0], midnight_ns - HOUR);
    ck_assert_int_eq(stat(path, &before), 0);
    reader = read_archive(path);
    ck_assert_int_eq(mst_rotation_thin(&r, midnight_ns + HOUR / 2, &never, error), 0);
    ck_assert(number(reader, "SELECT count(*) FROM main.server_requests") == 30000);
    mst_archive_close(reader, error);
    ck_assert_int_eq(stat(path, &after), 0);
    ck_assert(after.st_mtime == before.st_mtime && after.st_size * 4 < before.st_size);
    ck_assert(after.st_mode == before.st_mode);
    ck_assert(thinned_ones(&r, 0) == 1 && thinned_ones(&r, 1) == 0);

    in_directory(path, &r, names[1]);
    snprintf(log, sizeof log, "%s-shm", path);
    close(open(log, O_CREAT | O_WRONLY, 0600));
    ck_assert_int_eq(mst_rotation_thin(&r, midnight_ns + 9 * HOUR, &never, error), 0);
    unlink(log);
    ck_assert(thinned_ones(&r, 1) == 0);
    ck_assert_int_eq(mst_rotation_thin(&r, midnight_ns + 9 * HOUR, &never, error), 0);
    ck_assert(thinned_ones(&r, 1) == 1 && thinned_ones(&r, 2) == 0);
    ck_assert(!is_there(&r, "mpmstat-20231114T230000Z.db.thinned"));
}
END_TEST

/* A process that is killed at any moment of it leaves each archive whole or thinned; what else it
 * left is removed where the next recording begins. */
START_TEST(test_a_kill_leaves_one_or_the_other)
{
    char copy[PATH_MAX], error[MST_ERROR_MAX] = "";
    const volatile sig_atomic_t never = 0;
    struct mst_rotation r;
    unsigned left = 0;
    struct stat st;
    int directory;
    pid_t pid;

    make_rotation(&r);
    r.thin_ns = HOUR;
    in_directory(copy, &r, "mpmstat-20231114T220000Z.db.thinned");
    if (test_fork(&pid)) {
        mst_rotation_thin(&r, midnight_ns + 9 * HOUR, &never, error);
        _exit(0);
    }
    while (waitpid(pid, NULL, WNOHANG) == 0)
        if (stat(copy, &st) == 0 && st.st_size > _i * 65536) {
            kill(pid, SIGKILL);
            waitpid(pid, NULL, 0);
            break;
        } else {
            poll(NULL, 0, 1);
        }
    left += is_there(&r, "mpmstat-20231114T220000Z.db.thinned");
    ck_assert(thinned_ones(&r, 0) + left >= 0 && thinned_ones(&r, 1) >= 0);
    directory = mst_rotation_begin(&r, error);
    ck_assert_msg(directory >= 0, "%s", error);
    close(directory);
    ck_assert(!is_there(&r, "mpmstat-20231114T220000Z.db.thinned"));
    ck_assert_int_eq(mst_rotation_thin(&r, midnight_ns + 9 * HOUR, &never, error), 0);
    ck_assert(thinned_ones(&r, 0) == 1 && thinned_ones(&r, 1) == 1);
}
END_TEST

/* It gives up at once when it is asked to. */
START_TEST(test_it_gives_up)
{
    const volatile sig_atomic_t asked = 1;
    char error[MST_ERROR_MAX] = "";
    struct mst_rotation r;

    make_rotation(&r);
    r.thin_ns = HOUR;
    ck_assert_int_eq(mst_rotation_thin(&r, midnight_ns + 9 * HOUR, &asked, error), 0);
    ck_assert(thinned_ones(&r, 0) == 0);
    ck_assert(!is_there(&r, "mpmstat-20231114T220000Z.db.thinned"));
}
END_TEST

int main(void)
{
    Suite *suite = suite_create("thin");
    TCase *tests = tcase_create("thin");

    tcase_set_timeout(tests, 60);
    tcase_add_loop_test(tests, test_weights_add_up, 0, 5);
    tcase_add_loop_test(tests, test_a_mean_stays_close, 0, 20);
    tcase_add_test(tests, test_the_slowest_are_kept);
    tcase_add_test(tests, test_a_thinned_archive_says_the_same);
    tcase_add_test(tests, test_a_summary_of_it);
    tcase_add_test(tests, test_a_slice_of_both);
    tcase_add_test(tests, test_a_slice_of_many_samples);
    tcase_add_test(tests, test_what_is_not_clear_is_kept);
    tcase_add_loop_test(tests, test_what_stays_whole, 0,
                        sizeof not_thinned / sizeof *not_thinned);
    tcase_add_test(tests, test_rowids_of_a_stranger);
    tcase_add_loop_test(tests, test_weights_of_a_stranger, 0, 3);
    tcase_add_test(tests, test_removed_by_age);
    tcase_add_test(tests, test_removed_by_size);
    tcase_add_test(tests, test_old_ones_are_thinned);
    tcase_add_loop_test(tests, test_a_kill_leaves_one_or_the_other, 0, 8);
    tcase_add_test(tests, test_it_gives_up);
    suite_add_tcase(suite, tests);
    return test_run(suite);
}
