/* trace.h - the parts of one request's time, one after the other; they add up to it exactly.
 */
#ifndef MPMSTAT_TRACE_H
#define MPMSTAT_TRACE_H

#include <stdbool.h>
#include <stdint.h>

#include "archive/query.h"
#include "segment/format.h"

/* In the order of a trace. REST is PHP's time that is neither CPU nor a wait; HANDLE and SEND are
 * what is left of the phases without the parts that are known. */
enum mst_trace_part {
    MST_TRACE_QUEUE, MST_TRACE_H2_WAIT, MST_TRACE_TLS, MST_TRACE_READ, MST_TRACE_CHECKS,
    MST_TRACE_UPLOAD, MST_TRACE_PHP_WAIT, MST_TRACE_CPU, MST_TRACE_CPU_WAIT,
    MST_TRACE_WAITS,   /* the first of MST_WAIT_COUNT */
    MST_TRACE_REST = MST_TRACE_WAITS + MST_WAIT_COUNT,
    MST_TRACE_BACKEND, MST_TRACE_HANDLE, MST_TRACE_SEND_CLIENT, MST_TRACE_SEND_NETWORK,
    MST_TRACE_SEND_SERVER, MST_TRACE_SEND, MST_TRACE_COUNT
};

/* What is known of a request. MST_UNKNOWN and 0 are the same here. */
struct mst_trace_times {
    uint64_t queue_ns, read_ns, handle_ns, send_ns;      /* an Apache's phases */
    uint64_t intervals_ns[MST_INTERVAL_COUNT];
    /* PHP's time within handle and send (join_php.h); of a PHP alone, wait and run. */
    uint64_t php_wait_ns, php_run_ns, php_send_ns;
    uint64_t cpu_ns, cpu_wait_ns, waits_ns[MST_WAIT_COUNT];   /* parts of PHP's run */
};

/* A part is cut where it is longer than what it is a part of, so that the sum holds. */
void mst_trace(uint64_t parts_ns[MST_TRACE_COUNT], const struct mst_trace_times *times);

/* The intervals of the present row of a query, which has their columns. */
void mst_trace_read_intervals(struct mst_trace_times *times, struct mst_query *q);

/* The kind of wait of that name; MST_WAIT_COUNT: none. */
unsigned mst_trace_wait_of(const char *kind);

#endif
