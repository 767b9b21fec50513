/* chains.h - which finding follows from which other one, and what this changes: the root comes
 * first, and what follows from it has no advice that cannot help while the root stands. */
#ifndef MPMSTAT_FINDINGS_CHAINS_H
#define MPMSTAT_FINDINGS_CHAINS_H

#include "findings/inquiry.h"

/* Finds what slowness follows from what, among the findings of the budget's front and the run's.
 * After the rules of that server, before mst_find_settings(). */
void mst_chain_slowness(struct mst_inquiry *q);

/* Finds what failures follow from. After all rules. */
void mst_chain_failures(struct mst_inquiry *q);

/* Puts each root before what follows from it; but what failed stays before what made it slow. After
 * both. */
void mst_chain_order(struct mst_summary *s);

/* Notes that f follows from root, and takes its advice away unless that `helps` all the same. */
void mst_follows(struct mst_finding *f, const struct mst_finding *root, bool helps);

/* The finding at the beginning of f's chain; f itself where it follows from none. */
const struct mst_finding *mst_finding_root(const struct mst_summary *s,
                                           const struct mst_finding *f);

#endif
