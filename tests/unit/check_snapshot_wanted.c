/* check_snapshot_wanted.c - how many workers a server, or a pool of FPM, wants: those in use, and
 * one for each connection in its accept queues.
 */
#include <string.h>

#include "base/clock.h"
#include "segment/listen_hash.h"
#include "snapped.h"

#define LISTENERS 4

static struct mst_snapshot_listener listeners[LISTENERS];

/* Looks at the board, with the first `count` listeners. */
static void look_with(size_t count, int running)
{
    struct mst_world world = { .running = running, .listeners_known = true,
                               .listener_count = count, .listeners = listeners };

    look(running);
    mst_snapshot_free(&view.s);
    ck_assert_int_eq(mst_snapshot_make(&view.s, &view.copy, &world), 0);
}

static struct mst_snapshot_listener listening(const char *address, uint64_t queue, uint64_t taken)
{
    return (struct mst_snapshot_listener){ .address = address, .sockets = 1, .queue = queue,
                                           .connections = taken };
}

static void look_again(size_t count, int running)
{
    test_view_free(&view);
    look_with(count, running);
}

/* ---- Apache's -------------------------------------------------------------------------- */

/* Two of its four workers are busy, one of them with a connection that its client keeps. */
static void make_apache(void)
{
    uint64_t now = mst_now_ns();

    make();
    enter(worker(claim(now), 0), MST_STATE_HANDLING, now);
    enter(worker(claim(now), 1), MST_STATE_KEEPALIVE, now);
    listeners[0] = listening("[::]:80", 3, MST_UNKNOWN);
    listeners[1] = listening("[::]:443", 4, MST_UNKNOWN);
}

START_TEST(apache_wants_the_busy_and_one_for_each_that_waits)
{
    make_apache();
    look_with(2, 1);
    ck_assert_uint_eq(view.s.workers_busy, 2);
    ck_assert_uint_eq(view.s.workers_wanted, 2 + 3 + 4);
    listeners[0].queue = listeners[1].queue = 0;
    look_again(2, 1);
    ck_assert_uint_eq(view.s.workers_wanted, 2);
    tear_down();
}
END_TEST

START_TEST(what_apache_wants_is_unknown_where_a_queue_is)
{
    make_apache();
    look(1);
    ck_assert(!view.s.listeners_known);
    ck_assert_uint_eq(view.s.workers_wanted, MST_UNKNOWN);
    look_again(0, 1);
    ck_assert_uint_eq(view.s.workers_wanted, MST_UNKNOWN);
    listeners[1].queue = MST_UNKNOWN;
    look_again(2, 1);
    ck_assert_uint_eq(view.s.workers_wanted, MST_UNKNOWN);
    listeners[1].queue = 1;
    look_again(2, 0);   /* it is gone */
    ck_assert_uint_eq(view.s.workers_wanted, MST_UNKNOWN);
    tear_down();
}
END_TEST

/* ---- pools ------------------------------------------------------------------------------- */

static uint64_t wanted_by(const char *pool)
{
    return test_label(&view.s, pool)->workers_wanted;
}

/* Two pools, of which "www" has so many requests. */
static void make_pools(unsigned busy)
{
    struct mst_layout layout = test_php_layout();
    uint64_t now = mst_now_ns();
    uint32_t www;

    test_board(&board, &layout);
    mst_pool_limit_add(&board, "www", 2, mst_listen_hash("/run/php/www.sock"));
    mst_pool_limit_add(&board, "shop", 5, mst_listen_hash("127.0.0.1:9000"));
    www = mst_label_intern(&board, "www");
    while (busy-- > 0) {
        struct mst_worker *w = worker(claim(now), 0);

        enter(w, MST_STATE_HANDLING, now);
        mst_worker_show(w, now, 1, www);
    }
    listeners[0] = listening("127.0.0.1:9000", 7, 1);
    listeners[1] = listening("/run/php/www.sock", 6, 2);
}

