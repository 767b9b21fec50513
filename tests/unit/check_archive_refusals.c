/* check_archive_refusals.c - what the archive refuses: other files and versions, disks that are
 * full or read-only.
 */
#include <limits.h>
#include <sched.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mount.h>
#include <sys/stat.h>
#include <unistd.h>

#include "analysis/summary.h"
#include "archive/writer.h"
#include "findings/findings.h"
#include "harness.h"
#include "made_archive.h"
#include "segment/fields.h"

static void refuse(const char *path, const char *because)
{
    char error[MST_ERROR_MAX] = "";

    ck_assert_ptr_null(mst_archive_create(path, NULL, error));
    ck_assert_msg(strstr(error, because) != NULL, "says \"%s\" and not \"%s\"", error, because);
    ck_assert_msg(strstr(error, path) != NULL, "%s does not name the file", error);
}

/* ---- what it refuses ------------------------------------------------------------- */

static void write_file(const char *path, const char *text)
{
    FILE *file = fopen(path, "we");

    ck_assert_ptr_nonnull(file);
    fputs(text, file);
    fclose(file);
}

START_TEST(test_not_an_archive)
{
    char path[PATH_MAX], error[MST_ERROR_MAX];
    sqlite3 *db;

    snprintf(path, sizeof path, "%s", test_path());
    write_file(path, "root:x:0:0:root:/root:/bin/bash\nsomething longer than a page header, to "
                     "be sure of it: SQLite reads a hundred bytes before it decides\n");
    refuse(path, "is not an archive of mpmstat");
    ck_assert_ptr_null(mst_archive_read(path, error));

    snprintf(path, sizeof path, "%s", test_path());
    ck_assert_int_eq(sqlite3_open(path, &db), SQLITE_OK);
    ck_assert_int_eq(sqlite3_exec(db, "CREATE TABLE t (x)", NULL, NULL, NULL), SQLITE_OK);
    sqlite3_close(db);
    refuse(path, "is not an archive of mpmstat");
    ck_assert_int_eq(ask(path, "SELECT count(*) FROM sqlite_master"), 1);   /* untouched */
}
END_TEST

START_TEST(test_other_version)
{
    char path[PATH_MAX], error[MST_ERROR_MAX];
    struct mst_archive *a;
    sqlite3 *db;

    snprintf(path, sizeof path, "%s", test_path());
    a = create(path);
    close_archive(a);
    ck_assert_int_eq(sqlite3_open(path, &db), SQLITE_OK);
    ck_assert_int_eq(sqlite3_exec(db, "PRAGMA user_version = 99", NULL, NULL, NULL), SQLITE_OK);
    sqlite3_close(db);
    refuse(path, "version 99");
    ck_assert_ptr_null(mst_archive_read(path, error));
}
END_TEST

/* An archive as that version had it. */
static void make_version(int version, char path[PATH_MAX])
{
    char *sql = NULL, *message = NULL, dump[256];
    size_t size = 0;
    ssize_t length;
    FILE *file;
    sqlite3 *db;

    snprintf(dump, sizeof dump, MST_TESTS_DIR "/cases/archive/version-%d.sql", version);
    file = fopen(dump, "r");
    ck_assert_msg(file != NULL, "there is no %s", dump);
    length = getdelim(&sql, &size, '\0', file);
    ck_assert_int_gt(length, 0);
    fclose(file);
    snprintf(path, PATH_MAX, "%s", test_path());
    ck_assert_int_eq(sqlite3_open(path, &db), SQLITE_OK);
    ck_assert_msg(sqlite3_exec(db, sql, NULL, NULL, &message) == SQLITE_OK, "%s", message);
    ck_assert_int_eq(sqlite3_exec(db, "INSERT INTO programs (run_id, program, cpu_ns) VALUES "
                                  "(1, 'apache2', 5)", NULL, NULL, NULL), SQLITE_OK);
    sqlite3_close(db);
    free(sql);
}

