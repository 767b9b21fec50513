/* snapshot_wanted.c - how many workers would be in use if no connection had to wait for one.
 *
 * While all workers are busy, their number says nothing of how many are missing. Prefork, worker
 * and event take a connection from the accept queue only when they have a worker for it, and so
 * does FPM: each connection that is still in the queue wants a worker.
 */
#include "read/snapshot_draft.h"

#include <string.h>

#include "base/saturate.h"

enum counted { COUNT_WAITING, COUNT_TAKEN };

static uint64_t count_connections(const struct mst_snapshot *s, const char *pool,
                                  enum counted counted)
{
    uint64_t sum = 0, number;
    size_t i, found = 0;

    for (i = 0; s->listeners_known && i < s->listener_count; i++) {
        const struct mst_snapshot_listener *l = &s->listeners[i];

        if (pool != NULL && (l->pool == NULL || strcmp(l->pool, pool) != 0))
            continue;
        number = counted == COUNT_WAITING ? l->queue : l->connections;
        if (number == MST_UNKNOWN)
            return MST_UNKNOWN;
        sum = mst_add_saturated(sum, number);
        found++;
    }
    return found > 0 ? sum : MST_UNKNOWN;
}

uint64_t mst_snapshot_queue(const struct mst_snapshot *s, const char *pool)
{
    return count_connections(s, pool, COUNT_WAITING);
}

/* A worker of FPM has a connection without a request while its client keeps it, and a request
 * without a connection after fastcgi_finish_request(). The board has the address of only one of
 * several pools with the same label: how many wait for them together is not known. */
static uint64_t wanted_of_pool(const struct mst_snapshot *s, const struct mst_snapshot_label *label)
{
    uint64_t waiting = count_connections(s, label->label, COUNT_WAITING);
    uint64_t taken = count_connections(s, label->label, COUNT_TAKEN);

    if (waiting == MST_UNKNOWN || taken == MST_UNKNOWN)
        return MST_UNKNOWN;
    return mst_add_saturated(taken > label->in_flight ? taken : label->in_flight, waiting);
}

void mst_draft_fill_wanted(struct mst_draft *m, const char *const *names)
{
    struct mst_snapshot *s = m->s;
    struct mst_snapshot_label *label = s->labels;
    uint64_t waiting = mst_snapshot_queue(s, NULL);
    size_t i;

    s->workers_wanted = MST_UNKNOWN;
    if (m->copy->header.producer == MST_PRODUCER_APACHE && !m->stopped && waiting != MST_UNKNOWN)
        s->workers_wanted = mst_add_saturated(s->workers_busy, waiting);
    for (i = 0; i < m->copy->label_count; i++) {
        if (names[i] == NULL)
            continue;   /* no label of the snapshot */
        label->workers_wanted = m->copy->labels[i].pools == 1 && !m->stopped
                              ? wanted_of_pool(s, label) : MST_UNKNOWN;
        label++;
    }
}
