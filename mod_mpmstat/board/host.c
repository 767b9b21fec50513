/* host.c - which boot and which namespaces this process runs in, and who a pid
 * is. Asked by whoever makes a board, and by readers before they trust a pid.
 */
#include "host.h"

#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

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

bool mst_host_process(uint64_t pid, struct mst_host_process *process)
{
    char path[40], text[1024], *field;
    int i;

    snprintf(path, sizeof path, "/proc/%llu/stat", (unsigned long long)pid);
    mst_host_read_text(path, text, sizeof text);
    field = strrchr(text, ')');   /* field 2, the name, may hold anything */
    if (field == NULL || field[1] != ' ')
        return false;
    process->state = field[2];
    for (i = 2; field && i < 22; i++)
        field = strchr(field + 1, ' ');
    process->start_ticks = field ? strtoull(field, NULL, 10) : 0;
    return field != NULL;
}

uint64_t mst_host_start_ticks(uint64_t pid)
{
    struct mst_host_process process;

    return mst_host_process(pid, &process) ? process.start_ticks : 0;
}
