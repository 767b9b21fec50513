/* timing.c - requests: their time stamps, until the response is complete; record.c has the rest.
 *
 * The hot path. For each request: seven time stamps, a few stores into the worker's own cache
 * lines, relaxed adds to the label's counters, one journal record. No lock, no system call but
 * TCP_INFO where a connection may have waited (accept_wait.c) or a response is slow or large
 * (delivery.c), no allocation but for pipelined requests, from their pools. docs/measuring.md has
 * what it costs.
 *
 * Where a request's time stamps come from:
 *
 *   arrived    picked_up - what the kernel says of the data's age (accept_wait.c)
 *   picked_up  a worker takes the connection (connections.c); for later requests on the same
 *              worker httpd's request_time
 *   parsed     post_read_request
 *   handler    the handler hook (hooks.c)
 *   first      the first bytes of the final response pass the output filter
 *   complete   the first hook of log_transaction, which runs when the EOR bucket is destroyed
 *   logged     its last hook
 */
#include "request.h"

#include <apr_strings.h>
#include <http_core.h>
#include <http_protocol.h>
#include <http_request.h>

#include "segment/handover.h"
#include "write/path.h"

/* ---- the beginning ------------------------------------------------------------------- */

/* Converts httpd's request_time, which is of the wall clock, to CLOCK_MONOTONIC: now, less its
 * age. */
static uint64_t request_time(struct mst_connection *conn, const request_rec *r, uint64_t now)
{
    uint64_t age = mst_clock_by(CLOCK_REALTIME, &conn->clock)
                 - (uint64_t)r->request_time * MST_NS_PER_US;

    return age < now ? now - age : now;   /* in the future (the clock was set): now */
}

/* Unique while the board lives: which process, and which of its requests. Below 2^53, so that
 * JSON readers that compute in doubles keep it. */
static uint64_t new_request_id(void)
{
    return mst_recording.id_base
         | (__atomic_add_fetch(mst_recording.ids, 1, __ATOMIC_RELAXED) & UINT32_MAX);
}

/* How long a proxy in front had the request before it arrived here; MST_UNKNOWN. */
static uint64_t front_ns(const struct mst_timed *req, const request_rec *r)
{
    const char *since = apr_table_get(r->headers_in, "X-Request-Start");
    uint64_t start = req->picked_up_ns - req->queue_ns;

    if (!since)
        return MST_UNKNOWN;
    return mst_request_start_age(mst_request_start_parse(since),
                                 mst_realtime_ns() - (mst_now_ns() - start));
}

/* The label of requests under this configuration. */
static uint32_t label_by(const struct mst_dir_config *dir, const request_rec *r)
{
    return dir->label ? dir->label->index : mst_server_config_of(r->server)->label;
}

/* The worker that served the connection's last request goes on to the next one, which it has
 * read since httpd's request_time; until then the connection was kept alive. */
static void pick_up_again(struct mst_connection *conn, const request_rec *r, uint64_t now)
{
    uint64_t at = request_time(conn, r, now);

    if (at < conn->ended_ns)
        at = conn->ended_ns;
    conn->picked_up_ns = at;
    mst_enter(conn, MST_STATE_READING, at > conn->state_since_ns ? at : conn->state_since_ns);
}

/* The request before is not complete (the client did not wait for its response): the worker serves
 * this one from now on. */
static MST_SELDOM
struct mst_timed *room_for_pipelined(struct mst_connection *conn, const request_rec *r)
{
    struct mst_timed *req = &conn->own;

    mst_record_unlogged(req, r->connection);
    if (conn->current)
        mst_count_off_worker(conn->current);
    if (conn->current && conn->worker)
        mst_worker_show_none(conn->worker);
    if (conn->own.r) {
        req = apr_pcalloc(r->pool, sizeof *req);
        req->connection = conn;
    }
    return req;
}

/* mod_http2 had read the request at httpd's request_time; then it waited for a worker of
 * mod_http2. */
static MST_SELDOM
void note_h2_wait(struct mst_timed *req, const request_rec *r, uint64_t now)
{
    uint64_t ready = request_time(req->connection, r, now);

    if (ready < req->picked_up_ns)
        req->queue_ns = req->picked_up_ns - ready;
    mst_parts_of(req)->h2_wait_ns = req->queue_ns;
}

/* The connection's worker has read the request until now, and is in `state` from now on. Always
 * inline: that saves 8 of a request's instructions, 21 of event's. */
static inline __attribute__((always_inline))
struct mst_timed *begin(request_rec *r, struct mst_connection *conn, uint64_t now,
                        enum mst_state state)
{
    struct mst_timed *req = &conn->own;

