/* replace.c - files that are whole or not there: see replace.h. */
#include "console/replace.h"

#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <inttypes.h>
#include <signal.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>
#include <sys/file.h>
#include <sys/random.h>
#include <sys/stat.h>
#include <unistd.h>

#define SUFFIX       ".part"
#define RANDOM_CHARS 8u

/* ---- signals that end the program ---------------------------------------------------- */

static const int signals[] = { SIGINT, SIGTERM, SIGHUP };
#define SIGNAL_COUNT (sizeof signals / sizeof *signals)

static const char *volatile doomed;      /* the part to be removed */
static bool handled[SIGNAL_COUNT];

static void on_signal(int number)
{
    const char *part = doomed;

    if (part != NULL)
        unlink(part);
    signal(number, SIG_DFL);
    raise(number);           /* comes when this returns */
}

/* Where a signal is ignored, or has another handler, the program goes on. */
static void remove_at_signals(const char *part)
{
    struct sigaction now, action = { .sa_handler = on_signal };
    size_t i;

    doomed = part;
    for (i = 0; i < SIGNAL_COUNT; i++) {
        handled[i] = sigaction(signals[i], NULL, &now) == 0 && now.sa_handler == SIG_DFL;
        if (handled[i])
            sigaction(signals[i], &action, NULL);
    }
}

static void leave_at_signals(void)
{
    size_t i;

    doomed = NULL;
    for (i = 0; i < SIGNAL_COUNT; i++)
        if (handled[i])
            signal(signals[i], SIG_DFL);
}

/* ---- what a killed program left ------------------------------------------------------ */

/* On the heap; NULL: out of memory. */
static char *directory_of(const char *path)
{
    const char *slash = strrchr(path, '/');

    if (slash == NULL)
        return strdup(".");
    return slash == path ? strdup("/") : strndup(path, (size_t)(slash - path));
}

static bool is_part_of(const char *name, const char *base)
{
    size_t n = strlen(base);

    return strncmp(name, base, n) == 0 && name[n] == '.' &&
           strspn(name + n + 1, "0123456789abcdef") == RANDOM_CHARS &&
           strcmp(name + n + 1 + RANDOM_CHARS, SUFFIX) == 0;
}

/* A file whose lock is free has no writer. */
static void remove_if_left(int directory, const char *name)
{
    int fd = openat(directory, name, O_RDONLY | O_NOFOLLOW | O_NONBLOCK | O_CLOEXEC);
    struct stat st;

    if (fd < 0)
        return;
    if (fstat(fd, &st) == 0 && S_ISREG(st.st_mode) && st.st_uid == geteuid() &&
        flock(fd, LOCK_EX | LOCK_NB) == 0)
        unlinkat(directory, name, 0);
    close(fd);
}

static void remove_left(const char *path, const char *directory)
{
    const char *slash = strrchr(path, '/'), *base = slash != NULL ? slash + 1 : path;
    DIR *entries = opendir(directory);
    struct dirent *entry;

    while (entries != NULL && (entry = readdir(entries)) != NULL)
        if (is_part_of(entry->d_name, base))
            remove_if_left(dirfd(entries), entry->d_name);
    if (entries != NULL)
        closedir(entries);
}

/* ---- files ---------------------------------------------------------------------------- */

/* A name that is not in use: a link of that name is not followed. */
static char *part_name(const char *path)
{
    uint32_t random;
    char *name;

    if (getrandom(&random, sizeof random, 0) != sizeof random ||
        asprintf(&name, "%s.%08" PRIx32 SUFFIX, path, random) < 0)
        return NULL;
    return name;
}

static void forget_part(struct mst_replacement *r)
{
    if (r->part == NULL)
        return;
    leave_at_signals();
    free(r->part);
    r->part = NULL;
}

/* -1 with errno. It is locked, and still there: another program that cleans up may have been
 * faster than the lock. */
static int open_part(struct mst_replacement *r)
{
    struct stat st;
    int fd;

    do {
        r->part = part_name(r->path);
        if (r->part == NULL)
            return -1;
        remove_at_signals(r->part);
        fd = open(r->part, O_WRONLY | O_CREAT | O_EXCL | O_CLOEXEC, 0666);
        if (fd >= 0 && (flock(fd, LOCK_EX) != 0 || (fstat(fd, &st) == 0 && st.st_nlink > 0)))
            return fd;   /* some file systems have no locks */
        forget_part(r);
        if (fd >= 0)
            close(fd);
    } while (fd >= 0 || errno == EEXIST);
    return -1;
}

/* It gets its name through /proc. */
static int open_nameless(const char *directory)
{
    int fd;

    if (access("/proc/self/fd", X_OK) != 0)
        return -1;
    fd = open(directory, O_TMPFILE | O_WRONLY | O_CLOEXEC, 0666);
    if (fd >= 0)
        flock(fd, LOCK_EX);
    return fd;
}

int mst_replace_begin(struct mst_replacement *r, const char *path)
{
    char *directory = directory_of(path);
    int fd = -1, error = ENOMEM;

    *r = (struct mst_replacement){ .path = strdup(path) };
    if (directory != NULL && r->path != NULL) {
        remove_left(path, directory);
        fd = open_nameless(directory);
        if (fd < 0)
            fd = open_part(r);
        error = errno;
    }
    free(directory);
    if (fd >= 0 && (r->file = fdopen(fd, "w")) != NULL)
        return 0;
    if (fd >= 0) {
        error = errno;
        close(fd);
    }
    mst_replace_end(r, false);
    return error;
}

static int give_name(const struct mst_replacement *r, const char *name)
{
    char file[64];

    snprintf(file, sizeof file, "/proc/self/fd/%d", fileno(r->file));
    return linkat(AT_FDCWD, file, AT_FDCWD, name, AT_SYMLINK_FOLLOW) == 0 ? 0 : errno;
}

/* A name that is taken can only be taken over by another name: for two system calls there is a
 * part after all. */
static int name_it(struct mst_replacement *r)
{
    int error = give_name(r, r->path);

    if (error != EEXIST)
        return error;
    do {
        forget_part(r);
        r->part = part_name(r->path);
        if (r->part == NULL)
            return ENOMEM;
        remove_at_signals(r->part);
        error = give_name(r, r->part);
    } while (error == EEXIST);
    return error;
}

/* The lock is held until the part has gone. */
static int put_in_place(struct mst_replacement *r)
{
    int lock = fcntl(fileno(r->file), F_DUPFD_CLOEXEC, 0);
    int error = fflush(r->file) != 0 ? errno : 0;

    if (error == 0 && r->part == NULL)
        error = name_it(r);
    if (fclose(r->file) != 0 && error == 0)
        error = errno;
    r->file = NULL;
    if (error == 0 && r->part != NULL && rename(r->part, r->path) != 0)
        error = errno;
    if (error != 0 && r->part != NULL)
        unlink(r->part);
    if (lock >= 0)
        close(lock);
    return error;
}

int mst_replace_end(struct mst_replacement *r, bool keep)
{
    int error = 0;

    if (keep)
        error = put_in_place(r);
    else if (r->part != NULL)
        unlink(r->part);
    if (r->file != NULL)
        fclose(r->file);
    forget_part(r);
    free(r->path);
    *r = (struct mst_replacement){ 0 };
    return error;
}