/* The tables and their columns, in their order: ALTER TABLE and the schema agree. */
static char *shape(const char *path)
{
    sqlite3_stmt *statement;
    sqlite3 *db;
    char *text;

    ck_assert_int_eq(sqlite3_open(path, &db), SQLITE_OK);
    ck_assert_int_eq(sqlite3_prepare_v2(db,
        "SELECT group_concat(line, char(10)) FROM (SELECT m.type || ' ' || m.name || ' ' || "
        "coalesce((SELECT group_concat(name || ' ' || type || \"notnull\") FROM "
        "pragma_table_info(m.name)), '') AS line FROM sqlite_master m ORDER BY m.name)", -1,
        &statement, NULL), SQLITE_OK);
    ck_assert_int_eq(sqlite3_step(statement), SQLITE_ROW);
    text = strdup((const char *)sqlite3_column_text(statement, 0));
    sqlite3_finalize(statement);
    sqlite3_close(db);
    return text;
}

START_TEST(test_an_older_version_becomes_this_one)
{
    char path[PATH_MAX], fresh[PATH_MAX], *upgraded, *made;
    struct mst_archive *a;

    make_version(_i, path);
    a = create(path);
    ck_assert_int_eq(add_request(a, add_server(a, begin(a)), 9), 0);
    close_archive(a);
    ck_assert_int_eq(ask(path, "PRAGMA user_version"), MST_ARCHIVE_VERSION);
    ck_assert_int_eq(ask(path, "SELECT count(*) FROM runs"), 2);
    ck_assert_int_eq(ask(path, "SELECT count(*) FROM server_requests WHERE front_ns IS NULL AND "
                               "request_id IN (77, 78)"), 2);
    ck_assert_int_eq(ask(path, "SELECT count(*) FROM php_requests"), 0);
    ck_assert_int_eq(ask(path, "SELECT count(*) FROM programs WHERE run_id = 1 AND program = "
                               "'apache2' AND cpu_ns = 5 AND owner IS NULL"), 1);
    snprintf(fresh, sizeof fresh, "%s", test_path());
    close_archive(create(fresh));
    upgraded = shape(path);
    made = shape(fresh);
    ck_assert_str_eq(upgraded, made);
    free(upgraded);
    free(made);
}
END_TEST

/* To be read it need not be writable, and is not changed. */
START_TEST(test_an_older_version_is_read_as_it_is)
{
    char path[PATH_MAX], error[MST_ERROR_MAX] = "";
    struct mst_summary summary;
    struct mst_archive *a;

    make_version(_i, path);
    a = mst_archive_read(path, error);
    ck_assert_msg(a != NULL, "%s", error);
    ck_assert_msg(mst_findings_summary(&summary, a, 1, error) == 0, "%s", error);
    ck_assert_uint_eq(summary.servers[0].requests, 2);
    ck_assert_uint_eq(summary.servers[0].phases[MST_PHASE_FRONT].count, 0);
    ck_assert_str_eq(mst_archive_path(a), path);
    mst_summary_free(&summary);
    close_archive(a);
    ck_assert_int_eq(ask(path, "PRAGMA user_version"), _i);
    ck_assert_int_eq(ask(path, "SELECT count(*) FROM sqlite_master WHERE name = 'predictions'"), 0);
}
END_TEST

/* ---- PHP's side ------------------------------------------------------------------ */

START_TEST(test_no_file)
{
    char path[PATH_MAX], error[MST_ERROR_MAX];

    refuse("/nonexistent/a.sqlite", "No such file or directory");
    refuse("/dev", "should be a file");
    refuse("", "should be a file");
    snprintf(path, sizeof path, "%s", test_path());
    ck_assert_ptr_null(mst_archive_read(path, error));
    ck_assert_ptr_nonnull(strstr(error, "No such file or directory"));
    ck_assert_int_ne(access(path, F_OK), 0);   /* reading makes none */
    write_file(path, "");
    ck_assert_ptr_null(mst_archive_read(path, error));
    ck_assert_ptr_nonnull(strstr(error, "there is no run in it"));
    close_archive(create(path));               /* an empty file is a beginning */
}
END_TEST

START_TEST(test_written_by_another)
{
    const char *path = test_path();
    struct mst_archive *a = create(path);
    int64_t server = add_server(a, begin(a));

    ck_assert_int_eq(add_request(a, server, 1), 0);   /* its batch is open */
    refuse(path, "another program is using it");
    close_archive(a);
}
END_TEST

/* ---- disks that are full, or read-only -------------------------------------------- */

/* In a mount namespace of its own, so that nobody else sees the little disk. That takes root:
 * false. */
