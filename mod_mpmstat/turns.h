/* turns.h - how many answers of the journal the server gives at once, all processes together.
 * Precondition of all but mst_turns_reset(): there is a board. */
#ifndef MPMSTAT_TURNS_H
#define MPMSTAT_TURNS_H

#include "mod_mpmstat.h"

/* A child begins, and gives no answer. */
void mst_turns_reset(void);

/* The limit, 1 or more. */
uint32_t mst_turns_limit(void);

/* Whether one more answer may be given now; if so, mst_turns_give_back() MUST follow it. */
bool mst_turns_take(void);
void mst_turns_give_back(void);

#endif
