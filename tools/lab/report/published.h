/* published.h - the original's table, row by row, and which of our cases a row is about. */
#ifndef MPMSTAT_LAB_PUBLISHED_H
#define MPMSTAT_LAB_PUBLISHED_H

#include "lab/report/cases.h"

/* Whether a row (from 1) of the section's published table is about the case. */
bool mst_published_is(const struct mst_study_section *section, size_t row,
                      const struct mst_study_case *c);

/* The figure of the row, NaN where it is not said. */
double mst_published_value(const struct mst_study_section *section, size_t row,
                           enum mst_metric_id metric);

/* The case that the others' ratios are to: the first row's, or the first case. NULL: none
 * of it was run. */
const struct mst_study_case *mst_reference_of(const struct mst_study_section *section);

#endif