static bool mount_little_disk(char directory[PATH_MAX])
{
    snprintf(directory, PATH_MAX, "%s", test_path());
    ck_assert_int_eq(mkdir(directory, 0700), 0);
    return unshare(CLONE_NEWNS) == 0 &&
           mount(NULL, "/", NULL, MS_REC | MS_PRIVATE, NULL) == 0 &&
           mount("tmpfs", directory, "tmpfs", 0, "size=512k") == 0;
}

static void write_junk(const char *directory)
{
    static const char junk[4096];
    char name[PATH_MAX + 16];
    FILE *file;

    snprintf(name, sizeof name, "%s/junk", directory);
    file = fopen(name, "we");
    ck_assert_ptr_nonnull(file);
    while (fwrite(junk, 1, sizeof junk, file) == sizeof junk && fflush(file) == 0)
        ;
    fclose(file);
}

START_TEST(test_disk_full)
{
    char directory[PATH_MAX], path[PATH_MAX + 16], error[MST_ERROR_MAX];
    struct mst_summary summary;
    struct mst_archive *a;
    int64_t server, committed = 0;
    uint64_t i;

    choose_log(_i);
    if (!mount_little_disk(directory))
        return;
    snprintf(path, sizeof path, "%s/a.sqlite", directory);
    a = create(path);
    server = add_server(a, begin(a));
    ck_assert_int_eq(mst_archive_commit(a), 0);
    for (i = 1; i < 100000; i++) {
        if (add_request(a, server, i) != 0 || (i % 50 == 0 && mst_archive_commit(a) != 0))
            break;
        committed = i % 50 == 0 ? (int64_t)i : committed;
    }
    ck_assert_uint_lt(i, 100000);
    ck_assert_int_gt(committed, 0);
    ck_assert_msg(strstr(mst_archive_error(a), "the disk is full. Make room on it") != NULL,
                  "says \"%s\"", mst_archive_error(a));
    ck_assert_int_eq(add_request(a, server, i), -1);   /* the first error stays */
    ck_assert_int_eq(mst_archive_close(a, error), -1);
    ck_assert_ptr_nonnull(strstr(error, "the disk is full"));

    write_junk(directory);   /* no room for anything is left */
    a = mst_archive_read(path, error);
    ck_assert_msg(a != NULL, "%s", error);
    ck_assert_msg(mst_findings_summary(&summary, a, 1, error) == 0, "%s", error);
    ck_assert(!summary.complete);
    ck_assert_int_eq(summary.outcome, MST_OUTCOME_UNFINISHED);
    ck_assert_uint_eq(summary.servers[0].requests, (uint64_t)committed);
    mst_summary_free(&summary);
    close_archive(a);
    ck_assert_int_eq(ask(path, "SELECT count(*) FROM server_requests"), committed);
    ck_assert_int_eq(umount(directory), 0);
}
END_TEST

/* It is said before the load begins, and nothing is left behind. */
START_TEST(test_disk_full_beforehand)
{
    char directory[PATH_MAX], path[PATH_MAX + 16];

    if (!mount_little_disk(directory))
        return;
    snprintf(path, sizeof path, "%s/a.sqlite", directory);
    write_junk(directory);
    refuse(path, "the disk is full. Make room on it");
    ck_assert_int_eq(files_of(path), 0);
    ck_assert_int_eq(umount(directory), 0);
}
END_TEST

static void kill_a_recorder(const char *path, int64_t requests)
{
    pid_t pid;

    if (test_fork(&pid)) {
        struct mst_archive *a = create(path);
        int64_t server = add_server(a, begin(a));
        int64_t i;

        for (i = 1; i <= requests; i++)
            ck_assert_int_eq(add_request(a, server, (uint64_t)i), 0);
        ck_assert_int_eq(mst_archive_commit(a), 0);
        raise(SIGKILL);
    }
    test_wait(pid);
}

static void set_read_only(const char *directory)
{
    ck_assert_int_eq(mount(NULL, directory, NULL, MS_REMOUNT | MS_RDONLY, NULL), 0);
}

