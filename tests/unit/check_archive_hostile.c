/* check_archive_hostile.c - archives that were made to do harm: reading one, or recording
 * into it, gives a report or a sentence, in bounded time and memory, and does nothing else.
 */
#include <fcntl.h>
#include <limits.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/resource.h>
#include <sys/stat.h>
#include <unistd.h>

#include "analysis/summary.h"
#include "findings/findings.h"
#include "archive/writer.h"
#include "console/stop.h"
#include "harness.h"
#include "predicted.h"
#include "report/comparison.h"
#include "report/report.h"

#define RECURSIVE "WITH RECURSIVE n(i) AS (SELECT 1 UNION ALL SELECT i + 1 FROM n)"

/* A run with a row in each table. */
static const char rows[] =
    "INSERT INTO runs (id, command, started_ns, ended_ns, duration_ns, complete, outcome, "
    "mpmstat_version) VALUES (1, '[\"ab\"]', 1000000000, 3000000000, 2000000000, 1, 'complete', "
    "'0');"
    "INSERT INTO client_results (run_id, requests, abandons, rows_start_step_ns) "
    "VALUES (1, 1, 0, 1);"
    "INSERT INTO client_requests VALUES (1, 1000000000, 5, 1, 2, 200, 0, 1);"
    "INSERT INTO generators VALUES (1, 1, 'a.csv', 'k6', 5, 1, 0, 0, 0, 0, 0, 0, 1000000000, "
    "1000000005, 1, 0, 9, 1000, 0, 1, 2, 1);"
    "INSERT INTO servers (id, run_id, target, producer, mpm, local, lost, restarts, "
    "clock_offset_ns) VALUES (1, 1, 'a.board', 'apache', 'event', 1, 0, 0, 0), "
    "(2, 1, 'p.board', 'php', NULL, 1, 0, 0, 0);"
    "INSERT INTO settings VALUES (1, NULL, 'ServerLimit', '16', '/etc/a.conf', 1);"
    "INSERT INTO server_requests VALUES (1, 1, 1000000000, 1, 2, 3, 4, 5, 6, 'site', 200, 0, 0, 7, "
    "8, 9, 10, 0, 1, 0, NULL, 0, 1, 0, 1, 1, 1, 1, 1, 1, 1, 1, 1, 'fcgi', 'fcgi://a', "
    "'0af7651916cd43dd8448eb211c80319c', 'b7ad6b7169203331', 1, 1, '/a');"
    "INSERT INTO php_requests VALUES (2, 1, 1000000003, 1, 1, 2, 1, 1, 100, 'site', 200, 'i.php', "
    "0, 0, 0, 1, 7, 8, 0, 0, 1, 1, 1, 0);"
    "INSERT INTO php_waits (server_id, key, kind, end, calls, failed, wait_ns) "
    "VALUES (2, 1, 'database', 'mysql', 1, 0, 1);"
    "INSERT INTO ends VALUES (2, 'database', 'mysql', 1, 0, 1, 1);"
    "INSERT INTO marks VALUES (2, 1, 1000000004, 'm', 7, 1000000003);"
    "INSERT INTO frames VALUES (2, 1, '{main}', 'i.php', 1);"
    "INSERT INTO stacks VALUES (2, 2, NULL, 1);"
    "INSERT INTO php_samples VALUES (2, 1, 1000000004, 1000000003, 7, 2, 'cpu', 10000000);"
    "INSERT INTO opcache VALUES (2, 1000000000, 'on', 10, 0, 20, 3, 4, 5, 6, 7, 0);"
    "INSERT INTO lifecycle VALUES (1, 1, 1000000000, 'exit', 'child', 7, 6, 0, 0, 5, 1, 0, "
    "'clean');"
    "INSERT INTO samples (server_id, time_ns, moment, workers_limit, workers_busy) VALUES "
    "(1, 1000000000, 'before', 10, 1), (1, 2000000000, 'during', 10, 1), "
    "(1, 3000000000, 'end', 10, 1);"
    "INSERT INTO memory_samples VALUES (1, 1000000000, 1000000000, 2, 1000, 1, 1, 1);"
    "INSERT INTO process_samples VALUES (1, 1000000000, 7, 1000, 1, 20, 1024, 'T');"
    "INSERT INTO machine_samples (run_id, time_ns, moment, busy_ns, total_ns) VALUES "
    "(1, 1000000000, 'during', 1, 2), (1, 2000000000, 'during', 2, 4);"
    "INSERT INTO pool_samples VALUES (2, 1000000000, 'before', 'site', 10, 1, 0, 1);"
    "INSERT INTO port_samples VALUES (1, 1000000000, '127.0.0.1:80', 500, 28232);"
    "INSERT INTO programs VALUES (1, 'ab', 5, 'tool', NULL);"
    "INSERT INTO environment VALUES (1, 'cpus', '2');"
    "INSERT INTO output VALUES (1, 'stdout', 3, 'abc');"
    "INSERT INTO findings (run_id, rank, code, certainty, text) VALUES (1, 1, 'nothing', "
    "'certain', 'Nothing ran out.');"
    "INSERT INTO predictions VALUES (1, 1, 'whatif', 2, NULL, 0, 'p50_ns', 80, 70, 90);"
    "INSERT INTO predicted_settings VALUES (1, 1, NULL, 'MaxRequestWorkers', '20');"
    "INSERT INTO notes VALUES (1, 1, 'a note');";