    if (!conn->picked_up_ns)
        pick_up_again(conn, r, now);
    if (conn->current || conn->own.r)
        req = room_for_pipelined(conn, r);
    req->r = r;
    req->dir = mst_dir_config_of(r);
    ap_set_module_config(r->request_config, &mst_module, req);
    conn->current = conn->awaited = req;
    req->picked_up_ns = conn->picked_up_ns;
    req->queue_ns = conn->queue_ns;
    conn->picked_up_ns = conn->queue_ns = 0;
    mst_enter(conn, state, now);
    req->suspended_ns = conn->suspended_ns;
    req->handler_ns = 0;
    req->handler = MST_END_OTHER;
    req->has_parts = false;
    if (conn->stream)
        note_h2_wait(req, r, now);
    req->nth = conn->requests++;
    req->id = new_request_id();
    req->label = req->dir->enabled != 0 ? label_by(req->dir, r) : MST_NO_LABEL;
    return req;
}

/* What few requests begin with. */
static MST_SELDOM void begin_more(struct mst_timed *req, request_rec *r)
{
    struct mst_connection *conn = req->connection;

    if (conn->tls_ns)
        mst_parts_of(req)->tls_ns = conn->tls_ns;
    conn->tls_ns = 0;
    if (conn->late.id)
        mst_delivery_settle(conn, r->connection);
    if (mst_config.trust_request_start)
        mst_parts_of(req)->front_ns = front_ns(req, r);
    conn->expects_more = mst_config.trust_request_start;
}

int mst_timing_begin(request_rec *r)
{
    struct mst_connection *conn = mst_connection_of(r->connection);
    struct mst_timed *req;
    uint64_t now;

    if (!conn || r->prev)
        return DECLINED;   /* httpd does not run this hook for sub-requests */
    now = mst_connection_now(conn);
    req = begin(r, conn, now, MST_STATE_HANDLING);
    req->parsed_ns = now;
    req->first_ns = 0;
    if (conn->expects_more)
        begin_more(req, r);
    if (r->method_number != M_GET)   /* those of GET (and HEAD) have no body that matters */
        mst_upload_watch(req, r);
    if (!conn->worker) {
        mst_count_off_worker(req);
        return DECLINED;
    }
    mst_worker_show(conn->worker, req->id, req->picked_up_ns, req->label);
    if (req->dir->paths == 1)
        req->dir = NULL;   /* whether to show the path is known with the directory */
    return DECLINED;
}

/* mst_timing_begin() has not seen a request that was malformed, or timed out: it begins when its
 * response begins, or when it is complete. If data was sent since the previous request, that was
 * its response, which began at `own.first_ns`. NULL: its connection is not followed, or HTTP/2
 * records it as a stream. */
static MST_SELDOM struct mst_timed *begin_malformed(request_rec *r, uint64_t now)
{
    struct mst_connection *conn = mst_connection_of(r->connection);
    struct mst_timed *req;
    bool is_answered;

    if (!conn || conn->upgraded)
        return NULL;
    is_answered = !conn->awaited;
    req = begin(r, conn, now, MST_STATE_READING);
    if (!is_answered || req != &conn->own)
        req->first_ns = 0;
    req->parsed_ns = 0;
    return req;
}

/* ---- its worker ---------------------------------------------------------------------- */

void mst_timing_check_entry(struct mst_connection *conn)
{
    const struct mst_process *self = mst_recording.self;

    mst_thread_set_index(conn->thread, (uint32_t)conn->thread->pid_worker);   /* another pid */
    if (self && __atomic_load_n(&self->pid, __ATOMIC_RELAXED) == mst_recording.owner)
        return;
    mst_recording.self = NULL;
    mst_recording.in_flight = NULL;
    mst_thread_set_index(&mst_recording.other_threads, UINT32_MAX);
    mst_set_no_worker(conn);
}

/* ---- its configuration --------------------------------------------------------------- */

static void set_label(struct mst_timed *req, uint32_t label)
{
    mst_count_on_worker(req);
    req->label = label;
    if (!req->connection->worker)
        mst_count_off_worker(req);
    else
        mst_worker_show(req->connection->worker, req->id, req->picked_up_ns, label);
}

/* mod_proxy puts the whole URL into `uri`, with its query string. What is behind a semicolon can be
 * a session's. */
static void show_path(struct mst_worker *w, const request_rec *r)
{
    const char *path = r->proxyreq == PROXYREQ_PROXY ? r->parsed_uri.path : r->uri;
    size_t room = path ? strcspn(path, ";") + 1 : 1;   /* NULL: CONNECT */

    apr_cpystrn(w->path, path, room < sizeof w->path ? room : sizeof w->path);
}

/* Called when the directory's configuration is known and the path is unescaped. A request for the
 * status page keeps the label of that, whichever is configured. */
