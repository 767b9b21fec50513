/* system.h - a recorded system as the simulator takes it: what requests do, what they need for it,
 * and how they come. Several servers behind a balancer are one system: a client that waits for the
 * slow one sends nothing to the others.
 *
 * A request is a list of steps. A gate lets in so many requests at a time: the workers of a server,
 * or an other end that serves one at a time. CPUs are shared evenly by all that compute. An end
 * answers after the time that was recorded, however many ask (a delay).
 *
 * All times are seconds.
 */
#ifndef MPMSTAT_MODEL_SYSTEM_H
#define MPMSTAT_MODEL_SYSTEM_H

#include <apr_pools.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

/* ---- what a request does ----------------------------------------------------------- */

enum mst_step_kind {
    MST_STEP_ENTER,       /* waits until the gate `at` lets it in */
    MST_STEP_LEAVE,       /* makes room at the gate `at` */
    MST_STEP_COMPUTE,     /* takes `seconds` of CPU time of the CPUs `at` */
    MST_STEP_WAIT         /* waits `seconds` for `end` */
};

struct mst_model_step {
    enum mst_step_kind kind;
    uint32_t at;          /* the gate, or the CPUs */
    uint32_t end;         /* of COMPUTE and WAIT: whose time it is; of COMPUTE, who works for it */
    double   seconds;
};

/* A recorded request. */
struct mst_work {
    size_t first, count;  /* of the system's steps */
};

/* ---- what it needs ----------------------------------------------------------------- */

/* How a server starts further processes: once a second, while fewer than min_spare workers are
 * idle, first one, then twice as many each second, at most `most` (FPM's pm = dynamic, Apache's
 * spare processes). */
struct mst_growth {
    uint32_t start;       /* workers at the beginning; 0: all of them are there */
    uint32_t min_spare, max_spare;
    uint32_t unit;        /* workers of a process */
    uint32_t most;        /* processes in one second */
    bool     missing;     /* no more than are missing to min_spare (FPM) */
};

struct mst_gate {
    const char *name;     /* "apache-workers", "php-workers www", "database mysql ..." */
    uint32_t    limit;    /* requests at a time */
    uint32_t    backlog;  /* that wait, at most; further ones try again after 1, 2, 4 ... s.
                           * 0: all of them can wait */
    struct mst_growth growth;
    size_t      front;    /* whose it is, of the system's fronts; SIZE_MAX: of none of them */
};

/* A server that the load is for. */
struct mst_front {
    size_t   first_work, work_count;   /* its requests, of the system's works */
    uint32_t gate;        /* its workers */
};

struct mst_cpus {
    const char *name;     /* "cpu", or whose control group's */
    double      count;    /* that the system has; INFINITY: not known, nothing waits */
};

/* What requests compute in or wait for: PHP, an other end of PHP's, the load tool. */
struct mst_model_end {
    const char *kind, *name;    /* "database", "mysql 127.0.0.1:3306"; name "": no name */
    const char *called;         /* both: "database mysql 127.0.0.1:3306" */
    double wait_factor, compute_factor;   /* of all its times: 1 as recorded */
    double shorter;             /* what each wait is shorter by, before its factor; never below 0 */
    bool   is_other;            /* an other end of PHP's, or a backend: what a user can name */
};

/* ---- how requests come ------------------------------------------------------------- */

enum mst_arrivals {
    MST_ARRIVALS_CLOSED,  /* each client sends the next request when it has the answer */
    MST_ARRIVALS_RANDOM,  /* they come by themselves, independently of each other (Poisson) */
    MST_ARRIVALS_RECORDED /* they come by themselves, as they were recorded */
};

struct mst_model_load {
    enum mst_arrivals arrivals;
    uint32_t clients;     /* closed */
    double   think;       /* closed: from an answer to the next request, on average */
    double   rate;        /* random and recorded: requests per second */
    const double *gaps;   /* recorded: from each arrival to the next one */
    size_t   gap_count;
    /* The fronts of the recorded requests, as these came: the next requests go to these in turn,
     * from a random one on. 0: there is one front. */
    const uint32_t *turns;
    size_t   turn_count;
    /* Connections that keep a worker between two requests (prefork and worker): the requests of
     * each, and the seconds after which the server ends an idle one. 0: none keeps a worker. */
    double   requests_a_connection, keepalive_timeout;
};

struct mst_system {
    struct mst_model_step      *steps;
    struct mst_work      *works;      /* the recorded requests, from which new ones are drawn */
    struct mst_front     *fronts;
    struct mst_gate      *gates;
    struct mst_cpus      *cpus;
    struct mst_model_end *ends;
    size_t step_count, work_count, front_count, gate_count, cpus_count, end_count;
    struct mst_model_load load;
};

#endif
