/* cgroup.h - the control group of a server's parent process: the memory and the CPU that
 * it may have, and what came of that.
 *
 * A service, a container and a pod each have one. Both versions are read; where a
 * controller is not there, or the group cannot be seen from here, all is unknown.
 */
#ifndef MPMSTAT_CGROUP_H
#define MPMSTAT_CGROUP_H

#include <stdint.h>

#define MST_CGROUP_NAME_MAX 256

/* Counters since the group was made. MST_UNKNOWN where they cannot be read. */
struct mst_cgroup {
    char     name[MST_CGROUP_NAME_MAX];   /* of the group with the memory; "" not known */
    uint64_t oom_kills;        /* its processes that the kernel killed as memory ran out */
    uint64_t memory_limit;     /* bytes, the lowest above it included; MST_UNKNOWN also: none */
    uint64_t memory_stall_ns;  /* time during which any of its processes waited for memory */
    uint64_t throttled_ns;     /* for which they were held up, their share of the CPUs used up:
                                * added up over the CPUs, on which it can be at the same time */
};

void mst_cgroup_read(struct mst_cgroup *group, uint64_t pid);

#endif
