/* timing.c - requests: time stamps, phases, records.
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

#include <apr_lib.h>
#include <apr_strings.h>
#include <http_core.h>
#include <http_protocol.h>
#include <http_request.h>

#include "segment/handover.h"
#include "write/journal.h"

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
static __attribute__((noinline))
struct mst_timed *room_for_pipelined(struct mst_connection *conn, const request_rec *r)
{
    struct mst_timed *req = &conn->own;

    mst_timing_end_unlogged(req, r->connection);
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
static __attribute__((noinline))
void note_h2_wait(struct mst_timed *req, const request_rec *r, uint64_t now)
{
    uint64_t ready = request_time(req->connection, r, now);

    if (ready < req->picked_up_ns)
        req->queue_ns = req->picked_up_ns - ready;
    mst_parts_of(req)->h2_wait_ns = req->queue_ns;
}

/* The connection's worker has read the request until now, and is in `state` from now on. Always
 * inline saves 17 of a request's instructions. */
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
static __attribute__((noinline)) void begin_more(struct mst_timed *req, request_rec *r)
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
    mst_worker_show(conn->worker, req->picked_up_ns, req->label);
    if (req->dir->paths == 1)
        req->dir = NULL;   /* whether to show the path is known with the directory */
    return DECLINED;
}

/* Data that was sent since the previous request was this request's response; `own.first_ns` is when
 * it began. */
struct mst_timed *mst_timing_begin_malformed(request_rec *r, uint64_t now)
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
        mst_worker_show(req->connection->worker, req->picked_up_ns, label);
}

