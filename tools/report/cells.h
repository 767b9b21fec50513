/* cells.h - tables and their cells as JSON. */
#ifndef MPMSTAT_CELLS_H
#define MPMSTAT_CELLS_H

#include "analysis/table.h"
#include "render/json_writer.h"

/* "name": {"column": [numbers], ...} on a line of its own; null where not known. */
void mst_table_json(struct mst_json *j, const struct mst_table *table);
void mst_cell_json(struct mst_json *j, const char *key, double cell);

#endif
