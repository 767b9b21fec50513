/* timing.c - follows requests: time stamps, phases, records.
 *
 * The hot path. Per request: five time stamps, a few stores into the worker's own
 * cache lines, relaxed adds into a tally, one journal record. No lock, no system
 * call but TCP_INFO where a connection may have waited, no allocation but for
 * pipelined requests, from their pools.
 *
 * Where a request's time stamps come from (design: "the phases of a request"):
 *
 *   arrived    picked_up - what TCP_INFO says of the data's age (connections.c)
 *   picked_up  a worker takes the connection (connections.c);
 *              later requests on the same worker: request_time
 *   parsed     post_read_request
 *   first      the first bytes of the final response pass our output filter
 *   complete   log_transaction, run when the EOR bucket is destroyed
 */
#include "timing.h"

#include <apr_lib.h>
#include <apr_strings.h>
#include <http_core.h>
#include <http_protocol.h>
#include <http_request.h>

#include "board/clock.h"
#include "board/handover.h"
#include "board/journal.h"

/* ---- requests ------------------------------------------------------------------ */

static inline int create(struct mst_timed *req, request_rec *r, struct mst_connection *conn)
{
    req->r = r;
    req->connection = conn;
    req->dir = NULL;
    req->picked_up_ns = req->parsed_ns = req->first_ns = req->handed_ns = 0;
    req->front_ns = MST_UNKNOWN;
    req->label = MST_NO_LABEL;
    req->status_page = req->delivered = false;
    ap_set_module_config(r->request_config, &mst_module, req);
    conn->current = conn->awaited = req;
    return OK;
}

/* The one before is not complete: the client did not wait for its response. */
static __attribute__((noinline)) int create_pipelined(request_rec *r, struct mst_connection *conn)
{
    return create(apr_palloc(r->pool, sizeof(struct mst_timed)), r, conn);
}

