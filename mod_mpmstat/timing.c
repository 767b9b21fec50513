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
#include "request.h"

#include <apr_lib.h>
#include <apr_strings.h>
#include <http_core.h>
#include <http_protocol.h>
#include <http_request.h>

#include "base/clock.h"
#include "segment/handover.h"
#include "write/journal.h"

/* ---- requests ------------------------------------------------------------------ */

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

/* Kept alive on the same worker, which has read it since httpd's request_time, and waited
 * until then. */
static void pick_up_again(struct mst_connection *conn, const request_rec *r, uint64_t now)
{
    uint64_t at = request_time(r, now);

    if (at < conn->ended_ns)
        at = conn->ended_ns;
    conn->picked_up_ns = at;
    mst_enter(conn, MST_STATE_READING, at > conn->state_since_ns ? at : conn->state_since_ns);
}

/* It is the connection's request, picked up when that was. From now on its worker is in
 * `state`; until now it read. */
MST_INLINE void begin(struct mst_timed *req, request_rec *r, struct mst_connection *conn,
                      uint64_t now, enum mst_state state)
{
    req->r = r;
    req->dir = mst_dir_config_of(r);
    ap_set_module_config(r->request_config, &mst_module, req);
    conn->current = conn->awaited = req;
    req->picked_up_ns = conn->picked_up_ns;
    req->queue_ns = conn->queue_ns;
    conn->picked_up_ns = conn->queue_ns = 0;
    mst_enter(conn, state, now);
    req->away_ns = conn->away_ns;
    req->nth = conn->requests++;
    req->id = new_request_id();
    req->label = req->dir->enabled != 0 ? label_by(req->dir, r) : MST_NO_LABEL;
}

/* Its headers have been read. */
MST_INLINE void
begin_parsed(struct mst_timed *req, request_rec *r, struct mst_connection *conn, uint64_t now)
{
    begin(req, r, conn, now, MST_STATE_HANDLING);
    req->parsed_ns = now;
    req->first_ns = 0;
    if (!conn->worker)
        return;
    mst_worker_show(conn->worker, req->picked_up_ns, req->label);
    if (req->dir->paths == 1)
        req->dir = NULL;   /* to be applied when it is known whether the path is to be seen */
}

/* Where the one before is not complete (the client did not wait for its response), the
 * worker is at this one from now on. */
static struct mst_timed *
room_for_request(struct mst_connection *conn, const request_rec *r, uint64_t now)
{
    struct mst_timed *req = &conn->own;

    if (!conn->picked_up_ns)
        pick_up_again(conn, r, now);
    if (conn->current)
        mst_count_off_worker(conn->current);
    if (conn->current && conn->worker)
        mst_worker_show_none(conn->worker);
    if (!conn->own.r)
        return req;
    req = apr_pcalloc(r->pool, sizeof *req);
    req->connection = conn;
    return req;
}

static __attribute__((noinline)) void
begin_otherwise(request_rec *r, struct mst_connection *conn, uint64_t now)
{
    struct mst_timed *req = room_for_request(conn, r, now);

    begin_parsed(req, r, conn, now);
    if (mst_config.trust_request_start)
        req->front_ns = front_ns(req, r);
    if (!conn->worker)
        mst_count_off_worker(req);
}

/* Most are event's: picked up just now, and no other on the connection. */
static MST_NO_CANARY int post_read_request(request_rec *r)
{
    struct mst_connection *conn = mst_connection_of(r->connection);
    uint64_t now;

    if (!conn || r->main || r->prev)
        return DECLINED;
    now = mst_now_ns();
    if (conn->picked_up_ns && !conn->own.r && conn->worker && !mst_config.trust_request_start)
        begin_parsed(&conn->own, r, conn, now);
    else
        begin_otherwise(r, conn, now);
    return DECLINED;
}

/* Its response begins or it is complete, and it never became one: it is malformed, or
 * timed out. What was sent in between was its response. Returns NULL where the connection
 * is not followed, and for what HTTP/2 records as a stream. */
static __attribute__((cold, noinline)) struct mst_timed *
begin_malformed(request_rec *r, uint64_t now)
{
    struct mst_connection *conn = mst_connection_of(r->connection);
    struct mst_timed *req;
    bool answered;

    if (!conn || conn->upgraded)
        return NULL;
    answered = !conn->awaited;
    req = room_for_request(conn, r, now);
    if (!answered || req != &conn->own)
        req->first_ns = 0;
    req->parsed_ns = 0;
    req->front_ns = MST_UNKNOWN;
    begin(req, r, conn, now, MST_STATE_READING);
    return req;
}

static void set_label(struct mst_timed *req, uint32_t label)
{
    if (req->off_worker)
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

/* The directory has settings of its own, which are known only now, and the path is
 * unescaped. The status page is that under any label. */
static __attribute__((noinline)) void
apply_directory(struct mst_timed *req, const request_rec *r, const struct mst_dir_config *dir)
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

    if (req && req->label != MST_NO_LABEL)
        set_label(req, label);
}

