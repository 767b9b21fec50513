/* chaos.h - see chaos.c. */
#ifndef MPMSTAT_TEST_CHAOS_H
#define MPMSTAT_TEST_CHAOS_H

/* Does `what` (truncate, scribble, punch, unmap) to the board at the path `board`. The same seed
 * scribbles the same. Returns how much it could do; below 0: nothing, or it knows no such thing. */
long chaos(const char *what, const char *board, long seed);

#endif
