/* needs.h - what each of several servers has of workers, what its load wanted, and what bounds it:
 * in text, Markdown, HTML and JSON. Nothing is written where the load tool talked to one server. */
#ifndef MPMSTAT_REPORT_NEEDS_H
#define MPMSTAT_REPORT_NEEDS_H

#include "analysis/summary.h"
#include "render/json_writer.h"
#include "render/sink.h"

void mst_needs_text(struct mst_sink *sink, const struct mst_summary *s);
/* title: the run's. */
void mst_needs_markdown(struct mst_sink *sink, const struct mst_summary *s, const char *title);
void mst_needs_html(struct mst_sink *sink, const struct mst_summary *s);
void mst_needs_json(struct mst_json *j, const struct mst_summary *s);

#endif
