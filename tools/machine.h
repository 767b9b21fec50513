/* machine.h - the recording machine as a whole: its CPUs, its accept queues. */
#ifndef MPMSTAT_MACHINE_H
#define MPMSTAT_MACHINE_H

#include <stdint.h>

/* Counters since it was booted. MST_UNKNOWN where they cannot be read. */
struct mst_machine {
    uint64_t busy_ns, total_ns;    /* of all CPUs together: all that is not idle (nor waiting
                                    * for a disk), and all */
    uint64_t listen_overflows;     /* connections that found an accept queue full */
    uint64_t listen_drops;         /* and those that were dropped for that or another reason */
};

void mst_machine_read(struct mst_machine *machine);

#endif
