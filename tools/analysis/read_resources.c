/* read_resources.c - reads from an archive which limits a server had and what it used of them: see
 * steps.h.
 */
#include <stdlib.h>
#include <string.h>

#include "analysis/at_limit.h"
#include "analysis/steps.h"
#include "archive/query.h"
#include "base/array.h"
#include "base/saturate.h"
#include "segment/fields.h"

/* A board has 64 labels, and an archive from elsewhere can have any number. */
#define POOLS_MAX 1024u
#define PORTS_MAX 1024u
/* For more, which no board has, it is not asked what requests waited at which limit. */
#define POOLS_AT_LIMIT 64u

#define LOAD "moment IN ('during', 'end')"
/* The same from the first request's begin to the last one's end, for means and shares of time. */
#define UNDER_LOAD LOAD " AND time_ns BETWEEN :first_ns AND :last_ns"

/* A query with UNDER_LOAD. It takes all samples of LOAD where there was no load tool, or where no
 * request was recorded. */
static struct mst_query ask_under_load(sqlite3 *db, const char *sql,
                                       const struct mst_summary_server *s,
                                       const struct mst_summary *run)
{
    bool known = mst_summary_has_load(run, s);
    struct mst_query q = mst_query_ask(db, sql, s->id);

    mst_query_set(&q, ":first_ns", known ? (int64_t)s->first_ns : 0);
    mst_query_set(&q, ":last_ns", known ? (int64_t)s->last_ns : INT64_MAX);
    return q;
}

/* ---- the server's processes and control groups ---------------------------------------------- */

static bool read_files(struct mst_summary_resources *r, sqlite3 *db, int64_t server_id)
{
    struct mst_query q = mst_query_ask(db,
        "SELECT files, files_limit, pid FROM process_samples WHERE server_id = :id "
        "AND files IS NOT NULL ORDER BY 1.0 * files / files_limit DESC, files DESC, pid LIMIT 1",
        server_id);

    r->files = r->files_limit = r->files_pid = MST_UNKNOWN;
    if (mst_query_next(&q)) {
        r->files = mst_row_number(&q, "files");
        r->files_limit = mst_row_number(&q, "files_limit");
        r->files_pid = mst_row_number(&q, "pid");
    }
    return mst_query_done(&q);
}

#define GROUP_COUNTERS "SELECT group_cpu_ns AS cpu, group_throttled_ns AS throttled, " \
                       "group_io_stall_ns AS io_stall FROM samples WHERE server_id = :id "

/* Counters of a group that was made again during the load begin at 0: their growth is unknown. */
static bool read_group_counters(struct mst_summary_resources *r, sqlite3 *db, int64_t server_id)
{
    struct mst_query q = mst_query_ask(db,
        "SELECT z.cpu - a.cpu AS cpu_ns, z.throttled - a.throttled AS throttled_ns, "
        "z.io_stall - a.io_stall AS io_stall_ns FROM "
        "(" GROUP_COUNTERS "AND moment = 'before' ORDER BY rowid LIMIT 1) a, "
        "(" GROUP_COUNTERS "AND moment <> 'after' ORDER BY rowid DESC LIMIT 1) z", server_id);

    r->group_cpu_ns = r->group_throttled_ns = r->group_io_stall_ns = MST_UNKNOWN;
    if (mst_query_next(&q)) {
        r->group_cpu_ns = mst_row_number(&q, "cpu_ns");
        r->group_throttled_ns = mst_row_number(&q, "throttled_ns");
        r->group_io_stall_ns = mst_row_number(&q, "io_stall_ns");
    }
    return mst_query_done(&q);
}

static bool read_group_levels(struct mst_summary_resources *r, sqlite3 *db, int64_t server_id)
{
    struct mst_query cpu = mst_query_ask(db,
        "SELECT min(group_cpu_limit_milli) AS limit_milli FROM samples WHERE server_id = :id "
        "AND moment <> 'after'", server_id);
    struct mst_query memory = mst_query_ask(db,
        "SELECT group_memory_bytes AS bytes, group_memory_limit_bytes AS limit_bytes FROM samples "
        "WHERE server_id = :id AND moment <> 'after' AND group_memory_bytes IS NOT NULL "
        "ORDER BY 1.0 * group_memory_bytes / group_memory_limit_bytes DESC, "
        "group_memory_bytes DESC LIMIT 1", server_id);
    bool fine;

    r->group_cpu_limit_milli = r->group_memory_bytes = r->group_memory_limit_bytes = MST_UNKNOWN;
    if (mst_query_next(&cpu))
        r->group_cpu_limit_milli = mst_row_number(&cpu, "limit_milli");
    if (mst_query_next(&memory)) {
        r->group_memory_bytes = mst_row_number(&memory, "bytes");
        r->group_memory_limit_bytes = mst_row_number(&memory, "limit_bytes");
    }
    fine = mst_query_done(&cpu);
    return mst_query_done(&memory) && fine;
}