START_TEST(each_pool_wants_its_own)
{
    make_pools(2);
    look_with(2, 1);
    ck_assert_uint_eq(wanted_by("www"), 2 + 6);
    ck_assert_uint_eq(wanted_by("shop"), 1 + 7);
    ck_assert_uint_eq(wanted_by(MST_LABEL_OTHER_NAME), MST_UNKNOWN);
    ck_assert_uint_eq(view.s.workers_wanted, MST_UNKNOWN);   /* is Apache's */
    tear_down();
}
END_TEST

/* A client keeps more connections than there are requests; a request goes on without one. */
START_TEST(connections_and_requests_hold_workers)
{
    static const struct { unsigned busy; uint64_t taken, wanted; } cases[] = {
        { 1, 2, 2 + 6 }, { 2, 1, 2 + 6 }, { 0, 0, 6 },
    };

    make_pools(cases[_i].busy);
    listeners[1].connections = cases[_i].taken;
    look_with(2, 1);
    ck_assert_uint_eq(test_label(&view.s, "www")->in_flight, cases[_i].busy);
    ck_assert_uint_eq(wanted_by("www"), cases[_i].wanted);
    tear_down();
}
END_TEST

START_TEST(what_a_pool_wants_is_unknown_where_its_queue_is)
{
    make_pools(1);
    look(1);
    ck_assert_uint_eq(wanted_by("www"), MST_UNKNOWN);
    look_again(1, 1);   /* its listener is not among those known */
    ck_assert_uint_eq(wanted_by("www"), MST_UNKNOWN);
    ck_assert_uint_eq(wanted_by("shop"), 1 + 7);
    listeners[1].connections = MST_UNKNOWN;
    look_again(2, 1);
    ck_assert_uint_eq(wanted_by("www"), MST_UNKNOWN);
    listeners[1] = listening("/run/php/www.sock", MST_UNKNOWN, 1);
    look_again(2, 1);
    ck_assert_uint_eq(wanted_by("www"), MST_UNKNOWN);
    listeners[1].queue = 1;
    look_again(2, 0);
    ck_assert_uint_eq(wanted_by("www"), MST_UNKNOWN);
    tear_down();
}
END_TEST

/* The board has the address of only one of them. */
START_TEST(what_pools_with_one_label_want_is_unknown)
{
    make_pools(1);
    mst_pool_limit_add(&board, "shop", 5, mst_listen_hash("127.0.0.1:9001"));
    look_with(2, 1);
    ck_assert_uint_eq(wanted_by("shop"), MST_UNKNOWN);
    ck_assert_uint_eq(wanted_by("www"), 2 + 6);
    mst_pool_limits_clear(&board);   /* a reload */
    mst_pool_limit_add(&board, "shop", 5, mst_listen_hash("127.0.0.1:9000"));
    look_again(2, 1);
    ck_assert_uint_eq(wanted_by("shop"), 1 + 7);
    ck_assert_uint_eq(wanted_by("www"), MST_UNKNOWN);
    tear_down();
}
END_TEST

/* ---- */

int main(void)
{
    Suite *suite = suite_create("snapshot_wanted");
    TCase *apache = tcase_create("apache"), *pools = tcase_create("pools");

    tcase_add_test(apache, apache_wants_the_busy_and_one_for_each_that_waits);
    tcase_add_test(apache, what_apache_wants_is_unknown_where_a_queue_is);
    tcase_add_test(pools, each_pool_wants_its_own);
    tcase_add_loop_test(pools, connections_and_requests_hold_workers, 0, 3);
    tcase_add_test(pools, what_a_pool_wants_is_unknown_where_its_queue_is);
    tcase_add_test(pools, what_pools_with_one_label_want_is_unknown);
    suite_add_tcase(suite, apache);
    suite_add_tcase(suite, pools);
    return test_run(suite);
}
