/* recorded.h - a run's recording as a system for the simulator.
 *
 * Of each recorded request its CPU time and its waits by other end are taken as they were, and
 * what it waited for workers and for a CPU is left out: the simulation brings that about by itself.
 */
#ifndef MPMSTAT_MODEL_RECORDED_H
#define MPMSTAT_MODEL_RECORDED_H

#include <sqlite3.h>

#include "analysis/summary.h"
#include "model/system.h"

/* The ends that every system has, by number; others follow. */
enum mst_fixed_end {
    MST_END_CLIENT,       /* the client and the network: uploads, and slow readers */
    MST_END_TOOL,         /* the load tool, from the answer to its being counted */
    MST_END_OUTSIDE,      /* what the client waits beyond the server and the load tool's own work */
    MST_END_KERNEL,       /* CPU time of no program: the kernel's work for the network */
    MST_END_FIXED_COUNT
};

/* Those of each server that the load was for, from its `ends` on; its other ends follow. */
enum mst_server_end {
    MST_END_SERVER,       /* the front server itself: Apache without PHP, or nothing */
    MST_END_PHP,          /* PHP's scripts, and what they wait for without a name */
    MST_END_PHP_ITSELF,   /* a PHP worker between two requests: it ends one and takes the next */
    MST_END_SERVER_ITSELF,/* the same of a worker of the front server */
    MST_END_SERVER_COUNT
};

/* A gate of workers, and whose they are. */
struct mst_model_workers {
    size_t      gate;
    const char *directive;                    /* "MaxRequestWorkers", "pm.max_children" */
    const struct mst_summary_server *server;
    const struct mst_summary_pool   *pool;    /* of an FPM with several; NULL */
    const char *settings;                     /* the section of its settings; NULL: Apache's */
};

/* A server that the load was for, and the PHP behind it. */
struct mst_model_server {
    const struct mst_summary_server *front, *php;     /* php NULL: none */
    size_t  ends;                  /* the number of MST_END_SERVER */
    double  php_turn, front_turn;  /* between two requests of a worker whose next one was waiting;
                                    * NAN: it was not, or not known */
    double *own;                   /* of each request: the time in the front server itself */
    size_t  own_count;
    bool    is_kept_by_event;      /* connections have several requests, and event holds them */
};

/* What is measured of a run: a rate, and times in seconds. */
enum mst_measure {
    MST_MEASURE_RATE, MST_MEASURE_MEAN, MST_MEASURE_P50, MST_MEASURE_P90, MST_MEASURE_P95,
    MST_MEASURE_P99, MST_MEASURE_COUNT
};
/* As in JSON: "requests_per_second", "p50_seconds". */
extern const char *const mst_measure_names[MST_MEASURE_COUNT];

/* Whose requests are told about. */
struct mst_model_view {
    const struct mst_summary_server *server;  /* a front's; NULL: those of all of them */
    double measured[MST_MEASURE_COUNT];       /* NAN: not known */
    bool   by_client;    /* the times are the load tool's, else the server's */
    double step;         /* in which they are told; 0: finer than that matters */
};

struct mst_model_run {
    struct mst_system    system;
    apr_pool_t          *pool;
    sqlite3             *db;
    const struct mst_summary        *summary;
    struct mst_model_server *servers;   /* in the order of the system's fronts */
    size_t               server_count;
    uint64_t             requests;    /* that all of them had */
    const char          *why_not;     /* why the run cannot be simulated: "it ..."; NULL */
    double               seconds;     /* that the load took */
    struct mst_model_view *views;     /* the first one of all requests; of several servers, then
                                       * of each one's */
    size_t                view_count;
    struct mst_model_view *view;      /* the one that is told about */
    struct mst_model_workers *workers;
    size_t               workers_count;
    size_t               tool_gate;   /* SIZE_MAX: there is none */
    double               php_stretch; /* of PHP's computing, as measured; NAN */
    double               outside_most;   /* MST_END_OUTSIDE's time is no longer */
    double               cpus, cpus_taken;   /* that the servers can use; of these, what other
                                              * programs and other machines took. NAN */
};

/* What was measured of a run with that front server, as `measured` is: times by the load tool, or
 * by the server. NAN: not known. */
double mst_model_measured(const struct mst_summary *s, const struct mst_summary_server *front,
                          bool by_client, enum mst_measure measure);

/* A time as Apache's directives have it, in seconds: "5", "500ms", "2mi". NAN: it is none. */
double mst_model_seconds(const char *text);

/* False: SQLite failed. The system is the pool's. */
bool mst_model_run_make(struct mst_model_run *r, const struct mst_summary *s, sqlite3 *db,
                       apr_pool_t *pool);

#endif
