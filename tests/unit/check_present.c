/* check_present.c - whether workers are stuck, what they wait for, and the sentence of it. */
#include <stdio.h>
#include <string.h>

#include "base/clock.h"
#include "harness.h"
#include "render/held.h"

#define S       MST_NS_PER_S
#define WORKERS 8u

static struct mst_snapshot apache, php;
static struct mst_snapshot_slot slots[2][WORKERS];
static struct mst_snapshot_label pools[2];
static struct mst_snapshot_listener listeners[2];
static char told[1024];

/* Apache and PHP, both idle. */
static void begin(uint64_t apache_limit, uint64_t php_limit)
{
    size_t i;

    memset(&apache, 0, sizeof apache);
    memset(&php, 0, sizeof php);
    apache = (struct mst_snapshot){
        .producer = "apache", .running = "yes", .workers_limit = apache_limit,
        .stopped_ns = MST_UNKNOWN, .slots = slots[0], .slot_count = WORKERS,
    };
    php = (struct mst_snapshot){
        .producer = "php", .running = "yes", .workers_limit = php_limit,
        .stopped_ns = MST_UNKNOWN, .slots = slots[1], .slot_count = WORKERS, .labels = pools,
        .listeners = listeners,
    };
    for (i = 0; i < 2 * WORKERS; i++)
        slots[i / WORKERS][i % WORKERS] = (struct mst_snapshot_slot){
            .slot = i % WORKERS, .pid = 100 + i, .state = "idle", .state_for_ns = S,
            .request_for_ns = MST_UNKNOWN, .request_id = MST_UNKNOWN, .wait_for_ns = MST_UNKNOWN,
        };
}

static struct mst_snapshot_slot *busy(struct mst_snapshot_slot *slot, uint64_t id, uint64_t for_ns)
{
    slot->state = "handling";
    slot->request_id = id;
    slot->request_for_ns = for_ns;
    slot->label = "www";
    return slot;
}

static void waits(struct mst_snapshot_slot *slot, const char *wait, const char *end, uint64_t ns)
{
    slot->wait = wait;
    slot->wait_end = end;
    slot->wait_for_ns = ns;
}

static void take(void *context, const struct mst_snapshot *board, const struct mst_held *held,
                 const char *sentence)
{
    (void)context, (void)held;
    ck_assert(board == &apache || board == &php);
    strcat(told, sentence);
    strcat(told, "\n");
}

static const char *tell(void)
{
    const struct mst_snapshot *boards[] = { &apache, &php };

    told[0] = '\0';
    mst_held_tell(boards, 2, take, NULL);
    return told;
}

/* The first n workers are at their requests: nine seconds, eight, ... */
static void fill(unsigned server, unsigned n, uint64_t first_id)
{
    unsigned i;

    for (i = 0; i < n; i++)
        busy(&slots[server][i], first_id + i, (9 - i) * S);
}

START_TEST(test_php_is_stuck)
{
    unsigned i;

    begin(150, 3);
    fill(1, 3, 7);
    for (i = 0; i < 3; i++)
        waits(&slots[1][i], "database", "mysql localhost", (8 - i) * S);
    php.listeners_known = true;
    php.listener_count = 1;
    listeners[0] = (struct mst_snapshot_listener){ .pool = "www", .queue = 15 };
    ck_assert_str_eq(tell(), "PHP is stuck: all of its 3 workers wait for database mysql "
                     "localhost, the longest for 8.00 s. All are busy, and none has taken a "
                     "request for 7.00 s. 15 connections wait in the accept queue.\n");
    slots[1][2].request_for_ns = S;   /* one of them has just taken it */
    ck_assert_ptr_null(strstr(tell(), "stuck"));
}
END_TEST

static void in(struct mst_snapshot_slot *slot, const char *function, uint64_t line)
{
    slot->code_function = function;
    slot->code_file = "/srv/a.php";
    slot->code_line = line;
}

