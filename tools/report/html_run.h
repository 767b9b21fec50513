/* html_run.h - what the page of runs says of one run. */
#ifndef MPMSTAT_HTML_RUN_H
#define MPMSTAT_HTML_RUN_H

#include "report/report.h"

#define MST_HTML_RUNS_IN_GROUPS 2u   /* with more, the page folds what is of one run */

/* Writes where a request's time went, both sides next to each other, and the place of the
 * charts. */
void mst_html_run(struct mst_sink *sink, const struct mst_report *report, size_t i);

/* Writes where the run's numbers come from. False: the archive cannot be read. */
bool mst_html_provenance(struct mst_sink *sink, const struct mst_report_run *run);

#endif
