/* requests.h - walks the requests of a server, each with what PHP did for it and its parts.
 *
 * This is the one place where rows of requests become times: tables, findings and exports take the
 * parts from here.
 */
#ifndef MPMSTAT_REQUESTS_H
#define MPMSTAT_REQUESTS_H

#include <sqlite3.h>
#include <stdbool.h>
#include <stdint.h>

#include "analysis/summary.h"
#include "archive/query.h"
#include "read/split.h"

/* A request of an Apache, or of a PHP. It is valid during the call that gets it. */
struct mst_walked {
    uint64_t id;                         /* the rowid in server_requests, or php_requests */
    uint64_t start_ns;                   /* a PHP's: with its wait */
    uint64_t total_ns;                   /* its parts add up to it */
    uint64_t status, worker, held_ns;
    bool     aborted;
    struct mst_split split;
    uint64_t queue_ns, read_ns, handle_ns, send_ns;   /* an Apache's */
    uint64_t front_ns;                   /* an Apache's: the time before start_ns; MST_UNKNOWN */
    const char *label;                   /* "": not recorded; of a PHP its pool */
    const char *handler;                 /* an Apache's: what it was handed to; "" as in the next */
    const char *path;
    const char *script;                  /* a PHP's */
    bool     has_php, wait_unknown;      /* an Apache's: PHP has a record of it */
    uint64_t php_row;                    /* in php_requests: of PHP's request that ran longest for
                                          * it, or a PHP's own; 0: none */
    /* What follows is not kept (kept.h): only a reading from the archive has it. */
    const struct mst_split_times *times; /* as measured */
    bool     is_ghost;                   /* it was in flight before the load began */
    bool     is_page;                    /* an Apache's: of /mpm-status */
    bool     has_worker;
    uint64_t bytes;                      /* an Apache's: of its answer; MST_UNKNOWN */
    bool     fatal, timeout, uncached;   /* a PHP's, as the next two */
    bool     is_measured;                /* what it waited for is known */
    uint64_t memory_bytes;               /* MST_UNKNOWN */
    /* The server of the request php_row, its start by Apache's clock, and its run. */
    uint64_t php_id, php_start_ns, php_longest_ns;
};

/* Whether it counts as the load's: run_requests.h. */
bool mst_walked_counts(const struct mst_walked *request);

/* False stops, and the walk fails. */
typedef bool mst_walk_each(void *context, const struct mst_walked *request);

/* Calls `each` for every request of that server, also for those that do not count as the load's,
 * which are not joined; of an Apache in the order of request_id and rowid: an index has them so,
 * and nothing is sorted. joined[i] is increased by the records of the run's server i that fitted an
 * Apache's; NULL: not wanted. False: SQLite failed, or `each` did.
 *
 * A summary has called it, and keeps the requests: mst_kept_walk() is for all who do not need
 * php_id and what follows it. */
bool mst_requests_read(const struct mst_summary *s, sqlite3 *db,
                       const struct mst_summary_server *server, mst_walk_each *each, void *context,
                       uint64_t *joined);

/* Calls `each` for one request of that server, by its row, where there is such a row. */
bool mst_requests_read_one(const struct mst_summary *s, sqlite3 *db,
                           const struct mst_summary_server *server, uint64_t row,
                           mst_walk_each *each, void *context);

#endif
