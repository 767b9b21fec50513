/* parts.h - what all formats of a study's report show: how it was run, which metrics. */
#ifndef MPMSTAT_LAB_PARTS_H
#define MPMSTAT_LAB_PARTS_H

#include "lab/report/cases.h"

/* How the study, and one section of it, was run: sentences. */
const char *mst_study_about(const struct mst_study_data *data);
const char *mst_study_about_section(const struct mst_study_section *section);
/* Says that absolute numbers are not comparable. */
extern const char mst_study_caution[];

/* The rows of the table of all figures, group by group. */
struct mst_study_row { const char *group; enum mst_metric_id metric; };
extern const struct mst_study_row mst_study_rows[];
extern const size_t mst_study_row_count;

/* The parts that a request's mean time at the server adds up from, in their order. */
extern const enum mst_metric_id mst_study_parts[];
extern const size_t mst_study_part_count;

/* The metrics that were published of the section, in the published table's order; if nothing was,
 * those of its claims and the usual ones. Returns how many. */
#define MST_STUDY_FIGURES_MAX 16u
size_t mst_study_figures(const struct mst_study_section *section,
                         enum mst_metric_id items[MST_STUDY_FIGURES_MAX]);

#endif
