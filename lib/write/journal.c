/* journal.c - writes lifecycle events to the ring, and counts them in the totals. */
#include "write/journal.h"

#include "write/worker.h"   /* mst_count */

/* The totals count by reason how processes with workers ended. */
static bool has_workers(unsigned kind)
{
    return kind == MST_KIND_CHILD || kind == MST_KIND_PHP;
}

static void count(struct mst_totals *t, const struct mst_lifecycle *e)
{
    unsigned kind = (unsigned)(e->event_kind & UINT32_MAX);

    switch ((enum mst_event)(e->event_kind >> 32)) {
    case MST_EVENT_FORK:
        if (kind < MST_KIND_COUNT)
            mst_count(&t->forks[kind], 1);
        break;
    case MST_EVENT_EXIT:
        if (e->reason < MST_REASON_COUNT && has_workers(kind))
            mst_count(&t->exits[e->reason], 1);
        if (kind < MST_KIND_COUNT)
            mst_count(&t->ended[kind], 1);
        mst_count(&t->unfinished, e->unfinished);
        break;
    case MST_EVENT_GENERATION:
        mst_count(&t->generations, 1);
        break;
    case MST_EVENT_FORK_FAILED:
        mst_count(&t->forks_failed, 1);
        break;
    case MST_EVENT_LIMIT:
    case MST_EVENT_COUNT:
        break;
    }
}

void mst_journal_lifecycle(struct mst_board *b, const struct mst_lifecycle *event)
{
    uint64_t ticket = __atomic_add_fetch(&b->header->lifecycle_written, 1, __ATOMIC_RELAXED);

    mst_journal_store(&b->lifecycle[ticket & b->lifecycle_mask], ticket, event,
                      MST_LIFECYCLE_WORDS);
    count(b->totals, event);
}
