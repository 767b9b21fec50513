/* timing.c - requests: time stamps, phases, records.
 *
 * The hot path. For each request: five time stamps, a few stores into the worker's own cache
 * lines, relaxed adds to the label's counters, one journal record. No lock, no system call but
 * TCP_INFO where a connection may have waited (accept_wait.c), no allocation but for pipelined
 * requests, from their pools. docs/measuring.md has what it costs.
 *
 * Where a request's time stamps come from:
 *
 *   arrived    picked_up - what the kernel says of the data's age (accept_wait.c)
 *   picked_up  a worker takes the connection (connections.c); for later requests on the same
 *              worker httpd's request_time
 *   parsed     post_read_request
 *   first      the first bytes of the final response pass the output filter
 *   complete   log_transaction, which runs when the EOR bucket is destroyed
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

/* httpd's request_time, of the wall clock, on this module's clock: now less its age. */
static uint64_t request_time(const request_rec *r, uint64_t now)
{
    uint64_t age = mst_realtime_ns() - (uint64_t)r->request_time * MST_NS_PER_US;

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
    uint64_t at = request_time(r, now);

    if (at < conn->ended_ns)
        at = conn->ended_ns;
    conn->picked_up_ns = at;
    mst_enter(conn, MST_STATE_READING, at > conn->state_since_ns ? at : conn->state_since_ns);
}

/* The request before is not complete (the client did not wait for its response): the worker
 * serves this one from now on. */
static struct mst_timed *room_beside_others(struct mst_connection *conn, const request_rec *r)
{
    struct mst_timed *req = &conn->own;

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
        req = room_beside_others(conn, r);
    req->r = r;
    req->dir = mst_dir_config_of(r);
    ap_set_module_config(r->request_config, &mpmstat_module, req);
    conn->current = conn->awaited = req;
    req->picked_up_ns = conn->picked_up_ns;
    req->queue_ns = conn->queue_ns;
    conn->picked_up_ns = conn->queue_ns = 0;
    mst_enter(conn, state, now);
    req->suspended_ns = conn->suspended_ns;
    req->nth = conn->requests++;
    req->id = new_request_id();
    req->label = req->dir->enabled != 0 ? label_by(req->dir, r) : MST_NO_LABEL;
    req->front_ns = MST_UNKNOWN;
    return req;
}

int mst_timing_begin(request_rec *r)
{
    struct mst_connection *conn = mst_connection_of(r->connection);
    struct mst_timed *req;
    uint64_t now;

    if (!conn || r->main || r->prev)
        return DECLINED;
    now = mst_connection_now(conn);
    req = begin(r, conn, now, MST_STATE_HANDLING);
    req->parsed_ns = now;
    req->first_ns = 0;
    if (mst_config.trust_request_start)
        req->front_ns = front_ns(req, r);
    if (!conn->worker) {
        mst_count_off_worker(req);
        return DECLINED;
    }
    mst_worker_show(conn->worker, req->picked_up_ns, req->label);
    if (req->dir->paths == 1)
        req->dir = NULL;   /* whether to show the path is known with the directory */
    return DECLINED;
}

/* Its response was what has been sent since the request before, whose first byte `own` has. */
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

    if (self && __atomic_load_n(&self->pid, __ATOMIC_RELAXED) == mst_recording.owner)
        return;
    mst_recording.self = NULL;
    mst_recording.in_flight = NULL;
    conn->worker = NULL;
    conn->worker_index = UINT32_MAX;
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

/* The directory's configuration is known, and the path is unescaped. A request for the status
 * page is counted as that under any label. */
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
    const apr_bucket *b = APR_BRIGADE_FIRST(bb);

    while (b != APR_BRIGADE_SENTINEL(bb) && APR_BUCKET_IS_METADATA(b))
        b = APR_BUCKET_NEXT(b);
    return b != APR_BRIGADE_SENTINEL(bb);
}

/* The first data while a response is awaited is its beginning. Interim responses (1xx), which
 * have a status of their own, are not; nor are buckets of metadata (EOR, flush; HTTP/2's headers,
 * which come before its data). */
