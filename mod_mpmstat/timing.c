/* timing.c - follows connections and requests: phases, worker states, records.
 *
 * The hot path. Per request: five time stamps, a few stores into the worker's own
 * cache lines, relaxed adds into a tally, one journal record. No lock, no system
 * call but TCP_INFO where a connection may have waited, no allocation but from
 * the request's pool.
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
#include "board/journal.h"
#include "board/worker.h"

/* A client's connection. From its pool; one thread at a time. */
struct connection {
    struct request    *current;      /* the latest, until it is complete; NULL: none */
    struct mst_worker *worker;       /* serving it now; NULL: none */
    uint64_t state_since_ns;         /* when the worker's state began */
    uint64_t occupied_since_ns;      /* a thread has had it since; 0: suspended */
    uint64_t occupied_ns;            /* time on threads before that */
    uint64_t picked_up_ns;           /* start of the coming request; 0: by its request_time */
    uint64_t queue_ns;               /* what the coming request waited for a worker */
    uint64_t ended_ns;               /* when its last request was complete */
    uint64_t number;                 /* of this process's connections */
    uint32_t requests;               /* begun on it */
    uint16_t port;                   /* the client's */
    bool     stream;                 /* an HTTP/2 stream: its thread is no worker of the MPM */
    bool     kept_alive;             /* suspended in keep-alive: waiting for a request */
    uint64_t suspended_ns;           /* since when */
};

/* A request, the outermost: sub-requests and internal redirects belong to it. */
struct request {
    const request_rec *r;
    struct connection *connection;
    uint64_t picked_up_ns, queue_ns; /* 0 until begun */
    uint64_t occupied_ns;            /* the connection's time on threads at the pick-up */
    uint64_t parsed_ns;              /* 0: never */
    uint64_t first_ns;               /* 0: never */
    uint32_t nth;
    uint32_t label;                  /* in_flight is counted under it; NO_LABEL: not counted */
    bool     status_page;
};
#define NO_LABEL UINT32_MAX

static ap_filter_rec_t *response_filter;
static uint64_t connections_begun;   /* in this process; atomic */

/* ---- workers ---------------------------------------------------------------- */

/* The board's entry of the worker that has this connection. The scoreboard knows
 * which thread it is; which process is this one. NULL: no worker of the MPM. */
static struct mst_worker *worker_of(const conn_rec *c)
{
    const worker_score *ws;
    size_t index;

    if (!mst_recording.self || !c->sbh || !(ws = ap_get_scoreboard_worker(c->sbh)))
        return NULL;
    index = (size_t)(ws - ap_scoreboard_image->servers[0]);
    if (mst_recording.self->mpm_slot < 0)
        mst_recording.self->mpm_slot = (int64_t)(index / mst_recording.threads);
    return &mst_recording.workers[index % mst_recording.threads];
}

static inline __attribute__((always_inline)) void
enter(struct connection *conn, enum mst_state state, uint64_t now)
{
    if (conn->worker)
        conn->state_since_ns = mst_worker_enter(conn->worker, state, conn->state_since_ns, now);
}

/* ---- connections ------------------------------------------------------------- */

static struct connection *connection_of(const conn_rec *c)
{
    return ap_get_module_config(c->conn_config, &mpmstat_module);
}

/* How long the newest data has been in the kernel: a jiffy's resolution. 0 where
 * the worker had been idle, for then nobody waited, and where nobody knows. Never
 * from before the end of the connection's last request.
 *
 * That nobody waits while a worker is idle holds where workers accept by
 * themselves (prefork). A listener thread may be late, by some 10 ms when event's
 * listeners wake up: a new connection is asked there in any case, and what is
 * less than two jiffies is then the clock's grain, not a wait. */
static uint64_t wait_for_worker(const struct connection *conn, apr_socket_t *csd,
                                uint64_t idle_since, uint64_t now)
{
    bool was_idle = now > idle_since && now - idle_since >= mst_recording.idle_enough_ns;
    bool is_new = conn->requests == 0;
    apr_os_sock_t fd;
    struct tcp_info info;
    socklen_t size = sizeof info;
    uint64_t wait;

    if (was_idle && !(is_new && mst_recording.listener_thread))
        return 0;
    if (!csd || apr_os_sock_get(&fd, csd) != APR_SUCCESS
        || getsockopt(fd, IPPROTO_TCP, TCP_INFO, &info, &size) != 0)
        return 0;
    wait = info.tcpi_last_data_recv * MST_NS_PER_MS;
    if (was_idle && wait < mst_recording.idle_enough_ns)
        return 0;
    return wait < now - conn->ended_ns ? wait : now - conn->ended_ns;
}

