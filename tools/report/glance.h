/* glance.h - a snapshot as ten lines for a person: mpmstat status in a terminal. */
#ifndef MPMSTAT_GLANCE_H
#define MPMSTAT_GLANCE_H

#include "read/snapshot.h"
#include "render/sink.h"

/* Writes one board: which server, its load, its workers and queues, where its time went, what ran
 * out, and what takes longest. At most 80 columns; what is unknown has no line. */
void mst_glance(struct mst_sink *sink, const struct mst_snapshot *board);

#endif
