/* check_runner.c - a command under its supervisor: how it ended, what it cost, and
 * that nothing of it is left, whichever process is killed. Runs sh and sleep.
 */
#include <errno.h>
#include <fcntl.h>
#include <poll.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/prctl.h>
#include <sys/wait.h>
#include <unistd.h>

#include "base/clock.h"
#include "base/strings.h"
#include "exec/capture.h"
#include "exec/runner.h"
#include "harness.h"

#define PATIENCE_MS 10000   /* for what takes milliseconds on a quiet machine */

struct running {
    struct mst_runner *runner;
    int out, err;
};

static struct running start(const char *script, int inherited)
{
    char sh[] = "sh", option[] = "-c", error[MST_ERROR_MAX] = "", *text = strdup(script);
    char *argv[] = { sh, option, text, NULL };
    struct running r;

    r.out = mst_capture_open(error);
    r.err = mst_capture_open(error);
    ck_assert_msg(r.out >= 0 && r.err >= 0, "%s", error);
    r.runner = mst_runner_start(&(struct mst_spawn){ .argv = argv, .out = r.out, .err = r.err,
                                                     .inherited = inherited }, error);
    ck_assert_msg(r.runner != NULL, "%s", error);
    free(text);
    return r;
}

static struct mst_run_end wait_for(struct running *r)
{
    struct pollfd fd = { mst_runner_fd(r->runner), POLLIN, 0 };
    struct mst_run_end end;
    char error[MST_ERROR_MAX];

    ck_assert_int_eq(poll(&fd, 1, PATIENCE_MS), 1);
    ck_assert_int_eq(mst_runner_ended(r->runner, &end, error), 1);
    ck_assert_int_eq(mst_runner_ended(r->runner, &end, error), 1);   /* it stays so */
    return end;
}

static void done(struct running *r)
{
    mst_runner_close(r->runner);
    close(r->out);
    close(r->err);
}

/* All that was written; a program that still runs can write more at any time. */
static char *output(int fd)
{
    uint64_t before = mst_capture_bytes(fd);
    size_t n;
    char *text = mst_capture_end(fd, 4096, &n);

    ck_assert_ptr_nonnull(text);
    ck_assert_uint_ge(n, before);
    ck_assert_uint_le(n, mst_capture_bytes(fd));
    return text;
}

/* The numbers that it prints, waited for. */
static void read_pids(struct running *r, pid_t *pids, size_t n)
{
    char *text, *at;
    size_t i, tries;

    for (tries = 0; tries < PATIENCE_MS / 10; tries++) {
        text = output(r->out);
        for (i = 0, at = text; i < n && strchr(at, '\n') != NULL; i++)
            pids[i] = (pid_t)strtol(at, &at, 10), at += *at == '\n';
        free(text);
        if (i == n)
            return;
        poll(NULL, 0, 10);
    }
    ck_abort_msg("it did not print its process ids");
}

/* Whether the process is gone, or a zombie that waits for its reaper. */
static bool is_gone(pid_t pid)
{
    char path[64], line[256], state = 'X';
    FILE *file;

    snprintf(path, sizeof path, "/proc/%ld/stat", (long)pid);
    file = fopen(path, "re");
    if (file == NULL)
        return true;
    if (fgets(line, sizeof line, file) != NULL && strrchr(line, ')') != NULL)
        state = strrchr(line, ')')[2];
    fclose(file);
    return state == 'Z' || state == 'X';
}

static void expect_gone(pid_t pid)
{
    unsigned tries;

    for (tries = 0; tries < PATIENCE_MS / 10 && !is_gone(pid); tries++)
        poll(NULL, 0, 10);
    ck_assert_msg(is_gone(pid), "process %ld is left over", (long)pid);
}

/* ---- how it ends ----------------------------------------------------------------- */

