/* check_archive_readers.c - the archive while others read it, and after a kill -9. */
#include <limits.h>
#include <poll.h>
#include <signal.h>
#include <stdio.h>
#include <sys/mman.h>
#include <unistd.h>

#include "analysis/summary.h"
#include "archive/writer.h"
#include "base/clock.h"
#include "findings/findings.h"
#include "harness.h"
#include "made_archive.h"
#include "stats/random.h"

/* ---- with readers ---------------------------------------------------------------- */

/* Begins to read the archive, and goes on until it is closed. */
static sqlite3 *begin_to_read(const char *path)
{
    sqlite3 *db;

    ck_assert_int_eq(sqlite3_open_v2(path, &db, SQLITE_OPEN_READWRITE, NULL), SQLITE_OK);
    ck_assert_int_eq(sqlite3_exec(db, "BEGIN; SELECT count(*) FROM runs", NULL, NULL, NULL),
                     SQLITE_OK);
    return db;
}

/* However much comes meanwhile: also what SQLite's cache has no room for. */
START_TEST(test_a_reader_ends_and_holds_up_nothing)
{
    char path[PATH_MAX];
    struct mst_archive *a;
    uint64_t i;
    int64_t server;
    sqlite3 *reader;

    choose_log(_i);
    snprintf(path, sizeof path, "%s", test_path());
    a = create(path);
    server = add_server(a, begin(a));
    reader = begin_to_read(path);
    for (i = 1; i <= 100000; i++) {
        ck_assert_msg(add_request(a, server, i) == 0, "%s", mst_archive_error(a));
        if (i % 1000 == 0)
            ck_assert_msg(mst_archive_tick(a, mst_now_ns() + MST_ARCHIVE_BATCH_NS) == 0, "%s",
                          mst_archive_error(a));
    }
    ck_assert_int_eq(sqlite3_exec(reader, "SELECT count(*) FROM runs; COMMIT", NULL, NULL, NULL),
                     SQLITE_OK);
    ck_assert_int_eq(sqlite3_close(reader), SQLITE_OK);
    ck_assert_int_eq(mst_archive_tick(a, mst_now_ns() + 2 * MST_ARCHIVE_BATCH_NS), 0);
    ck_assert_int_eq(ask(path, "SELECT count(*) FROM server_requests"), 100000);
    ck_assert_int_eq(add_request(a, server, i), 0);   /* the next batch is as any */
    close_archive(a);
    ck_assert_int_eq(ask(path, "SELECT count(*) FROM server_requests"), 100001);
}
END_TEST

START_TEST(test_a_reader_keeps_nothing_from_being_committed)
{
    char path[PATH_MAX];
    struct mst_archive *a;
    int64_t server;
    sqlite3 *reader;
    uint64_t i;

    snprintf(path, sizeof path, "%s", test_path());
    a = create(path);
    server = add_server(a, begin(a));
    reader = begin_to_read(path);
    for (i = 1; i <= 100000; i++) {
        ck_assert_int_eq(add_request(a, server, i), 0);
        if (i % 10000 != 0)
            continue;
        ck_assert_int_eq(mst_archive_offer(a), 0);
        ck_assert_int_eq(ask(path, "SELECT count(*) FROM server_requests"), (int64_t)i);
    }
    ck_assert_int_eq(sqlite3_exec(reader, "COMMIT", NULL, NULL, NULL), SQLITE_OK);
    ck_assert_int_eq(sqlite3_close(reader), SQLITE_OK);
    close_archive(a);
}
END_TEST

/* What is read is of one moment, and what came since is there for the next. */
START_TEST(test_a_report_is_of_one_moment)
{
    char path[PATH_MAX], error[MST_ERROR_MAX] = "";
    struct mst_summary summary;
    struct mst_archive *a, *reader;
    int64_t run, server;

    snprintf(path, sizeof path, "%s", test_path());
    a = create(path);
    run = begin(a);
    server = add_server(a, run);
    ck_assert_int_eq(mst_archive_commit(a), 0);
    reader = mst_archive_read(path, error);
    ck_assert_msg(reader != NULL, "%s", error);
    ck_assert_int_eq(add_request(a, server, 1), 0);
    ck_assert_int_eq(mst_archive_commit(a), 0);
    ck_assert_msg(mst_findings_summary(&summary, reader, run, error) == 0, "%s", error);
    ck_assert_uint_eq(summary.servers[0].requests, 0);
    ck_assert(!summary.complete);
    ck_assert_int_eq(summary.outcome, MST_OUTCOME_UNFINISHED);
    mst_summary_free(&summary);
    close_archive(reader);
    ck_assert_int_eq(ask(path, "SELECT count(*) FROM server_requests"), 1);
    close_archive(a);
}
END_TEST

