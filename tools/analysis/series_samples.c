/* series_samples.c - what the samples tell over time: see series.h.
 *
 * A server's counters are exact at each sample. A bin's row is the difference between the last
 * sample in it and the last one before it: so it counts everything that happened between the two,
 * not only what a sample met.
 */
#include <math.h>

#include "analysis/series.h"
#include "archive/query.h"
#include "base/clock.h"
#include "segment/format.h"

/* The bin of an instant: -1 before the first, the last one after the end. */
static int64_t bin_clamped(const struct mst_bins *bins, uint64_t instant_ns)
{
    uint64_t bin;

    if (instant_ns == MST_UNKNOWN || instant_ns < bins->start_ns)
        return -1;
    bin = (instant_ns - bins->start_ns) / bins->width_ns;
    return bin < bins->count ? (int64_t)bin : (int64_t)bins->count - 1;
}

static double since_start(const struct mst_bins *bins, uint64_t instant_ns)
{
    return ((double)instant_ns - (double)bins->start_ns) / (double)MST_NS_PER_S;
}

static double larger(double a, double b)
{
    return isnan(a) || b > a ? b : a;
}

/* The growth of a counter; NaN where it went back: another server's counter. */
static double grown(double before, double now)
{
    return now >= before ? now - before : NAN;
}

/* ---- occupancy ------------------------------------------------------------------- */

enum { OC_T0, OC_T1, OC_IDLE, OC_READING, OC_HANDLING, OC_SENDING, OC_KEEPALIVE, OC_CLOSING,
       OC_LOGGING, OC_BUSY_MAX, OC_LIMIT, OC_IN_FLIGHT_MAX, OC_CONNECTIONS_MAX, OC_LISTEN_MAX,
       OC_LISTEN_LIMIT, OC_NO_IDLE, OC_COLUMNS };
static const char *const occupancy_columns[] = {
    "t0", "t1", "idle", "reading", "handling", "sending", "keepalive", "closing", "logging",
    "busy_max", "limit", "in_flight_max", "connections_max", "listen_queue_max",
    "listen_queue_limit", "no_idle",
};
_Static_assert(sizeof occupancy_columns / sizeof *occupancy_columns == OC_COLUMNS, "a name each");

/* A sample's columns, in the order of the table's: time in each state, then gauges. */
enum { STATE_COUNTERS = 7, GAUGES = 6 };
static const char *const state_columns[STATE_COUNTERS] = {
    "idle_ns", "reading_ns", "handling_ns", "sending_ns", "keepalive_ns", "closing_ns",
    "logging_ns",
};
static const char *const gauge_columns[GAUGES] = {
    "workers_busy", "workers_limit", "in_flight", "connections", "listen_queue",
    "listen_queue_limit",
};
struct sample {
    uint64_t time_ns;
    double   states[STATE_COUNTERS], gauges[GAUGES], no_idle;
};

static struct sample read_sample(struct mst_query *q)
{
    struct sample sample = { .time_ns = mst_row_number(q, "time_ns") };
    int i;

    for (i = 0; i < STATE_COUNTERS; i++)
        sample.states[i] = mst_cell_seconds(mst_row_number(q, state_columns[i]));
    for (i = 0; i < GAUGES; i++)
        sample.gauges[i] = mst_cell(mst_row_number(q, gauge_columns[i]));
    sample.no_idle = mst_cell_seconds(mst_row_number(q, "no_idle_ns"));
    return sample;
}

/* Sets what happened from `before` to `now`; add_gauges() has set the gauges. */
static void close_row(double *row, const struct mst_bins *bins, const struct sample *before,
                      const struct sample *now)
{
    double seconds = (double)(now->time_ns - before->time_ns) / (double)MST_NS_PER_S;
    int i;

    row[OC_T0] = since_start(bins, before->time_ns);
    row[OC_T1] = since_start(bins, now->time_ns);
    for (i = 0; i < STATE_COUNTERS; i++)
        row[OC_IDLE + i] = grown(before->states[i], now->states[i]) / seconds;
    row[OC_NO_IDLE] = grown(before->no_idle, now->no_idle) / seconds;
}

