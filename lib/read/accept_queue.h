/* accept_queue.h - what the kernel knows of a server's listening sockets: how many connections
 * wait to be accepted, and how many found no room.
 *
 * Readers of a board ask the kernel itself, so that they learn it also while every worker of the
 * server is stuck. /proc/PID/fd of the server's parent tells which sockets are the server's: a
 * child can have only some of them (ListenCoresBucketsRatio).
 */
#ifndef MPMSTAT_ACCEPT_QUEUE_H
#define MPMSTAT_ACCEPT_QUEUE_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "read/snapshot.h"

/* Inodes of the sockets that a process has open. All zero: none. */
struct mst_sockets {
    size_t    count, room;
    uint32_t *inodes;
};

/* Returns false where this process has no permission (root and the process's own user have), or
 * there is not enough memory. Free *s in either case. */
bool mst_sockets_read(struct mst_sockets *s, uint64_t pid);
void mst_sockets_free(struct mst_sockets *s);

/* Connections that found no room, over all sockets of this network namespace since its creation;
 * MST_UNKNOWN where the kernel does not tell them. Readers of several servers at one moment share
 * them: the file that has them is long, and the same for all. */
struct mst_drops {
    bool     are_read;
    uint64_t overflows, drops;
};

struct mst_listen {
    bool   known;          /* false: the kernel did not tell the listeners */
    size_t count;
    struct mst_snapshot_listener *listeners;   /* by address; sockets that share one are one */
    void  *addresses;      /* what the listeners' strings point into */
    uint64_t overflows, drops;   /* as struct mst_drops has them */
};

/* Reads the queues of those of the sockets that listen on TCP; with_unix: on Unix sockets, too.
 * (FPM's parent has those of its pools. Apache's can have those of other servers: mod_wsgi.) Fills
 * *l in any case; free it. */
void mst_listen_read(struct mst_listen *l, const struct mst_sockets *s, bool with_unix);

/* The same for the sockets of a process. It takes overflows and drops from `drops`, and reads them
 * into it where no call has read them yet; NULL: it reads them for this call alone. All is unknown
 * where the process is in another network namespace. */
void mst_listen_read_process(struct mst_listen *l, uint64_t pid, bool with_unix,
                             struct mst_drops *drops);

/* The same for the pools of FPM, by the addresses that its board has of them: any user may ask the
 * kernel so. Other listeners of FPM, and those in another network namespace, are unknown.
 * Precondition: FPM runs. */
void mst_listen_read_pools(struct mst_listen *l, const struct mst_copy *fpm,
                           struct mst_drops *drops);
void mst_listen_free(struct mst_listen *l);

/* Sorts by address, the order in which formats show them. */
void mst_listen_sort(struct mst_snapshot_listener *listeners, size_t count);

/* Reads overflows and drops of this network namespace; MST_UNKNOWN. */
void mst_listen_counters(uint64_t *overflows, uint64_t *drops);

/* Copies all that into what a snapshot takes from outside the board. *l must outlive it. */
void mst_listen_tell(const struct mst_listen *l, struct mst_world *world);

#endif
