/* check_requests.c - the requests of a run by name, the slowest with their parts, and runs by the
 * name that they are repetitions of.
 */
#include <stdio.h>
#include <string.h>

#include "analysis/by_name.h"
#include "analysis/slowest.h"
#include "archive/archive.h"
#include "harness.h"
#include "made_run.h"
#include "report/groups.h"

static uint64_t sum_of(const uint64_t parts_ns[MST_PART_COUNT])
{
    uint64_t sum = 0;
    size_t i;

    for (i = 0; i < MST_PART_COUNT; i++)
        sum += parts_ns[i];
    return sum;
}

/* ---- traces -------------------------------------------------------------------------- */

START_TEST(test_split)
{
    const struct mst_split_times t = {
        .queue_ns = 10, .read_ns = 20, .handle_ns = 100, .send_ns = 40,
        .intervals_ns = { [MST_INTERVAL_TLS] = 5, [MST_INTERVAL_CHECKS] = 7,
                          [MST_INTERVAL_BACKEND] = 80, [MST_INTERVAL_SEND_CLIENT] = 30 },
        .php_wait_ns = 15, .php_run_ns = 60, .php_send_ns = 10, .php_all_ns = 70, .cpu_ns = 30,
        .cpu_wait_ns = MST_UNKNOWN, .waits_ns = { [MST_WAIT_DATABASE] = 25 },
    };
    struct mst_split split;
    const uint64_t *parts_ns = split.parts_ns;

    mst_split(&split, &t);
    ck_assert_uint_eq(sum_of(parts_ns), 170);
    ck_assert_uint_eq(parts_ns[MST_PART_TLS], 5);
    ck_assert_uint_eq(parts_ns[MST_PART_READ], 15);
    ck_assert_uint_eq(parts_ns[MST_PART_PHP_WAIT], 15);
    ck_assert_uint_eq(parts_ns[MST_PART_CPU], 30);
    ck_assert_uint_eq(parts_ns[MST_PART_WAITS + MST_WAIT_DATABASE], 25);
    ck_assert_uint_eq(parts_ns[MST_PART_REST], 15);
    ck_assert_uint_eq(parts_ns[MST_PART_BACKEND], 5);     /* PHP explains 75 of the 80 */
    ck_assert_uint_eq(parts_ns[MST_PART_CHECKS], 7);
    ck_assert_uint_eq(parts_ns[MST_PART_HANDLE], 13);
    ck_assert_uint_eq(parts_ns[MST_PART_SEND_CLIENT], 30);
    ck_assert_uint_eq(parts_ns[MST_PART_SEND], 0);
    ck_assert_uint_eq(split.handle_run_ns, 60);
    ck_assert_uint_eq(split.send_run_ns, 10);
}
END_TEST

/* PHP cannot begin before the body is there: only what it waits longer is its wait. */
START_TEST(test_split_of_an_upload)
{
    struct mst_split_times t = { .handle_ns = 100, .php_wait_ns = 80, .php_run_ns = 10,
                                 .intervals_ns = { [MST_INTERVAL_UPLOAD] = 70 } };
    struct mst_split split;
    const uint64_t *parts_ns = split.parts_ns;

    mst_split(&split, &t);
    ck_assert_uint_eq(parts_ns[MST_PART_UPLOAD], 70);
    ck_assert_uint_eq(parts_ns[MST_PART_PHP_WAIT], 20);
    ck_assert_uint_eq(parts_ns[MST_PART_HANDLE], 0);
    ck_assert_uint_eq(sum_of(parts_ns), 100);
    t.handle_ns = 200;     /* one after the other */
    mst_split(&split, &t);
    ck_assert_uint_eq(parts_ns[MST_PART_UPLOAD], 70);
    ck_assert_uint_eq(parts_ns[MST_PART_PHP_WAIT], 80);
    ck_assert_uint_eq(parts_ns[MST_PART_HANDLE], 40);
}
END_TEST

