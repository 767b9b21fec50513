/* record.c - what is recorded of a request when its log hooks are done: its phases and intervals,
 * the counters of its label and of what it was handed to, a record in the journal. Hot path.
 */
#include "request.h"

#include "write/journal.h"

/* ---- its times ----------------------------------------------------------------------- */

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
static MST_SELDOM
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

void mst_record_phases(struct mst_request *record, const struct mst_timed *req)
{
    record->id = req->id;
    measure(record, req);
}

bool mst_record_times(const struct mst_timed *req, struct mst_request *record)
{
    if (req->label == MST_NO_LABEL)
        return false;
    mst_record_phases(record, req);
    record->held_ns = held_ns(req, req->complete_ns);
    record->front_ns = req->has_parts ? req->parts.front_ns : MST_UNKNOWN;
    return true;
}

/* ---- counters ------------------------------------------------------------------------ */

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
    record->trace_high = parts->trace_high;
    record->trace_low = parts->trace_low;
    record->trace_parent = parts->trace_parent;
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
    record->trace_high = record->trace_low = record->trace_parent = 0;
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

/* ---- the record ---------------------------------------------------------------------- */

/* has_parts is a constant: the compiler makes one function for most requests, and one for those
 * that have parts. Always inline, as add_to_counters(): together that saves 52 of a request's
 * instructions. */
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
    record.path = req->path;
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

static MST_SELDOM
void record_with_parts(const struct mst_timed *req, uint64_t logged)
{
    if (req->connection->stream)
        mst_count(&mst_recording.board->totals->http2_requests, 1);
    record_request(req, logged, true);
}

/* ---- the end ------------------------------------------------------------------------- */

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

int mst_record_logged(struct mst_timed *req, const conn_rec *c)
{
    uint64_t logged = mst_connection_now(req->connection);

    if (req->label != MST_NO_LABEL && !req->has_parts)
        record_request(req, logged, false);
    else if (req->label != MST_NO_LABEL)
        record_with_parts(req, logged);
    finish(req, c, logged);
    return DECLINED;
}

void mst_record_unlogged(struct mst_timed *req, const conn_rec *c)
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
