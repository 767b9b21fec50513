/* names.h - numbers names in the order in which they come: requests are added up by them. */
#ifndef MPMSTAT_NAMES_H
#define MPMSTAT_NAMES_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#define MST_NAMES_MAX 16384u   /* names beyond have the number 0 */

struct mst_names {
    char     **items;          /* by number, from 1; the caller can take one away and leave NULL,
                                * when it numbers no more */
    size_t     count;          /* with that of the number 0: 1 at least */
    size_t     room;
    uint32_t  *slots;          /* numbers by hash; 0: free */
};

/* False: out of memory; mst_names_end() is allowed then, too. */
bool mst_names_begin(struct mst_names *n);
void mst_names_end(struct mst_names *n);

/* The number of the name, which is new or not. False: out of memory. */
bool mst_names_number(struct mst_names *n, const char *name, size_t *number);

#endif
