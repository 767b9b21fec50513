/* generators.h - the processes that made the load, where several did: in text, Markdown, HTML and
 * JSON. Nothing is written for a load of one command. */
#ifndef MPMSTAT_REPORT_GENERATORS_H
#define MPMSTAT_REPORT_GENERATORS_H

#include "analysis/summary.h"
#include "render/json_writer.h"
#include "render/sink.h"

void mst_generators_text(struct mst_sink *sink, const struct mst_summary *s);
void mst_generators_markdown(struct mst_sink *sink, const struct mst_summary *s);
void mst_generators_html(struct mst_sink *sink, const struct mst_summary *s);
void mst_generators_json(struct mst_json *j, const struct mst_summary *s);

#endif
