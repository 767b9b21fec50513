/* connections.c - which worker has which connection, and since when: a worker's state
 * between requests, the wait for a worker, connections that are suspended and resumed.
 *
 * A worker's state is followed on its connection: `reading` from the pick-up (timing.c
 * goes on from there), `closing`, and `idle` again when event suspends the connection or
 * its pool is cleaned up.
 */
#include "request.h"

#include <ap_mpm.h>
#include <http_connection.h>
#include <http_core.h>
#include <mpm_common.h>
#include <netinet/in.h>
#include <netinet/tcp.h>
#include <scoreboard.h>

#include "base/clock.h"
#include "write/busy.h"

ap_filter_rec_t *mst_response_filter;
static uint64_t connections_begun;   /* in this process; atomic */

/* ---- workers ---------------------------------------------------------------- */

/* Where this child is on the scoreboard; only a worker that has a connection knows. */
static void find_slot(const worker_score *ws)
{
    const worker_score *all = ap_scoreboard_image->servers[0];
    int64_t slot = (ws - all) / mst_recording.threads;

    mst_recording.self->mpm_slot = slot;
    mst_recording.scores = all + slot * mst_recording.threads;
}

/* The worker that a thread is, once it has had a connection: the same for as long as the
 * thread lives. (Asking the scoreboard costs more than all the rest of a pick-up.) */
struct seat {
    struct mst_worker *worker;   /* NULL: not known yet, or it is none */
    struct mst_tally  *tallies;  /* of label 0 in its stripe */
    uint32_t           index;    /* on the board */
};
static __thread struct seat own_seat;

/* The scoreboard knows which thread it is; which process is this one. */
static __attribute__((cold, noinline)) void find_seat(struct seat *seat, const conn_rec *c)
{
    const worker_score *ws;
    size_t nth;

    if (!c->sbh || !(ws = ap_get_scoreboard_worker(c->sbh)))
        return;
    if (!mst_recording.scores)
        find_slot(ws);
    nth = (size_t)(ws - mst_recording.scores);
    if (nth >= mst_recording.threads)
        return;
    seat->worker = &mst_recording.workers[nth];
    seat->index = mst_recording.first_worker + (uint32_t)nth;
    seat->tallies = mst_tally_of(mst_recording.board, 0, seat->index);
}

/* Of this thread. A function of its own: the way to a thread's variable may spoil the
 * vector registers (glibc before 2.42), of which a call expects no better. */
static MST_NO_CANARY __attribute__((noinline)) const struct seat *seat_of(const conn_rec *c)
{
    struct seat *seat = &own_seat;

    if (__builtin_expect(seat->worker != NULL, 1))
        return seat;
    if (mst_recording.self)
        find_seat(seat, c);
    return seat;
}

/* A worker that did not go from one connection right to the next: nothing waited for it. */
#define IDLE_AT_ALL_NS (20 * MST_NS_PER_US)

/* What the kernel says of the newest data's age, where that is a wait. */
static __attribute__((noinline)) uint64_t
ask_kernel(const struct mst_connection *conn, conn_rec *c, apr_socket_t *csd, uint64_t idle_ns,
           uint64_t now)
{
    uint64_t since_last = now - conn->ended_ns, wait;   /* a new one's: since ever */
    apr_os_sock_t fd;
    struct tcp_info info;
    socklen_t size = sizeof info;

    if (idle_ns >= IDLE_AT_ALL_NS && since_last < mst_recording.idle_enough_ns)
        return 0;
    if (!csd)
        csd = ap_get_conn_socket(c);
    if (!csd || apr_os_sock_get(&fd, csd) != APR_SUCCESS
        || getsockopt(fd, IPPROTO_TCP, TCP_INFO, &info, &size) != 0)
        return 0;
    wait = info.tcpi_last_data_recv * MST_NS_PER_MS;
    if (idle_ns >= mst_recording.idle_enough_ns && wait < mst_recording.idle_enough_ns)
        return 0;
    return wait < since_last ? wait : since_last;
}

