/* names.c - a hash table with open addressing: see names.h. */
#include "stats/names.h"

#include <stdlib.h>
#include <string.h>

#include "base/array.h"

#define SLOTS (4 * MST_NAMES_MAX)   /* a power of two */

bool mst_names_begin(struct mst_names *n)
{
    *n = (struct mst_names){ .slots = calloc(SLOTS, sizeof *n->slots), .count = 1 };
    if (n->slots == NULL || !mst_grow(&n->items, &n->room, 0, sizeof *n->items))
        return false;
    n->items[0] = NULL;
    return true;
}

void mst_names_end(struct mst_names *n)
{
    size_t i;

    for (i = 0; i < n->count && n->items != NULL; i++)
        free(n->items[i]);
    free(n->items);
    free(n->slots);
}

static uint32_t hash_of(const char *name)
{
    uint32_t hash = 2166136261u;   /* FNV-1a */

    for (; *name != '\0'; name++)
        hash = (hash ^ (unsigned char)*name) * 16777619u;
    return hash;
}

bool mst_names_number(struct mst_names *n, const char *name, size_t *number)
{
    uint32_t slot = hash_of(name) & (SLOTS - 1);
    char *copy;

    for (; n->slots[slot] != 0; slot = (slot + 1) & (SLOTS - 1)) {
        *number = n->slots[slot];
        if (strcmp(n->items[*number], name) == 0)
            return true;
    }
    *number = 0;
    if (n->count > MST_NAMES_MAX)
        return true;
    copy = strdup(name);
    if (copy == NULL || !mst_grow(&n->items, &n->room, n->count, sizeof *n->items)) {
        free(copy);
        return false;
    }
    *number = n->count;
    n->slots[slot] = (uint32_t)n->count;
    n->items[n->count++] = copy;
    return true;
}
