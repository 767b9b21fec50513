/* programs.h - which programs of this machine took the CPU, and its disks, while the load ran.
 *
 * A server is not alone: a PHP-FPM behind it, a database next to it, a compiler that has nothing to
 * do with it. Programs are told by name, so that a reader sees what the CPUs were busy with, and by
 * owner: a name alone proves nothing.
 */
#ifndef MPMSTAT_PROGRAMS_H
#define MPMSTAT_PROGRAMS_H

#include <stdbool.h>
#include <stdint.h>

#include "system/ownership.h"

struct mst_program {
    char     name[16];
    enum mst_proc_owner owner;
    int64_t  cpu_ns;         /* between the two samples; what ended in between is its
                              * parent's; slightly negative where clocks disagree */
    int64_t  disk_bytes;     /* the same, of mst_proc_disk_bytes() */
    bool     disk_unknown;   /* of one of its processes at least */
};

struct mst_programs {
    struct mst_proc_list before, after;
    size_t   count, room;
    struct mst_program *items;      /* after the second sample: the busiest first */
};

/* Sample the processes before the load, and after it. Then mst_ownership_find() gives the processes
 * of p->after their owners, and mst_programs_sum() makes the list. false: /proc cannot be read, or
 * out of memory. Zero *p before the first. */
bool mst_programs_before(struct mst_programs *p);
bool mst_programs_after(struct mst_programs *p);
bool mst_programs_sum(struct mst_programs *p);
void mst_programs_free(struct mst_programs *p);

#endif
