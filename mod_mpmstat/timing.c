/* timing.c - follows connections and requests: phases, worker states, records.
 *
 * The hot path. Per request: five time stamps, a few stores into the worker's own
 * cache lines, relaxed adds into a tally, one journal record. No lock, no system
 * call but TCP_INFO where a connection may have waited, no allocation but for
 * pipelined requests, from their pools.
 *
 * Where a request's time stamps come from (design: "the phases of a request"):
 *
 *   arrived    picked_up - what TCP_INFO says of the data's age
 *   picked_up  a worker takes the connection: pre_connection, resume_connection;
 *              later requests on the same worker: request_time
 *   parsed     post_read_request
 *   first      the first bytes of the final response pass our output filter
 *   complete   log_transaction, run when the EOR bucket is destroyed
 *
 * A worker's state is followed on its connection: `reading` from the pick-up,
 * `idle` again when event suspends the connection or its pool is cleaned up.
 */
#include "mod_mpmstat.h"

#include <ap_mpm.h>
#include <apr_strings.h>
#include <mpm_common.h>
#include <http_connection.h>
#include <http_core.h>
#include <http_protocol.h>
#include <http_request.h>
#include <netinet/in.h>
#include <netinet/tcp.h>
#include <scoreboard.h>
#include <util_filter.h>

#include "board/busy.h"
#include "board/clock.h"
#include "board/handover.h"
#include "board/journal.h"
#include "board/worker.h"

struct connection;

/* A request, the outermost: sub-requests and internal redirects belong to it. */
struct request {
    const request_rec *r;            /* NULL: complete */
    struct connection *connection;
    const struct mst_dir_config *dir; /* by which it is shown and counted as in flight */
    uint64_t picked_up_ns;           /* 0 until begun; so are the four of begin() */
    uint64_t queue_ns;
    uint64_t away_ns;                /* the connection's time without a worker at the pick-up */
    uint64_t id;
    uint32_t nth;
    uint32_t label;                  /* in_flight is counted under it; NO_LABEL: not counted */
    uint64_t parsed_ns;              /* 0: never */
    uint64_t first_ns;               /* 0: never */
    uint64_t front_ns;               /* as X-Request-Start has it; MST_UNKNOWN */
    bool     status_page;
    bool     delivered;              /* a stream's: to its end, to the thread that sends it */
    uint64_t handed_ns;              /* a stream's: EOR, to that thread; 0: not yet */
};
/* A client's connection. From its pool; one thread at a time. */
struct connection {
    struct request    *current;      /* the latest, until it is complete; NULL: none */
    struct request    *awaited;      /* the same, until its response begins */
    struct mst_worker *worker;       /* serving it now; NULL: none */
    uint64_t state_since_ns;         /* when the worker's state began */
    uint64_t left_ns;                /* no worker has had it since; 0: one has */
    uint64_t away_ns;                /* time without one before that */
    uint64_t picked_up_ns;           /* start of the coming request; 0: by its request_time */
    uint64_t queue_ns;               /* what the coming request waited for a worker */
    uint64_t ended_ns;               /* when its last request was complete */
    uint64_t number_port;            /* of this process's connections << 16 | the client's */
    uint32_t requests;               /* begun on it */
    uint32_t worker_index;           /* the worker's on the board; UINT32_MAX: none */
    uint32_t stripe;                 /* of the tallies */
    bool     stream;                 /* an HTTP/2 stream: its thread is no worker of the MPM */
    bool     counted;                /* a stream that is among its session's `streams` */
    struct connection *session;      /* a stream's: the connection that it is part of */
    /* A session's, of which its streams' threads tell its worker; atomic. */
    bool     has_streams;            /* has had any */
    bool     held;                   /* some thread is changing its worker's state */
    uint64_t wrote_ns;               /* when it last had written to the client */
    uint32_t streams;                /* in flight */
    bool     kept_alive;             /* suspended in keep-alive: waiting for a request */
    uint64_t suspended_ns;           /* since when */
    struct request own;              /* its requests, one after the other; of several at
                                      * once (pipelined) the others are from their pools */
};

#define NO_LABEL UINT32_MAX

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

static ap_filter_rec_t *response_filter, *stream_filter;
static uint64_t connections_begun;   /* in this process; atomic */

/* ---- workers ---------------------------------------------------------------- */

/* The board's entry of the worker that has this connection. The scoreboard knows
 * which thread it is; which process is this one. NULL: no worker of the MPM. */
static struct mst_worker *worker_of(const conn_rec *c)
{
    const worker_score *ws, *all;
    struct mst_process *self = mst_recording.self;
    size_t nth;

    if (!self || !c->sbh || !(ws = ap_get_scoreboard_worker(c->sbh)))
        return NULL;
    all = ap_scoreboard_image->servers[0];
    if (self->mpm_slot < 0)
        self->mpm_slot = (ws - all) / mst_recording.threads;
    nth = (size_t)(ws - all) - (size_t)self->mpm_slot * mst_recording.threads;
    return nth < mst_recording.threads ? &mst_recording.workers[nth] : NULL;
}