START_TEST(test_exit_status)
{
    struct running r = start("echo out; echo err >&2; exit 7", -1);
    struct mst_run_end end = wait_for(&r);
    char *out = output(r.out), *err = output(r.err);

    ck_assert_uint_eq(end.exit_status, 7);
    ck_assert_uint_eq(end.exit_signal, MST_UNKNOWN);
    ck_assert_str_eq(out, "out\n");
    ck_assert_str_eq(err, "err\n");
    ck_assert_uint_eq(end.ended_wall_ns, end.started_wall_ns + end.duration_ns);
    ck_assert_uint_eq(end.started_wall_ns, mst_runner_started(r.runner));
    free(out);
    free(err);
    done(&r);
}
END_TEST

START_TEST(test_signal)
{
    struct running r = start("kill -USR1 $$", -1);
    struct mst_run_end end = wait_for(&r);

    ck_assert_uint_eq(end.exit_status, MST_UNKNOWN);
    ck_assert_uint_eq(end.exit_signal, SIGUSR1);
    done(&r);
}
END_TEST

START_TEST(test_cpu_time)
{
    struct running r = start("i=0; while [ $i -lt 20000 ]; do i=$((i+1)); done", -1);
    struct mst_run_end end = wait_for(&r);

    ck_assert_uint_gt(end.cpu_ns, 0);
    ck_assert_uint_le(end.cpu_ns, end.duration_ns + 20 * MST_NS_PER_MS);
    done(&r);
}
END_TEST

START_TEST(test_not_ended_yet)
{
    struct running r = start("sleep 100", -1);
    struct mst_run_end end;
    char error[MST_ERROR_MAX];

    ck_assert_int_eq(mst_runner_ended(r.runner, &end, error), 0);
    done(&r);
}
END_TEST

/* A descriptor stays open in it, and is not closed here. */
START_TEST(test_inherited)
{
    char error[MST_ERROR_MAX], script[64], *text;
    int fd = mst_capture_open(error);
    struct running r;

    snprintf(script, sizeof script, "echo row >/dev/fd/%d", fd);
    r = start(script, fd);
    ck_assert_uint_eq(wait_for(&r).exit_status, 0);
    text = output(fd);
    ck_assert_str_eq(text, "row\n");
    free(text);
    close(fd);
    done(&r);
}
END_TEST

START_TEST(test_cannot_execute)
{
    char missing[] = "/nonexistent/ab", *argv[] = { missing, NULL }, error[MST_ERROR_MAX];
    int fd = mst_capture_open(error);

    ck_assert_ptr_null(mst_runner_start(&(struct mst_spawn){ .argv = argv, .out = fd, .err = fd,
                                                             .inherited = -1 }, error));
    ck_assert_str_eq(error, "cannot run /nonexistent/ab: there is no such command");
    ck_assert_int_eq(waitpid(-1, NULL, WNOHANG), -1);   /* no process is left */
    close(fd);
}
END_TEST

START_TEST(test_finds)
{
    ck_assert(mst_spawn_finds("sh"));
    ck_assert(mst_spawn_finds("/bin/sh"));
    ck_assert(!mst_spawn_finds("/bin"));
    ck_assert(!mst_spawn_finds("/nonexistent/ab"));
    ck_assert(!mst_spawn_finds("no-such-command-anywhere"));
    ck_assert(!mst_spawn_finds(""));
    setenv("PATH", "/nonexistent", 1);
    ck_assert(!mst_spawn_finds("sh"));
    unsetenv("PATH");
    ck_assert(!mst_spawn_finds("sh"));
}
END_TEST

/* ---- what it is started with ------------------------------------------------------ */

