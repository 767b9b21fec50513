/* rotation.c - the archives of a recording without an end: see rotation.h. */
#include "record/rotation.h"

#include <ctype.h>
#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <inttypes.h>
#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/file.h>
#include <sys/stat.h>
#include <sys/statvfs.h>
#include <time.h>
#include <unistd.h>

#include "archive/archive.h"
#include "archive/thin.h"
#include "base/clock.h"
#include "console/stop.h"

#define PREFIX       "mpmstat-"
#define STAMP        "%Y%m%dT%H%M%SZ"
#define SAME_SECOND  100u        /* archives that begin in the same second */
/* Where PRAGMA application_id is in an SQLite file: four bytes, the most significant first. */
#define ID_OFFSET    68

#define LOG "-wal"
#define THINNED ".thinned"       /* the copy that takes an archive's place once it is whole */
/* The ends of the names of an archive's files. The archive itself is the last: where a removal is
 * cut short it is still there, and the next removal finds it. */
static const char *const parts[] = { "-journal", "-shm", LOG, THINNED, "" };

/* Held while archives are removed, and while one is replaced by its thinned copy. */
static pthread_mutex_t replacing = PTHREAD_MUTEX_INITIALIZER;

static void remove_copies(int directory);

unsigned mst_rotation_kept(const struct mst_rotation *r)
{
    return r->thin_ns > 0 ? 4 : 3;
}

int mst_rotation_begin(const struct mst_rotation *r, char error[MST_ERROR_MAX])
{
    int directory = open(r->directory, O_RDONLY | O_DIRECTORY | O_CLOEXEC);

    if (directory < 0)
        return mst_fail(error, "cannot open the directory %s: %s. Name one with -o that is there "
                        "and can be written", r->directory, strerror(errno));
    if (flock(directory, LOCK_EX | LOCK_NB) == 0) {
        remove_copies(directory);
        return directory;
    }
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
        snprintf(again, sizeof again, "%02u", i);   /* a digit sorts after the dot of the first */
    }
    mst_fail(error, "%s has no name left for an archive that begins now", r->directory);
    return NULL;
}

uint64_t mst_rotation_end_ns(const struct mst_rotation *r, uint64_t wall_ns)
{
    return r->period_ns == 0 ? UINT64_MAX : wall_ns - wall_ns % r->period_ns + r->period_ns;
}

/* ---- how large they are ---------------------------------------------------------------- */

/* Bytes of all files of the archive of that name. */
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
           is_like(name, PREFIX "########T######Z##.db");
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

/* ---- which are not to be kept ---------------------------------------------------------- */

/* The archives, by their names sorted by time. */
struct names { struct dirent **items; size_t count; };

static int read_names(const struct mst_rotation *r, int directory, struct names *names,
                      char error[MST_ERROR_MAX])
{
    int count = scandirat(directory, ".", &names->items, by_name_alone, alphasort);

    names->count = count > 0 ? (size_t)count : 0;
    if (count >= 0)
        return 0;
    names->items = NULL;
    return mst_fail(error, "cannot read the directory %s: %s", r->directory, strerror(errno));
}

static void free_names(struct names *names)
{
    size_t i;

    for (i = 0; i < names->count; i++)
        free(names->items[i]);
    free(names->items);
}

static uint64_t begin_of(const char *name)
{
    struct tm utc = { 0 };

    return strptime(name, PREFIX STAMP, &utc) != NULL ? (uint64_t)timegm(&utc) * MST_NS_PER_S : 0;
}

/* When the archive ended: a copy of it can have been written later. */
static uint64_t end_of(const struct names *names, size_t i, const struct stat *st)
{
    uint64_t written_ns = (uint64_t)st->st_mtim.tv_sec * MST_NS_PER_S, next_ns;

    if (i + 1 == names->count)
        return written_ns;
    next_ns = begin_of(names->items[i + 1]->d_name);
    return next_ns < written_ns ? next_ns : written_ns;
}

