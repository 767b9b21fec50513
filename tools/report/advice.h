/* advice.h - the sizing advice of a run, and the knee of several. */
#ifndef MPMSTAT_REPORT_ADVICE_H
#define MPMSTAT_REPORT_ADVICE_H

#include "doc/doc.h"
#include "report/report.h"

/* Nothing where the summary has no sizing. */
void mst_advice_put(const struct mst_doc *doc, const struct mst_sizing *sizing);

/* mst_usl_fit() of the runs whose concurrency is known. Returns the levels. */
struct mst_usl_point *mst_knee_fit(struct mst_usl *usl, size_t *levels,
                                   const struct mst_report *report);

/* Where more concurrency stops to help, from the runs whose concurrency is known; nothing of one
 * run. */
void mst_knee_put(const struct mst_doc *doc, const struct mst_report *report);

#endif
