/* present.h - what the busy workers of servers do at this moment, and whether they are stuck.
 *
 * A present is made of a snapshot, and outlives it. The status page, mpmstat explain and mpmstat
 * top have this one rule; render/held.h has its sentence.
 */
#ifndef MPMSTAT_PRESENT_H
#define MPMSTAT_PRESENT_H

#include "read/call_place.h"
#include "read/snapshot.h"

#define MST_STUCK_NS    UINT64_C(2000000000)     /* longer than most pages take */
/* Of their limit so many thousandths have to be busy: event can leave a worker idle in a process
 * that has no room for connections. */
#define MST_STUCK_MILLI 950u

/* A worker that is busy. Strings are "" where nothing is known. */
struct mst_present_worker {
    uint64_t pid;
    uint64_t request_id;       /* Apache's number of its request; MST_UNKNOWN */
    char     state[16];
    char     label[MST_NAME_MAX], path[MST_PATH_MAX];
    /* What PHP waits for: kind, other end. Apache's workers have it from mst_present_join(). */
    char     wait[16], wait_end[MST_NAME_MAX];
    uint64_t wait_ns;          /* MST_UNKNOWN: no wait */
    /* Where that wait was called, or its code was sampled last; function "": not known. Of PHP's
     * workers, and from those Apache's have it. */
    struct mst_code_at code;
    uint64_t busy_ns;          /* with its request; without one: in its state. MST_UNKNOWN: its
                                * server was killed */
    uint64_t since_ns;         /* when its request began, since 1970; MST_UNKNOWN */
    bool     has_request;
    bool     is_joined;        /* a PHP's: Apache has its request, too (mst_present_join) */
};

/* A pool of PHP-FPM, whose workers serve its label alone. */
struct mst_present_pool {
    char     label[MST_NAME_MAX];
    uint64_t limit;
    uint64_t queue;            /* connections that wait for it; MST_UNKNOWN */
};

/* One server. It begins as { 0 }. */
struct mst_present {
    size_t   place;            /* the caller's: where it was read. Servers of several places have
                                * nothing to do with each other */
    bool     is_php, is_running;
    bool     has_stopped;      /* not running, after a clean stop */
    bool     out_of_memory;    /* some workers or pools are missing */
    uint64_t limit;            /* of its workers; MST_UNKNOWN */
    uint64_t queue;            /* connections in its accept queues; MST_UNKNOWN */
    size_t   worker_count, worker_room;   /* the longest on its request first */
    struct mst_present_worker *workers;
    size_t   left_count;       /* workers[] of a server that was killed, with the requests that it
                                * had then; worker_count is 0 */
    size_t   pool_count, pool_room;
    struct mst_present_pool *pools;
};

/* Takes a snapshot in place of the one before. */
void mst_present_take(struct mst_present *p, const struct mst_snapshot *board);
void mst_present_free(struct mst_present *p);

/* Sets what the requests of Apache's workers wait for in PHP: that is what the worker of PHP's that
 * has the same request waits for. Two Apaches can give the same number to two requests: then it is
 * not known. */
void mst_present_join(struct mst_present *const *servers, size_t count);

/* Workers that are held, and what most of them do. */
struct mst_held {
    const struct mst_present      *server;
    const struct mst_present_pool *pool;       /* NULL: of the whole server */
    const struct mst_present_worker *example;  /* does what most of them do */
    bool     is_stuck;         /* (nearly) all workers are held; else those that have had a request
                                * for longer than than_ns are */
    bool     is_full;          /* all are busy with short requests: they are not held, but others
                                * wait for one */
    uint64_t than_ns;
    bool     computes;         /* set by callers that know it of most of them */
    uint64_t limit;            /* of workers; MST_UNKNOWN */
    uint64_t busy;             /* how many are held */
    uint64_t count;            /* of which so many do the same as the example: */
    uint64_t longest_ns;       /* the longest busy_ns among these, */
    uint64_t longest_wait_ns;  /* and the longest wait_ns */
    const struct mst_present_worker *in_code;   /* its `code` is that of most of these, */
    uint64_t code_count;       /* of so many; 0: not known */
    uint64_t idle_ns;          /* since when none of the held has taken a request */
    /* Where Apache's are taken to wait for PHP: PHP's workers that are busy, and connections that
     * wait for one, which together are as many. 0: they are not. */
    uint64_t php_busy, php_queue;
};

/* Whether the workers of a server, or of one of its pools (NULL: all), are stuck: busy, and none
 * has taken a request for MST_STUCK_NS. */
bool mst_present_is_stuck(const struct mst_present *p, const struct mst_present_pool *pool,
                          struct mst_held *held);

/* Whether workers of a server have had one request for longer than that. */
bool mst_present_is_long(const struct mst_present *p, uint64_t than_ns, struct mst_held *held);

/* Finds the server, or the pool, whose workers are all busy at this moment while connections wait
 * for one; PHP before the Apache in front of it. */
bool mst_present_full(struct mst_present *const *servers, size_t count, struct mst_held *held);

/* Finds what holds the workers of servers, the most telling first: who is stuck, or where nobody
 * is, who has long requests; PHP before the Apache in front of it. Returns how many `held` has. */
size_t mst_present_held(struct mst_present *const *servers, size_t count,
                        struct mst_held *held, size_t room);

#endif
