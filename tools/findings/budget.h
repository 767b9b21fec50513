/* budget.h - where the time of all requests went, part by part (segment/parts.h), for the rules.
 *
 * The parts are those of the front server's requests, with what PHP did for them. Where no Apache
 * was recorded, they are PHP's alone.
 */
#ifndef MPMSTAT_BUDGET_H
#define MPMSTAT_BUDGET_H

#include <stdbool.h>
#include <stdint.h>

#include "analysis/summary.h"

struct mst_budget {
    const struct mst_summary        *s;
    const struct mst_summary_server *front;   /* NULL: no server was recorded */
    const struct mst_summary_server *busiest; /* the run's mst_summary_front() */
    const struct mst_summary_server *php;     /* NULL: none; `front`, where that is a PHP */
    bool     fleet;                           /* one of several that mst_is_served() */
    uint64_t total_ns;                        /* of all requests of `front` */
    uint64_t ns[MST_PART_COUNT];              /* which add up to it */
    uint64_t log_ns, undelivered_ns;          /* after the total */
};

/* Of mst_summary_front(). */
struct mst_budget mst_budget_make(const struct mst_summary *s);

/* The same of another server of that run which the load tool talks to. */
struct mst_budget mst_budget_of(const struct mst_budget *run,
                                const struct mst_summary_server *front);

/* True where the load was for the server. A server that somebody only looks at meanwhile is
 * not meant: it has less than a hundredth of the requests of the busiest server. */
bool mst_is_served(const struct mst_budget *b, const struct mst_summary_server *server);

/* Thousandths of the time of all requests; 0 where there is none. */
uint64_t mst_budget_milli(const struct mst_budget *b, uint64_t part_ns);

/* The mean of a part over all requests of the front. */
uint64_t mst_budget_mean_ns(const struct mst_budget *b, uint64_t part_ns);

/* What PHP computed: its scripts, and compiling them. */
uint64_t mst_budget_php_cpu_ns(const struct mst_budget *b);

/* Time for which requests waited for a free worker: Apache's, HTTP/2's, PHP's. */
uint64_t mst_budget_for_workers_ns(const struct mst_budget *b);

/* Whether the part is a finding: it has MST_FINDING_MILLI, and a request notices it. */
bool mst_budget_counts(const struct mst_budget *b, uint64_t part_ns);

/* PHP's part of a worker's time: thousandths of php_run. */
uint64_t mst_budget_run_milli(const struct mst_budget *b, uint64_t part_ns);

/* Whether the parts of php_run are known. */
bool mst_budget_knows_run(const struct mst_budget *b);

#endif
