/* fields_table.h - the table of all metrics as documentation. */
#ifndef MPMSTAT_FIELDS_TABLE_H
#define MPMSTAT_FIELDS_TABLE_H

#include "render/sink.h"

enum mst_fields_format { MST_FIELDS_TEXT, MST_FIELDS_JSON, MST_FIELDS_MARKDOWN };

/* Writes what each metric is, and what each format calls it. Flushes the sink and returns its
 * error. */
int mst_render_fields(struct mst_sink *sink, enum mst_fields_format format);

#endif
