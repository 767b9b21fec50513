/* check_window.c - the journal's window, and the table of forked processes. */
#include <unistd.h>

#include "base/clock.h"
#include "harness.h"
#include "write/fork_table.h"
#include "write/journal.h"

#define S MST_NS_PER_S

static struct mst_board board;
static struct test_view view;

static void make(void)
{
    struct mst_layout layout = test_layout();

    test_board(&board, &layout);
    board.header->started_ns = 10 * S;
}

static void add_request(uint64_t start_ns)
{
    struct mst_request request = { .start_ns = start_ns };

    mst_journal_request(&board, &request);
}

static void add_limit(uint64_t time_ns, uint64_t duration_ns)
{
    struct mst_lifecycle e = { .time_ns = time_ns, .event_kind = (uint64_t)MST_EVENT_LIMIT << 32,
                               .duration_ns = duration_ns };

    mst_journal_lifecycle(&board, &e);
    board.header->limit_told_ns = time_ns;
    board.header->no_idle_ended_ns = time_ns;
    if (duration_ns != MST_UNKNOWN)
        board.header->no_idle_told_ns = board.header->no_idle += duration_ns;
}

/* As a server that stopped at now_ns shows it. */
static const struct mst_snapshot *look(uint64_t now_ns)
{
    board.header->stopped_ns = now_ns;
    test_view(&view, board.path, 0);
    return &view.s;
}

START_TEST(until_the_journal_is_full_the_window_is_the_uptime)
{
    const struct mst_snapshot *s;

    make();
    add_request(12 * S);
    add_limit(15 * S, 2 * S);
    s = look(30 * S);
    ck_assert_uint_eq(s->window_ns, 20 * S);
    ck_assert_uint_eq(s->no_idle_window_ns, 2 * S);
    test_view_free(&view);
    mst_board_close(&board);
}
END_TEST

/* 16 records are kept: those from 25 s on. */
START_TEST(the_window_begins_with_the_oldest_record)
{
    const struct mst_snapshot *s;
    unsigned i;

    make();
    for (i = 0; i < 20; i++)
        add_request((21 + i) * S);
    add_limit(20 * S, 3 * S);      /* before it */
    add_limit(26 * S, 4 * S);      /* one second of it is within */
    add_limit(30 * S, MST_UNKNOWN);
    add_limit(32 * S, 2 * S);
    s = look(50 * S);
    ck_assert_uint_eq(s->window_ns, 25 * S);
    ck_assert_uint_eq(s->no_idle_ns, 9 * S);
    ck_assert_uint_eq(s->no_idle_window_ns, 3 * S);
    test_view_free(&view);
    mst_board_close(&board);
}
END_TEST

START_TEST(what_no_event_has_told_yet_is_in_the_window_if_it_ended_there)
{
    unsigned i;

    make();
    for (i = 0; i < 20; i++)
        add_request((21 + i) * S);
    board.header->no_idle = S;
    board.header->no_idle_ended_ns = 24 * S;
    ck_assert_uint_eq(look(50 * S)->no_idle_window_ns, 0);
    test_view_free(&view);
    board.header->no_idle_ended_ns = 26 * S;
    ck_assert_uint_eq(look(50 * S)->no_idle_window_ns, S);
    test_view_free(&view);
    board.header->no_idle = MST_NO_IDLE_RUNNING | 45 * S;
    ck_assert_uint_eq(look(50 * S)->no_idle_window_ns, 5 * S);
    test_view_free(&view);
    mst_board_close(&board);
}
END_TEST

START_TEST(a_torn_oldest_record_is_passed_over)
{
    unsigned i;

    make();
    for (i = 0; i < 20; i++)
        add_request((21 + i) * S);
    board.requests[5].check ^= 1;
    ck_assert_uint_eq(look(50 * S)->window_ns, 24 * S);
    test_view_free(&view);
    for (i = 0; i < 16; i++)
        board.requests[i].ticket = 0;
    ck_assert_uint_eq(look(50 * S)->window_ns, MST_UNKNOWN);
    ck_assert_uint_eq(view.s.no_idle_window_ns, MST_UNKNOWN);
    test_view_free(&view);
    mst_board_close(&board);
}
END_TEST

/* ---- forked processes ------------------------------------------------------------ */

static struct mst_fork *add_fork(uint64_t pid)
{
    struct mst_fork fork = { .pid = pid, .parent = 7, .kind = MST_KIND_REQUEST };

    return mst_fork_add(&board, &fork);
}

START_TEST(an_entry_is_taken_once)
{
    struct mst_fork *f;

    make();
    ck_assert_uint_eq(mst_fork_end(&board), 0);
    f = add_fork(100);
    ck_assert_ptr_eq(f, &board.forks[0]);
    ck_assert_uint_eq(f->parent, 7);
    ck_assert_ptr_eq(add_fork(101), &board.forks[1]);
    ck_assert_uint_eq(mst_fork_end(&board), 2);
    ck_assert(!mst_fork_take(f, 101));
    ck_assert(mst_fork_take(f, 100));
    ck_assert(!mst_fork_take(f, 100));
    ck_assert_uint_eq(mst_fork_pid(f), 0);
    mst_fork_free(f);
    ck_assert_ptr_eq(add_fork(102), f);
    mst_fork_forget(&board, 102);
    ck_assert_uint_eq(f->pid, 0);
    mst_board_close(&board);
}
END_TEST

START_TEST(a_full_table_refuses)
{
    uint32_t i;

    make();
    for (i = 0; i < MST_FORKS; i++)
        ck_assert_ptr_nonnull(add_fork(100 + i));
    ck_assert_ptr_null(add_fork(99));
    ck_assert_uint_eq(mst_fork_end(&board), MST_FORKS);
    board.header->forks_end = UINT64_MAX;
    ck_assert_uint_eq(mst_fork_end(&board), MST_FORKS);
    mst_board_close(&board);
}
END_TEST

START_TEST(an_entry_whose_taker_was_killed_is_freed)
{
    make();
    add_fork(100)->pid = (uint64_t)test_dead_pid() | MST_PROCESS_CLAIMING;
    add_fork(101)->pid = (uint64_t)getpid() | MST_PROCESS_CLAIMING;
    mst_fork_reclaim(&board);
    ck_assert_uint_eq(board.forks[0].pid, 0);
    ck_assert_uint_ne(board.forks[1].pid, 0);
    mst_board_close(&board);
}
END_TEST

START_TEST(a_php_board_has_no_table)
{
    struct mst_layout layout = test_php_layout();

    test_board(&board, &layout);
    ck_assert_ptr_null(add_fork(100));
    ck_assert_uint_eq(mst_fork_end(&board), 0);
    mst_board_close(&board);
}
END_TEST

int main(void)
{
    Suite *suite = suite_create("window");
    TCase *window = tcase_create("window"), *forks = tcase_create("forks");

    tcase_add_test(window, until_the_journal_is_full_the_window_is_the_uptime);
    tcase_add_test(window, the_window_begins_with_the_oldest_record);
    tcase_add_test(window, what_no_event_has_told_yet_is_in_the_window_if_it_ended_there);
    tcase_add_test(window, a_torn_oldest_record_is_passed_over);
    tcase_add_test(forks, an_entry_is_taken_once);
    tcase_add_test(forks, a_full_table_refuses);
    tcase_add_test(forks, an_entry_whose_taker_was_killed_is_freed);
    tcase_add_test(forks, a_php_board_has_no_table);
    suite_add_tcase(suite, window);
    suite_add_tcase(suite, forks);
    return test_run(suite);
}
