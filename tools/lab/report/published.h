/* published.h - the original's table, row by row, and which of our cases a row is about. */
#ifndef MPMSTAT_LAB_PUBLISHED_H
#define MPMSTAT_LAB_PUBLISHED_H

#include "lab/report/cases.h"

/* Whether a row (from 1) of the section's published table is about the case. */
bool mst_published_is(const struct mst_study_section *section, size_t row,
                      const struct mst_study_case *c);

/* The figure of the row; NaN: it was not published. */
double mst_published_value(const struct mst_study_section *section, size_t row,
                           enum mst_metric_id metric);

/* The case that ratios are to: that of the first published row that was run, else the first case
 * that was. NULL: none was. */
const struct mst_study_case *mst_reference_of(const struct mst_study_section *section);

#endif