static void add_gauges(double *row, const struct sample *sample)
{
    int i;

    for (i = 0; i < GAUGES; i++)
        row[OC_BUSY_MAX + i] = larger(row[OC_BUSY_MAX + i], sample->gauges[i]);
}

static void occupancy_rows(struct mst_table *table, struct mst_query *q,
                           const struct mst_bins *bins)
{
    struct sample before = { 0 }, sample, last = { 0 };
    int64_t bin = -2, at;
    double *row = NULL;

    while (mst_query_next(q)) {
        sample = read_sample(q);
        if (bin == -2) {
            before = last = sample;
            bin = -1;
            continue;
        }
        if (sample.time_ns == MST_UNKNOWN || sample.time_ns <= last.time_ns)
            continue;
        at = bin_clamped(bins, sample.time_ns);
        if (row == NULL || at != bin) {
            before = last;
            row = mst_table_add(table);
            bin = at;
        }
        add_gauges(row, &sample);
        close_row(row, bins, &before, &sample);
        last = sample;
    }
}

bool mst_series_occupancy(struct mst_table *table, sqlite3 *db, int64_t server_id,
                          const struct mst_bins *bins)
{
    struct mst_query q = mst_query_ask(db,
        "SELECT time_ns, idle_ns, reading_ns, handling_ns, sending_ns, keepalive_ns, closing_ns, "
        "logging_ns, workers_busy, workers_limit, in_flight, connections, listen_queue, "
        "listen_queue_limit, no_idle_ns FROM samples WHERE server_id = :id ORDER BY time_ns",
        server_id);

    *table = MST_TABLE("occupancy", occupancy_columns);
    occupancy_rows(table, &q, bins);
    return mst_query_done(&q);
}

/* ---- the machine ----------------------------------------------------------------- */

enum { MA_T0, MA_T1, MA_BUSY, MA_OVERFLOWS, MA_DROPS, MA_IO_STALL, MA_COLUMNS };
static const char *const machine_columns[] = { "t0", "t1", "cpu_busy", "listen_overflows",
                                               "listen_drops", "io_stall" };
_Static_assert(sizeof machine_columns / sizeof *machine_columns == MA_COLUMNS, "a name each");
struct machine_sample { uint64_t time_ns; double busy, total, overflows, drops, io_stall; };

static struct machine_sample read_machine_sample(struct mst_query *q)
{
    return (struct machine_sample){
        .time_ns = mst_row_number(q, "time_ns"), .busy = mst_cell(mst_row_number(q, "busy_ns")),
        .total = mst_cell(mst_row_number(q, "total_ns")),
        .overflows = mst_cell(mst_row_number(q, "listen_overflows")),
        .drops = mst_cell(mst_row_number(q, "listen_drops")),
        .io_stall = mst_cell_seconds(mst_row_number(q, "io_stall_ns")),
    };
}

bool mst_series_machine(struct mst_table *table, sqlite3 *db, int64_t run_id,
                        const struct mst_bins *bins)
{
    struct mst_query q = mst_query_ask(db,
        "SELECT time_ns, busy_ns, total_ns, listen_overflows, listen_drops, io_stall_ns "
        "FROM machine_samples WHERE run_id = :id ORDER BY time_ns", run_id);
    struct machine_sample before = { 0 }, last = { 0 }, now;
    int64_t bin = -2, at;
    double *row = NULL;

    *table = MST_TABLE("machine", machine_columns);
    while (mst_query_next(&q)) {
        now = read_machine_sample(&q);
        at = bin_clamped(bins, now.time_ns);
        if (bin == -2) {
            bin = -1;
            before = last = now;
            continue;
        }
        if (row == NULL || at != bin) {
            before = last;
            row = mst_table_add(table);
            bin = at;
        }
        row[MA_T0] = since_start(bins, before.time_ns);
        row[MA_T1] = since_start(bins, now.time_ns);
        if (now.total > before.total)
            row[MA_BUSY] = grown(before.busy, now.busy) / (now.total - before.total);
        row[MA_OVERFLOWS] = grown(before.overflows, now.overflows);
        row[MA_DROPS] = grown(before.drops, now.drops);
        if (row[MA_T1] > row[MA_T0])
            row[MA_IO_STALL] = grown(before.io_stall, now.io_stall) / (row[MA_T1] - row[MA_T0]);
        last = now;
    }
    return mst_query_done(&q);
}

