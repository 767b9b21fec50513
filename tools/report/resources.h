/* resources.h - limits, pools and disks of a run in the formats of a report: each is shown only
 * where there is something to show (analysis/resources.h), except in JSON.
 */
#ifndef MPMSTAT_REPORT_RESOURCES_H
#define MPMSTAT_REPORT_RESOURCES_H

#include "analysis/summary.h"
#include "doc/doc.h"
#include "render/json_writer.h"
#include "render/sink.h"

/* Lines of what one server used; of what the machine's programs did. */
void mst_resources_text(struct mst_sink *sink, const struct mst_summary *s,
                        const struct mst_summary_server *server);
void mst_machine_resources_text(struct mst_sink *sink, const struct mst_summary *s);

/* Members of the JSON's object of one server; of its object of the run. */
void mst_resources_json(struct mst_json *j, const struct mst_summary_server *server);
void mst_machine_resources_json(struct mst_json *j, const struct mst_summary *s);

/* The table of a PHP-FPM's pools. */
void mst_pools_put(const struct mst_doc *doc, const struct mst_summary *s,
                   const struct mst_summary_server *server);

#endif
