/* generators.h - the processes that made the load, where several did. Nothing is written for a load
 * of one command. */
#ifndef MPMSTAT_REPORT_GENERATORS_H
#define MPMSTAT_REPORT_GENERATORS_H

#include "analysis/summary.h"
#include "doc/doc.h"
#include "render/json_writer.h"

void mst_generators_put(const struct mst_doc *doc, const struct mst_summary *s);
void mst_generators_json(struct mst_json *j, const struct mst_summary *s);

#endif
