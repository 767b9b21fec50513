/* spans.h - one request as spans. */
#ifndef MPMSTAT_EXPORT_SPANS_H
#define MPMSTAT_EXPORT_SPANS_H

#include "export/request.h"
#include "render/json_writer.h"

/* Which server a request is of: with the request's id, what ids are derived from. The same request
 * has the same ids in each export. */
struct mst_export_origin { uint64_t started_ns, pid; };

/* Adds the elements of an array of spans. Returns how many. */
unsigned mst_export_spans(struct mst_json *j, const struct mst_export_origin *origin,
                          const struct mst_export_request *r);

#endif
