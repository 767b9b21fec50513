/* parts.h - gathers what the phases of a server's requests consist of: an Apache's intervals, the
 * parts of PHP's php_run.
 *
 * Each set of times has a value for every request that tells, 0 where it had no such part: so the
 * means of parts that follow each other add up to the phase's. Times that are not known are
 * MST_UNKNOWN.
 */
#ifndef MPMSTAT_PARTS_H
#define MPMSTAT_PARTS_H

#include <stdbool.h>
#include <stdint.h>

#include "analysis/summary.h"
#include "segment/format.h"
#include "stats/quantile.h"

/* Zero it before use. */
struct mst_parts {
    struct mst_values intervals[MST_INTERVAL_COUNT];   /* those that are not 0 */
    uint64_t          told;            /* requests of which the intervals are known */
    struct mst_values cpu, cpu_wait, rest;             /* of php_run */
};

/* What one request of PHP's ran for. */
struct mst_parts_run { uint64_t run_ns, user_ns, system_ns, cpu_wait_ns, waits_ns; };

/* Add a request. False: out of memory. */
bool mst_parts_add_intervals(struct mst_parts *p, const uint64_t intervals_ns[MST_INTERVAL_COUNT]);
bool mst_parts_add_run(struct mst_parts *p, const struct mst_parts_run *run);

/* Makes the server's times of these parts, whose phases it has already, and frees the values. */
bool mst_parts_end(struct mst_summary_server *server, struct mst_parts *p);

#endif
