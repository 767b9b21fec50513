/* sandbox.c - the private directory of a running stack: see sandbox.h. */
#include "lab/servers/sandbox.h"

#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <glob.h>
#include <inttypes.h>
#include <linux/magic.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/file.h>
#include <sys/stat.h>
#include <sys/statfs.h>
#include <sys/statvfs.h>
#include <sys/un.h>
#include <unistd.h>

#include "base/clock.h"
#include "base/host.h"
#include "console/diag.h"
#include "lab/servers/scripts.h"
#include "system/processes.h"

#define NAME         "mpmstat-lab."
#define SOCKET_MAX   24u                    /* a socket's name in a stack is no longer */
#define LOCK         "lab.lock"
#define FIRST_LINE   "mpmstat-lab 1"
#define PARENTS_MAX  3u
#define TERM_NS      (10 * MST_NS_PER_S)    /* for ending when asked to */
#define KILL_NS      (10 * MST_NS_PER_S)    /* from killing to giving up */
#define ROOM         (UINT64_C(1) << 29)    /* bytes free that make it worth to be in memory */
#define EMPTY_SECONDS 60                    /* without lab.lock and older: left over */

/* ---- where ------------------------------------------------------------------------ */

/* Where such directories can be. Root's servers run as another user, which has no way into
 * XDG_RUNTIME_DIR. */
static unsigned list_parents(const char *parents[PARENTS_MAX])
{
    const char *runtime = getenv("XDG_RUNTIME_DIR");
    unsigned n = 0;

    if (geteuid() == 0) {
        parents[n++] = "/run";
        parents[n++] = "/dev/shm";
    } else if (runtime != NULL && runtime[0] == '/') {
        parents[n++] = runtime;
    }
    parents[n++] = "/tmp";
    return n;
}

/* Scripts are run there (CGI wrappers), so it must allow that; Debian's /run does not. And servers
 * have Unix sockets there: PHP-FPM cuts an address that is too long, and listens elsewhere. */
static bool allows_servers(const char *directory)
{
    size_t room = sizeof ((struct sockaddr_un *)0)->sun_path;
    struct statvfs fs;

    return strlen(directory) + sizeof "/" NAME "XXXXXX/" + SOCKET_MAX <= room &&
           access(directory, W_OK | X_OK) == 0 && statvfs(directory, &fs) == 0 &&
           (fs.f_flag & ST_NOEXEC) == 0;
}

/* Boards belong in memory; but an application with its database must find room. */
static bool is_roomy_memory(const char *directory)
{
    struct statfs fs;

    return statfs(directory, &fs) == 0 && fs.f_type == TMPFS_MAGIC &&
           (uint64_t)fs.f_bavail * (uint64_t)fs.f_bsize >= ROOM;
}

int mst_sandbox_template(char path[PATH_MAX], char error[MST_ERROR_MAX])
{
    const char *parents[PARENTS_MAX], *found = NULL;
    unsigned n = list_parents(parents), i;

    for (i = n; i > 0; i--)
        if (allows_servers(parents[i - 1]))
            found = parents[i - 1];
    for (i = n; i > 0; i--)
        if (allows_servers(parents[i - 1]) && is_roomy_memory(parents[i - 1]))
            found = parents[i - 1];
    if (found == NULL)
        return mst_fail(error, "expected a directory that can be written, from which scripts can "
                        "be run, and whose path is short enough for sockets, found none: tried "
                        "/tmp and XDG_RUNTIME_DIR (as root /run and /dev/shm). Make one of them "
                        "usable");
    snprintf(path, PATH_MAX, "%s/" NAME "XXXXXX", found);
    return 0;
}

/* ---- making ----------------------------------------------------------------------- */

int mst_sandbox_note(const struct mst_sandbox *root, const char *role, pid_t pid)
{
    uint64_t start = mst_host_start_ticks((uint64_t)pid);

    return dprintf(root->lock, "%s %ld %" PRIu64 "\n", role, (long)pid, start) > 0 ? 0 : -1;
}

static int make_lock(struct mst_sandbox *root)
{
    char boot_id[64];

    root->fd = open(root->path, O_RDONLY | O_DIRECTORY | O_NOFOLLOW | O_CLOEXEC);
    if (root->fd < 0 || fchmod(root->fd, 0711) != 0)
        return -1;
    root->lock = openat(root->fd, LOCK, O_RDWR | O_CREAT | O_EXCL | O_APPEND | O_CLOEXEC, 0600);
    mst_host_boot_id(boot_id, sizeof boot_id);
    if (root->lock < 0 || flock(root->lock, LOCK_EX | LOCK_NB) != 0 ||
        dprintf(root->lock, FIRST_LINE "\nboot %s\n", boot_id) < 0)
        return -1;
    return mst_sandbox_note(root, "runner", getpid());
}

