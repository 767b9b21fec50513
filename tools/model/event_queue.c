/* event_queue.c - see event_queue.h. */
#include "model/event_queue.h"

#include "base/array.h"
#include "memory/pool.h"

void mst_event_add(struct mst_event_queue *q, struct mst_event event)
{
    size_t i = q->count, parent;

    if (!mst_grow(&q->items, &q->room, q->count, sizeof *q->items))
        mst_out_of_memory();
    q->count++;
    for (; i > 0 && q->items[parent = (i - 1) / 2].at > event.at; i = parent)
        q->items[i] = q->items[parent];
    q->items[i] = event;
}

struct mst_event mst_event_take(struct mst_event_queue *q)
{
    struct mst_event first = q->items[0], last = q->items[--q->count];
    size_t i = 0, child;

    while ((child = 2 * i + 1) < q->count) {
        if (child + 1 < q->count && q->items[child + 1].at < q->items[child].at)
            child++;
        if (q->items[child].at >= last.at)
            break;
        q->items[i] = q->items[child];
        i = child;
    }
    q->items[i] = last;
    return first;
}