static inline __attribute__((always_inline)) void
enter(struct connection *conn, enum mst_state state, uint64_t now)
{
    if (conn->worker)
        conn->state_since_ns = mst_worker_enter(conn->worker, state, conn->state_since_ns, now);
}

static struct connection *connection_of(const conn_rec *c)
{
    return ap_get_module_config(c->conn_config, &mst_module);
}

/* ---- HTTP/2's sessions ---------------------------------------------------------- */

/* mod_http2 hands streams to threads of its own, and the session's worker waits for
 * them: `handling`, and when there is none left, `keepalive` until the next or until
 * event takes the connection back. It runs no hook meanwhile, so the streams' threads
 * set its state, one at a time. None waits: who finds another at it leaves it to that
 * one, who looks again afterwards. */
static void settle_session(struct connection *session, uint64_t now)
{
    uint32_t streams;
    enum mst_state state;

    do {
        if (__atomic_exchange_n(&session->held, true, __ATOMIC_ACQUIRE))
            return;
        streams = __atomic_load_n(&session->streams, __ATOMIC_SEQ_CST);
        state = streams ? MST_STATE_HANDLING : MST_STATE_KEEPALIVE;
        if (session->worker && session->worker->state != MST_STATE_CLOSING
            && session->worker->state != state)
            enter(session, state, now);
        __atomic_store_n(&session->held, false, __ATOMIC_SEQ_CST);
    } while (streams != __atomic_load_n(&session->streams, __ATOMIC_SEQ_CST));
}

/* The connection's own thread, before it changes what the streams' threads look at.
 * They are at it for some nanoseconds. */
static inline void hold_session(struct connection *conn)
{
    if (__atomic_load_n(&conn->has_streams, __ATOMIC_RELAXED))
        while (__atomic_exchange_n(&conn->held, true, __ATOMIC_ACQUIRE))
            sched_yield();
}

static inline void release_session(struct connection *conn)
{
    if (__atomic_load_n(&conn->has_streams, __ATOMIC_RELAXED))
        __atomic_store_n(&conn->held, false, __ATOMIC_SEQ_CST);
}

static void count_stream(struct connection *stream, int32_t by)
{
    __atomic_fetch_add(&stream->session->streams, (uint32_t)by, __ATOMIC_SEQ_CST);
    if (mst_recording.self)
        __atomic_fetch_add(&mst_recording.self->streams, by, __ATOMIC_RELAXED);
    settle_session(stream->session, mst_now_ns());
}

/* Its request is complete, or its pool is destroyed before there was one. */
static apr_status_t end_stream(void *stream_)
{
    struct connection *stream = stream_;

    if (stream->counted) {
        stream->counted = false;
        count_stream(stream, -1);
    }
    return APR_SUCCESS;
}

static void begin_stream(struct connection *stream, const conn_rec *c)
{
    stream->left_ns = 1;   /* always */
    stream->worker_index = UINT32_MAX;
    stream->session = connection_of(c->master);
    if (!stream->session)
        return;
    __atomic_store_n(&stream->session->has_streams, true, __ATOMIC_RELAXED);
    stream->session->awaited = &stream->session->own;   /* for see_awaited() to be called */
    stream->counted = true;
    count_stream(stream, 1);
    apr_pool_cleanup_register(c->pool, stream, end_stream, apr_pool_cleanup_null);
}

/* ---- connections ------------------------------------------------------------- */

/* What the kernel says of the newest data's age, where that is a wait. */
static __attribute__((noinline)) uint64_t
ask_kernel(const struct connection *conn, apr_socket_t *csd, bool was_idle, uint64_t now)
{
    apr_os_sock_t fd;
    struct tcp_info info;
    socklen_t size = sizeof info;
    uint64_t wait;

    if (!csd || apr_os_sock_get(&fd, csd) != APR_SUCCESS
        || getsockopt(fd, IPPROTO_TCP, TCP_INFO, &info, &size) != 0)
        return 0;
    wait = info.tcpi_last_data_recv * MST_NS_PER_MS;
    if (was_idle && wait < mst_recording.idle_enough_ns)
        return 0;
    return wait < now - conn->ended_ns ? wait : now - conn->ended_ns;
}

/* How long the newest data has been in the kernel: a jiffy's resolution. 0 where
 * the worker had been idle, for then nobody waited, and where nobody knows. Never
 * from before the end of the connection's last request.
 *
 * That nobody waits while a worker is idle holds where workers accept by
 * themselves (prefork). A listener thread may be late, by some 10 ms when event's
 * listeners wake up: a new connection is asked there in any case, and what is
 * less than two jiffies is then the clock's grain, not a wait. */
