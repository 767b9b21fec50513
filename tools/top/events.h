/* events.h - what happened to servers: the model's list of events. */
#ifndef MPMSTAT_TOP_EVENTS_H
#define MPMSTAT_TOP_EVENTS_H

#include "top/counts.h"

/* Adds an event; the oldest one leaves where there are MST_TOP_EVENTS. */
void mst_top_event(struct mst_top *top, size_t server, uint64_t wall_ns, const char *format, ...)
    __attribute__((format(printf, 4, 5)));

/* Adds the events that the counters tell of. */
void mst_top_compare(struct mst_top *top, size_t server, const struct mst_top_counts *before,
                     const struct mst_top_counts *now, uint64_t wall_ns);

#endif
