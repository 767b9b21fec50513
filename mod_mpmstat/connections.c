/* connections.c - which worker has which connection, and since when: a worker's state between
 * requests; connections that event suspends and resumes.
 *
 * A worker's state is followed on its connection: `reading` from the pick-up (timing.c goes on
 * from there), `closing`, and `idle` again when event suspends the connection or its pool is
 * cleaned up.
 */
#include "request.h"

#include <ap_mpm.h>
#include <http_connection.h>
#include <http_core.h>
#include <scoreboard.h>

#include "write/busy.h"

static ap_filter_rec_t *response_filter;
static uint64_t connections_begun;   /* in this process; atomic */

/* ---- which worker a thread is -------------------------------------------------------- */

/* Finds where this child is on the scoreboard: the worker that has a connection tells it. */
static void find_scores(const worker_score *ws)
{
    const worker_score *all = ap_scoreboard_image->servers[0];
    int64_t slot = (ws - all) / mst_recording.threads;

    mst_recording.self->mpm_slot = slot;
    mst_recording.scores = all + slot * mst_recording.threads;
}

/* This thread, if it is a worker that has served before. To look it up for each request of event
 * would cost 40 instructions more. */
static _Thread_local struct mst_thread *this_thread;

/* Which worker this thread is, which serves c. NULL: none. */
static MST_SELDOM struct mst_thread *find_thread(const conn_rec *c)
{
    const worker_score *ws = ap_get_scoreboard_worker(c->sbh);
    uint32_t index;
    size_t nth;

    if (!ws)
        return NULL;
    if (!mst_recording.scores)
        find_scores(ws);
    nth = (size_t)(ws - mst_recording.scores);
    if (nth >= mst_recording.threads)
        return NULL;
    this_thread = &mst_recording.worker_threads[nth];
    index = mst_recording.first_worker + (uint32_t)nth;
    mst_thread_set_index(this_thread, index);
    mst_thread_set_stripe(this_thread, index);
    this_thread->worker = &mst_recording.workers[nth];
    this_thread->idle_since_ns = mst_worker_since(this_thread->worker);
    return this_thread;
}

/* The worker that serves c is this thread. NULL: c has none. */
static inline struct mst_thread *thread_of(const conn_rec *c)
{
    if (!mst_recording.self)
        return NULL;
    return this_thread ? this_thread : find_thread(c);
}

/* ---- a worker takes a connection, and lets go of it ---------------------------------- */

/* A worker takes the connection: a new one, with its socket, or another. Always inline: that
 * saves 24 of event's instructions for a request. */
static inline __attribute__((always_inline))
void take(struct mst_connection *conn, conn_rec *c, apr_socket_t *csd, enum mst_state state,
          uint64_t now)
{
    struct mst_thread *thread = thread_of(c);
    uint64_t idle_ns;

    if (conn->current)   /* the time without a worker was within its request */
        conn->suspended_ns += now - conn->left_ns;
    conn->left_ns = 0;
    if (state == MST_STATE_READING)
        conn->picked_up_ns = now;
    if (!thread)
        return;
    idle_ns = now - thread->idle_since_ns;
    if (state == MST_STATE_READING && mst_accept_may_have_waited(conn, idle_ns, now))
        conn->queue_ns = mst_accept_wait(conn, c, csd, idle_ns, now);
    conn->thread = thread;
    conn->worker = thread->worker;
    mst_set_state(conn, state, now);
    mst_worker_pass(thread->worker, mst_worker_state_ns(thread->worker, MST_STATE_IDLE), state,
                    now - idle_ns, now);
    mst_busy_begin(mst_recording.board, mst_recording.self, now);
}

/* The same for a session of HTTP/2. */
static MST_SELDOM
void take_session(struct mst_connection *conn, conn_rec *c, enum mst_state state, uint64_t now)
{
    mst_http2_hold(conn);
    take(conn, c, NULL, state, now);
    mst_http2_release(conn);
    if (__atomic_load_n(&conn->streams, __ATOMIC_RELAXED))
        mst_http2_update(conn, now);
}

/* A worker takes a connection from event's pollset. */
static inline void take_again(struct mst_connection *conn, conn_rec *c, enum mst_state state,
                              uint64_t now)
{
    if (__atomic_load_n(&conn->has_streams, __ATOMIC_RELAXED))
        take_session(conn, c, state, now);
    else
        take(conn, c, NULL, state, now);
}

/* No worker shows the connection's request in flight from here on. Precondition: there is a
 * worker. */
static void hide_request(const struct mst_connection *conn)
{
    if (conn->current)
        mst_count_off_worker(conn->current);
    mst_worker_show_none(conn->worker);
}