static inline uint64_t wait_for_worker(const struct connection *conn, conn_rec *c,
                                       apr_socket_t *csd, uint64_t idle_since, uint64_t now)
{
    bool was_idle = now > idle_since && now - idle_since >= mst_recording.idle_enough_ns;
    bool is_new = conn->requests == 0;

    if (was_idle && !(is_new && mst_recording.listener_thread))
        return 0;
    return ask_kernel(conn, csd ? csd : ap_get_conn_socket(c), was_idle, now);
}

/* A worker takes the connection: new, with its socket, or back from event's pollset. */
static void occupy(struct connection *conn, conn_rec *c, apr_socket_t *csd,
                   enum mst_state state, uint64_t now)
{
    hold_session(conn);
    conn->worker = worker_of(c);
    conn->worker_index = UINT32_MAX;
    if (conn->worker)
        conn->worker_index = conn->stripe =
            (uint32_t)(conn->worker - mst_recording.board->workers);
    if (conn->left_ns)
        conn->away_ns += now - conn->left_ns;
    conn->left_ns = 0;
    conn->kept_alive = false;
    if (conn->worker) {
        conn->state_since_ns = mst_worker_since(conn->worker);
        if (state == MST_STATE_READING)
            conn->queue_ns = wait_for_worker(conn, c, csd, conn->state_since_ns, now);
        enter(conn, state, now);
        mst_busy_begin(mst_recording.board, mst_recording.self, now);
    }
    release_session(conn);
    if (__atomic_load_n(&conn->streams, __ATOMIC_RELAXED))
        settle_session(conn, now);
    if (state == MST_STATE_READING)
        conn->picked_up_ns = now;
}

/* Its worker lets go of it. */
static void leave(struct connection *conn, uint64_t now)
{
    if (conn->left_ns)
        return;
    hold_session(conn);
    if (conn->worker) {
        enter(conn, MST_STATE_IDLE, now);
        mst_busy_end(mst_recording.board, mst_recording.self, now);
    }
    conn->worker = NULL;
    conn->worker_index = UINT32_MAX;
    conn->left_ns = now;
    release_session(conn);
}

/* Time without a worker until now, of the whole connection. */
static inline uint64_t away_until(const struct connection *conn, uint64_t now)
{
    if (__builtin_expect(conn->left_ns != 0 && now > conn->left_ns, 0))
        return conn->away_ns + (now - conn->left_ns);
    return conn->away_ns;
}

/* The child that claimed the entry has been killed, and the process that it forked
 * serves on: the entry is, or will be, another's. */
static __attribute__((cold, noinline)) void give_up_lost_entry(struct connection *conn)
{
    const struct mst_process *self = mst_recording.self;

    if (self && __atomic_load_n(&self->pid, __ATOMIC_RELAXED) == mst_recording.owner)
        return;
    mst_recording.self = NULL;
    conn->worker = NULL;
    conn->worker_index = UINT32_MAX;
}

static bool is_stopping(void)
{
    int state = 0;

    return ap_mpm_query(AP_MPMQ_MPM_STATE, &state) != APR_SUCCESS || state == AP_MPMQ_STOPPING;
}

/* The process that served the connection has ended in the middle of a request. */
static void lose_request(struct mst_worker *w)
{
    uint64_t label = w->request_label;

    if (label < mst_recording.board->label_count)
        __atomic_fetch_sub(&mst_recording.in_flight[label], 1, __ATOMIC_RELAXED);
    mst_worker_show_none(w);
    mst_count(&mst_recording.board->totals->unfinished, 1);
}

/* A process forked meanwhile runs this, too, and leaves all to the child. Where that
 * process served (itk), the child knows nothing of what its worker did. A stopping
 * child leaves it all to the parent, as where it is killed. */
static apr_status_t connection_gone(void *conn_)
{
    struct connection *conn = conn_;

    if (mst_recording.forked)
        return APR_SUCCESS;
    if (conn->worker) {
        conn->state_since_ns = mst_worker_since(conn->worker);
        if (conn->worker->request_start_ns && !conn->requests && !is_stopping())
            lose_request(conn->worker);
    }
    leave(conn, mst_now_ns());
    if (mst_recording.forks_running)
        mst_forks_look();   /* itk's has ended; CGI's, where it went on after its response */
    if (mst_recording.self)
        __atomic_fetch_sub(&mst_recording.self->connections, 1, __ATOMIC_RELAXED);
    return APR_SUCCESS;
}