static inline bool has_data(const apr_bucket_brigade *bb)
{
    const apr_bucket *b = APR_BRIGADE_FIRST(bb);

    while (b != APR_BRIGADE_SENTINEL(bb) && APR_BUCKET_IS_METADATA(b))
        b = APR_BUCKET_NEXT(b);
    return b != APR_BRIGADE_SENTINEL(bb);
}

/* Data while a response is awaited is its beginning; but interim (1xx) responses are sent
 * under a status of their own, and buckets of metadata (EOR, flush; HTTP/2's headers, which
 * its data is behind) are no response. */
static inline void begin_response(struct mst_connection *conn, const apr_bucket_brigade *bb)
{
    struct mst_timed *req = conn->awaited;

    if (!has_data(bb))
        return;
    if (__builtin_expect(req->r == NULL, 0)) {   /* to what never became a request */
        conn->awaited = NULL;
        req->first_ns = mst_now_ns();
        return;
    }
    if (ap_is_HTTP_INFO(req->r->status))
        return;
    if (mst_recording.forked)
        mst_connection_check_entry(conn);
    conn->awaited = NULL;
    req->first_ns = mst_now_ns();
    mst_enter(conn, MST_STATE_SENDING, req->first_ns);
}

/* As ap_pass_brigade(), without its care for the end of a request's filters, which a
 * connection's are none of. Each response comes in several brigades. */
static inline apr_status_t pass_on(const ap_filter_t *f, apr_bucket_brigade *bb)
{
    return f->next->frec->filter_func.out_func(f->next, bb);
}

static MST_NO_CANARY __attribute__((noinline)) apr_status_t
see_awaited(ap_filter_t *f, apr_bucket_brigade *bb)
{
    struct mst_connection *conn = f->ctx;
    apr_status_t rv;

    if (!conn->has_streams) {
        begin_response(conn, bb);
        return pass_on(f, bb);
    }
    rv = pass_on(f, bb);
    __atomic_store_n(&conn->wrote_ns, mst_now_ns(), __ATOMIC_RELAXED);
    return rv;
}

/* On the connection, once for all its requests: adding a filter to each request
 * costs more than looking on here, some four times a request. */
apr_status_t mst_timing_see_response(ap_filter_t *f, apr_bucket_brigade *bb)
{
    if (((struct mst_connection *)f->ctx)->awaited)
        return see_awaited(f, bb);
    return pass_on(f, bb);
}

/* ---- completion ----------------------------------------------------------------- */

static inline enum mst_class class_of(uint32_t status)
{
    return status < 500 ? (enum mst_class)(status / 100 - 1) : MST_CLASS_5XX;
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

    record->queue_ns = req->queue_ns;
    record->read_ns = parsed - picked_up;
    record->handle_ns = first - parsed;
    record->send_ns = complete - first;
    /* The sign of a difference that is below 0. */
    if (__builtin_expect((int64_t)(record->read_ns | record->handle_ns | record->send_ns) < 0, 0)) {
        uint64_t edge[4] = { picked_up, parsed, first, complete };

        order_edges(edge);
        complete = edge[3];
        record->read_ns = edge[1] - picked_up;
        record->handle_ns = edge[2] - edge[1];
        record->send_ns = complete - edge[2];
    }
    return complete - picked_up;
}

/* Of the time since the pick-up, what the connection was on a worker, where it has been
 * without one. */
static __attribute__((noinline)) uint64_t
held_in_parts_ns(const struct mst_timed *req, uint64_t since_pick_up, uint64_t complete)
{
    uint64_t away = mst_connection_away(req->connection, complete) - req->away_ns;

    return away < since_pick_up ? since_pick_up - away : 0;
}

/* A phase that took some time, which all but `queue` do. */
static inline void tally_phase(struct mst_histogram *phase, uint64_t ns)
{
    mst_histogram_record_nth(phase, mst_histogram_nth(ns), ns);
}

static inline void tally(const struct mst_request *record, uint64_t total, uint32_t label,
                         enum mst_class status_class, struct mst_tally *tallies)
{
    struct mst_tally *t = tallies + (size_t)label * mst_recording.stripes;
    struct mst_histogram *phase = t->times;
    size_t nth = mst_histogram_nth(total);

