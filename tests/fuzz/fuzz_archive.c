/* fuzz_archive.c - archives that somebody was sent: every report is made of them.
 *
 * The first byte says what the others are. 1 (of the remainder by 4): the file. 3: SQL, of which
 * each statement is run on a sound archive, so that views, triggers, virtual tables, computed
 * columns, values of any type come about. Even: changes to a sound archive, eight bytes each:
 * where (4), what (3), how often (1).
 */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "archive/writer.h"
#include "export/export.h"
#include "lab/report/report.h"
#include "findings/findings.h"
#include "predicted.h"
#include "report/profile.h"
#include "report/report.h"

#define CHANGE_BYTES 8u
#define PAGE_BYTES   512u   /* small ones: more of the file is structure */

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

static char path[64];
static int fd = -1;
static pid_t made_by;
static unsigned char *sound;
static sqlite3_int64 sound_bytes;

/* A run of both sides in the tables that it takes, twenty requests each. */
static const char rows[] =
    "INSERT INTO runs (id, command, command_line, tool, started_ns, ended_ns, duration_ns, "
    "complete, outcome, exit_status, tool_cpu_ns, tool_threads, mpmstat_version) VALUES (1, "
    "'[\"ab\"]', 'ab', 'ab', 1000000000, 3000000000, 2000000000, 1, 'complete', 0, 9, 1, '0');"
    "INSERT INTO client_results (run_id, requests, requested, abandons, failed, concurrency, "
    "rows_start_step_ns, rows_time_step_ns) VALUES (1, 20, 20, 0, 0, 4, 1, 1);"
    "INSERT INTO servers (id, run_id, target, producer, mpm, local, lost, restarts, "
    "clock_offset_ns) VALUES (1, 1, 'a.board', 'apache', 'event', 1, 0, 0, 0), "
    "(2, 1, 'p.board', 'php', NULL, 1, 0, 0, 0);"
    "WITH RECURSIVE n(i) AS (SELECT 1 UNION ALL SELECT i + 1 FROM n WHERE i < 20) "
    "INSERT INTO server_requests SELECT 1, i, 1000000000 + i * 90000000, 1, 2, 30000000, 4, "
    "30000000, 6, 'site', 200, 0, 0, 7, 8, 9, 10, 0, i, 0, NULL, i, 1, 0, 1, 1, 1, 1, 1, "
    "1, 1, 1, 1, 'fcgi', 'fcgi://a', '0af7651916cd43dd8448eb211c80319c', 'b7ad6b7169203331', 1, 1, "
    "'/item/{n}' FROM n;"
    "INSERT INTO php_requests SELECT 2, key, start_ns + 5, request_id, 1, 20000000, 1, 1, 100, "
    "'site', 200, 'i.php', 0, 0, 0, 1, 7, 8, 0, 5, 1000, 1, 1, 0 FROM server_requests;"
    "INSERT INTO php_waits (server_id, key, kind, end, calls, failed, wait_ns) "
    "SELECT 2, key, 'database', 'mysql', 1, 0, 1000 FROM server_requests;"
    "INSERT INTO frames VALUES (2, 1, '{main}', '/srv/i.php', 1), (2, 2, 'find', '/srv/R.php', 5), "
    "(2, 3, 'strlen', NULL, NULL);"
    "INSERT INTO stacks VALUES (2, 1, NULL, 1), (2, 2, 1, 2), (2, 3, 2, 3);"
    "INSERT INTO php_samples SELECT 2, key, start_ns + 9, start_ns + 5, 7, 1 + key % 3, CASE "
    "key % 4 WHEN 0 THEN 'database' ELSE 'cpu' END, 10000000 FROM server_requests;"
    "INSERT INTO opcache SELECT 2, start_ns, 'full', 9, 1, 10, key, key, 10, 5, 5, key / 7 FROM "
    "server_requests;"
    "INSERT INTO ends VALUES (2, 'database', 'mysql', 20, 0, 20000, 100);"
    "INSERT INTO client_requests SELECT 1, start_ns, 31000000, 0, 1, 200, client_id, NULL FROM "
    "server_requests;"
    "INSERT INTO samples (server_id, time_ns, moment, workers_limit, workers_busy, idle_ns, "
    "reading_ns, handling_ns, sending_ns, keepalive_ns, closing_ns, requests, listen_queue, "
    "listen_queue_limit) SELECT s.id, r.start_ns, CASE key WHEN 1 THEN 'before' WHEN 20 THEN "
    "'end' ELSE 'during' END, 10, key % 10, key, key, key, key, key, key, key, 1, 511 "
    "FROM servers s, server_requests r;"
    "INSERT INTO lifecycle SELECT 1, key, start_ns, CASE key % 3 WHEN 0 THEN 'fork' WHEN 1 THEN "
    "'exit' ELSE 'limit' END, 'child', 7, 6, 0, 0, 5, 1, 0, 'clean' FROM server_requests;"
    "INSERT INTO memory_samples SELECT 1, start_ns, start_ns, key % 4, 1000 * (key % 4), 1, 1, 1 "
    "FROM server_requests;"
    "INSERT INTO machine_samples (run_id, time_ns, moment, busy_ns, total_ns) SELECT 1, start_ns, "
    "'during', key, key * 2 FROM server_requests;"
    "INSERT INTO environment VALUES (1, 'cpus', '2'), (1, 'memory_bytes', '1000000000');"
    "INSERT INTO output VALUES (1, 'stdout', 3, 'abc');"
    "INSERT INTO studies (id, name, title, size, seed, text, started_ns, interrupted) VALUES "
    "(1, 's', 'S', 'full', 1, '%% study\ntitle = S\nnumber = 1\nyear = 2013\nlanguage = es\n"
    "original = O\nquestion = Q\n%% runs load\ntitle = L\nstacks = a b\nworkload = loop\n"
    "N = 1 2 3\nload = ab -n 10 -c ${N} ${URL}\nrepetitions = 2\n%% claims\n"
    "load: a > b by requests_per_second \"a is faster\"\n', 1, 0);"
    "INSERT INTO study_files VALUES (1, 'stack', 'a', '%% stack\ntitle = A\n');"
    "WITH n(i) AS (VALUES (1), (2)) INSERT INTO steps (study_id, ordinal, block, repetition, "
    "start, runs, stack, workload, parameters, state, run_id) SELECT 1, i, 1, 1, i, 'load', "
    "CASE i WHEN 1 THEN 'a' ELSE 'b' END, 'loop', '{\"N\": \"' || i || '\"}', 'done', 1 FROM n;";

