/* capture.h - what a load tool prints, kept in files that have no name.
 *
 * A file takes whatever the tool writes without anyone reading along: the tool
 * is never held up. Nothing is left behind, not even after a kill -9.
 */
#ifndef MPMSTAT_CAPTURE_H
#define MPMSTAT_CAPTURE_H

#include <stddef.h>
#include <stdint.h>

#include "base/error.h"

/* Bytes that are set aside for it on the disk, where that can be done: what is recorded may
 * fill it meanwhile. */
#define MST_CAPTURE_ROOM (64 << 10)

/* A nameless file in $TMPDIR or /tmp, open for reading and writing, closed on
 * exec. -1 with a sentence. */
int mst_capture_open(char error[MST_ERROR_MAX]);

/* Bytes written to it so far. */
uint64_t mst_capture_bytes(int fd);

/* The last `most` bytes at most, with a NUL behind them. NULL: out of memory, or
 * it cannot be read. */
char *mst_capture_end(int fd, size_t most, size_t *n);

/* Copies what came since *offset to `to`, and moves *offset. */
void mst_capture_follow(int fd, uint64_t *offset, int to);

#endif
