/* memory.c - arrays of any size: see memory.h. */
#include "base/memory.h"

#include <stdalign.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>

#define ALIGNMENT 64u              /* a cache line */
#define BIG_BYTES (128u << 10)     /* malloc()'s own threshold for pages of their own, which it
                                    * raises as such blocks are freed */

/* Precedes each array. */
struct prefix {
    alignas(ALIGNMENT) size_t mapped_bytes;   /* with the prefix; 0: malloc()'s */
};

static struct prefix *map_pages(size_t bytes)
{
    struct prefix *p = mmap(NULL, bytes, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS,
                            -1, 0);

    if (p == MAP_FAILED)
        return NULL;
    p->mapped_bytes = bytes;
    return p;
}

void *mst_zalloc(size_t count, size_t size)
{
    struct prefix *p;
    void *memory;
    size_t bytes;

    if (__builtin_mul_overflow(count, size, &bytes)
        || __builtin_add_overflow(bytes, sizeof *p, &bytes))
        return NULL;
    if (bytes >= BIG_BYTES) {
        p = map_pages(bytes);
        return p != NULL ? p + 1 : NULL;
    }
    if (posix_memalign(&memory, ALIGNMENT, bytes) != 0)
        return NULL;
    memset(memory, 0, bytes);
    p = memory;
    return p + 1;
}

void mst_zfree(void *array)
{
    struct prefix *p = array;

    if (p == NULL)
        return;
    p--;
    if (p->mapped_bytes > 0)
        munmap(p, p->mapped_bytes);
    else
        free(p);
}
