/* budget.h - what looking at boards may cost, and whose boards they are.
 *
 * Used by: the module's handler and the tool, before they copy a board. A board's owner
 * decides what is in it, so the boards of users other than root and the reader may cost
 * less, and no user's boards can use up what is left for root's.
 */
#ifndef MPMSTAT_BUDGET_H
#define MPMSTAT_BUDGET_H

#include "segment/reader.h"

/* What copying and showing the board costs at most, in bytes of memory: what a copy reads
 * of the file, and for each process and worker what a snapshot, the look into /proc and
 * the rendering come to. Journals of requests are not part of it. */
uint64_t mst_reader_cost(const struct mst_reader *r);

/* What all boards of one look may cost together, and the part of it that is for boards
 * of other users. Taking reduces both. */
struct mst_budget { uint64_t all, others; };

/* Takes the board's cost. Returns 0; or -1 with a sentence, and nothing is taken: too
 * little is left. Giving returns what was taken for the board. */
int  mst_budget_take(struct mst_budget *budget, const struct mst_reader *r,
                     char error[MST_ERROR_MAX]);
void mst_budget_give(struct mst_budget *budget, const struct mst_reader *r);

#endif
