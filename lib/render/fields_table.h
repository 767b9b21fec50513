/* fields_table.h - the table of all metrics as documentation. */
#ifndef MPMSTAT_FIELDS_TABLE_H
#define MPMSTAT_FIELDS_TABLE_H

#include "render/sink.h"

enum mst_fields_format { MST_FIELDS_TEXT, MST_FIELDS_JSON, MST_FIELDS_MARKDOWN };

/* How the metrics that a user's word means are found: the first of these that any metric fits. */
enum mst_fields_match {
    MST_FIELDS_ALL,        /* there is no word */
    MST_FIELDS_NAMED,      /* a name of the metric, in any format, also with an element's name in
                            * it: workers_busy, WorkersIdle, Label[www]QueueP99Seconds */
    MST_FIELDS_CONTAINING, /* a part of a name, whatever its case */
    MST_FIELDS_NONE
};
enum mst_fields_match mst_fields_match(const char *word);

/* Writes what each metric is, and what each format calls it, for the metrics that `word` selects by
 * the rule `match`. Flushes the sink and returns its error. */
int mst_render_fields(struct mst_sink *sink, enum mst_fields_format format,
                      enum mst_fields_match match, const char *word);

#endif
