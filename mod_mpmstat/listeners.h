/* listeners.h - the accept queues of this Apache's listening sockets. */
#ifndef MPMSTAT_LISTENERS_H
#define MPMSTAT_LISTENERS_H

#include <apr_pools.h>

#include "read/snapshot.h"

/* Asks the kernel for the queues. What it tells world of is from the pool. */
void mst_listeners_look(apr_pool_t *p, struct mst_world *world);

#endif
