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

/* An Apache's requests by page, by label, or by handler with its backend; a PHP's by script. */
enum mst_by { MST_BY_PAGE, MST_BY_LABEL, MST_BY_HANDLER, MST_BY_SCRIPT };

/* `most`: rows with a name. False: memory ran out. Free the table in either case. */
bool mst_by_name_read(struct mst_by_name *table, enum mst_by by,
                      const struct mst_summary_server *server, size_t most);
/* A PHP's requests by other end, each with the time that a request waited for it. False: SQLite
 * failed, too. */
bool mst_by_name_ends(struct mst_by_name *ends, sqlite3 *db,
                      const struct mst_summary_server *server, size_t most);

#endif
