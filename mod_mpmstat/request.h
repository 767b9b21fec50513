/* request.h - a client's connection and its requests as the module follows them. The hot path:
 * each request passes connections.c (which worker has its connection), timing.c (its time stamps),
 * record.c (its record) and, where it is a stream of HTTP/2, http2.c.
 *
 * Times are nanoseconds of CLOCK_MONOTONIC (base/clock.h). The thread that has the connection
 * writes all members but those marked atomic.
 */
#ifndef MPMSTAT_REQUEST_H
#define MPMSTAT_REQUEST_H

#include "mod_mpmstat.h"

#include <sched.h>
#include <util_filter.h>

#include "base/clock.h"
#include "segment/traceparent.h"
#include "write/worker.h"

/* Of a function that few requests need: it is out of line, so that its callers save fewer
 * registers. All together that saves 16 of a request's instructions, 25 of event's. */
#define MST_SELDOM __attribute__((noinline))

struct mst_connection;

/* What few requests have: see struct mst_request. */
struct mst_parts {
    uint64_t upload_ns;
    char    *handover;               /* what a program learns of the request (exports.c); NULL */
    uint64_t handover_ns;            /* the time in it less upload_ns at that time */
    uint64_t backend_ns;             /* time until the backends answered or failed */
    uint64_t handed_ns;              /* when a backend got the request that has not answered yet */
    uint64_t handed_upload_ns;       /* upload_ns at that time */
    uint32_t backend;                /* the last one's index on the board; MST_NO_END */
    uint64_t tls_ns, h2_wait_ns;
    uint64_t front_ns;               /* MST_UNKNOWN where X-Request-Start is not trusted */
    uint64_t client_id;
    uint64_t trace_high, trace_low, trace_parent;
    uint32_t trace_flags;
    bool     has_trace;              /* these are of the client: the header has another span now */
    uint64_t send_client_ns, send_network_ns;
    bool     asked;                  /* these two are known */
};

/* A request of the client. Its sub-requests and internal redirects belong to it. */
struct mst_timed {
    const request_rec *r;            /* NULL: complete */
    struct mst_connection *connection;
    const struct mst_dir_config *dir; /* the configuration that `label` comes from; NULL: apply
                                       * the next one, whichever it is */
    uint64_t picked_up_ns;           /* a worker took the connection, or went on to this request */
    uint64_t queue_ns;               /* how long the first bytes waited for that */
    uint64_t suspended_ns;           /* the connection's suspended_ns at that time */
    uint64_t id;
    uint32_t nth;                    /* of its connection, from 0 */
    uint32_t label;                  /* MST_NO_LABEL: not recorded */
    uint64_t parsed_ns;              /* its headers were read; 0: never */
    uint64_t first_ns;               /* its response began; 0: never */
    uint64_t handler_ns;             /* its handler was called; 0: not yet */
    uint32_t handler;                /* that handler's index on the board */
    bool     has_parts;              /* `parts` is valid; else all of them are 0 or unknown */
    uint64_t complete_ns;            /* its response was complete: its log hooks run; 0: not yet */
    uint64_t status_flags;           /* flags << 16 | HTTP status: valid when it is complete */
    uint64_t bytes;                  /* sent of the response's body: valid then, too */
    enum mst_class status_class;     /* valid then, too */
    uint32_t path;                   /* valid then, too: its index on the board; MST_NO_PATH */
    bool     off_worker;             /* counted as in flight under `label` in the process's row */
    bool     delivered;              /* a stream's: the thread that sends it has all of it */
    struct mst_parts parts;
    uint64_t handed_ns;              /* a stream's: that thread got its end (EOR); 0: not yet */
};

