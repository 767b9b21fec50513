/* listeners.h - the accept queues of this Apache's listening sockets. */
#ifndef MPMSTAT_LISTENERS_H
#define MPMSTAT_LISTENERS_H

#include <httpd.h>

#include "read/snapshot.h"

/* post_config: notes which sockets this server listens on. */
int mst_listeners_note_sockets(apr_pool_t *pconf, apr_pool_t *plog, apr_pool_t *ptemp,
                               server_rec *s);

/* Sets the listeners, the lengths of their queues and the kernel's counters of lost connections.
 * What world points to is from the pool. */
void mst_listeners_read(apr_pool_t *p, struct mst_world *world);

#endif
