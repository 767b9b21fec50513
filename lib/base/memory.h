/* memory.h - arrays of any size for readers of boards.
 *
 * A copy of a large board takes many megabytes for a moment. The allocator would keep them for
 * this process, so that a server that was asked for its status page stays large: big arrays
 * have pages of their own, which go back to the kernel when they are freed.
 */
#ifndef MPMSTAT_MEMORY_H
#define MPMSTAT_MEMORY_H

#include <stddef.h>

/* count * size bytes of zeroes, aligned to a cache line as the board's structs need it. Returns
 * NULL where there is not enough memory. The caller frees it with mst_zfree(), not free(). */
void *mst_zalloc(size_t count, size_t size);

/* Frees what mst_zalloc() returned, or nothing where it is NULL. */
void mst_zfree(void *array);

#endif
