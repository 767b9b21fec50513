/* label.c - the label table: names that requests are tallied under. */
#include <sched.h>
#include <stdio.h>
#include <string.h>

#include "board.h"

/* Label entries go from free (0) over being named (CLAIMED) to used (1). */
#define CLAIMED UINT64_C(2)

static bool same_label(const struct mst_label_name *l, const char *name)
{
    return strncmp(l->name, name, MST_NAME_MAX - 1) == 0;
}

/* Waits for whoever claimed the entry a moment ago; its naming is a few stores.
 * Bounded: a claimant killed between them leaves a label nobody can use. */
static bool becomes_used(const struct mst_label_name *l)
{
    int tries;

    for (tries = 0; tries < 1000; tries++) {
        if (__atomic_load_n(&l->used, __ATOMIC_ACQUIRE) == 1)
            return true;
        sched_yield();
    }
    return false;
}

uint32_t mst_label_intern(struct mst_board *b, const char *name)
{
    uint32_t i;

    for (i = 0; i < b->label_count; i++) {
        struct mst_label_name *l = &b->labels[i];
        uint64_t free_entry = 0;

        if (__atomic_compare_exchange_n(&l->used, &free_entry, CLAIMED, false,
                                        __ATOMIC_ACQ_REL, __ATOMIC_ACQUIRE)) {
            snprintf(l->name, sizeof l->name, "%s", name);
            __atomic_store_n(&l->used, 1, __ATOMIC_RELEASE);
            return i;
        }
        if (becomes_used(l) && same_label(l, name))
            return i;
    }
    return MST_LABEL_OTHER;
}
