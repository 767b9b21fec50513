/* rotation.c - the archives of a recording without an end: see rotation.h. */
#include "record/rotation.h"

#include <ctype.h>
#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/file.h>
#include <sys/stat.h>
#include <time.h>
#include <unistd.h>

#include "archive/archive.h"
#include "base/clock.h"

#define PREFIX       "mpmstat-"
#define STAMP        "%Y%m%dT%H%M%SZ"
#define SAME_SECOND  100u        /* archives that begin in the same second */
/* Where PRAGMA application_id is in an SQLite file: four bytes, the most significant first. */
#define ID_OFFSET    68

#define LOG "-wal"
/* What belongs to an archive, itself the last: it is what a removal that was cut short finds. */
static const char *const parts[] = { "-journal", "-shm", LOG, "" };

int mst_rotation_begin(const struct mst_rotation *r, char error[MST_ERROR_MAX])
{
    int directory = open(r->directory, O_RDONLY | O_DIRECTORY | O_CLOEXEC);

    if (directory < 0)
        return mst_fail(error, "cannot open the directory %s: %s. Name one with -o that is there "
                        "and can be written", r->directory, strerror(errno));
    if (flock(directory, LOCK_EX | LOCK_NB) == 0)
        return directory;
    close(directory);
    return mst_fail(error, "another mpmstat records into %s: end that first, or name another "
                    "directory with -o", r->directory);
}

/* ---- a new one ------------------------------------------------------------------------- */

char *mst_rotation_path(const struct mst_rotation *r, uint64_t wall_ns, char error[MST_ERROR_MAX])
{
    time_t seconds = (time_t)(wall_ns / MST_NS_PER_S);
    char stamp[32], again[16] = "", *path;
    struct tm utc;
    unsigned i;

    gmtime_r(&seconds, &utc);
    strftime(stamp, sizeof stamp, STAMP, &utc);
    for (i = 2; i <= SAME_SECOND; i++) {
        if (asprintf(&path, "%s/" PREFIX "%s%s.db", r->directory, stamp, again) < 0)
            break;
        if (access(path, F_OK) != 0)
            return path;
        free(path);
        snprintf(again, sizeof again, "-%02u", i);
    }
    mst_fail(error, "%s has no name left for an archive that begins now", r->directory);
    return NULL;
}

uint64_t mst_rotation_end_ns(const struct mst_rotation *r, uint64_t wall_ns)
{
    return r->period_ns == 0 ? UINT64_MAX : wall_ns - wall_ns % r->period_ns + r->period_ns;
}

/* ---- how large they are ---------------------------------------------------------------- */

/* Bytes of the archive of that name and of its log. */
static uint64_t bytes_of(int directory, const char *name)
{
    char part[NAME_MAX + 16];
    uint64_t bytes = 0;
    struct stat st;
    size_t i;

    for (i = 0; i < sizeof parts / sizeof *parts; i++) {
        snprintf(part, sizeof part, "%s%s", name, parts[i]);
        if (fstatat(directory, part, &st, AT_SYMLINK_NOFOLLOW) == 0)
            bytes += (uint64_t)st.st_size;
    }
    return bytes;
}

bool mst_rotation_is_full(const struct mst_rotation *r, const char *path)
{
    const char *name = strrchr(path, '/') + 1;
    char log[NAME_MAX + 16];
    uint64_t bytes;
    struct stat st;
    int directory;

    if (r->size_bytes == 0)
        return false;
    directory = open(r->directory, O_RDONLY | O_DIRECTORY | O_CLOEXEC);
    if (directory < 0)
        return false;
    bytes = bytes_of(directory, name);
    snprintf(log, sizeof log, "%s" LOG, name);
    if (fstatat(directory, log, &st, AT_SYMLINK_NOFOLLOW) == 0)
        bytes += (uint64_t)st.st_size;
    close(directory);
    return bytes >= r->size_bytes;
}

