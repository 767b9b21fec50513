/* name_table.h - requests by a name: a table that by_name.c makes. */
#ifndef MPMSTAT_NAME_TABLE_H
#define MPMSTAT_NAME_TABLE_H

#include <stddef.h>
#include <stdint.h>

#include "read/split.h"

struct mst_by_name_row {
    char    *name;                      /* NULL: all others */
    size_t   names;                     /* 1; of the others, how many they are */
    uint64_t requests, sum_ns;
    uint64_t p50_ns, p95_ns, p99_ns;    /* nearest rank; MST_UNKNOWN: of too few requests */
    uint64_t errors_4xx, errors_5xx, aborted;
    uint64_t parts_ns[MST_PART_COUNT]; /* sums; of an other end: none */
};

struct mst_by_name {
    struct mst_by_name_row *rows;       /* the longest time first, the others last */
    size_t   count;                     /* 0: there are no such names */
    uint64_t sum_ns;                    /* of all requests, also those without a name */
};

void mst_by_name_free(struct mst_by_name *table);

#endif
