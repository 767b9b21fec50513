/* busy.h - how many workers are busy, and since when none is idle. For writers.
 *
 * A worker that is killed cannot count itself down again. So each process counts
 * its own busy workers beside the board's sum; when it has ended, its part is
 * taken off (mst_busy_drop), and what the kill tore in between is mended
 * (mst_busy_mend). On the way of a connection, not of each request (event: of
 * each time a worker takes one up).
 */
#ifndef MPMSTAT_BUSY_H
#define MPMSTAT_BUSY_H

#include "board.h"

/* A worker of process p is no longer idle. */
void mst_busy_begin(struct mst_board *b, struct mst_process *p, uint64_t now_ns);

/* A worker of process p is idle again. */
void mst_busy_end(struct mst_board *b, struct mst_process *p, uint64_t now_ns);

/* The process has ended: none of its workers is busy. */
void mst_busy_drop(struct mst_board *b, struct mst_process *p, uint64_t now_ns);

/* The parent, after a child was killed: makes the sum agree with its parts. */
void mst_busy_mend(struct mst_board *b, uint64_t now_ns);

/* Now and then: tells how long no worker was idle where no event has yet. */
void mst_busy_tell(struct mst_board *b, uint64_t now_ns);

/* The limit has changed (a restart): none is idle from now on, or some are. */
void mst_busy_relimit(struct mst_board *b, uint64_t now_ns);

#endif
