/* proc.c - the processes of this machine in /proc: see proc.h. */
#include "system/proc.h"

#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <time.h>
#include <unistd.h>

#include "base/array.h"
#include "base/clock.h"
#include "segment/format.h"

ssize_t mst_proc_read(const char *path, char *buffer, size_t room)
{
    int fd = open(path, O_RDONLY | O_CLOEXEC);
    ssize_t n, used = 0;
    int saved;

    if (fd < 0)
        return -1;
    do {
        n = read(fd, buffer + used, room - 1 - (size_t)used);
        if (n > 0)
            used += n;
    } while (n > 0 || (n < 0 && errno == EINTR));
    saved = errno;
    close(fd);
    buffer[used] = '\0';
    errno = saved;
    return n < 0 ? -1 : used;
}

uint64_t mst_ticks_to_ns(uint64_t ticks)
{
    return ticks * (MST_NS_PER_S / (uint64_t)sysconf(_SC_CLK_TCK));
}

/* /proc/PID/stat; the command's name in it may contain anything, ')' too. */
bool mst_proc_stat(uint64_t pid, struct mst_proc *proc)
{
    uint64_t parent, waited_user, waited_system, start;
    char state, path[64], line[1024], *name, *name_end;

    snprintf(path, sizeof path, "/proc/%" PRIu64 "/stat", pid);
    if (mst_proc_read(path, line, sizeof line) <= 0 || (name = strchr(line, '(')) == NULL ||
        (name_end = strrchr(line, ')')) == NULL)
        return false;
    if (sscanf(name_end + 1, " %c %" SCNu64 " %*d %*d %*d %*d %*u %*u %*u %*u %*u %*u %*u "
               "%" SCNu64 " %" SCNu64 " %*d %*d %*d %*d %" SCNu64,
               &state, &parent, &waited_user, &waited_system, &start) != 5)
        return false;
    *proc = (struct mst_proc){
        .pid = pid, .parent = parent, .start_ticks = start, .state = state,
        .waited_ns = mst_ticks_to_ns(waited_user) + mst_ticks_to_ns(waited_system),
    };
    *name_end = '\0';
    snprintf(proc->name, sizeof proc->name, "%s", name + 1);
    return true;
}

bool mst_proc_add(struct mst_proc_list *list, const struct mst_proc *proc)
{
    if (!mst_grow(&list->items, &list->room, list->count, sizeof *list->items))
        return false;
    list->items[list->count++] = *proc;
    return true;
}

static int by_pid(const void *a, const void *b)
{
    uint64_t x = ((const struct mst_proc *)a)->pid, y = ((const struct mst_proc *)b)->pid;

    return (x > y) - (x < y);
}

bool mst_proc_scan(struct mst_proc_list *list)
{
    DIR *dir = opendir("/proc");
    struct dirent *entry;
    struct mst_proc proc;
    bool fine = dir != NULL;

    list->count = 0;
    while (fine && (entry = readdir(dir)) != NULL) {
        if (entry->d_name[0] < '1' || entry->d_name[0] > '9')
            continue;
        if (mst_proc_stat(strtoull(entry->d_name, NULL, 10), &proc))   /* else it has just ended */
            fine = mst_proc_add(list, &proc);
    }
    if (dir != NULL)
        closedir(dir);
    if (list->count > 1)
        qsort(list->items, list->count, sizeof *list->items, by_pid);
    return fine;
}

bool mst_proc_copy(struct mst_proc_list *to, const struct mst_proc_list *from)
{
    size_t i;

    to->count = 0;
    for (i = 0; i < from->count; i++)
        if (!mst_proc_add(to, &from->items[i]))
            return false;
    return true;
}

void mst_proc_free(struct mst_proc_list *list)
{
    free(list->items);
    *list = (struct mst_proc_list){ 0 };
}

struct mst_proc *mst_proc_find(const struct mst_proc_list *list, uint64_t pid)
{
    struct mst_proc key = { .pid = pid };

    if (list->count == 0)
        return NULL;
    return bsearch(&key, list->items, list->count, sizeof key, by_pid);
}

/* From the process's own CPU clock: /proc/PID/stat has it in hundredths of a
 * second, cut off, and with a few hundred processes that adds up to seconds. */
uint64_t mst_proc_cpu(uint64_t pid)
{
    struct timespec t;
    clockid_t clock;

    if (clock_getcpuclockid((pid_t)pid, &clock) != 0 || clock_gettime(clock, &t) != 0)
        return 0;
    return (uint64_t)t.tv_sec * MST_NS_PER_S + (uint64_t)t.tv_nsec;
}

/* The number behind the name at the begin of a line; 0 where there is none. */
static uint64_t number_of(const char *text, const char *name)
{
    const char *at = strstr(text, name);

    return at != NULL ? strtoull(at + strlen(name), NULL, 10) : 0;
}

uint64_t mst_proc_disk_bytes(uint64_t pid)
{
    char path[64], text[512] = "\n";

    snprintf(path, sizeof path, "/proc/%" PRIu64 "/io", pid);
    if (mst_proc_read(path, text + 1, sizeof text - 1) <= 0)
        return errno == EACCES || errno == EPERM ? MST_UNKNOWN : 0;
    return number_of(text, "\nread_bytes: ") + number_of(text, "\nwrite_bytes: ");
}

/* Since Linux 6.2 the directory's size is the number of descriptors, with that which a call of
 * accept() has reserved; before it is 0. */
uint64_t mst_proc_files(uint64_t pid)
{
    struct dirent *entry;
    uint64_t count = 0;
    struct stat st;
    char path[64];
    DIR *dir;

    snprintf(path, sizeof path, "/proc/%" PRIu64 "/fd", pid);
    if (access(path, R_OK) != 0)
        return MST_UNKNOWN;
    if (stat(path, &st) == 0 && st.st_size > 0)
        return (uint64_t)st.st_size;
    dir = opendir(path);
    if (dir == NULL)
        return MST_UNKNOWN;
    while ((entry = readdir(dir)) != NULL)
        count += entry->d_name[0] != '.';
    closedir(dir);
    return count;
}

uint64_t mst_proc_files_limit(uint64_t pid)
{
    static const char name[] = "\nMax open files ";
    char path[64], text[4096], *at, *end;
    uint64_t limit;

    snprintf(path, sizeof path, "/proc/%" PRIu64 "/limits", pid);
    if (mst_proc_read(path, text, sizeof text) <= 0 || (at = strstr(text, name)) == NULL)
        return MST_UNKNOWN;
    at += sizeof name - 1;
    limit = strtoull(at, &end, 10);
    return end > at ? limit : MST_UNKNOWN;   /* "unlimited" */
}