/* A worker takes the connection: new, or back from event's pollset. */
static void occupy(struct connection *conn, const conn_rec *c, apr_socket_t *csd,
                   enum mst_state state, uint64_t now)
{
    conn->worker = worker_of(c);
    conn->occupied_since_ns = now;
    conn->kept_alive = false;
    if (conn->worker) {
        conn->state_since_ns = mst_worker_since(conn->worker);
        if (state == MST_STATE_READING)
            conn->queue_ns = wait_for_worker(conn, csd, conn->state_since_ns, now);
        enter(conn, state, now);
        mst_busy_begin(mst_recording.board, mst_recording.self, now);
    }
    if (state == MST_STATE_READING)
        conn->picked_up_ns = now;
}

/* Its worker lets go of it. */
static void leave(struct connection *conn, uint64_t now)
{
    if (!conn->occupied_since_ns)
        return;
    if (conn->worker) {
        enter(conn, MST_STATE_IDLE, now);
        mst_busy_end(mst_recording.board, mst_recording.self, now);
    }
    conn->worker = NULL;
    conn->occupied_ns += now - conn->occupied_since_ns;
    conn->occupied_since_ns = 0;
}

/* Time on threads until now_ns, of the whole connection. */
static uint64_t occupied_until(const struct connection *conn, uint64_t now)
{
    bool occupied = conn->occupied_since_ns && now > conn->occupied_since_ns;

    return conn->occupied_ns + (occupied ? now - conn->occupied_since_ns : 0);
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
    conn->number = __atomic_add_fetch(&connections_begun, 1, __ATOMIC_RELAXED);
    conn->port = c->client_addr ? c->client_addr->port : 0;
    conn->stream = c->master != NULL;
    ap_set_module_config(c->conn_config, &mpmstat_module, conn);
    ap_add_output_filter_handle(response_filter, conn, NULL, c);
    if (conn->stream)
        return OK;
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
static void resume_connection(conn_rec *c, request_rec *r)
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
        occupy(conn, c, ap_get_conn_socket(c), MST_STATE_CLOSING, now);
        return;
    case CONN_STATE_WRITE_COMPLETION:
        occupy(conn, c, ap_get_conn_socket(c), MST_STATE_SENDING, now);
        return;
    default:
        occupy(conn, c, ap_get_conn_socket(c), MST_STATE_READING, now);
    }
}

static void suspend_connection(conn_rec *c, request_rec *r)
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
    return conn->worker && conn->worker->state == MST_STATE_KEEPALIVE && !conn->current;
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
    }
    if (promise_broken(conn))
        mst_count(&mst_recording.board->totals->shed, 1);
    conn->current = NULL;   /* one that never came is gone already, with its pool */
    if (conn->worker)
        enter(conn, MST_STATE_CLOSING, mst_now_ns());
    return DECLINED;
}

/* ---- requests ------------------------------------------------------------------ */

static struct request *request_of(const request_rec *r)
{
    return ap_get_module_config(r->request_config, &mpmstat_module);
}

static int create_request(request_rec *r)
{
    struct connection *conn = connection_of(r->connection);
    struct request *req;

    if (!conn || r->main || r->prev)
        return DECLINED;
    req = apr_palloc(r->pool, sizeof *req);
    *req = (struct request){ .r = r, .connection = conn, .label = NO_LABEL };
    ap_set_module_config(r->request_config, &mpmstat_module, req);
    conn->current = req;
    return OK;
}

/* httpd's wall-clock request_time on our clock: now minus its age. */
static uint64_t request_time(const request_rec *r, uint64_t now)
{
    uint64_t age = mst_realtime_ns() - (uint64_t)r->request_time * MST_NS_PER_US;

    return age < now ? now - age : now;   /* from the future (the clock was set): now */
}

