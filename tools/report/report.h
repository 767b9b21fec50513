/* report.h - a run's summary as text for people and as JSON for programs. */
#ifndef MPMSTAT_REPORT_H
#define MPMSTAT_REPORT_H

#include "analysis/summary.h"
#include "sink.h"

/* For a terminal, at most 100 columns. path is the archive's, to be named. */
void mst_report_text(struct mst_sink *sink, const struct mst_summary *summary, const char *path);

/* One object, without a newline behind it. Its names are promises. */
void mst_report_json(struct mst_sink *sink, const struct mst_summary *summary);

#endif