/* Parts that are longer than their whole are cut: the sum holds. */
START_TEST(test_split_of_contradictions)
{
    struct mst_split_times t = { .queue_ns = 1, .read_ns = 2, .handle_ns = 3, .send_ns = 4 };
    struct mst_split split;
    const uint64_t *parts_ns = split.parts_ns;
    unsigned i;

    for (i = 0; i < MST_INTERVAL_COUNT; i++)
        t.intervals_ns[i] = 100;
    for (i = 0; i < MST_WAIT_COUNT; i++)
        t.waits_ns[i] = 100;
    mst_split(&split, &t);
    ck_assert_uint_eq(sum_of(parts_ns), 10);
    t.php_wait_ns = t.php_run_ns = t.php_send_ns = t.cpu_ns = 100;
    mst_split(&split, &t);
    ck_assert_uint_eq(sum_of(parts_ns), 10);
    ck_assert_uint_eq(parts_ns[MST_PART_PHP_WAIT], 0);
    ck_assert_uint_eq(parts_ns[MST_PART_WAITS], 7);   /* waits are cut last */
    ck_assert_uint_eq(parts_ns[MST_PART_CPU], 0);
}
END_TEST

/* PHP's run within `send`, beside what the kernel says of the sending: whose time it is. */
static const struct {
    uint64_t run, all, sleep, client, network, server;    /* send takes 100 */
    uint64_t is_run, is_client, is_network, is_server, is_rest;
} sending[] = {
    /* PHP streams: the server has nothing to send while PHP sleeps. */
    { 75, 75, 75, 10, 10, 80, 75, 10, 10, 5, 0 },
    /* A slow client: PHP waits until the server takes its answer. */
    { 90, 90, 0, 95, 0, 5, 5, 95, 0, 0, 0 },
    /* PHP slept, and the client was slow, too: it would have been as long with a fast one. */
    { 90, 90, 90, 95, 0, 5, 90, 10, 0, 0, 0 },
    /* PHP slept before, in handle: what it did in send is not known. */
    { 50, 150, 100, 40, 10, 50, 50, 40, 10, 0, 0 },
    /* The kernel was not asked. */
    { 60, 60, 60, MST_UNKNOWN, MST_UNKNOWN, MST_UNKNOWN, 60, 0, 0, 0, 40 },
    { 0, 0, 0, 10, 20, 30, 0, 10, 20, 30, 40 },
};

START_TEST(test_split_of_sending)
{
    const struct mst_split_times t = {
        .send_ns = 100, .php_send_ns = sending[_i].run, .php_all_ns = sending[_i].all,
        .waits_ns = { [MST_WAIT_SLEEP] = sending[_i].sleep },
        .intervals_ns = { [MST_INTERVAL_SEND_CLIENT] = sending[_i].client,
                          [MST_INTERVAL_SEND_NETWORK] = sending[_i].network,
                          [MST_INTERVAL_SEND_SERVER] = sending[_i].server },
    };
    struct mst_split split;

    mst_split(&split, &t);
    ck_assert_uint_eq(sum_of(split.parts_ns), 100);
    ck_assert_uint_eq(split.send_run_ns, sending[_i].is_run);
    ck_assert_uint_eq(split.parts_ns[MST_PART_SEND_CLIENT], sending[_i].is_client);
    ck_assert_uint_eq(split.parts_ns[MST_PART_SEND_NETWORK], sending[_i].is_network);
    ck_assert_uint_eq(split.parts_ns[MST_PART_SEND_SERVER], sending[_i].is_server);
    ck_assert_uint_eq(split.parts_ns[MST_PART_SEND], sending[_i].is_rest);
}
END_TEST

/* ---- by name ------------------------------------------------------------------------- */

static void expect_whole(const struct mst_by_name *table, const struct made *m, size_t rows,
                         uint64_t requests)
{
    uint64_t all = 0, sum_ns = 0;
    size_t i;

    ck_assert_uint_eq(table->count, rows);
    for (i = 0; i < table->count; i++) {
        all += table->rows[i].requests;
        sum_ns += table->rows[i].sum_ns;
        ck_assert_uint_eq(sum_of(table->rows[i].parts_ns), table->rows[i].sum_ns);
        ck_assert(i == 0 || table->rows[i].name == NULL ||
                  table->rows[i].sum_ns <= table->rows[i - 1].sum_ns);
    }
    ck_assert_uint_eq(all, requests);
    ck_assert_uint_eq(sum_ns, table->sum_ns);
    ck_assert_uint_eq(all, m->s.servers[0].requests);
}

