/* at_limit.h - how much of what requests waited for workers passed while a server's workers were at
 * their limit and all busy.
 *
 * What they waited else is no matter of the limit: processes were still to be started. The server
 * counts that time itself; samples tell how much of it there was until when, and between two
 * samples it is taken as even.
 */
#ifndef MPMSTAT_AT_LIMIT_H
#define MPMSTAT_AT_LIMIT_H

#include <sqlite3.h>
#include <stdbool.h>

#include "analysis/summary.h"
#include "stats/quantile.h"

/* Zero it before use. Both lists are as long as there are samples, by time. */
struct mst_at_limit {
    struct mst_values at_ns;      /* the samples' instants */
    struct mst_values full_ns;    /* the time at the limit until then */
    uint64_t          waited_ns;  /* of the requests so far */
};

/* False: the query failed, or memory ran out. */
bool mst_at_limit_begin(struct mst_at_limit *a, sqlite3 *db, int64_t server_id);

/* A request waited for wait_ns from this instant on. */
void mst_at_limit_add(struct mst_at_limit *a, uint64_t from_ns, uint64_t wait_ns);

/* Sets the server's waited_at_limit_ns, once its first_ns and last_ns are known, and frees the
 * lists. */
void mst_at_limit_end(struct mst_at_limit *a, struct mst_summary_server *server);

#endif