/* A client's connection. From its pool. One thread has it at a time. */
struct mst_connection {
    struct mst_timed  *current;      /* the latest request, until it is complete; NULL: none */
    struct mst_timed  *awaited;      /* the request whose response is to begin: `current`, or `own`
                                      * for one that never becomes a request; NULL: it has begun */
    struct mst_worker *worker;       /* the one that serves it now; NULL: none */
    uint64_t state_since_ns;         /* when the worker's state began */
    uint64_t *spent_ns;              /* where the worker counts its time in that state: says which
                                      * it is, as other processes could write to the board */
    struct mst_thread *thread;       /* that worker's, or other_threads */
    uint64_t left_ns;                /* since when no worker has had it; 0: one has it */
    uint64_t suspended_ns;           /* its time without a worker before that */
    uint64_t picked_up_ns;           /* of the coming request; 0: see pick_up_again() in timing.c */
    uint64_t queue_ns;               /* of the coming request */
    uint64_t ended_ns;               /* when its last request was complete */
    uint64_t number_port;            /* its number in this process << 16 | the client's port */
    uint32_t requests;               /* begun on it */
    bool     stream;                 /* it is a stream of HTTP/2: its thread is not a worker */
    bool     counted;                /* it is a stream, counted in its session's `streams` */
    bool     on_http2_worker;        /* it is a stream, counted in the process's `http2_busy` */
    struct mst_connection *session;  /* a stream's: the connection that it is part of */
    /* A session's. Atomic: the threads of its streams write them. */
    bool     has_streams;            /* has had any */
    bool     held;                   /* a thread is changing its worker's state */
    uint64_t wrote_ns;               /* when it last had written to the client */
    uint32_t streams;                /* in flight */
    conn_state_e left_in;            /* httpd's state in which it left its worker */
    bool     upgraded;               /* its request has become the first stream of HTTP/2 */
    uint64_t tls_ns;                 /* from the pick-up to its first decrypted byte; 0: its first
                                      * request has it, or there is none */
    uint64_t busy_ns, client_slow_ns;   /* what the kernel said last (tcp_info.h) */
    struct mst_late {                /* what the client did not have when a response was complete */
        uint64_t id;                 /* the request's; 0: nothing */
        uint64_t bytes;
        uint64_t busy_ns;            /* the kernel's at that time */
        uint32_t label;              /* the request's */
        int      fd;                 /* the socket, once httpd closes the connection; else -1 */
    } late;
    bool     expects_more;           /* begin_more() in timing.c has something to do */
    struct timespec clock;           /* room for mst_connection_now() */
    struct mst_timed own;            /* its requests, one after the other; of several at once
                                      * (pipelined) the others are from their pools */
};

#define MST_NO_LABEL UINT32_MAX

/* No worker has the connection from now on. */
static inline void mst_set_no_worker(struct mst_connection *conn)
{
    conn->worker = NULL;
    conn->thread = &mst_recording.other_threads;
}

/* NULL: the connection is not followed. */
static inline struct mst_connection *mst_connection_of(const conn_rec *c)
{
    return ap_get_module_config(c->conn_config, &mst_module);
}

/* NULL: the request is not followed (so far). */
static inline struct mst_timed *mst_timed_of(const request_rec *r)
{
    return ap_get_module_config(r->request_config, &mst_module);
}

/* The client's request whose content r makes, after any internal redirects. NULL: r is a
 * sub-request, or not followed. */
static inline struct mst_timed *mst_timed_from(const request_rec *r)
{
    while (r->prev)
        r = r->prev;
    return r->main ? NULL : mst_timed_of(r);
}

/* The time, for the thread that has the connection. */
static inline uint64_t mst_connection_now(struct mst_connection *conn)
{
    return mst_clock_by(CLOCK_MONOTONIC, &conn->clock);
}

/* To write the request's parts. */
static inline struct mst_parts *mst_parts_of(struct mst_timed *req)
{
    if (!req->has_parts)
        req->parts = (struct mst_parts){ .backend = MST_NO_END,
                                           .front_ns = MST_UNKNOWN };
    req->has_parts = true;
    return &req->parts;
}

/* Notes that the connection's worker is in `state` since then. Precondition: there is one. */
static inline void mst_set_state(struct mst_connection *conn, enum mst_state state, uint64_t since)
{
    conn->spent_ns = mst_worker_state_ns(conn->worker, state);
    conn->state_since_ns = since;
}

/* Whether the connection's worker is in `state`. Precondition: there is one. */
static inline bool mst_is_in(const struct mst_connection *conn, enum mst_state state)
{
    return conn->spent_ns == mst_worker_state_ns(conn->worker, state);
}

/* The connection's worker, if it has one, is in `state` from now on. Precondition: now is not
 * before its present state began. */
static inline void mst_enter(struct mst_connection *conn, enum mst_state state, uint64_t now)
{
    struct mst_worker *w = conn->worker;

    if (!w)
        return;
    mst_worker_pass(w, conn->spent_ns, state, conn->state_since_ns, now);
    conn->spent_ns = mst_worker_state_ns(w, state);
    conn->state_since_ns = now;
}

/* Workers show the requests that they have in flight. The process's row counts all others:
 * streams, and responses that are still sent when their worker has left or has the next one. */
