/* series_parts.c - what the parts of requests consisted of, over time: see series.h.
 *
 * The bins are those of over_time: each request is in the one in which it ended, and the means are
 * over the same requests.
 */
#include <stdlib.h>
#include <string.h>

#include "analysis/run_requests.h"
#include "analysis/series.h"
#include "archive/query.h"
#include "base/clock.h"
#include "segment/fields.h"

#define APACHE_COLUMNS (1 + MST_INTERVAL_COUNT)
#define PHP_COLUMNS    (4 + MST_WAIT_COUNT)      /* the others: t, cpu, cpu_wait, rest */
enum { PHP_CPU = 1, PHP_CPU_WAIT, PHP_REST, PHP_WAITS };

#define X_NAME(suffix, name) name,
static const char *const apache_columns[APACHE_COLUMNS] = { "t", MST_INTERVALS(X_NAME) };
static const char *const php_columns[PHP_COLUMNS] = {
    "t", "cpu", "cpu_wait", "rest", MST_WAITS(X_NAME)
};

/* Rows for all bins, whose cells are not known. */
static bool make_rows(struct mst_table *table, const struct mst_bins *bins)
{
    size_t bin;
    double *row;

    for (bin = 0; bin < bins->count; bin++) {
        row = mst_table_add(table);
        if (row == NULL)
            return false;
        row[0] = (double)bin * mst_cell_seconds(bins->width_ns);
    }
    return true;
}

/* The row of the query's column `bin`; NULL: it is in none. */
static double *row_of(const struct mst_table *table, struct mst_query *q)
{
    uint64_t bin = mst_row_number(q, "bin");

    return bin < table->rows ? &table->cells[bin * table->width] : NULL;
}

static struct mst_query ask(sqlite3 *db, const char *sql, int64_t server_id,
                            const struct mst_bins *bins)
{
    struct mst_query q = mst_query_ask(db, sql, server_id);

    mst_query_set(&q, ":start_ns", (int64_t)bins->start_ns);
    mst_query_set(&q, ":width_ns", (int64_t)bins->width_ns);
    return q;
}

/* ---- an Apache's intervals ---------------------------------------------------------------- */

static const char intervals_sql[] =
    "SELECT (start_ns + queue_ns + read_ns + handle_ns + send_ns - :start_ns) / :width_ns AS bin, "
#define X_MEAN(name) "total(" name "_ns) / count(*) AS " name ", "
#define X_COLUMN(suffix, name) X_MEAN(name)
    MST_INTERVALS(X_COLUMN)
    "count(*) AS requests " MST_FROM_APACHES_REQUESTS
    "AND start_ns + queue_ns + read_ns + handle_ns + send_ns >= :start_ns "
    "GROUP BY bin";

static bool fill_intervals(struct mst_table *table, sqlite3 *db,
                           const struct mst_summary_server *server, const struct mst_bins *bins)
{
    struct mst_query q = ask(db, intervals_sql, server->id, bins);
    double *row;
    size_t i;

    while (mst_query_next(&q)) {
        row = row_of(table, &q);
        for (i = 0; row != NULL && i < MST_INTERVAL_COUNT; i++)
            if (server->intervals[i].times.count > 0)
                row[1 + i] = mst_row_real(&q, mst_interval_names[i]) / (double)MST_NS_PER_S;
    }
    return mst_query_done(&q);
}

/* ---- what PHP did ------------------------------------------------------------------------- */

#define OF_PHP "FROM php_requests p WHERE server_id = :id AND ghost = 0 AND waits_ns IS NOT NULL " \
               "AND start_ns + run_ns >= :start_ns "
#define PHP_BIN "(start_ns + run_ns - :start_ns) / :width_ns"

static const char run_sql[] =
    "SELECT " PHP_BIN " AS bin, total(user_ns + system_ns) / count(*) AS cpu, "
    "total(cpu_wait_ns) / count(*) AS cpu_wait, "
    "total(max(0, run_ns - coalesce(user_ns + system_ns, 0) - coalesce(cpu_wait_ns, 0) "
    "- waits_ns)) / count(*) AS rest, count(*) AS requests " OF_PHP "GROUP BY bin";
/* In this order, as in read_parts.c. */
static const char waits_sql[] =
    "SELECT " PHP_BIN " AS bin, kind, total(w.wait_ns) AS sum FROM php_requests p "
    "CROSS JOIN php_waits w ON w.server_id = p.server_id AND w.key = p.key "
    "WHERE p.server_id = :id AND ghost = 0 AND start_ns + run_ns >= :start_ns "
    "GROUP BY bin, kind";

static size_t wait_of(const char *kind)
{
    size_t i = 0;

    while (i < MST_WAIT_COUNT && (kind == NULL || strcmp(kind, mst_wait_names[i]) != 0))
        i++;
    return i;
}

/* The sums of kinds are divided by the requests of their bins. */
static bool fill_waits(struct mst_table *table, sqlite3 *db, int64_t server_id,
                       const struct mst_bins *bins, const double *requests)
{
    struct mst_query q = ask(db, waits_sql, server_id, bins);
    double *row;
    size_t i;

    while (mst_query_next(&q)) {
        row = row_of(table, &q);
        i = wait_of(mst_row_text(&q, "kind"));
        if (row == NULL || i == MST_WAIT_COUNT)
            continue;
        row[PHP_WAITS + i] = mst_row_real(&q, "sum") / (double)MST_NS_PER_S /
                             requests[(size_t)(row - table->cells) / table->width];
    }
    return mst_query_done(&q);
}

static bool fill_run(struct mst_table *table, sqlite3 *db, int64_t server_id,
                     const struct mst_bins *bins, double *requests)
{
    struct mst_query q = ask(db, run_sql, server_id, bins);
    double *row;
    size_t i;

    while (mst_query_next(&q)) {
        row = row_of(table, &q);
        if (row == NULL)
            continue;
        requests[(size_t)(row - table->cells) / table->width] = mst_row_real(&q, "requests");
        row[PHP_CPU] = mst_row_real(&q, "cpu") / (double)MST_NS_PER_S;
        row[PHP_CPU_WAIT] = mst_row_real(&q, "cpu_wait") / (double)MST_NS_PER_S;
        row[PHP_REST] = mst_row_real(&q, "rest") / (double)MST_NS_PER_S;
        for (i = 0; i < MST_WAIT_COUNT; i++)
            row[PHP_WAITS + i] = 0;
    }
    return mst_query_done(&q);
}

static bool fill_php(struct mst_table *table, sqlite3 *db, int64_t server_id,
                     const struct mst_bins *bins)
{
    double *requests = calloc(bins->count + 1, sizeof *requests);
    bool fine = requests != NULL && fill_run(table, db, server_id, bins, requests) &&
                fill_waits(table, db, server_id, bins, requests);

    free(requests);
    return fine;
}

/* ---- both --------------------------------------------------------------------------------- */

static bool has_intervals(const struct mst_summary_server *server)
{
    size_t i = 0;

    while (i < MST_INTERVAL_COUNT && server->intervals[i].times.count == 0)
        i++;
    return i < MST_INTERVAL_COUNT;
}

bool mst_series_parts(struct mst_table *table, sqlite3 *db,
                      const struct mst_summary_server *server, const struct mst_bins *bins)
{
    bool php = mst_summary_is_php(server);

    *table = php ? MST_TABLE("parts", php_columns) : MST_TABLE("parts", apache_columns);
    if (php ? server->run.rest.count == 0 : !has_intervals(server))
        return true;
    return make_rows(table, bins) &&
           (php ? fill_php(table, db, server->id, bins) : fill_intervals(table, db, server, bins));
}
