/* metrics.h - the figures of a run, from one table: metrics.def.
 *
 * It gives reports the rows of their tables and the columns of their CSV, comparisons their
 * metrics, and studies the figures that they publish and claim.
 */
#ifndef MPMSTAT_REPORT_METRICS_H
#define MPMSTAT_REPORT_METRICS_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "analysis/summary.h"
#include "doc/quantity.h"
#include "render/json_writer.h"
#include "render/sink.h"

enum mst_metric_id {
#define METRIC(id, ...) MST_M_##id,
#include "report/metrics.def"
    MST_M_COUNT
};

enum mst_metric_source {
    MST_FROM_NONE, MST_FROM_RUN, MST_FROM_CLIENT, MST_FROM_SERVER, MST_FROM_PHASE, MST_FROM_PHP,
    MST_FROM_INTERVAL, MST_FROM_WAIT, MST_FROM_PART,
    MST_FROM_FUNCTION
};

/* Which comparisons show it. */
enum mst_metric_shown {
    MST_SHOWN_LONG,       /* long ones only */
    MST_SHOWN_MAIN,       /* all */
    MST_SHOWN_PART,       /* where it is much of the time */
    MST_SHOWN_INSTEAD     /* where the client has no results */
};

struct mst_metric {
    enum mst_quantity unit;
    /* How a summary has it: see mst_metric_get(). */
    enum mst_metric_source source;
    size_t         member;                    /* offset of a uint64_t in what `source` names */
    enum mst_phase phase;                     /* of PHASE */
    unsigned       index;                     /* which INTERVAL, WAIT or PART it is of */
    uint64_t     (*get)(const struct mst_summary *s);   /* of FUNCTION */
    bool           optional;                  /* most runs do not have it: then nothing is said */
    const char    *why;                       /* why it may not be known: a clause */
    /* How reports show it. group is NULL where none does. */
    const char    *column;                    /* in the CSV, with the unit: a promise */
    const char    *group, *label;
    bool           brief;                     /* also in the short table of runs side by side */
    /* Its name in studies. NULL: none has it. */
    const char    *study, *study_label;       /* study: in studies' files, a promise */
    /* Its name in comparisons, where the column is `column`. NULL: none has it. */
    const char    *compared;                  /* the label */
    const char    *less, *more;               /* what to say where B's is less, more */
    const char    *said;                      /* "a request", behind the value; NULL */
    enum mst_metric_shown shown;
};

extern const struct mst_metric mst_metrics[MST_M_COUNT];

/* The run's value: MEAN, RATE and SHARE in thousandths, TIME in nanoseconds. MST_UNKNOWN also
 * where a summary does not have it. */
uint64_t mst_metric_get(const struct mst_metric *metric, const struct mst_summary *s);
/* Whether a run with this value has it: a part that none of its requests had is 0. */
bool mst_metric_is_had(const struct mst_metric *metric, uint64_t value);
/* A member of a JSON object: thousandths as a plain number, or null. */
void mst_put_milli(struct mst_json *j, const char *key, uint64_t milli);
/* Why it is not known in this run. */
const char *mst_metric_why(const struct mst_metric *metric, const struct mst_summary *s);

#endif
