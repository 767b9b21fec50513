/* request.h - connections and requests as they are followed. Hot path: each request
 * passes connections.c (which worker has its connection) and timing.c (its time stamps
 * and its record); http2.c has what is different for HTTP/2's streams.
 *
 * Written by: the thread that has the connection, but for the words marked atomic.
 */
#ifndef MPMSTAT_TIMING_H
#define MPMSTAT_TIMING_H

#include "mod_mpmstat.h"

#include <sched.h>
#include <util_filter.h>

#include "write/worker.h"

struct mst_connection;

/* A request, the outermost: sub-requests and internal redirects belong to it. */
struct mst_timed {
    const request_rec *r;            /* NULL: complete */
    struct mst_connection *connection;
    const struct mst_dir_config *dir; /* by which it has its label; NULL: by the next there is */
    uint64_t picked_up_ns;
    uint64_t queue_ns;
    uint64_t away_ns;                /* the connection's time without a worker at the pick-up */
    uint64_t id;
    uint32_t nth;
    uint32_t label;                  /* MST_NO_LABEL: not recorded */
    uint64_t parsed_ns;              /* 0: never */
    uint64_t first_ns;               /* 0: never */
    uint64_t front_ns;               /* as X-Request-Start has it; MST_UNKNOWN; where trusted */
    bool     off_worker;             /* counted as in flight under `label` in the process's row */
    bool     delivered;              /* a stream's: to its end, to the thread that sends it */
    uint64_t handed_ns;              /* a stream's: EOR, to that thread; 0: not yet */
};

/* A client's connection. From its pool; one thread at a time. */
struct mst_connection {
    struct mst_timed  *current;      /* the latest, until it is complete; NULL: none */
    struct mst_timed  *awaited;      /* whose response is to begin: `current`, or `own` for one
                                      * that never becomes a request; NULL: it has begun */
    struct mst_worker *worker;       /* serving it now; NULL: none */
    uint64_t state_since_ns;         /* when the worker's state began */
    enum mst_state state;            /* the worker's, which others could write to on the board */
    struct mst_tally *tallies;       /* of label 0, its stripe's */
    uint64_t left_ns;                /* no worker has had it since; 0: one has */
    uint64_t away_ns;                /* time without one before that */
    uint64_t picked_up_ns;           /* start of the coming request; 0: by its request_time */
    uint64_t queue_ns;               /* what the coming request waited for a worker */
    uint64_t ended_ns;               /* when its last request was complete */
    uint64_t number_port;            /* of this process's connections << 16 | the client's */
    uint32_t requests;               /* begun on it */
    uint32_t worker_index;           /* the worker's on the board; UINT32_MAX: none */
    bool     stream;                 /* an HTTP/2 stream: its thread is no worker of the MPM */
    bool     counted;                /* a stream that is among its session's `streams` */
    struct mst_connection *session;  /* a stream's: the connection that it is part of */
    /* A session's, of which its streams' threads tell its worker; atomic. */
    bool     has_streams;            /* has had any */
    bool     held;                   /* some thread is changing its worker's state */
    uint64_t wrote_ns;               /* when it last had written to the client */
    uint32_t streams;                /* in flight */
    conn_state_e suspended;          /* in which state it left its worker */
    bool     upgraded;               /* its request has become HTTP/2's first stream */
    struct mst_timed own;            /* its requests, one after the other; of several at
                                      * once (pipelined) the others are from their pools */
};

#define MST_NO_LABEL UINT32_MAX

/* For the functions that every request passes: they hold no buffer that could overflow.
 * (A time stamp is a struct whose address is taken, and reason enough for a canary.) */
#if defined(__has_attribute)
#if __has_attribute(no_stack_protector)
#define MST_NO_CANARY __attribute__((no_stack_protector))
#endif
#endif
#ifndef MST_NO_CANARY
#define MST_NO_CANARY
#endif
#define MST_INLINE static inline __attribute__((always_inline))

MST_INLINE struct mst_connection *mst_connection_of(const conn_rec *c)
{
    return ap_get_module_config(c->conn_config, &mst_module);
}

MST_INLINE struct mst_timed *mst_timed_of(const request_rec *r)
{
    return ap_get_module_config(r->request_config, &mst_module);
}

/* Its worker, where it has one, is in `state` from now on; not before its present one
 * began. */
MST_INLINE void mst_enter(struct mst_connection *conn, enum mst_state state, uint64_t now)
{
    if (!conn->worker)
        return;
    mst_worker_pass(conn->worker, conn->state, state, conn->state_since_ns, now);
    conn->state = state;
    conn->state_since_ns = now;
}

/* Requests in flight are counted by what their workers show, and here those that no worker
 * shows: streams, and what is still to be sent when the worker has left or is at the next. */
MST_INLINE void mst_count_off_worker(struct mst_timed *req)
{
    if (req->off_worker || req->label == MST_NO_LABEL || !mst_recording.in_flight)
        return;
    __atomic_fetch_add(&mst_recording.in_flight[req->label], 1, __ATOMIC_RELAXED);
    req->off_worker = true;
}

/* A worker shows it again, or it is complete. */
MST_INLINE void mst_count_on_worker(struct mst_timed *req)
{
    if (req->off_worker && mst_recording.in_flight)
        __atomic_fetch_sub(&mst_recording.in_flight[req->label], 1, __ATOMIC_RELAXED);
    req->off_worker = false;
}

/* ---- connections.c --------------------------------------------------------------- */

/* In a forked process (itk's): the child that claimed the entry may have been killed, and
 * the entry be another's. */
void mst_connection_check_entry(struct mst_connection *conn);

/* Time without a worker until now, of the whole connection. */
MST_INLINE uint64_t mst_connection_away(const struct mst_connection *conn, uint64_t now)
{
    if (__builtin_expect(conn->left_ns == 0, 1) || now <= conn->left_ns)
        return conn->away_ns;
    return conn->away_ns + (now - conn->left_ns);
}

/* ---- timing.c ---------------------------------------------------------------------- */

/* The connection's output filter. */
apr_status_t mst_timing_see_response(ap_filter_t *f, apr_bucket_brigade *bb);
extern ap_filter_rec_t *mst_response_filter;

/* ---- http2.c ----------------------------------------------------------------------- */

/* A connection that is a stream of another. */
void mst_http2_begin_stream(struct mst_connection *stream, conn_rec *c);

/* Its request is complete. */
void mst_http2_end_stream(struct mst_connection *stream);

/* When its response was sent, which is complete now. */
uint64_t mst_http2_sent(const struct mst_timed *req, uint64_t now);

/* The state of a session's worker, by its streams in flight. */
void mst_http2_settle(struct mst_connection *session, uint64_t now);

MST_INLINE bool mst_http2_has_streams(const struct mst_connection *conn)
{
    return __builtin_expect(__atomic_load_n(&conn->has_streams, __ATOMIC_RELAXED), 0);
}

/* The connection's own thread, before it changes what the streams' threads look at.
 * They are at it for some nanoseconds. */
MST_INLINE void mst_http2_hold(struct mst_connection *conn)
{
    if (mst_http2_has_streams(conn))
        while (__atomic_exchange_n(&conn->held, true, __ATOMIC_ACQUIRE))
            sched_yield();
}

MST_INLINE void mst_http2_release(struct mst_connection *conn)
{
    if (mst_http2_has_streams(conn))
        __atomic_store_n(&conn->held, false, __ATOMIC_SEQ_CST);
}

#endif
