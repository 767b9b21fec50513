/* watch.h - looks at the servers again and again, in a thread of its own: a status URL of a stuck
 * server answers late or never, and keys are to work meanwhile.
 */
#ifndef MPMSTAT_TOP_WATCH_H
#define MPMSTAT_TOP_WATCH_H

#include <pthread.h>
#include <signal.h>

#include "source/source.h"
#include "top/model.h"

/* Where one server's snapshots go. */
struct mst_top_seat { struct mst_top_watch *watch; size_t server; };

struct mst_top_watch {
    struct mst_targets   targets, behind;   /* behind: PHP's boards of a status URL */
    size_t               count;
    struct mst_source  **sources;
    struct mst_top_seat *seats;
    struct mst_sample    sample;
    uint64_t             delay_ns;

    int                  news;              /* readable after a look, for poll() */
    volatile sig_atomic_t is_over;
    bool                 is_started;        /* the thread */
    pthread_t            thread;
    pthread_cond_t       wake;
    pthread_mutex_t      lock;              /* of all that follows */
    bool                 is_paused;
    uint64_t             looked_ns;         /* the latest look, since 1970 */
    struct mst_top       top;
};

/* Opens the servers, and looks at them once. Returns an enum mst_exit, having said the error.
 * Close it in either case. */
int  mst_top_watch_open(struct mst_top_watch *watch, const struct mst_target_names *targets,
                        uint64_t delay_ns);
void mst_top_watch_close(struct mst_top_watch *watch);

/* Looks at all servers: for a caller that has started no thread. */
void mst_top_watch_look(struct mst_top_watch *watch);

/* Starts the thread. False: the system refuses one. */
bool mst_top_watch_start(struct mst_top_watch *watch);

/* While it is paused nothing is looked at. */
void mst_top_watch_pause(struct mst_top_watch *watch, bool is_paused);

#endif
