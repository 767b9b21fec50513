/* demand.c - what holds a server's workers, and what its processes take: see demand.h. */
#include "findings/demand.h"

#include <math.h>
#include <string.h>

#include "analysis/bottleneck.h"
#include "analysis/thresholds.h"
#include "archive/query.h"
#include "base/clock.h"
#include "stats/distribution.h"

/* ---- demand ---------------------------------------------------------------------- */

/* Requests that ended after the load are none of its rate; another machine's clock does not tell
 * which these are. */
struct mst_demand mst_demand_of(const struct mst_summary *run,
                                const struct mst_summary_server *server)
{
    const struct mst_summary_held *held = &server->held;
    double seconds = (double)mst_summary_under_load_ns(run, server) / (double)MST_NS_PER_S;
    struct mst_demand d = { .requests = held->requests };

    if (held->requests == 0 || held->sum_ns <= 0)
        return d;
    d.held = held->sum_ns / (double)held->requests / (double)MST_NS_PER_S;
    d.rate = (double)(held->requests - (server->local ? held->late : 0)) / seconds;
    return d;
}

const char *mst_demand_obstacle(const struct mst_summary *run,
                                const struct mst_summary_server *server, uint64_t requests)
{
    if (run->duration_ns == MST_UNKNOWN)
        return "the recording did not come to its end";
    if (run->duration_ns < MST_SIZING_RUN_MIN_NS)
        return "the run was shorter than two seconds";
    if (requests < MST_SIZING_REQUESTS_MIN)
        return "fewer than 100 requests were recorded";
    return server->lost != 0 ? "records of requests were lost, or it is not known how many" : NULL;
}

bool mst_demand_ran_out(const struct mst_summary_server *server)
{
    uint64_t total = server->phases[MST_PHASE_TOTAL].sum_ns;
    enum mst_phase wait = mst_summary_is_php(server) ? MST_PHASE_PHP_WAIT : MST_PHASE_QUEUE;

    return total != MST_UNKNOWN && total > 0 && mst_summary_is_short(server) &&
           mst_summary_waits(server) &&
           (double)server->phases[wait].sum_ns > MST_FINDING_MILLI / 1000.0 * (double)total;
}

/* ---- memory ---------------------------------------------------------------------- */

struct sums { double n, x, y, xx, xy, yy; uint64_t counts; };

static bool read_memory_sums(struct sums *s, sqlite3 *db, int64_t server_id)
{
    struct mst_query q = mst_query_ask(db,
        "SELECT count(*) AS n, avg(processes) AS x, avg(pss_bytes) AS y, "
        "avg(1.0 * processes * processes) AS xx, avg(1.0 * processes * pss_bytes) AS xy, "
        "avg(1.0 * pss_bytes * pss_bytes) AS yy, count(DISTINCT processes) AS counts "
        "FROM memory_samples WHERE server_id = :id", server_id);

    memset(s, 0, sizeof *s);
    if (mst_query_next(&q))
        *s = (struct sums){
            .n = mst_row_real(&q, "n"), .x = mst_row_real(&q, "x"), .y = mst_row_real(&q, "y"),
            .xx = mst_row_real(&q, "xx"), .xy = mst_row_real(&q, "xy"),
            .yy = mst_row_real(&q, "yy"), .counts = mst_row_number(&q, "counts"),
        };
    return mst_query_done(&q);
}

/* Rounds with several numbers of processes: the slope of a line through them is one
 * more process. Else what there is divided by the processes, shared pages included:
 * more than one more would take. */
bool mst_per_process_read(struct mst_per_process *p, sqlite3 *db, int64_t server_id)
{
    struct sums s;
    double var_x, error;

    memset(p, 0, sizeof *p);
    if (!read_memory_sums(&s, db, server_id))
        return false;
    if (s.n < 1 || s.x < 1)
        return true;
    p->known = true;
    var_x = s.xx - s.x * s.x;
    p->slope = s.counts >= MST_MEMORY_COUNTS_MIN && s.n >= MST_MEMORY_COUNTS_MIN + 2 && var_x > 0;
    if (!p->slope) {
        p->bytes = p->high = s.y / s.x;
        return true;
    }
    p->bytes = (s.xy - s.x * s.y) / var_x;
    error = s.yy - s.y * s.y - p->bytes * p->bytes * var_x;
    error = MST_NORMAL_95_BOTH_SIDES * sqrt(fmax(error, 0) / var_x / (s.n - 2));
    p->low = p->bytes - error;
    p->high = p->bytes + error;
    p->slope = p->low > 0;
    if (!p->slope)
        p->bytes = p->high = s.y / s.x;
    return true;
}

uint64_t mst_processes_fit(const struct mst_per_process *p, uint64_t ram_bytes)
{
    if (!p->known || ram_bytes == MST_UNKNOWN || p->high <= 0)
        return MST_UNKNOWN;
    return (uint64_t)((double)ram_bytes * (MST_RAM_SHARE_MILLI / 1000.0) / p->high);
}

bool mst_ram_read(uint64_t *bytes, sqlite3 *db, int64_t run_id)
{
    struct mst_query q = mst_query_ask(db,
        "SELECT CAST(value AS INTEGER) AS bytes FROM environment WHERE run_id = :id "
        "AND name = 'memory_bytes'", run_id);

    *bytes = mst_query_next(&q) ? mst_row_number(&q, "bytes") : MST_UNKNOWN;
    return mst_query_done(&q);
}