/* ---- memory ---------------------------------------------------------------------- */

/* Keeps for each bin the reading with the largest sum. */
bool mst_series_memory(struct mst_table *table, sqlite3 *db, int64_t server_id,
                       const struct mst_bins *bins)
{
    static const char *const columns[] = { "t", "processes", "pss_bytes" };
    struct mst_query q = mst_query_ask(db,
        "SELECT time_ns, processes, max(pss_bytes) AS pss_bytes FROM memory_samples "
        "WHERE server_id = :id GROUP BY max(0, time_ns - :start_ns) / :width_ns "
        "ORDER BY time_ns", server_id);
    double *row;

    mst_query_set(&q, ":start_ns", (int64_t)bins->start_ns);
    mst_query_set(&q, ":width_ns", (int64_t)bins->width_ns);
    *table = MST_TABLE("memory", columns);
    while (mst_query_next(&q)) {
        row = mst_table_add(table);
        row[0] = since_start(bins, mst_row_number(&q, "time_ns"));
        row[1] = mst_cell(mst_row_number(&q, "processes"));
        row[2] = mst_cell(mst_row_number(&q, "pss_bytes"));
    }
    return mst_query_done(&q);
}

/* ---- counts ---------------------------------------------------------------------- */

/* A row for each of the query's, whose columns have the names of the table's. Ends the query. */
static bool read_counts(struct mst_table *table, struct mst_query *q)
{
    double *row;
    size_t i;

    while (mst_query_next(q)) {
        row = mst_table_add(table);
        for (i = 0; i < table->width; i++)
            row[i] = mst_cell(mst_row_number(q, table->columns[i]));
    }
    return mst_query_done(q);
}

/* A process with workers ended; archives of older mpmstats do not say which kind it was. */
#define WORKERS_EXIT "event = 'exit' AND coalesce(kind, 'child') IN ('child', 'php')"

/* Running out of workers is two events: the beginning, and the end, which has a duration. */
bool mst_series_lifecycle(struct mst_table *table, sqlite3 *db, int64_t server_id,
                          const struct mst_bins *bins)
{
    static const char *const columns[] = { "t", "children", "php", "requests", "helpers", "exits",
                                           "crashes", "limits", "generations", "forks_failed" };
    struct mst_query q = mst_query_ask(db,
        "SELECT max(0, time_ns - :start_ns) / :width_ns AS t, "
        "total(event = 'fork' AND kind = 'child') AS children, "
        "total(event = 'fork' AND kind = 'php') AS php, "
        "total(event = 'fork' AND kind = 'request') AS requests, "
        "total(event = 'fork' AND kind = 'helper') AS helpers, total(" WORKERS_EXIT ") AS exits, "
        "total(" WORKERS_EXIT " AND reason IN ('signal', 'killed')) AS crashes, "
        "total(event = 'limit' AND duration_ns IS NOT NULL) AS limits, "
        "total(event = 'generation') AS generations, total(event = 'fork-failed') AS forks_failed "
        "FROM lifecycle WHERE server_id = :id GROUP BY t ORDER BY t", server_id);
    size_t i;
    bool fine;

    mst_query_set(&q, ":start_ns", (int64_t)bins->start_ns);
    mst_query_set(&q, ":width_ns", (int64_t)bins->width_ns);
    *table = MST_TABLE("lifecycle", columns);
    fine = read_counts(table, &q);
    for (i = 0; i < table->rows; i++)
        table->cells[i * table->width] *= mst_cell_seconds(bins->width_ns);
    return fine;
}
