/* made_archive.c - see made_archive.h. */
#include <limits.h>
#include <sched.h>
#include <stdio.h>
#include <sys/stat.h>

#include "analysis/summary.h"
#include "archive/writer.h"
#include "base/clock.h"
#include "findings/findings.h"
#include "harness.h"
#include "made_archive.h"
#include "segment/fields.h"
#include "segment/traceparent.h"

static char ab[] = "ab", minus_n[] = "-n", ten[] = "it's 10";
static char *const command[] = { ab, minus_n, ten, NULL };

struct mst_archive *create(const char *path)
{
    char error[MST_ERROR_MAX] = "";
    struct mst_archive *a = mst_archive_create(path, NULL, error);

    ck_assert_msg(a != NULL, "%s", error);
    return a;
}

int64_t begin(struct mst_archive *a)
{
    const struct mst_archive_run run = { .name = "first", .argv = command, .tool = "ab",
                                         .started_ns = 1000, .tool_threads = 1 };
    int64_t run_id;

    ck_assert_msg(mst_archive_begin_run(a, &run, &run_id) == 0, "%s", mst_archive_error(a));
    return run_id;
}

int64_t add_server(struct mst_archive *a, int64_t run_id)
{
    const struct mst_source_identity identity = { .producer = MST_PRODUCER_APACHE,
                                                  .server = "Apache", .pid = 7 };
    int64_t server_id;

    ck_assert_int_eq(mst_archive_add_server(a, run_id, "x.board", true, &identity, &server_id), 0);
    return server_id;
}

int add_request(struct mst_archive *a, int64_t server_id, uint64_t key)
{
    const struct mst_request r = {
        .id = key, .queue_ns = 1, .read_ns = 2, .handle_ns = 3, .send_ns = 4, .held_ns = 5,
        .bytes = 6, .label_status = UINT64_C(2) << 32 | MST_REQUEST_ABORTED << 16 | 503 |
                        MST_TRACE_SAMPLED << MST_TRACE_FLAGS_SHIFT,
        .pid_worker = UINT64_C(11) << 32 | UINT32_MAX, .connection = 12 << 16 | 13, .nth = 14,
        .tls_ns = 15, .h2_wait_ns = 16, .checks_ns = 17, .upload_ns = 18, .backend_ns = 19,
        .send_client_ns = 20, .send_network_ns = 21, .send_server_ns = MST_UNKNOWN, .log_ns = 22,
        .trace_high = UINT64_C(0x0af7651916cd43dd), .trace_low = 0x1f, .trace_parent = key,
    };
    const struct mst_record_names names = { .label = "site", .ends = { "fcgi", NULL },
                                            .path = "/item/{n}" };

    return mst_archive_add_request(a, server_id, &r, &names, 2000, key, false);
}

void close_archive(struct mst_archive *a)
{
    char error[MST_ERROR_MAX];

    ck_assert_msg(mst_archive_close(a, error) == 0, "%s", error);
}

int64_t ask(const char *path, const char *sql)
{
    sqlite3_stmt *statement;
    sqlite3 *db;
    int64_t value;

    ck_assert_int_eq(sqlite3_open_v2(path, &db, SQLITE_OPEN_READWRITE, NULL), SQLITE_OK);
    ck_assert_msg(sqlite3_prepare_v2(db, sql, -1, &statement, NULL) == SQLITE_OK, "%s: %s", sql,
                  sqlite3_errmsg(db));
    ck_assert_msg(sqlite3_step(statement) == SQLITE_ROW, "%s", sql);
    value = sqlite3_column_int64(statement, 0);
    sqlite3_finalize(statement);
    sqlite3_close(db);
    return value;
}

static int (*open_file)(sqlite3_vfs *, const char *, sqlite3_file *, int, int *);

static int open_unshared(sqlite3_vfs *vfs, const char *name, sqlite3_file *file, int flags,
                         int *out)
{
    static sqlite3_io_methods methods;
    int status = open_file(vfs, name, file, flags, out);

    if (status == SQLITE_OK && flags & SQLITE_OPEN_MAIN_DB) {
        methods = *file->pMethods;
        methods.iVersion = 1;
        file->pMethods = &methods;
    }
    return status;
}

void choose_log(int which)
{
    static sqlite3_vfs vfs;

    if (which == WITH_LOG)
        return;
    vfs = *sqlite3_vfs_find(NULL);
    open_file = vfs.xOpen;
    vfs.zName = "unshared";
    vfs.xOpen = open_unshared;
    ck_assert_int_eq(sqlite3_vfs_register(&vfs, 1), SQLITE_OK);
}

int files_of(const char *path)
{
    static const char *const parts[] = { "", "-wal", "-shm", "-journal" };
    char name[PATH_MAX + 16];
    struct stat st;
    int count = 0;
    size_t i;

    for (i = 0; i < sizeof parts / sizeof *parts; i++) {
        snprintf(name, sizeof name, "%s%s", path, parts[i]);
        count += stat(name, &st) == 0 && st.st_size > 0;
    }
    return count;
}
