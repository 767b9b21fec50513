/* check_busy.c - busy workers and the time without an idle one (busy.h). */
#include <pthread.h>

#include "base/clock.h"
#include "harness.h"
#include "write/busy.h"

#define S MST_NS_PER_S

static struct mst_board board;

/* A board of two processes whose workers' limit is `limit`. */
static void make(uint64_t limit)
{
    struct mst_layout layout = test_layout();

    test_board(&board, &layout);
    board.header->workers_limit = limit;
}

static uint64_t no_idle_at(uint64_t now_ns)
{
    uint64_t word = board.header->no_idle;

    return word & MST_NO_IDLE_RUNNING ? now_ns - (word & ~MST_NO_IDLE_RUNNING) : word;
}

START_TEST(time_passes_only_at_the_limit)
{
    make(2);
    mst_busy_begin(&board, &board.processes[0], 10 * S);
    ck_assert_uint_eq(no_idle_at(11 * S), 0);
    mst_busy_begin(&board, &board.processes[1], 12 * S);
    ck_assert_uint_eq(no_idle_at(15 * S), 3 * S);
    mst_busy_end(&board, &board.processes[0], 16 * S);
    ck_assert_uint_eq(no_idle_at(20 * S), 4 * S);
    mst_busy_begin(&board, &board.processes[0], 21 * S);
    mst_busy_end(&board, &board.processes[1], 22 * S);
    ck_assert_uint_eq(no_idle_at(30 * S), 5 * S);
    ck_assert_int_eq(board.header->busy, 1);
    ck_assert_int_eq(board.header->busy_max, 2);
    mst_board_close(&board);
}
END_TEST

/* How many events tell that no worker is idle; told_ns: for how long none was, say others. */
static unsigned events_of_limit(uint64_t *told_ns)
{
    unsigned begins = 0;
    uint64_t i, told = 0;

    for (i = 1; i <= board.header->lifecycle_written; i++) {
        const struct mst_lifecycle *e = &board.lifecycle[i & board.lifecycle_mask].payload;

        ck_assert_uint_eq(e->event_kind >> 32, MST_EVENT_LIMIT);
        begins += e->duration_ns == MST_UNKNOWN;
        told += e->duration_ns == MST_UNKNOWN ? 0 : e->duration_ns;
    }
    if (told_ns)
        *told_ns = told;
    return begins;
}

START_TEST(reaching_the_limit_is_an_event_at_most_once_a_second)
{
    uint64_t tenth = S / 10, now = 100 * S;
    unsigned i;

    make(1);
    for (i = 0; i < 25; i++, now += tenth) {
        mst_busy_begin(&board, &board.processes[0], now);
        mst_busy_end(&board, &board.processes[0], now + tenth / 2);
    }
    ck_assert_uint_eq(events_of_limit(NULL), 3);
    ck_assert_uint_eq(no_idle_at(now), 25 * (tenth / 2));
    mst_board_close(&board);
}
END_TEST

/* What is between two events is told with the second; the rest when it is asked for. */
START_TEST(events_tell_all_the_time_without_an_idle_worker)
{
    uint64_t tenth = S / 10, now = 100 * S, told;
    unsigned i;

    make(1);
    for (i = 0; i < 25; i++, now += tenth) {
        mst_busy_begin(&board, &board.processes[0], now);
        mst_busy_end(&board, &board.processes[0], now + tenth / 2);
    }
    ck_assert_uint_eq(board.header->lifecycle_written, 6);
    events_of_limit(&told);
    ck_assert_uint_eq(told, 21 * (tenth / 2));
    mst_busy_tell(&board, now + S);
    ck_assert_uint_eq(board.header->lifecycle_written, 7);
    ck_assert_uint_eq(board.lifecycle[7 & board.lifecycle_mask].payload.time_ns,
                      now - tenth / 2);
    events_of_limit(&told);
    ck_assert_uint_eq(told, no_idle_at(now));
    mst_busy_tell(&board, now + 10 * S);
    ck_assert_uint_eq(board.header->lifecycle_written, 7);
    mst_board_close(&board);
}
END_TEST

START_TEST(an_unknown_limit_is_never_reached)
{
    make(MST_UNKNOWN);
    mst_busy_begin(&board, &board.processes[0], S);
    ck_assert_uint_eq(no_idle_at(5 * S), 0);
    mst_board_close(&board);
}
END_TEST

START_TEST(a_new_limit_counts_from_when_it_is_told)
{
    make(1);
    mst_busy_begin(&board, &board.processes[0], 10 * S);
    board.header->workers_limit = 4;
    mst_busy_update(&board, 13 * S);
    ck_assert_uint_eq(no_idle_at(20 * S), 3 * S);
    board.header->workers_limit = 1;
    mst_busy_update(&board, 21 * S);
    ck_assert_uint_eq(no_idle_at(23 * S), 5 * S);
    mst_board_close(&board);
}
END_TEST

START_TEST(a_killed_process_is_taken_off)
{
    make(3);
    mst_busy_begin(&board, &board.processes[0], S);
    mst_busy_begin(&board, &board.processes[0], S);
    mst_busy_begin(&board, &board.processes[1], S);
    mst_busy_drop(&board, &board.processes[0], 4 * S);
    ck_assert_int_eq(board.header->busy, 1);
    ck_assert_int_eq(board.processes[0].busy, 0);
    ck_assert_uint_eq(no_idle_at(9 * S), 3 * S);
    mst_board_close(&board);
}
END_TEST