static char path[PATH_MAX];

static void change(const char *sql)
{
    char *message = NULL;
    sqlite3 *db;

    ck_assert_int_eq(sqlite3_open(path, &db), SQLITE_OK);
    ck_assert_msg(sqlite3_exec(db, sql, NULL, NULL, &message) == SQLITE_OK, "%s: %s", sql, message);
    ck_assert_int_eq(sqlite3_close(db), SQLITE_OK);
}

static int64_t ask(const char *sql)
{
    sqlite3_stmt *statement;
    sqlite3 *db;
    int64_t value;

    ck_assert_int_eq(sqlite3_open(path, &db), SQLITE_OK);
    ck_assert_msg(sqlite3_prepare_v2(db, sql, -1, &statement, NULL) == SQLITE_OK, "%s",
                  sqlite3_errmsg(db));
    ck_assert_int_eq(sqlite3_step(statement), SQLITE_ROW);
    value = sqlite3_column_int64(statement, 0);
    sqlite3_finalize(statement);
    sqlite3_close(db);
    return value;
}

/* Something of each of the table's columns, with commas between, to be freed. */
static char *list_columns(const char *table, const char *what, const char *which)
{
    sqlite3_stmt *statement;
    char sql[512], *text;
    sqlite3 *db;

    snprintf(sql, sizeof sql, "SELECT group_concat(%s) FROM pragma_table_info('%s') WHERE %s", what,
             table, which);
    ck_assert_int_eq(sqlite3_open(path, &db), SQLITE_OK);
    ck_assert_int_eq(sqlite3_prepare_v2(db, sql, -1, &statement, NULL), SQLITE_OK);
    ck_assert_int_eq(sqlite3_step(statement), SQLITE_ROW);
    text = strdup((const char *)sqlite3_column_text(statement, 0));
    sqlite3_finalize(statement);
    sqlite3_close(db);
    return text;
}

static void make_at(const char *where)
{
    char error[MST_ERROR_MAX] = "";
    struct mst_archive *a;

    snprintf(path, sizeof path, "%s", where);
    a = mst_archive_create(path, NULL, error);
    ck_assert_msg(a != NULL, "%s", error);
    ck_assert_int_eq(mst_archive_close(a, error), 0);
    change(rows);
}

static void make(void)
{
    make_at(test_path());
}

/* ---- reading all of it -------------------------------------------------------------- */

static int ignore(void *context, const void *bytes, size_t n)
{
    (void)context, (void)bytes, (void)n;
    return 0;
}