static int remove_of(const struct mst_rotation *r, int directory, const struct names *names,
                     uint64_t wall_ns, char error[MST_ERROR_MAX])
{
    /* For the new archive, as much for what comes in before its size is looked at, and for the
     * thinned copy of another. */
    uint64_t room = r->keep_bytes - (mst_rotation_kept(r) - 1) * r->size_bytes, bytes = 0;
    int status = 0;
    struct stat st;
    size_t i;

    for (i = 0; i < names->count; i++)
        bytes += is_archive(directory, names->items[i]->d_name, &st) ?
                 bytes_of(directory, names->items[i]->d_name) : 0;
    for (i = 0; i < names->count && status == 0; i++) {
        const char *name = names->items[i]->d_name;
        uint64_t own = bytes_of(directory, name);

        if (is_archive(directory, name, &st) &&
            ((r->keep_ns > 0 && end_of(names, i, &st) + r->keep_ns < wall_ns) ||
             (r->keep_bytes > 0 && bytes > room))) {
            status = remove_archive(r, directory, name, error);
            bytes -= own;
        }
    }
    return status;
}

int mst_rotation_remove_old(const struct mst_rotation *r, uint64_t wall_ns,
                            char error[MST_ERROR_MAX])
{
    int directory = open(r->directory, O_RDONLY | O_DIRECTORY | O_CLOEXEC), status;
    struct names names = { 0 };

    if (directory < 0)
        return mst_fail(error, "cannot read the directory %s: %s", r->directory, strerror(errno));
    status = read_names(r, directory, &names, error);
    pthread_mutex_lock(&replacing);
    if (status == 0)
        status = remove_of(r, directory, &names, wall_ns, error);
    pthread_mutex_unlock(&replacing);
    free_names(&names);
    close(directory);
    return status;
}

/* ---- thinning -------------------------------------------------------------------------- */

static void remove_copies(int directory)
{
    const struct mst_rotation here = { .directory = "." };
    char copy[NAME_MAX + 16], ignored[MST_ERROR_MAX];
    struct names names = { 0 };
    size_t i;

    if (read_names(&here, directory, &names, ignored) != 0)
        return;
    for (i = 0; i < names.count; i++) {
        snprintf(copy, sizeof copy, "%s" THINNED, names.items[i]->d_name);
        unlinkat(directory, copy, 0);
    }
    free_names(&names);
}

/* Whether a program has the archive open in a way that needs more than the one file: its log would
 * not fit another file of the same name. */
static bool has_log(int directory, const char *name)
{
    char part[NAME_MAX + 16];
    struct stat st;
    size_t i;

    for (i = 0; i < sizeof parts / sizeof *parts; i++) {
        snprintf(part, sizeof part, "%s%s", name, parts[i]);
        if (parts[i][0] == '-' && fstatat(directory, part, &st, AT_SYMLINK_NOFOLLOW) == 0)
            return true;
    }
    return false;
}

/* Puts the copy on the disk, as old as the archive: reports choose archives of a directory by that
 * time. */
static bool finish_copy(int directory, const char *copy, const struct stat *st)
{
    const struct timespec times[] = { st->st_atim, st->st_mtim };
    int fd = openat(directory, copy, O_WRONLY | O_NOFOLLOW | O_CLOEXEC);
    bool fine = fd >= 0 && fchmod(fd, st->st_mode & 0777) == 0 && futimens(fd, times) == 0 &&
                fsync(fd) == 0;

    if (fd >= 0)
        close(fd);
    return fine;
}

static bool is_unchanged(int directory, const char *name, const struct stat *before)
{
    struct stat now;

    return fstatat(directory, name, &now, AT_SYMLINK_NOFOLLOW) == 0 &&
           now.st_ino == before->st_ino && now.st_size == before->st_size &&
           now.st_mtim.tv_sec == before->st_mtim.tv_sec &&
           now.st_mtim.tv_nsec == before->st_mtim.tv_nsec && !has_log(directory, name);
}

