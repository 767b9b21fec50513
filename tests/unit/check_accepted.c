/* check_accepted.c - settings of workers that a server accepts: for all that it runs with, what is
 * planned satisfies its rules and reaches the number.
 *
 * The rules stand here a second time, as the sources of the servers have them.
 */
#include "findings/accepted.h"
#include "harness.h"

#define MOST 12u   /* of each number: all combinations */

/* fpm_conf_process_all_pools() of PHP 7.4 to 8.4 refuses what does not satisfy these. */
static bool fpm_starts(const struct mst_fpm_pool *p)
{
    uint64_t children = p->n[MST_FPM_CHILDREN], start = p->n[MST_FPM_START];
    uint64_t least = p->n[MST_FPM_MIN_SPARE], most = p->n[MST_FPM_MAX_SPARE];

    if (children < 1)
        return false;
    if (p->pm != MST_PM_DYNAMIC)
        return true;
    if (least == 0 || most == 0)
        return false;
    if (least > children || most > children)
        return false;
    if (most < least)
        return false;
    return !(start < least || start > most);
}

static void each_pool(void (*check)(struct mst_fpm_pool *, uint64_t), enum mst_pm pm)
{
    uint64_t n[MST_FPM_SETTINGS], workers;

    for (n[0] = 0; n[0] <= MOST; n[0]++)
        for (n[1] = 0; n[1] <= MOST; n[1]++)
            for (n[2] = 0; n[2] <= MOST; n[2]++)
                for (n[3] = 0; n[3] <= MOST; n[3]++) {
                    struct mst_fpm_pool pool = { pm, { n[0], n[1], n[2], n[3] } };

                    ck_assert_int_eq(mst_fpm_accepts(&pool), fpm_starts(&pool));
                    for (workers = 1; workers <= 2 * MOST && fpm_starts(&pool); workers++) {
                        struct mst_fpm_pool to = pool;

                        check(&to, workers);
                    }
                }
}

static void check_limit(struct mst_fpm_pool *pool, uint64_t workers)
{
    const struct mst_fpm_pool now = *pool;

    mst_fpm_set_limit(pool, workers);
    ck_assert(fpm_starts(pool));
    ck_assert_uint_eq(pool->n[MST_FPM_CHILDREN], workers);
    ck_assert_int_eq(pool->pm, now.pm);
    if (now.pm != MST_PM_DYNAMIC || workers < now.n[MST_FPM_CHILDREN])
        return;
    ck_assert_uint_eq(pool->n[MST_FPM_START], workers);
    ck_assert_uint_eq(pool->n[MST_FPM_MAX_SPARE], workers);
    ck_assert_uint_eq(pool->n[MST_FPM_MIN_SPARE], now.n[MST_FPM_MIN_SPARE]);
}

static void check_ready(struct mst_fpm_pool *pool, uint64_t workers)
{
    const struct mst_fpm_pool now = *pool;

    mst_fpm_set_ready(pool, workers);
    ck_assert(fpm_starts(pool));
    ck_assert_uint_eq(pool->n[MST_FPM_CHILDREN], now.n[MST_FPM_CHILDREN]);
    ck_assert_int_eq(pool->pm, now.pm == MST_PM_ONDEMAND ? MST_PM_STATIC : now.pm);
    if (now.pm == MST_PM_DYNAMIC)
        ck_assert_uint_ge(pool->n[MST_FPM_START], workers < now.n[MST_FPM_CHILDREN] ?
                          workers : now.n[MST_FPM_CHILDREN]);
}

START_TEST(test_every_pool)
{
    each_pool(check_limit, (enum mst_pm)_i);
    each_pool(check_ready, (enum mst_pm)_i);
}
END_TEST

/* What README's example needs on Debian's pool, which FPM refused with pm.start_servers alone. */
START_TEST(test_debians_pool)
{
    struct mst_fpm_pool pool = { MST_PM_DYNAMIC, { 5, 2, 1, 3 } };

    mst_fpm_set_limit(&pool, 25);
    ck_assert(fpm_starts(&pool));
    ck_assert_uint_eq(pool.n[MST_FPM_CHILDREN], 25);
    ck_assert_uint_eq(pool.n[MST_FPM_START], 25);
    ck_assert_uint_eq(pool.n[MST_FPM_MIN_SPARE], 1);
    ck_assert_uint_eq(pool.n[MST_FPM_MAX_SPARE], 25);
    pool.n[MST_FPM_MAX_SPARE] = 3;
    ck_assert(!mst_fpm_accepts(&pool));
    ck_assert_uint_eq(mst_fpm_usual_start(&(struct mst_fpm_pool){ MST_PM_DYNAMIC,
                                                                  { 5, 0, 1, 4 } }), 2);
}
END_TEST

/* event_check_config(), worker_check_config(), prefork_check_config() leave it as it is, and so do
 * the functions that run the MPM. */