START_TEST(test_what_has_to_be_written_waits_for_a_reader)
{
    char path[PATH_MAX], ready;
    struct mst_archive *a;
    int64_t server;
    int fds[2];
    pid_t pid;

    choose_log(_i);
    snprintf(path, sizeof path, "%s", test_path());
    a = create(path);
    server = add_server(a, begin(a));
    ck_assert_int_eq(mst_archive_commit(a), 0);
    ck_assert_int_eq(pipe(fds), 0);
    if (test_fork(&pid)) {
        begin_to_read(path);
        if (write(fds[1], "r", 1) == 1)
            sleep(5);
        _exit(0);
    }
    ck_assert_int_eq(read(fds[0], &ready, 1), 1);
    ck_assert_int_eq(add_request(a, server, 1), 0);
    ck_assert_msg(mst_archive_commit(a) == 0, "%s", mst_archive_error(a));
    ck_assert_int_eq(ask(path, "SELECT count(*) FROM server_requests"), 1);
    test_wait(pid);
    close(fds[0]);
    close(fds[1]);
    close_archive(a);
}
END_TEST

/* ---- one file ---------------------------------------------------------------------- */

START_TEST(test_one_file_when_nobody_has_it_open)
{
    char path[PATH_MAX], error[MST_ERROR_MAX] = "";
    struct mst_archive *a, *second, *reader;
    int64_t server;

    snprintf(path, sizeof path, "%s", test_path());
    a = create(path);
    server = add_server(a, begin(a));
    ck_assert_int_eq(add_request(a, server, 1), 0);
    ck_assert_int_eq(mst_archive_commit(a), 0);
    second = create(path);
    ck_assert_int_eq(begin(second), 2);
    close_archive(a);
    ck_assert_int_gt(files_of(path), 1);
    reader = mst_archive_read(path, error);
    ck_assert_msg(reader != NULL, "%s", error);
    close_archive(second);
    ck_assert_int_gt(files_of(path), 1);
    close_archive(reader);
    ck_assert_int_eq(files_of(path), 1);
    ck_assert_int_eq(ask(path, "SELECT count(*) FROM server_requests, runs"), 2);
    ck_assert_int_eq(ask(path, "SELECT journal_mode = 'delete' FROM pragma_journal_mode"), 1);
}
END_TEST

/* ---- killed ---------------------------------------------------------------------- */

/* Killed anywhere, mostly amid a batch: the archive can be read, what was
 * committed is there, the run says that it is not complete. */
START_TEST(test_killed)
{
    char path[PATH_MAX], error[MST_ERROR_MAX];
    struct mst_archive *a;
    int64_t committed;
    int fds[2];
    pid_t pid;

    choose_log(_i % LOGS);
    snprintf(path, sizeof path, "%s", test_path());
    ck_assert_int_eq(pipe(fds), 0);
    if (test_fork(&pid)) {
        int64_t server;
        uint64_t i;

        a = mst_archive_create(path, NULL, error);
        server = a != NULL ? add_server(a, begin(a)) : 0;
        for (i = 1; a != NULL; i++) {
            if (add_request(a, server, i) != 0)
                break;
            if (i % 500 == 0 && (mst_archive_commit(a) != 0 || write(fds[1], &i, sizeof i) < 0))
                break;
        }
        _exit(1);
    }
    for (committed = 0; committed < 2000 + 700 * _i;)
        ck_assert_int_eq(read(fds[0], &committed, sizeof committed), sizeof committed);
    kill(pid, SIGKILL);
    test_wait(pid);
    close(fds[0]);
    close(fds[1]);

    a = mst_archive_read(path, error);
    ck_assert_msg(a != NULL, "%s", error);
    close_archive(a);
    ck_assert_int_eq(files_of(path), 1);
    ck_assert_int_ge(ask(path, "SELECT count(*) FROM server_requests"), committed);
    ck_assert_int_eq(ask(path, "SELECT max(key) = count(*) FROM server_requests"), 1);
    ck_assert_int_eq(ask(path, "SELECT complete = 0 AND outcome = 'unfinished' FROM runs"), 1);
    ck_assert_int_eq(ask(path, "SELECT count(*) FROM pragma_integrity_check WHERE "
                               "integrity_check = 'ok'"), 1);
}
END_TEST

