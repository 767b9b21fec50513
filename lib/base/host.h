/* host.h - the boot and the namespaces that this process runs in, and other processes as
 * /proc shows them. A board's header names its writer's boot and namespaces, so that readers
 * know whether its times and pids mean something to them.
 */
#ifndef MPMSTAT_HOST_H
#define MPMSTAT_HOST_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <sys/types.h>

/* The inode of this process's namespace of that kind ("pid", "time"); 0: unknown. */
uint64_t mst_host_namespace(const char *kind);

/* Copies /proc/sys/kernel/random/boot_id without its newline; "" where it is unknown. */
void mst_host_boot_id(char *to, size_t size);

/* Reads the first size - 1 bytes of a file as text. Returns false, and sets "", where the file
 * cannot be read or is empty. */
bool mst_host_read_text(const char *path, char *to, size_t size);

/* Jiffies per second: the resolution of the kernel's coarse clock. Never 0. */
uint32_t mst_host_hz(void);

/* A process as /proc/PID/stat shows it. */
struct mst_host_process {
    char     state;         /* 'R', 'S', ..., 'Z' a zombie */
    uint64_t start_ticks;   /* its start, in clock ticks since boot: unique with the pid */
};

/* Returns false where no such process exists or /proc does not show it. */
bool mst_host_process(uint64_t pid, struct mst_host_process *process);

/* Whether the process has a mapping of the file at `path`. False also where this process has no
 * permission to ask: the other process has more privileges, or belongs to another user. */
bool mst_host_has_mapped(uint64_t pid, const char *path);

/* Sets the effective user of the process. Returns false as mst_host_process() does. */
bool mst_host_process_owner(uint64_t pid, uid_t *owner);

/* Whether the user is root or this process's own. */
bool mst_owner_is_ours(uid_t owner);

/* The process's start_ticks; 0 where mst_host_process() returns false. */
uint64_t mst_host_start_ticks(uint64_t pid);

#endif
