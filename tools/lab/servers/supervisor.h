/* supervisor.h - the process between mpmstat and a stack's servers, which outlives neither.
 *
 *   mpmstat --order--> supervisor --signals--> servers and their children
 *           <--news---
 *
 * It starts the servers one after the other, each when the one before it listens, and waits.
 * When told to stop, and when mpmstat is gone (even by kill -9), it stops them in reverse
 * order, runs the teardown, kills what is left of theirs and removes their directory. It is
 * the reaper of all of them (PR_SET_CHILD_SUBREAPER). Where itself is killed, the servers
 * get a SIGTERM from the kernel, and sandbox.h cleans up the rest.
 */
#ifndef MPMSTAT_LAB_SUPERVISOR_H
#define MPMSTAT_LAB_SUPERVISOR_H

#include <stdbool.h>
#include <sys/types.h>

#include "base/error.h"
#include "lab/servers/sandbox.h"
#include "lab/servers/site.h"
#include "lab/servers/test_users.h"

#define MST_LAB_SUPERVISOR "mpmstat-lab"   /* the supervisor's name, as ps shows it */

struct mst_supervisor;

struct mst_supervisor_plan {
    const struct mst_sandbox    *root;
    const struct mst_site       *site;
    const struct mst_test_users *test_users;    /* NULL: none */
    const int                   *held;          /* sockets that keep the ports */
};

enum mst_supervisor_news {
    MST_SUPERVISOR_NOTHING,     /* nothing new */
    MST_SUPERVISOR_STARTED,     /* a server: pid is its */
    MST_SUPERVISOR_READY,       /* all of them listen */
    MST_SUPERVISOR_FAILED,      /* the start, or a server later on: why is in the text */
    MST_SUPERVISOR_STOPPED,     /* nothing is left; the text says what went wrong, "" nothing */
    MST_SUPERVISOR_GONE         /* the supervisor was killed */
};

struct mst_supervisor_message {
    enum mst_supervisor_news news;
    size_t server;
    pid_t  pid;
    char   text[MST_ERROR_MAX];
};

/* Forks it; it begins at once. NULL with a sentence. */
struct mst_supervisor *mst_supervisor_start(const struct mst_supervisor_plan *plan,
                                    char error[MST_ERROR_MAX]);

/* Becomes readable when there is news, for poll(). */
int mst_supervisor_fd(const struct mst_supervisor *supervisor);
/* The next of the news. Does not wait. After GONE or STOPPED there is only GONE. */
void mst_supervisor_next(struct mst_supervisor *supervisor, struct mst_supervisor_message *message);

/* Tells it to stop everything. Does not wait. */
void mst_supervisor_stop(struct mst_supervisor *supervisor);
/* Waits for its end, frees. */
void mst_supervisor_close(struct mst_supervisor *supervisor);

#endif
