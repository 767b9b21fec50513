/* array.c - arrays that grow: see array.h. */
#include "base/array.h"

#include <stdlib.h>
#include <string.h>

#define FIRST_ROOM 4u

/* Pointers to different types have one representation, but are not of one type: hence memcpy(). */
static bool resize(void *array, size_t room, size_t size)
{
    void *items;

    memcpy(&items, array, sizeof items);
    items = reallocarray(items, room, size);
    if (items == NULL)
        return false;
    memcpy(array, &items, sizeof items);
    return true;
}

void *mst_append(void *array, size_t *count, size_t size)
{
    size_t used = *count + 1;   /* with the element of zeroes behind the last */
    char *items;

    if (*count == 0 ? !resize(array, FIRST_ROOM, size)
                    : used >= FIRST_ROOM && (used & (used - 1)) == 0 &&
                      !resize(array, 2 * used, size))
        return NULL;
    memcpy(&items, array, sizeof items);
    return memset(items + size * (*count)++, 0, 2 * size);
}

bool mst_grow(void *array, size_t *room, size_t count, size_t size)
{
    size_t more = *room > 0 ? 2 * *room : 64;

    if (count < *room)
        return true;
    if (!resize(array, more, size))
        return false;
    *room = more;
    return true;
}
