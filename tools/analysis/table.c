/* table.c - numbers in columns: see table.h. */
#include "analysis/table.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/array.h"
#include "base/clock.h"
#include "segment/format.h"

#define WHOLE_MAX 1e15   /* whole numbers up to here are exact */

double *mst_table_add(struct mst_table *table)
{
    double *row;
    size_t i;

    if (!mst_grow(&table->cells, &table->room, table->rows, table->width * sizeof *row))
        return NULL;
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
