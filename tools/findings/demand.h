/* demand.h - what holds a server's workers, and what its processes take: for advice on limits. */
#ifndef MPMSTAT_DEMAND_H
#define MPMSTAT_DEMAND_H

#include <sqlite3.h>
#include <stdbool.h>
#include <stdint.h>

#include "analysis/summary.h"

/* What holds workers of a server: an Apache's requests, or a PHP's. */
struct mst_demand {
    uint64_t requests;
    double   rate, held;           /* per second under load; seconds that each has a worker */
};

/* What a process takes: of rounds with different numbers of them, the slope. */
struct mst_per_process {
    bool   known, slope;
    double bytes, low, high;
};

/* The rate and the times are 0 where no request held a worker for a time that can be measured. */
struct mst_demand mst_demand_of(const struct mst_summary *run,
                                const struct mst_summary_server *server);
/* Why so many of its requests tell nothing of limits; NULL: they do. */
const char *mst_demand_obstacle(const struct mst_summary *run,
                                const struct mst_summary_server *server, uint64_t requests);

/* Whether all workers were busy, and requests waited for one for a part of their time that is a
 * finding. Also where idle connections held the workers, which is another finding. */
bool mst_demand_ran_out(const struct mst_summary_server *server);

/* False: SQLite failed. */
bool mst_per_process_read(struct mst_per_process *p, sqlite3 *db, int64_t server_id);

/* Processes of that size, upper end, that fit in MST_RAM_SHARE_MILLI of the memory; MST_UNKNOWN. */
uint64_t mst_processes_fit(const struct mst_per_process *p, uint64_t ram_bytes);

/* The machine's memory; MST_UNKNOWN where the archive does not tell. */
bool mst_ram_read(uint64_t *bytes, sqlite3 *db, int64_t run_id);

#endif
