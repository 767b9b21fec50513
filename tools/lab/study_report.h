/* study_report.h - the report of a study that the lab ran: what still holds of what was
 * published, in sentences, tables and charts. From the archive alone.
 */
#ifndef MPMSTAT_STUDY_REPORT_H
#define MPMSTAT_STUDY_REPORT_H

#include "archive/archive.h"
#include "lab/study_data.h"
#include "lab/study_sayings.h"
#include "sink.h"

enum mst_study_format { MST_STUDY_HTML, MST_STUDY_MARKDOWN };

/* The latest study of the archive, which has one (mst_study_in()). 0, or -1 with a
 * sentence: the archive cannot be read. */
int mst_study_report(struct mst_sink *sink, enum mst_study_format format,
                     struct mst_archive *archive, const char *path, char error[MST_ERROR_MAX]);

/* The same into a file, which is replaced by a whole report or not at all. */
int mst_study_report_file(const char *to, enum mst_study_format format,
                          struct mst_archive *archive, const char *path,
                          char error[MST_ERROR_MAX]);

/* ---- what both formats show ------------------------------------------------------- */

int mst_study_html(struct mst_sink *sink, const struct mst_study_data *data,
                   const struct mst_sayings *sayings, char error[MST_ERROR_MAX]);
int mst_study_markdown(struct mst_sink *sink, const struct mst_study_data *data,
                       const struct mst_sayings *sayings, char error[MST_ERROR_MAX]);
/* The JSON that assets/study.js draws from. */
int mst_study_json(struct mst_sink *sink, const struct mst_study_data *data,
                   char error[MST_ERROR_MAX]);

/* "5 systems, 5 repetitions each, ...": how it was run, in a sentence each. */
char *mst_study_about(const struct mst_study_data *data);
char *mst_study_about_section(const struct mst_study_section *section);
/* That absolute numbers are not comparable. */
extern const char mst_study_caution[];

/* The metrics that tell what the original lacked, group by group. */
struct mst_study_row { const char *group; enum mst_study_metric_id metric; };
extern const struct mst_study_row mst_study_rows[];
extern const size_t mst_study_row_count;

/* Whether any case of the section has the metric, and not only 0. */
bool mst_study_is_known(const struct mst_study_section *section, enum mst_study_metric_id metric);

/* The metrics that are published of the section, in the table's order; where nothing is,
 * those of its claims and the usual ones. Returns how many. */
#define MST_STUDY_FIGURES_MAX 16u
size_t mst_study_figures(const struct mst_study_section *section,
                         enum mst_study_metric_id items[MST_STUDY_FIGURES_MAX]);

/* The last case of a line that was run; NULL: none was. */
const struct mst_study_case *mst_study_heaviest(const struct mst_study_section *section,
                                                size_t line);

#endif
