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
    double   rate, held, held_deviation;   /* per second under load; seconds */
    double   seconds;                      /* under load: mst_summary_under_load_ns() */
    double   workers, low, high;           /* rate x held, and its 95 % interval */
};

/* What a process takes: of rounds with different numbers of them, the slope. */
struct mst_per_process {
    bool   known, slope;
    double bytes, low, high;
};

/* Advice is never for more workers than this: an archive from elsewhere can have any numbers. */
#define MST_WORKERS_MOST 1e15

/* The rate and the times are 0 where no request held a worker for a time that can be measured. */
struct mst_demand mst_demand_of(const struct mst_summary *run,
                                const struct mst_summary_server *server);
/* Why the demand tells nothing of limits; NULL: it does. */
const char *mst_demand_obstacle(const struct mst_summary *run,
                                const struct mst_summary_server *server,
                                const struct mst_demand *d);

/* Whether all workers were busy, and requests waited for one for a part of their time that is a
 * finding. Also where idle connections held the workers, which is another finding. */
bool mst_demand_ran_out(const struct mst_summary_server *server);

/* Where requests wait for a worker of this server. */
const struct mst_summary_times *mst_demand_waiting(const struct mst_summary_server *server);

/* Whether connections without a request held workers, too: not on event. */
bool mst_keepalive_holds(const struct mst_summary_server *server);

/* Where they ran out: how many requests there were at once on average, waiting and with a worker,
 * with the workers that idle connections held. */
double mst_demand_at_once(const struct mst_summary_server *server, const struct mst_demand *d);

/* Where workers did not run out: how many are enough for 99 % of the time, if requests arrive at
 * random and hold so many workers on average. mst_demand_enough(): no fewer than were seen busy. */
double mst_poisson_most(double mean);
uint64_t mst_demand_enough(const struct mst_summary_server *server, const struct mst_demand *d);

/* False: SQLite failed. */
bool mst_per_process_read(struct mst_per_process *p, sqlite3 *db, int64_t server_id);

/* Processes of that size, upper end, that fit in MST_RAM_SHARE_MILLI of the memory; MST_UNKNOWN. */
uint64_t mst_processes_fit(const struct mst_per_process *p, uint64_t ram_bytes);

/* The machine's memory; MST_UNKNOWN where the archive does not tell. */
bool mst_ram_read(uint64_t *bytes, sqlite3 *db, int64_t run_id);

#endif
