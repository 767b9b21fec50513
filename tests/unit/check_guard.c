/* check_guard.c - a process that loses pages of its board goes on; no process can change the
 * size of the board's file; faults that are not the board's stay fatal.
 */
#include <errno.h>
#include <fcntl.h>
#include <signal.h>
#include <stdio.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/resource.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <unistd.h>

#include "base/clock.h"
#include "harness.h"
#include "write/journal.h"
#include "write/worker.h"

static char error[MST_ERROR_MAX], warning[MST_ERROR_MAX];
static struct mst_board board;

static void make(void)
{
    struct mst_layout layout = test_layout();

    test_board(&board, &layout);
}

/* ---- the descriptor ------------------------------------------------------------------ */

/* No descriptor of this process may write to the board's file. */
static void assert_nothing_writes_to(const char *path)
{
    struct stat file, st;
    int fd;

    ck_assert_int_eq(stat(path, &file), 0);
    for (fd = 0; fd < 256; fd++)
        if (fstat(fd, &st) == 0 && st.st_ino == file.st_ino && st.st_dev == file.st_dev)
            ck_assert_int_eq(fcntl(fd, F_GETFL) & O_ACCMODE, O_RDONLY);
}

START_TEST(the_maker_keeps_no_descriptor_that_writes)
{
    make();
    assert_nothing_writes_to(board.path);
    ck_assert_int_eq(ftruncate(board.fd, 0), -1);
    ck_assert_int_ge(board.fd, 0);
    mst_board_close(&board);
}
END_TEST

START_TEST(nor_does_the_process_that_adopts_its_own)
{
    struct mst_layout layout = test_layout();
    struct mst_board adopted;

    make();
    ck_assert(mst_board_adopt(&adopted, board.path, &layout));
    assert_nothing_writes_to(board.path);
    mst_board_close(&adopted);
    mst_board_close(&board);
}
END_TEST

START_TEST(nor_do_those_that_share_one)
{
    struct mst_identity identity = { .workers_limit = MST_UNKNOWN, .no_parent = true };
    struct mst_layout layout = test_php_layout();
    struct mst_board first, second;
    const char *path = test_path();

    ck_assert_int_eq(mst_board_share(&first, path, &layout, &identity, (gid_t)-1, warning, error),
                     0);
    ck_assert_int_eq(mst_board_share(&second, path, &layout, &identity, (gid_t)-1, warning, error),
                     0);
    assert_nothing_writes_to(path);
    mst_board_close(&first);
    mst_board_close(&second);
}
END_TEST

/* ---- lost pages ------------------------------------------------------------------------ */

/* All that a server does with its board. */
static void use_board(struct mst_board *b)
{
    struct mst_lifecycle event = { .event_kind = (uint64_t)MST_EVENT_FORK << 32 };
    struct mst_request request = { .id = 1 };
    struct mst_process_end end;
    int process = mst_process_claim(b, (uint64_t)getpid(), 1, mst_now_ns());

    mst_journal_request(b, &request);
    mst_journal_lifecycle(b, &event);
    mst_label_intern(b, "new");
    mst_count(&mst_counters_of(b, 1, 0)->status[0], 1);
    ck_assert_int_ge(process, 0);
    mst_process_release(b, (uint64_t)getpid(), mst_now_ns(), &end);
}

static void assert_loss_is_told_once(struct mst_board *b)
{
    ck_assert(mst_guard_has_lost(&b->guard));
    ck_assert(mst_board_is_to_tell_loss(b, error));
    ck_assert_ptr_nonnull(strstr(error, "recording has ended"));
    ck_assert_ptr_nonnull(strstr(error, b->path));
    ck_assert(!mst_board_is_to_tell_loss(b, error));
    ck_assert(mst_guard_has_lost(&b->guard));
}

START_TEST(a_board_that_is_whole_has_lost_nothing)
{
    make();
    use_board(&board);
    ck_assert(!mst_guard_has_lost(&board.guard));
    ck_assert(!mst_board_is_to_tell_loss(&board, error));
    mst_board_close(&board);
}
END_TEST