/* With what it predicts of itself. */
static int compare_with_itself(const struct mst_report_run *run, apr_pool_t *pool,
                               char error[MST_ERROR_MAX])
{
    struct mst_comparison_table t = { .pool = pool, .limit = -1, .a.pool = pool, .b.pool = pool };
    struct mst_sink sink;

    if (mst_compare_side_lend(&t.a, run->archive, &run->summary, error) != 0 ||
        mst_compare_side_lend(&t.b, run->archive, &run->summary, error) != 0)
        return -1;
    if (t.a.count == 0)
        return 0;
    mst_sink_init(&sink, ignore, NULL);
    mst_comparison_make(&t, NULL, 0);
    mst_comparison_put_predictions(&(struct mst_doc){ &sink, MST_DOC_TEXT, 96 }, &t);
    mst_comparison_csv(&sink, &t);
    return 0;
}

static int report_all(const struct mst_report *report, char error[MST_ERROR_MAX])
{
    enum mst_profile_format format;
    struct mst_sink sink;

    mst_sink_init(&sink, ignore, NULL);
    mst_report_json(&sink, &report->runs[0].summary);
    mst_report_text(&sink, &report->runs[0].summary, path, 0);
    mst_report_csv(&sink, report);
    if (mst_report_csv_series(&sink, report, error) != 0 ||
        mst_report_html(&sink, report, error) != 0 ||
        mst_report_markdown(&sink, report, error) != 0 ||
        mst_report_texts(&sink, report, error) != 0)
        return -1;
    for (format = 0; format < MST_PROFILE_FORMATS; format++)
        if (mst_report_profile(&sink, report, format, error) != 0)
            return -1;
    if (compare_with_itself(&report->runs[0], report->pool, error) != 0)
        return -1;
    return predict_from(&report->runs[0], report->pool) ? 0 : -1;
}

static int report_run(struct mst_archive *a, int64_t id, char error[MST_ERROR_MAX])
{
    char title[] = "run";
    struct mst_report_run run = { .archive = a, .path = path, .title = title };
    const struct mst_report report = { .pool = memory_of_test(), .runs = &run, .count = 1 };
    int status = mst_findings_sizing(&run.summary, a, id, error);

    if (status == 0)
        status = report_all(&report, error);
    mst_summary_free(&run.summary);
    return status;
}

/* 0: every report was made. -1: `error` says why not. */
static int read_all(char error[MST_ERROR_MAX])
{
    struct mst_archive *a;
    char ignored[MST_ERROR_MAX];
    int64_t *ids = NULL;
    size_t i, count = 0;
    int status;

    error[0] = '\0';
    a = mst_archive_read(path, error);
    if (a == NULL)
        return -1;
    status = mst_summary_runs(a, &ids, &count, error);
    for (i = 0; i < count && status == 0; i++)
        status = report_run(a, ids[i], error);
    free(ids);
    mst_archive_close(a, ignored);
    return status;
}

static void refuse(const char *because)
{
    char error[MST_ERROR_MAX];

    ck_assert_int_eq(read_all(error), -1);
    ck_assert_msg(strstr(error, because) != NULL, "says \"%s\", and not \"%s\"", error, because);
    ck_assert_msg(strstr(error, path) != NULL, "\"%s\" does not name the file", error);
}

static void refuse_to_write(const char *because)
{
    char error[MST_ERROR_MAX] = "";

    ck_assert_ptr_null(mst_archive_create(path, NULL, error));
    ck_assert_msg(strstr(error, because) != NULL, "says \"%s\", and not \"%s\"", error, because);
    ck_assert_msg(strstr(error, path) != NULL, "\"%s\" does not name the file", error);
}

/* ---- what bears a table's name ------------------------------------------------------- */

static const char *const tables[] = {
    "runs", "client_results", "client_requests", "generators", "servers", "settings",
    "server_requests", "php_requests",
    "php_waits", "ends", "marks", "frames", "stacks", "php_samples", "opcache", "lifecycle",
    "samples", "pool_samples", "process_samples",
    "memory_samples", "port_samples", "machine_samples", "programs", "environment", "output",
    "findings", "predictions", "predicted_settings", "notes", "studies", "study_files", "steps",
};
#define TABLES (sizeof tables / sizeof *tables)