static int pre_connection(conn_rec *c, void *csd)
{
    struct connection *conn;

    /* Without a scoreboard handle: a stream of HTTP/2, or a proxy's to its backend. */
    if (!mst_recording.board || c->outgoing || (!c->sbh && !c->master))
        return DECLINED;
    conn = apr_pcalloc(c->pool, sizeof *conn);
    conn->number_port = __atomic_add_fetch(&connections_begun, 1, __ATOMIC_RELAXED) << 16
                      | (c->client_addr ? c->client_addr->port : 0);
    conn->stripe = (uint32_t)mst_recording.pid;   /* until it has a worker */
    conn->stream = c->master != NULL;
    ap_set_module_config(c->conn_config, &mst_module, conn);
    ap_add_output_filter_handle(conn->stream ? stream_filter : response_filter, conn, NULL, c);
    if (conn->stream) {
        begin_stream(conn, c);
        return OK;
    }
    occupy(conn, c, csd, MST_STATE_READING, mst_now_ns());
    if (mst_recording.self) {
        __atomic_fetch_add(&mst_recording.self->connections, 1, __ATOMIC_RELAXED);
        mst_count(&mst_recording.self->accepted, 1);
    }
    apr_pool_cleanup_register(c->pool, conn, connection_gone, apr_pool_cleanup_null);
    return OK;
}

/* event looks for expired connections this much ahead (its TIMEOUT_FUDGE_FACTOR),
 * and again as much for the way to a worker. */
#define TIMEOUT_FUDGE_NS (200 * MST_NS_PER_MS)

/* event: back on a worker. For the rest of a lingering close (the state is past
 * CONN_STATE_LINGER) a worker only drains without waiting, and httpd does not
 * say when it is done: that is not counted as being occupied. */
static MST_NO_CANARY void resume_connection(conn_rec *c, request_rec *r)
{
    struct connection *conn = connection_of(c);
    uint64_t now;

    (void)r;
    if (!conn || !c->sbh || !c->cs)
        return;
    now = mst_now_ns();
    switch (c->cs->state) {
    case CONN_STATE_LINGER_NORMAL:
    case CONN_STATE_LINGER_SHORT:
        return;
    case CONN_STATE_LINGER:
        if (conn->kept_alive
            && now - conn->suspended_ns + TIMEOUT_FUDGE_NS
               < (uint64_t)c->base_server->keep_alive_timeout * MST_NS_PER_US)
            mst_count(&mst_recording.board->totals->shed, 1);
        occupy(conn, c, NULL, MST_STATE_CLOSING, now);
        return;
    case CONN_STATE_WRITE_COMPLETION:
        occupy(conn, c, NULL, MST_STATE_SENDING, now);
        return;
    default:
        occupy(conn, c, NULL, MST_STATE_READING, now);
    }
}

static MST_NO_CANARY void suspend_connection(conn_rec *c, request_rec *r)
{
    struct connection *conn = connection_of(c);

    (void)r;
    if (!conn)
        return;
    conn->suspended_ns = mst_now_ns();
    conn->kept_alive = c->cs && c->cs->state == CONN_STATE_CHECK_REQUEST_LINE_READABLE;
    leave(conn, conn->suspended_ns);
}

/* Whether the server closes a connection that it had just promised to keep: a
 * restart came between the response and the wait for the next request. */
static bool promise_broken(const struct connection *conn)
{
    return conn->worker && conn->worker->state == MST_STATE_KEEPALIVE && !conn->current
        && !conn->has_streams;
}

static void count_in_flight(struct request *req, uint32_t label);

/* itk closes a kept-alive connection without an answer where the process would have to
 * be another user for the next request; httpd does not log that one. `current` is
 * looked at only where it was begun: others are gone with their pool. */
static void abandon_request(const struct connection *conn)
{
    if (!conn->worker || !conn->worker->request_start_ns || !conn->current)
        return;
    count_in_flight(conn->current, NO_LABEL);
    mst_worker_show_none(conn->worker);
    mst_count(&mst_recording.board->totals->shed, 1);
}

static int pre_close_connection(conn_rec *c)
{
    struct connection *conn = connection_of(c);

    if (!conn)
        return DECLINED;
    if (mst_recording.forked) {
        give_up_lost_entry(conn);
        abandon_request(conn);
        mst_forks_closing();
    }
    if (promise_broken(conn))
        mst_count(&mst_recording.board->totals->shed, 1);
    conn->current = conn->awaited = NULL;   /* what never came is gone already, with its pool */
    hold_session(conn);
    if (conn->worker)
        enter(conn, MST_STATE_CLOSING, mst_now_ns());
    release_session(conn);
    return DECLINED;
}

/* ---- requests ------------------------------------------------------------------ */

static struct request *request_of(const request_rec *r)
{
    return ap_get_module_config(r->request_config, &mst_module);
}

static inline int create(struct request *req, request_rec *r, struct connection *conn)
{
    req->r = r;
    req->connection = conn;
    req->dir = NULL;
    req->picked_up_ns = req->parsed_ns = req->first_ns = req->handed_ns = 0;
    req->front_ns = MST_UNKNOWN;
    req->label = NO_LABEL;
    req->status_page = req->delivered = false;
    ap_set_module_config(r->request_config, &mst_module, req);
    conn->current = conn->awaited = req;
    return OK;
}

