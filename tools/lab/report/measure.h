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
#include "report/metrics.h"

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

#endif