START_TEST(test_sound)
{
    char error[MST_ERROR_MAX];
    size_t i;

    make();
    for (i = 0; i < TABLES - 3; i++) {   /* those of a study are empty */
        char sql[128];

        snprintf(sql, sizeof sql, "SELECT count(*) FROM %s", tables[i]);
        ck_assert_int_gt(ask(sql), 0);
    }
    ck_assert_int_eq(ask("SELECT count(*) FROM sqlite_master WHERE type = 'table'"), TABLES);
    ck_assert_msg(read_all(error) == 0, "%s", error);
}
END_TEST

/* Of the same columns: it only has no end. */
START_TEST(test_a_view_that_never_ends)
{
    char sql[4096], said[128], *names, *values;

    make();
    names = list_columns(tables[_i], "name", "1");
    values = list_columns(tables[_i], "CASE name WHEN 'run_id' THEN '1' ELSE 'i' END", "1");
    snprintf(sql, sizeof sql, "DROP TABLE %s; CREATE VIEW %s (%s) AS " RECURSIVE
             " SELECT %s FROM n", tables[_i], tables[_i], names, values);
    change(sql);
    free(names);
    free(values);
    snprintf(said, sizeof said, "has something else called %s where it should have a table",
             tables[_i]);
    refuse(said);
    refuse_to_write(said);
}
END_TEST

START_TEST(test_a_virtual_table)
{
    char sql[512], said[128];

    make();
    snprintf(sql, sizeof sql, "DROP TABLE %s; PRAGMA writable_schema = ON; INSERT INTO "
             "sqlite_master VALUES ('table', '%s', '%s', 0, 'CREATE VIRTUAL TABLE %s USING "
             "fts5(x)')", tables[_i], tables[_i], tables[_i], tables[_i]);
    change(sql);
    snprintf(said, sizeof said, "has a table %s whose columns cannot be read", tables[_i]);
    refuse(said);
    refuse_to_write(said);
}
END_TEST

START_TEST(test_no_table)
{
    char sql[128], said[128];

    make();
    snprintf(sql, sizeof sql, "DROP TABLE %s", tables[_i]);
    change(sql);
    snprintf(said, sizeof said, "has no %s where it should have a table", tables[_i]);
    refuse(said);
    refuse_to_write(said);
}
END_TEST

START_TEST(test_a_computed_column)
{
    make();
    change("DROP TABLE notes; CREATE TABLE notes (run_id INTEGER, time_ns INTEGER, text TEXT "
           "GENERATED ALWAYS AS (hex(zeroblob(1000000))) VIRTUAL)");
    refuse("has no plain column text TEXT in its table notes");
    refuse_to_write("has no plain column text TEXT in its table notes");
}
END_TEST

/* What somebody has added behind our columns is never read, so it is never computed either. */
START_TEST(test_a_computed_column_behind_ours)
{
    char error[MST_ERROR_MAX];
    size_t i;

    make();
    for (i = 0; i < TABLES; i++) {
        char sql[128];

        snprintf(sql, sizeof sql, "ALTER TABLE %s ADD COLUMN theirs AS "
                 "(abs(-9223372036854775808))", tables[i]);
        change(sql);
    }
    ck_assert_msg(read_all(error) == 0, "%s", error);
}
END_TEST

START_TEST(test_a_default_that_is_computed)
{
    make();
    change("ALTER TABLE runs RENAME TO old; CREATE TABLE runs AS SELECT * FROM old; DROP TABLE "
           "runs; CREATE TABLE runs (id INTEGER PRIMARY KEY, name TEXT, command TEXT NOT NULL, "
           "command_line TEXT DEFAULT (hex(zeroblob(1000000000))), added TEXT)");
    refuse("has no plain column command_line TEXT in its table runs");
    refuse_to_write("has no plain column command_line TEXT in its table runs");
}
END_TEST

START_TEST(test_a_check_is_none)
{
    const struct mst_archive_run run = { .started_ns = 1000 };
    char error[MST_ERROR_MAX];
    struct mst_archive *a;
    int64_t id;

    make();
    change("DROP TABLE notes; CREATE TABLE notes (run_id INTEGER, time_ns INTEGER, text TEXT, "
           "CHECK (length(hex(zeroblob(1000000000))) > 0))");
    a = mst_archive_create(path, NULL, error);
    ck_assert_msg(a != NULL, "%s", error);
    ck_assert_int_eq(mst_archive_begin_run(a, &run, &id), 0);
    ck_assert_msg(mst_archive_add_note(a, id, 1, "x") == 0, "%s", mst_archive_error(a));
    ck_assert_int_eq(mst_archive_close(a, error), 0);
    ck_assert_msg(read_all(error) == 0, "%s", error);
}
END_TEST