/* The one before is not complete: the client did not wait for its response. */
static __attribute__((noinline)) int create_pipelined(request_rec *r, struct connection *conn)
{
    return create(apr_palloc(r->pool, sizeof(struct request)), r, conn);
}

static int create_request(request_rec *r)
{
    struct connection *conn = connection_of(r->connection);

    if (!conn || r->main || r->prev)
        return DECLINED;
    return conn->own.r ? create_pipelined(r, conn) : create(&conn->own, r, conn);
}

/* httpd's wall-clock request_time on our clock: now minus its age. */
static uint64_t request_time(const request_rec *r, uint64_t now)
{
    uint64_t age = mst_realtime_ns() - (uint64_t)r->request_time * MST_NS_PER_US;

    return age < now ? now - age : now;   /* from the future (the clock was set): now */
}

/* Unique while the board lives: which process, and which of its requests. Below
 * 2^53, so that it passes through JSON readers that compute in doubles. */
static uint64_t new_request_id(void)
{
    return mst_recording.id_base
         | (__atomic_add_fetch(mst_recording.ids, 1, __ATOMIC_RELAXED) & UINT32_MAX);
}

/* Fixes when the request was picked up: called once, as soon as it is one. From now on
 * its worker is in `state`; until now it read. */
static inline __attribute__((always_inline)) void
begin(struct request *req, const request_rec *r, uint64_t now, enum mst_state state)
{
    struct connection *conn = req->connection;

    if (conn->picked_up_ns) {
        req->picked_up_ns = conn->picked_up_ns;
        req->queue_ns = conn->queue_ns;
        conn->picked_up_ns = conn->queue_ns = 0;
        enter(conn, state, now);
    }
    else {
        req->picked_up_ns = request_time(r, now);
        if (req->picked_up_ns < conn->ended_ns)
            req->picked_up_ns = conn->ended_ns;
        req->queue_ns = 0;
        if (conn->worker)
            conn->state_since_ns =
                mst_worker_enter_through(conn->worker, MST_STATE_READING, req->picked_up_ns,
                                         state, conn->state_since_ns, now);
    }
    req->away_ns = away_until(conn, req->picked_up_ns);
    req->nth = conn->requests++;
    req->id = new_request_id();
}

/* Its response begins or it is complete, and it never became one: it is malformed, or
 * timed out. */
static __attribute__((cold, noinline)) void
begin_malformed(struct request *req, const request_rec *r, uint64_t now)
{
    begin(req, r, now, MST_STATE_READING);
}

/* How long before its start a proxy in front had it. */
static uint64_t front_ns(const struct request *req, const request_rec *r)
{
    const char *since = apr_table_get(r->headers_in, "X-Request-Start");
    uint64_t start = req->picked_up_ns - req->queue_ns;

    if (!since)
        return MST_UNKNOWN;
    return mst_request_start_age(mst_request_start_parse(since),
                                 mst_realtime_ns() - (mst_now_ns() - start));
}

/* Counts the request as in flight under `label`, NO_LABEL: no longer. */
static inline __attribute__((always_inline)) void
count_in_flight(struct request *req, uint32_t label)
{
    if (!mst_recording.self || req->label == label)
        return;
    if (req->label != NO_LABEL)
        __atomic_fetch_sub(&mst_recording.in_flight[req->label], 1, __ATOMIC_RELAXED);
    if (label != NO_LABEL)
        __atomic_fetch_add(&mst_recording.in_flight[label], 1, __ATOMIC_RELAXED);
    req->label = label;
}

/* The label of requests under this configuration. */
static inline uint32_t label_by(const struct mst_dir_config *dir, const request_rec *r)
{
    return dir->label ? dir->label->index : mst_server_config_of(r->server)->label;
}

static inline uint32_t label_of(const struct request *req, const struct mst_dir_config *dir,
                                const request_rec *r)
{
    return req->status_page ? MST_LABEL_STATUS : label_by(dir, r);
}

/* Shows the request on its worker's entry. */
static inline __attribute__((always_inline)) void
show(struct request *req, const struct mst_dir_config *dir, const request_rec *r)
{
    struct mst_worker *w = req->connection->worker;

    if (!w)
        return;
    __atomic_store_n(&w->request_start_ns, req->picked_up_ns, __ATOMIC_RELAXED);
    __atomic_store_n(&w->request_label, req->label, __ATOMIC_RELAXED);
    if (dir->paths == 1) {
        apr_cpystrn(w->path, r->uri, sizeof w->path);
        req->dir = NULL;   /* shown again before the handler: it is unescaped by then */
    }
}

static MST_NO_CANARY int post_read_request(request_rec *r)
{
    struct request *req = request_of(r);
    const struct mst_dir_config *dir;
    uint64_t now;

    if (!req || req->parsed_ns)
        return DECLINED;
    now = mst_now_ns();
    dir = mst_dir_config_of(r);
    req->parsed_ns = now;
    req->dir = dir;
    begin(req, r, now, MST_STATE_HANDLING);
    if (mst_config.trust_request_start)
        req->front_ns = front_ns(req, r);
    if (dir->enabled != 0)
        count_in_flight(req, label_by(dir, r));
    show(req, dir, r);
    return DECLINED;
}