/* The place of a wait is said where more than half of those that wait have it. */
START_TEST(test_where_it_waits)
{
    unsigned i;

    begin(150, 3);
    fill(1, 3, 7);
    for (i = 0; i < 3; i++)
        waits(&slots[1][i], "database", "mysql localhost", (8 - i) * S);
    in(&slots[1][0], "find", 3);
    ck_assert_ptr_null(strstr(tell(), "a.php"));
    in(&slots[1][1], "find", 3);
    ck_assert_ptr_nonnull(strstr(tell(), "7.00 s. 2 of these are in find, /srv/a.php:3.\n"));
    in(&slots[1][2], "find", 4);
    ck_assert_ptr_nonnull(strstr(tell(), " All of these are in find, /srv/a.php:3.\n"));
    for (i = 0; i < 3; i++)
        slots[1][i].wait = NULL;   /* where they were is not where they are */
    ck_assert_ptr_null(strstr(tell(), "a.php"));
}
END_TEST

/* Apache's workers are known to wait for what PHP waits for by the number of their request. */
START_TEST(test_apache_waits_where_its_php_waits)
{
    unsigned i;

    begin(4, MST_UNKNOWN);
    fill(0, 4, 7);
    fill(1, 4, 7);
    for (i = 0; i < 3; i++)
        waits(&slots[1][i], "lock", "/tmp/x", (5 - i) * S);
    ck_assert_str_eq(tell(), "Apache is stuck: 3 of its 4 workers wait for lock /tmp/x, the "
                     "longest for 5.00 s. All are busy, and none has taken a request for "
                     "6.00 s.\n");
    fill(1, 4, 70);   /* the requests of another Apache */
    ck_assert_str_eq(tell(), "Apache is stuck: all of its 4 workers are in the state handling, the "
                     "longest for 9.00 s. All are busy, and none has taken a request for "
                     "6.00 s.\n");
}
END_TEST

/* A number can be that of two requests, where two Apaches have the same PHP behind them; and a
 * request in PHP did not begin before it began in Apache. */
START_TEST(test_a_number_that_is_not_enough)
{
    begin(1, MST_UNKNOWN);
    busy(&slots[0][0], 7, 5 * S);
    waits(busy(&slots[1][0], 7, 4 * S), "lock", "/a", S);
    ck_assert_ptr_nonnull(strstr(tell(), "wait"));
    waits(busy(&slots[1][1], 7, 4 * S), "lock", "/b", S);
    ck_assert_ptr_nonnull(strstr(tell(), "its only worker is in the state handling"));
    begin(1, MST_UNKNOWN);
    busy(&slots[0][0], 7, 5 * S);
    waits(busy(&slots[1][0], 7, 9 * S), "lock", "/a", S);
    ck_assert_ptr_nonnull(strstr(tell(), "its only worker is in the state handling"));
}
END_TEST

/* PHP, which has the cause, comes first. */
START_TEST(test_apache_is_stuck_behind_php)
{
    begin(4, 3);
    fill(0, 4, 7);
    fill(1, 3, 7);
    slots[0][3].state = "sending";
    ck_assert_str_eq(tell(), "PHP is stuck: all of its 3 workers are in the state handling, the "
                     "longest for 9.00 s. All are busy, and none has taken a request for 7.00 s.\n"
                     "Apache is stuck: 3 of its 4 workers wait for PHP (3 of their requests are "
                     "with its workers, 0 wait for one), the longest for 9.00 s. All are busy, and "
                     "none has taken a request for 6.00 s.\n");
}
END_TEST

START_TEST(test_each_pool_by_itself)
{
    unsigned i;

    begin(150, 8);
    php.label_count = 2;
    memset(pools, 0, sizeof pools);
    pools[0].label = "www";
    pools[0].workers_limit = 3;
    pools[1].label = "api";
    pools[1].workers_limit = 5;
    php.listeners_known = true;
    php.listener_count = 2;
    listeners[0] = (struct mst_snapshot_listener){ .pool = "www", .queue = 1 };
    listeners[1] = (struct mst_snapshot_listener){ .pool = "api", .queue = 40 };
    fill(1, 3, 7);
    ck_assert_ptr_nonnull(strstr(tell(), "PHP's pool www is stuck: all of its 3 workers are in"));
    ck_assert_ptr_nonnull(strstr(told, "6.00 s. 1 connection waits in the accept queue.\n") ?
                          told : strstr(told, "7.00 s. 1 connection waits in the accept queue.\n"));
    ck_assert_ptr_null(strstr(told, "api"));
    for (i = 0; i < 3; i++)
        slots[1][i].label = "api";
    ck_assert_ptr_null(strstr(tell(), "stuck"));
}
END_TEST

