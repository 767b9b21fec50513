/* cells.c - tables and their cells as text and as JSON: see cells.h. */
#include "report/cells.h"

#include <math.h>
#include <stdio.h>
#include <string.h>

#define WHOLE_MAX 1e15   /* whole numbers up to here are exact */

void mst_cell_put(struct mst_sink *sink, double cell, const char *unknown)
{
    char text[32];

    if (!isfinite(cell)) {
        mst_sink_puts(sink, unknown);
        return;
    }
    snprintf(text, sizeof text, fabs(cell) < WHOLE_MAX && cell == rint(cell) ? "%.0f" : "%.6g",
             cell);
    mst_sink_puts(sink, strcmp(text, "-0") == 0 ? "0" : text);
}

void mst_cell_json(struct mst_json *j, const char *key, double cell)
{
    mst_json_value(j, key);
    mst_cell_put(j->out, cell, "null");
}

void mst_table_json(struct mst_json *j, const struct mst_table *table)
{
    size_t row, column;

    mst_json_line(j, 0);
    mst_json_begin(j, table->name, '{');
    for (column = 0; column < table->width; column++) {
        mst_json_line(j, 1);
        mst_json_begin(j, table->columns[column], '[');
        for (row = 0; row < table->rows; row++)
            mst_cell_json(j, NULL, table->cells[row * table->width + column]);
        mst_json_end(j, ']');
    }
    mst_json_end(j, '}');
}
