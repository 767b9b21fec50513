/* host.c - boot, namespaces and processes: see host.h. Writers ask when they make a board,
 * readers before they trust a pid.
 */
#include "base/host.h"

#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <sys/sysmacros.h>
#include <time.h>
#include <unistd.h>

#include "base/clock.h"

uint64_t mst_host_namespace(const char *kind)
{
    char link[32];
    struct stat st;

    snprintf(link, sizeof link, "/proc/self/ns/%s", kind);
    return stat(link, &st) == 0 ? (uint64_t)st.st_ino : 0;
}

bool mst_host_read_text(const char *path, char *to, size_t size)
{
    int fd = open(path, O_RDONLY | O_CLOEXEC);
    size_t length = 0;
    ssize_t n = 0;

    while (fd >= 0 && length < size - 1 && (n = read(fd, to + length, size - 1 - length)) > 0)
        length += (size_t)n;
    to[length] = '\0';
    if (fd >= 0)
        close(fd);
    return fd >= 0 && n >= 0 && length > 0;
}

void mst_host_boot_id(char *to, size_t size)
{
    mst_host_read_text("/proc/sys/kernel/random/boot_id", to, size);
    to[strcspn(to, "\n")] = '\0';
}

/* CLOCK_MONOTONIC_COARSE advances with the jiffies. sysconf(_SC_CLK_TCK) does not help: it is
 * the ABI's constant 100. */
uint32_t mst_host_hz(void)
{
    struct timespec tick;

    if (clock_getres(CLOCK_MONOTONIC_COARSE, &tick) != 0 || tick.tv_sec != 0 || tick.tv_nsec <= 0)
        return 100;
    return (uint32_t)((MST_NS_PER_S + (uint64_t)tick.tv_nsec / 2) / (uint64_t)tick.tv_nsec);
}

bool mst_host_process(uint64_t pid, struct mst_host_process *process)
{
    char path[40], text[1024], *field;
    int i;

    snprintf(path, sizeof path, "/proc/%llu/stat", (unsigned long long)pid);
    mst_host_read_text(path, text, sizeof text);
    field = strrchr(text, ')');   /* field 2, the name, can contain any bytes */
    if (field == NULL || field[1] != ' ')
        return false;
    process->state = field[2];
    for (i = 2; field && i < 22; i++)
        field = strchr(field + 1, ' ');
    process->start_ticks = field ? strtoull(field, NULL, 10) : 0;
    return field != NULL;
}

/* /proc/PID belongs to the effective user even where the process may not be traced and the
 * files in it are root's. */
bool mst_host_process_owner(uint64_t pid, uid_t *owner)
{
    char path[40];
    struct stat st;

    snprintf(path, sizeof path, "/proc/%llu", (unsigned long long)pid);
    if (stat(path, &st) != 0)
        return false;
    *owner = st.st_uid;
    return true;
}

bool mst_owner_is_ours(uid_t owner)
{
    return owner == 0 || owner == geteuid();
}

uint64_t mst_host_start_ticks(uint64_t pid)
{
    struct mst_host_process process;

    return mst_host_process(pid, &process) ? process.start_ticks : 0;
}

/* Whether a line of /proc/PID/maps, "begin-end perms offset major:minor inode path", is a
 * mapping of that file. */
static bool is_mapping_of(const char *line, const struct stat *file, const char *path)
{
    unsigned major_number, minor_number;
    unsigned long long inode;

    /* Some file systems (btrfs) show another device here than stat() does. */
    return sscanf(line, "%*s %*s %*s %x:%x %llu", &major_number, &minor_number, &inode) == 3
        && inode == file->st_ino
        && (makedev(major_number, minor_number) == file->st_dev || strstr(line, path) != NULL);
}

bool mst_host_has_mapped(uint64_t pid, const char *path)
{
    char name[40], line[512];
    bool mapped = false;
    struct stat file;
    FILE *maps;

    if (lstat(path, &file) != 0)
        return false;
    snprintf(name, sizeof name, "/proc/%llu/maps", (unsigned long long)pid);
    maps = fopen(name, "re");
    if (maps == NULL)
        return false;
    while (!mapped && fgets(line, sizeof line, maps) != NULL)
        mapped = is_mapping_of(line, &file, path);
    fclose(maps);
    return mapped;
}
