/* kept.h - the requests of a server as they were read, kept in little memory: a summary reads them
 * once, and what comes after it (findings, charts, tables) walks over them here.
 *
 * A request takes about 40 bytes: numbers of as many bytes as they need, the parts that it has, and
 * the numbers of its names.
 */
#ifndef MPMSTAT_KEPT_H
#define MPMSTAT_KEPT_H

#include "analysis/requests.h"

struct mst_kept;

/* NULL: out of memory. */
struct mst_kept *mst_kept_new(void);
void mst_kept_free(struct mst_kept *k);   /* NULL is allowed */

/* False: out of memory. Not all of it is kept: see struct mst_walked. */
bool mst_kept_add(struct mst_kept *k, const struct mst_walked *request);

/* The parts that any of them has: 1 << enum mst_part each. */
uint64_t mst_kept_parts(const struct mst_kept *k);

/* No request follows: frees what only adding needs. */
void mst_kept_end(struct mst_kept *k);

/* All of them, in the order in which they were added; NULL has none. False: `each` said so. */
bool mst_kept_walk(const struct mst_kept *k, mst_walk_each *each, void *context);

#endif