/* Neither for a reader nor for a recording; what is somebody's own stays. */
START_TEST(test_triggers_do_not_run)
{
    const struct mst_archive_run run = { .started_ns = 1000 };
    char error[MST_ERROR_MAX];
    struct mst_archive *a;
    int64_t id;

    make();
    change("CREATE TABLE mine (x); CREATE VIEW my_view AS SELECT id FROM runs; CREATE TRIGGER t "
           "AFTER INSERT ON runs BEGIN DELETE FROM servers; INSERT INTO mine SELECT 1; END");
    ck_assert_msg(read_all(error) == 0, "%s", error);
    a = mst_archive_create(path, NULL, error);
    ck_assert_msg(a != NULL, "%s", error);
    ck_assert_int_eq(mst_archive_begin_run(a, &run, &id), 0);
    ck_assert_int_eq(mst_archive_close(a, error), 0);
    ck_assert_int_eq(ask("SELECT count(*) FROM my_view"), 2);
    ck_assert_int_eq(ask("SELECT count(*) FROM servers"), 2);
    ck_assert_int_eq(ask("SELECT count(*) FROM mine"), 0);
}
END_TEST

/* ---- what a value is ----------------------------------------------------------------- */

static const char *const values[] = {
    "9223372036854775807", "-9223372036854775808", "-1", "0", "9e999", "-9e999", "1e300", "4.5",
    "9e999 - 9e999", "'no number'", "'9223372036854775808'", "x'00ff00'", "zeroblob(100000)",
    "char(27) || char(0) || 'x'", "printf('%.100000c', 'x')", "cast(x'fffefdc080' AS TEXT)",
};
#define VALUES (sizeof values / sizeof *values)

/* Sets all columns but those that find the row, and what is a choice of a few, where the table
 * takes it: some columns may not be NULL, which NaN is. */
static void set_all(const char *table, const char *value)
{
    char *columns = list_columns(table, "name || ' = ?1'", "pk = 0 AND name NOT IN ('run_id', "
                                 "'server_id', 'moment', 'producer')");
    char *at, sql[16384];
    size_t used = (size_t)snprintf(sql, sizeof sql, "UPDATE OR IGNORE %s SET ", table);

    while ((at = strstr(columns, "?1")) != NULL) {
        *at = '\0';
        used += (size_t)snprintf(sql + used, sizeof sql - used, "%s%s", columns, value);
        memmove(columns, at + 2, strlen(at + 2) + 1);
    }
    free(columns);
    change(sql);
}

START_TEST(test_odd_values)
{
    char error[MST_ERROR_MAX];
    size_t table;

    make();
    for (table = 0; table < TABLES - 3; table++) {
        set_all(tables[table], values[_i]);
        if (read_all(error) != 0)
            ck_assert_msg(strstr(error, path) != NULL, "says \"%s\"", error);
    }
}
END_TEST

/* A hundred megabytes are not loaded to be refused: also not to compare a key that has them
 * behind it. Not on the disk of the other tests, which is memory. */
START_TEST(test_a_long_value)
{
    static const char *const changes[] = {
        "UPDATE runs SET name = CAST(zeroblob(100000000) AS TEXT)",
        "UPDATE notes SET text = zeroblob(100000000)",
        "UPDATE output SET content = zeroblob(100000000)",
        "UPDATE environment SET value = zeroblob(100000000)",
        "UPDATE server_requests SET label = zeroblob(100000000)",
    };
    char directory[] = "/tmp/mpmstat-test-XXXXXX", where[64], error[MST_ERROR_MAX] = "";
    struct rusage before, after;

    ck_assert_ptr_nonnull(mkdtemp(directory));
    snprintf(where, sizeof where, "%s/a", directory);
    make_at(where);
    change(changes[_i]);
    getrusage(RUSAGE_SELF, &before);
    ck_assert_int_eq(read_all(error), -1);
    getrusage(RUSAGE_SELF, &after);
    unlink(where);
    rmdir(directory);
    ck_assert_msg(strstr(error, "a value in it is longer than 8 MB") != NULL ||
                  strstr(error, "takes more memory than") != NULL, "says \"%s\"", error);
    ck_assert_int_lt(after.ru_maxrss - before.ru_maxrss, 90000);
}
END_TEST

