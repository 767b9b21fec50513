/* report.h - the report of a study that the lab ran, written from its archive alone: what still
 * holds of what was published, in sentences, tables and charts.
 */
#ifndef MPMSTAT_LAB_REPORT_H
#define MPMSTAT_LAB_REPORT_H

#include "archive/archive.h"
#include "lab/report/cases.h"
#include "lab/report/insights.h"
#include "render/sink.h"

enum mst_study_format { MST_STUDY_HTML, MST_STUDY_MARKDOWN };

/* The latest study of the archive, which has one (mst_study_in()). 0, or -1 with a
 * sentence: the archive cannot be read. */
int mst_study_report(struct mst_sink *sink, enum mst_study_format format,
                     struct mst_archive *archive, const char *path, char error[MST_ERROR_MAX]);

/* The same into a file, which is replaced by a whole report or not at all. */
int mst_study_report_file(const char *to, enum mst_study_format format,
                          struct mst_archive *archive, const char *path,
                          char error[MST_ERROR_MAX]);

/* Makes the findings, in the study's pool. */
void mst_insights_make(struct mst_insights *findings, const struct mst_study_data *data);

/* ---- the formats ---------------------------------------------------------------------- */

int mst_study_html(struct mst_sink *sink, const struct mst_study_data *data,
                   const struct mst_insights *findings, char error[MST_ERROR_MAX]);
int mst_study_markdown(struct mst_sink *sink, const struct mst_study_data *data,
                       const struct mst_insights *findings, char error[MST_ERROR_MAX]);
/* The JSON that assets/study.js draws from. */
int mst_study_json(struct mst_sink *sink, const struct mst_study_data *data,
                   char error[MST_ERROR_MAX]);

#endif
