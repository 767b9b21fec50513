/* summary_text.h - the parts of a summary's text that have a file of their own. */
#ifndef MPMSTAT_SUMMARY_TEXT_H
#define MPMSTAT_SUMMARY_TEXT_H

#include <stdbool.h>

#include "analysis/summary.h"
#include "render/sink.h"

/* Whether it is in such a set of percentiles as mst_report_text() takes. */
static inline bool mst_percentile_is_shown(unsigned percentiles, enum mst_percentile p)
{
    return percentiles == 0 || (percentiles & 1u << p) != 0;
}

/* How much of a run is written, and in how many columns. */
struct mst_text_form {
    unsigned percentiles;   /* as mst_report_text() takes them */
    unsigned width;         /* of sentences */
    bool     brief;
};

/* Writes the findings, each of the first with what to do about it. */
void mst_summary_findings_text(struct mst_sink *sink, const struct mst_summary *s,
                               const struct mst_text_form *form);

/* Writes the table of phases of a server with requests. In brief, rows with a small share of the
 * time are left out, and php_run is followed by what it consists of. */
void mst_summary_phases_text(struct mst_sink *sink, const struct mst_summary_server *server,
                             const struct mst_text_form *form);

#endif