int mst_sandbox_make(struct mst_sandbox *root, char error[MST_ERROR_MAX])
{
    *root = (struct mst_sandbox){ .fd = -1, .lock = -1 };
    if (mst_sandbox_template(root->path, error) != 0)
        return -1;
    if (mkdtemp(root->path) == NULL)
        return mst_fail(error, "cannot make a directory %s: %s", root->path, strerror(errno));
    if (make_lock(root) == 0)
        return 0;
    mst_fail(error, "cannot lock %s/" LOCK ": %s", root->path, strerror(errno));
    mst_sandbox_close(root);
    rmdir(root->path);
    return -1;
}

void mst_sandbox_close(struct mst_sandbox *root)
{
    if (root->fd >= 0)
        close(root->fd);
    if (root->lock >= 0)
        close(root->lock);
    root->fd = root->lock = -1;
}

/* ---- removing --------------------------------------------------------------------- */

/* Removes what is in the directory, and closes it. 0, or -1 with errno. */
static int empty(int fd)
{
    DIR *dir = fdopendir(fd);
    struct dirent *entry;
    int failed = 0, below;

    if (dir == NULL) {
        close(fd);
        return -1;
    }
    while (!failed && (entry = readdir(dir)) != NULL) {
        if (strcmp(entry->d_name, ".") == 0 || strcmp(entry->d_name, "..") == 0)
            continue;
        if (unlinkat(fd, entry->d_name, 0) == 0 || errno == ENOENT)
            continue;
        below = openat(fd, entry->d_name, O_RDONLY | O_DIRECTORY | O_NOFOLLOW | O_CLOEXEC);
        failed = below < 0 || empty(below) != 0 ||
                 unlinkat(fd, entry->d_name, AT_REMOVEDIR) != 0;
    }
    closedir(dir);
    return failed ? -1 : 0;
}

int mst_sandbox_remove(const char *path, char error[MST_ERROR_MAX])
{
    int fd = open(path, O_RDONLY | O_DIRECTORY | O_NOFOLLOW | O_CLOEXEC);

    if ((fd >= 0 && empty(fd) == 0 && rmdir(path) == 0) || errno == ENOENT)
        return 0;
    return mst_fail(error, "cannot remove %s: %s; remove it by hand", path, strerror(errno));
}

/* ---- whose processes -------------------------------------------------------------- */

#define NOTED_MAX 64u

/* What lab.lock says. */
struct noted {
    size_t   count;
    struct { uint64_t pid, start; } items[NOTED_MAX];
    uint64_t supervisor;          /* 0: not known */
};

/* False: it is of another boot, or no lab.lock of this kind: nothing in it is a process. */
static bool read_noted(const char *path, struct noted *noted)
{
    char file[PATH_MAX + 16], line[256], role[16], boot_id[64], boot_here[64];
    uint64_t pid, start;
    FILE *in;
    bool fine;

    *noted = (struct noted){ 0 };
    snprintf(file, sizeof file, "%s/" LOCK, path);
    mst_host_boot_id(boot_here, sizeof boot_here);
    in = fopen(file, "re");
    fine = in != NULL && fgets(line, sizeof line, in) != NULL &&
           strcmp(line, FIRST_LINE "\n") == 0 && fgets(line, sizeof line, in) != NULL &&
           sscanf(line, "boot %63s", boot_id) == 1 && strcmp(boot_id, boot_here) == 0;
    while (fine && noted->count < NOTED_MAX && fgets(line, sizeof line, in) != NULL) {
        if (sscanf(line, "%15s %" SCNu64 " %" SCNu64, role, &pid, &start) != 3 || start == 0)
            continue;
        if (strcmp(role, "keeper") == 0)
            noted->supervisor = pid;
        noted->items[noted->count].pid = pid;
        noted->items[noted->count++].start = start;
    }
    if (in != NULL)
        fclose(in);
    return fine;
}

static bool is_noted(const struct noted *noted, uint64_t pid, uint64_t start)
{
    size_t i;

    for (i = 0; i < noted->count; i++)
        if (noted->items[i].pid == pid && noted->items[i].start == start)
            return true;
    return false;
}

/* Whether its environment, as it was when it began, names this directory. */
static bool has_variable(uint64_t pid, const char *path)
{
    char file[64], wanted[PATH_MAX + 32], *text = malloc(1u << 18), *at;
    ssize_t n;
    bool found = false;

    snprintf(file, sizeof file, "/proc/%" PRIu64 "/environ", pid);
    snprintf(wanted, sizeof wanted, MST_SANDBOX_VARIABLE "=%s", path);
    n = text != NULL ? mst_proc_read(file, text, 1u << 18) : -1;
    for (at = text; n > 0 && at < text + n && !found; at += strlen(at) + 1)
        found = strcmp(at, wanted) == 0;
    free(text);
    return found;
}

