/* by_name.h - the requests of a server by name: by label, by what Apache handed them to, by PHP's
 * script; and what PHP waited for, by other end.
 *
 * Every number is of all requests. A table is bounded: the names that took the most time have a
 * row each, all others have one together.
 */
#ifndef MPMSTAT_BY_NAME_H
#define MPMSTAT_BY_NAME_H

#include <sqlite3.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "analysis/summary.h"
#include "analysis/trace.h"

struct mst_by_name_row {
    char    *name;                      /* NULL: all others */
    size_t   names;                     /* 1; of the others, how many they are */
    uint64_t requests, sum_ns;
    uint64_t p50_ns, p95_ns, p99_ns;    /* nearest rank; MST_UNKNOWN: of too few requests */
    uint64_t errors_4xx, errors_5xx, aborted;
    uint64_t parts_ns[MST_TRACE_COUNT]; /* sums; of an other end: none */
};

struct mst_by_name {
    struct mst_by_name_row *rows;       /* the longest time first, the others last */
    size_t   count;                     /* 0: there are no such names */
    uint64_t sum_ns;                    /* of all requests, also those without a name */
};

/* An Apache's requests by label, and by handler with its backend; `most`: rows with a name. False:
 * SQLite failed, or memory ran out. Free both in either case. */
bool mst_by_name_apache(struct mst_by_name *labels, struct mst_by_name *handlers,
                        sqlite3 *db, const struct mst_summary_server *server, size_t most);
/* A PHP's requests by script; by other end, each with the time that a request waited for it. */
bool mst_by_name_php(struct mst_by_name *scripts, struct mst_by_name *ends, sqlite3 *db,
                     const struct mst_summary_server *server, size_t most);
void mst_by_name_free(struct mst_by_name *table);

#endif
