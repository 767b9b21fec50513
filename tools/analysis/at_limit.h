/* at_limit.h - how much of what requests waited for workers passed while a server's workers were at
 * their limit and all busy.
 *
 * What else they waited for does not concern the limit: processes were still to be started. The
 * server counts that time itself; samples tell how much of it there was until when, and between
 * two samples it is taken as even.
 */
#ifndef MPMSTAT_AT_LIMIT_H
#define MPMSTAT_AT_LIMIT_H

#include <sqlite3.h>
#include <stdbool.h>
#include <stdint.h>

#include "stats/quantile.h"

/* Zero it before use. Both lists are as long as there are samples, by time. */
struct mst_at_limit {
    struct mst_values at_ns;      /* the samples' instants */
    struct mst_values full_ns;    /* the time at the limit until then */
    uint64_t          waited_ns;  /* of the requests so far */
    bool              was_full;   /* at the latest sample; of a pool */
};

/* Reads a server's samples. False: the query failed, or memory ran out. */
bool mst_at_limit_begin(struct mst_at_limit *a, sqlite3 *db, int64_t server_id);

/* Adds the next sample of a pool instead: a pool does not count the time at its limit. Of the time
 * between two samples, half counts as the first one says, half as the second one. False: out of
 * memory. */
bool mst_at_limit_sample(struct mst_at_limit *a, uint64_t time_ns, bool is_full);

/* A request waited for wait_ns from this instant on. */
void mst_at_limit_add(struct mst_at_limit *a, uint64_t from_ns, uint64_t wait_ns);

/* Frees the lists. Returns for how long requests waited while the workers were at the limit, and
 * sets *full_ns to the time at the limit. first_ns, last_ns: when the first request began and the
 * last one ended. Both times are MST_UNKNOWN where the workers were never at the limit, and where
 * samples and requests go by different clocks. */
uint64_t mst_at_limit_end(struct mst_at_limit *a, uint64_t first_ns, uint64_t last_ns,
                          uint64_t *full_ns);

#endif