/* What a recording keeps is none of them. */
START_TEST(test_the_longest_values_that_are_written)
{
    const struct mst_archive_run run = { .started_ns = 1000 };
    char *output = calloc(1, MST_ARCHIVE_OUTPUT), *note = malloc(MST_ERROR_MAX);
    char error[MST_ERROR_MAX] = "";
    struct mst_archive *a;
    int64_t id;

    make();
    memset(note, 'x', MST_ERROR_MAX);
    note[MST_ERROR_MAX - 1] = '\0';
    a = mst_archive_create(path, NULL, error);
    ck_assert_msg(a != NULL, "%s", error);
    ck_assert_int_eq(mst_archive_begin_run(a, &run, &id), 0);
    ck_assert_int_eq(mst_archive_add_output(a, id, "stdout", MST_ARCHIVE_OUTPUT, output,
                                            MST_ARCHIVE_OUTPUT), 0);
    ck_assert_int_eq(mst_archive_add_output(a, id, "stderr", MST_ARCHIVE_OUTPUT, output,
                                            MST_ARCHIVE_OUTPUT), 0);
    ck_assert_int_eq(mst_archive_add_note(a, id, 1, note), 0);
    ck_assert_int_eq(mst_archive_close(a, error), 0);
    ck_assert_msg(read_all(error) == 0, "%s", error);
    free(output);
    free(note);
}
END_TEST

/* ---- how much there is --------------------------------------------------------------- */

START_TEST(test_too_much)
{
    static const struct { const char *sql, *said; } cases[] = {
        { "INSERT INTO servers (run_id, target, producer, local) " RECURSIVE
          " SELECT 1, 'x', 'apache', 1 FROM n LIMIT 4000", "far more work than an archive of" },
        { "INSERT INTO runs (command, started_ns, mpmstat_version) " RECURSIVE
          " SELECT '[]', 1, '0' FROM n LIMIT 20000", "far more work than an archive of its size" },
        { "UPDATE runs SET ended_ns = 9000000000000000000", "longer than three weeks" },
    };

    make();
    change(cases[_i].sql);
    refuse(cases[_i].said);
}
END_TEST

#define PAGE 4096u

static void put16(unsigned char *at, unsigned value)
{
    at[0] = (unsigned char)(value >> 8);
    at[1] = (unsigned char)value;
}

static void put32(unsigned char *at, unsigned value)
{
    put16(at, value >> 16);
    put16(at + 2, value & 0xffff);
}

/* A page of a table's tree that has the same child many times. */
static void make_fan(unsigned char page[PAGE], unsigned child)
{
    unsigned i, cells = 400, cell = PAGE - 8;

    memset(page, 0, PAGE);
    page[0] = 5;
    put16(page + 3, cells);
    put16(page + 5, cell);
    put32(page + 8, child);
    for (i = 0; i < cells; i++)
        put16(page + 12 + 2 * i, cell);
    put32(page + cell, child);
    page[cell + 4] = 1;
}

/* A table of a few pages with 400^6 rows, as it is walked through. */
static void multiply(unsigned root)
{
    unsigned char page[PAGE], count[4];
    unsigned pages, level;
    int fd = open(path, O_RDWR | O_CLOEXEC);
    struct stat st;

    ck_assert_int_ge(fd, 0);
    ck_assert_int_eq(fstat(fd, &st), 0);
    pages = (unsigned)(st.st_size / PAGE);
    ck_assert_int_eq(pread(fd, page, PAGE, (off_t)(root - 1) * PAGE), PAGE);
    ck_assert_int_eq(page[0], 13);   /* a leaf: all rows are there */
    ck_assert_int_eq(pwrite(fd, page, PAGE, (off_t)pages * PAGE), PAGE);
    for (level = 1; level <= 5; level++) {
        make_fan(page, pages + level);
        ck_assert_int_eq(pwrite(fd, page, PAGE, (off_t)(pages + level) * PAGE), PAGE);
    }
    make_fan(page, pages + 6);
    ck_assert_int_eq(pwrite(fd, page, PAGE, (off_t)(root - 1) * PAGE), PAGE);
    put32(count, pages + 6);
    ck_assert_int_eq(pwrite(fd, count, 4, 28), 4);
    close(fd);
}