/* The directory has settings of its own, which are known only now, and the path is
 * unescaped. */
static __attribute__((noinline)) void
apply_directory(struct request *req, const request_rec *r, const struct mst_dir_config *dir)
{
    req->dir = dir;
    count_in_flight(req, dir->enabled == 0 ? NO_LABEL : label_of(req, dir, r));
    show(req, dir, r);
}

/* The one hook before the content, for all that wants it: most requests are for files
 * in directories without settings of their own. */
static int before_handler(request_rec *r)
{
    const struct mst_dir_config *dir = mst_dir_config_of(r);
    struct request *req = request_of(r);

    if (req && req->dir != dir)
        apply_directory(req, r, dir);
    /* A file's is its media type, or nothing. */
    if (!r->handler || !r->handler[0]
        || (r->handler == r->content_type && r->handler[0] != 'a'))
        return DECLINED;
    if (strcmp(r->handler, "mpm-status") == 0)
        return mst_handle_status(r);
    mst_exports_hand_over(r);
    return DECLINED;
}

void mst_timing_set_label(request_rec *r, uint32_t label)
{
    struct request *req = request_of(r);

    if (!req)
        return;
    req->status_page = label == MST_LABEL_STATUS;
    count_in_flight(req, label);
    show(req, mst_dir_config_of(r), r);
}

/* Data while a request is current and none of its response was seen is the
 * beginning of that; but interim (1xx) responses are sent under a status of their
 * own, and buckets of metadata (EOR, flush) are no response. */
static inline void begin_response(struct connection *conn, const apr_bucket_brigade *bb)
{
    struct request *req = conn->awaited;

    if (APR_BRIGADE_EMPTY(bb) || APR_BUCKET_IS_METADATA(APR_BRIGADE_FIRST(bb))
        || ap_is_HTTP_INFO(req->r->status))
        return;
    if (mst_recording.forked)
        give_up_lost_entry(conn);
    conn->awaited = NULL;
    req->first_ns = mst_now_ns();
    if (req->parsed_ns)
        enter(conn, MST_STATE_SENDING, req->first_ns);
}

static MST_NO_CANARY __attribute__((noinline)) apr_status_t
see_awaited(ap_filter_t *f, apr_bucket_brigade *bb)
{
    struct connection *conn = f->ctx;
    apr_status_t rv;

    if (!conn->has_streams) {
        begin_response(conn, bb);
        return ap_pass_brigade(f->next, bb);
    }
    rv = ap_pass_brigade(f->next, bb);
    __atomic_store_n(&conn->wrote_ns, mst_now_ns(), __ATOMIC_RELAXED);
    return rv;
}

/* On the connection, once for all its requests: adding a filter to each request
 * costs more than looking on here, some four times a request. */
static apr_status_t see_response(ap_filter_t *f, apr_bucket_brigade *bb)
{
    if (((struct connection *)f->ctx)->awaited)
        return see_awaited(f, bb);
    return ap_pass_brigade(f->next, bb);
}

/* mod_http2 marks a stream's connection as aborted also where the client had all of
 * the response before the stream's thread was done with the request. */
static apr_status_t see_stream(ap_filter_t *f, apr_bucket_brigade *bb)
{
    struct connection *conn = f->ctx;
    bool ends = false, is_last = false;
    const apr_bucket *b;
    apr_status_t rv;

    for (b = APR_BRIGADE_FIRST(bb); b != APR_BRIGADE_SENTINEL(bb); b = APR_BUCKET_NEXT(b)) {
        ends = ends || APR_BUCKET_IS_EOS(b);
        is_last = is_last || AP_BUCKET_IS_EOR(b);
    }
    rv = see_response(f, bb);
    if (!conn->current)
        return rv;   /* EOR was destroyed: it is complete */
    if (ends && rv == APR_SUCCESS)
        conn->current->delivered = true;
    if (is_last)
        conn->current->handed_ns = mst_now_ns();
    return rv;
}

/* ---- completion ----------------------------------------------------------------- */

static enum mst_class class_of(const struct request *req, const request_rec *last)
{
    unsigned hundreds = (unsigned)last->status / 100;

    if (last->connection->aborted && !req->delivered)
        return MST_CLASS_ABORTED;
    return hundreds - 1 < MST_CLASS_5XX ? (enum mst_class)(hundreds - 1) : MST_CLASS_5XX;
}

/* Each edge no earlier than the one before. Headers that were never parsed (malformed,
 * 408) make `handle` empty, a response that never began makes `send` empty. */
