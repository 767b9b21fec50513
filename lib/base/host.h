/* host.h - where this process runs (which boot, which namespaces) and who else
 * does. A board's header names its writer's, so that readers know what they may
 * compare.
 */
#ifndef MPMSTAT_HOST_H
#define MPMSTAT_HOST_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <sys/types.h>

/* The inode of this process's namespace "pid" or "time"; 0 unknown. */
uint64_t mst_host_namespace(const char *kind);

/* /proc/sys/kernel/random/boot_id without its newline; empty where unknown. */
void mst_host_boot_id(char *to, size_t size);

/* Reads the beginning of a small file as text; false, and empty, where it cannot be. */
bool mst_host_read_text(const char *path, char *to, size_t size);

/* Jiffies a second: the grain of the kernel's coarse clock. Never 0. */
uint32_t mst_host_hz(void);

/* A process as /proc/PID/stat shows it. */
struct mst_host_process {
    char     state;         /* 'R', 'S', ..., 'Z' a zombie */
    uint64_t start_ticks;   /* clock ticks from boot to its start: with the pid, who it is */
};

/* False where there is no such process or it is not shown. */
bool mst_host_process(uint64_t pid, struct mst_host_process *process);

/* Whether the process has a mapping of the file at `path`. False also where this process may not
 * ask: the other one has more privileges then, or is another user's. */
bool mst_host_has_mapped(uint64_t pid, const char *path);

/* Whose process it is: its effective user. False as above. */
bool mst_host_process_owner(uint64_t pid, uid_t *owner);

/* Whether files of this user are root's or this process's own. */
bool mst_owner_is_ours(uid_t owner);

/* Its start_ticks alone; 0 where mst_host_process() would say false. */
uint64_t mst_host_start_ticks(uint64_t pid);

#endif