START_TEST(test_pages_that_are_there_many_times)
{
    make();
    change("DROP INDEX notes_run; UPDATE notes SET run_id = 2");
    multiply((unsigned)ask("SELECT rootpage FROM sqlite_master WHERE name = 'notes'"));
    refuse("far more work than an archive of its size needs");
}
END_TEST

/* Of each row found, values are kept in memory. */
START_TEST(test_rows_that_are_there_many_times)
{
    make();
    change("DROP INDEX client_requests_run");
    multiply((unsigned)ask("SELECT rootpage FROM sqlite_master WHERE name = 'client_requests'"));
    refuse("more rows than an archive of its size can have");
}
END_TEST

/* A large file may cost more; the time that servers take grows with their square. */
START_TEST(test_servers_in_a_large_file)
{
    make();
    change("CREATE TABLE filler (bytes BLOB); INSERT INTO filler VALUES (randomblob(4000000)); "
           "INSERT INTO servers (run_id, target, producer, local) " RECURSIVE
           " SELECT 1, 'x', 'apache', 1 FROM n LIMIT 8000");
    refuse("more servers than can be");
}
END_TEST

/* A stop is obeyed before the limit of the work is reached. */
START_TEST(test_a_stop_ends_it)
{
    struct mst_stop stop;

    make();
    change("DROP INDEX notes_run; UPDATE notes SET run_id = 2");
    multiply((unsigned)ask("SELECT rootpage FROM sqlite_master WHERE name = 'notes'"));
    mst_stop_begin(&stop);
    raise(SIGINT);
    refuse("interrupted");
    mst_stop_end(&stop);
}
END_TEST

/* ---- the files next to it -------------------------------------------------------------- */

static void copy_file(const char *from, const char *to)
{
    char bytes[PAGE];
    FILE *in = fopen(from, "re"), *out = fopen(to, "we");
    size_t n;

    ck_assert(in != NULL && out != NULL);
    while ((n = fread(bytes, 1, sizeof bytes, in)) > 0)
        fwrite(bytes, 1, n, out);
    fclose(in);
    fclose(out);
}

/* Makes a file that has a super-journal's name and names the database's journal: since 3.53.2
 * SQLite deletes no other file. */
static void make_super(char super[PATH_MAX])
{
    FILE *file;

    snprintf(super, PATH_MAX, "%.4000s-mj0123459AB", path);
    file = fopen(super, "we");
    ck_assert_ptr_nonnull(file);
    fprintf(file, "%s-journal", path);
    fputc('\0', file);
    fclose(file);
}

/* Another archive with a journal as a killed program leaves it, which names a super-journal. */
static void leave_journal(char super[PATH_MAX])
{
    static const unsigned char magic[] = { 0xd9, 0xd5, 0x05, 0xf9, 0x20, 0xa1, 0x63, 0xd7 };
    char amid[PATH_MAX], journal[PATH_MAX + 16], copy[PATH_MAX];
    unsigned char numbers[3][4];
    unsigned sum = 0;
    const char *at;
    sqlite3 *db;
    FILE *file;

    snprintf(amid, sizeof amid, "%s", path);
    snprintf(journal, sizeof journal, "%s-journal", amid);
    snprintf(path, sizeof path, "%s", test_path());
    ck_assert_int_eq(sqlite3_open(amid, &db), SQLITE_OK);
    ck_assert_int_eq(sqlite3_exec(db, "PRAGMA cache_size = 5; BEGIN IMMEDIATE; INSERT INTO notes "
                                  RECURSIVE " SELECT 1, 1, hex(zeroblob(100)) FROM n LIMIT 3000",
                                  NULL, NULL, NULL), SQLITE_OK);
    copy_file(amid, path);
    snprintf(copy, sizeof copy, "%.4000s-journal", path);
    copy_file(journal, copy);
    sqlite3_close(db);

    make_super(super);
    for (at = super; *at != '\0'; at++)
        sum += (unsigned)(signed char)*at;
    put32(numbers[0], 0x40000000u / PAGE + 1);
    put32(numbers[1], (unsigned)strlen(super));
    put32(numbers[2], sum);
    file = fopen(copy, "ae");
    ck_assert_ptr_nonnull(file);
    fwrite(numbers[0], 1, 4, file);
    fputs(super, file);
    fwrite(numbers[1], 1, 8, file);
    fwrite(magic, 1, sizeof magic, file);
    fclose(file);
}

