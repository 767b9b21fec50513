/* study_metrics.h - the numbers of a study's run, and how to write them.
 *
 * A line of the table is a figure that studies publish, or that they lacked. Studies name
 * it in their claims and in the columns of their published tables. Values are seconds,
 * bytes, counts and shares of 1 as doubles; NaN is "not known".
 */
#ifndef MPMSTAT_STUDY_METRICS_H
#define MPMSTAT_STUDY_METRICS_H

#include <stdbool.h>
#include <stddef.h>

#include "analysis/summary.h"
#include "console/format.h"

enum mst_study_unit {
    MST_IN_COUNT, MST_IN_MEAN, MST_IN_RATE, MST_IN_TIME, MST_IN_BYTES,
    MST_IN_BYTE_RATE, MST_IN_SHARE, MST_IN_COUNT_OF
};

enum mst_study_metric_id {
    /* the client */
    MST_M_RATE, MST_M_TAKEN, MST_M_MEAN, MST_M_P50, MST_M_P90, MST_M_P99, MST_M_MAX,
    MST_M_CONNECT, MST_M_PROCESSING, MST_M_BETWEEN, MST_M_TRANSFER, MST_M_BYTES,
    MST_M_CONCURRENCY, MST_M_REQUESTS, MST_M_FAILED, MST_M_FAILED_LENGTH,
    MST_M_FAILED_CONNECT, MST_M_FAILED_RECEIVE, MST_M_FAILED_TIMEOUT, MST_M_NON_2XX, MST_M_ERRORS,
    MST_M_ERROR_SHARE, MST_M_AVAILABILITY,
    /* the server: times in the order in which a request has them */
    MST_M_SERVER_REQUESTS, MST_M_5XX, MST_M_SERVER_MEAN, MST_M_SERVER_P50, MST_M_SERVER_P99,
    MST_M_QUEUE, MST_M_READ, MST_M_PHP_WAIT, MST_M_PHP_RUN, MST_M_HANDLE, MST_M_SEND_PHP,
    MST_M_SEND,
    /* workers and processes */
    MST_M_LIMIT, MST_M_BUSY, MST_M_OCCUPANCY, MST_M_NO_IDLE, MST_M_PHP_LIMIT, MST_M_PHP_BUSY,
    MST_M_PHP_OCCUPANCY, MST_M_PHP_NO_IDLE, MST_M_FORKS, MST_M_FORKS_EACH, MST_M_EXITS,
    MST_M_KILLED,
    /* memory and CPU */
    MST_M_PSS, MST_M_PROCESSES, MST_M_PSS_EACH, MST_M_RSS, MST_M_RSS_EACH, MST_M_PHP_PSS,
    MST_M_CPU_EACH, MST_M_MACHINE, MST_M_GENERATOR,
    /* connections, pages */
    MST_M_OVERFLOWS, MST_M_SHED, MST_M_PAGE_MIN, MST_M_PAGE_MAX,
    /* spawning (study_spawn.c) */
    MST_M_SPAWN_FIRST, MST_M_SPAWN_HALF, MST_M_SPAWN_ALL, MST_M_SPAWN_RATE, MST_M_SPAWNED,
    MST_M_COUNT
};

struct mst_study_metric {
    const char *name;            /* in studies' files: a promise */
    const char *label;           /* for people */
    enum mst_study_unit unit;
    bool more_is_better;         /* of two systems the one with more of it does better */
    bool of_client;              /* as exact as the load tool's clock */
};

extern const struct mst_study_metric mst_study_metrics[MST_M_COUNT];

/* The metric that a study means by a word: its name, or the name with another unit at its
 * end ("mean_ms", "transfer_kb_per_second", "availability_percent"); *scale is what a
 * figure there is to be multiplied with. MST_M_COUNT: none. */
enum mst_study_metric_id mst_study_metric_find(const char *word, double *scale);

/* How many servers of each kind a run had, as its stack's file says. */
struct mst_study_servers {
    size_t apache, fpm;
    size_t others;               /* of kinds that mpmstat cannot be in: nginx */
};

/* Whether each of them was recorded, or looked at by the lab (lab/others.h): else what all of
 * them took together is not known. */
bool mst_study_is_whole(const struct mst_summary *s, const struct mst_study_servers *servers,
                        sqlite3 *db);

/* The server that the load was for; where a balancer stood before several, any of these. They
 * are those with its producer, but for what runs within an Apache (mod_php). */
bool mst_study_is_front(const struct mst_summary *s, const struct mst_summary_server *server);

/* The values of a run, but for spawning's. False: the archive cannot be read. */
bool mst_study_measure(double values[MST_M_COUNT], const struct mst_summary *s,
                       const struct mst_study_servers *servers, sqlite3 *db);

/* "35.2 ms", "1.02 MB", "45.0/s", "12.3 %"; "not known". */
struct mst_human mst_study_human(enum mst_study_unit unit, double value);
/* "1.35", "0.98", "23.4". */
struct mst_human mst_study_ratio(double ratio);

#endif
