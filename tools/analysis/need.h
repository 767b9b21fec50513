/* need.h - one of several servers that the load tool talked to, or a PHP behind one of them: how
 * many workers it has, how many its load wanted, and what bounds their number. findings/needs.c
 * makes them.
 */
#ifndef MPMSTAT_NEED_H
#define MPMSTAT_NEED_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "analysis/finding.h"

/* The names are promises (JSON). */
enum mst_bound {
    MST_BOUND_NONE,        /* no request waited for workers, or it is not known */
    MST_BOUND_LIMIT,       /* the limit alone: with as many as advised each request has a worker */
    MST_BOUND_CPU,         /* the CPUs are full before, or are already */
    MST_BOUND_ONE_BY_ONE,  /* what they wait for lets in one request at a time */
    MST_BOUND_MEMORY,      /* more processes do not fit in the memory */
    MST_BOUND_PHP,         /* an Apache's: the workers of the PHP behind it ran out, too */
    MST_BOUND_KEEPALIVE,   /* connections without a request hold most of the workers */
    MST_BOUND_COUNT
};
extern const char *const mst_bound_names[MST_BOUND_COUNT];   /* NULL: MST_BOUND_NONE */

struct mst_summary_server;
struct mst_summary_pool;

struct mst_need {
    const struct mst_summary_server *server;
    const struct mst_summary_pool   *pool;   /* of an FPM with several: each has its limit. NULL */
    const char *directive;      /* "MaxRequestWorkers" */
    const char *why_not;        /* why it cannot be told; NULL: it can */
    bool     ran_out;           /* all were busy, and requests waited for one */
    uint64_t limit, max_busy;
    uint64_t wanted;            /* at once; where they did not run out, max_busy. MST_UNKNOWN: more
                                 * than there are, and an average does not tell how many */
    uint64_t advised;           /* the limit to set: as it is where it is enough, or more cannot
                                 * help. MST_UNKNOWN: higher, and it is not known how high */
    uint64_t enough;            /* where they did not run out: the least limit with which requests
                                 * take no more than 3 % longer than with a worker for each, by the
                                 * model, while no other workers run out; MST_UNKNOWN: nobody asked
                                 * for it, or the run cannot be simulated */
    uint64_t memory_bytes;      /* of `wanted`, at most; MST_UNKNOWN */
    enum mst_bound bound;
    char     action[MST_ACTION_MAX], predicted[MST_PREDICTED_MAX];   /* as a finding's; "" */
    struct mst_changes changes;
};

#endif
