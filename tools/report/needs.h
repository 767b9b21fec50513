/* needs.h - what each of several servers has of workers, what its load wanted, and what bounds it.
 * Nothing is written where the load tool talked to one server. */
#ifndef MPMSTAT_REPORT_NEEDS_H
#define MPMSTAT_REPORT_NEEDS_H

#include "analysis/summary.h"
#include "doc/doc.h"
#include "render/json_writer.h"

void mst_needs_put(const struct mst_doc *doc, const struct mst_summary *s);
void mst_needs_json(struct mst_json *j, const struct mst_summary *s);

#endif
