/* end_known.h - the objects and resources of the present request whose other ends are known.
 *
 * What a connection leads to is known when it is made. From then on it is remembered for the object
 * or resource, for which later functions are called.
 */
#ifndef MPMSTAT_PHP_END_KNOWN_H
#define MPMSTAT_PHP_END_KNOWN_H

#include <php.h>
#include <stdint.h>

#include "state.h"

#define MST_KNOWN_NONE UINT64_MAX   /* instead of a wait */

/* What identifies a value: the address of an object, or the number of a resource. No later resource
 * of the request gets the same number, but another object can soon have the same address. 0: the
 * value is neither. */
static inline uintptr_t mst_known_key(const zval *value)
{
    ZVAL_DEREF(value);
    if (Z_TYPE_P(value) == IS_OBJECT)
        return (uintptr_t)Z_OBJ_P(value);
    return Z_TYPE_P(value) == IS_RESOURCE ? (uintptr_t)Z_RES_HANDLE_P(value) << 1 | 1 : 0;
}

#define MST_KNOWN_PROBES 4u

static inline struct mst_known *mst_known_place(uintptr_t key, uint32_t probe)
{
    uint64_t hash = key * UINT64_C(0x9e3779b97f4a7c15) >> 32;

    return &MPMSTAT_G(waits).known[(hash + probe) % MPMSTAT_KNOWN];
}

/* The wait that is noted for a key; MST_KNOWN_NONE: none is. */
static inline uint64_t mst_known_find(uintptr_t key)
{
    uint32_t probe;

    for (probe = 0; probe < MST_KNOWN_PROBES && key != 0; probe++) {
        const struct mst_known *k = mst_known_place(key, probe);

        if (k->key == key)
            return k->wait;
    }
    return MST_KNOWN_NONE;
}

/* Notes what an object or resource waits for; not for a key of 0. MST_KNOWN_NONE: that is not
 * known. Where all places are taken, the last one loses its entry: that object's calls are counted
 * under the name of their line. */
void mst_known_set(uintptr_t key, uint64_t wait);

/* The request is over, and so are its objects. */
void mst_known_forget(void);

#endif
