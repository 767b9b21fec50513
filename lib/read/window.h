/* window.h - which time the records in a board's journal cover. */
#ifndef MPMSTAT_WINDOW_H
#define MPMSTAT_WINDOW_H

#include "segment/reader.h"

struct mst_window {
    uint64_t since_ns;   /* CLOCK_MONOTONIC: the oldest record's start, or the board's until the
                          * journal is full; MST_UNKNOWN */
    uint64_t told_ns;    /* the part of it without an idle worker, as far as events report it;
                          * MST_UNKNOWN */
};

/* Reads the window that the journal has now. header: as of now. What cannot be read is
 * MST_UNKNOWN. */
void mst_window_read(struct mst_window *w, const struct mst_reader *r,
                     const struct mst_header *header);

#endif
