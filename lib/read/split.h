/* split.h - divides a request's time into its parts (segment/parts.def), which add up to it.
 *
 * What is measured overlaps: Apache waits for a backend while PHP runs, and PHP goes on while the
 * answer is sent. docs/measuring.md, "Parts of a request", has the rule by which each nanosecond
 * comes to one part, and split.c has the only code for it.
 */
#ifndef MPMSTAT_READ_SPLIT_H
#define MPMSTAT_READ_SPLIT_H

#include <stdint.h>

#include "read/snapshot.h"
#include "segment/parts.h"

/* What is known of a request. MST_UNKNOWN and 0 are the same here. */
struct mst_split_times {
    uint64_t queue_ns, read_ns, handle_ns, send_ns;      /* an Apache's phases */
    uint64_t intervals_ns[MST_INTERVAL_COUNT];
    /* PHP's time within handle and send (requests.h); of a PHP alone, wait and run. */
    uint64_t php_wait_ns, php_run_ns, php_send_ns;
    uint64_t php_all_ns;        /* PHP's run with what followed the response */
    uint64_t compile_ns, gc_ns; /* parts of cpu_ns */
    uint64_t cpu_ns, cpu_wait_ns, waits_ns[MST_WAIT_COUNT];   /* parts of PHP's run */
};

struct mst_split {
    uint64_t parts_ns[MST_PART_COUNT];         /* they add up to the four phases */
    uint64_t handle_run_ns, send_run_ns;       /* PHP's run by phase: both are its parts' sum */
};

/* A part is cut where it is longer than what it is a part of, so that the sum holds. */
void mst_split(struct mst_split *to, const struct mst_split_times *times);

/* Adds the parts of all requests of a label, of an Apache or of a PHP by itself. */
void mst_split_add_label(uint64_t parts_ns[MST_PART_COUNT],
                         const struct mst_snapshot_label *label);

#endif
