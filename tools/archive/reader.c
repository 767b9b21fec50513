/* reader.c - opens an archive to read it: see archive.h. */
#include <ctype.h>
#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>

#include "archive/internal.h"

#define OLDER_MAX (256 << 20)   /* bytes of an archive of an earlier version to be read */

/* Bytes that the file and its log take on the disk; a hole in a sparse file counts nothing. */
static uint64_t bytes_of(const struct mst_archive *a)
{
    static const char *const parts[] = { "", "-wal" };
    uint64_t bytes = 0, allocated;
    struct stat st;
    char *name;
    size_t i;

    for (i = 0; i < sizeof parts / sizeof *parts; i++) {
        if (asprintf(&name, "%s%s", a->path, parts[i]) < 0)
            continue;
        if (stat(name, &st) == 0) {
            allocated = (uint64_t)st.st_blocks * 512;
            bytes += (uint64_t)st.st_size < allocated ? (uint64_t)st.st_size : allocated;
        }
        free(name);
    }
    return bytes;
}

/* Whether there is anything in FILE-wal or FILE-journal. */
static bool has_more(const struct mst_archive *a)
{
    static const char *const parts[] = { "-wal", "-journal" };
    struct stat st;
    bool more = false;
    char *name;
    size_t i;

    for (i = 0; i < sizeof parts / sizeof *parts; i++) {
        if (asprintf(&name, "%s%s", a->path, parts[i]) < 0)
            return true;
        more = more || (lstat(name, &st) == 0 && (st.st_size > 0 || !S_ISREG(st.st_mode)));
        free(name);
    }
    return more;
}

/* The file as a URI which tells SQLite that no program changes it. */
static char *immutable_name(const char *path)
{
    char *real = realpath(path, NULL), *uri = NULL;
    size_t size;
    FILE *out = real != NULL ? open_memstream(&uri, &size) : NULL;
    const char *at;

    if (out != NULL) {
        fputs("file://", out);
        for (at = real; *at != '\0'; at++)
            fprintf(out, isalnum((unsigned char)*at) || *at == '/' ? "%c" : "%%%02X",
                    (unsigned char)*at);
        fputs("?immutable=1", out);
        if (fclose(out) != 0) {
            free(uri);
            uri = NULL;
        }
    }
    free(real);
    return uri;
}

/* An archive that was copied while its log was in use asks for a log where it is read, too.
 * Where there is none and none can be made, the file alone is read. */
static int examine_alone(struct mst_archive *a)
{
    char *name = immutable_name(a->path);
    int status = SQLITE_NOMEM;

    mst_guard_close(&a->guard);
    if (name != NULL)
        status = mst_archive_connect(a, name,
                                     SQLITE_OPEN_READONLY | SQLITE_OPEN_NOMUTEX | SQLITE_OPEN_URI);
    free(name);
    if (status != SQLITE_OK)
        return -1;
    mst_guard_limit_reading(&a->guard, bytes_of(a));
    a->error[0] = '\0';
    return mst_archive_examine(a);
}

/* Whether a log or a journal is missing, and cannot be made in this directory. */
static bool lacks_log(const struct mst_archive *a)
{
    int code = sqlite3_errcode(a->db);

    return code == SQLITE_CANTOPEN || code == SQLITE_READONLY;
}

static int examine_to_read(struct mst_archive *a)
{
    int kind;

    mst_guard_limit_reading(&a->guard, bytes_of(a));
    kind = mst_archive_examine(a);
    if (kind < 0 && lacks_log(a) && !has_more(a)) {
        a->error[0] = '\0';
        kind = mst_archive_examine(a);   /* now that a journal is rolled back */
        if (kind < 0)
            kind = examine_alone(a);
    }
    if (kind < 0 && lacks_log(a))
        snprintf(a->error, sizeof a->error, "cannot read the archive %s: what was recorded last "
                 "is in %s-wal or %s-journal, which cannot be used here. Copy all of them to where "
                 "you may write, and read that", a->path, a->path, a->path);
    return kind;
}

/* Upgrades a copy in memory. */
static int read_older(struct mst_archive *a, int version)
{
    struct stat st;
    int status;

    if (stat(a->path, &st) != 0 || st.st_size > OLDER_MAX) {
        snprintf(a->error, sizeof a->error, "the archive %s has schema version %d and %lld MB: of "
                 "earlier versions only up to %d MB can be read. Record a run into a copy of it "
                 "(-o), which brings that up to date", a->path, version,
                 (long long)st.st_size >> 20, OLDER_MAX >> 20);
        return -1;
    }
    status = mst_guard_to_memory(&a->guard, (uint64_t)st.st_size);
    a->db = a->guard.db;
    if (status == SQLITE_OK)
        return mst_archive_upgrade(a, version);
    snprintf(a->error, sizeof a->error, "cannot read the archive %s: %s", a->path,
             sqlite3_errstr(status));
    return -1;
}

/* With a log, one transaction shows one moment of the archive and delays no writer. */
static int begin_reading(struct mst_archive *a, int version)
{
    uint64_t times;

    if ((version < MST_ARCHIVE_VERSION ? read_older(a, version) : mst_archive_check(a, true)) != 0)
        return -1;
    if (mst_archive_repeat_rows(a, &times) != 0)
        return -1;
    if (times > 1)
        mst_guard_limit_reading(&a->guard, times * bytes_of(a));
    a->has_log = mst_wal_is_on(a);
    if (a->has_log && mst_archive_execute(a, "BEGIN; SELECT 1 FROM runs LIMIT 1") != 0)
        return -1;
    mst_guard_lock(&a->guard);
    return 0;
}

/* An archive that could not be read is not written to, either. */
static void end_reading(struct mst_archive *a)
{
    mst_guard_unlock(&a->guard);
    sqlite3_progress_handler(a->db, 0, NULL, NULL);
    if (a->error[0] != '\0' || a->guard.problem[0] != '\0')
        sqlite3_db_config(a->db, SQLITE_DBCONFIG_NO_CKPT_ON_CLOSE, 1, NULL);
    else if (a->has_log && sqlite3_exec(a->db, "COMMIT", NULL, NULL, NULL) == SQLITE_OK &&
             sqlite3_db_readonly(a->db, "main") == 0)
        mst_wal_end(a);
}

struct mst_archive *mst_archive_read(const char *path, char error[MST_ERROR_MAX])
{
    struct mst_archive *a;
    struct stat st;
    int kind;

    if (stat(path, &st) != 0) {
        snprintf(error, MST_ERROR_MAX, "cannot open the archive %s: %s%s", path, strerror(errno),
                 errno == ENOENT ? ". mpmstat record makes archives: -o FILE names them" : "");
        return NULL;
    }
    /* Where a recording was killed, reading it begins with a rollback: a write. */
    a = mst_archive_open_file(path, SQLITE_OPEN_READWRITE | SQLITE_OPEN_NOMUTEX, error);
    if (a == NULL)
        return NULL;
    a->end = end_reading;
    kind = examine_to_read(a);
    if (kind == 0)
        snprintf(a->error, sizeof a->error, "%s is empty: there is no run in it", a->path);
    if (kind > 0 && begin_reading(a, kind) == 0)
        return a;
    mst_archive_discard(a, error);
    return NULL;
}
