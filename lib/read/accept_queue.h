/* listen.h - what the kernel knows of a server's listening TCP sockets: how many
 * connections wait to be accepted, and how many found no room.
 *
 * Asked by readers of a board, also while every worker of the server is stuck.
 * Which sockets are a server's its parent's /proc/PID/fd says: a child may have
 * only some of them (ListenCoresBucketsRatio).
 */
#ifndef MPMSTAT_LISTEN_H
#define MPMSTAT_LISTEN_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "read/snapshot.h"

/* Inodes of the sockets that a process has open. */
struct mst_sockets {
    size_t    count, room;
    uint32_t *inodes;
};

/* False: not permitted (root and the process's own user are), or out of memory.
 * Free *s in either case. */
bool mst_sockets_read(struct mst_sockets *s, uint64_t pid);
void mst_sockets_free(struct mst_sockets *s);

struct mst_listen {
    bool   known;          /* false: the kernel did not tell of the listeners */
    size_t count;
    struct mst_snapshot_listener *listeners;   /* by address; those that share one are one */
    void  *addresses;      /* what the listeners' strings point into */
    /* Of all sockets of this network namespace since it was made; MST_UNKNOWN. */
    uint64_t overflows, drops;
};

/* Those of the sockets that listen on TCP. Always fills *l; free it. */
void mst_listen_read(struct mst_listen *l, const struct mst_sockets *s);

/* The same of a process, which may be in another network namespace: all is
 * unknown then. */
void mst_listen_read_process(struct mst_listen *l, uint64_t pid);
void mst_listen_free(struct mst_listen *l);

/* By address: the order in which they are shown. */
void mst_listen_sort(struct mst_snapshot_listener *listeners, size_t count);

/* overflows and drops alone, of this network namespace. */
void mst_listen_counters(uint64_t *overflows, uint64_t *drops);

/* What a snapshot is told of them. */
void mst_listen_tell(const struct mst_listen *l, struct mst_world *world);

#endif
