/* parts.h - where the time of a server's requests went, and what they waited for. */
#ifndef MPMSTAT_REPORT_PARTS_H
#define MPMSTAT_REPORT_PARTS_H

#include "analysis/summary.h"
#include "doc/doc.h"

/* The table of the parts, which add up to the total, and of the times that do not belong to it: for
 * a page and Markdown; a terminal has the tree of phases (summary_phases.c). A page has a bar and
 * a legend, too. */
void mst_parts_put(const struct mst_doc *doc, const struct mst_summary_server *server);

/* Only the bar, 1000 units wide. */
void mst_parts_bar(struct mst_sink *sink, const struct mst_summary_server *server);

/* The databases, caches, backends and servers that requests were handed to, or waited for. */
void mst_ends_put(const struct mst_doc *doc, const struct mst_summary *s,
                  const struct mst_summary_server *server);

#endif
