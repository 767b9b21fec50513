/* check_summary_resources.c - limits, and what runs used of them.
 *
 * Each test writes a run into an archive, as a recording would, changes in it
 * what the test is about, and looks at the summary.
 */
#include "harness.h"
#include "made_run.h"

/* ---- limits and what is used of them ------------------------------------------------ */

START_TEST(test_resources)
{
    struct run r = quiet_run();
    const struct mst_summary_resources *res;
    struct made m;

    make(&m, &r, "INSERT INTO process_samples VALUES (1, 1, 70, 1, 1, 900, 20000, 'S'), "
                 "(1, 2, 71, 1, 1, 59, 60, 'S'), (1, 3, 71, 1, 1, 12, 60, 'S'), "
                 "(1, 3, 72, 1, 1, NULL, 9, 'S');"
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
    ck_assert_uint_eq(res->http2_full_milli, 103);   /* 4 of the 39 while requests came */
    ck_assert_uint_eq(m.s.io_stall_ns, 46);
    ck_assert_uint_eq(m.s.max_blocked, 6);
    ck_assert_uint_eq(m.s.port_count, 2);
    ck_assert_str_eq(m.s.ports[0].remote, "127.0.0.1:9000");
    ck_assert(m.s.ports[0].ports == 28000 && m.s.ports[0].limit == 28232);
    ck_assert_str_eq(m.s.ports[1].remote, "[::1]:3306");
    expect_text(&m, "\n  HTTP/2    workers 8 of 8 in the fullest child; all of them busy for "
                    "10.3 % of the load\n");
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
                 "INSERT INTO process_samples VALUES (1, 1, 70, 1, 1, 12, NULL, NULL)");
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

START_TEST(test_pools)
{
    struct run r = quiet_run();
    const struct mst_summary_pool *shop, *www;
    struct made m;

    make(&m, &r, POOLS
                 "UPDATE php_requests SET waits_ns = 600000 WHERE label = 'shop';"
                 INTO_PHP_WAITS "SELECT 2, key, 'database', 'mysql', 1, 0, 500000 FROM "
                 "php_requests WHERE label = 'shop';"
                 INTO_PHP_WAITS "SELECT 2, key, 'lock', NULL, NULL, NULL, 100000 FROM "
                 "php_requests WHERE label = 'shop'");
    ck_assert_uint_eq(m.s.servers[1].pool_count, 2);
    shop = &m.s.servers[1].pools[0];
    www = &m.s.servers[1].pools[1];
    ck_assert_str_eq(shop->label, "shop");
    ck_assert_uint_eq(shop->workers_limit, 2);
    ck_assert_uint_eq(shop->samples, 40);
    ck_assert_uint_eq(shop->max_busy, 2);
    ck_assert_uint_eq(shop->mean_busy_milli, 1487);   /* 58 in 39 samples: not at the end */
    ck_assert_uint_eq(shop->at_limit_milli, 487);
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
    expect_text(&m, "  limit  busy  most    full  reached  requests  php_wait  php_run   memory  "
                "pool\n"
                "      2  1.49     2  48.7 %       41       100   40.0 ms  1.00 ms  9.00 MB  "
                "shop\n      longest wait database, 500 us\n"
                "     10  1.00     1   0.0 %        0       300   6.00 ms  1.00 ms  2.10 MB  "
                "www\n");
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
                     "INSERT INTO pool_samples VALUES (2, 1, 'before', 'www', 5, NULL, 7, 1), "
                     "(2, 2, 'after', 'www', 5, NULL, 9, 1), "
                     "(2, 1700000001000000000, 'during', 'idle', 3, 0, NULL, 1)");
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

int main(void)
{
    Suite *suite = suite_create("summary_resources");
    TCase *tests = tcase_create("summary_resources");

    tcase_add_test(tests, test_resources);
    tcase_add_test(tests, test_resources_unknown);
    tcase_add_test(tests, test_pools);
    tcase_add_test(tests, test_pools_unknown);
    suite_add_tcase(suite, tests);
    return test_run(suite);
}