void mst_timing_change_config(struct mst_timed *req, const request_rec *r,
                              const struct mst_dir_config *dir)
{
    uint32_t label = req->label;

    req->dir = dir;
    if (dir->enabled == 0)
        label = MST_NO_LABEL;
    else if (label != MST_LABEL_STATUS)
        label = label_by(dir, r);
    set_label(req, label);
    if (dir->paths == 1 && label != MST_NO_LABEL && req->connection->worker)
        show_path(req->connection->worker, r);
}

void mst_timing_set_label(request_rec *r, uint32_t label)
{
    struct mst_timed *req = mst_timed_of(r);

    if (req && req->label != MST_NO_LABEL)
        set_label(req, label);
}

/* ---- the beginning of its response --------------------------------------------------- */

static bool has_data(const apr_bucket_brigade *bb)
{
    const apr_bucket *b;

    for (b = APR_BRIGADE_FIRST(bb); b != APR_BRIGADE_SENTINEL(bb); b = APR_BUCKET_NEXT(b))
        if (!APR_BUCKET_IS_METADATA(b))
            return true;
    return false;
}

/* The first data while a response is awaited is its beginning. Interim responses (1xx), which
 * have a status of their own, are not; nor are buckets of metadata (EOR, flush; HTTP/2's headers,
 * which come before its data). */
static void begin_response(struct mst_connection *conn, const apr_bucket_brigade *bb)
{
    struct mst_timed *req = conn->awaited;
    const request_rec *r = req->r;   /* NULL: it is the response to what never became a request */

    if (!has_data(bb) || (r && ap_is_HTTP_INFO(r->status)))
        return;
    if (mst_recording.forked)
        mst_timing_check_entry(conn);
    conn->awaited = NULL;
    if (r && req->nth > 0 && (r->clength > MST_LARGE_BYTES || r->chunked || r->next))
        mst_delivery_begin(conn, r->connection);
    req->first_ns = mst_connection_now(conn);
    if (r)
        mst_enter(conn, MST_STATE_SENDING, req->first_ns);
}

apr_status_t mst_timing_pass_response(ap_filter_t *f, apr_bucket_brigade *bb)
{
    begin_response(f->ctx, bb);
    return ap_pass_brigade(f->next, bb);
}

/* ---- the end ------------------------------------------------------------------------- */

static enum mst_class class_of(uint32_t status)
{
    return status < 500 ? (enum mst_class)(status / 100 - 1) : MST_CLASS_5XX;
}

/* Makes each time no earlier than the one before. Headers that were never parsed (malformed, 408)
 * make `handle` empty, a response that never began makes `send` empty. */
static MST_SELDOM void put_in_order(struct mst_timed *req)
{
    if (req->complete_ns < req->picked_up_ns)
        req->complete_ns = req->picked_up_ns;
    if (req->first_ns == 0 || req->first_ns > req->complete_ns)
        req->first_ns = req->complete_ns;
    if (req->first_ns < req->picked_up_ns)
        req->first_ns = req->picked_up_ns;
    if (req->parsed_ns == 0 || req->parsed_ns > req->first_ns)
        req->parsed_ns = req->first_ns;
    if (req->parsed_ns < req->picked_up_ns)
        req->parsed_ns = req->picked_up_ns;
}

/* Sets the last time stamp. From here on they are in order. */
static inline void set_complete(struct mst_timed *req, uint64_t complete)
{
    req->complete_ns = complete;
    if (req->parsed_ns < req->picked_up_ns || req->first_ns < req->parsed_ns
        || complete < req->first_ns)
        put_in_order(req);
}

/* A script may set any number; httpd answers 500 for what is not a status. */
static uint32_t status_of(const request_rec *last)
{
    return last->status >= 100 && last->status < 1000 ? (uint32_t)last->status
                                                      : HTTP_INTERNAL_SERVER_ERROR;
}

/* httpd's parent wakes a child that is to end by a connection to itself: no client's request. */
static MST_SELDOM bool is_dummy(const request_rec *r)
{
    const char *agent;

    if (strcmp(r->unparsed_uri, "*") != 0)
        return false;
    agent = apr_table_get(r->headers_in, "User-Agent");
    return agent && strstr(agent, "(internal dummy connection)")
           && apr_sockaddr_equal(r->connection->client_addr, r->connection->local_addr);
}

/* Which page the client asked for: the target of its own request, whatever that was rewritten or
 * redirected to. Clients can ask for any path: so a path that the server does not have, or that it
 * redirects, gets no new entry. Where the server fails, or the client leaves, it is not known
 * whether the server has the page: its path is doubtful. */
