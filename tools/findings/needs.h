/* needs.h - what each of several servers needs of workers: see analysis/need.h. */
#ifndef MPMSTAT_NEEDS_H
#define MPMSTAT_NEEDS_H

#include "findings/inquiry.h"

/* Adds those of the budget's front and of the PHPs behind it; nothing where the load tool talked to
 * one server. The findings of that server are there. */
void mst_find_needs(struct mst_inquiry *q);

/* Where all needs are there: how many workers are enough where they did not run out. */
void mst_needs_find_enough(struct mst_inquiry *q);

/* The same: what they take of this machine's memory together. */
void mst_needs_add_up(struct mst_inquiry *q);

/* The need of a server, of several pools the first one's that ran out; NULL: it has none. */
const struct mst_need *mst_needs_get(const struct mst_summary *s,
                                     const struct mst_summary_server *server);

#endif