/* mod_proxy puts the whole URL into `uri`, with its query string. */
static void show_path(struct mst_worker *w, const request_rec *r)
{
    apr_cpystrn(w->path, r->proxyreq == PROXYREQ_PROXY ? r->parsed_uri.path : r->uri,
                sizeof w->path);
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
static __attribute__((noinline)) void put_in_order(struct mst_timed *req)
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

/* Sets the phases of a complete request: the differences of its time stamps, so that their sum is
 * the total exactly; and `checks`, which is all of `handle` where no handler was called. */
static inline void measure(struct mst_request *record, const struct mst_timed *req)
{
    uint64_t parsed = req->parsed_ns, first = req->first_ns, handler = req->handler_ns;

    record->queue_ns = req->queue_ns;
    record->read_ns = parsed - req->picked_up_ns;
    record->handle_ns = first - parsed;
    record->send_ns = req->complete_ns - first;
    record->checks_ns = handler - parsed;
    if (record->checks_ns > record->handle_ns)   /* it was called outside, or not at all */
        record->checks_ns = handler && handler < parsed ? 0 : record->handle_ns;
}

/* How much of the time from the pick-up to `until` the connection was on no worker. */
static __attribute__((noinline))
uint64_t suspended_ns(const struct mst_timed *req, uint64_t until)
{
    const struct mst_connection *conn = req->connection;
    uint64_t suspended = conn->suspended_ns - req->suspended_ns, since = until - req->picked_up_ns;

    if (conn->left_ns != 0 && until > conn->left_ns)
        suspended += until - conn->left_ns;
    return suspended < since ? suspended : since;
}

/* How much of it the connection was on a worker. */
static inline uint64_t held_ns(const struct mst_timed *req, uint64_t until)
{
    const struct mst_connection *conn = req->connection;
    uint64_t since = until - req->picked_up_ns;

    if (conn->left_ns == 0 && conn->suspended_ns == req->suspended_ns)
        return since;
    return since - suspended_ns(req, until);
}

/* A script may set any number; httpd answers 500 for what is no status. */
static uint32_t status_of(const request_rec *last)
{
    return last->status >= 100 && last->status < 1000 ? (uint32_t)last->status
                                                      : HTTP_INTERNAL_SERVER_ERROR;
}

/* The number that a load tool gave the request, plus 1; 0: none. Below 2^53, as request ids. */
static __attribute__((noinline)) uint64_t client_id(const request_rec *r)
{
    const char *text = apr_table_get(r->headers_in, "X-MPMStat-Id");
    char *end;
    apr_int64_t id;

    if (!text)
        text = apr_table_get(r->headers_in, "X-Vegeta-Seq");
    if (!text || !apr_isdigit(*text))
        return 0;
    id = apr_strtoi64(text, &end, 10);
    return *end == '\0' && id < (apr_int64_t)1 << 53 ? (uint64_t)id + 1 : 0;
}

/* httpd's parent wakes a child that is to end by a connection to itself: no client's request. */
static __attribute__((noinline)) bool is_dummy(const request_rec *r)
{
    const char *agent;

    if (strcmp(r->unparsed_uri, "*") != 0)
        return false;
    agent = apr_table_get(r->headers_in, "User-Agent");
    return agent && strstr(agent, "(internal dummy connection)")
           && apr_sockaddr_equal(r->connection->client_addr, r->connection->local_addr);
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
    if (req->dir->trust_client_id == 1)
        mst_parts_of(req)->client_id = client_id(r);
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

    if (!req && !(req = mst_timing_begin_malformed(r, mst_now_ns())))
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

bool mst_timing_measure(const struct mst_timed *req, struct mst_request *record)
{
    if (req->label == MST_NO_LABEL)
        return false;
    measure(record, req);
    record->id = req->id;
    record->held_ns = held_ns(req, req->complete_ns);
    record->front_ns = req->has_parts ? req->parts.front_ns : MST_UNKNOWN;
    return true;
}

static inline void count_interval(struct mst_counters *t, enum mst_interval interval, uint64_t ns)
{
    mst_count(&t->interval_ns[interval], ns);
    mst_count(&t->intervals[interval], 1);
}

static inline __attribute__((always_inline))
void add_to_counters(const struct mst_request *record, uint64_t total, enum mst_class status_class,
                     struct mst_counters *t)
{
    mst_count(&t->status[status_class], 1);
    mst_count(&t->bytes, record->bytes);
    mst_histogram_record(&t->times[MST_PHASE_QUEUE], record->queue_ns);
    mst_histogram_record(&t->times[MST_PHASE_READ], record->read_ns);
    mst_histogram_record(&t->times[MST_PHASE_HANDLE], record->handle_ns);
    mst_histogram_record(&t->times[MST_PHASE_SEND], record->send_ns);
    mst_histogram_record(&t->times[MST_PHASE_TOTAL], total);
    mst_histogram_record(&t->times[MST_PHASE_HELD], record->held_ns);
    count_interval(t, MST_INTERVAL_CHECKS, record->checks_ns);
    count_interval(t, MST_INTERVAL_LOG, record->log_ns);
}

static inline void count_end(uint32_t end, const struct mst_timed *req, uint64_t ns)
{
    struct mst_other_end_counters *c =
        req->connection->thread->ends + (size_t)end * mst_recording.stripes;

    mst_count(&c->calls, 1);
    mst_count(&c->end_ns, ns);
    mst_count(&c->end_status[req->status_class], 1);
    if (req->status_class == MST_CLASS_5XX)
        mst_count(&c->failed, 1);
}

static uint64_t at_most(uint64_t ns, uint64_t phase_ns)
{
    return ns < phase_ns ? ns : phase_ns;
}

/* Sets what few requests have, each within its phase. */
static inline void add_parts(struct mst_request *record, const struct mst_timed *req)
{
    const struct mst_parts *parts = &req->parts;
    uint64_t handle = record->handle_ns, backend = parts->backend_ns;

    if (parts->handed_ns && parts->handed_ns < req->first_ns)   /* the backend has not answered */
        backend += req->first_ns - parts->handed_ns
                 - at_most(parts->upload_ns - parts->handed_upload_ns,
                           req->first_ns - parts->handed_ns);
    record->front_ns = parts->front_ns;
    record->client_id = parts->client_id;
    record->upload_ns = at_most(parts->upload_ns, handle);
    record->backend_ns = at_most(backend, handle - record->upload_ns);
    record->ends = (uint64_t)req->handler << 32 | parts->backend;
    record->tls_ns = at_most(parts->tls_ns, record->read_ns);
    record->h2_wait_ns = parts->h2_wait_ns;
    if (parts->asked) {
        record->send_client_ns = parts->send_client_ns;
        record->send_network_ns = parts->send_network_ns;
        record->send_server_ns = record->send_ns - parts->send_client_ns - parts->send_network_ns;
    }
}

static inline void add_no_parts(struct mst_request *record)
{
    record->client_id = 0;
    record->front_ns = MST_UNKNOWN;
    record->upload_ns = record->backend_ns = record->tls_ns = record->h2_wait_ns = 0;
    record->send_client_ns = record->send_network_ns = record->send_server_ns = MST_UNKNOWN;
}

static void count_if_any(struct mst_counters *t, enum mst_interval interval, uint64_t ns)
{
    if (ns != 0 && ns != MST_UNKNOWN)
        count_interval(t, interval, ns);
}

static void count_parts(const struct mst_request *record, struct mst_counters *t)
{
    if (record->front_ns != MST_UNKNOWN)
        mst_histogram_record(&t->times[MST_PHASE_FRONT], record->front_ns);
    count_if_any(t, MST_INTERVAL_UPLOAD, record->upload_ns);
    count_if_any(t, MST_INTERVAL_BACKEND, record->backend_ns);
    count_if_any(t, MST_INTERVAL_TLS, record->tls_ns);
    count_if_any(t, MST_INTERVAL_H2_WAIT, record->h2_wait_ns);
    count_if_any(t, MST_INTERVAL_SEND_CLIENT, record->send_client_ns);
    count_if_any(t, MST_INTERVAL_SEND_NETWORK, record->send_network_ns);
    count_if_any(t, MST_INTERVAL_SEND_SERVER, record->send_server_ns);
}

/* has_parts is a constant: the compiler makes one function for most requests, and one for those
 * that have parts. */
static inline __attribute__((always_inline))
void record_request(const struct mst_timed *req, uint64_t logged, bool has_parts)
{
    const struct mst_connection *conn = req->connection;
    struct mst_counters *t = conn->thread->counters + (size_t)req->label * mst_recording.stripes;
    struct mst_request record;

    measure(&record, req);
    record.held_ns = held_ns(req, logged);
    record.id = req->id;
    record.start_ns = req->picked_up_ns - record.queue_ns;
    record.bytes = req->bytes;
    record.label_status = (uint64_t)req->label << 32 | req->status_flags;
    record.pid_worker = conn->thread->pid_worker;
    record.connection = conn->number_port;
    record.nth = req->nth;
    record.ends = (uint64_t)req->handler << 32 | MST_NO_END;
    record.log_ns = logged - req->complete_ns;
    add_no_parts(&record);
    if (has_parts)
        add_parts(&record, req);
    mst_journal_request(mst_recording.board, &record);
    add_to_counters(&record, req->complete_ns - record.start_ns, req->status_class, t);
    if (has_parts)
        count_parts(&record, t);
    if (has_parts && req->parts.backend != MST_NO_END)
        count_end(req->parts.backend, req, record.backend_ns);
    if (req->handler_ns)
        count_end(req->handler, req, record.handle_ns - record.checks_ns);
}

static __attribute__((noinline))
void record_with_parts(const struct mst_timed *req, uint64_t logged)
{
    if (req->connection->stream)
        mst_count(&mst_recording.board->totals->http2_requests, 1);
    record_request(req, logged, true);
}

/* The worker is done with the request: it waits for the next one on a kept-alive connection,
 * unless event suspends the connection a moment later; else it stays `logging` until httpd
 * closes or suspends the connection. */
static inline void finish_on_worker(struct mst_connection *conn, const conn_rec *c,
                                    uint64_t logged)
{
    struct mst_worker *w = conn->worker;

    conn->ended_ns = logged;
    if (!w)
        return;
    __atomic_store_n(&w->requests, w->requests + 1, __ATOMIC_RELAXED);
    if (conn->current)
        return;   /* pipelined: its worker serves a later one */
    mst_worker_show_none(w);
    if (!mst_recording.suspends && c->keepalive == AP_CONN_KEEPALIVE && !c->aborted)
        mst_enter(conn, MST_STATE_KEEPALIVE, logged);
}

static inline void finish(struct mst_timed *req, const conn_rec *c, uint64_t logged)
{
    mst_count_on_worker(req);
    finish_on_worker(req->connection, c, logged);
    req->r = NULL;
    req->complete_ns = 0;
}

int mst_timing_logged(struct mst_timed *req, const conn_rec *c)
{
    uint64_t logged = mst_connection_now(req->connection);

    if (req->label != MST_NO_LABEL && !req->has_parts)
        record_request(req, logged, false);
    else if (req->label != MST_NO_LABEL)
        record_with_parts(req, logged);
    finish(req, c, logged);
    return DECLINED;
}

void mst_timing_end_unlogged(struct mst_timed *req, const conn_rec *c)
{
    uint64_t complete = req->complete_ns;

    if (complete == 0)
        return;
    if (req->label != MST_NO_LABEL) {
        mst_parts_of(req);
        record_with_parts(req, complete);
    }
    finish(req, c, complete);
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
    return req ? req : mst_timing_begin_malformed(r, mst_now_ns());
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
    measure(so_far, &so_now);
    so_far->id = req->id;
    return true;
}