/* 400 requests of 1 ms, 2 ms, ..., 400 ms under forty labels: ten of each, too few for a p95. */
START_TEST(test_labels)
{
    struct run r = quiet_run();
    struct mst_by_name labels, handlers;
    const struct mst_by_name_row *row;
    struct made m;

    make(&m, &r, "UPDATE server_requests SET handle_ns = key * 1000000, label = 'l' || "
         "((key - 1) / 10), status = CASE WHEN key > 395 THEN 503 WHEN key > 392 THEN 404 ELSE 200 "
         "END, aborted = key = 391, handler = 'proxy', backend = 'b' || (key % 2)");
    ck_assert(mst_by_name_read(&labels, MST_BY_LABEL, &m.s.servers[0], 20));
    ck_assert(mst_by_name_read(&handlers, MST_BY_HANDLER, &m.s.servers[0], 20));
    expect_whole(&labels, &m, 21, 400);
    expect_whole(&handlers, &m, 2, 400);
    row = &labels.rows[0];
    ck_assert_str_eq(row->name, "l39");
    ck_assert_uint_eq(row->requests, 10);
    ck_assert_uint_eq(row->p50_ns, 395 * MS);
    ck_assert_uint_eq(row->p95_ns, MST_UNKNOWN);
    ck_assert_uint_eq(row->p99_ns, MST_UNKNOWN);
    ck_assert_uint_eq(row->errors_5xx, 5);
    ck_assert_uint_eq(row->errors_4xx, 3);
    ck_assert_uint_eq(row->aborted, 1);
    row = &labels.rows[20];
    ck_assert_ptr_null(row->name);
    ck_assert_uint_eq(row->names, 20);
    ck_assert_uint_eq(row->requests, 200);
    ck_assert_uint_eq(row->p50_ns, 100 * MS);
    ck_assert_uint_eq(row->p95_ns, 190 * MS);
    ck_assert_uint_eq(row->p99_ns, 198 * MS);
    ck_assert_str_eq(handlers.rows[0].name, "proxy b0");
    mst_by_name_free(&labels);
    mst_by_name_free(&handlers);
    unmake(&m);
}
END_TEST

/* The same by page; requests without a path are of no page, and count in the time of all. */
START_TEST(test_pages)
{
    struct run r = quiet_run();
    const struct mst_by_name *pages;
    struct made m;

    make(&m, &r, "UPDATE server_requests SET handle_ns = 1000000 * (1 + 99 * (key % 10 = 0)), "
         "path = CASE WHEN key > 390 THEN NULL WHEN key % 10 = 0 THEN '/checkout' ELSE '/item/{n}' "
         "END");
    pages = &m.s.servers[0].pages;
    ck_assert_uint_eq(m.s.servers[0].with_path, 390);
    ck_assert_uint_eq(pages->count, 2);
    ck_assert_str_eq(pages->rows[0].name, "/checkout");
    ck_assert_uint_eq(pages->rows[0].requests, 39);
    ck_assert_uint_eq(pages->rows[0].sum_ns, 39 * 100 * MS);
    ck_assert_str_eq(pages->rows[1].name, "/item/{n}");
    ck_assert_uint_eq(pages->sum_ns, (40 * 100 + 360) * MS);
    check_output(&m.s);
    unmake(&m);
    make(&m, &r, "UPDATE server_requests SET path = '/' || key || hex(zeroblob(40)) || x'0a'");
    ck_assert_uint_eq(m.s.servers[0].pages.count, MST_PAGES_MOST + 1);
    ck_assert_uint_eq(m.s.servers[0].pages.rows[MST_PAGES_MOST].names, 400 - MST_PAGES_MOST);
    check_output(&m.s);
    unmake(&m);
    make(&m, &r, NULL);
    ck_assert_uint_eq(m.s.servers[0].with_path, 0);
    ck_assert_uint_eq(m.s.servers[0].pages.count, 0);
    check_output(&m.s);
    unmake(&m);
}
END_TEST

