/* bottleneck.h - what a server's requests, workers, CPUs and memory were short of: the conditions
 * of the verdict's rules. The limits are in thresholds.h. */
#ifndef MPMSTAT_BOTTLENECK_H
#define MPMSTAT_BOTTLENECK_H

#include "analysis/summary.h"

/* ---- workers ------------------------------------------------------------------------- */

/* The mean wait of the requests that waited at all. */
uint64_t mst_mean_wait_ns(const struct mst_summary_server *server);

/* The times that requests waited for a PHP worker. */
const struct mst_summary_times *mst_php_wait(const struct mst_summary_server *server);

/* What sets the number of its workers, for "Set %s to 20". */
const char *mst_workers_directive(const struct mst_summary_server *server);

/* Whether all workers were busy and requests waited, but not longer than the kernel's clock can
 * measure. */
bool mst_waits_are_too_short(const struct mst_summary_server *server);

/* Whether at least half of the busy workers' time went into a state. */
bool mst_mostly_in(const struct mst_summary_server *server, enum mst_state state);

/* Whether connections without a request held most of the workers, and requests waited. */
bool mst_starved_by_keepalive(const struct mst_summary_server *server);

bool mst_clients_are_slow(const struct mst_summary_server *server);

/* ---- CPUs ---------------------------------------------------------------------------- */

/* Whether nothing is left of the machine's CPUs. False where their time is not known. */
bool mst_cpu_is_full(const struct mst_summary *s);

/* The CPU time of the recorded servers' processes, as far as it is known. */
uint64_t mst_servers_cpu_ns(const struct mst_summary *s);

/* The CPU time of what belongs to this run: the servers and the load tool. */
uint64_t mst_own_cpu_ns(const struct mst_summary *s);

/* The CPU time that programs of this machine took: not what the hypervisor gave to others. Only
 * where the CPUs and how busy they were are known. */
uint64_t mst_cpu_worked_ns(const struct mst_summary *s);

/* What was read from and written to disks meanwhile. */
struct mst_disk_use {
    bool     of_others;                /* most of it, as far as is known of each own program */
    uint64_t own_bytes;                /* of the servers, the load tool and the recorder */
    uint64_t others_bytes;
    const struct mst_summary_program *other;   /* of those the one with the most; NULL: none */
};
struct mst_disk_use mst_disk_use_of(const struct mst_summary *s);

/* The part of the used CPU time that was none of this run's: thousandths. 0 also where the CPU time
 * of the machine's programs is not known. */
uint64_t mst_cpu_of_others_milli(const struct mst_summary *s);

/* Whether this run used half of the CPU time that was used. True where the CPU time of the
 * machine's programs is not known. */
bool mst_cpu_is_ours(const struct mst_summary *s);

/* The busiest program that is neither the servers' nor the load tool's; one of an older archive
 * only if it took more CPU time than these together. NULL: none is known to be another's. */
const struct mst_summary_program *mst_program_of_others(const struct mst_summary *s);

/* The server that the CPU limit of its control group held up longest. NULL: none was held up. */
const struct mst_summary_server *mst_throttled_server(const struct mst_summary *s);
uint64_t mst_throttled_at_least(const struct mst_summary *s,
                                const struct mst_summary_server *throttled);
uint64_t mst_throttled_at_most(const struct mst_summary *s,
                               const struct mst_summary_server *throttled);

/* Whether it was held up for a good part of the load, even if all its CPUs were at once. */
bool mst_is_throttled_for_sure(const struct mst_summary *s,
                               const struct mst_summary_server *throttled);

/* ---- memory -------------------------------------------------------------------------- */

/* The kills and the longest stall of the servers' control groups, which contain nothing else;
 * where those of the server are not known, the machine's. */
struct mst_memory_shortage {
    bool     of_groups, stall_of_groups;   /* kills are those of the groups; so is the stall */
    uint64_t kills, stall_ns;
};

struct mst_memory_shortage mst_find_memory_shortage(const struct mst_summary *s,
                                                    const struct mst_summary_server *server);

/* Whether a process of this load can be among those that the kernel killed. */
bool mst_load_was_hurt(const struct mst_summary *s);

#endif
