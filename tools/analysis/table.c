/* table.c - numbers in columns: see table.h. */
#include "analysis/table.h"

#include <math.h>
#include <stdlib.h>

#include "base/array.h"
#include "memory/pool.h"
#include "base/clock.h"
#include "segment/format.h"

double *mst_table_add(struct mst_table *table)
{
    double *row;
    size_t i;

    if (!mst_grow(&table->cells, &table->room, table->rows, table->width * sizeof *row))
        mst_out_of_memory();
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