/* Killed between the process's count and the sum, either way round. */
START_TEST(what_a_kill_tore_is_mended)
{
    make(2);
    board.processes[0].busy = 1;              /* the sum lacks it */
    mst_busy_drop(&board, &board.processes[0], S);
    ck_assert_int_eq(board.header->busy, -1);
    mst_busy_correct(&board, S);
    mst_busy_correct(&board, 2 * S);
    ck_assert_int_eq(board.header->busy, 0);

    board.header->busy = 2;                   /* one process's part is missing */
    board.processes[1].busy = 1;
    mst_busy_correct_waiting(&board);
    ck_assert_int_eq(board.header->busy, 1);
    mst_board_close(&board);
}
END_TEST

/* A worker can be between its two stores at one look, and is not at the next. */
START_TEST(one_look_or_two_at_the_same_moment_mend_nothing)
{
    make(2);
    board.header->busy = 1;
    mst_busy_correct(&board, S);
    mst_busy_correct(&board, S + 999);
    ck_assert_int_eq(board.header->busy, 1);
    board.processes[0].busy = 1;
    mst_busy_correct(&board, 2 * S);
    board.processes[0].busy = 0;
    mst_busy_correct(&board, 3 * S);
    ck_assert_int_eq(board.header->busy, 1);
    mst_board_close(&board);
}
END_TEST

/* Any process of the server may write any number. With -fsanitize=undefined, an overflow of
 * signed numbers ends the test. */
START_TEST(extreme_numbers_are_mended_without_an_overflow)
{
    static const int64_t extremes[] = { INT64_MIN, INT64_MAX, -1, 1 };
    size_t i, j;

    make(2);
    for (i = 0; i < 4; i++)
        for (j = 0; j < 4; j++) {
            board.header->busy = extremes[i];
            board.processes[0].busy = board.processes[1].busy = extremes[j];
            mst_busy_drop(&board, &board.processes[0], S);
            mst_busy_correct_waiting(&board);
            ck_assert_int_eq(board.header->busy, board.processes[1].busy);
        }
    mst_board_close(&board);
}
END_TEST

#define TURNS 20000

static void *flap(void *process)
{
    unsigned i;

    for (i = 0; i < TURNS; i++) {
        mst_busy_begin(&board, process, mst_now_ns());
        mst_busy_end(&board, process, mst_now_ns());
    }
    return NULL;
}

/* A writer that lost its CPU between the clock and the store ends the time in the
 * past: by so much less may a reader see. */
#define DESCHEDULED (200 * MST_NS_PER_MS)

START_TEST(many_writers_leave_no_time_running_and_readers_see_it_grow)
{
    pthread_t threads[4];
    uint64_t before = 0, i, started = mst_now_ns();

    make(2);
    for (i = 0; i < 4; i++)
        ck_assert_int_eq(pthread_create(&threads[i], NULL, flap, &board.processes[i % 2]), 0);
    for (i = 0; i < 500; i++) {
        struct test_view v;

        test_view(&v, board.path, 1);
        ck_assert_uint_ge(v.s.no_idle_ns + DESCHEDULED, before);
        before = v.s.no_idle_ns;
        test_view_free(&v);
    }
    for (i = 0; i < 4; i++)
        pthread_join(threads[i], NULL);
    ck_assert_int_eq(board.header->busy, 0);
    ck_assert(!(board.header->no_idle & MST_NO_IDLE_RUNNING));
    ck_assert_uint_le(board.header->no_idle, mst_now_ns() - started);
    ck_assert_int_ge(board.header->busy_max, 1);   /* how many meet is the scheduler's */
    ck_assert_int_le(board.header->busy_max, 4);
    mst_board_close(&board);
}
END_TEST

START_TEST(a_killed_server_does_not_say_how_long_it_was)
{
    struct test_view v;

    make(1);
    mst_busy_begin(&board, &board.processes[0], mst_now_ns());
    test_view(&v, board.path, 0);
    ck_assert_uint_eq(v.s.no_idle_ns, MST_UNKNOWN);
    ck_assert_uint_eq(v.s.workers_busy_max, 1);
    test_view_free(&v);
    mst_board_close(&board);
}
END_TEST

int main(void)
{
    Suite *suite = suite_create("busy");
    TCase *counting = tcase_create("counting");

    tcase_add_test(counting, time_passes_only_at_the_limit);
    tcase_add_test(counting, reaching_the_limit_is_an_event_at_most_once_a_second);
    tcase_add_test(counting, events_tell_all_the_time_without_an_idle_worker);
    tcase_add_test(counting, an_unknown_limit_is_never_reached);
    tcase_add_test(counting, a_new_limit_counts_from_when_it_is_told);
    tcase_add_test(counting, a_killed_process_is_taken_off);
    tcase_add_test(counting, what_a_kill_tore_is_mended);
    tcase_add_test(counting, one_look_or_two_at_the_same_moment_mend_nothing);
    tcase_add_test(counting, extreme_numbers_are_mended_without_an_overflow);
    tcase_add_test(counting, many_writers_leave_no_time_running_and_readers_see_it_grow);
    tcase_add_test(counting, a_killed_server_does_not_say_how_long_it_was);
    tcase_set_timeout(counting, 60);
    suite_add_tcase(suite, counting);
    return test_run(suite);
}
