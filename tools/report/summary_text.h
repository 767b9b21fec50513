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

/* Writes the table of phases of a server with requests. */
void mst_summary_phases_text(struct mst_sink *sink, const struct mst_summary_server *server,
                             unsigned percentiles);

#endif
