/* check_stop.c - signals that ask for an end: whom they are told to. */
#include <errno.h>
#include <poll.h>
#include <sys/wait.h>
#include <unistd.h>

#include "console/stop.h"
#include "harness.h"

static int outside;

static void count_outside(int number)
{
    (void)number;
    outside++;
}

START_TEST(test_each_signal_is_told)
{
    static const int numbers[] = { SIGINT, SIGTERM, SIGHUP };
    struct mst_stop stop;
    int i;

    mst_stop_begin(&stop);
    ck_assert_int_eq(stop.count, 0);
    ck_assert_int_eq(stop.raised, 0);
    for (i = 0; i < 3; i++) {
        stop.raised = 0;
        ck_assert_int_eq(raise(numbers[i]), 0);
        ck_assert_int_eq(stop.count, i + 1);
        ck_assert_int_eq(stop.raised, 1);
    }
    mst_stop_end(&stop);
}
END_TEST

/* Only the innermost gets the signal; then the one around it, in the end the first handler. */
START_TEST(test_nested)
{
    struct mst_stop outer, inner;

    signal(SIGTERM, count_outside);
    mst_stop_begin(&outer);
    mst_stop_begin(&inner);
    raise(SIGTERM);
    ck_assert_int_eq(inner.count, 1);
    ck_assert_int_eq(outer.count, 0);
    mst_stop_end(&inner);
    raise(SIGTERM);
    ck_assert_int_eq(inner.count, 1);
    ck_assert_int_eq(outer.count, 1);
    mst_stop_end(&outer);
    ck_assert_int_eq(outside, 0);
    raise(SIGTERM);
    ck_assert_int_eq(outside, 1);
    ck_assert_int_eq(outer.count, 1);
}
END_TEST

START_TEST(test_a_wait_ends)
{
    struct mst_stop stop;
    pid_t child;

    mst_stop_begin(&stop);
    child = fork();
    ck_assert_int_ge(child, 0);
    if (child == 0) {
        poll(NULL, 0, 50);
        kill(getppid(), SIGHUP);
        _exit(0);
    }
    ck_assert_int_eq(poll(NULL, 0, 3000), -1);
    ck_assert_int_eq(errno, EINTR);
    ck_assert_int_eq(stop.raised, 1);
    ck_assert_int_eq(waitpid(child, NULL, 0), child);
    mst_stop_end(&stop);
}
END_TEST

int main(void)
{
    Suite *suite = suite_create("stop");
    TCase *tests = tcase_create("stop");

    tcase_add_test(tests, test_each_signal_is_told);
    tcase_add_test(tests, test_nested);
    tcase_add_test(tests, test_a_wait_ends);
    suite_add_tcase(suite, tests);
    return test_run(suite);
}