static bool read_http2_workers(struct mst_summary_server *s, sqlite3 *db,
                               const struct mst_summary *run)
{
    struct mst_summary_resources *r = &s->resources;
    struct mst_query q = ask_under_load(db,
        "SELECT max(http2_workers_busy) AS most, min(http2_workers_limit) AS \"limit\", "
        "avg(CASE WHEN " UNDER_LOAD " THEN http2_workers_busy >= http2_workers_limit END) * 1000 "
        "+ 0.5 AS full_milli FROM samples WHERE server_id = :id AND " LOAD, s, run);

    r->http2_workers = r->http2_workers_limit = r->http2_full_milli = MST_UNKNOWN;
    if (mst_query_next(&q)) {
        r->http2_workers = mst_row_number(&q, "most");
        r->http2_workers_limit = mst_row_number(&q, "limit");
        r->http2_full_milli = mst_row_number(&q, "full_milli");
    }
    return mst_query_done(&q);
}

/* ---- an FPM's pools ------------------------------------------------------------------------- */

/* After a new start of the server, limit_reached counts from 0 again. */
static bool read_pool_samples(struct mst_summary_server *s, sqlite3 *db,
                              const struct mst_summary *run)
{
    struct mst_query q = ask_under_load(db,
        "SELECT label, min(workers_limit) AS workers_limit, total(" LOAD ") AS samples, "
        "max(CASE WHEN " LOAD " THEN workers_busy END) AS max_busy, "
        "avg(CASE WHEN " UNDER_LOAD " THEN workers_busy END) * 1000 + 0.5 AS mean_milli, "
        "avg(CASE WHEN " UNDER_LOAD " THEN workers_busy >= workers_limit END) * 1000 + 0.5 "
        "AS at_limit, "
        "max(limit_reached) - min(limit_reached) AS limit_reached "
        "FROM pool_samples WHERE server_id = :id GROUP BY label ORDER BY label", s, run);
    struct mst_summary_pool *pool;

    while (s->pool_count < POOLS_MAX && mst_query_next(&q)) {
        pool = mst_append(&s->pools, &s->pool_count, sizeof *pool);
        if (pool == NULL) {
            mst_query_no_memory(&q);
            break;
        }
        *pool = (struct mst_summary_pool){
            .label = mst_row_string(&q, "label"),
            .workers_limit = mst_row_number(&q, "workers_limit"),
            .samples = mst_row_number(&q, "samples"), .max_busy = mst_row_number(&q, "max_busy"),
            .mean_busy_milli = mst_row_number(&q, "mean_milli"),
            .at_limit_milli = mst_row_number(&q, "at_limit"),
            .limit_reached = s->restarts == 0 ? mst_row_number(&q, "limit_reached") : MST_UNKNOWN,
            .wait_sum_ns = MST_UNKNOWN, .wait_max_ns = MST_UNKNOWN,
            .max_memory_bytes = MST_UNKNOWN, .waited_at_limit_ns = MST_UNKNOWN,
            .at_limit_ns = MST_UNKNOWN,
        };
        s->pool_count -= pool->label == NULL;
    }
    return mst_query_done(&q);
}

static struct mst_summary_pool *find_pool(struct mst_summary_server *s, const char *label)
{
    size_t i;

    for (i = 0; i < s->pool_count && label != NULL; i++)
        if (strcmp(s->pools[i].label, label) == 0)
            return &s->pools[i];
    return NULL;
}

#define OF_POOLS "p.server_id = :id AND p.ghost = 0 AND p.label IN " \
                 "(SELECT label FROM pool_samples WHERE server_id = :id)"

static bool read_pool_requests(struct mst_summary_server *s, sqlite3 *db)
{
    struct mst_query q = mst_query_ask(db,
        "SELECT label, count(*) AS requests, count(wait_ns) AS waited, "
        "CASE WHEN count(wait_ns) > 0 THEN total(wait_ns) END AS wait_sum_ns, "
        "max(wait_ns) AS wait_max_ns, total(run_ns) AS run_sum_ns, count(waits_ns) AS measured, "
        "max(memory_bytes) AS memory "
        "FROM php_requests p WHERE " OF_POOLS " GROUP BY label", s->id);
    struct mst_summary_pool *pool;

    while (mst_query_next(&q)) {
        pool = find_pool(s, mst_row_text(&q, "label"));
        if (pool == NULL)
            continue;
        pool->requests = mst_row_number(&q, "requests");
        pool->waited = mst_row_number(&q, "waited");
        pool->wait_sum_ns = mst_row_number(&q, "wait_sum_ns");
        pool->wait_max_ns = mst_row_number(&q, "wait_max_ns");
        pool->measured = mst_row_number(&q, "measured");
        pool->run_sum_ns = mst_row_number(&q, "run_sum_ns");
        pool->max_memory_bytes = mst_row_number(&q, "memory");
    }
    return mst_query_done(&q);
}