/* Its environment is the one that is given, and this process's stays as it is. */
START_TEST(test_environment)
{
    char *const variables[] = { (char[]){ "MST_TEST=theirs" }, (char[]){ "MST_NEW=1" }, NULL };
    char sh[] = "/bin/sh", option[] = "-c", script[] = "echo $MST_TEST $MST_NEW $MST_OTHER; pwd";
    char *argv[] = { sh, option, script, NULL }, **environment, error[MST_ERROR_MAX], *text;
    struct running r = { .out = mst_capture_open(error), .err = mst_capture_open(error) };

    setenv("MST_TEST", "ours", 1);
    setenv("MST_OTHER", "other", 1);
    environment = mst_environment_with(variables);
    ck_assert_ptr_nonnull(environment);
    r.runner = mst_runner_start(&(struct mst_spawn){ .argv = argv, .environment = environment,
                                                     .directory = "/", .in = MST_DEV_NULL,
                                                     .out = r.out, .err = r.err,
                                                     .inherited = -1 }, error);
    ck_assert_msg(r.runner != NULL, "%s", error);
    ck_assert_uint_eq(wait_for(&r).exit_status, 0);
    text = output(r.out);
    ck_assert_str_eq(text, "theirs 1 other\n/\n");
    ck_assert_str_eq(getenv("MST_TEST"), "ours");
    ck_assert_ptr_null(getenv("MST_NEW"));
    free(text);
    mst_strings_free_items(environment);
    done(&r);
}
END_TEST

/* A program without a slash is looked for in its own PATH. */
START_TEST(test_path_of_the_environment)
{
    char *argv[] = { (char[]){ "true" }, NULL };
    char *const nowhere[] = { (char[]){ "PATH=/nonexistent" }, NULL };
    struct mst_spawn spawn = { .argv = argv, .environment = nowhere, .in = MST_DEV_NULL,
                               .out = MST_DEV_NULL, .err = MST_DEV_NULL, .inherited = -1 };
    int status;
    pid_t pid;

    ck_assert_int_eq(mst_spawn(&spawn), -1);
    ck_assert_int_eq(errno, ENOENT);
    spawn.environment = NULL;
    pid = mst_spawn(&spawn);
    ck_assert_int_gt(pid, 0);
    while (!mst_spawn_wait(pid, PATIENCE_MS))
        ;
    ck_assert_int_eq(waitpid(pid, &status, 0), pid);
    ck_assert_int_eq(status, 0);
}
END_TEST

/* ---- stopping it ----------------------------------------------------------------- */

START_TEST(test_stop_asks)
{
    struct running r = start("trap 'echo bye; exit 3' INT; echo $$; while :; do sleep 0.01; done",
                             -1);
    struct mst_run_end end;
    pid_t pid;

    read_pids(&r, &pid, 1);
    mst_runner_stop(r.runner, SIGINT);
    end = wait_for(&r);
    ck_assert_uint_eq(end.exit_status, 3);
    done(&r);
}
END_TEST

/* A tool that ignores what it is asked: siege does. */
START_TEST(test_stop_kills_in_the_end)
{
    struct running r = start("trap '' TERM; echo $$; while :; do sleep 0.01; done", -1);
    uint64_t began = mst_now_ns();
    struct mst_run_end end;
    pid_t pid;

    read_pids(&r, &pid, 1);
    mst_runner_stop(r.runner, SIGTERM);
    end = wait_for(&r);
    ck_assert_uint_eq(end.exit_signal, SIGKILL);
    ck_assert_uint_ge(mst_now_ns() - began, MST_RUNNER_GRACE_NS);
    done(&r);
}
END_TEST

START_TEST(test_stop_twice_kills_now)
{
    struct running r = start("trap '' TERM; echo $$; while :; do sleep 0.01; done", -1);
    struct mst_run_end end;
    pid_t pid;

    read_pids(&r, &pid, 1);
    mst_runner_stop(r.runner, SIGTERM);
    poll(NULL, 0, 50);
    mst_runner_stop(r.runner, SIGTERM);
    end = wait_for(&r);
    ck_assert_uint_eq(end.exit_signal, SIGKILL);
    ck_assert_uint_lt(end.duration_ns, MST_RUNNER_GRACE_NS);
    done(&r);
}
END_TEST