static int create_request(request_rec *r)
{
    struct mst_connection *conn = mst_connection_of(r->connection);

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
MST_INLINE void
begin(struct mst_timed *req, const request_rec *r, uint64_t now, enum mst_state state)
{
    struct mst_connection *conn = req->connection;

    if (conn->picked_up_ns) {
        req->picked_up_ns = conn->picked_up_ns;
        req->queue_ns = conn->queue_ns;
        conn->picked_up_ns = conn->queue_ns = 0;
        mst_enter(conn, state, now);
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
    req->away_ns = mst_connection_away(conn, req->picked_up_ns);
    req->nth = conn->requests++;
    req->id = new_request_id();
}

/* Its response begins or it is complete, and it never became one: it is malformed, or
 * timed out. */
static __attribute__((cold, noinline)) void
begin_malformed(struct mst_timed *req, const request_rec *r, uint64_t now)
{
    begin(req, r, now, MST_STATE_READING);
}

/* How long before its start a proxy in front had it. */
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
static inline uint32_t label_by(const struct mst_dir_config *dir, const request_rec *r)
{
    return dir->label ? dir->label->index : mst_server_config_of(r->server)->label;
}

static inline uint32_t label_of(const struct mst_timed *req, const struct mst_dir_config *dir,
                                const request_rec *r)
{
    return req->status_page ? MST_LABEL_STATUS : label_by(dir, r);
}

/* Shows the request on its worker's entry. */
MST_INLINE void
show(struct mst_timed *req, const struct mst_dir_config *dir, const request_rec *r)
{
    struct mst_worker *w = req->connection->worker;

    if (!w)
        return;
    __atomic_store_n(&w->request_start_ns, req->picked_up_ns, __ATOMIC_RELAXED);
    __atomic_store_n(&w->request_label, req->label, __ATOMIC_RELAXED);
    if (dir->paths == 1) {
        /* mod_proxy puts the whole URL into `uri`, with its query string. */
        apr_cpystrn(w->path, r->proxyreq == PROXYREQ_PROXY ? r->parsed_uri.path : r->uri,
                    sizeof w->path);
        req->dir = NULL;   /* shown again before the handler: it is unescaped by then */
    }
}

static MST_NO_CANARY int post_read_request(request_rec *r)
{
    struct mst_timed *req = mst_timed_of(r);
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
        mst_count_in_flight(req, label_by(dir, r));
    show(req, dir, r);
    return DECLINED;
}

/* The directory has settings of its own, which are known only now, and the path is
 * unescaped. */
static __attribute__((noinline)) void
apply_directory(struct mst_timed *req, const request_rec *r, const struct mst_dir_config *dir)
{
    req->dir = dir;
    mst_count_in_flight(req, dir->enabled == 0 ? MST_NO_LABEL : label_of(req, dir, r));
    show(req, dir, r);
}

/* The one hook before the content, for all that wants it: most requests are for files
 * in directories without settings of their own. */
static int before_handler(request_rec *r)
{
    const struct mst_dir_config *dir = mst_dir_config_of(r);
    struct mst_timed *req = mst_timed_of(r);

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
    struct mst_timed *req = mst_timed_of(r);

    if (!req)
        return;
    req->status_page = label == MST_LABEL_STATUS;
    mst_count_in_flight(req, label);
    show(req, mst_dir_config_of(r), r);
}

static inline bool has_data(const apr_bucket_brigade *bb)
{
    const apr_bucket *b = APR_BRIGADE_FIRST(bb);

    while (b != APR_BRIGADE_SENTINEL(bb) && APR_BUCKET_IS_METADATA(b))
        b = APR_BUCKET_NEXT(b);
    return b != APR_BRIGADE_SENTINEL(bb);
}

/* Data while a request is current and none of its response was seen is the
 * beginning of that; but interim (1xx) responses are sent under a status of their
 * own, and buckets of metadata (EOR, flush; HTTP/2's headers, which its data is behind)
 * are no response. */
static inline void begin_response(struct mst_connection *conn, const apr_bucket_brigade *bb)
{
    struct mst_timed *req = conn->awaited;

    if (!has_data(bb) || ap_is_HTTP_INFO(req->r->status))
        return;
    if (mst_recording.forked)
        mst_connection_check_entry(conn);
    conn->awaited = NULL;
    req->first_ns = mst_now_ns();
    if (req->parsed_ns)
        mst_enter(conn, MST_STATE_SENDING, req->first_ns);
}

static MST_NO_CANARY __attribute__((noinline)) apr_status_t
see_awaited(ap_filter_t *f, apr_bucket_brigade *bb)
{
    struct mst_connection *conn = f->ctx;
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
apr_status_t mst_timing_see_response(ap_filter_t *f, apr_bucket_brigade *bb)
{
    if (((struct mst_connection *)f->ctx)->awaited)
        return see_awaited(f, bb);
    return ap_pass_brigade(f->next, bb);
}

/* ---- completion ----------------------------------------------------------------- */

static enum mst_class class_of(const struct mst_timed *req, const request_rec *last)
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
static inline uint64_t measure(struct mst_request *record, const struct mst_timed *req,
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
static inline uint64_t held_ns(const struct mst_timed *req, uint64_t since_pick_up,
                               uint64_t complete)
{
    uint64_t away = mst_connection_away(req->connection, complete) - req->away_ns;

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

/* A script may set any number; httpd answers 500 for what is no status. */
static inline uint32_t status_of(const request_rec *last)
{
    return (unsigned)last->status - 100 < 900 ? (unsigned)last->status : HTTP_INTERNAL_SERVER_ERROR;
}

/* By a copy, so that `record` is no more than what the compiler needs. */
static __attribute__((cold, noinline)) void
note(request_rec *r, request_rec *last, struct mst_request record)
{
    mst_exports_note(r, last, &record);
}

/* The number that a load tool gave it, plus 1; 0: none. Below 2^53, as new_request_id(). */
static __attribute__((cold, noinline)) uint64_t client_id(const request_rec *r)
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

MST_INLINE void
record_request(const struct mst_timed *req, request_rec *r, uint64_t complete)
{
    const struct mst_dir_config *dir = mst_dir_config_of(r);
    const struct mst_connection *conn = req->connection;
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
    record.label_status = (uint64_t)label << 32 | flags << 16 | status_of(last);
    record.pid_worker = mst_recording.pid << 32 | conn->worker_index;
    record.connection = conn->number_port;
    record.nth = req->nth;
    record.front_ns = dir->trust_request_start == 1 ? req->front_ns : MST_UNKNOWN;
    record.client_id = dir->trust_client_id == 1 ? client_id(r) : 0;
    tally(&record, record.queue_ns + since_pick_up, label, status_class, conn->stripe);
    mst_journal_request(mst_recording.board, &record);
    if (dir->notes == 1)
        note(r, last, record);
}

/* The request that the client sent, where it is recorded: of redirects the first, of
 * sub-requests the outer one. */
static struct mst_timed *recorded_request(request_rec **r)
{
    struct mst_timed *req;

    if (!mst_recording.board)
        return NULL;
    while ((*r)->main || (*r)->prev)
        *r = (*r)->main ? (*r)->main : (*r)->prev;
    req = mst_timed_of(*r);
    return req && mst_dir_config_of(*r)->enabled != 0 ? req : NULL;
}

uint64_t mst_timing_id(request_rec *r)
{
    const struct mst_timed *req = recorded_request(&r);

    return req ? req->id : 0;
}

bool mst_timing_so_far(request_rec *r, struct mst_request *so_far)
{
    struct mst_timed *req = recorded_request(&r);
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
static inline void finish_on_worker(const struct mst_timed *req, const conn_rec *c,
                                    uint64_t complete)
{
    struct mst_connection *conn = req->connection;
    struct mst_worker *w = conn->worker;

    conn->ended_ns = complete;
    if (w)
        __atomic_store_n(&w->requests, w->requests + 1, __ATOMIC_RELAXED);
    if (conn->current && conn->current != req)
        return;   /* pipelined: its worker is at a later one */
    conn->current = conn->awaited = NULL;
    if (!w)
        return;
    mst_worker_show_none(w);
    if (c->keepalive == AP_CONN_KEEPALIVE && !c->aborted)
        mst_enter(conn, MST_STATE_KEEPALIVE, complete);
}

/* Apache's own, by which its parent wakes a child that is to end: no client's request. */
static __attribute__((cold, noinline)) bool is_dummy(const request_rec *r)
{
    const char *agent = apr_table_get(r->headers_in, "User-Agent");

    return strcmp(r->unparsed_uri, "*") == 0 && agent
           && strstr(agent, "(internal dummy connection)")
           && apr_sockaddr_equal(r->connection->client_addr, r->connection->local_addr);
}

static inline bool is_recorded(const request_rec *r)
{
    return mst_dir_config_of(r)->enabled != 0
           && (__builtin_expect(r->method_number != M_OPTIONS, 1) || !is_dummy(r));
}

static MST_NO_CANARY int log_transaction(request_rec *r)
{
    struct mst_timed *req = mst_timed_of(r);
    uint64_t complete;

    if (!req)
        return DECLINED;
    if (mst_recording.forked)
        mst_connection_check_entry(req->connection);
    complete = mst_now_ns();
    if (req->handed_ns)
        complete = mst_http2_sent(req, complete);
    if (!req->picked_up_ns)
        begin_malformed(req, r, complete);
    if (is_recorded(r))
        record_request(req, r, complete);
    mst_count_in_flight(req, MST_NO_LABEL);
    finish_on_worker(req, r->connection, complete);
    req->r = NULL;
    if (req->connection->stream)
        mst_http2_end_stream(req->connection);
    if (mst_recording.forks_running)
        mst_forks_look();
    return DECLINED;
}

void mst_timing_register(apr_pool_t *p)
{
    (void)p;
    ap_hook_create_request(create_request, NULL, NULL, APR_HOOK_LAST);
    ap_hook_post_read_request(post_read_request, NULL, NULL, APR_HOOK_REALLY_FIRST);
    ap_hook_handler(before_handler, NULL, NULL, APR_HOOK_REALLY_FIRST);
    ap_hook_log_transaction(log_transaction, NULL, NULL, APR_HOOK_REALLY_FIRST);
}