static int ignore(void *context, const void *bytes, size_t n)
{
    (void)context, (void)bytes, (void)n;
    return 0;
}

static void complain(sqlite3 *db)
{
    fprintf(stderr, "%s\n", sqlite3_errmsg(db));
    abort();
}

/* What an archive that is damaged leaves next to it is not a part of the next one. */
static void remove_parts(bool all)
{
    static const char *const parts[] = { "-wal", "-shm", "-journal", "" };
    char name[80];
    size_t i;

    for (i = 0; i < (all ? 4 : 3); i++) {
        snprintf(name, sizeof name, "%s%s", path, parts[i]);
        unlink(name);
    }
}

/* Not in a child that a fuzzer forks. */
static void clean_up(void)
{
    if (getpid() == made_by)
        remove_parts(true);
}

/* As mpmstat record makes it, but with small pages. */
static void make_sound(void)
{
    char error[MST_ERROR_MAX], pragma[64];
    struct mst_archive *a;
    sqlite3 *db;

    snprintf(path, sizeof path, "%s/mpmstat-fuzz-XXXXXX",
             access("/dev/shm", W_OK) == 0 ? "/dev/shm" : "/tmp");
    fd = mkstemp(path);
    made_by = getpid();
    atexit(clean_up);
    a = fd >= 0 ? mst_archive_create(path, NULL, error) : NULL;
    if (a == NULL)
        abort();
    mst_archive_close(a, error);
    snprintf(pragma, sizeof pragma, "PRAGMA page_size = %u; VACUUM", PAGE_BYTES);
    if (sqlite3_open(path, &db) != SQLITE_OK ||
        sqlite3_exec(db, rows, NULL, NULL, NULL) != SQLITE_OK ||
        sqlite3_exec(db, pragma, NULL, NULL, NULL) != SQLITE_OK)
        complain(db);
    sound = sqlite3_serialize(db, "main", &sound_bytes, 0);
    if (sound == NULL)
        complain(db);
    sqlite3_close(db);
}

