/* end_known.c - the objects and resources of the present request whose other ends are known. */
#include "end_known.h"

#include <string.h>

#include "state.h"

#define PROBES 4u

static struct mst_known *place_of(uintptr_t key, uint32_t probe)
{
    uint64_t hash = key * UINT64_C(0x9e3779b97f4a7c15) >> 32;

    return &MPMSTAT_G(waits).known[(hash + probe) % MPMSTAT_KNOWN];
}

uint64_t mst_known_find(uintptr_t key)
{
    uint32_t probe;

    for (probe = 0; probe < PROBES; probe++)
        if (place_of(key, probe)->key == key && key != 0)
            return place_of(key, probe)->wait;
    return MST_KNOWN_NONE;
}

void mst_known_set(uintptr_t key, uint64_t wait)
{
    struct mst_known *k = NULL;
    uint32_t probe;

    if (key == 0 || (wait == MST_KNOWN_NONE && !MPMSTAT_G(waits).has_known))
        return;
    for (probe = 0; probe < PROBES; probe++) {
        k = place_of(key, probe);
        if (k->key == key || k->key == 0)
            break;
    }
    *k = (struct mst_known){ key, wait };
    MPMSTAT_G(waits).has_known = true;
}

void mst_known_forget(void)
{
    struct mst_waits *w = &MPMSTAT_G(waits);

    if (w->has_known)
        memset(w->known, 0, sizeof w->known);
    w->has_known = false;
}