static __attribute__((cold, noinline)) void order_edges(uint64_t edge[4])
{
    uint64_t picked_up = edge[0], *parsed = &edge[1], *first = &edge[2], *complete = &edge[3];

    if (*complete < picked_up)
        *complete = picked_up;
    if (*first == 0 || *first > *complete)
        *first = *complete;
    if (*first < picked_up)
        *first = picked_up;
    if (*parsed == 0 || *parsed > *first)
        *parsed = *first;
    if (*parsed < picked_up)
        *parsed = picked_up;
}

/* The phases: differences of the time stamps. Their sum is the total, exactly.
 * Returns it without `queue`. */
static inline uint64_t measure(struct mst_request *record, const struct request *req,
                               uint64_t complete)
{
    uint64_t picked_up = req->picked_up_ns, parsed = req->parsed_ns, first = req->first_ns;

    if (__builtin_expect(parsed < picked_up || first < parsed || complete < first, 0)) {
        uint64_t edge[4] = { picked_up, parsed, first, complete };

        order_edges(edge);
        parsed = edge[1], first = edge[2], complete = edge[3];
    }
    record->start_ns = picked_up - req->queue_ns;
    record->queue_ns = req->queue_ns;
    record->read_ns = parsed - picked_up;
    record->handle_ns = first - parsed;
    record->send_ns = complete - first;
    return complete - picked_up;
}

/* Of the time since the pick-up, what the connection was on a worker. */
static inline uint64_t held_ns(const struct request *req, uint64_t since_pick_up, uint64_t complete)
{
    uint64_t away = away_until(req->connection, complete) - req->away_ns;

    return away < since_pick_up ? since_pick_up - away : 0;
}

static inline void tally(const struct mst_request *record, uint64_t total, uint32_t label,
                         enum mst_class status_class, uint32_t stripe)
{
    struct mst_tally *t = mst_tally_of(mst_recording.board, label, stripe);
    struct mst_histogram *phase = t->times;
    size_t bucket = mst_histogram_bucket(total);

    mst_count(&t->status[status_class], 1);
    mst_count(&t->bytes, record->bytes);
    mst_histogram_record(&phase[MST_PHASE_QUEUE], record->queue_ns);
    mst_histogram_record(&phase[MST_PHASE_READ], record->read_ns);
    mst_histogram_record(&phase[MST_PHASE_HANDLE], record->handle_ns);
    mst_histogram_record(&phase[MST_PHASE_SEND], record->send_ns);
    mst_histogram_record_in(&phase[MST_PHASE_TOTAL], bucket, total);
    mst_histogram_record_in(&phase[MST_PHASE_HELD],
                            record->held_ns == total ? bucket
                                                     : mst_histogram_bucket(record->held_ns),
                            record->held_ns);
    if (record->front_ns != MST_UNKNOWN)
        mst_histogram_record(&phase[MST_PHASE_FRONT], record->front_ns);
}

/* By a copy, so that `record` is no more than what the compiler needs. */
static __attribute__((cold, noinline)) void
note(request_rec *r, request_rec *last, struct mst_request record)
{
    mst_exports_note(r, last, &record);
}

static inline __attribute__((always_inline)) void
record_request(const struct request *req, request_rec *r, uint64_t complete)
{
    const struct mst_dir_config *dir = mst_dir_config_of(r);
    const struct connection *conn = req->connection;
    uint32_t label = label_of(req, dir, r), flags = 0;
    struct mst_request record;
    request_rec *last = r;
    enum mst_class status_class;
    uint64_t since_pick_up;

    while (__builtin_expect(last->next != NULL, 0))
        last = last->next;
    status_class = class_of(req, last);
    if (status_class == MST_CLASS_ABORTED)
        flags |= MST_REQUEST_ABORTED;
    if (conn->stream) {
        flags |= MST_REQUEST_NO_WORKER;
        mst_count(&mst_recording.board->totals->http2_requests, 1);
    }
    record.id = req->id;
    since_pick_up = measure(&record, req, complete);
    record.held_ns = held_ns(req, since_pick_up, complete);
    /* httpd's counter goes by what was generated: a HEAD's body is not sent. */
    record.bytes = last->bytes_sent > 0 && !last->header_only ? (uint64_t)last->bytes_sent : 0;
    record.label_status = (uint64_t)label << 32 | flags << 16 | (uint32_t)last->status;
    record.pid_worker = mst_recording.pid << 32 | conn->worker_index;
    record.connection = conn->number_port;
    record.nth = req->nth;
    record.front_ns = dir->trust_request_start == 1 ? req->front_ns : MST_UNKNOWN;
    tally(&record, record.queue_ns + since_pick_up, label, status_class, conn->stripe);
    mst_journal_request(mst_recording.board, &record);
    if (dir->notes == 1)
        note(r, last, record);
}

/* The request that the client sent, where it is recorded: of redirects the first, of
 * sub-requests the outer one. */
static struct request *recorded_request(request_rec **r)
{
    struct request *req;

