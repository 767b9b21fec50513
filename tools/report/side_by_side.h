/* side_by_side.h - the figures of runs, a column for each, and why some are not known. */
#ifndef MPMSTAT_REPORT_SIDE_BY_SIDE_H
#define MPMSTAT_REPORT_SIDE_BY_SIDE_H

#include "doc/doc.h"
#include "report/report.h"

/* The figures that readers look for first; text is as wide as a few runs, so that more stand in
 * several tables. */
void mst_side_by_side_brief(const struct mst_doc *doc, const struct mst_report *report);

/* All figures that a run has, in groups. */
void mst_side_by_side_all(const struct mst_doc *doc, const struct mst_report *report);

#endif
