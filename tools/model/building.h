/* building.h - a recorded run while it is made a system: what the files that do so share.
 *
 * recorded.c calls them in this order. Of each server that the load was for: limits.c makes the
 * gates and CPUs, works.c reads PHP's waits, unseen.c finds the ends that let in one at a time,
 * works.c makes the steps of the requests, and unseen.c spreads what is known of the server's
 * processes over them. Then arrivals.c makes the load, and unseen.c spreads the rest.
 */
#ifndef MPMSTAT_MODEL_BUILDING_H
#define MPMSTAT_MODEL_BUILDING_H

#include <math.h>

#include "analysis/requests.h"
#include "base/clock.h"
#include "model/recorded.h"
#include "stats/quantile.h"

#define MST_ALWAYS UINT32_MAX   /* a limit that is none */

/* NAN: it is not known. */
static inline double mst_in_seconds(uint64_t ns)
{
    return ns != MST_UNKNOWN ? (double)ns / (double)MST_NS_PER_S : NAN;
}

static inline uint32_t mst_or_default(uint64_t number, uint32_t otherwise)
{
    return number < MST_ALWAYS ? (uint32_t)number : otherwise;
}

static inline double mst_or_zero(double value)
{
    return isnan(value) ? 0 : value;
}

/* The waits for an end, of all requests. */
struct mst_end_sum {
    double   seconds;
    uint64_t requests, long_ones;   /* long_ones: that waited at all */
    size_t   gate;                  /* of an end that lets in one at a time; 0: it is none */
    bool     is_full;               /* it always had one inside */
    double   inside;                /* of such a one: the time for which each is inside */
    double   front_part;            /* the part of its time in which processes of Apache compute */
};

/* A wait of a PHP request for an end; end SIZE_MAX: there is none, the row has the pool alone. */
struct mst_recorded_wait { uint64_t row; size_t gate, end; double seconds; };

/* When a request came, and to which of the fronts. */
struct mst_arrival { uint64_t ns; uint32_t front; };

struct mst_building {
    struct mst_model_run *r;
    struct mst_model_server *at;    /* the server whose requests are made steps */
    struct mst_recorded_wait *waits;    /* by row */
    size_t   wait_count, wait_room;
    struct mst_arrival *arrivals;
    size_t   arrival_count, arrival_room;
    struct mst_values totals;       /* times of all requests; of several servers */
    size_t   step_room, work_room, own_room;
    uint64_t seen;
    double   stands_for;            /* requests that each one stands for that is taken */
    size_t   front_cpus, php_cpus;
    double   php_seconds;           /* the sum of PHP's CPU time */
    double   php_requests, unlocked;         /* of a request's run: without locks */
    double   all_php_seconds, all_php_cpu_wait;   /* of all servers: the same, and of its waits for
                                                   * CPUs */
    struct mst_end_sum *sums;       /* of each end */
    size_t   sum_count;
    bool     has_php_gate, failed;
};

/* A gate of that name, the last front's; more than MST_ALWAYS is no limit. Returns its number. */
size_t mst_model_add_gate(struct mst_model_run *r, const char *name, uint64_t limit);

/* ---- limits.c ---- */
void mst_building_make_cpus(struct mst_building *b);
void mst_building_make_gates(struct mst_building *b);
void mst_building_make_tool_gate(struct mst_building *b);

/* ---- works.c ---- */
size_t mst_building_add_end(struct mst_building *b, const char *kind, const char *name);
/* False: SQLite failed. */
bool mst_building_read_waits(struct mst_building *b);
/* The steps of a request, for mst_kept_walk(). */
bool mst_building_take(void *context, const struct mst_walked *w);

/* ---- unseen.c ---- */
void mst_building_make_serial_ends(struct mst_building *b);
void mst_building_spread_server_cpu(struct mst_building *b);
void mst_building_spread_cpu(struct mst_building *b);
void mst_building_find_turns(struct mst_building *b);

/* ---- arrivals.c ---- */
void mst_building_measure(struct mst_building *b);
/* False: SQLite failed. */
bool mst_building_make_keepalive(struct mst_building *b);
void mst_building_make_load(struct mst_building *b);

#endif