static void begin_response(struct mst_connection *conn, const apr_bucket_brigade *bb)
{
    struct mst_timed *req = conn->awaited;

    if (!has_data(bb) || (req->r && ap_is_HTTP_INFO(req->r->status)))
        return;
    if (mst_recording.forked)
        mst_timing_check_entry(conn);
    conn->awaited = NULL;
    req->first_ns = mst_connection_now(conn);
    if (req->r)   /* else it is the response to what never became a request */
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
static void put_in_order(uint64_t picked_up, uint64_t *parsed, uint64_t *first, uint64_t *complete)
{
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

/* Sets the phases: the differences of the time stamps, so that their sum is the total exactly.
 * Returns the total without `queue`. */
static inline uint64_t measure(struct mst_request *record, const struct mst_timed *req,
                               uint64_t complete)
{
    uint64_t picked_up = req->picked_up_ns, parsed = req->parsed_ns, first = req->first_ns;

    if (parsed < picked_up || first < parsed || complete < first)
        put_in_order(picked_up, &parsed, &first, &complete);
    record->queue_ns = req->queue_ns;
    record->read_ns = parsed - picked_up;
    record->handle_ns = first - parsed;
    record->send_ns = complete - first;
    return complete - picked_up;
}

/* How much of the time since the pick-up the connection was on a worker. */
static uint64_t held_ns(const struct mst_timed *req, uint64_t since_pick_up, uint64_t complete)
{
    const struct mst_connection *conn = req->connection;
    uint64_t suspended = conn->suspended_ns - req->suspended_ns;

    if (conn->left_ns != 0 && complete > conn->left_ns)
        suspended += complete - conn->left_ns;
    return suspended < since_pick_up ? since_pick_up - suspended : 0;
}

static void add_to_counters(const struct mst_request *record, uint64_t total, uint32_t label,
                         enum mst_class status_class, struct mst_counters *counters)
{
    struct mst_counters *t = counters + (size_t)label * mst_recording.stripes;

    mst_count(&t->status[status_class], 1);
    mst_count(&t->bytes, record->bytes);
    mst_histogram_record(&t->times[MST_PHASE_QUEUE], record->queue_ns);
    mst_histogram_record(&t->times[MST_PHASE_READ], record->read_ns);
    mst_histogram_record(&t->times[MST_PHASE_HANDLE], record->handle_ns);
    mst_histogram_record(&t->times[MST_PHASE_SEND], record->send_ns);
    mst_histogram_record(&t->times[MST_PHASE_TOTAL], total);
    mst_histogram_record(&t->times[MST_PHASE_HELD], record->held_ns);
    if (record->front_ns != MST_UNKNOWN)
        mst_histogram_record(&t->times[MST_PHASE_FRONT], record->front_ns);
}

/* A script may set any number; httpd answers 500 for what is no status. */
static uint32_t status_of(const request_rec *last)
{
    return last->status >= 100 && last->status < 1000 ? (uint32_t)last->status
                                                      : HTTP_INTERNAL_SERVER_ERROR;
}

/* The number that a load tool gave the request, plus 1; 0: none. Below 2^53, as request ids. */
static uint64_t client_id(const request_rec *r)
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

static void record_request(const struct mst_timed *req, const request_rec *r, uint64_t complete,
                           struct mst_request *copy)
{
    const struct mst_connection *conn = req->connection;
    struct mst_request record;
    const request_rec *last = r;
    uint64_t since_pick_up;
    enum mst_class status_class;
    uint32_t status, flags = 0;

    while (last->next)
        last = last->next;
    status = status_of(last);
    status_class = class_of(status);
    if (r->connection->aborted && !req->delivered) {
        status_class = MST_CLASS_ABORTED;
        flags |= MST_REQUEST_ABORTED;
    }
    if (conn->stream) {
        flags |= MST_REQUEST_NO_WORKER;
        mst_count(&mst_recording.board->totals->http2_requests, 1);
    }
    since_pick_up = measure(&record, req, complete);
    record.held_ns = held_ns(req, since_pick_up, complete);
    record.id = req->id;
    record.start_ns = req->picked_up_ns - record.queue_ns;
    /* httpd counts what was generated: the body of a response to HEAD is not sent. */
    record.bytes = last->bytes_sent > 0 && !last->header_only ? (uint64_t)last->bytes_sent : 0;
    record.label_status = (uint64_t)req->label << 32 | flags << 16 | status;
    record.pid_worker = mst_recording.pid << 32 | conn->worker_index;
    record.connection = conn->number_port;
    record.nth = req->nth;
    record.front_ns = req->dir->trust_request_start == 1 ? req->front_ns : MST_UNKNOWN;
    record.client_id = req->dir->trust_client_id == 1 ? client_id(r) : 0;
    add_to_counters(&record, record.queue_ns + since_pick_up, req->label, status_class,
                 conn->counters);
    mst_journal_request(mst_recording.board, &record);
    if (copy)
        *copy = record;
}

/* The worker is done with the request: it waits for the next one on a kept-alive connection,
 * unless event suspends the connection a moment later; else it stays `sending` until httpd
 * closes or suspends the connection. */
static void finish_on_worker(const struct mst_timed *req, const conn_rec *c, uint64_t complete)
{
    struct mst_connection *conn = req->connection;
    struct mst_worker *w = conn->worker;

    conn->ended_ns = complete;
    if (w)
        __atomic_store_n(&w->requests, w->requests + 1, __ATOMIC_RELAXED);
    if (conn->current && conn->current != req)
        return;   /* pipelined: its worker serves a later one */
    conn->current = NULL;
    conn->awaited = &conn->own;
    if (!w)
        return;
    mst_worker_show_none(w);
    if (!mst_recording.suspends && c->keepalive == AP_CONN_KEEPALIVE && !c->aborted)
        mst_enter(conn, MST_STATE_KEEPALIVE, complete);
}

/* httpd's parent wakes a child that is to end by a connection to itself: no client's request. */
static bool is_dummy(const request_rec *r)
{
    const char *agent;

    if (r->method_number != M_OPTIONS || strcmp(r->unparsed_uri, "*") != 0)
        return false;
    agent = apr_table_get(r->headers_in, "User-Agent");
    return agent && strstr(agent, "(internal dummy connection)")
           && apr_sockaddr_equal(r->connection->client_addr, r->connection->local_addr);
}

bool mst_timing_end(struct mst_timed *req, request_rec *r, uint64_t complete,
                    struct mst_request *copy)
{
    bool is_recorded;

    is_recorded = req->label != MST_NO_LABEL && !is_dummy(r);
    if (is_recorded)
        record_request(req, r, complete, copy);
    mst_count_on_worker(req);
    finish_on_worker(req, r->connection, complete);
    req->r = NULL;
    return is_recorded;
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

    if (!req)
        return false;
    measure(so_far, req, mst_now_ns());
    so_far->id = req->id;
    return true;
}
