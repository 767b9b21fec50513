/* proc.h - the processes of this machine in /proc, as many as this process may see. */
#ifndef MPMSTAT_PROC_H
#define MPMSTAT_PROC_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <sys/types.h>

struct mst_proc {
    uint64_t pid, parent, start_ticks;
    char     state;            /* 'Z': it has ended and waits for its parent */
    char     name[16];         /* of the program, cut to 15 bytes by the kernel */
    uint64_t waited_ns;        /* CPU time of the children that it waited for */
    uint64_t cpu_ns;           /* its own, where the scanning code has asked for it */
    uint64_t disk_bytes;       /* the same; MST_UNKNOWN */
    unsigned char owner;       /* enum mst_proc_owner: ownership.h sets it */
    bool     ours;
    bool     seen;             /* read in this round */
    uint64_t pss_bytes, rss_bytes;
    uint64_t files, files_limit;   /* open descriptors; MST_UNKNOWN */
};

/* Whether a signal or a debugger holds it. */
static inline bool mst_proc_is_stopped(const struct mst_proc *proc)
{
    return proc->state == 'T' || proc->state == 't';
}

/* The processes of this machine, as many as this reader may see. */
struct mst_proc_list {
    size_t count, room;
    struct mst_proc *items;    /* in the order of their pids after a scan */
};

/* Reads them again; takes another list's. false: /proc cannot be read, or out of memory. */
bool mst_proc_scan(struct mst_proc_list *list);
bool mst_proc_copy(struct mst_proc_list *to, const struct mst_proc_list *from);
void mst_proc_free(struct mst_proc_list *list);
struct mst_proc *mst_proc_find(const struct mst_proc_list *list, uint64_t pid);

/* One process, where it is there; and adding one. false: it is gone; out of memory. */
bool mst_proc_stat(uint64_t pid, struct mst_proc *proc);
bool mst_proc_add(struct mst_proc_list *list, const struct mst_proc *proc);

/* The clock of /proc in nanoseconds. */
uint64_t mst_ticks_to_ns(uint64_t ticks);

/* Reads a file of /proc as a string. Its length, or -1 with errno. */
ssize_t mst_proc_read(const char *path, char *buffer, size_t room);

/* CPU time of all threads of a process, those it waited for not included, to the
 * nanosecond. 0 where it has just ended. */
uint64_t mst_proc_cpu(uint64_t pid);

/* Bytes that a process caused to be read from and written to disks, those of children that it
 * waited for included: what it writes counts as the page cache takes it, also where it is removed
 * before it is on a disk. 0: it has ended. MST_UNKNOWN: only its user and root may read that. */
uint64_t mst_proc_disk_bytes(uint64_t pid);

/* How many descriptors a process has open, and how many it may have (its soft limit). MST_UNKNOWN
 * where they cannot be read, or the process has ended. */
uint64_t mst_proc_files(uint64_t pid);
uint64_t mst_proc_files_limit(uint64_t pid);

#endif
