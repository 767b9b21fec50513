/* window.h - the journal's window: how far back its request records reach, and what
 * the lifecycle events tell of that time. For copy.c. */
#ifndef MPMSTAT_WINDOW_H
#define MPMSTAT_WINDOW_H

#include "read/copy.h"

/* Of the header as it was copied from the reader's board. */
void mst_window_read(struct mst_window *w, const struct mst_reader *r,
                     const struct mst_header *header);

#endif