/* PHP's part of a label's time; scripts with their waits, and the ends that they waited for. */
START_TEST(test_scripts_and_ends)
{
    struct run r = quiet_run();
    struct mst_by_name one, other;
    struct made m;

    make(&m, &r, PHP "UPDATE php_requests SET script = CASE WHEN key % 4 = 0 THEN '/slow.php' "
         "ELSE '/i.php' END, user_ns = 100000, system_ns = 100000, cpu_wait_ns = 0, "
         "waits_ns = 300000; " INTO_PHP_WAITS "SELECT 2, key, 'database', 'db1', 1, 0, 200000 "
         "FROM php_requests; " INTO_PHP_WAITS "SELECT 2, key, 'cache', NULL, NULL, NULL, "
         "100000 FROM php_requests");
    ck_assert(mst_by_name_read(&one, MST_BY_LABEL, &m.s.servers[0], 20));
    ck_assert(mst_by_name_read(&other, MST_BY_HANDLER, &m.s.servers[0], 20));
    expect_whole(&one, &m, 1, 400);
    ck_assert_uint_eq(one.rows[0].parts_ns[MST_PART_PHP_WAIT], 400 * 6 * MS);
    ck_assert_uint_eq(one.rows[0].parts_ns[MST_PART_DATABASE], 400 * MS / 5);
    ck_assert_uint_eq(one.rows[0].parts_ns[MST_PART_REST], 400 * MS / 2);
    ck_assert_uint_eq(other.count, 0);          /* no handler is known */
    mst_by_name_free(&one);
    mst_by_name_free(&other);
    ck_assert(mst_by_name_read(&one, MST_BY_SCRIPT, &m.s.servers[1], 20));
    ck_assert(mst_by_name_ends(&other, mst_archive_db(m.archive), &m.s.servers[1], 20));
    expect_whole(&one, &m, 2, 400);
    ck_assert_str_eq(one.rows[0].name, "/i.php");
    ck_assert_uint_eq(one.rows[1].requests, 100);
    ck_assert_uint_eq(one.rows[1].parts_ns[MST_PART_WAITS + MST_WAIT_DATABASE], 20 * MS);
    ck_assert_uint_eq(one.rows[1].parts_ns[MST_PART_WAITS + MST_WAIT_CACHE], 10 * MS);
    ck_assert_uint_eq(other.count, 1);
    ck_assert_str_eq(other.rows[0].name, "database db1");
    ck_assert_uint_eq(other.rows[0].requests, 400);
    ck_assert_uint_eq(other.rows[0].p50_ns, 200000);
    ck_assert_uint_eq(other.sum_ns, one.sum_ns);
    mst_by_name_free(&one);
    mst_by_name_free(&other);
    unmake(&m);
}
END_TEST

/* ---- the slowest --------------------------------------------------------------------- */

