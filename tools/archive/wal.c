/* wal.c - the write-ahead log (WAL) of an archive that is written: FILE-wal, and its index,
 * FILE-shm.
 *
 * With it readers see what was committed and hold up no commit, and a killed recorder leaves
 * what it committed. An archive that no program has open is one file, to be copied and mailed:
 * the last program that closes it puts the log into the file and ends the log.
 *
 * The log takes memory that processes share. On a file system that has none a rollback journal
 * is written, which lets no batch be committed while a program reads: the batch stays open and
 * grows until the reader has gone, since a look at an archive must not end the load.
 */
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <unistd.h>

#include "archive/internal.h"
#include "base/clock.h"

#define LOG_PAGES 4096   /* of the log: then it goes into the file. 16 MB take 10 ms */

bool mst_wal_is_on(struct mst_archive *a)
{
    sqlite3_stmt *statement = NULL;
    const char *mode = NULL;
    bool logged;

    if (sqlite3_prepare_v2(a->db, "PRAGMA journal_mode", -1, &statement, NULL) == SQLITE_OK &&
        sqlite3_step(statement) == SQLITE_ROW)
        mode = (const char *)sqlite3_column_text(statement, 0);
    logged = mode != NULL && strcmp(mode, "wal") == 0;
    sqlite3_finalize(statement);
    return logged;
}

/* Whether processes can share memory by a file next to the archive. Where no file can be made
 * there SQLite will say so. */
static bool can_share_memory(const char *path)
{
    size_t size = (size_t)sysconf(_SC_PAGESIZE);
    void *shared = MAP_FAILED;
    bool known = false;
    char *name;
    int fd;

    if (asprintf(&name, "%s.XXXXXX", path) < 0)
        return true;
    fd = mkostemp(name, O_CLOEXEC);
    if (fd >= 0) {
        unlink(name);
        known = ftruncate(fd, (off_t)size) == 0;
        if (known)
            shared = mmap(NULL, size, PROT_READ | PROT_WRITE, MAP_SHARED, fd, 0);
        close(fd);
    }
    free(name);
    if (shared != MAP_FAILED)
        munmap(shared, size);
    return !known || shared != MAP_FAILED;
}

/* Puts what is in the log into the file. What a reader still needs in the log stays there, and
 * the log grows on. */
static int on_commit(void *context, sqlite3 *db, const char *name, int pages)
{
    struct mst_archive *a = context;
    int in_log = 0, in_file = 0;

    if (pages < a->log_limit)
        return SQLITE_OK;
    sqlite3_wal_checkpoint_v2(db, name, SQLITE_CHECKPOINT_PASSIVE, &in_log, &in_file);
    a->log_limit = in_log == in_file ? LOG_PAGES : pages + LOG_PAGES;
    return SQLITE_OK;   /* what was committed is committed */
}

int mst_wal_begin(struct mst_archive *a)
{
    struct mst_patience p = { mst_now_ns(), false };
    int status;

    if (!can_share_memory(a->path))
        return 0;
    while ((status = sqlite3_exec(a->db, "PRAGMA journal_mode = WAL", NULL, NULL,
                                  NULL)) == SQLITE_BUSY)
        if (mst_archive_wait(a, &p) != 0)
            return -1;
    if (status != SQLITE_OK)
        return mst_archive_fail(a);
    a->has_log = mst_wal_is_on(a);
    a->log_limit = LOG_PAGES;
    sqlite3_wal_hook(a->db, on_commit, a);
    return 0;
}

void mst_wal_end(struct mst_archive *a)
{
    sqlite3_busy_timeout(a->db, 0);
    sqlite3_exec(a->db, "PRAGMA journal_mode = DELETE", NULL, NULL, NULL);
}

bool mst_wal_empty(struct mst_archive *a)
{
    int in_log = -1, in_file = 0;
    int status = sqlite3_wal_checkpoint_v2(a->db, "main", SQLITE_CHECKPOINT_PASSIVE, &in_log,
                                           &in_file);

    return status == SQLITE_OK && in_log == in_file;
}

