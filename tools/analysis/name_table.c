/* name_table.c - requests by a name: see name_table.h. */
#include "analysis/name_table.h"

#include <stdlib.h>

void mst_by_name_free(struct mst_by_name *table)
{
    size_t i;

    for (i = 0; i < table->count; i++)
        free(table->rows[i].name);
    free(table->rows);
    *table = (struct mst_by_name){ 0 };
}