/* The worker lets go of the connection. */
static inline void let_go(struct mst_connection *conn, uint64_t now)
{
    struct mst_worker *w = conn->worker;

    conn->left_ns = now;
    if (!w)
        return;
    if (w->request_start_ns)
        hide_request(conn);
    mst_worker_pass(w, conn->spent_ns, MST_STATE_IDLE, conn->state_since_ns, now);
    conn->thread->idle_since_ns = now;
    mst_set_no_worker(conn);
    mst_busy_end(mst_recording.board, mst_recording.self, now);
}

/* The same for a session of HTTP/2. */
static MST_SELDOM void let_go_of_session(struct mst_connection *conn, uint64_t now)
{
    mst_http2_hold(conn);
    if (now < conn->state_since_ns)
        now = conn->state_since_ns;   /* a stream's thread has read a later time */
    let_go(conn, now);
    mst_http2_release(conn);
}

static inline void leave(struct mst_connection *conn, uint64_t now)
{
    if (__atomic_load_n(&conn->has_streams, __ATOMIC_RELAXED))
        let_go_of_session(conn, now);
    else
        let_go(conn, now);
}

/* ---- its end ------------------------------------------------------------------------- */

static bool is_stopping(void)
{
    int state = 0;

    return ap_mpm_query(AP_MPMQ_MPM_STATE, &state) != APR_SUCCESS || state == AP_MPMQ_STOPPING;
}

/* Another process may have served the connection (itk's), and this child does not know what it
 * did: the board does. A request that the worker still shows ended with that process.
 * False: the child is stopping, and leaves that worker to the parent, which counts the request as
 * it does a killed child's. */
static bool catch_up_with_fork(struct mst_connection *conn)
{
    struct mst_worker *w = conn->worker;

    mst_set_state(conn, w->state < MST_STATE_COUNT ? (enum mst_state)w->state : MST_STATE_CLOSING,
                  mst_worker_since(w));
    if (!w->request_start_ns)
        return true;
    if (!conn->requests) {
        if (is_stopping())
            return false;
        mst_count(&mst_recording.board->totals->unfinished, 1);
    }
    mst_worker_show_none(w);
    return true;
}

/* A process that was forked meanwhile runs this, too, and leaves all to the child. */
static apr_status_t connection_gone(void *conn_)
{
    struct mst_connection *conn = conn_;
    bool is_ours;

    if (mst_recording.forked)
        return APR_SUCCESS;
    is_ours = !conn->worker || catch_up_with_fork(conn);
    conn->current = NULL;   /* freed with its pool */
    mst_delivery_gone(conn);
    if (is_ours && !conn->left_ns)
        leave(conn, mst_now_ns());
    if (mst_recording.forks_running)
        mst_forks_check();   /* itk's has ended; a CGI's, if it went on after its response */
    if (mst_recording.self)
        __atomic_fetch_sub(&mst_recording.self->connections, 1, __ATOMIC_RELAXED);
    return APR_SUCCESS;
}

/* Whether the server closes a connection that it has just promised to keep: httpd forgets the
 * promise where a restart comes between the response and the wait for the next request. */
static bool is_promise_broken(const struct mst_connection *conn, const conn_rec *c)
{
    return conn->worker && !mst_is_in(conn, MST_STATE_CLOSING) && conn->requests && !conn->current
        && c->keepalive == AP_CONN_KEEPALIVE && !c->aborted && !conn->has_streams;
}

/* itk closes a kept-alive connection without an answer where the process would have to become
 * another user for the next request. It does so while httpd handles that request, which httpd does
 * not log. `current` is that request, if its worker still shows it: its pool exists until then. */
static void abandon_request(struct mst_connection *conn)
{
    if (!conn->worker || !conn->worker->request_start_ns || !conn->current)
        return;
    mst_count_on_worker(conn->current);
    mst_worker_show_none(conn->worker);
    conn->current = NULL;
    mst_count(&mst_recording.board->totals->shed, 1);
}

int mst_connections_close(conn_rec *c)
{
    struct mst_connection *conn = mst_connection_of(c);

    if (!conn)
        return DECLINED;
    if (mst_recording.forked) {
        mst_timing_check_entry(conn);
        abandon_request(conn);
        mst_forks_closing();
    }
    if (is_promise_broken(conn, c))
        mst_count(&mst_recording.board->totals->shed, 1);
    mst_record_unlogged(&conn->own, c);
    if (conn->worker && conn->current)
        hide_request(conn);   /* from here on its pool can be freed without log_transaction */
    conn->current = conn->awaited = NULL;
    mst_delivery_close(conn, c);
    mst_http2_hold(conn);
    mst_enter(conn, MST_STATE_CLOSING, mst_connection_now(conn));
    mst_http2_release(conn);
    return DECLINED;
}

