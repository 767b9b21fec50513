/* provenance.c - what an archive tells of a run besides its numbers: see provenance.h. */
#include "analysis/provenance.h"

struct mst_query mst_run_environment(sqlite3 *db, int64_t run_id)
{
    return mst_query_ask(db,
        "SELECT name, value FROM environment WHERE run_id = :id ORDER BY name", run_id);
}

struct mst_query mst_run_servers(sqlite3 *db, int64_t run_id)
{
    return mst_query_ask(db,
        "SELECT producer, server, mpm, sapi, target, name, version, "
        "clock_ahead_ns, clock_uncertainty_ns FROM servers WHERE run_id = :id "
        "ORDER BY id", run_id);
}

struct mst_query mst_run_output(sqlite3 *db, int64_t run_id, uint32_t shown)
{
    struct mst_query q = mst_query_ask(db,
        "SELECT stream, bytes, CAST(substr(content, -:shown) AS TEXT) AS text FROM output "
        "WHERE run_id = :id ORDER BY stream DESC", run_id);

    mst_query_set(&q, ":shown", shown);
    return q;
}
