/* pools.h - how many workers each FPM pool can have, how often FPM found it at that limit, and
 * where it listens: at the pool's label.
 *
 * The master writes the limits as it starts and at each reload. Workers count how often they find
 * the pool at its limit. FPM has a count of its own, which nobody can ask for safely: its function
 * fpm_get_status() crashes the worker that calls it while another one is being forked.
 */
#ifndef MPMSTAT_POOLS_H
#define MPMSTAT_POOLS_H

#include "write/board.h"

/* Removes the limits of all labels: those before a reload. What was counted stays. */
void mst_pool_limits_clear(struct mst_board *b);

/* Adds the limit of a pool to its label, which it can share with other pools. listen:
 * mst_listen_hash() of its address, of which a label keeps the first pool's; 0: not known. Does
 * nothing where the table has no room for the label. */
void mst_pool_limit_add(struct mst_board *b, const char *label, uint64_t workers, uint64_t listen);

/* Called by a worker while it still shows its request under that label: counts once where all of
 * the pool's workers are busy. Looks at most once a second at each pool. */
void mst_pool_limit_look(struct mst_board *b, uint32_t label, uint64_t now_ns);

#endif
