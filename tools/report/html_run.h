/* html_run.h - the parts of the page of runs that are of one run. */
#ifndef MPMSTAT_HTML_RUN_H
#define MPMSTAT_HTML_RUN_H

#include "report/report.h"

#define MST_HTML_RUNS_IN_GROUPS 2u   /* with more, the page folds what is of one run */

/* Where a request's time went, both sides, and the place of the charts. */
void mst_html_run(struct mst_sink *sink, const struct mst_report *report, size_t i);

/* False: the archive cannot be read. */
bool mst_html_provenance(struct mst_sink *sink, const struct mst_report_run *run);

#endif