static inline void mst_count_off_worker(struct mst_timed *req)
{
    if (req->off_worker || req->label == MST_NO_LABEL || !mst_recording.in_flight)
        return;
    __atomic_fetch_add(&mst_recording.in_flight[req->label], 1, __ATOMIC_RELAXED);
    req->off_worker = true;
}

/* A worker shows the request again, or the request is complete. */
static inline void mst_count_on_worker(struct mst_timed *req)
{
    if (req->off_worker && mst_recording.in_flight)
        __atomic_fetch_sub(&mst_recording.in_flight[req->label], 1, __ATOMIC_RELAXED);
    req->off_worker = false;
}

/* ---- accept_wait.c: how long a connection waited for a worker ------------------------ */

/* A worker that went from one connection right to the next was idle for less than this. */
#define MST_IDLE_AT_ALL_NS (20 * MST_NS_PER_US)

/* Whether the kernel is to be asked, which is a system call: only where there can have been a wait.
 * idle_ns: how long the worker was idle that takes the connection now.
 *
 * While a worker is idle no connection waits, where workers accept by themselves (prefork). A
 * listener thread can be late, by some 10 ms when event's listeners wake up: there each new
 * connection is asked about. A kept-alive connection whose last request was complete less than two
 * jiffies ago is asked about only if its worker came right from another connection: what it waited
 * is below the grain of the kernel's clock. */
static inline bool mst_accept_may_have_waited(const struct mst_connection *conn, uint64_t idle_ns,
                                              uint64_t now)
{
    if (idle_ns >= mst_recording.idle_enough_ns)
        return conn->requests == 0 && mst_recording.listener_thread;
    return idle_ns < MST_IDLE_AT_ALL_NS || now - conn->ended_ns >= mst_recording.idle_enough_ns;
}

/* In nanoseconds, of the resolution of a jiffy. A system call. csd: the socket; NULL: httpd knows
 * it. */
uint64_t mst_accept_wait(const struct mst_connection *conn, conn_rec *c, apr_socket_t *csd,
                         uint64_t idle_ns, uint64_t now);

/* ---- timing.c: requests -------------------------------------------------------------- */

/* post_read_request: a request's headers have been read. */
int mst_timing_begin(request_rec *r);

/* Passes on bb. The awaited response begins with it, unless bb has no data of it. Precondition: a
 * response is awaited on the connection, which is the filter's context. */
apr_status_t mst_timing_pass_response(ap_filter_t *f, apr_bucket_brigade *bb);

/* In a forked process (itk's): gives up the process entry where another process has it by now, as
 * the child that claimed it was killed. */
void mst_timing_check_entry(struct mst_connection *conn);

/* The request has another configuration than before. */
void mst_timing_change_config(struct mst_timed *req, const request_rec *r,
                              const struct mst_dir_config *dir);

/* Applies the configuration that r has by now, which most often is the same as before. */
static inline void mst_timing_apply_config(struct mst_timed *req, const request_rec *r)
{
    const struct mst_dir_config *dir = mst_dir_config_of(r);

    if (req->dir != dir)
        mst_timing_change_config(req, r, dir);
}

/* Counts r under this label, if it is recorded. */
void mst_timing_set_label(request_rec *r, uint32_t label);

/* log_transaction: the response is complete, and other modules' log hooks run next. */
int mst_timing_complete(request_rec *r);

/* These two are about the client's request, which r is or belongs to. */

/* Its id; 0: it is not recorded. */
uint64_t mst_timing_id(request_rec *r);

/* Sets its id and its phases as they would be if its response began now, and no other member.
 * False: it is not recorded. */
bool mst_timing_so_far(request_rec *r, struct mst_request *so_far);

/* ---- trace.c: what its headers say of who sent it ------------------------------------ */

/* The number that a load tool gave the request, plus 1; 0: none. Below 2^53, as request ids. */
uint64_t mst_trace_client_id(const request_rec *r);

/* Takes the client's trace from the request's header, once, where it is sampled: the header can
 * have another parent from then on. */
bool mst_trace_take(struct mst_timed *req, const request_rec *r, struct mst_traceparent *trace);

/* Notes the trace that the request is a part of, from its headers as they are when it ends: a
 * header that the configuration has unset gives no trace. Where its programs got another span in
 * the header (mst_trace_take()), it notes the client's trace that was taken then. */
void mst_trace_note(struct mst_timed *req, const request_rec *r);

/* ---- record.c: what is recorded ------------------------------------------------------ */

