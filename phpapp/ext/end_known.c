/* end_known.c - the objects and resources of the present request whose other ends are known. */
#include "end_known.h"

#include <string.h>

void mst_known_set(uintptr_t key, uint64_t wait)
{
    struct mst_known *k = NULL;
    uint32_t probe;

    if (key == 0 || (wait == MST_KNOWN_NONE && !MPMSTAT_G(waits).has_known))
        return;
    for (probe = 0; probe < MST_KNOWN_PROBES; probe++) {
        k = mst_known_place(key, probe);
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
