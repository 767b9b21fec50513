/* comparison_ledger.h - what was predicted from A's runs for the change that B is, and what came. A
 * prediction is judged where B has all of the change and nothing else, under the load that it is
 * for. */
#ifndef MPMSTAT_COMPARISON_LEDGER_H
#define MPMSTAT_COMPARISON_LEDGER_H

#include "analysis/ledger.h"
#include "render/json_writer.h"
#include "report/comparison.h"

struct mst_comparison_prediction {
    struct mst_ledger_entry entry;   /* of several runs' the geometric means */
    const struct mst_compare_run *run;   /* the first of A that has it */
    size_t      run_count;
    int64_t    *runs;                /* their ids */
    const char *change;              /* "pm.max_children = 20, 16 clients" */
    const char *why_not;             /* why it is not judged: clauses; NULL: it is */
    double      measured[MST_LEDGER_MEASURES];   /* of B's runs the geometric means, in the units of
                                      * the entry; NAN: not known, or not judged */
};

/* A step of mst_comparison_make(), behind mst_comparison_find_differences(). Predictions whose
 * limits, or whose load, B has as A has it are left out; and where one is judged, all that are
 * not. */
void mst_comparison_find_predictions(struct mst_comparison_table *t);

/* The member "predictions": an object for each measure of each prediction. */
void mst_comparison_json_predictions(struct mst_json *j, const struct mst_comparison_table *t);

/* ---- comparison_change.c ----------------------------------------------------------- */

/* Whether A's run had another load than it is predicted for. */
bool mst_comparison_changes_load(const struct mst_comparison_prediction *p);
/* Whether the predicted limits, or the load, are other ones in a run of B than in A. */
bool mst_comparison_is_tried(const struct mst_comparison_table *t,
                             const struct mst_comparison_prediction *p);
/* What of B is not the predicted change: clauses. NULL: nothing. */
const char *mst_comparison_other_change(const struct mst_comparison_table *t,
                                        const struct mst_comparison_prediction *p);
/* Whether two loads of requests that come by themselves are the same; in one unit. */
bool mst_comparison_same_load(uint64_t a, uint64_t b);
/* "pm.max_children", of several pools "pm.max_children of shop". */
const char *mst_comparison_called(apr_pool_t *pool, const struct mst_compare_run *run,
                                  const char *section, const char *name);

#endif