/* The request's log hooks are done: records it, and ends it. c: its connection. Returns DECLINED,
 * as hooks do. */
int mst_record_logged(struct mst_timed *req, const conn_rec *c);

/* The same for a request whose response is complete, if another module's log hook stopped those
 * after it. */
void mst_record_unlogged(struct mst_timed *req, const conn_rec *c);

/* Of a request whose response is complete: sets its id and its times, and no other member. False:
 * it is not recorded. */
bool mst_record_times(const struct mst_timed *req, struct mst_request *record);

/* Sets the id and the phases of a request whose time stamps are in order, and no other member. */
void mst_record_phases(struct mst_request *record, const struct mst_timed *req);

/* ---- delivery.c: what limited the sending, and what the client got later ------------- */

/* The connection's socket. csd: it; NULL: httpd knows it. -1: there is none. */
int mst_connection_fd(conn_rec *c, apr_socket_t *csd);

/* A response is asked about that took longer than this to send, ... */
#define MST_SLOW_SEND_NS (10 * MST_NS_PER_MS)
/* ... or has more bytes: these can be in the socket's buffers when it is complete. */
#define MST_LARGE_BYTES 65536u

/* Notes what the kernel has counted so far: a response begins that can take long, and is not the
 * connection's first. */
void mst_delivery_begin(struct mst_connection *conn, conn_rec *c);

/* The response is complete. */
void mst_delivery_complete(struct mst_timed *req, conn_rec *c);

/* The connection's next request has begun: by now the client has the response before. */
void mst_delivery_settle(struct mst_connection *conn, conn_rec *c);

/* httpd closes the connection: its socket will be closed before its pool is cleaned up. */
void mst_delivery_close(struct mst_connection *conn, conn_rec *c);

/* The connection's pool is cleaned up. */
void mst_delivery_gone(struct mst_connection *conn);

/* ---- tls.c: the handshake ------------------------------------------------------------ */

void mst_tls_register_filter(void);
int  mst_tls_watch(conn_rec *c, void *csd);                  /* pre_connection, after mod_ssl's */

/* ---- backend.c: what the request is handed to ---------------------------------------- */

void mst_backend_register_filter(void);

/* pre_config: sees what mod_proxy does, if it is loaded. */
int mst_backend_find_proxy(apr_pool_t *pconf, apr_pool_t *plog, apr_pool_t *ptemp);

/* r's handler is called: does it hand the request to another process? */
void mst_backend_begin_handler(struct mst_timed *req, request_rec *r);

/* ---- upload.c: the request's body ---------------------------------------------------- */

void mst_upload_register_filter(void);

/* Measures how long reading r's body takes, if it has one. */
void mst_upload_watch(struct mst_timed *req, request_rec *r);

/* ---- http2.c: streams and their sessions --------------------------------------------- */

void mst_http2_register_filter(void);

/* protocol_switch: a request becomes the first stream of HTTP/2. */
int mst_http2_protocol_switch(conn_rec *c, request_rec *r, server_rec *s, const char *protocol);

/* A connection begins that is a stream of another. */
void mst_http2_begin_stream(struct mst_connection *stream, conn_rec *c);

/* The stream's request is complete. */
void mst_http2_end_stream(struct mst_connection *stream);

/* Sets the state of a session's worker by the number of its streams in flight. */
void mst_http2_update(struct mst_connection *session, uint64_t now);

/* The connection's own thread changes its worker's state between these two: the threads of its
 * streams keep away. They hold it for some nanoseconds. */
static inline void mst_http2_hold(struct mst_connection *conn)
{
    if (__atomic_load_n(&conn->has_streams, __ATOMIC_RELAXED))
        while (__atomic_exchange_n(&conn->held, true, __ATOMIC_ACQUIRE))
            sched_yield();
}

static inline void mst_http2_release(struct mst_connection *conn)
{
    if (__atomic_load_n(&conn->has_streams, __ATOMIC_RELAXED))
        __atomic_store_n(&conn->held, false, __ATOMIC_SEQ_CST);
}

/* ---- connections.c: hooks ------------------------------------------------------------ */

void mst_connections_register_filter(void);
int  mst_connections_begin(conn_rec *c, void *csd);          /* pre_connection */
void mst_connections_suspend(conn_rec *c, request_rec *r);   /* suspend_connection */
void mst_connections_resume(conn_rec *c, request_rec *r);    /* resume_connection */
int  mst_connections_close(conn_rec *c);                     /* pre_close_connection */

#endif
