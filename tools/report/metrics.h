/* metrics.h - the numbers of a run that runs are laid beside each other by.
 *
 * One table: a line of it is a row of the HTML's and the Markdown's table of runs
 * and a column of the CSV.
 */
#ifndef MPMSTAT_METRICS_H
#define MPMSTAT_METRICS_H

#include <stddef.h>
#include <stdint.h>

#include "analysis/summary.h"
#include "console/format.h"
#include "render/sink.h"

enum mst_metric_unit {
    MST_METRIC_COUNT, MST_METRIC_MILLI, MST_METRIC_TIME, MST_METRIC_BYTES, MST_METRIC_SHARE
};

struct mst_metric {
    const char   *column;      /* in the CSV, with the unit: a promise */
    const char   *group, *label;
    enum mst_metric_unit unit;        /* MILLI and SHARE: thousandths; TIME: nanoseconds */
    uint64_t    (*get)(const struct mst_summary *s);
    const char   *why;         /* why it may not be known: a clause */
    bool          brief;       /* also in the Markdown's table */
};

extern const struct mst_metric mst_metrics[];
extern const size_t mst_metric_count;

/* "1.02 s"; "not known". */
struct mst_human mst_metric_human(enum mst_metric_unit unit, uint64_t value);
/* "35.9 us" as "35.9 µs", for where that letter can be shown. */
struct mst_human mst_human_micro(struct mst_human human);
/* For programs: seconds, bytes, plain numbers; `unknown` where it is not known. */
void mst_metric_put(struct mst_sink *sink, enum mst_metric_unit unit, uint64_t value,
                    const char *unknown);
/* Why it is not known in this run. */
const char *mst_metric_why(const struct mst_metric *metric, const struct mst_summary *s);

#endif
