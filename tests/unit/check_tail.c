/* check_tail.c - following a journal of one writer. */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "followed.h"
#include "harness.h"
#include "read/tail.h"
#include "write/journal.h"

/* ---- one writer ------------------------------------------------------------------- */

START_TEST(records_are_given_once_and_in_order)
{
    make(CAPACITY);
    ck_assert_int_eq(poll_tail(SIZE_MAX), 0);
    serve(5);
    ck_assert_int_eq(poll_tail(SIZE_MAX), 5);
    ck_assert_int_eq(poll_tail(SIZE_MAX), 0);
    serve(14);   /* around the ring's end */
    ck_assert_int_eq(poll_tail(SIZE_MAX), 14);
    assert_given(19, 1);
    ck_assert_uint_eq(tail.lost, 0);
    tear_down();
}
END_TEST

START_TEST(a_limit_is_kept_and_nothing_skipped)
{
    make(CAPACITY);
    serve(10);
    ck_assert_int_eq(poll_tail(0), 0);
    ck_assert_int_eq(poll_tail(3), 3);
    ck_assert_int_eq(poll_tail(3), 3);
    ck_assert_int_eq(poll_tail(SIZE_MAX), 4);
    assert_given(10, 1);
    tear_down();
}
END_TEST

START_TEST(a_taker_that_has_enough_stops_the_poll)
{
    make(CAPACITY);
    serve(10);
    stop_after = 4;
    ck_assert_int_eq(poll_tail(SIZE_MAX), 4);
    stop_after = 0;
    ck_assert_int_eq(poll_tail(SIZE_MAX), 6);
    assert_given(10, 1);
    tear_down();
}
END_TEST

START_TEST(from_the_head_only_what_comes_is_seen)
{
    uint64_t next;

    make(CAPACITY);
    serve(7);
    ck_assert_int_eq(mst_journal_head(&reader, MST_SECTION_REQUESTS, &next, error), 0);
    ck_assert_uint_eq(next, 8);
    mst_tail_close(&tail);
    mst_reader_close(&reader);
    attach(board.path, MST_SECTION_REQUESTS, next);
    serve(2);
    poll_tail(SIZE_MAX);
    assert_given(2, 8);
    tear_down();
}
END_TEST

START_TEST(a_cursor_from_the_future_is_a_sentence)
{
    struct mst_tail other;

    make(CAPACITY);
    serve(7);
    ck_assert_int_eq(mst_tail_open(&other, &reader, MST_SECTION_REQUESTS, 9, error), -1);
    ck_assert_msg(strstr(error, "record 9 was asked for") != NULL, "%s", error);
    ck_assert_msg(strstr(error, "will write 8 next") != NULL, "%s", error);
    mst_tail_close(&other);
    tear_down();
}
END_TEST

START_TEST(a_reader_that_fell_behind_is_told_how_many_it_lost)
{
    make(CAPACITY);
    serve(3);
    poll_tail(SIZE_MAX);
    serve(100);
    given_count = 0;
    ck_assert_int_eq(poll_tail(SIZE_MAX), CAPACITY);
    assert_given(CAPACITY, 103 - CAPACITY + 1);
    ck_assert_uint_eq(tail.lost, 100 - CAPACITY);
    tear_down();
}
END_TEST

START_TEST(a_ring_of_one_record_works)
{
    make(1);
    serve(1);
    ck_assert_int_eq(poll_tail(SIZE_MAX), 1);
    serve(3);
    ck_assert_int_eq(poll_tail(SIZE_MAX), 1);
    ck_assert_uint_eq(given[1], 4);
    ck_assert_uint_eq(tail.lost, 2);
    tear_down();
}
END_TEST

START_TEST(lifecycle_events_are_followed_too)
{
    struct mst_lifecycle event = { .time_ns = 42 };   /* lies where a request's id does */

    make(CAPACITY);
    mst_tail_close(&tail);
    mst_reader_close(&reader);
    attach(board.path, MST_SECTION_LIFECYCLE, 1);
    mst_journal_lifecycle(&board, &event);
    ck_assert_int_eq(poll_tail(SIZE_MAX), 1);
    ck_assert_uint_eq(ids[0], 42);
    tear_down();
}
END_TEST

/* Of a PHP's board: its own rings, a newer writer's too; and none of Apache's. */
static uint64_t last_time_ns;
static char last_text[MST_PATH_MAX];

static int remember_php_request(void *context, uint64_t ticket, const void *payload)
{
    const struct mst_php_request *r = payload;

    memcpy(last_text, r->script, sizeof last_text);
    last_time_ns = r->start_ns;
    return remember(context, ticket, payload);
}

static int remember_mark(void *context, uint64_t ticket, const void *payload)
{
    const struct mst_mark *m = payload;

    memcpy(last_text, m->name, sizeof m->name);
    last_time_ns = m->time_ns;
    return remember(context, ticket, payload);
}

