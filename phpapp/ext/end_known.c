/* end_known.c - the objects and resources of the present request whose other ends are known. */
#include "end_known.h"

#include <string.h>

#include "state.h"

#define PROBES 4u

const void *mst_known_in(const zval *value)
{
    if (Z_TYPE_P(value) == IS_REFERENCE)
        value = Z_REFVAL_P(value);
    if (Z_TYPE_P(value) == IS_OBJECT)
        return Z_OBJ_P(value);
    return Z_TYPE_P(value) == IS_RESOURCE ? Z_RES_P(value) : NULL;
}

static struct mst_known *place_of(const void *thing, uint32_t probe)
{
    uint64_t hash = (uint64_t)(uintptr_t)thing * UINT64_C(0x9e3779b97f4a7c15) >> 32;

    return &MPMSTAT_G(waits).known[(hash + probe) % MPMSTAT_KNOWN];
}

uint64_t mst_known_find(const void *thing)
{
    uint32_t probe;

    if (!thing || !MPMSTAT_G(waits).has_known)
        return MST_KNOWN_NONE;
    for (probe = 0; probe < PROBES; probe++)
        if (place_of(thing, probe)->thing == thing)
            return place_of(thing, probe)->wait;
    return MST_KNOWN_NONE;
}

void mst_known_set(const void *thing, uint64_t wait)
{
    struct mst_known *k = NULL;
    uint32_t probe;

    if (!thing || (wait == MST_KNOWN_NONE && !MPMSTAT_G(waits).has_known))
        return;
    for (probe = 0; probe < PROBES; probe++) {
        k = place_of(thing, probe);
        if (k->thing == thing || k->thing == NULL)
            break;
    }
    *k = (struct mst_known){ thing, wait };
    MPMSTAT_G(waits).has_known = true;
}

void mst_known_forget(void)
{
    struct mst_waits *w = &MPMSTAT_G(waits);

    if (w->has_known)
        memset(w->known, 0, sizeof w->known);
    w->has_known = false;
}
