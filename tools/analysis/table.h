/* table.h - numbers in columns, for charts and CSV files.
 *
 * A cell is a double; NaN is "not known". Times are seconds, sizes bytes.
 */
#ifndef MPMSTAT_TABLE_H
#define MPMSTAT_TABLE_H

#include <stddef.h>
#include <stdint.h>

struct mst_table {
    const char        *name;
    const char *const *columns;       /* their names, as many as `width` */
    size_t             width, rows, room;
    double            *cells;         /* row by row */
};

/* A table whose columns have these static names. */
#define MST_TABLE(table_name, names) \
    (struct mst_table){ (table_name), (names), sizeof(names) / sizeof *(names), 0, 0, NULL }

/* Adds a row of cells that are not known. Where there is no memory left, the command ends. */
double *mst_table_add(struct mst_table *table);
void    mst_table_free(struct mst_table *table);

/* MST_UNKNOWN is NaN. */
double mst_cell(uint64_t number);
double mst_cell_seconds(uint64_t ns);

#endif
