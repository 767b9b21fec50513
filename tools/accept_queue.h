/* accept_queue.h - the accept queues of a local server, asked of the kernel.
 *
 * The kernel tells even when every worker of the server is stuck. It needs to
 * know which sockets are the server's, and so may look at /proc/PID/fd only:
 * as root or as the server's own user.
 */
#ifndef MPMSTAT_ACCEPT_QUEUE_H
#define MPMSTAT_ACCEPT_QUEUE_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "snapshot.h"

struct mst_accept_queues {
    bool   known;                           /* false: not permitted, or in another namespace */
    size_t count;
    struct mst_snapshot_listener *listeners;   /* by address; those that share one are summed */
    void  *addresses;                       /* what the listeners' strings point into */
};

/* The TCP sockets on which the process listens. Always fills *queues; free it. */
void mst_accept_queues_read(struct mst_accept_queues *queues, uint64_t pid);
void mst_accept_queues_free(struct mst_accept_queues *queues);

#endif
