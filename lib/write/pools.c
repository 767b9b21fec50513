/* pools.c - the limits of FPM's pools: see pools.h. */
#include "write/pools.h"

#include "base/clock.h"
#include "write/worker.h"

void mst_pool_limits_clear(struct mst_board *b)
{
    uint32_t i;

    for (i = 0; i < b->label_count; i++) {
        __atomic_store_n(&b->labels[i].workers_limit, 0, __ATOMIC_RELAXED);
        __atomic_store_n(&b->labels[i].listen, 0, __ATOMIC_RELAXED);
        __atomic_store_n(&b->labels[i].pools, 0, __ATOMIC_RELAXED);
    }
}

void mst_pool_limit_add(struct mst_board *b, const char *label, uint64_t workers, uint64_t listen)
{
    uint32_t index = mst_label_reserve(b, label);
    struct mst_name *l = &b->labels[index];

    if (index == MST_LABEL_OTHER)
        return;
    if (l->listen == 0)
        __atomic_store_n(&l->listen, listen, __ATOMIC_RELAXED);
    __atomic_store_n(&l->workers_limit, l->workers_limit + workers, __ATOMIC_RELAXED);
    __atomic_store_n(&l->pools, l->pools + 1, __ATOMIC_RELAXED);
}

static uint64_t count_busy(const struct mst_board *b, uint32_t label)
{
    size_t workers = (size_t)b->process_count * b->threads, i;
    uint64_t busy = 0;

    for (i = 0; i < workers; i++)
        busy += __atomic_load_n(&b->workers[i].request_label, __ATOMIC_RELAXED) == label;
    return busy;
}

void mst_pool_limit_look(struct mst_board *b, uint32_t label, uint64_t now_ns)
{
    struct mst_name *l = &b->labels[label];
    uint64_t limit = __atomic_load_n(&l->workers_limit, __ATOMIC_RELAXED);
    uint64_t looked = __atomic_load_n(&l->looked_ns, __ATOMIC_RELAXED);

    if (limit > 0 && looked < now_ns && now_ns - looked >= MST_NS_PER_S
        && __atomic_compare_exchange_n(&l->looked_ns, &looked, now_ns, false, __ATOMIC_RELAXED,
                                       __ATOMIC_RELAXED)
        && count_busy(b, label) >= limit)
        mst_count(&l->limit_reached, 1);
}
