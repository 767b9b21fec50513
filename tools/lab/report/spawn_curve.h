/* spawn_curve.h - how fast a server forked processes when many requests came at once, from its
 * fork events.
 *
 * Time 0 is the arrival of the first request of the load.
 */
#ifndef MPMSTAT_LAB_SPAWN_CURVE_H
#define MPMSTAT_LAB_SPAWN_CURVE_H

#include "analysis/summary.h"
#include "analysis/table.h"

/* The spawning of the processes that run PHP: FPM's workers, where there is an FPM, else
 * Apache's children. Fills the MST_M_SPAWN* of a run's values. False: the archive cannot
 * be read. */
bool mst_spawn_measure(double *values, const struct mst_summary *s, sqlite3 *db);

/* "spawn": t, processes: a row at each change, and one at either end. Free the table in
 * either case. */
bool mst_spawn_curve(struct mst_table *curve, const struct mst_summary *s, sqlite3 *db);

#endif