/* SQLite deletes the super-journal that a journal names, when it has rolled that back. */
START_TEST(test_a_journal_names_any_file)
{
    char victim[PATH_MAX], error[MST_ERROR_MAX];
    struct mst_archive *a;

    make();
    leave_journal(victim);
    ck_assert_msg(read_all(error) == 0, "%s", error);
    ck_assert_int_eq(access(victim, F_OK), 0);
    leave_journal(victim);
    a = mst_archive_create(path, NULL, error);
    if (a != NULL)
        mst_archive_close(a, error);
    ck_assert_int_eq(access(victim, F_OK), 0);
    leave_journal(victim);
    ck_assert_int_eq(ask("SELECT count(*) FROM notes"), 1);   /* without the guard, it is such */
    ck_assert_int_ne(access(victim, F_OK), 0);
}
END_TEST

START_TEST(test_a_pipe_for_a_journal)
{
    static const char *const parts[] = { "-journal", "-wal", "-shm" };
    char name[PATH_MAX + 16], error[MST_ERROR_MAX];

    make();
    snprintf(name, sizeof name, "%s%s", path, parts[_i]);
    ck_assert_int_eq(mkfifo(name, 0600), 0);
    if (read_all(error) != 0)
        ck_assert_msg(strstr(error, path) != NULL, "says \"%s\"", error);
    unlink(name);
    ck_assert_msg(read_all(error) == 0, "%s", error);
}
END_TEST

int main(void)
{
    Suite *suite = suite_create("hostile archives");
    TCase *names = tcase_create("tables"), *types = tcase_create("values");
    TCase *amounts = tcase_create("amounts"), *files = tcase_create("files");

    tcase_add_test(names, test_sound);
    tcase_add_loop_test(names, test_a_view_that_never_ends, 0, TABLES);
    tcase_add_loop_test(names, test_a_virtual_table, 0, TABLES);
    tcase_add_loop_test(names, test_no_table, 0, TABLES);
    tcase_add_test(names, test_a_computed_column);
    tcase_add_test(names, test_a_computed_column_behind_ours);
    tcase_add_test(names, test_a_default_that_is_computed);
    tcase_add_test(names, test_a_check_is_none);
    tcase_add_test(names, test_triggers_do_not_run);
    tcase_add_loop_test(types, test_odd_values, 0, VALUES);
    tcase_add_loop_test(types, test_a_long_value, 0, 5);
    tcase_add_test(types, test_the_longest_values_that_are_written);
    tcase_add_loop_test(amounts, test_too_much, 0, 3);
    tcase_add_test(amounts, test_pages_that_are_there_many_times);
    tcase_add_test(amounts, test_rows_that_are_there_many_times);
    tcase_add_test(amounts, test_servers_in_a_large_file);
    tcase_add_test(amounts, test_a_stop_ends_it);
    tcase_add_test(files, test_a_journal_names_any_file);
    tcase_add_loop_test(files, test_a_pipe_for_a_journal, 0, 3);
    tcase_set_timeout(names, 60);
    tcase_set_timeout(types, 120);
    tcase_set_timeout(amounts, 120);
    tcase_set_timeout(files, 60);
    suite_add_tcase(suite, names);
    suite_add_tcase(suite, types);
    suite_add_tcase(suite, amounts);
    suite_add_tcase(suite, files);
    return test_run(suite);
}
