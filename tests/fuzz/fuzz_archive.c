/* fuzz_archive.c - arbitrary bytes as an archive that somebody was sent, and as changes to
 * one that was sound: every report is made of it.
 *
 * Where the first byte is odd, the rest is the file. Else the rest are changes, eight bytes
 * each: where (4), what (3), how often (1).
 */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <unistd.h>

#include "archive/archive.h"
#include "report/report.h"

#define CHANGE_BYTES 8u
#define PAGE_BYTES   512u   /* small ones: more of the file is structure */

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

static char path[64];
static int fd = -1;
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
    "30000000, 6, 'site', 200, 0, 0, 7, 8, 9, 10, 0, i, 0, NULL, i FROM n;"
    "INSERT INTO php_requests SELECT 2, key, start_ns + 5, request_id, 1, 20000000, 1, 1, 100, "
    "'site', 200, 'i.php', 0, 0, 0, 1, 7, 8, 0 FROM server_requests;"
    "INSERT INTO client_requests SELECT 1, start_ns, 31000000, 0, 1, 200, client_id FROM "
    "server_requests;"
    "INSERT INTO samples (server_id, time_ns, moment, workers_limit, workers_busy, idle_ns, "
    "reading_ns, handling_ns, sending_ns, keepalive_ns, closing_ns, requests, listen_queue, "
    "listen_queue_limit) SELECT s.id, r.start_ns, CASE key WHEN 1 THEN 'before' WHEN 20 THEN "
    "'end' ELSE 'during' END, 10, key % 10, key, key, key, key, key, key, key, 1, 511 "
    "FROM servers s, server_requests r;"
    "INSERT INTO lifecycle SELECT 1, key, start_ns, CASE key % 3 WHEN 0 THEN 'fork' WHEN 1 THEN "
    "'exit' ELSE 'limit' END, 'child', 7, 6, 0, 0, 5, 1, 0, 'clean' FROM server_requests;"
    "INSERT INTO memory_samples SELECT 1, start_ns, start_ns, key % 4, 1000 * (key % 4), 1, 1 "
    "FROM server_requests;"
    "INSERT INTO machine_samples (run_id, time_ns, moment, busy_ns, total_ns) SELECT 1, start_ns, "
    "'during', key, key * 2 FROM server_requests;"
    "INSERT INTO environment VALUES (1, 'cpus', '2'), (1, 'memory_bytes', '1000000000');"
    "INSERT INTO output VALUES (1, 'stdout', 3, 'abc');";

static int ignore(void *context, const void *bytes, size_t n)
{
    (void)context, (void)bytes, (void)n;
    return 0;
}

/* As mpmstat record makes it, in memory. */
static void make_sound(void)
{
    char name[] = "/tmp/mpmstat-fuzz-XXXXXX", error[MST_ERROR_MAX], pragma[64];
    int file = mkstemp(name);
    struct mst_archive *a;
    sqlite3 *db;

    snprintf(pragma, sizeof pragma, "PRAGMA page_size = %u; VACUUM", PAGE_BYTES);
    if (file < 0 || close(file) != 0 || (a = mst_archive_create(name, error)) == NULL)
        abort();
    db = mst_archive_db(a);
    if (sqlite3_exec(db, rows, NULL, NULL, NULL) != SQLITE_OK ||
        sqlite3_exec(db, pragma, NULL, NULL, NULL) != SQLITE_OK) {
        fprintf(stderr, "%s\n", sqlite3_errmsg(db));
        abort();
    }
    sound = sqlite3_serialize(db, "main", &sound_bytes, 0);
    mst_archive_close(a, error);
    unlink(name);
    fd = memfd_create("archive", MFD_CLOEXEC);
    snprintf(path, sizeof path, "/proc/self/fd/%d", fd);
    if (sound == NULL || fd < 0)
        abort();
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

static void report_all(const struct mst_report *report)
{
    char error[MST_ERROR_MAX];
    struct mst_sink sink;

    mst_sink_init(&sink, ignore, NULL);
    mst_report_json(&sink, &report->runs[0].summary);
    mst_report_text(&sink, &report->runs[0].summary, path);
    mst_report_csv(&sink, report);
    mst_report_csv_series(&sink, report, error);
    mst_report_data(&sink, report, error);
    mst_report_html(&sink, report, error);
    mst_report_markdown(&sink, report, error);
    mst_report_texts(&sink, report, error);
}

static void report_run(struct mst_archive *a, int64_t id)
{
    char title[] = "run", error[MST_ERROR_MAX] = "";
    struct mst_report_run run = { .archive = a, .path = path, .title = title };
    const struct mst_report report = { .runs = &run, .count = 1 };

    if (mst_summary_make(&run.summary, a, id, error) == 0)
        report_all(&report);
    else if (error[0] == '\0')
        abort();
    mst_summary_free(&run.summary);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    char error[MST_ERROR_MAX] = "";
    struct mst_archive *a;
    int64_t *ids = NULL;
    size_t i, count = 0;

    if (fd < 0)
        make_sound();
    if (size == 0 || ftruncate(fd, 0) != 0)
        return 0;
    if (data[0] % 2 == 1)
        put(data + 1, size - 1, 0);
    else
        put_changes(data + 1, size - 1);
    a = mst_archive_read(path, error);
    if (a == NULL) {
        if (error[0] == '\0')
            abort();
        return 0;
    }
    if (mst_summary_runs(a, &ids, &count, error) == 0)
        for (i = 0; i < count && i < 3; i++)
            report_run(a, ids[i]);
    free(ids);
    mst_archive_close(a, error);
    return 0;
}