static bool httpd_takes(const struct mst_mpm *m)
{
    const uint64_t *n = m->n;
    uint64_t threads = m->threaded ? n[MST_MPM_THREADS] : 1;

    if (m->threaded && (n[MST_MPM_THREAD_LIMIT] < 1 || threads < 1 ||
                        threads > n[MST_MPM_THREAD_LIMIT]))
        return false;
    return n[MST_MPM_SERVER_LIMIT] >= 1 && n[MST_MPM_WORKERS] >= threads &&
           n[MST_MPM_WORKERS] % threads == 0 &&
           n[MST_MPM_WORKERS] / threads <= n[MST_MPM_SERVER_LIMIT] && n[MST_MPM_START] >= 1 &&
           n[MST_MPM_START] <= n[MST_MPM_WORKERS] / threads && n[MST_MPM_MIN_SPARE] >= 1 &&
           n[MST_MPM_MAX_SPARE] >= n[MST_MPM_MIN_SPARE] + threads;
}

static void check_mpm(struct mst_mpm mpm)
{
    struct mst_mpm now = mpm, to;
    uint64_t workers, threads;

    mst_mpm_correct(&now);
    ck_assert(httpd_takes(&now));
    ck_assert_int_eq(mst_mpm_accepts(&mpm), httpd_takes(&mpm));
    threads = mpm.threaded ? now.n[MST_MPM_THREADS] : 1;
    for (workers = 1; workers < 5 * MOST; workers += 3) {
        to = mpm;
        mst_mpm_set_limit(&to, workers);
        ck_assert(httpd_takes(&to));
        ck_assert_uint_ge(to.n[MST_MPM_WORKERS], workers);
        ck_assert_uint_lt(to.n[MST_MPM_WORKERS], workers + threads);
        ck_assert_uint_eq(to.n[MST_MPM_THREADS], now.n[MST_MPM_THREADS]);
        if (to.n[MST_MPM_WORKERS] <= now.n[MST_MPM_SERVER_LIMIT] * threads)
            ck_assert_uint_eq(to.n[MST_MPM_SERVER_LIMIT], now.n[MST_MPM_SERVER_LIMIT]);
        to = mpm;
        mst_mpm_set_ready(&to, workers);
        ck_assert(httpd_takes(&to));
        ck_assert_uint_eq(to.n[MST_MPM_WORKERS], now.n[MST_MPM_WORKERS]);
        workers = workers < now.n[MST_MPM_WORKERS] ? workers : now.n[MST_MPM_WORKERS];
        ck_assert_uint_ge(to.n[MST_MPM_START] * threads, workers);
        ck_assert_uint_ge(to.n[MST_MPM_MIN_SPARE], workers);
        if (workers == now.n[MST_MPM_WORKERS])
            break;
    }
}

START_TEST(test_every_mpm)
{
    static const uint64_t values[] = { 0, 1, 2, 5, 16, 40 };
    enum { COUNT = sizeof values / sizeof *values };
    size_t all, i, rest, combinations = 1;

    for (i = 0; i < MST_MPM_SETTINGS; i++)
        combinations *= COUNT;
    for (all = 0; all < combinations; all++) {
        struct mst_mpm mpm = { .threaded = _i == 1 };

        for (i = 0, rest = all; i < MST_MPM_SETTINGS; i++, rest /= COUNT)
            mpm.n[i] = values[rest % COUNT];
        if (!mpm.threaded)
            mpm.n[MST_MPM_THREADS] = mpm.n[MST_MPM_THREAD_LIMIT] = 1;
        check_mpm(mpm);
    }
}
END_TEST

/* 500 workers of 25 threads take 20 processes, and Debian's files have room for 16. */
START_TEST(test_debians_event)
{
    struct mst_mpm mpm = { true, { 150, 16, 2, 25, 75, 25, 64 } };

    mst_mpm_set_limit(&mpm, 160);
    ck_assert_uint_eq(mpm.n[MST_MPM_WORKERS], 175);
    ck_assert_uint_eq(mpm.n[MST_MPM_SERVER_LIMIT], 16);
    mst_mpm_set_limit(&mpm, 500);
    ck_assert_uint_eq(mpm.n[MST_MPM_WORKERS], 500);
    ck_assert_uint_eq(mpm.n[MST_MPM_SERVER_LIMIT], 20);
    ck_assert_uint_eq(mpm.n[MST_MPM_MAX_SPARE], 75);
}
END_TEST

int main(void)
{
    Suite *suite = suite_create("accepted settings");
    TCase *tests = tcase_create("accepted settings");

    tcase_add_loop_test(tests, test_every_pool, 0, MST_PM_COUNT);
    tcase_add_test(tests, test_debians_pool);
    tcase_add_loop_test(tests, test_every_mpm, 0, 2);
    tcase_add_test(tests, test_debians_event);
    tcase_set_timeout(tests, 60);
    suite_add_tcase(suite, tests);
    return test_run(suite);
}