static MST_SELDOM uint32_t path_of(const struct mst_timed *req, const request_rec *r)
{
    uint32_t status = (uint32_t)req->status_flags & 0xffff;
    bool is_file = req->handler_ns && req->handler == mst_recording.default_end;
    enum mst_path_answer answer = MST_PATH_GOOD;
    char name[MST_PATH_NAME_MAX];

    if (status >= 300 && status < 500 && status != HTTP_NOT_MODIFIED)
        answer = MST_PATH_REFUSED;
    else if (status >= 500 || req->status_class == MST_CLASS_ABORTED)
        answer = MST_PATH_DOUBTFUL;
    return mst_path_fold(r->unparsed_uri, is_file, name)
         ? mst_path_find(mst_recording.board, name, answer) : MST_NO_PATH;
}

/* Keeps what httpd knows of the request, and frees after the log hooks. */
static void note_outcome(struct mst_timed *req, const request_rec *r)
{
    const request_rec *last = r;
    uint32_t status;

    while (last->next)
        last = last->next;
    status = status_of(last);
    req->status_class = class_of(status);
    req->status_flags = status;
    if (r->connection->aborted && !req->delivered) {
        req->status_class = MST_CLASS_ABORTED;
        req->status_flags |= MST_REQUEST_ABORTED << 16;
    }
    if (req->connection->stream)
        req->status_flags |= MST_REQUEST_NO_WORKER << 16;
    /* httpd counts what was generated: the body of a response to HEAD is not sent. */
    req->bytes = last->bytes_sent > 0 && !last->header_only ? (uint64_t)last->bytes_sent : 0;
    req->path = req->dir->paths == 1 ? path_of(req, r) : MST_NO_PATH;
    if (req->dir->trust_client_id == 1)
        mst_parts_of(req)->client_id = mst_trace_client_id(r);
    if (req->dir->trace_context >= MST_TRACE_READ)
        mst_trace_note(req, r);
    if (req->has_parts && req->dir->trust_request_start != 1)
        req->parts.front_ns = MST_UNKNOWN;
}

/* Where the session was done with a stream before the stream's thread was, the session destroys
 * EOR when it next has something to do, which can be seconds later; it has not written anything
 * meanwhile. So the response was sent when the session last wrote. */
static uint64_t sent_by_session(const struct mst_timed *req, uint64_t now)
{
    const struct mst_connection *session = req->connection->session;
    uint64_t wrote_ns = session ? __atomic_load_n(&session->wrote_ns, __ATOMIC_RELAXED) : 0;

    if (wrote_ns < req->handed_ns)
        wrote_ns = req->handed_ns;
    return wrote_ns < now ? wrote_ns : now;
}

/* The connection's next request can begin. */
int mst_timing_complete(request_rec *r)
{
    struct mst_timed *req = mst_timed_of(r);
    struct mst_connection *conn;
    uint64_t complete;

    if (!req && !(req = begin_malformed(r, mst_now_ns())))
        return DECLINED;
    conn = req->connection;
    complete = mst_connection_now(conn);
    if (mst_recording.forked)
        mst_timing_check_entry(conn);
    mst_timing_apply_config(req, r);   /* not each request has come to a handler */
    set_complete(req, req->handed_ns ? sent_by_session(req, complete) : complete);
    if (conn->current == req) {
        conn->current = NULL;
        conn->awaited = &conn->own;
        mst_enter(conn, MST_STATE_LOGGING, req->complete_ns);
    }
    if (req->label == MST_NO_LABEL)
        return DECLINED;
    note_outcome(req, r);
    if (req->complete_ns - req->first_ns >= MST_SLOW_SEND_NS || req->bytes > MST_LARGE_BYTES)
        mst_delivery_complete(req, r->connection);
    if (r->method_number == M_OPTIONS && is_dummy(r)) {
        mst_count_on_worker(req);
        req->label = MST_NO_LABEL;
    }
    return DECLINED;
}

/* ---- for exports.c ------------------------------------------------------------------- */

/* Of redirects the first request, of sub-requests the outer one. NULL: it is not recorded. */
static struct mst_timed *recorded_request(request_rec *r)
{
    struct mst_timed *req;

    if (!mst_recording.board)
        return NULL;
    while (r->main || r->prev)
        r = r->main ? r->main : r->prev;
    if (mst_dir_config_of(r)->enabled == 0)
        return NULL;
    req = mst_timed_of(r);
    return req ? req : begin_malformed(r, mst_now_ns());
}

uint64_t mst_timing_id(request_rec *r)
{
    const struct mst_timed *req = recorded_request(r);

    return req ? req->id : 0;
}

bool mst_timing_so_far(request_rec *r, struct mst_request *so_far)
{
    const struct mst_timed *req = recorded_request(r);
    struct mst_timed so_now;

    if (!req)
        return false;
    so_now = *req;
    set_complete(&so_now, mst_now_ns());
    mst_record_phases(so_far, &so_now);
    return true;
}
