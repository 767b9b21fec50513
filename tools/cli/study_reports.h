/* study_reports.h - reports of studies, which the lab makes: in a build without it there are none.
 * verb_lab.c has them, or lab_absent.c.
 */
#ifndef MPMSTAT_STUDY_REPORTS_H
#define MPMSTAT_STUDY_REPORTS_H

#include <stdbool.h>

#include "archive/archive.h"
#include "render/sink.h"

/* Whether the archive is reported as a study. */
bool mst_is_study(struct mst_archive *archive);

/* Reports it, as HTML or Markdown; path is the archive's as it was given. 0, or -1 with a
 * sentence. */
int mst_put_study(struct mst_sink *sink, bool html, struct mst_archive *archive, const char *path,
                  char error[MST_ERROR_MAX]);

#endif