/* Fixes when the request was picked up. Called once, as soon as it is one. */
static void begin(struct request *req, const request_rec *r, uint64_t now)
{
    struct connection *conn = req->connection;

    if (conn->picked_up_ns) {
        req->picked_up_ns = conn->picked_up_ns;
        req->queue_ns = conn->queue_ns;
        conn->picked_up_ns = 0;
    }
    else {
        req->picked_up_ns = request_time(r, now);
        if (req->picked_up_ns < conn->ended_ns)
            req->picked_up_ns = conn->ended_ns;
        enter(conn, MST_STATE_READING, req->picked_up_ns);
    }
    req->occupied_ns = occupied_until(conn, req->picked_up_ns);
    req->nth = conn->requests++;
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

static uint32_t label_of(const struct request *req, const request_rec *r)
{
    const struct mst_dir_config *dir = mst_dir_config_of(r);

    if (req->status_page)
        return MST_LABEL_STATUS;
    return dir->label ? dir->label->index : mst_server_config_of(r->server)->label;
}

/* Shows the request on its worker's entry. */
static inline __attribute__((always_inline)) void
show(const struct request *req, const request_rec *r)
{
    struct mst_worker *w = req->connection->worker;

    if (!w)
        return;
    __atomic_store_n(&w->request_start_ns, req->picked_up_ns, __ATOMIC_RELAXED);
    __atomic_store_n(&w->request_label, req->label, __ATOMIC_RELAXED);
    if (mst_dir_config_of(r)->paths == 1)
        apr_cpystrn(w->path, r->uri, sizeof w->path);
}

static int post_read_request(request_rec *r)
{
    struct request *req = request_of(r);

    if (!req || req->parsed_ns)
        return DECLINED;
    req->parsed_ns = mst_now_ns();
    begin(req, r, req->parsed_ns);
    if (mst_dir_config_of(r)->enabled != 0)
        count_in_flight(req, label_of(req, r));
    enter(req->connection, MST_STATE_HANDLING, req->parsed_ns);
    show(req, r);
    return DECLINED;
}

/* The directory's own settings are known only now. */
static int fixups(request_rec *r)
{
    const struct mst_dir_config *dir = mst_dir_config_of(r);
    struct request *req;

    if (!dir->label && dir->enabled != 0 && dir->paths != 1)
        return DECLINED;   /* as post_read_request had it */
    req = request_of(r);
    if (!req || r->main || r->prev || !req->parsed_ns)
        return DECLINED;
    count_in_flight(req, dir->enabled == 0 ? NO_LABEL : label_of(req, r));
    show(req, r);
    return DECLINED;
}

void mst_timing_set_label(request_rec *r, uint32_t label)
{
    struct request *req = request_of(r);

    if (!req)
        return;
    req->status_page = label == MST_LABEL_STATUS;
    count_in_flight(req, label);
    show(req, r);
}

/* Data while a request is current and none of its response was seen is the
 * beginning of that; but interim (1xx) responses are sent under a status of their
 * own, and buckets of metadata (EOR, flush) are no response. */
static __attribute__((noinline)) void
begin_response(struct connection *conn, struct request *req, const apr_bucket_brigade *bb)
{
    if (APR_BRIGADE_EMPTY(bb) || APR_BUCKET_IS_METADATA(APR_BRIGADE_FIRST(bb))
        || ap_is_HTTP_INFO(req->r->status))
        return;
    if (mst_recording.forked)
        give_up_lost_entry(conn);
    req->first_ns = mst_now_ns();
    if (req->parsed_ns)
        enter(conn, MST_STATE_SENDING, req->first_ns);
}

/* On the connection, once for all its requests: adding a filter to each request
 * costs more than looking on here. */
static apr_status_t see_response(ap_filter_t *f, apr_bucket_brigade *bb)
{
    struct connection *conn = f->ctx;

    if (conn->current && !conn->current->first_ns)
        begin_response(conn, conn->current, bb);
    return ap_pass_brigade(f->next, bb);
}

/* ---- completion ----------------------------------------------------------------- */

static enum mst_class class_of(const request_rec *last)
{
    int hundreds = last->status / 100;

    if (last->connection->aborted)
        return MST_CLASS_ABORTED;
    return hundreds >= 1 && hundreds <= 5 ? (enum mst_class)(hundreds - 1) : MST_CLASS_5XX;
}

/* The phases: differences of the time stamps, each no earlier than the one before.
 * Headers that were never parsed (malformed, 408) make `handle` empty, a response
 * that never began makes `send` empty. Their sum is the total, exactly. */
static void measure(struct mst_request *record, const struct request *req, uint64_t complete)
{
    uint64_t picked_up = req->picked_up_ns, first, parsed;

    if (complete < picked_up)
        complete = picked_up;
    first = req->first_ns ? req->first_ns : complete;
    if (first > complete)
        first = complete;
    if (first < picked_up)
        first = picked_up;
    parsed = req->parsed_ns ? req->parsed_ns : first;
    if (parsed > first)
        parsed = first;
    if (parsed < picked_up)
        parsed = picked_up;
    record->start_ns = picked_up - req->queue_ns;
    record->queue_ns = req->queue_ns;
    record->read_ns = parsed - picked_up;
    record->handle_ns = first - parsed;
    record->send_ns = complete - first;
}

static uint64_t held_ns(const struct request *req, const struct mst_request *record)
{
    uint64_t complete = record->start_ns + record->queue_ns + record->read_ns + record->handle_ns
                      + record->send_ns;
    uint64_t held = occupied_until(req->connection, complete);

    return held > req->occupied_ns ? held - req->occupied_ns : 0;
}

/* Unique while the board lives: which process, and which of its requests. Below
 * 2^53, so that it passes through JSON readers that compute in doubles. */
static uint64_t new_request_id(void)
{
    return mst_recording.id_base
         | (__atomic_add_fetch(mst_recording.ids, 1, __ATOMIC_RELAXED) & UINT32_MAX);
}

static void tally(const struct mst_request *record, uint32_t label, enum mst_class status_class,
                  uint32_t stripe)
{
    struct mst_tally *t = mst_tally_of(mst_recording.board, label, stripe);
    struct mst_histogram *phase = t->times;

    mst_count(&t->status[status_class], 1);
    mst_count(&t->bytes, record->bytes);
    mst_histogram_record(&phase[MST_PHASE_QUEUE], record->queue_ns);
    mst_histogram_record(&phase[MST_PHASE_READ], record->read_ns);
    mst_histogram_record(&phase[MST_PHASE_HANDLE], record->handle_ns);
    mst_histogram_record(&phase[MST_PHASE_SEND], record->send_ns);
    mst_histogram_record(&phase[MST_PHASE_TOTAL],
                         record->queue_ns + record->read_ns + record->handle_ns + record->send_ns);
    mst_histogram_record(&phase[MST_PHASE_HELD], record->held_ns);
}

static void record_request(const struct request *req, const request_rec *r, uint64_t complete)
{
    const struct connection *conn = req->connection;
    const struct mst_worker *w = conn->worker;
    uint32_t worker = w ? (uint32_t)(w - mst_recording.board->workers) : UINT32_MAX;
    uint32_t stripe = w ? worker : (uint32_t)mst_recording.pid;
    uint32_t label = label_of(req, r), flags = 0;
    struct mst_request record;
    const request_rec *last = r;
    enum mst_class status_class;

    while (last->next)
        last = last->next;
    status_class = class_of(last);
    if (status_class == MST_CLASS_ABORTED)
        flags |= MST_REQUEST_ABORTED;
    if (conn->stream)
        flags |= MST_REQUEST_NO_WORKER;
    measure(&record, req, complete);
    record.id = new_request_id();
    record.held_ns = held_ns(req, &record);
    /* httpd's counter goes by what was generated: a HEAD's body is not sent. */
    record.bytes = last->bytes_sent > 0 && !last->header_only ? (uint64_t)last->bytes_sent : 0;
    record.label_status = (uint64_t)label << 32 | flags << 16 | (uint32_t)last->status;
    record.pid_worker = mst_recording.pid << 32 | worker;
    record.connection = conn->number << 16 | conn->port;
    record.nth = req->nth;
    tally(&record, label, status_class, stripe);
    mst_journal_request(mst_recording.board, &record);
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
    req->connection->current = NULL;
    ap_set_module_config(r->request_config, &mpmstat_module, NULL);
    return DECLINED;
}

static int log_transaction(request_rec *r)
{
    struct request *req = request_of(r);
    uint64_t complete;

    if (!req)
        return DECLINED;
    if (mst_recording.forked)
        give_up_lost_entry(req->connection);
    complete = mst_now_ns();
    if (!req->picked_up_ns)
        begin(req, r, complete);   /* malformed or timed out: it never got further */
    if (mst_dir_config_of(r)->enabled != 0)
        record_request(req, r, complete);
    count_in_flight(req, NO_LABEL);
    finish_on_worker(req->connection, r->connection, complete);
    if (req->connection->current == req)
        req->connection->current = NULL;
    return DECLINED;
}

void mst_timing_register(apr_pool_t *p)
{
    (void)p;
    response_filter = ap_register_output_filter("MPMSTAT", see_response, NULL, AP_FTYPE_CONNECTION);
    ap_hook_pre_connection(pre_connection, NULL, NULL, APR_HOOK_REALLY_FIRST);
    ap_hook_pre_close_connection(pre_close_connection, NULL, NULL, APR_HOOK_REALLY_FIRST);
    ap_hook_suspend_connection(suspend_connection, NULL, NULL, APR_HOOK_LAST);
    ap_hook_resume_connection(resume_connection, NULL, NULL, APR_HOOK_FIRST);
    ap_hook_create_request(create_request, NULL, NULL, APR_HOOK_LAST);
    ap_hook_post_read_request(post_read_request, NULL, NULL, APR_HOOK_REALLY_FIRST);
    ap_hook_fixups(fixups, NULL, NULL, APR_HOOK_LAST);
    ap_hook_protocol_switch(protocol_switch, NULL, NULL, APR_HOOK_REALLY_FIRST);
    ap_hook_log_transaction(log_transaction, NULL, NULL, APR_HOOK_REALLY_FIRST);
}