START_TEST(phps_rings_are_followed_too)
{
    const struct mst_php_request request = { .id = 1007, .start_ns = 42, .script = "/i.php" };
    const struct mst_mark mark = { .request_start_ns = 42, .time_ns = 43, .name = "step" };
    struct mst_layout layout = test_php_layout();
    struct mst_tail none;
    unsigned i;

    test_board(&board, &layout);
    for (i = 0; i < CAPACITY + 3; i++)
        mst_journal_php_request(&board, &request);
    for (i = 0; i < MST_MARK_RECORDS / 4; i++)
        mst_journal_mark(&board, &mark);
    attach(_i ? test_grown_board(&board, 24) : board.path, MST_SECTION_PHP_REQUESTS, 1);
    ck_assert_int_eq(mst_tail_poll(&tail, SIZE_MAX, remember_php_request, NULL, error), CAPACITY);
    ck_assert_uint_eq(tail.lost, 3);
    ck_assert_uint_eq(ids[0], 1007);
    ck_assert_uint_eq(given[0], 4);
    ck_assert_uint_eq(last_time_ns, 42);
    ck_assert_str_eq(last_text, "/i.php");
    ck_assert_int_eq(mst_tail_open(&none, &reader, MST_SECTION_REQUESTS, 1, error), -1);
    ck_assert_msg(strstr(error, "has no such journal") != NULL, "%s", error);
    mst_tail_close(&none);
    mst_tail_close(&tail);
    ck_assert_int_eq(mst_tail_open(&tail, &reader, MST_SECTION_MARKS, 1, error), 0);
    given_count = 0;
    ck_assert_int_eq(mst_tail_poll(&tail, SIZE_MAX, remember_mark, NULL, error),
                     MST_MARK_RECORDS / 4);
    ck_assert_uint_eq(tail.lost, 0);
    ck_assert_uint_eq(last_time_ns, 43);
    ck_assert_str_eq(last_text, "step");
    tear_down();
}
END_TEST

START_TEST(a_newer_writers_longer_records_are_read)
{
    make(CAPACITY);
    serve(CAPACITY + 3);
    mst_tail_close(&tail);
    mst_reader_close(&reader);
    attach(test_grown_board(&board, 24), MST_SECTION_REQUESTS, 4);
    ck_assert_int_eq(poll_tail(SIZE_MAX), CAPACITY);
    assert_given(CAPACITY, 4);
    tear_down();
}
END_TEST

static int see_no_intervals(void *context, uint64_t ticket, const void *payload)
{
    const struct mst_request *r = payload;
    uint64_t ends[MST_RECORD_ENDS];

    (void)context, (void)ticket;
    mst_request_ends(r, ends);
    ck_assert(ends[0] == MST_UNKNOWN && ends[1] == MST_UNKNOWN);
    ck_assert(r->checks_ns == MST_UNKNOWN && r->upload_ns == MST_UNKNOWN
              && r->log_ns == MST_UNKNOWN);
    ck_assert(r->trace_high == 0 && r->trace_low == 0 && r->trace_parent == 0);
    return 0;
}

/* A board of before there were intervals. */
START_TEST(an_older_writers_intervals_are_unknown)
{
    char path[1024];

    snprintf(path, sizeof path, "%s/tests/fuzz/corpus/board/older-busy", getenv("MPMSTAT_SRCDIR"));
    attach(path, MST_SECTION_REQUESTS, 1);
    ck_assert_int_gt(mst_tail_poll(&tail, SIZE_MAX, see_no_intervals, NULL, error), 0);
    ck_assert_uint_eq(mst_section_in(&reader.header, MST_SECTION_DELIVERIES)->count, 0);
    mst_tail_close(&tail);
    mst_reader_close(&reader);
}
END_TEST

int main(void)
{
    Suite *suite = suite_create("tail");
    TCase *one = tcase_create("one writer"), *holes = tcase_create("holes"),
          *lies = tcase_create("lies"), *many = tcase_create("many writers");

    tcase_add_test(one, records_are_given_once_and_in_order);
    tcase_add_test(one, a_limit_is_kept_and_nothing_skipped);
    tcase_add_test(one, a_taker_that_has_enough_stops_the_poll);
    tcase_add_test(one, from_the_head_only_what_comes_is_seen);
    tcase_add_test(one, a_cursor_from_the_future_is_a_sentence);
    tcase_add_test(one, a_reader_that_fell_behind_is_told_how_many_it_lost);
    tcase_add_test(one, a_ring_of_one_record_works);
    tcase_add_test(one, lifecycle_events_are_followed_too);
    tcase_add_loop_test(one, phps_rings_are_followed_too, 0, 2);
    tcase_add_test(one, a_newer_writers_longer_records_are_read);
    tcase_add_test(one, an_older_writers_intervals_are_unknown);
    tcase_set_timeout(many, 60);
    suite_add_tcase(suite, one);
    suite_add_tcase(suite, holes);
    suite_add_tcase(suite, lies);
    suite_add_tcase(suite, many);
    return test_run(suite);
}
