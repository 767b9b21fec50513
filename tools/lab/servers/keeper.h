/* keeper.h - the process between mpmstat and a stack's servers, which outlives neither.
 *
 *   mpmstat --order--> keeper --signals--> servers and their children
 *           <--news---
 *
 * It starts the servers one after the other, each when the one before it listens, and waits.
 * When told to stop, and when mpmstat is gone (even by kill -9), it stops them in reverse
 * order, runs the teardown, kills what is left of theirs and removes their directory. It is
 * the reaper of all of them (PR_SET_CHILD_SUBREAPER). Where itself is killed, the servers
 * get a SIGTERM from the kernel, and rootdir.h cleans up the rest.
 */
#ifndef MPMSTAT_LAB_KEEPER_H
#define MPMSTAT_LAB_KEEPER_H

#include <stdbool.h>
#include <sys/types.h>

#include "base/error.h"
#include "lab/servers/rootdir.h"
#include "lab/servers/site.h"
#include "lab/servers/tenants.h"

#define MST_LAB_KEEPER "mpmstat-lab"   /* the keeper's name, as ps shows it */

struct mst_keeper;

struct mst_keeper_plan {
    const struct mst_rootdir *root;
    const struct mst_site    *site;
    const struct mst_tenants *tenants;          /* NULL: none */
    const int                *held;             /* sockets that keep the ports */
};

enum mst_keeper_news {
    MST_KEEPER_NOTHING,     /* nothing new */
    MST_KEEPER_STARTED,     /* a server: pid is its */
    MST_KEEPER_READY,       /* all of them listen */
    MST_KEEPER_FAILED,      /* the start, or a server later on: why is in the text */
    MST_KEEPER_STOPPED,     /* nothing is left; the text says what went wrong, "" nothing */
    MST_KEEPER_GONE         /* the keeper was killed */
};

struct mst_keeper_message {
    enum mst_keeper_news news;
    size_t server;
    pid_t  pid;
    char   text[MST_ERROR_MAX];
};

/* Forks it; it begins at once. NULL with a sentence. */
struct mst_keeper *mst_keeper_start(const struct mst_keeper_plan *plan,
                                    char error[MST_ERROR_MAX]);

/* Becomes readable when there is news, for poll(). */
int mst_keeper_fd(const struct mst_keeper *keeper);
/* The next of the news. Does not wait. After GONE or STOPPED there is only GONE. */
void mst_keeper_next(struct mst_keeper *keeper, struct mst_keeper_message *message);

/* Tells it to stop everything. Does not wait. */
void mst_keeper_stop(struct mst_keeper *keeper);
/* Waits for its end, frees. */
void mst_keeper_close(struct mst_keeper *keeper);

#endif
