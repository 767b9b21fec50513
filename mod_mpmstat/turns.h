/* turns.h - how many answers of the journal the server gives at once. */
#ifndef MPMSTAT_TURNS_H
#define MPMSTAT_TURNS_H

#include "mod_mpmstat.h"

/* How many there may be. Precondition of all: there is a board. */
uint32_t mst_turns_limit(void);

/* Whether one more is given now; if so, mst_turns_give_back() MUST follow it. */
bool mst_turns_take(void);
void mst_turns_give_back(void);

void mst_turns_register(apr_pool_t *p);

#endif