/* How long the newest data has been in the kernel: a jiffy's resolution. 0 where
 * the worker had been idle, for then nobody waited, and where nobody knows. Never
 * from before the end of the connection's last request.
 *
 * That nobody waits while a worker is idle holds where workers accept by
 * themselves (prefork). A listener thread may be late, by some 10 ms when event's
 * listeners wake up: a new connection is asked there in any case, and what is
 * less than two jiffies is then the clock's grain, not a wait. So is what a kept-alive
 * connection can have waited if its last request was less than that ago. */
static inline uint64_t wait_for_worker(const struct mst_connection *conn, conn_rec *c,
                                       apr_socket_t *csd, uint64_t idle_since, uint64_t now)
{
    uint64_t idle_ns = now - idle_since;
    bool is_new = conn->requests == 0;

    if (idle_ns >= mst_recording.idle_enough_ns && !(is_new && mst_recording.listener_thread))
        return 0;
    return ask_kernel(conn, c, csd, idle_ns, now);
}

MST_INLINE void take(struct mst_connection *conn, conn_rec *c, apr_socket_t *csd,
                     enum mst_state state, uint64_t now)
{
    const struct seat *seat = seat_of(c);

    if (__builtin_expect(conn->current != NULL, 0))
        conn->away_ns += now - conn->left_ns;   /* of its request */
    conn->left_ns = 0;
    if (seat->worker) {
        uint64_t since = mst_worker_since(seat->worker);

        conn->worker = seat->worker;
        conn->worker_index = seat->index;
        conn->tallies = seat->tallies;
        conn->state = MST_STATE_IDLE;
        conn->state_since_ns = since;
        if (state == MST_STATE_READING)
            conn->queue_ns = wait_for_worker(conn, c, csd, since, now);
        mst_enter(conn, state, now);
        mst_busy_begin(mst_recording.board, mst_recording.self, now);
    }
    if (state == MST_STATE_READING)
        conn->picked_up_ns = now;
}

static __attribute__((noinline)) void
take_session(struct mst_connection *conn, conn_rec *c, enum mst_state state, uint64_t now)
{
    mst_http2_hold(conn);
    take(conn, c, NULL, state, now);
    mst_http2_release(conn);
    if (__atomic_load_n(&conn->streams, __ATOMIC_RELAXED))
        mst_http2_settle(conn, now);
}

/* A worker takes the connection: new, with its socket, or back from event's pollset. */
MST_INLINE void occupy(struct mst_connection *conn, conn_rec *c, apr_socket_t *csd,
                       enum mst_state state, uint64_t now)
{
    if (mst_http2_has_streams(conn))
        take_session(conn, c, state, now);
    else
        take(conn, c, csd, state, now);
}

/* What is in flight is sent without it from here on. */
static __attribute__((noinline)) void let_go_of_request(const struct mst_connection *conn)
{
    if (conn->current)
        mst_count_off_worker(conn->current);
    mst_worker_show_none(conn->worker);
}

MST_INLINE void let_go(struct mst_connection *conn, uint64_t now)
{
    if (conn->worker) {
        if (conn->worker->request_start_ns)
            let_go_of_request(conn);
        mst_enter(conn, MST_STATE_IDLE, now);
        mst_busy_end(mst_recording.board, mst_recording.self, now);
    }
    conn->worker = NULL;
    conn->worker_index = UINT32_MAX;
    conn->left_ns = now;
}

static __attribute__((noinline)) void let_go_of_session(struct mst_connection *conn, uint64_t now)
{
    mst_http2_hold(conn);
    let_go(conn, now > conn->state_since_ns ? now : conn->state_since_ns);
    mst_http2_release(conn);
}