#define LOOKS_MAX 1000000u

/* What a recorder tells of itself: when each of its looks began. */
struct looks {
    volatile uint64_t count;
    volatile uint64_t began_ns[LOOKS_MAX];
};

/* As a recording does: row after row, and whenever it comes round the batch can be due. */
static void record_until_killed(const char *path, struct looks *looks)
{
    struct mst_archive *a = create(path);
    int64_t server = add_server(a, begin(a));
    uint64_t i, now;

    for (i = 0; i < LOOKS_MAX; i++) {
        now = mst_now_ns();
        looks->began_ns[i] = now;
        looks->count = i + 1;
        if (add_request(a, server, i + 1) != 0 || mst_archive_tick(a, now) != 0)
            break;
        poll(NULL, 0, 1);
    }
    _exit(1);
}

/* Until it has recorded for so long by its own account. */
static void wait_for_looks(const struct looks *looks, uint64_t ns)
{
    while (looks->count < 3 || looks->began_ns[looks->count - 1] - looks->began_ns[0] < ns)
        poll(NULL, 0, 1);
}

/* Killed at any moment, with and without a program that has been reading for long: what is
 * missing is of the last batch, which was not due. The first row of a batch can be as old as the
 * look before it, and of the last look it is not known how far it came. */
START_TEST(test_killed_at_any_moment)
{
    char path[PATH_MAX];
    struct looks *looks = mmap(NULL, sizeof *looks, PROT_READ | PROT_WRITE,
                               MAP_SHARED | MAP_ANONYMOUS, -1, 0);
    uint64_t seed = 100 + (uint64_t)_i, there, ns = 0;
    sqlite3 *reader = NULL;
    pid_t pid;

    ck_assert_ptr_ne(looks, MAP_FAILED);
    snprintf(path, sizeof path, "%s", test_path());
    if (test_fork(&pid))
        record_until_killed(path, looks);
    wait_for_looks(looks, ns = 300 * MST_NS_PER_MS);
    if (_i % 2 == 1)
        reader = begin_to_read(path);
    wait_for_looks(looks, ns + mst_random_word(&seed) % (900 * MST_NS_PER_MS));
    kill(pid, SIGKILL);
    test_wait(pid);
    sqlite3_close(reader);

    there = (uint64_t)ask(path, "SELECT count(*) FROM server_requests");
    ck_assert_uint_gt(there, 0);
    ck_assert_uint_le(there, looks->count);
    if (there + 3 <= looks->count)
        ck_assert_uint_lt(looks->began_ns[looks->count - 2] - looks->began_ns[there + 1],
                          MST_ARCHIVE_BATCH_NS);
    ck_assert_int_eq(ask(path, "SELECT max(key) = count(*) FROM server_requests"), 1);
    ck_assert_int_eq(ask(path, "SELECT complete = 0 AND outcome = 'unfinished' FROM runs"), 1);
    ck_assert_int_eq(ask(path, "SELECT count(*) FROM pragma_integrity_check WHERE "
                               "integrity_check = 'ok'"), 1);
    munmap(looks, sizeof *looks);
}
END_TEST

int main(void)
{
    Suite *suite = suite_create("archive");
    TCase *keeps = tcase_create("keeps"), *killed = tcase_create("killed");
    TCase *refuses = tcase_create("refuses"), *disks = tcase_create("disks");
    TCase *readers = tcase_create("readers");

    tcase_add_loop_test(readers, test_a_reader_ends_and_holds_up_nothing, 0, LOGS);
    tcase_add_test(readers, test_a_reader_keeps_nothing_from_being_committed);
    tcase_add_test(readers, test_a_report_is_of_one_moment);
    tcase_add_loop_test(readers, test_what_has_to_be_written_waits_for_a_reader, 0, LOGS);
    tcase_add_test(readers, test_one_file_when_nobody_has_it_open);
    tcase_set_timeout(readers, 60);
    tcase_add_loop_test(killed, test_killed, 0, 6);
    tcase_add_loop_test(killed, test_killed_at_any_moment, 0, 10);
    tcase_set_timeout(killed, 60);
    tcase_set_timeout(refuses, 30);
    tcase_set_timeout(disks, 60);
    suite_add_tcase(suite, keeps);
    suite_add_tcase(suite, readers);
    suite_add_tcase(suite, killed);
    suite_add_tcase(suite, refuses);
    suite_add_tcase(suite, disks);
    return test_run(suite);
}
