/* array.h - arrays that grow: malloc()'s, the caller frees them with free().
 *
 * `array` is the address of the pointer to the first element, which is NULL at first.
 */
#ifndef MPMSTAT_ARRAY_H
#define MPMSTAT_ARRAY_H

#include <stdbool.h>
#include <stddef.h>

/* Adds an element of `size` bytes, all zero, and returns it. Another such element follows it, so
 * an array of pointers ends with NULL. NULL: out of memory, the array is as before. All elements
 * of an array are added with this function. */
void *mst_append(void *array, size_t *count, size_t size);

/* Doubles an array that has room for `*room` elements where that is not more than `count`. False:
 * out of memory, the array is as before. */
bool mst_grow(void *array, size_t *room, size_t count, size_t size);

#endif