static void put(const void *bytes, size_t n, size_t at)
{
    if (n > 0 && pwrite(fd, bytes, n, (off_t)at) != (ssize_t)n)
        abort();
}

static void put_changes(const uint8_t *data, size_t size)
{
    uint8_t what[256 * 3];
    uint32_t where;
    size_t i, n;

    put(sound, (size_t)sound_bytes, 0);
    for (; size >= CHANGE_BYTES; data += CHANGE_BYTES, size -= CHANGE_BYTES) {
        memcpy(&where, data, sizeof where);
        n = (size_t)data[7] % 16 + 1;
        for (i = 0; i < n; i++)
            memcpy(what + 3 * i, data + 4, 3);
        put(what, 3 * n, where % (uint32_t)(sound_bytes - 3 * (int)n));
    }
}

/* A statement that takes long is none of ours to be tried. */
static int is_enough(void *left)
{
    return --*(int *)left <= 0;
}

/* All that SQLite does for the owner of a file. */
static void run_sql(sqlite3 *db, const char *sql)
{
    sqlite3_stmt *statement;
    const char *tail;
    int left = 100;

    sqlite3_progress_handler(db, 1000, is_enough, &left);
    sqlite3_limit(db, SQLITE_LIMIT_LENGTH, 1 << 20);
    sqlite3_limit(db, SQLITE_LIMIT_ATTACHED, 0);
    while (*sql != '\0' && left > 0) {
        if (sqlite3_prepare_v2(db, sql, -1, &statement, &tail) == SQLITE_OK) {
            while (sqlite3_step(statement) == SQLITE_ROW)
                ;
            sqlite3_finalize(statement);
        } else {
            tail = strchr(sql, ';');
            tail = tail != NULL ? tail + 1 : sql + strlen(sql);
        }
        sql = tail;
    }
    sqlite3_progress_handler(db, 0, NULL, NULL);
}

static void put_sql(const uint8_t *data, size_t size)
{
    char *sql = calloc(1, size + 1);
    unsigned char *copy = sqlite3_malloc64((sqlite3_uint64)sound_bytes), *made;
    sqlite3_int64 bytes = 0;
    sqlite3 *db;

    if (sql == NULL || copy == NULL || sqlite3_open(":memory:", &db) != SQLITE_OK)
        abort();
    memcpy(sql, data, size);
    memcpy(copy, sound, (size_t)sound_bytes);
    if (sqlite3_deserialize(db, "main", copy, sound_bytes, sound_bytes,
                            SQLITE_DESERIALIZE_FREEONCLOSE | SQLITE_DESERIALIZE_RESIZEABLE) !=
        SQLITE_OK)
        complain(db);
    run_sql(db, sql);
    made = sqlite3_serialize(db, "main", &bytes, 0);
    if (made != NULL)
        put(made, (size_t)bytes, 0);
    sqlite3_free(made);
    sqlite3_close(db);
    free(sql);
}

static bool profile_all(struct mst_sink *sink, const struct mst_report_run *run)
{
    const struct mst_profile_of of = { run->title, 0, 0 };
    enum mst_profile_format format;
    bool fine = true;
    size_t i;

    for (i = 0; i < run->summary.server_count; i++)
        for (format = 0; format < MST_PROFILE_FORMATS; format++)
            if (mst_profile_put(sink, mst_archive_db(run->archive), run->summary.servers[i].id,
                                format, &of, true) == MST_PROFILE_UNREADABLE)
                fine = false;
    return fine;
}

