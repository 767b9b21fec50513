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
    double   rate, held, held_deviation;   /* per second, while the load ran; seconds */
    double   workers, low, high;           /* rate x held, and its 95 % interval */
};

/* What a process takes: of rounds with different numbers of them, the slope. */
struct mst_per_process {
    bool   known, slope;
    double bytes, low, high;
};

/* Of 0 requests where none held a worker. */
struct mst_demand mst_demand_of(const struct mst_summary *run,
                                const struct mst_summary_server *server);
/* False: SQLite failed. */
bool mst_per_process_read(struct mst_per_process *p, sqlite3 *db, int64_t server_id);

/* Processes of that size, upper end, that fit in MST_RAM_SHARE_MILLI of the memory; MST_UNKNOWN. */
uint64_t mst_processes_fit(const struct mst_per_process *p, uint64_t ram_bytes);

/* The machine's memory; MST_UNKNOWN where the archive does not tell. */
bool mst_ram_read(uint64_t *bytes, sqlite3 *db, int64_t run_id);

#endif