START_TEST(a_truncated_board_is_survived)
{
    make();
    ck_assert_int_eq(truncate(board.path, _i), 0);
    use_board(&board);
    assert_loss_is_told_once(&board);
    mst_board_close(&board);
}
END_TEST

START_TEST(an_unmapped_board_is_survived)
{
    make();
    ck_assert_int_eq(munmap(board.header, board.bytes), 0);
    use_board(&board);
    assert_loss_is_told_once(&board);
    mst_board_close(&board);
}
END_TEST

/* What the process has mapped in the meantime where the board was stays as it is. */
START_TEST(what_has_taken_the_place_of_an_unmapped_board_stays)
{
    size_t page = (size_t)sysconf(_SC_PAGESIZE);
    char *other;

    make();
    other = (char *)board.header + board.bytes / page / 2 * page;
    ck_assert_int_eq(munmap(board.header, board.bytes), 0);
    ck_assert(mmap(other, page, PROT_READ | PROT_WRITE,
                   MAP_PRIVATE | MAP_ANONYMOUS | MAP_FIXED_NOREPLACE, -1, 0) == other);
    memset(other, 'x', page);
    board.header->generation = 1;
    ck_assert_int_eq(other[0], 'x');
    ck_assert_int_eq(other[page - 1], 'x');
}
END_TEST

/* The parent learns of what a child has lost. */
START_TEST(one_process_tells_what_another_has_lost)
{
    pid_t pid;

    make();
    if (test_fork(&pid)) {
        munmap(board.header, board.bytes);
        board.header->generation = 1;
        _exit(0);
    }
    ck_assert_int_eq(test_wait(pid), 0);
    assert_loss_is_told_once(&board);
    ck_assert_uint_eq(board.header->ready, MST_READY_ENDED);
    mst_board_close(&board);
}
END_TEST

START_TEST(readers_are_told_that_it_has_ended)
{
    struct mst_reader reader;
    pid_t pid;

    make();
    if (test_fork(&pid)) {
        munmap(board.header, board.bytes);
        board.header->generation = 1;
        _exit(mst_board_is_to_tell_loss(&board, error) ? 0 : 1);
    }
    ck_assert_int_eq(test_wait(pid), 0);
    ck_assert(!mst_board_is_to_tell_loss(&board, error));   /* the child has said it */
    board.header->ready = MST_READY_ENDED;
    ck_assert_int_eq(mst_reader_open(&reader, board.path, error), -1);
    ck_assert_ptr_nonnull(strstr(error, "has ended"));
    mst_board_close(&board);
}
END_TEST

/* ---- other faults ------------------------------------------------------------------------ */

static void die_without_core(void)
{
    struct rlimit none = { 0, 0 };

    setrlimit(RLIMIT_CORE, &none);
    signal(SIGSEGV, SIG_DFL);   /* libcheck's */
    signal(SIGBUS, SIG_DFL);
}

static volatile char *volatile nowhere;

/* The first is undefined, which a sanitizer would end before the processor does. */
__attribute__((no_sanitize_undefined))
static void fault(int which)
{
    char *page;

    switch (which) {
    case 0: *nowhere = 1; break;
    case 1: raise(SIGSEGV); break;
    case 2: raise(SIGBUS); break;
    case 3:
        page = mmap(NULL, 4096, PROT_READ | PROT_WRITE, MAP_SHARED,
                    open(test_path(), O_RDWR | O_CREAT, 0600), 0);
        *(volatile char *)page = 1;   /* of an empty file */
        break;
    case 4:                           /* a right that was taken away is not a lost page */
        mprotect(board.header, board.bytes, PROT_READ);
        board.header->generation = 1;
        break;
    }
}

START_TEST(a_fault_elsewhere_ends_the_process_as_before)
{
    static const int ends[] = { SIGSEGV, SIGSEGV, SIGBUS, SIGBUS, SIGSEGV };
    int status;
    pid_t pid;

    if (test_fork(&pid)) {
        die_without_core();
        make();
        fault(_i);
        _exit(0);
    }
    status = test_wait(pid);
    ck_assert(WIFSIGNALED(status));
    ck_assert_int_eq(WTERMSIG(status), ends[_i]);
}
END_TEST

