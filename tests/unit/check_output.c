/* check_output.c - results in files: whole or not there, whatever ends the program.
 *
 * Each test where the file system has files without a name, and where it has none.
 */
#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <limits.h>
#include <linux/filter.h>
#include <linux/seccomp.h>
#include <sched.h>
#include <signal.h>
#include <stddef.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mount.h>
#include <sys/prctl.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <sys/wait.h>
#include <unistd.h>

#include "console/output.h"
#include "harness.h"

#define BEFORE "the one before\n"
#define AFTER  "the one after\n"

enum { NAMELESS, NAMED, KINDS };

/* From here on this process cannot open files without a name: so say some file systems. */
static void refuse_nameless(void)
{
    struct sock_filter code[] = {
        BPF_STMT(BPF_LD | BPF_W | BPF_ABS, offsetof(struct seccomp_data, nr)),
        BPF_JUMP(BPF_JMP | BPF_JEQ | BPF_K, SYS_openat, 0, 3),
        BPF_STMT(BPF_LD | BPF_W | BPF_ABS, offsetof(struct seccomp_data, args[2]) +
                 (__BYTE_ORDER__ == __ORDER_BIG_ENDIAN__ ? 4 : 0)),
        BPF_JUMP(BPF_JMP | BPF_JSET | BPF_K, O_TMPFILE & ~O_DIRECTORY, 0, 1),
        BPF_STMT(BPF_RET | BPF_K, SECCOMP_RET_ERRNO | EOPNOTSUPP),
        BPF_STMT(BPF_RET | BPF_K, SECCOMP_RET_ALLOW),
    };
    const struct sock_fprog program = { sizeof code / sizeof *code, code };

    ck_assert_int_eq(prctl(PR_SET_NO_NEW_PRIVS, 1, 0, 0, 0), 0);
    ck_assert_int_eq(prctl(PR_SET_SECCOMP, SECCOMP_MODE_FILTER, &program), 0);
    ck_assert_int_lt(open(".", O_TMPFILE | O_WRONLY, 0600), 0);
    ck_assert_int_eq(errno, EOPNOTSUPP);
}

/* ---- the files -------------------------------------------------------------------- */

static char directory[PATH_MAX], path[PATH_MAX + 16];

static void make_directory(void)
{
    snprintf(directory, sizeof directory, "%s", test_path());
    ck_assert_int_eq(mkdir(directory, 0700), 0);
    snprintf(path, sizeof path, "%s/report", directory);
}

static void write_before(void)
{
    FILE *file = fopen(path, "we");

    ck_assert_ptr_nonnull(file);
    fputs(BEFORE, file);
    fclose(file);
}

static void assert_contents(const char *expected)
{
    char text[256] = "";
    FILE *file = fopen(path, "re");

    ck_assert_ptr_nonnull(file);
    ck_assert_uint_gt(fread(text, 1, sizeof text - 1, file), 0);
    fclose(file);
    ck_assert_msg(strncmp(text, expected, strlen(expected)) == 0, "is \"%s\"", text);
}

/* How many files end so. */
static int count(const char *suffix)
{
    DIR *entries = opendir(directory);
    struct dirent *entry;
    int n = 0;

    ck_assert_ptr_nonnull(entries);
    while ((entry = readdir(entries)) != NULL) {
        size_t length = strlen(entry->d_name);

        n += entry->d_name[0] != '.' && length >= strlen(suffix) &&
             strcmp(entry->d_name + length - strlen(suffix), suffix) == 0;
    }
    closedir(entries);
    return n;
}

/* ---- what writes them ------------------------------------------------------------- */

static mst_output_put put_after, put_failing, put_much, put_slowly;

static int put_after(struct mst_sink *sink, const void *context)
{
    (void)context;
    mst_sink_puts(sink, AFTER);
    return 0;
}

static int put_failing(struct mst_sink *sink, const void *context)
{
    put_after(sink, context);
    return 3;
}

static int put_much(struct mst_sink *sink, const void *context)
{
    int i;

    for (i = 0; i < 100000; i++)
        put_after(sink, context);
    return 0;
}

struct pipes { int told[2], go[2]; };

/* Says when it is amid its writing, and waits until it may go on. */
static int put_slowly(struct mst_sink *sink, const void *context)
{
    const struct pipes *pipes = context;
    char byte = 'x';

    put_much(sink, NULL);
    mst_sink_flush(sink);
    if (write(pipes->told[1], &byte, 1) != 1)
        return 1;
    while (read(pipes->go[0], &byte, 1) < 0 && errno == EINTR)
        ;
    return 0;
}

static int write_now(mst_output_put *put, const void *context)
{
    char error[MST_ERROR_MAX] = "";

    return mst_output_file(path, put, context, error);
}

/* A program that has written half of the file. */
static pid_t begin_to_write(int kind, struct pipes *pipes)
{
    char byte;
    pid_t pid;

    ck_assert_int_eq(pipe(pipes->told), 0);
    ck_assert_int_eq(pipe(pipes->go), 0);
    if (test_fork(&pid)) {
        signal(SIGINT, SIG_DFL);    /* libcheck has these two */
        signal(SIGTERM, SIG_DFL);
        if (kind == NAMED)
            refuse_nameless();
        _exit(write_now(put_slowly, pipes));
    }
    ck_assert_int_eq(read(pipes->told[0], &byte, 1), 1);
    return pid;
}

/* ---- tests ------------------------------------------------------------------------ */