/* ---- those that are there -------------------------------------------------------------- */

/* A # is a digit. */
static bool is_like(const char *name, const char *shape)
{
    for (; *shape != '\0'; name++, shape++)
        if (*shape == '#' ? !isdigit((unsigned char)*name) : *name != *shape)
            return false;
    return *name == '\0';
}

static bool is_ours_by_name(const char *name)
{
    return is_like(name, PREFIX "########T######Z.db") ||
           is_like(name, PREFIX "########T######Z-##.db");
}

static int by_name_alone(const struct dirent *entry)
{
    return is_ours_by_name(entry->d_name);
}

/* Whether it is an archive, or has become nothing: a killed recording can leave an empty file. */
static bool is_archive(int directory, const char *name, struct stat *st)
{
    int fd = openat(directory, name, O_RDONLY | O_NOFOLLOW | O_NONBLOCK | O_CLOEXEC);
    unsigned char id[4];
    bool is = false;

    if (fd < 0)
        return false;
    if (fstat(fd, st) == 0 && S_ISREG(st->st_mode))
        is = st->st_size == 0 ||
             (pread(fd, id, sizeof id, ID_OFFSET) == sizeof id &&
              ((uint32_t)id[0] << 24 | (uint32_t)id[1] << 16 | (uint32_t)id[2] << 8 | id[3]) ==
              MST_ARCHIVE_ID);
    close(fd);
    return is;
}

static int remove_archive(const struct mst_rotation *r, int directory, const char *name,
                          char error[MST_ERROR_MAX])
{
    char part[NAME_MAX + 16];
    size_t i;

    for (i = 0; i < sizeof parts / sizeof *parts; i++) {
        snprintf(part, sizeof part, "%s%s", name, parts[i]);
        if (unlinkat(directory, part, 0) != 0 && errno != ENOENT)
            return mst_fail(error, "cannot remove %s/%s, which is not to be kept: %s",
                            r->directory, part, strerror(errno));
    }
    return 0;
}

/* The names are sorted by time. Each is freed. */
static int remove_of(const struct mst_rotation *r, int directory, struct dirent **names,
                     size_t count, uint64_t wall_ns, char error[MST_ERROR_MAX])
{
    /* For the new archive, and as much for what comes in before its size is looked at. */
    uint64_t room = r->keep_bytes - 2 * r->size_bytes, bytes = 0, ended_ns;
    int status = 0;
    struct stat st;
    size_t i;

    for (i = 0; i < count; i++)
        bytes += is_archive(directory, names[i]->d_name, &st) ?
                 bytes_of(directory, names[i]->d_name) : 0;
    for (i = 0; i < count; i++) {
        if (status == 0 && is_archive(directory, names[i]->d_name, &st)) {
            uint64_t own = bytes_of(directory, names[i]->d_name);

            ended_ns = (uint64_t)st.st_mtim.tv_sec * MST_NS_PER_S;
            if ((r->keep_ns > 0 && ended_ns + r->keep_ns < wall_ns) ||
                (r->keep_bytes > 0 && bytes > room)) {
                status = remove_archive(r, directory, names[i]->d_name, error);
                bytes -= own;
            }
        }
        free(names[i]);
    }
    return status;
}

int mst_rotation_remove_old(const struct mst_rotation *r, uint64_t wall_ns,
                            char error[MST_ERROR_MAX])
{
    int directory = open(r->directory, O_RDONLY | O_DIRECTORY | O_CLOEXEC), count, status;
    struct dirent **names = NULL;

    count = directory >= 0 ? scandirat(directory, ".", &names, by_name_alone, alphasort) : -1;
    if (count < 0)
        status = mst_fail(error, "cannot read the directory %s: %s", r->directory,
                          strerror(errno));
    else
        status = remove_of(r, directory, names, (size_t)count, wall_ns, error);
    free(names);
    if (directory >= 0)
        close(directory);
    return status;
}