/* Its worker lets go of it. */
MST_INLINE void leave(struct mst_connection *conn, uint64_t now)
{
    if (mst_http2_has_streams(conn))
        let_go_of_session(conn, now);
    else
        let_go(conn, now);
}

__attribute__((cold)) void mst_connection_check_entry(struct mst_connection *conn)
{
    const struct mst_process *self = mst_recording.self;

    if (self && __atomic_load_n(&self->pid, __ATOMIC_RELAXED) == mst_recording.owner)
        return;
    mst_recording.self = NULL;
    mst_recording.in_flight = NULL;
    own_seat.worker = NULL;
    conn->worker = NULL;
    conn->worker_index = UINT32_MAX;
}

static bool is_stopping(void)
{
    int state = 0;

    return ap_mpm_query(AP_MPMQ_MPM_STATE, &state) != APR_SUCCESS || state == AP_MPMQ_STOPPING;
}

/* As the process says that it was forked to. */
static enum mst_state state_of(const struct mst_worker *w)
{
    return w->state < MST_STATE_COUNT ? (enum mst_state)w->state : MST_STATE_CLOSING;
}

/* A process forked meanwhile runs this, too, and leaves all to the child. Where that
 * process served (itk), the child knows nothing of what its worker did. A stopping
 * child leaves it all to the parent, as where it is killed. */
static apr_status_t connection_gone(void *conn_)
{
    struct mst_connection *conn = conn_;

    if (mst_recording.forked)
        return APR_SUCCESS;
    if (conn->worker) {
        conn->state_since_ns = mst_worker_since(conn->worker);
        conn->state = state_of(conn->worker);
        if (conn->worker->request_start_ns) {
            /* The process that served it has ended in the middle of a request. */
            if (!conn->requests && !is_stopping())
                mst_count(&mst_recording.board->totals->unfinished, 1);
            mst_worker_show_none(conn->worker);
        }
    }
    conn->current = NULL;   /* gone with its pool */
    if (!conn->left_ns)
        leave(conn, mst_now_ns());
    if (mst_recording.forks_running)
        mst_forks_look();   /* itk's has ended; CGI's, where it went on after its response */
    if (mst_recording.self)
        __atomic_fetch_sub(&mst_recording.self->connections, 1, __ATOMIC_RELAXED);
    return APR_SUCCESS;
}