/* ---- its output ---------------------------------------------------------------------- */

/* This filter is on the connection, once for all its requests: adding a filter to each request
 * would cost more than looking at what passes here, some four brigades for each request. */
static apr_status_t see_output(ap_filter_t *f, apr_bucket_brigade *bb)
{
    struct mst_connection *conn = f->ctx;

    if (conn->awaited)
        return mst_timing_pass_response(f, bb);
    return ap_pass_brigade(f->next, bb);
}

void mst_connections_register_filter(void)
{
    response_filter = ap_register_output_filter("MPMSTAT", see_output, NULL, AP_FTYPE_CONNECTION);
}

/* ---- its beginning ------------------------------------------------------------------- */

int mst_connections_begin(conn_rec *c, void *csd)
{
    struct mst_connection *conn;

    /* One without a scoreboard handle is a stream of HTTP/2, or a proxy's to its backend. */
    if (!mst_recording.board || c->outgoing || (!c->sbh && !c->master))
        return DECLINED;
    conn = apr_pcalloc(c->pool, sizeof *conn);
    conn->number_port = __atomic_add_fetch(&connections_begun, 1, __ATOMIC_RELAXED) << 16
                      | (c->client_addr ? c->client_addr->port : 0);
    mst_set_no_worker(conn);
    conn->own.connection = conn;
    conn->awaited = &conn->own;
    conn->stream = c->master != NULL;
    conn->expects_more = mst_config.trust_request_start;
    ap_set_module_config(c->conn_config, &mst_module, conn);
    if (conn->stream) {
        mst_http2_begin_stream(conn, c);
        return OK;
    }
    ap_add_output_filter_handle(response_filter, conn, NULL, c);
    take(conn, c, csd, MST_STATE_READING, mst_connection_now(conn));
    if (mst_recording.self) {
        __atomic_fetch_add(&mst_recording.self->connections, 1, __ATOMIC_RELAXED);
        mst_count(&mst_recording.self->accepted, 1);
    }
    apr_pool_cleanup_register(c->pool, conn, connection_gone, apr_pool_cleanup_null);
    return OK;
}

/* ---- event: off a worker, and back on one -------------------------------------------- */

/* event takes a connection for expired when it has up to this long to go (its
 * TIMEOUT_FUDGE_FACTOR); the way to a worker may take as long again. */
#define TIMEOUT_FUDGE_NS (200 * MST_NS_PER_MS)

/* Back on a worker, but not for a request. In the rest of a lingering close the worker only
 * drains the connection without waiting, and httpd runs no hook when it is done: the worker does
 * not count as busy for that. */
static MST_SELDOM void resume_to_end(struct mst_connection *conn, conn_rec *c)
{
    uint64_t now = mst_connection_now(conn);
    bool is_sending = c->cs->state == CONN_STATE_WRITE_COMPLETION;

    if (!is_sending && c->cs->state != CONN_STATE_LINGER)
        return;
    if (!is_sending && conn->left_in == CONN_STATE_CHECK_REQUEST_LINE_READABLE
        && now - conn->left_ns + TIMEOUT_FUDGE_NS
           < (uint64_t)c->base_server->keep_alive_timeout * MST_NS_PER_US)
        mst_count(&mst_recording.board->totals->shed, 1);
    take_again(conn, c, is_sending ? MST_STATE_SENDING : MST_STATE_CLOSING, now);
}

static bool is_ending(const conn_rec *c)
{
    return c->cs->state == CONN_STATE_WRITE_COMPLETION || c->cs->state == CONN_STATE_LINGER
        || c->cs->state == CONN_STATE_LINGER_NORMAL || c->cs->state == CONN_STATE_LINGER_SHORT;
}

void mst_connections_resume(conn_rec *c, request_rec *r)
{
    struct mst_connection *conn = mst_connection_of(c);

    (void)r;
    if (!conn || !c->sbh || !c->cs)
        return;
    if (is_ending(c))
        resume_to_end(conn, c);
    else
        take_again(conn, c, MST_STATE_READING, mst_connection_now(conn));
}

void mst_connections_suspend(conn_rec *c, request_rec *r)
{
    struct mst_connection *conn = mst_connection_of(c);

    (void)r;
    if (!conn || !c->cs)
        return;
    conn->left_in = c->cs->state;
    leave(conn, mst_connection_now(conn));
}
