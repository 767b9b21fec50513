/* provenance.h - what an archive tells of a run besides its numbers, a query each. Columns are
 * taken by their names (archive/query.h).
 */
#ifndef MPMSTAT_PROVENANCE_H
#define MPMSTAT_PROVENANCE_H

#include "archive/query.h"

/* name, value */
struct mst_query mst_run_environment(sqlite3 *db, int64_t run_id);
/* producer, server, mpm, sapi, target, name, version (mpmstat's in it), clock_ahead_ns,
 * clock_uncertainty_ns */
struct mst_query mst_run_servers(sqlite3 *db, int64_t run_id);
/* stream, bytes, text: the last `shown` bytes of what the load tool printed; NUL can be in it */
struct mst_query mst_run_output(sqlite3 *db, int64_t run_id, uint32_t shown);

#endif
