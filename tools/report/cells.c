/* cells.c - tables and their cells as JSON: see cells.h. */
#include "report/cells.h"

#include "doc/quantity.h"

void mst_cell_json(struct mst_json *j, const char *key, double cell)
{
    mst_json_value(j, key);
    mst_real_put(j->out, cell, "null");
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
