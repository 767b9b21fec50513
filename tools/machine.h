/* machine.h - the recording machine as a whole: its CPUs, accept queues and memory. */
#ifndef MPMSTAT_MACHINE_H
#define MPMSTAT_MACHINE_H

#include <stdint.h>

/* Counters since it was booted. MST_UNKNOWN where they cannot be read. */
struct mst_machine {
    uint64_t busy_ns, total_ns;    /* of all CPUs together: all that is not idle (nor waiting
                                    * for a disk), and all */
    uint64_t listen_overflows;     /* connections that found an accept queue full */
    uint64_t listen_drops;         /* and those that were dropped for that or another reason */
    uint64_t memory_stall_ns;      /* time during which any program had to wait for memory */
    uint64_t oom_kills;            /* processes that the kernel killed for want of memory */
};

void mst_machine_read(struct mst_machine *machine);

#endif