START_TEST(test_stop_of_a_stopped_one)
{
    struct running r = start("echo $$; kill -STOP $$; echo on; sleep 100", -1);
    struct mst_run_end end;
    pid_t pid;

    read_pids(&r, &pid, 1);
    mst_runner_stop(r.runner, SIGTERM);
    end = wait_for(&r);
    ck_assert_uint_eq(end.exit_signal, SIGTERM);
    done(&r);
}
END_TEST

/* ---- nothing is left ------------------------------------------------------------- */

#define FAMILY "sleep 100 & echo $!; setsid sleep 101 & echo $!; sleep 0.2; "

START_TEST(test_children_go_with_it)
{
    struct running r = start(FAMILY "exit 0", -1);
    pid_t pids[2];

    ck_assert_uint_eq(wait_for(&r).exit_status, 0);
    read_pids(&r, pids, 2);
    expect_gone(pids[0]);
    expect_gone(pids[1]);
    done(&r);
}
END_TEST

START_TEST(test_close_kills)
{
    struct running r = start(FAMILY "echo $$; sleep 102", -1);
    pid_t pids[3];

    read_pids(&r, pids, 3);
    done(&r);
    expect_gone(pids[0]);
    expect_gone(pids[1]);
    expect_gone(pids[2]);
}
END_TEST

/* The recorder is killed with SIGKILL. */
START_TEST(test_caller_is_killed)
{
    char error[MST_ERROR_MAX];
    int fd = mst_capture_open(error);
    struct running r = { NULL, fd, fd };
    pid_t caller, pids[3];

    /* The supervisor becomes ours when its parent dies, so that it can be waited for. */
    ck_assert_int_eq(prctl(PR_SET_CHILD_SUBREAPER, 1), 0);
    if (test_fork(&caller)) {
        char sh[] = "sh", option[] = "-c", script[] = FAMILY "echo $$; sleep 102";
        char *argv[] = { sh, option, script, NULL };

        if (mst_runner_start(&(struct mst_spawn){ .argv = argv, .out = fd, .err = fd,
                                                  .inherited = -1 }, error) == NULL)
            _exit(1);
        pause();
    }
    read_pids(&r, pids, 3);
    ck_assert_int_eq(kill(caller, SIGKILL), 0);
    test_wait(caller);
    expect_gone(pids[0]);
    expect_gone(pids[1]);
    expect_gone(pids[2]);
    while (waitpid(-1, NULL, 0) > 0)
        ;
    close(fd);
}
END_TEST

int main(void)
{
    Suite *suite = suite_create("runner");
    TCase *ends = tcase_create("ends"), *stops = tcase_create("stops");
    TCase *left = tcase_create("nothing is left");

    tcase_add_test(ends, test_exit_status);
    tcase_add_test(ends, test_signal);
    tcase_add_test(ends, test_cpu_time);
    tcase_add_test(ends, test_not_ended_yet);
    tcase_add_test(ends, test_inherited);
    tcase_add_test(ends, test_cannot_execute);
    tcase_add_test(ends, test_finds);
    tcase_add_test(ends, test_environment);
    tcase_add_test(ends, test_path_of_the_environment);
    tcase_add_test(stops, test_stop_asks);
    tcase_add_test(stops, test_stop_kills_in_the_end);
    tcase_add_test(stops, test_stop_twice_kills_now);
    tcase_add_test(stops, test_stop_of_a_stopped_one);
    tcase_add_test(left, test_children_go_with_it);
    tcase_add_test(left, test_close_kills);
    tcase_add_test(left, test_caller_is_killed);
    tcase_set_timeout(stops, 30);
    tcase_set_timeout(left, 30);
    suite_add_tcase(suite, ends);
    suite_add_tcase(suite, stops);
    suite_add_tcase(suite, left);
    return test_run(suite);
}
