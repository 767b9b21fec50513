/* listeners.h - the accept queues of this Apache's listening sockets. */
#ifndef MPMSTAT_LISTENERS_H
#define MPMSTAT_LISTENERS_H

#include <apr_pools.h>

#include "board/snapshot.h"

/* Asks the kernel for each listener's queue. The array is from the pool. */
struct mst_snapshot_listener *mst_listeners(apr_pool_t *p, size_t *count);

#endif
