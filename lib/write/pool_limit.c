/* pool_limit.c - the limits of FPM's pools: see pool_limit.h. */
#include "write/pool_limit.h"

#include "base/clock.h"
#include "write/worker.h"

/* For each worker that the pool can have, FPM is asked that much more rarely: it describes a
 * worker in about 2 us. */
#define ASK_WORKER_NS (10 * MST_NS_PER_MS)

void mst_pool_limits_clear(struct mst_board *b)
{
    uint32_t i;

    for (i = 0; i < b->label_count; i++) {
        __atomic_store_n(&b->labels[i].workers_limit, 0, __ATOMIC_RELAXED);
        __atomic_store_n(&b->labels[i].fpm_reached, 0, __ATOMIC_RELAXED);
        __atomic_store_n(&b->labels[i].asked_ns, 0, __ATOMIC_RELAXED);
        __atomic_store_n(&b->labels[i].listen, 0, __ATOMIC_RELAXED);
    }
}

/* The counts of pools that share a label cannot be told apart: then it is unknown. */
void mst_pool_limit_add(struct mst_board *b, const char *label, uint64_t workers, bool is_counted,
                        uint64_t listen)
{
    uint32_t index = mst_label_reserve(b, label);
    struct mst_name *l = &b->labels[index];

    if (index == MST_LABEL_OTHER)
        return;
    if (!is_counted || l->workers_limit > 0)
        __atomic_store_n(&l->asked_ns, MST_UNKNOWN, __ATOMIC_RELAXED);
    if (l->listen == 0)
        __atomic_store_n(&l->listen, listen, __ATOMIC_RELAXED);
    __atomic_store_n(&l->workers_limit, l->workers_limit + workers, __ATOMIC_RELAXED);
}

bool mst_pool_limit_is_to_ask(struct mst_board *b, uint32_t label, uint64_t now_ns)
{
    struct mst_name *l = &b->labels[label];
    uint64_t limit = __atomic_load_n(&l->workers_limit, __ATOMIC_RELAXED);
    uint64_t asked = __atomic_load_n(&l->asked_ns, __ATOMIC_RELAXED);

    return limit > 0 && asked < now_ns && now_ns - asked > MST_NS_PER_S
        && (now_ns - asked - MST_NS_PER_S) / ASK_WORKER_NS >= limit
        && __atomic_compare_exchange_n(&l->asked_ns, &asked, now_ns, false, __ATOMIC_RELAXED,
                                       __ATOMIC_RELAXED);
}

void mst_pool_limit_answer(struct mst_board *b, uint32_t label, uint64_t reached)
{
    struct mst_name *l = &b->labels[label];
    uint64_t before = __atomic_load_n(&l->fpm_reached, __ATOMIC_RELAXED);

    if (reached == MST_UNKNOWN) {
        __atomic_store_n(&l->asked_ns, MST_UNKNOWN, __ATOMIC_RELAXED);
        return;
    }
    while (before < reached)
        if (__atomic_compare_exchange_n(&l->fpm_reached, &before, reached, false,
                                        __ATOMIC_RELAXED, __ATOMIC_RELAXED)) {
            mst_count(&l->limit_reached, reached - before);
            return;
        }
}
