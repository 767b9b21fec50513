/* study_metrics.h - the figures of a study's run, and how they are written.
 *
 * A figure is a metric of report/metrics.def that has a name in studies: they use it in their
 * claims and in the columns of their published tables. Values are seconds, bytes, counts and
 * shares of 1 as doubles; NaN is "not known".
 */
#ifndef MPMSTAT_STUDY_METRICS_H
#define MPMSTAT_STUDY_METRICS_H

#include <stdbool.h>
#include <stddef.h>

#include "analysis/summary.h"
#include "console/format.h"
#include "report/metrics.h"

/* The metric that a study means by a word: its name, or the name with another unit at its
 * end ("mean_ms", "transfer_kb_per_second", "availability_percent"); *scale is what a
 * figure there is to be multiplied with. MST_M_COUNT: none. */
enum mst_metric_id mst_study_metric_find(const char *word, double *scale);

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
struct mst_human mst_study_human(enum mst_metric_unit unit, double value);
/* "1.35", "0.98", "23.4". */
struct mst_human mst_study_ratio(double ratio);

#endif
