/* html_compare.h - two names of a report compared, as HTML: what `mpmstat compare` says of them. */
#ifndef MPMSTAT_HTML_COMPARE_H
#define MPMSTAT_HTML_COMPARE_H

#include "report/groups.h"

/* Whether there are two names, A and B, with a complete run each. */
bool mst_html_compares(const struct mst_report *report, const struct mst_report_groups *groups);

/* Writes the section `ab`. 0, or -1 with a sentence. */
int mst_html_compare(struct mst_sink *sink, const struct mst_report *report,
                     const struct mst_report_groups *groups, char error[MST_ERROR_MAX]);

#endif
