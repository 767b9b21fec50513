/* figures.h - the figures that studies publish and claim: the metrics of report/metrics.def that
 * have a name in studies. Their values are doubles: seconds, bytes, counts, shares of 1; NaN is
 * "not known".
 */
#ifndef MPMSTAT_LAB_FIGURES_H
#define MPMSTAT_LAB_FIGURES_H

#include "console/format.h"
#include "report/metrics.h"

/* The metric that a study means by a word: its name, or the name with another unit at its end
 * ("mean_ms", "transfer_kb_per_second", "availability_percent"). Values in that unit are to be
 * multiplied by *scale. MST_M_COUNT: no metric. */
enum mst_metric_id mst_study_metric_find(const char *word, double *scale);

/* "35.2 ms", "1.02 MB", "45.0/s", "12.3 %"; "not known". */
struct mst_formatted mst_study_format(enum mst_quantity unit, double value);
/* "1.35", "0.98", "23.4". */
struct mst_formatted mst_study_ratio(double ratio);

#endif