/* Each format is tried, also where one before it fails. */
static bool report_all(const struct mst_report *report)
{
    static int (*const formats[])(struct mst_sink *, const struct mst_report *,
                                  char[MST_ERROR_MAX]) = {
        mst_report_csv_series, mst_report_html, mst_report_markdown, mst_report_texts,
    };
    char error[MST_ERROR_MAX];
    struct mst_sink sink;
    bool fine = true;
    size_t i;

    mst_sink_init(&sink, ignore, NULL);
    mst_report_json(&sink, &report->runs[0].summary);
    mst_report_text(&sink, &report->runs[0].summary, path, 0);
    mst_report_csv(&sink, report);
    for (i = 0; i < sizeof formats / sizeof *formats; i++)
        if (formats[i](&sink, report, error) != 0)
            fine = false;
    return profile_all(&sink, &report->runs[0]) &&
           predict_from(&report->runs[0], report->pool) && fine;
}

static int send_nowhere(void *context, const struct mst_export_batch *batch,
                        char error[MST_ERROR_MAX])
{
    (void)context, (void)error;
    if (batch->length == 0 || batch->json[0] != '{' || batch->json[batch->length - 1] != '}')
        abort();
    return 0;
}

static bool export_all(struct mst_archive *a, const struct mst_summary *s)
{
    struct mst_export e = { .choice = { .slower_than_ns = 0 }, .send = send_nowhere };
    char error[MST_ERROR_MAX] = "";
    bool fine = mst_export_run(&e, a, s, error) == 0;

    if (!fine && error[0] == '\0')
        abort();
    return fine;
}

static bool report_run(struct mst_archive *a, int64_t id)
{
    char title[] = "run", error[MST_ERROR_MAX] = "";
    struct mst_report_run run = { .archive = a, .path = path, .title = title };
    const struct mst_report report = { .pool = mst_pool_new(NULL), .runs = &run, .count = 1 };
    bool fine = mst_findings_sizing(&run.summary, a, id, error) == 0;

    if (fine)
        fine = report_all(&report) && export_all(a, &run.summary);
    else if (error[0] == '\0')
        abort();
    apr_pool_destroy(report.pool);
    mst_summary_free(&run.summary);
    return fine;
}

static bool report_study(struct mst_archive *a)
{
    char error[MST_ERROR_MAX] = "";
    struct mst_sink sink;

    mst_sink_init(&sink, ignore, NULL);
    if (mst_study_report(&sink, MST_STUDY_HTML, a, path, error) == 0)
        return true;
    if (error[0] == '\0')
        abort();
    return false;
}

/* Whether all of it can be read. What cannot is said. */
static bool report_file(void)
{
    char error[MST_ERROR_MAX] = "";
    struct mst_archive *a = mst_archive_read(path, error);
    int64_t *ids = NULL;
    size_t i, count = 0;
    bool fine;

    if (a == NULL) {
        if (error[0] == '\0')
            abort();
        return false;
    }
    fine = mst_summary_runs(a, &ids, &count, error) == 0;
    for (i = 0; i < count && i < 3; i++)
        fine = report_run(a, ids[i]) && fine;
    free(ids);
    if (mst_study_in(a))
        fine = report_study(a) && fine;
    mst_archive_close(a, error);
    return fine && i == 1;
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    if (fd < 0) {
        make_sound();
        put(sound, (size_t)sound_bytes, 0);
        if (!report_file())
            abort();
    }
    if (size == 0 || ftruncate(fd, 0) != 0)
        return 0;
    remove_parts(false);
    if (data[0] % 4 == 1)
        put(data + 1, size - 1, 0);
    else if (data[0] % 4 == 3)
        put_sql(data + 1, size - 1);
    else
        put_changes(data + 1, size - 1);
    report_file();
    return 0;
}
