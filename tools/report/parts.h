/* parts.h - where the time of a server's requests went, and what they waited for. */
#ifndef MPMSTAT_REPORT_PARTS_H
#define MPMSTAT_REPORT_PARTS_H

#include "analysis/summary.h"
#include "doc/table.h"
#include "segment/parts.h"

/* The table of the parts, which add up to the total, and of the times that do not belong to it: for
 * a page and Markdown; a terminal has the tree of phases (summary_phases.c). A page has a bar and
 * a legend, too. */
void mst_parts_put(const struct mst_doc *doc, const struct mst_summary_server *server);

/* The table has a row and a bar for each server that the load tool talked to. Where that is one
 * server, there is no table. */
void mst_parts_by_server(const struct mst_doc *doc, const struct mst_summary *s);

/* The next cell of a row: the part with most of the time and its share, "database, 71 %"; blank
 * where there is no time. */
void mst_parts_longest_cell(struct mst_doc_table *t, const uint64_t parts_ns[MST_PART_COUNT],
                            uint64_t whole_ns);

/* The segments of a bar of parts: MST_PART_COUNT, which it returns. */
size_t mst_parts_segments(struct mst_doc_segment segments[MST_PART_COUNT],
                          const uint64_t parts_ns[MST_PART_COUNT]);

/* The legend of those that have any time. */
void mst_parts_legend(const struct mst_doc *doc, const uint64_t parts_ns[MST_PART_COUNT]);

/* The databases, caches, backends and servers that requests were handed to, or waited for. */
void mst_ends_put(const struct mst_doc *doc, const struct mst_summary *s,
                  const struct mst_summary_server *server);

#endif
