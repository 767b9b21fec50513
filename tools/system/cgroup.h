/* cgroup.h - the control group of a server's parent process: the memory and the CPU that
 * it may have, and what came of that.
 *
 * A service, a container and a pod each have one, inside others. Both versions are read, and both
 * together; where a controller is not there, or the group cannot be seen from here, all is unknown.
 */
#ifndef MPMSTAT_CGROUP_H
#define MPMSTAT_CGROUP_H

#include <limits.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#define MST_CGROUP_NAME_MAX 256

/* Where a controller's group is. */
struct mst_cgroup_place {
    char   path[PATH_MAX];     /* "": not known */
    size_t mount;              /* length of the mount point; the group's own name follows */
    bool   v2;
};

/* The groups of a process, as they were when it was looked up. */
struct mst_cgroup_watch {
    char     name[MST_CGROUP_NAME_MAX];   /* of the group with the memory; "" not known */
    struct mst_cgroup_place events;       /* that group */
    struct mst_cgroup_place memory, cpu;  /* the groups whose limits hold; without one as above */
    struct mst_cgroup_place cpu_use;
    struct mst_cgroup_place pressure;     /* its own; not known where it is the machine's root */
    uint64_t memory_limit;     /* bytes, the lowest above it included; MST_UNKNOWN also: none */
    uint64_t cpu_limit_milli;  /* the same: thousandths of a CPU */
};

/* Looks up the groups of a process. All is unknown where it is gone. */
void mst_cgroup_watch(struct mst_cgroup_watch *w, uint64_t pid);
/* The same with the texts of /proc/PID/cgroup and /proc/self/mountinfo. */
void mst_cgroup_find(struct mst_cgroup_watch *w, const char *groups, const char *mounts);

/* Counters since the group was made. MST_UNKNOWN where they cannot be read. */
struct mst_cgroup {
    char     name[MST_CGROUP_NAME_MAX];   /* of the group with the memory; "" not known */
    uint64_t oom_kills;        /* its processes that the kernel killed as memory ran out */
    uint64_t memory_limit;     /* bytes, the lowest above it included; MST_UNKNOWN also: none */
    uint64_t memory_stall_ns;  /* time during which any of its processes waited for memory */
    uint64_t throttled_ns;     /* for which they were held up, their share of the CPUs used up:
                                * added up over the CPUs, on which it can be at the same time */
};

void mst_cgroup_read(struct mst_cgroup *group, const struct mst_cgroup_watch *w);

/* What the groups that limit the process use. They can have other processes, too, whose use is
 * in it. Counters are since the group was made; MST_UNKNOWN where they cannot be read. */
struct mst_cgroup_use {
    uint64_t memory_bytes, memory_limit;      /* now */
    uint64_t cpu_ns, cpu_limit_milli;
    uint64_t throttled_ns;
    uint64_t io_stall_ns;      /* time during which any process of its own group waited for a
                                * disk */
};

void mst_cgroup_use_read(struct mst_cgroup_use *use, const struct mst_cgroup_watch *w);

#endif
