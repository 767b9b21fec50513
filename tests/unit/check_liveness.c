/* check_liveness.c - whether the server of a board runs, by what its header says of the process. */
#include <sys/prctl.h>
#include <sys/wait.h>
#include <unistd.h>

#include "base/host.h"
#include "harness.h"
#include "segment/liveness.h"

#define NOBODY 65534u

static struct mst_board board;

static void make(void)
{
    struct mst_layout layout = test_layout();

    test_board(&board, &layout);
}

START_TEST(this_process_runs_whatever_it_is_called)
{
    uint64_t ticks = mst_host_start_ticks((uint64_t)getpid());

    ck_assert_int_eq(prctl(PR_SET_NAME, "a) R 1 (b"), 0);
    ck_assert_uint_eq(mst_host_start_ticks((uint64_t)getpid()), ticks);
    make();
    ck_assert_int_eq(mst_header_running(board.header), 1);
    mst_board_close(&board);
}
END_TEST

START_TEST(a_process_that_ended_does_not_run)
{
    make();
    board.header->pid = (uint32_t)test_dead_pid();
    ck_assert_int_eq(mst_header_running(board.header), 0);
    board.header->pid = 0;
    ck_assert_int_eq(mst_header_running(board.header), 0);
    board.header->pid = UINT32_MAX;
    ck_assert_int_eq(mst_header_running(board.header), 0);
    mst_board_close(&board);
}
END_TEST

START_TEST(another_process_with_the_same_pid_is_another)
{
    make();
    board.header->pid_start_ticks++;
    ck_assert_int_eq(mst_header_running(board.header), 0);
    mst_board_close(&board);
}
END_TEST

START_TEST(a_zombie_does_not_run)
{
    siginfo_t ended;
    pid_t pid;

    make();
    if (test_fork(&pid))
        _exit(0);
    ck_assert_int_eq(waitid(P_PID, (id_t)pid, &ended, WEXITED | WNOWAIT), 0);
    board.header->pid = (uint32_t)pid;
    board.header->pid_start_ticks = mst_host_start_ticks((uint64_t)pid);
    ck_assert_int_eq(mst_header_running(board.header), 0);
    test_wait(pid);
    mst_board_close(&board);
}
END_TEST

START_TEST(an_earlier_boot_is_over)
{
    make();
    board.header->boot_id[0] ^= 1;
    ck_assert_int_eq(mst_header_running(board.header), 0);
    mst_board_close(&board);
}
END_TEST

START_TEST(another_namespace_cannot_be_seen_into)
{
    make();
    board.header->pid_namespace++;
    ck_assert_int_eq(mst_header_running(board.header), -1);
    board.header->pid_namespace = 0;
    ck_assert_int_eq(mst_header_running(board.header), -1);
    mst_board_close(&board);
    make();
    board.header->time_namespace++;
    ck_assert_int_eq(mst_header_running(board.header), -1);
    mst_board_close(&board);
}
END_TEST

/* A file's owner may name any process: what is not the owner's is not taken for the server. */
START_TEST(another_users_process_is_not_the_server)
{
    char error[MST_ERROR_MAX] = "";
    struct mst_reader reader;

    if (geteuid() != 0)
        return;
    make();
    ck_assert_int_eq(mst_reader_open(&reader, board.path, error), 0);
    ck_assert_uint_eq(reader.owner, 0);
    ck_assert_int_eq(mst_reader_running(&reader), 1);
    mst_reader_close(&reader);
    ck_assert_int_eq(chown(board.path, NOBODY, NOBODY), 0);
    ck_assert_int_eq(mst_reader_open(&reader, board.path, error), 0);
    ck_assert_uint_eq(reader.owner, NOBODY);
    ck_assert_int_eq(mst_header_running(&reader.header), 1);
    ck_assert_int_eq(mst_reader_running(&reader), -1);
    mst_reader_close(&reader);
    mst_board_close(&board);
}
END_TEST

START_TEST(the_owner_is_told_where_it_is_another_user)
{
    struct test_view v;

    make();
    test_view(&v, board.path, 1);
    ck_assert_uint_eq(v.s.owner, MST_UNKNOWN);
    test_view_free(&v);
    if (geteuid() == 0) {
        ck_assert_int_eq(chown(board.path, NOBODY, NOBODY), 0);
        test_view(&v, board.path, 1);
        ck_assert_uint_eq(v.s.owner, NOBODY);
        test_view_free(&v);
    }
    mst_board_close(&board);
}
END_TEST

int main(void)
{
    Suite *suite = suite_create("liveness");
    TCase *tests = tcase_create("liveness");

    tcase_add_test(tests, this_process_runs_whatever_it_is_called);
    tcase_add_test(tests, a_process_that_ended_does_not_run);
    tcase_add_test(tests, another_process_with_the_same_pid_is_another);
    tcase_add_test(tests, a_zombie_does_not_run);
    tcase_add_test(tests, an_earlier_boot_is_over);
    tcase_add_test(tests, another_namespace_cannot_be_seen_into);
    tcase_add_test(tests, another_users_process_is_not_the_server);
    tcase_add_test(tests, the_owner_is_told_where_it_is_another_user);
    suite_add_tcase(suite, tests);
    return test_run(suite);
}