START_TEST(test_whole)
{
    make_directory();
    if (_i == NAMED)
        refuse_nameless();
    ck_assert_int_eq(write_now(put_after, NULL), 0);
    assert_contents(AFTER);
    write_before();
    ck_assert_int_eq(write_now(put_much, NULL), 0);
    assert_contents(AFTER AFTER);
    ck_assert_int_eq(count(""), 1);
}
END_TEST

START_TEST(test_an_error_leaves_nothing)
{
    make_directory();
    if (_i == NAMED)
        refuse_nameless();
    ck_assert_int_eq(write_now(put_failing, NULL), 3);
    ck_assert_int_eq(count(""), 0);
    write_before();
    ck_assert_int_eq(write_now(put_failing, NULL), 3);
    assert_contents(BEFORE);
    ck_assert_int_eq(count(""), 1);
}
END_TEST

START_TEST(test_a_signal_leaves_nothing)
{
    static const int signals[] = { SIGINT, SIGTERM, SIGHUP };
    struct pipes pipes;
    size_t i;
    int status;
    pid_t pid;

    make_directory();
    write_before();
    for (i = 0; i < sizeof signals / sizeof *signals; i++) {
        signal(signals[i], SIG_DFL);   /* under nohup SIGHUP is ignored from the start */
        pid = begin_to_write(_i, &pipes);
        ck_assert_int_eq(count(".part"), _i == NAMED);
        kill(pid, signals[i]);
        status = test_wait(pid);
        ck_assert_msg(WIFSIGNALED(status) && WTERMSIG(status) == signals[i], "status %d", status);
        assert_contents(BEFORE);
        ck_assert_int_eq(count(""), 1);
    }
}
END_TEST

/* nohup: it goes on. */
START_TEST(test_an_ignored_signal_is_ignored)
{
    struct pipes pipes;
    pid_t pid;

    make_directory();
    signal(SIGHUP, SIG_IGN);
    pid = begin_to_write(_i, &pipes);
    kill(pid, SIGHUP);
    ck_assert_int_eq(write(pipes.go[1], "x", 1), 1);
    ck_assert_int_eq(test_wait(pid), 0);
    assert_contents(AFTER);
    ck_assert_int_eq(count(""), 1);
}
END_TEST

START_TEST(test_what_a_killed_one_left_is_removed)
{
    char other[PATH_MAX + 16], error[MST_ERROR_MAX];
    struct pipes pipes;
    pid_t pid;

    make_directory();
    write_before();
    pid = begin_to_write(_i, &pipes);
    kill(pid, SIGKILL);
    test_wait(pid);
    assert_contents(BEFORE);
    ck_assert_int_eq(count(".part"), _i == NAMED);
    snprintf(other, sizeof other, "%s/rep", directory);
    ck_assert_int_eq(mst_output_file(other, put_after, NULL, error), 0);
    ck_assert_int_eq(count(".part"), _i == NAMED);   /* that is none of its */
    ck_assert_int_eq(write_now(put_after, NULL), 0);
    assert_contents(AFTER);
    ck_assert_int_eq(count(""), 2);
}
END_TEST

START_TEST(test_two_at_once)
{
    struct pipes pipes;
    pid_t pid;

    make_directory();
    pid = begin_to_write(_i, &pipes);
    ck_assert_int_eq(write_now(put_after, NULL), 0);
    ck_assert_int_eq(count(".part"), _i == NAMED);   /* somebody writes it */
    ck_assert_int_eq(write(pipes.go[1], "x", 1), 1);
    ck_assert_int_eq(test_wait(pid), 0);
    assert_contents(AFTER AFTER);                    /* the last that ends has it */
    ck_assert_int_eq(count(""), 1);
}
END_TEST

/* In a mount namespace of its own, so that nobody else sees the little disk. */
START_TEST(test_a_full_disk_leaves_nothing)
{
    char error[MST_ERROR_MAX] = "";

    make_directory();
    if (unshare(CLONE_NEWNS) != 0 || mount(NULL, "/", NULL, MS_REC | MS_PRIVATE, NULL) != 0 ||
        mount("tmpfs", directory, "tmpfs", 0, "size=64k") != 0)
        return;   /* that takes root */
    if (_i == NAMED)
        refuse_nameless();
    write_before();
    ck_assert_int_eq(mst_output_file(path, put_much, NULL, error), -1);
    ck_assert_msg(strstr(error, path) != NULL && strstr(error, "No space left") != NULL,
                  "says \"%s\"", error);
    assert_contents(BEFORE);
    ck_assert_int_eq(count(""), 1);
    ck_assert_int_eq(write_now(put_after, NULL), 0);   /* there is room again */
}
END_TEST

int main(void)
{
    Suite *suite = suite_create("output");
    TCase *files = tcase_create("files");

    tcase_add_loop_test(files, test_whole, 0, KINDS);
    tcase_add_loop_test(files, test_an_error_leaves_nothing, 0, KINDS);
    tcase_add_loop_test(files, test_a_signal_leaves_nothing, 0, KINDS);
    tcase_add_loop_test(files, test_an_ignored_signal_is_ignored, 0, KINDS);
    tcase_add_loop_test(files, test_what_a_killed_one_left_is_removed, 0, KINDS);
    tcase_add_loop_test(files, test_two_at_once, 0, KINDS);
    tcase_add_loop_test(files, test_a_full_disk_leaves_nothing, 0, KINDS);
    tcase_set_timeout(files, 60);
    suite_add_tcase(suite, files);
    return test_run(suite);
}
