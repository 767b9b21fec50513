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

#include "analysis/name_table.h"
#include "analysis/summary.h"

/* An Apache's requests by label, and by handler with its backend; `most`: rows with a name. False:
 * SQLite failed, or memory ran out. Free both in either case. */
bool mst_by_name_apache(struct mst_by_name *labels, struct mst_by_name *handlers,
                        const struct mst_summary_server *server, size_t most);
/* A PHP's requests by script; by other end, each with the time that a request waited for it. */
bool mst_by_name_php(struct mst_by_name *scripts, struct mst_by_name *ends, sqlite3 *db,
                     const struct mst_summary_server *server, size_t most);

#endif