    mst_count(&t->status[status_class], 1);
    mst_count(&t->bytes, record->bytes);
    mst_histogram_record(&phase[MST_PHASE_QUEUE], record->queue_ns);
    tally_phase(&phase[MST_PHASE_READ], record->read_ns);
    tally_phase(&phase[MST_PHASE_HANDLE], record->handle_ns);
    tally_phase(&phase[MST_PHASE_SEND], record->send_ns);
    mst_histogram_record_nth(&phase[MST_PHASE_TOTAL], nth, total);
    mst_histogram_record_nth(&phase[MST_PHASE_HELD],
                             record->held_ns == total ? nth : mst_histogram_nth(record->held_ns),
                             record->held_ns);
    if (__builtin_expect(record->front_ns != MST_UNKNOWN, 0))
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

/* What the tally needs comes first, what only the journal needs after it: all of it at once
 * would be more than there are registers. */
MST_INLINE void record_request(const struct mst_timed *req, request_rec *r,
                               const struct mst_dir_config *dir, uint64_t complete)
{
    const struct mst_connection *conn = req->connection;
    struct mst_request record;
    enum mst_class status_class;
    request_rec *last = r;
    uint64_t since_pick_up;
    uint32_t flags_status;

    while (__builtin_expect(last->next != NULL, 0))
        last = last->next;
    flags_status = status_of(last);
    status_class = class_of(flags_status);
    if (__builtin_expect(r->connection->aborted, 0) && !req->delivered) {
        status_class = MST_CLASS_ABORTED;
        flags_status |= MST_REQUEST_ABORTED << 16;
    }
    if (__builtin_expect(conn->stream, 0)) {
        flags_status |= MST_REQUEST_NO_WORKER << 16;
        mst_count(&mst_recording.board->totals->http2_requests, 1);
    }
    record.held_ns = since_pick_up = measure(&record, req, complete);
    if (__builtin_expect(conn->left_ns != 0 || conn->away_ns != req->away_ns, 0))
        record.held_ns = held_in_parts_ns(req, since_pick_up, complete);
    /* httpd's counter goes by what was generated: a HEAD's body is not sent. */
    record.bytes = (uint64_t)last->bytes_sent;
    if (__builtin_expect(last->bytes_sent < 0 || last->header_only, 0))
        record.bytes = 0;
    record.front_ns = dir->trust_request_start == 1 ? req->front_ns : MST_UNKNOWN;
    tally(&record, record.queue_ns + since_pick_up, req->label, status_class, conn->tallies);

    record.id = req->id;
    record.start_ns = req->picked_up_ns - record.queue_ns;
    record.label_status = (uint64_t)req->label << 32 | flags_status;
    record.pid_worker = mst_recording.pid << 32 | conn->worker_index;
    record.connection = conn->number_port;
    record.nth = req->nth;
    record.client_id = dir->trust_client_id == 1 ? client_id(r) : 0;
    mst_journal_request(mst_recording.board, &record);
    if (dir->notes == 1)
        note(r, last, record);
}

/* The request that the client sent, where it is recorded: of redirects the first, of
 * sub-requests the outer one. */
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

    if (!req)
        return false;
    measure(so_far, req, mst_now_ns());
    so_far->id = req->id;
    return true;
}

/* The worker is done with the request: it waits for the next one on a kept-alive
 * connection, unless event suspends that a moment later; else it stays `sending` until
 * httpd closes or suspends. */
static inline void finish_on_worker(const struct mst_timed *req, const conn_rec *c,
                                    uint64_t complete)
{
    struct mst_connection *conn = req->connection;
    struct mst_worker *w = conn->worker;

    conn->ended_ns = complete;
    if (w)
        __atomic_store_n(&w->requests, w->requests + 1, __ATOMIC_RELAXED);
    if (__builtin_expect(conn->current != req, 0) && conn->current)
        return;   /* pipelined: its worker is at a later one */
    conn->current = NULL;
    conn->awaited = &conn->own;
    if (!w)
        return;
    mst_worker_show_none(w);
    if (!mst_recording.suspends && c->keepalive == AP_CONN_KEEPALIVE && !c->aborted)
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

/* Of its own, or sent to where nothing is recorded. */
static inline bool is_recorded(const struct mst_timed *req, const request_rec *r)
{
    return req->label != MST_NO_LABEL
           && (__builtin_expect(r->method_number != M_OPTIONS, 1) || !is_dummy(r));
}

static MST_NO_CANARY int log_transaction(request_rec *r)
{
    const struct mst_dir_config *dir;
    struct mst_connection *conn;
    struct mst_timed *req;
    uint64_t complete;

    complete = mst_now_ns();
    req = mst_timed_of(r);
    if (!req && !(req = begin_malformed(r, complete)))
        return DECLINED;
    conn = req->connection;
    if (mst_recording.forked)
        mst_connection_check_entry(conn);
    if (req->handed_ns)
        complete = mst_http2_sent(req, complete);
    dir = mst_dir_config_of(r);
    if (req->dir != dir)
        apply_directory(req, r, dir);   /* it came to no handler */
    if (is_recorded(req, r))
        record_request(req, r, dir, complete);
    if (__builtin_expect(req->off_worker, 0))
        mst_count_on_worker(req);
    finish_on_worker(req, r->connection, complete);
    req->r = NULL;
    if (conn->stream)
        mst_http2_end_stream(conn);
    if (mst_recording.forks_running)
        mst_forks_look();
    return DECLINED;
}

void mst_timing_register(apr_pool_t *p)
{
    (void)p;
    ap_hook_post_read_request(post_read_request, NULL, NULL, APR_HOOK_REALLY_FIRST);
    ap_hook_handler(before_handler, NULL, NULL, APR_HOOK_REALLY_FIRST);
    ap_hook_log_transaction(log_transaction, NULL, NULL, APR_HOOK_REALLY_FIRST);
}
