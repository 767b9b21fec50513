/* tables.h - the tables that a study's report has for each of its sections. */
#ifndef MPMSTAT_LAB_TABLES_H
#define MPMSTAT_LAB_TABLES_H

#include "doc/doc.h"
#include "lab/report/cases.h"

/* The original's table and ours, and the same as ratios to one case. Nothing where nothing was
 * published. */
void mst_study_table_published(const struct mst_doc *doc, const struct mst_study_section *section);

/* Every figure that is known, of the heaviest case of each line. */
void mst_study_table_all(const struct mst_doc *doc, const struct mst_study_section *section);

/* Every case, with some figures. Nothing where no variable is swept: the other table has all. */
void mst_study_table_cases(const struct mst_doc *doc, const struct mst_study_section *section);

#endif
