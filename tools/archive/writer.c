/* writer.c - opens an archive to write it: see writer.h. */
#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "archive/internal.h"

/* SQLite would try to read what it cannot make, and say that there is no such file. */
static int make_file(const char *path, char error[MST_ERROR_MAX])
{
    int fd = open(path, O_RDWR | O_CREAT | O_CLOEXEC, 0644);

    if (fd >= 0) {
        close(fd);
        return 0;
    }
    return mst_fail(error, "cannot open the archive %s: %s. Name a file that can be written (-o)",
                    path, strerror(errno));
}

/* A new archive that was not made is nothing to keep. */
static void remove_empty(const char *path)
{
    struct stat st;

    if (lstat(path, &st) == 0 && S_ISREG(st.st_mode) && st.st_size == 0)
        unlink(path);
}

static void end_writing(struct mst_archive *a)
{
    char warning[MST_ERROR_MAX];

    mst_archive_commit(a);
    mst_archive_finalize(a);
    if (!a->has_log)
        return;
    sqlite3_busy_timeout(a->db, 0);
    sqlite3_exec(a->db, "PRAGMA synchronous = FULL", NULL, NULL, NULL);
    if (!mst_wal_empty(a) && a->tell != NULL) {
        snprintf(warning, sizeof warning, "the archive %s is two files as yet: what was recorded "
                 "last is in %s-wal (%s). Copy both, or none", a->path, a->path,
                 sqlite3_errcode(a->db) == SQLITE_OK ? "another program reads it"
                                                     : mst_archive_reason(a->db));
        a->tell(true, warning);
    }
    mst_wal_end(a);
}

/* Whether the file and its directory, where its log will be, can be written; else sets errno. What
 * is not a file, opening it tells. */
static bool is_writable(const char *path)
{
    const char *slash = strrchr(path, '/');
    struct stat st;
    char *directory;
    bool writable;

    if (stat(path, &st) == 0 && !S_ISREG(st.st_mode))
        return true;
    if (access(path, W_OK) != 0)
        return false;
    directory = slash != NULL ? strndup(path, (size_t)(slash - path) + 1) : strdup(".");
    writable = directory != NULL && access(directory, W_OK) == 0;
    free(directory);
    return writable;
}

struct mst_archive *mst_archive_create(const char *path, mst_archive_tell *tell,
                                       char error[MST_ERROR_MAX])
{
    bool is_new = path[0] != '\0' && access(path, F_OK) != 0;
    struct mst_archive *a;
    int kind;

    if (is_new && make_file(path, error) != 0)
        return NULL;
    if (path[0] != '\0' && !is_writable(path)) {
        mst_fail(error, "cannot write the archive %s: %s. Name a file that can be written (-o)",
                 path, strerror(errno));
        return NULL;
    }
    a = mst_archive_open_file(path, SQLITE_OPEN_READWRITE, error);
    if (a == NULL)
        return NULL;
    a->tell = tell;
    a->end = end_writing;
    kind = mst_archive_examine(a);
    if (kind >= 0 && mst_archive_execute(a, "PRAGMA synchronous = OFF") == 0 &&
        (kind < MST_ARCHIVE_VERSION ? mst_archive_upgrade(a, kind)
                                    : mst_archive_check(a, true)) == 0 &&
        mst_wal_begin(a) == 0 && mst_archive_execute(a, "BEGIN IMMEDIATE; ROLLBACK") == 0)
        mst_archive_prepare(a);   /* it can be written: so it can be begun */
    if (a->error[0] == '\0')
        return a;
    mst_archive_discard(a, error);
    if (is_new)
        remove_empty(path);
    return NULL;
}

struct mst_archive *mst_archive_in_memory(char error[MST_ERROR_MAX])
{
    struct mst_archive *a = calloc(1, sizeof *a);

    if (a == NULL || (a->path = strdup("in memory")) == NULL) {
        free(a);
        mst_fail(error, "out of memory for the archive");
        return NULL;
    }
    a->end = end_writing;
    if (mst_archive_connect(a, ":memory:", SQLITE_OPEN_READWRITE) == SQLITE_OK &&
        mst_archive_upgrade(a, 0) == 0 && mst_archive_prepare(a) == 0)
        return a;
    mst_archive_fail(a);
    mst_archive_discard(a, error);
    return NULL;
}
