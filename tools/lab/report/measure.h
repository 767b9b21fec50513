/* measure.h - the figures of a study's run, from its archive.
 *
 * Values are seconds, bytes, counts and shares of 1; NaN is "not known".
 */
#ifndef MPMSTAT_LAB_MEASURE_H
#define MPMSTAT_LAB_MEASURE_H

#include <stdbool.h>
#include <stddef.h>

#include "analysis/summary.h"
#include "report/metrics.h"

/* How many servers of each kind a run had, as its stack's file says. */
struct mst_study_servers {
    size_t apache, fpm;
    size_t others;               /* of kinds that mpmstat cannot be in: nginx */
};

/* Whether each server of the stack was recorded, or measured by the lab (lab/servers/others.h). If
 * not, what all of them took together is not known. */
bool mst_study_is_whole(const struct mst_summary *s, const struct mst_study_servers *servers,
                        sqlite3 *db);

/* Whether it is a front server: the one that the load was for, or one of several behind a balancer.
 * They have the same producer, but mod_php within an Apache is none of them. */
bool mst_study_is_front(const struct mst_summary *s, const struct mst_summary_server *server);

/* The values of a run except MST_M_SPAWN*. False: the archive cannot be read. */
bool mst_study_measure(double values[MST_M_COUNT], const struct mst_summary *s,
                       const struct mst_study_servers *servers, sqlite3 *db);

#endif
