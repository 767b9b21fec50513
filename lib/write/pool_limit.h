/* pool_limit.h - how many workers each FPM pool can have, how often FPM found it at that limit, and
 * where it listens: at the pool's label.
 *
 * The master writes the limits as it starts and at each reload. Workers write FPM's own count,
 * which only FPM's processes can read.
 */
#ifndef MPMSTAT_POOL_LIMIT_H
#define MPMSTAT_POOL_LIMIT_H

#include "write/board.h"

/* Removes the limits of all labels: those before a reload. What FPM counted stays. */
void mst_pool_limits_clear(struct mst_board *b);

/* Adds the limit of a pool to its label, which it can share with other pools. is_counted: FPM
 * counts how often the pool is at its limit. listen: mst_listen_hash() of its address, of which a
 * label keeps the first pool's; 0: not known. Does nothing where the table has no room for the
 * label. */
void mst_pool_limit_add(struct mst_board *b, const char *label, uint64_t workers, bool is_counted,
                        uint64_t listen);

/* Whether this process is to ask FPM for its count now: about once a second for each pool, and
 * more rarely for large ones, since FPM's answer takes time for each worker. */
bool mst_pool_limit_is_to_ask(struct mst_board *b, uint32_t label, uint64_t now_ns);

/* Takes FPM's answer: its count since the start or the latest reload; MST_UNKNOWN: FPM cannot be
 * asked. */
void mst_pool_limit_answer(struct mst_board *b, uint32_t label, uint64_t reached);

#endif