static volatile sig_atomic_t asked;

static void ask(int signal)
{
    (void)signal;
    asked++;
    _exit(asked == 1 ? 42 : 43);
}

/* httpd replaces the handlers when its MPM starts; its own must still be asked. */
START_TEST(a_handler_that_was_installed_since_is_asked_after_ours)
{
    int status;
    pid_t pid;

    if (test_fork(&pid)) {
        die_without_core();
        make();
        signal(SIGSEGV, ask);
        signal(SIGBUS, ask);
        mst_guard_renew(&board.guard);
        mst_guard_renew(&board.guard);
        ck_assert_int_eq(truncate(board.path, 0), 0);
        board.header->generation = 1;   /* ours */
        fault(_i);                      /* theirs */
        _exit(0);
    }
    status = test_wait(pid);
    ck_assert(WIFEXITED(status));
    ck_assert_int_eq(WEXITSTATUS(status), 42);
}
END_TEST

static struct sigaction under;

/* A handler as debuggers and other extensions install them: it calls the one below. */
static void call_below(int signal, siginfo_t *info, void *context)
{
    under.sa_sigaction(signal, info, context);
}

/* Ours is below and on top of it: a circle. */
START_TEST(handlers_in_a_circle_end_the_process)
{
    struct sigaction theirs = { .sa_sigaction = call_below, .sa_flags = SA_SIGINFO };
    int status;
    pid_t pid;

    if (test_fork(&pid)) {
        die_without_core();
        make();
        sigaction(SIGSEGV, &theirs, &under);
        mst_guard_renew(&board.guard);
        fault(0);
        _exit(0);
    }
    status = test_wait(pid);
    ck_assert(WIFSIGNALED(status));
    ck_assert_int_eq(WTERMSIG(status), SIGSEGV);
}
END_TEST

START_TEST(a_closed_board_leaves_the_handlers_as_they_were)
{
    struct sigaction before, after;

    sigaction(SIGBUS, NULL, &before);
    make();
    sigaction(SIGBUS, NULL, &after);
    ck_assert(before.sa_sigaction != after.sa_sigaction);
    mst_board_close(&board);
    sigaction(SIGBUS, NULL, &after);
    ck_assert(before.sa_sigaction == after.sa_sigaction);
}
END_TEST

int main(void)
{
    Suite *suite = suite_create("guard");
    TCase *descriptors = tcase_create("descriptors"), *pages = tcase_create("pages"),
          *faults = tcase_create("faults");

    tcase_add_test(descriptors, the_maker_keeps_no_descriptor_that_writes);
    tcase_add_test(descriptors, nor_does_the_process_that_adopts_its_own);
    tcase_add_test(descriptors, nor_do_those_that_share_one);
    suite_add_tcase(suite, descriptors);

    tcase_add_test(pages, a_board_that_is_whole_has_lost_nothing);
    tcase_add_loop_test(pages, a_truncated_board_is_survived, 0, 2);
    tcase_add_test(pages, an_unmapped_board_is_survived);
    tcase_add_test(pages, what_has_taken_the_place_of_an_unmapped_board_stays);
    tcase_add_test(pages, one_process_tells_what_another_has_lost);
    tcase_add_test(pages, readers_are_told_that_it_has_ended);
    suite_add_tcase(suite, pages);

    tcase_add_loop_test(faults, a_fault_elsewhere_ends_the_process_as_before, 0, 5);
    tcase_add_loop_test(faults, a_handler_that_was_installed_since_is_asked_after_ours, 0, 4);
    tcase_add_test(faults, handlers_in_a_circle_end_the_process);
    tcase_add_test(faults, a_closed_board_leaves_the_handlers_as_they_were);
    suite_add_tcase(suite, faults);
    return test_run(suite);
}
