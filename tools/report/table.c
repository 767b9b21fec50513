/* table.c - numbers in columns: see table.h. */
#include "report/table.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/clock.h"
#include "segment/format.h"

#define WHOLE_MAX 1e15   /* whole numbers up to here are exact */

double *mst_table_add(struct mst_table *table)
{
    double *row;
    size_t i;

    if (table->rows == table->room) {
        size_t room = table->room > 0 ? 2 * table->room : 64;
        double *cells = reallocarray(table->cells, room * table->width, sizeof *cells);

        if (cells == NULL)
            return NULL;
        table->cells = cells;
        table->room = room;
    }
    row = table->cells + table->rows++ * table->width;
    for (i = 0; i < table->width; i++)
        row[i] = NAN;
    return row;
}

void mst_table_free(struct mst_table *table)
{
    free(table->cells);
    table->cells = NULL;
    table->rows = table->room = 0;
}

double mst_cell(uint64_t number)
{
    return number == MST_UNKNOWN ? NAN : (double)number;
}

double mst_cell_seconds(uint64_t ns)
{
    return ns == MST_UNKNOWN ? NAN : (double)ns / (double)MST_NS_PER_S;
}

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

void mst_table_json(struct mst_sink *sink, const struct mst_table *table)
{
    size_t row, column;

    mst_sink_json_string(sink, table->name);
    mst_sink_puts(sink, ": {");
    for (column = 0; column < table->width; column++) {
        mst_sink_puts(sink, column > 0 ? ",\n " : "");
        mst_sink_json_string(sink, table->columns[column]);
        mst_sink_puts(sink, ": [");
        for (row = 0; row < table->rows; row++) {
            if (row > 0)
                mst_sink_char(sink, ',');
            mst_cell_put(sink, table->cells[row * table->width + column], "null");
        }
        mst_sink_puts(sink, "]");
    }
    mst_sink_puts(sink, "}");
}