/* Whether it has a file below the directory open. */
static bool has_file(uint64_t pid, const char *path)
{
    char file[64], link[PATH_MAX];
    size_t length = strlen(path);
    struct dirent *entry;
    bool found = false;
    ssize_t n;
    DIR *dir;

    snprintf(file, sizeof file, "/proc/%" PRIu64 "/fd", pid);
    dir = opendir(file);
    while (dir != NULL && !found && (entry = readdir(dir)) != NULL) {
        n = readlinkat(dirfd(dir), entry->d_name, link, sizeof link - 1);
        if (n <= 0)
            continue;
        link[n] = '\0';
        found = strncmp(link, path, length) == 0 && link[length] == '/';
    }
    if (dir != NULL)
        closedir(dir);
    return found;
}

static bool is_ours(const struct noted *noted, const struct mst_proc *proc, const char *path)
{
    if (proc->pid == (uint64_t)getpid() || proc->state == 'Z')
        return false;
    if (is_noted(noted, proc->pid, proc->start_ticks) || has_variable(proc->pid, path))
        return true;
    return noted->supervisor != 0 && getsid((pid_t)proc->pid) == (pid_t)noted->supervisor &&
           has_file(proc->pid, path);
}

/* Sends the signal to them: to those that are noted alone, or to all. How many there are. */
static unsigned signal_ours(const struct noted *noted, const char *path, int number,
                            bool noted_only)
{
    struct mst_proc_list list = { 0 };
    const struct mst_proc *proc;
    unsigned count = 0;
    size_t i;

    if (mst_proc_scan(&list))
        for (i = 0; i < list.count; i++) {
            proc = &list.items[i];
            if (!is_ours(noted, proc, path) ||
                (noted_only && !is_noted(noted, proc->pid, proc->start_ticks)))
                continue;
            count++;
            kill((pid_t)proc->pid, number);
        }
    mst_proc_free(&list);
    return count;
}

/* ---- cleaning --------------------------------------------------------------------- */

static void wait_a_little(void)
{
    static const struct timespec little = { .tv_nsec = 50000000 };

    nanosleep(&little, NULL);
}

/* Asks them to end, once, and waits. How many are left. */
static unsigned ask_to_end(const struct noted *noted, const char *path, bool noted_only)
{
    uint64_t began = mst_now_ns();
    unsigned left = signal_ours(noted, path, SIGTERM, noted_only);

    while (left > 0 && mst_now_ns() - began < TERM_NS) {
        wait_a_little();
        left = signal_ours(noted, path, 0, noted_only);
    }
    return left;
}

static unsigned kill_all(const struct noted *noted, const char *path)
{
    uint64_t began = mst_now_ns();
    unsigned left = signal_ours(noted, path, SIGKILL, false);

    while (left > 0 && mst_now_ns() - began < KILL_NS) {
        wait_a_little();
        left = signal_ours(noted, path, SIGKILL, false);
    }
    return left;
}

/* In the supervisor's order: the servers, whose first processes end their children; the
 * teardown; what is left. */
int mst_sandbox_clean(const char *path, char error[MST_ERROR_MAX])
{
    struct noted noted;
    bool known = read_noted(path, &noted);
    unsigned left = 0;

    if (known)
        ask_to_end(&noted, path, true);
    if (mst_scripts_teardown(path, error) != 0)
        mst_warn("%s", error);
    if (known && ask_to_end(&noted, path, false) > 0)
        left = kill_all(&noted, path);
    if (left > 0)
        return mst_fail(error, "%u processes of %s do not end even when killed", left, path);
    return mst_sandbox_remove(path, error);
}

/* Whether it is a directory that only this user can have made and changed. */
static bool is_own(const char *path, struct stat *st)
{
    return lstat(path, st) == 0 && S_ISDIR(st->st_mode) && st->st_uid == geteuid() &&
           (st->st_mode & (S_IWGRP | S_IWOTH)) == 0;
}

static void clean_one(const char *path)
{
    char file[PATH_MAX], error[MST_ERROR_MAX];
    struct stat st;
    int lock;

    if (!is_own(path, &st) || snprintf(file, sizeof file, "%s/" LOCK, path) >= PATH_MAX)
        return;
    lock = open(file, O_RDWR | O_NOFOLLOW | O_CLOEXEC);
    if (lock < 0) {
        if (errno == ENOENT && time(NULL) - st.st_mtime > EMPTY_SECONDS)
            rmdir(path);   /* killed between the two; fails where it is not empty */
        return;
    }
    if (flock(lock, LOCK_EX | LOCK_NB) == 0) {
        mst_warn("removing %s, which a killed mpmstat lab has left", path);
        if (mst_sandbox_clean(path, error) != 0)
            mst_warn("%s", error);
    }
    close(lock);
}

void mst_sandbox_clean_leftovers(void)
{
    const char *parents[PARENTS_MAX];
    unsigned n = list_parents(parents), i;
    char pattern[PATH_MAX];
    glob_t found;
    size_t k;

    for (i = 0; i < n; i++) {
        if (snprintf(pattern, sizeof pattern, "%s/" NAME "??????", parents[i]) >= PATH_MAX ||
            glob(pattern, 0, NULL, &found) != 0)
            continue;
        for (k = 0; k < found.gl_pathc; k++)
            clean_one(found.gl_pathv[k]);
        globfree(&found);
    }
}