static uint64_t requests_read(const char *path)
{
    char error[MST_ERROR_MAX] = "";
    struct mst_archive *a = mst_archive_read(path, error);
    struct mst_summary summary;
    uint64_t requests;

    ck_assert_msg(a != NULL, "%s", error);
    ck_assert_msg(mst_findings_summary(&summary, a, 1, error) == 0, "%s", error);
    ck_assert_int_eq(summary.outcome, MST_OUTCOME_UNFINISHED);
    requests = summary.servers[0].requests;
    mst_summary_free(&summary);
    close_archive(a);
    return requests;
}

/* Nothing can be written next to it: what a killed recorder left can be read nevertheless. */
START_TEST(test_disk_read_only)
{
    char directory[PATH_MAX], path[PATH_MAX + 16], error[MST_ERROR_MAX] = "";

    if (!mount_little_disk(directory))
        return;
    snprintf(path, sizeof path, "%s/killed.sqlite", directory);
    kill_a_recorder(path, 7);
    ck_assert_int_eq(files_of(path), 3);
    set_read_only(directory);
    ck_assert_uint_eq(requests_read(path), 7);
    ck_assert_int_eq(files_of(path), 3);
    refuse(path, "Read-only file system. Name a file that can be written");
    snprintf(path, sizeof path, "%s/new.sqlite", directory);
    refuse(path, "Read-only file system");
    ck_assert_ptr_null(mst_archive_read(path, error));
    ck_assert_int_eq(umount(directory), 0);
}
END_TEST

/* Without its index (FILE-shm), and without its log, as somebody may have copied it. */
START_TEST(test_parts_on_a_read_only_disk)
{
    char directory[PATH_MAX], path[PATH_MAX + 32], error[MST_ERROR_MAX] = "", *part;
    struct mst_archive *a;

    if (!mount_little_disk(directory))
        return;
    snprintf(path, sizeof path, "%s/of 100%%?#.sqlite", directory);
    kill_a_recorder(path, 7);
    ck_assert_int_gt(asprintf(&part, "%s-shm", path), 0);
    ck_assert_int_eq(unlink(part), 0);
    free(part);
    set_read_only(directory);
    ck_assert_ptr_null(mst_archive_read(path, error));
    ck_assert_msg(strstr(error, "Copy all of them to where you may write") != NULL, "says \"%s\"",
                  error);
    ck_assert_int_eq(mount(NULL, directory, NULL, MS_REMOUNT, NULL), 0);
    ck_assert_int_eq(ask(path, "SELECT count(*) FROM server_requests"), 7);   /* it is one now */
    ck_assert_int_eq(files_of(path), 1);
    ck_assert_int_eq(ask(path, "SELECT journal_mode = 'wal' FROM pragma_journal_mode"), 1);
    set_read_only(directory);
    ck_assert_uint_eq(requests_read(path), 7);
    a = mst_archive_read(path, error);
    ck_assert_msg(a != NULL, "%s", error);
    ck_assert_str_eq(mst_archive_path(a), path);
    close_archive(a);
    ck_assert_int_eq(umount(directory), 0);
}
END_TEST

int main(void)
{
    Suite *suite = suite_create("archive");
    TCase *keeps = tcase_create("keeps"), *killed = tcase_create("killed");
    TCase *refuses = tcase_create("refuses"), *disks = tcase_create("disks");
    TCase *readers = tcase_create("readers");

    tcase_set_timeout(readers, 60);
    tcase_set_timeout(killed, 60);
    tcase_add_test(refuses, test_not_an_archive);
    tcase_add_test(refuses, test_other_version);
    tcase_add_test(refuses, test_no_file);
    tcase_add_loop_test(refuses, test_an_older_version_becomes_this_one, 1,
                        MST_ARCHIVE_VERSION);
    tcase_add_loop_test(refuses, test_an_older_version_is_read_as_it_is, 1,
                        MST_ARCHIVE_VERSION);
    tcase_add_test(refuses, test_written_by_another);
    tcase_set_timeout(refuses, 30);
    tcase_add_loop_test(disks, test_disk_full, 0, LOGS);
    tcase_add_test(disks, test_disk_full_beforehand);
    tcase_add_test(disks, test_disk_read_only);
    tcase_add_test(disks, test_parts_on_a_read_only_disk);
    tcase_set_timeout(disks, 60);
    suite_add_tcase(suite, keeps);
    suite_add_tcase(suite, readers);
    suite_add_tcase(suite, killed);
    suite_add_tcase(suite, refuses);
    suite_add_tcase(suite, disks);
    return test_run(suite);
}