/* Idle kept-alive connections are no requests. */
START_TEST(test_long_requests)
{
    begin(150, MST_UNKNOWN);
    ck_assert_str_eq(tell(), "");
    slots[0][0].state = "keepalive";
    slots[0][0].state_for_ns = 4 * S;
    busy(&slots[0][1], 7, S);
    ck_assert_str_eq(tell(), "");
    busy(&slots[0][1], 7, 3 * S);
    waits(busy(&slots[1][1], 7, 3 * S), "sleep", "sleep", 3 * S);
    ck_assert_str_eq(tell(), "1 of Apache's 150 workers has had one request for more than 2.00 s: "
                     "it waits for sleep, for 3.00 s.\n");
    busy(&slots[0][2], 8, 5 * S);
    waits(busy(&slots[1][2], 8, 5 * S), "sleep", "sleep", 4 * S);
    busy(&slots[0][3], 9, 6 * S);
    ck_assert_str_eq(tell(), "3 of Apache's 150 workers have had one request for more than 2.00 s: "
                     "2 of them wait for sleep, the longest for 4.00 s.\n");
    apache.running = "no";
    ck_assert_ptr_null(strstr(tell(), "Apache"));
}
END_TEST

/* What a reader makes of a board can be anything. */
START_TEST(test_hostile)
{
    static const char name[] = "</script>\033[31m\n%s%n";
    unsigned i;

    begin(UINT64_MAX - 1, 1);
    fill(0, WORKERS, 0);
    fill(1, WORKERS, 0);
    for (i = 0; i < WORKERS; i++)
        waits(&slots[1][i], "a kind of wait that is longer than any other", name, UINT64_MAX - 1);
    php.pid = UINT64_MAX;
    slots[1][0].request_for_ns = 0;
    slots[1][0].label = NULL;
    tell();
    slots[1][0].request_for_ns = UINT64_MAX - 1;
    ck_assert_ptr_nonnull(strstr(tell(), name));
}
END_TEST

/* The sentence of a server without a free worker; "" where all have one. */
static const char *tell_full(void)
{
    struct mst_present servers[2] = { { 0 } }, *both[] = { &servers[0], &servers[1] };
    struct mst_held held;

    told[0] = '\0';
    mst_present_take(both[0], &apache);
    mst_present_take(both[1], &php);
    if (mst_present_full(both, 2, &held))
        mst_held_say(told, &held);
    mst_present_free(both[0]);
    mst_present_free(both[1]);
    return told;
}

/* Short requests hold no worker, but there can be too few for them. */
START_TEST(test_no_free_worker)
{
    unsigned i;

    begin(150, 3);
    for (i = 0; i < 3; i++)
        waits(busy(&slots[1][i], 7 + i, S / 10), "sleep", "", S / 20);
    php.listeners_known = true;
    php.listener_count = 1;
    listeners[0] = (struct mst_snapshot_listener){ .pool = "www", .queue = 15 };
    ck_assert_str_eq(tell(), "");
    ck_assert_str_eq(tell_full(), "PHP has no free worker: all of its 3 workers wait for sleep, "
                     "the longest for 50.0 ms. 15 connections wait in the accept queue.");
    listeners[0].queue = 0;
    ck_assert_str_eq(tell_full(), "");
    listeners[0].queue = 15;
    php.workers_limit = 4;
    ck_assert_str_eq(tell_full(), "");
    php.workers_limit = 3;
    php.running = "no";
    ck_assert_str_eq(tell_full(), "");
}
END_TEST

int main(void)
{
    Suite *suite = suite_create("present");
    TCase *held = tcase_create("held");

    tcase_add_test(held, test_php_is_stuck);
    tcase_add_test(held, test_where_it_waits);
    tcase_add_test(held, test_apache_waits_where_its_php_waits);
    tcase_add_test(held, test_a_number_that_is_not_enough);
    tcase_add_test(held, test_apache_is_stuck_behind_php);
    tcase_add_test(held, test_each_pool_by_itself);
    tcase_add_test(held, test_long_requests);
    tcase_add_test(held, test_no_free_worker);
    tcase_add_test(held, test_hostile);
    suite_add_tcase(suite, held);
    return test_run(suite);
}