static int pre_connection(conn_rec *c, void *csd)
{
    struct mst_connection *conn;

    /* Without a scoreboard handle: a stream of HTTP/2, or a proxy's to its backend. */
    if (!mst_recording.board || c->outgoing || (!c->sbh && !c->master))
        return DECLINED;
    conn = apr_pcalloc(c->pool, sizeof *conn);
    conn->number_port = __atomic_add_fetch(&connections_begun, 1, __ATOMIC_RELAXED) << 16
                      | (c->client_addr ? c->client_addr->port : 0);
    conn->tallies = mst_tally_of(mst_recording.board, 0, (uint32_t)mst_recording.pid);
    conn->worker_index = UINT32_MAX;
    conn->own.connection = conn;
    conn->awaited = &conn->own;
    conn->stream = c->master != NULL;
    ap_set_module_config(c->conn_config, &mst_module, conn);
    if (conn->stream) {
        mst_http2_begin_stream(conn, c);
        return OK;
    }
    ap_add_output_filter_handle(mst_response_filter, conn, NULL, c);
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

/* Back on a worker, but not for a request. For the rest of a lingering close a worker only
 * drains without waiting, and httpd does not say when it is done: that is not counted as
 * being occupied. */
static __attribute__((noinline)) void
resume_to_end(struct mst_connection *conn, conn_rec *c, uint64_t now)
{
    if (c->cs->state == CONN_STATE_WRITE_COMPLETION) {
        occupy(conn, c, NULL, MST_STATE_SENDING, now);
        return;
    }
    if (c->cs->state != CONN_STATE_LINGER)
        return;
    if (conn->suspended == CONN_STATE_CHECK_REQUEST_LINE_READABLE
        && now - conn->left_ns + TIMEOUT_FUDGE_NS
           < (uint64_t)c->base_server->keep_alive_timeout * MST_NS_PER_US)
        mst_count(&mst_recording.board->totals->shed, 1);
    occupy(conn, c, NULL, MST_STATE_CLOSING, now);
}

static inline bool is_ending(const conn_rec *c)
{
    return c->cs->state == CONN_STATE_WRITE_COMPLETION || c->cs->state == CONN_STATE_LINGER
        || c->cs->state == CONN_STATE_LINGER_NORMAL || c->cs->state == CONN_STATE_LINGER_SHORT;
}

/* event: back on a worker. */
static MST_NO_CANARY void resume_connection(conn_rec *c, request_rec *r)
{
    struct mst_connection *conn = mst_connection_of(c);
    uint64_t now;

    (void)r;
    if (!conn || !c->sbh || !c->cs)
        return;
    now = mst_now_ns();
    if (__builtin_expect(c->cs->state != CONN_STATE_READ_REQUEST_LINE, 0) && is_ending(c))
        resume_to_end(conn, c, now);
    else
        occupy(conn, c, NULL, MST_STATE_READING, now);
}

static MST_NO_CANARY void suspend_connection(conn_rec *c, request_rec *r)
{
    struct mst_connection *conn = mst_connection_of(c);

    (void)r;
    if (!conn || !c->cs)
        return;
    conn->suspended = c->cs->state;
    leave(conn, mst_now_ns());
}

/* Whether the server closes a connection that it had just promised to keep: a restart
 * came between the response and the wait for the next request, with which httpd forgets
 * the promise. */
static bool promise_broken(const struct mst_connection *conn, const conn_rec *c)
{
    return conn->worker && conn->state != MST_STATE_CLOSING && conn->requests && !conn->current
        && c->keepalive == AP_CONN_KEEPALIVE && !c->aborted && !conn->has_streams;
}

/* itk closes a kept-alive connection without an answer where the process would have to
 * be another user for the next request; httpd does not log that one. `current` is
 * looked at only where it was begun: others are gone with their pool. */
static void abandon_request(struct mst_connection *conn)
{
    if (!conn->worker || !conn->worker->request_start_ns || !conn->current)
        return;
    mst_count_on_worker(conn->current);
    mst_worker_show_none(conn->worker);
    conn->current = NULL;
    mst_count(&mst_recording.board->totals->shed, 1);
}

static int pre_close_connection(conn_rec *c)
{
    struct mst_connection *conn = mst_connection_of(c);

    if (!conn)
        return DECLINED;
    if (mst_recording.forked) {
        mst_connection_check_entry(conn);
        abandon_request(conn);
        mst_forks_closing();
    }
    if (promise_broken(conn, c))
        mst_count(&mst_recording.board->totals->shed, 1);
    if (conn->worker && conn->current)
        let_go_of_request(conn);   /* from here on it can end with its pool, unseen */
    conn->current = conn->awaited = NULL;
    mst_http2_hold(conn);
    if (conn->worker)
        mst_enter(conn, MST_STATE_CLOSING, mst_now_ns());
    mst_http2_release(conn);
    return DECLINED;
}

void mst_connections_register(apr_pool_t *p)
{
    (void)p;
    mst_response_filter = ap_register_output_filter("MPMSTAT", mst_timing_see_response, NULL,
                                                    AP_FTYPE_CONNECTION);
    ap_hook_pre_connection(pre_connection, NULL, NULL, APR_HOOK_REALLY_FIRST);
    ap_hook_pre_close_connection(pre_close_connection, NULL, NULL, APR_HOOK_REALLY_FIRST);
    ap_hook_suspend_connection(suspend_connection, NULL, NULL, APR_HOOK_LAST);
    ap_hook_resume_connection(resume_connection, NULL, NULL, APR_HOOK_FIRST);
}
