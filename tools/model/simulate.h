/* simulate.h - runs a system: requests are drawn at random from the recorded ones, whole, and go
 * through gates, CPUs and ends as if it were them. The same seed gives the same result.
 */
#ifndef MPMSTAT_MODEL_SIMULATE_H
#define MPMSTAT_MODEL_SIMULATE_H

#include "model/system.h"
#include "stats/quantile.h"

struct mst_simulation {
    uint64_t seed;
    double   warm_up;           /* seconds that are simulated and not counted */
    double   seconds;           /* then counted, at least; simulated time */
    bool     at_front;          /* times are until a request leaves its front's gate, as a server
                                 * counts them, else until the load tool has counted the answer */
    uint64_t most_requests;     /* ends it before, too; warm-up included */
    const size_t *drawn;        /* the work to take, by number, in the place of each; NULL: each
                                 * itself */
};

/* Of a gate. */
struct mst_gate_use {
    double inside;              /* requests inside, on average; idle connections included */
    double waiting;             /* requests that wait for it, on average */
    double full;                /* the part of the time in which all its room was taken: 0 to 1 */
    uint32_t most;              /* requests inside at once, at most */
    uint64_t retries;           /* requests that found the backlog full */
};

/* Of all requests, or of a front's. */
struct mst_simulated_times {
    uint64_t requests;          /* answered in the counted seconds */
    double   rate;              /* per second */
    double   mean;              /* seconds of a request */
    struct mst_values times;    /* the same of each request in ns, sorted */
};

struct mst_simulated {
    double   seconds;           /* that were counted */
    struct mst_simulated_times all;
    struct mst_simulated_times *fronts;   /* of several: of each one's requests, as the server
                                           * counts them; NULL: there is one */
    size_t   front_count;
    struct mst_gate_use *gates;
    double  *cpu_used;          /* CPUs in use on average, of each of the system's */
    double  *cpu_stretch;       /* the time that computing takes, divided by the CPU time: 1 or
                                 * more; 1 also where nothing computed */
    double  *at_ends;           /* requests that wait for each end, on average */
    bool     overloaded;        /* requests came faster than they were answered, and piled up */
};

/* The arrays are the pool's, but the times: mst_simulated_free(). */
void mst_simulate(struct mst_simulated *result, const struct mst_system *system,
                  const struct mst_simulation *how, apr_pool_t *pool);
void mst_simulated_free(struct mst_simulated *result);

#endif