    if (!mst_recording.board)
        return NULL;
    while ((*r)->main || (*r)->prev)
        *r = (*r)->main ? (*r)->main : (*r)->prev;
    req = request_of(*r);
    return req && mst_dir_config_of(*r)->enabled != 0 ? req : NULL;
}

uint64_t mst_timing_id(request_rec *r)
{
    const struct request *req = recorded_request(&r);

    return req ? req->id : 0;
}

bool mst_timing_so_far(request_rec *r, struct mst_request *so_far)
{
    struct request *req = recorded_request(&r);
    uint64_t now = mst_now_ns();

    if (!req)
        return false;
    if (!req->picked_up_ns)
        begin_malformed(req, r, now);
    measure(so_far, req, now);
    so_far->id = req->id;
    return true;
}

/* The worker is done with the request: it waits for the next one on a kept-alive
 * connection, else it stays `sending` until httpd closes or suspends. */
static void finish_on_worker(struct connection *conn, const conn_rec *c, uint64_t complete)
{
    struct mst_worker *w = conn->worker;

    conn->ended_ns = complete;
    if (!w)
        return;
    __atomic_store_n(&w->requests, w->requests + 1, __ATOMIC_RELAXED);
    mst_worker_show_none(w);
    if (c->keepalive == AP_CONN_KEEPALIVE && !c->aborted)
        enter(conn, MST_STATE_KEEPALIVE, complete);
}

/* A request by which its connection becomes HTTP/2's is the first stream, too, and
 * recorded as such. */
static int protocol_switch(conn_rec *c, request_rec *r, server_rec *s, const char *protocol)
{
    struct request *req = r ? request_of(r) : NULL;

    (void)c, (void)s;
    if (!req || strcmp(protocol, "h2c") != 0)
        return DECLINED;
    count_in_flight(req, NO_LABEL);
    if (req->connection->worker)
        mst_worker_show_none(req->connection->worker);
    enter(req->connection, MST_STATE_READING, mst_now_ns());
    req->connection->current = req->connection->awaited = NULL;
    req->r = NULL;
    ap_set_module_config(r->request_config, &mst_module, NULL);
    return DECLINED;
}

/* When a stream's response was sent. Where the session was done with the stream before
 * the stream's thread was, it destroys EOR when it next has something to do, maybe seconds
 * later: but then it has not written anything meanwhile. */
static __attribute__((noinline)) uint64_t sent_by(const struct request *req, uint64_t now)
{
    const struct connection *session = req->connection->session;
    uint64_t wrote_ns = session ? __atomic_load_n(&session->wrote_ns, __ATOMIC_RELAXED) : 0;

    if (wrote_ns < req->handed_ns)
        wrote_ns = req->handed_ns;
    return wrote_ns < now ? wrote_ns : now;
}

static MST_NO_CANARY int log_transaction(request_rec *r)
{
    struct request *req = request_of(r);
    uint64_t complete;

    if (!req)
        return DECLINED;
    if (mst_recording.forked)
        give_up_lost_entry(req->connection);
    complete = mst_now_ns();
    if (req->handed_ns)
        complete = sent_by(req, complete);
    if (!req->picked_up_ns)
        begin_malformed(req, r, complete);
    if (mst_dir_config_of(r)->enabled != 0)
        record_request(req, r, complete);
    count_in_flight(req, NO_LABEL);
    finish_on_worker(req->connection, r->connection, complete);
    if (req->connection->current == req)
        req->connection->current = req->connection->awaited = NULL;
    req->r = NULL;
    if (req->connection->stream)
        end_stream(req->connection);
    if (mst_recording.forks_running)
        mst_forks_look();
    return DECLINED;
}

void mst_timing_register(apr_pool_t *p)
{
    (void)p;
    response_filter = ap_register_output_filter("MPMSTAT", see_response, NULL, AP_FTYPE_CONNECTION);
    stream_filter = ap_register_output_filter("MPMSTAT_STREAM", see_stream, NULL,
                                              AP_FTYPE_CONNECTION);
    ap_hook_pre_connection(pre_connection, NULL, NULL, APR_HOOK_REALLY_FIRST);
    ap_hook_pre_close_connection(pre_close_connection, NULL, NULL, APR_HOOK_REALLY_FIRST);
    ap_hook_suspend_connection(suspend_connection, NULL, NULL, APR_HOOK_LAST);
    ap_hook_resume_connection(resume_connection, NULL, NULL, APR_HOOK_FIRST);
    ap_hook_create_request(create_request, NULL, NULL, APR_HOOK_LAST);
    ap_hook_post_read_request(post_read_request, NULL, NULL, APR_HOOK_REALLY_FIRST);
    ap_hook_handler(before_handler, NULL, NULL, APR_HOOK_REALLY_FIRST);
    ap_hook_protocol_switch(protocol_switch, NULL, NULL, APR_HOOK_REALLY_FIRST);
    ap_hook_log_transaction(log_transaction, NULL, NULL, APR_HOOK_REALLY_FIRST);
}
