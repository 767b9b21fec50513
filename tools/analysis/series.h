/* series.h - how a run went over time: tables for the charts and the CSV.
 *
 * They are read from the archive alone, and every number is made of all rows, not of a sample:
 * time is cut into bins, and each bin has its counts, sums and exact quantiles. Times in the
 * tables are seconds since the run's start.
 */
#ifndef MPMSTAT_SERIES_H
#define MPMSTAT_SERIES_H

#include <sqlite3.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "analysis/summary.h"
#include "analysis/table.h"

/* Bins of equal width from the run's start on. */
struct mst_bins {
    uint64_t start_ns, width_ns;   /* start: an instant */
    size_t   count;
};

/* At most `most` bins over the run, each as wide as a person would choose: 0.1,
 * 0.2, 0.5, 1, ... seconds. `width_ns` (0: choose) is the width instead. Returns
 * false: SQLite failed. */
bool mst_bins_make(struct mst_bins *bins, sqlite3 *db, const struct mst_summary *run,
                   size_t most, uint64_t width_ns);
/* Bins over the same time, each a whole number of these wide and not narrower than step_ns. */
struct mst_bins mst_bins_widen(const struct mst_bins *bins, uint64_t step_ns);

/* The columns of `over_time`. A client's table has them, too: its parts are not known. */
extern const char *const mst_over_time_columns[];
extern const size_t mst_over_time_count;

/* Requests over time, each in the bin in which it ended. */
struct mst_series_requests {
    struct mst_bins  bins;
    uint64_t         count, outside;   /* outside: ended in none of the bins; in `spectrum` only */
    struct mst_table over_time, spectrum, heatmap;
    /* A server's only: by worker, by HTTP status; and of the requests that ended in each bin of
     * over_time the mean of each part (segment/parts.def), which add up to their mean. */
    struct mst_table workers, statuses, parts;
};

/* What the client saw. count is 0 where the archive has no rows of it. */
bool mst_series_client(struct mst_series_requests *s, sqlite3 *db, int64_t run_id,
                       const struct mst_bins *bins, uint64_t start_step_ns);
/* What a server did: over_time also has the parts of the time and status classes. */
void mst_series_server(struct mst_series_requests *series,
                       const struct mst_summary_server *server, const struct mst_bins *bins);
void mst_series_requests_free(struct mst_series_requests *s);

/* From the samples: a row for each bin that has one. */
bool mst_series_occupancy(struct mst_table *table, sqlite3 *db, int64_t server_id,
                          const struct mst_bins *bins);
bool mst_series_machine(struct mst_table *table, sqlite3 *db, int64_t run_id,
                        const struct mst_bins *bins);
bool mst_series_memory(struct mst_table *table, sqlite3 *db, int64_t server_id,
                       const struct mst_bins *bins);
/* What was used of the limits, see struct mst_summary_resources: of control groups, with the CPUs
 * that they used and the shares of the time in which they waited; of a pool's workers; of the files
 * that one process had open; of local ports. No rows where nothing is known. */
bool mst_series_group(struct mst_table *table, sqlite3 *db, int64_t server_id,
                      const struct mst_bins *bins);
bool mst_series_pool(struct mst_table *table, sqlite3 *db, int64_t server_id,
                     const struct mst_summary_pool *pool, const struct mst_bins *bins);
bool mst_series_files(struct mst_table *table, sqlite3 *db, int64_t server_id,
                      const struct mst_bins *bins);
bool mst_series_ports(struct mst_table *table, sqlite3 *db, int64_t run_id,
                      const struct mst_summary_port *port, const struct mst_bins *bins);
/* Processes that were forked or ended in each bin. */
bool mst_series_lifecycle(struct mst_table *table, sqlite3 *db, int64_t server_id,
                          const struct mst_bins *bins);

#endif