START_TEST(test_slowest)
{
    struct run r = quiet_run();
    struct mst_slowest slowest;
    const struct mst_slow *slow;
    struct made m;
    size_t i;

    make(&m, &r, PHP "UPDATE server_requests SET handle_ns = 20000000, status = 503 WHERE key = 7;"
         "UPDATE php_requests SET user_ns = 500000, system_ns = 0, cpu_wait_ns = 0, "
         "waits_ns = 300000; " INTO_PHP_WAITS "SELECT 2, key, 'database', 'db', 1, 0, 300000 "
         "FROM php_requests; INSERT INTO marks SELECT 2, key, start_ns + 200000, 'step', pid, "
         "start_ns FROM php_requests");
    ck_assert(mst_slowest_read(&slowest, &m.s, mst_archive_db(m.archive), &m.s.servers[0], 50));
    ck_assert_uint_eq(slowest.count, MST_SLOWEST_MOST);
    for (i = 0; i < slowest.count; i++) {
        ck_assert_uint_eq(sum_of(slowest.rows[i].parts_ns), slowest.rows[i].total_ns);
        ck_assert(i == 0 || slowest.rows[i].total_ns <= slowest.rows[i - 1].total_ns);
    }
    slow = &slowest.rows[0];
    ck_assert_uint_eq(slow->total_ns, 20 * MS);
    ck_assert_uint_eq(slow->status, 503);
    ck_assert_str_eq(slow->label, "site");
    ck_assert_str_eq(slow->script, "/i.php");
    ck_assert_uint_eq(slow->parts_ns[MST_PART_PHP_WAIT], 6 * MS);
    ck_assert_uint_eq(slow->parts_ns[MST_PART_CPU], 500000);
    ck_assert_uint_eq(slow->parts_ns[MST_PART_WAITS + MST_WAIT_DATABASE], 300000);
    ck_assert_uint_eq(slow->parts_ns[MST_PART_REST], 200000);
    ck_assert_uint_eq(slow->parts_ns[MST_PART_HANDLE], 13 * MS);
    ck_assert_uint_eq(slow->mark_count, 1);
    ck_assert_str_eq(slow->marks[0].name, "step");
    ck_assert_uint_eq(slow->marks[0].after_ns, 6700000);
    mst_slowest_free(&slowest);
    ck_assert(mst_slowest_read(&slowest, &m.s, mst_archive_db(m.archive), &m.s.servers[1], 3));
    ck_assert_uint_eq(slowest.count, 3);         /* a PHP's: waiting and running */
    ck_assert_uint_eq(slowest.rows[0].total_ns, 7 * MS);
    ck_assert_uint_eq(sum_of(slowest.rows[0].parts_ns), 7 * MS);
    ck_assert_uint_eq(slowest.rows[0].marks[0].after_ns, 6200000);
    mst_slowest_free(&slowest);
    unmake(&m);
}
END_TEST

/* ---- groups -------------------------------------------------------------------------- */

/* The run that is shown has the median rate, of the complete ones with the usual finding. */
START_TEST(test_groups)
{
    static char a[] = "a", b[] = "b";
    struct mst_finding usual = { .code = MST_CODE_CPU }, odd = { .code = MST_CODE_NOTHING };
    const struct {
        char *name; uint64_t rate; bool complete; struct mst_finding *finding;
    } made[] = {
        { a, 30, true, &usual }, { b, 5, true, &odd }, { a, 10, true, &usual },
        { a, 20, true, &usual }, { a, 1000, false, &usual }, { a, 15, true, &odd },
        { NULL, 1, true, &odd }, { NULL, 2, true, &odd },
    };
    struct mst_report_run runs[sizeof made / sizeof *made] = { { 0 } };
    struct mst_report report = { .pool = memory_of_test(), .runs = runs,
                                 .count = sizeof made / sizeof *made };
    struct mst_report_groups groups;
    size_t i;

    for (i = 0; i < report.count; i++) {
        runs[i].summary = (struct mst_summary){
            .name = made[i].name, .complete = made[i].complete, .repetition = MST_UNKNOWN,
            .finding_count = 1, .findings = made[i].finding,
            .client = { .known = true, .requests_per_1000s = made[i].rate },
        };
    }
    mst_groups_make(&groups, &report);
    ck_assert_uint_eq(groups.count, 4);          /* a, b, and two runs without a name */
    ck_assert_uint_eq(groups.items[0].count, 5);
    ck_assert_uint_eq(groups.items[0].shown, 3);
    ck_assert_uint_eq(groups.items[1].count, 1);
    ck_assert_uint_eq(groups.items[1].shown, 1);
}
END_TEST

int main(void)
{
    Suite *suite = suite_create("requests");
    TCase *tests = tcase_create("requests");

    tcase_add_test(tests, test_split);
    tcase_add_test(tests, test_split_of_an_upload);
    tcase_add_test(tests, test_split_of_contradictions);
    tcase_add_loop_test(tests, test_split_of_sending, 0, sizeof sending / sizeof *sending);
    tcase_add_test(tests, test_labels);
    tcase_add_test(tests, test_pages);
    tcase_add_test(tests, test_scripts_and_ends);
    tcase_add_test(tests, test_slowest);
    tcase_add_test(tests, test_groups);
    suite_add_tcase(suite, tests);
    return test_run(suite);
}