/* Puts the copy in the archive's place, unless the archive was written to or removed meanwhile. 0,
 * or -1 with a sentence. */
static int replace(int directory, const char *name, const char *copy, const struct stat *before,
                   char error[MST_ERROR_MAX])
{
    int status = 0;

    pthread_mutex_lock(&replacing);
    if (is_unchanged(directory, name, before) &&
        (!finish_copy(directory, copy, before) || renameat(directory, copy, directory, name) != 0))
        status = mst_fail(error, "cannot put the thinned copy of %s in its place: %s", name,
                          strerror(errno));
    pthread_mutex_unlock(&replacing);
    if (status == 0 && fsync(directory) != 0)
        status = mst_fail(error, "cannot write the directory of %s to the disk: %s", name,
                          strerror(errno));
    return status;
}

/* Whether the disk has room for a copy of the archive, thinned or not, and as much for what is
 * recorded meanwhile. 0, or -1 with a sentence. */
static int check_room(int directory, const char *path, const struct stat *st,
                      char error[MST_ERROR_MAX])
{
    struct statvfs disk;
    uint64_t room;

    if (fstatvfs(directory, &disk) != 0)
        return mst_fail(error, "cannot tell whether there is room to thin %s: %s", path,
                        strerror(errno));
    room = (uint64_t)disk.f_bavail * disk.f_frsize;
    if (room / 2 >= (uint64_t)st->st_size)
        return 0;
    return mst_fail(error, "cannot thin the archive %s of %" PRIu64 " MB: the disk has only "
                    "%" PRIu64 " MB free, and that takes twice as much as the archive. Make room "
                    "on it, or let less be kept (--keep-size)", path, (uint64_t)st->st_size >> 20,
                    room >> 20);
}

static int thin_archive(const struct mst_rotation *r, int directory, const char *name,
                        const volatile sig_atomic_t *stop, char error[MST_ERROR_MAX])
{
    char copy[NAME_MAX + 16], *from = NULL, *to = NULL;
    int status = -1;
    struct stat st;

    snprintf(copy, sizeof copy, "%s" THINNED, name);
    unlinkat(directory, copy, 0);
    if (asprintf(&from, "%s/%s", r->directory, name) < 0 ||
        asprintf(&to, "%s/%s", r->directory, copy) < 0)
        mst_fail(error, "out of memory to thin an archive");
    else if (fstatat(directory, name, &st, AT_SYMLINK_NOFOLLOW) != 0)
        status = 0;
    else if (check_room(directory, from, &st, error) == 0)
        status = mst_archive_thin(from, to, stop, error);
    if (status > 0)
        status = replace(directory, name, copy, &st, error);
    unlinkat(directory, copy, 0);
    free(from);
    free(to);
    return status < 0 && *stop == 0 && !mst_stop_asked() ? -1 : 0;
}

int mst_rotation_thin(const struct mst_rotation *r, uint64_t wall_ns,
                      const volatile sig_atomic_t *stop, char error[MST_ERROR_MAX])
{
    int directory = open(r->directory, O_RDONLY | O_DIRECTORY | O_CLOEXEC), status;
    char first[MST_ERROR_MAX] = "";
    struct names names = { 0 };
    struct stat st;
    size_t i;

    if (directory < 0)
        return mst_fail(error, "cannot read the directory %s: %s", r->directory, strerror(errno));
    status = read_names(r, directory, &names, error);
    for (i = 0; i + 1 < names.count && *stop == 0; i++)
        if (is_archive(directory, names.items[i]->d_name, &st) && st.st_size > 0 &&
            end_of(&names, i, &st) + r->thin_ns < wall_ns &&
            thin_archive(r, directory, names.items[i]->d_name, stop, error) != 0) {
            status = -1;
            snprintf(first, sizeof first, "%s", first[0] != '\0' ? first : error);
        }
    if (first[0] != '\0')
        snprintf(error, MST_ERROR_MAX, "%s", first);
    free_names(&names);
    close(directory);
    return status;
}
