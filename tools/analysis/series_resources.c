/* series_resources.c - what was used of the limits over time: see series.h.
 *
 * A bin has the most that was seen in it. A counter's row is the difference between the last sample
 * in the bin and the last one in the bin before it that has any.
 */
#include <math.h>

#include "analysis/series.h"
#include "archive/query.h"
#include "base/clock.h"
#include "segment/format.h"

/* The bin of a row, -1 before the load. */
#define BIN "CASE WHEN time_ns < :start_ns THEN -1 ELSE (time_ns - :start_ns) / :width_ns END"

static struct mst_query ask(sqlite3 *db, const char *sql, int64_t id, const struct mst_bins *bins)
{
    struct mst_query q = mst_query_ask(db, sql, id);

    mst_query_set(&q, ":start_ns", (int64_t)bins->start_ns);
    mst_query_set(&q, ":width_ns", (int64_t)bins->width_ns);
    return q;
}

static double since_start(const struct mst_bins *bins, uint64_t instant_ns)
{
    return ((double)instant_ns - (double)bins->start_ns) / (double)MST_NS_PER_S;
}

/* The growth of a counter each second; NaN where it went back: another group's counter. */
static double rate(double before, double now, double seconds)
{
    return seconds > 0 && now >= before ? (now - before) / seconds : NAN;
}

/* ---- control groups ------------------------------------------------------------------ */

enum { GR_T0, GR_T1, GR_CPU, GR_CPU_LIMIT, GR_THROTTLED, GR_MEMORY, GR_MEMORY_LIMIT, GR_IO_STALL,
       GR_COLUMNS };
static const char *const group_columns[] = {
    "t0", "t1", "cpus", "cpus_limit", "throttled", "memory_bytes", "memory_limit_bytes",
    "io_stall",
};
_Static_assert(sizeof group_columns / sizeof *group_columns == GR_COLUMNS, "a name each");

struct group_sample { uint64_t time_ns; double cpu, throttled, io_stall; };

static void close_group_row(double *row, const struct group_sample *before,
                            const struct group_sample *now)
{
    double seconds = (double)(now->time_ns - before->time_ns) / (double)MST_NS_PER_S;

    row[GR_CPU] = rate(before->cpu, now->cpu, seconds);
    row[GR_THROTTLED] = rate(before->throttled, now->throttled, seconds);
    row[GR_IO_STALL] = rate(before->io_stall, now->io_stall, seconds);
}

bool mst_series_group(struct mst_table *table, sqlite3 *db, int64_t server_id,
                      const struct mst_bins *bins)
{
    struct mst_query q = ask(db,
        "SELECT " BIN " AS bin, max(time_ns) AS time_ns, max(group_cpu_ns) AS cpu, "
        "min(group_cpu_limit_milli) AS cpu_limit, max(group_throttled_ns) AS throttled, "
        "max(group_memory_bytes) AS memory, min(group_memory_limit_bytes) AS memory_limit, "
        "max(group_io_stall_ns) AS io_stall FROM samples WHERE server_id = :id "
        "AND (group_cpu_ns IS NOT NULL OR group_memory_bytes IS NOT NULL "
        "OR group_io_stall_ns IS NOT NULL) GROUP BY bin ORDER BY bin", server_id, bins);
    struct group_sample before = { .time_ns = MST_UNKNOWN }, now;
    double *row;

    *table = MST_TABLE("group", group_columns);
    for (; mst_query_next(&q); before = now) {
        now = (struct group_sample){
            .time_ns = mst_row_number(&q, "time_ns"),
            .cpu = mst_cell_seconds(mst_row_number(&q, "cpu")),
            .throttled = mst_cell_seconds(mst_row_number(&q, "throttled")),
            .io_stall = mst_cell_seconds(mst_row_number(&q, "io_stall")),
        };
        if (before.time_ns == MST_UNKNOWN || now.time_ns <= before.time_ns)
            continue;
        row = mst_table_add(table);
        row[GR_T0] = since_start(bins, before.time_ns);
        row[GR_T1] = since_start(bins, now.time_ns);
        row[GR_CPU_LIMIT] = mst_cell(mst_row_number(&q, "cpu_limit")) / 1000;
        row[GR_MEMORY] = mst_cell(mst_row_number(&q, "memory"));
        row[GR_MEMORY_LIMIT] = mst_cell(mst_row_number(&q, "memory_limit"));
        close_group_row(row, &before, &now);
    }
    return mst_query_done(&q);
}

/* ---- pools, files, ports: a row for each bin that has a sample ------------------------- */

/* The columns of the query have the names of the table's; `t` is the bin's. Ends the query. */
static bool read_bins(struct mst_table *table, struct mst_query *q, const struct mst_bins *bins)
{
    double *row;
    size_t i;

    while (mst_query_next(q)) {
        row = mst_table_add(table);
        for (i = 1; i < table->width; i++)
            row[i] = mst_cell(mst_row_number(q, table->columns[i]));
        row[0] = mst_cell(mst_row_number(q, "t")) * mst_cell_seconds(bins->width_ns);
    }
    return mst_query_done(q);
}

bool mst_series_pool(struct mst_table *table, sqlite3 *db, int64_t server_id,
                     const struct mst_summary_pool *pool, const struct mst_bins *bins)
{
    static const char *const columns[] = { "t", "busy_max", "limit" };
    struct mst_query q = ask(db,
        "SELECT " BIN " AS t, max(workers_busy) AS busy_max, min(workers_limit) AS \"limit\" "
        "FROM pool_samples WHERE server_id = :id AND label = :label AND time_ns >= :start_ns "
        "GROUP BY t ORDER BY t", server_id, bins);

    mst_query_set_text(&q, ":label", pool->label);
    *table = MST_TABLE("samples", columns);
    return read_bins(table, &q, bins);
}

/* Of each bin the process that was nearest to its limit: with max(), SQLite takes the other columns
 * from the row that has it. */
bool mst_series_files(struct mst_table *table, sqlite3 *db, int64_t server_id,
                      const struct mst_bins *bins)
{
    static const char *const columns[] = { "t", "files", "limit" };
    struct mst_query q = ask(db,
        "SELECT " BIN " AS t, files, files_limit AS \"limit\", max(1.0 * files / files_limit) "
        "FROM process_samples WHERE server_id = :id AND time_ns >= :start_ns "
        "AND files_limit > 0 GROUP BY t ORDER BY t", server_id, bins);

    *table = MST_TABLE("files", columns);
    return read_bins(table, &q, bins);
}

bool mst_series_ports(struct mst_table *table, sqlite3 *db, int64_t run_id,
                      const struct mst_summary_port *port, const struct mst_bins *bins)
{
    static const char *const columns[] = { "t", "ports" };
    struct mst_query q = ask(db,
        "SELECT " BIN " AS t, max(ports) AS ports FROM port_samples WHERE run_id = :id "
        "AND remote = :remote AND time_ns >= :start_ns GROUP BY t ORDER BY t", run_id, bins);

    mst_query_set_text(&q, ":remote", port->remote);
    *table = MST_TABLE("samples", columns);
    return read_bins(table, &q, bins);
}
