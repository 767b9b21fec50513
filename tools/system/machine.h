/* machine.h - the recording machine as a whole: its CPUs, accept queues, memory, network. */
#ifndef MPMSTAT_MACHINE_H
#define MPMSTAT_MACHINE_H

#include <sched.h>
#include <stdbool.h>
#include <stdint.h>

/* Counters since it was booted, but for what is now. MST_UNKNOWN where they cannot be
 * read. Every member is a uint64_t. */
struct mst_machine {
    uint64_t busy_ns, total_ns;    /* of the CPUs together that were asked for: all that is not
                                    * idle (nor waiting for a disk), and all */
    uint64_t stolen_ns;            /* of busy_ns: the hypervisor gave it to other machines */
    uint64_t process_ns;           /* what processes and threads took, of all CPUs */
    uint64_t listen_overflows;     /* connections that found an accept queue full */
    uint64_t listen_drops;         /* and those that were dropped for that or another reason */
    uint64_t memory_stall_ns;      /* time during which any program had to wait for memory */
    uint64_t memory_available;     /* bytes that programs can have without swapping, now */
    uint64_t oom_kills;            /* processes that the kernel killed as memory ran out */
    uint64_t runnable, blocked;    /* threads, now: that run or wait for a CPU; for a disk */
    uint64_t io_stall_ns;          /* time during which any thread had to wait for a disk */
    uint64_t cpu_stall_ns;         /* time during which any thread had to wait for a CPU */
    uint64_t context_switches;
    uint64_t forks;                /* processes and threads made */
    /* TCP segments of the network namespace: sent, sent again, and those of them that open a
     * connection. */
    uint64_t tcp_segments, tcp_retransmits, syn_retransmits;
};

/* cpus: those whose time is wanted; NULL: all. */
void mst_machine_read(struct mst_machine *machine, const cpu_set_t *cpus);

/* For which part of the last 10, 60 and 300 seconds any thread waited for a CPU, in thousandths.
 * False: the kernel does not tell. */
#define MST_PRESSURE_SPANS 3u
bool mst_machine_cpu_pressure(uint64_t milli[MST_PRESSURE_SPANS]);

#endif
