/* html_run.h - what the page of runs says of one run. */
#ifndef MPMSTAT_HTML_RUN_H
#define MPMSTAT_HTML_RUN_H

#include "report/groups.h"

#define MST_HTML_RUNS_IN_GROUPS 2u   /* with more, the page folds what is of one run */

/* Writes the runs of a name: of the one that is shown where the time went, over time, by name and
 * request by request; its repetitions folded, with their charts. 0, or -1 with a sentence: the
 * archive cannot be read. */
int mst_html_runs(struct mst_sink *sink, const struct mst_report *report,
                  const struct mst_report_groups *groups, const struct mst_report_group *group,
                  char error[MST_ERROR_MAX]);

#endif
