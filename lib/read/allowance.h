/* allowance.h - what copying and showing boards may cost.
 *
 * Used by: the module's handler and the tool, before they copy a board. A board's owner decides
 * what is in it. So the boards of users other than root and the reader have a smaller limit,
 * and cannot use up what is left for root's.
 */
#ifndef MPMSTAT_ALLOWANCE_H
#define MPMSTAT_ALLOWANCE_H

#include "segment/reader.h"

/* The upper limit of what copying and showing the board costs, in bytes of memory: what a copy
 * reads of the file, and for each process and worker the equivalent of its snapshot, its lookup
 * in /proc and its rendering. Journals of requests are not part of it. */
uint64_t mst_reader_cost(const struct mst_reader *r);

/* What the boards that are shown together may cost, in bytes, and the part of it for boards of
 * other users. Taking from it reduces both. */
struct mst_allowance { uint64_t all, others; };

/* Takes the board's cost from the allowance. Returns 0; or -1 with a sentence where too little is
 * left, and takes nothing. */
int  mst_allowance_take(struct mst_allowance *allowance, const struct mst_reader *r,
                     char error[MST_ERROR_MAX]);

/* Gives back what was taken for the board. */
void mst_allowance_give(struct mst_allowance *allowance, const struct mst_reader *r);

#endif
