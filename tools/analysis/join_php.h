/* join_php.h - PHP's waiting and running times, joined to the phases of an Apache's requests. */
#ifndef MPMSTAT_JOIN_PHP_H
#define MPMSTAT_JOIN_PHP_H

#include <sqlite3.h>
#include <stdbool.h>
#include <stdint.h>

#include "analysis/summary.h"
#include "archive/query.h"

/* An Apache's request, and what PHP did during its phases. */
struct mst_joined {
    uint64_t id;                         /* of its row in server_requests */
    uint64_t start_ns, before_ns;        /* before: queue and read */
    uint64_t handle_ns, send_ns;
    uint64_t apart_ns;                   /* of handle: checks and upload, which are not PHP's */
    uint64_t handle_wait, handle_run, send_run;
    bool     joined, wait_unknown;
    /* The request of PHP's that ran longest for it, of the server php_id; php_row: its row in
     * php_requests. 0: none. By Apache's clock. */
    uint64_t php_id, php_row, php_start_ns, php_run_ns;
};

/* False stops, and the walk fails. */
typedef bool mst_join_php_each(void *context, const struct mst_joined *request);

/* Calls `each` for every request of that Apache and this run, ordered by request_id and rowid: an
 * index has them so, and nothing is sorted. joined[i] is increased by the records of the run's
 * server i that fitted; NULL: not wanted. False: SQLite failed, or `each` did. */
bool mst_join_php_walk(const struct mst_summary *s, sqlite3 *db, int64_t apache,
                      mst_join_php_each *each, void *context, uint64_t *joined);

/* PHP's times of the present row of q, which is the nth (from 0) of this Apache's requests in
 * MST_REQUESTS_ORDER and has the column id; all 0 where there is no PHP. False: the rows are not
 * those of the summary any more. */
bool mst_join_php_read(struct mst_php_times *to, const struct mst_summary_overlay *php,
                       size_t nth, struct mst_query *q);

/* One request of that Apache, by its row. `to` is zero where there is none. */
bool mst_join_php_one(struct mst_joined *to, const struct mst_summary *s, sqlite3 *db,
                      int64_t apache, uint64_t row);

#endif
