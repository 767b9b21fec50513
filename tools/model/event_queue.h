/* event_queue.h - what is due, the earliest first: a binary heap. */
#ifndef MPMSTAT_MODEL_EVENT_QUEUE_H
#define MPMSTAT_MODEL_EVENT_QUEUE_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

struct mst_event {
    double   at;          /* the simulated time, or for CPUs the work done until then */
    uint32_t what, who;
};

/* Zero it before use; free(items) after it. */
struct mst_event_queue {
    struct mst_event *items;
    size_t            count, room;
};

void mst_event_add(struct mst_event_queue *q, struct mst_event event);
/* Takes the earliest away; there is one. */
struct mst_event mst_event_take(struct mst_event_queue *q);

#endif