static bool read_limits(struct mst_at_limit *limits, struct mst_summary_server *s, sqlite3 *db)
{
    struct mst_query q = mst_query_ask(db, "SELECT label, time_ns, workers_busy >= workers_limit "
                                       "AS is_full FROM pool_samples WHERE server_id = :id "
                                       "AND is_full IS NOT NULL ORDER BY time_ns", s->id);
    struct mst_summary_pool *pool;
    bool fine = true;

    while (fine && mst_query_next(&q)) {
        pool = find_pool(s, mst_row_text(&q, "label"));
        fine = pool == NULL ||
               mst_at_limit_sample(&limits[pool - s->pools], mst_row_number(&q, "time_ns"),
                                   mst_row_number(&q, "is_full") == 1);
    }
    return mst_query_done(&q) && fine;
}

static bool read_waits_at_limits(struct mst_at_limit *limits, struct mst_summary_server *s,
                                 sqlite3 *db)
{
    struct mst_query q = mst_query_ask(db, "SELECT label, start_ns, wait_ns FROM php_requests p "
                                       "WHERE wait_ns > 0 AND " OF_POOLS, s->id);
    struct mst_summary_pool *pool;
    uint64_t start_ns, wait_ns;

    while (mst_query_next(&q)) {
        pool = find_pool(s, mst_row_text(&q, "label"));
        start_ns = mst_row_number(&q, "start_ns");
        wait_ns = mst_row_number(&q, "wait_ns");
        if (pool != NULL)
            mst_at_limit_add(&limits[pool - s->pools], mst_subtract_saturated(start_ns, wait_ns),
                             wait_ns);
    }
    return mst_query_done(&q);
}

/* Several pools have no common limit. */
static bool read_pools_at_limits(struct mst_summary_server *s, sqlite3 *db)
{
    struct mst_at_limit *limits;
    bool fine;
    size_t i;

    if (s->pool_count < 2 || s->pool_count > POOLS_AT_LIMIT)
        return true;
    limits = calloc(s->pool_count, sizeof *limits);
    if (limits == NULL)
        return false;
    fine = read_limits(limits, s, db) && read_waits_at_limits(limits, s, db);
    for (i = 0; i < s->pool_count; i++)
        s->pools[i].waited_at_limit_ns = mst_at_limit_end(&limits[i], s->first_ns, s->last_ns,
                                                          &s->pools[i].at_limit_ns);
    free(limits);
    return fine;
}

static bool read_pool_waits(struct mst_summary_server *s, sqlite3 *db)
{
    struct mst_query q = mst_query_ask(db,
        "SELECT p.label AS label, w.kind AS kind, total(w.wait_ns) AS sum_ns FROM php_requests p "
        "CROSS JOIN php_waits w ON w.server_id = p.server_id AND w.key = p.key WHERE " OF_POOLS
        " GROUP BY p.label, w.kind", s->id);
    struct mst_summary_pool *pool;
    int i;

    while (mst_query_next(&q)) {
        const char *kind = mst_row_text(&q, "kind");

        pool = find_pool(s, mst_row_text(&q, "label"));
        for (i = 0; i < MST_WAIT_COUNT && pool != NULL && kind != NULL; i++)
            if (strcmp(kind, mst_wait_names[i]) == 0)
                pool->waits_sum_ns[i] = mst_row_number(&q, "sum_ns");
    }
    return mst_query_done(&q);
}

bool mst_summary_read_resources(struct mst_summary_server *s, sqlite3 *db,
                                const struct mst_summary *run)
{
    return read_files(&s->resources, db, s->id) &&
           read_group_counters(&s->resources, db, s->id) &&
           read_group_levels(&s->resources, db, s->id) &&
           read_http2_workers(s, db, run) && read_pool_samples(s, db, run) &&
           (s->pool_count == 0 || (read_pool_requests(s, db) && read_pools_at_limits(s, db) &&
                                   read_pool_waits(s, db)));
}

/* ---- the machine's ports -------------------------------------------------------------------- */

bool mst_summary_read_ports(struct mst_summary *s, sqlite3 *db)
{
    struct mst_query q = mst_query_ask(db,
        "SELECT remote, max(ports) AS most, min(ports_limit) AS ports_limit FROM port_samples "
        "WHERE run_id = :id GROUP BY remote ORDER BY most DESC, remote", s->id);
    struct mst_summary_port *port;

    while (s->port_count < PORTS_MAX && mst_query_next(&q)) {
        port = mst_append(&s->ports, &s->port_count, sizeof *port);
        if (port == NULL) {
            mst_query_no_memory(&q);
            break;
        }
        *port = (struct mst_summary_port){
            .remote = mst_row_string(&q, "remote"), .ports = mst_row_number(&q, "most"),
            .limit = mst_row_number(&q, "ports_limit"),
        };
        s->port_count -= port->remote == NULL;
    }
    return mst_query_done(&q);
}
