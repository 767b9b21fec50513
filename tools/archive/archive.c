/* archive.c - the handle of an archive that is open, and its errors: see archive.h. */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>

#include "archive/internal.h"

/* ---- errors ---------------------------------------------------------------------- */

/* Why the last call failed, for people: the system's own reason where it is one. */
const char *mst_archive_reason(sqlite3 *db)
{
    int system = sqlite3_system_errno(db);

    switch (sqlite3_errcode(db)) {
    case SQLITE_FULL:
        return "the disk is full";
    case SQLITE_BUSY: case SQLITE_LOCKED:
        return "another program is using it";
    case SQLITE_CANTOPEN: case SQLITE_IOERR:
        if (system != 0)
            return strerror(system);
        break;
    }
    return sqlite3_errmsg(db);
}

static const char *remedy(sqlite3 *db)
{
    switch (sqlite3_errcode(db)) {
    case SQLITE_FULL:
        return ". Make room on it, or name a file on another disk (-o)";
    case SQLITE_READONLY: case SQLITE_IOERR: case SQLITE_CANTOPEN:
        return ". Name a file that can be written (-o)";
    }
    return "";
}

int mst_archive_fail(struct mst_archive *a)
{
    if (a->error[0] == '\0')
        snprintf(a->error, sizeof a->error, "cannot %s the archive %s: %s%s",
                 a->guard.reads ? "read" : "write", a->path, mst_archive_reason(a->db),
                 a->guard.reads ? "" : remedy(a->db));
    return -1;
}

const char *mst_archive_error(const struct mst_archive *a)
{
    return a->error;
}

int mst_archive_unreadable(const struct mst_archive *a, char error[MST_ERROR_MAX])
{
    return mst_fail(error, "cannot read the archive %s: %s", a->path,
                    a->guard.problem[0] != '\0' ? a->guard.problem
                                                : "out of memory, or it is damaged");
}

const char *mst_archive_path(const struct mst_archive *a)
{
    return a->path;
}

sqlite3 *mst_archive_db(struct mst_archive *a)
{
    return a->db;
}

int mst_archive_execute(struct mst_archive *a, const char *sql)
{
    if (a->error[0] != '\0')
        return -1;
    return sqlite3_exec(a->db, sql, NULL, NULL, NULL) == SQLITE_OK ? 0 : mst_archive_fail(a);
}

/* ---- opening and closing --------------------------------------------------------------- */

/* SQLite takes a name that begins with a colon, and an empty one, for no file. */
static char *file_name(const char *path)
{
    char *name;

    if (asprintf(&name, "%s%s", path[0] == ':' ? "./" : "", path) < 0)
        return NULL;
    return name;
}

int mst_archive_connect(struct mst_archive *a, const char *name, int flags)
{
    int status = mst_guard_open(&a->guard, name, flags);

    a->db = a->guard.db;
    if (status == SQLITE_OK)
        sqlite3_busy_timeout(a->db, MST_ARCHIVE_BUSY_MS);
    return status;
}

static void release(struct mst_archive *a)
{
    mst_guard_close(&a->guard);
    free(a->path);
    free(a);
}

struct mst_archive *mst_archive_open_file(const char *path, int flags, char error[MST_ERROR_MAX])
{
    struct mst_archive *a;
    struct stat st;

    if (path[0] == '\0' || (stat(path, &st) == 0 && !S_ISREG(st.st_mode))) {
        snprintf(error, MST_ERROR_MAX, "the archive \"%s\" should be a file%s", path,
                 path[0] == '\0' ? "" : S_ISDIR(st.st_mode) ?
                 ", and that is a directory: name a file in it" : ", and that is something else");
        return NULL;
    }
    a = calloc(1, sizeof *a);
    if (a == NULL || (a->path = file_name(path)) == NULL) {
        snprintf(error, MST_ERROR_MAX, "out of memory for the archive");
        free(a);
        return NULL;
    }
    if (mst_archive_connect(a, a->path, flags) == SQLITE_OK)
        return a;
    snprintf(error, MST_ERROR_MAX, "cannot open the archive %s: %s", path,
             a->db != NULL ? mst_archive_reason(a->db) : "out of memory");
    release(a);
    return NULL;
}

void mst_archive_discard(struct mst_archive *a, char error[MST_ERROR_MAX])
{
    char ignored[MST_ERROR_MAX];

    snprintf(error, MST_ERROR_MAX, "%s", a->error);
    mst_archive_close(a, ignored);
}

int mst_archive_close(struct mst_archive *a, char error[MST_ERROR_MAX])
{
    int status = 0;

    error[0] = '\0';
    if (a == NULL)
        return 0;
    if (a->end != NULL)
        a->end(a);
    if (!a->guard.reads && a->error[0] != '\0') {
        snprintf(error, MST_ERROR_MAX, "%s", a->error);
        status = -1;
    }
    release(a);
    return status;
}
