/* http2.c - HTTP/2: streams are requests on threads that are not workers of the MPM, and their
 * session's worker waits for them.
 *
 * mod_http2 makes a connection of each stream; its `master` is the session's connection.
 */
#include "request.h"

#include <http_connection.h>
#include <http_protocol.h>
#include <http_request.h>


static ap_filter_rec_t *session_filter, *stream_filter;

/* ---- the session --------------------------------------------------------------------- */

/* The session's worker is `handling` while there are streams; when there is none left, `keepalive`
 * until the next one begins or event takes the connection back. The worker runs no hook
 * meanwhile, so the streams' threads set its state. Lock-free: a thread that finds an update in
 * progress leaves it to that updater, which reads the number of streams again before it returns. */
void mst_http2_update(struct mst_connection *session, uint64_t now)
{
    uint32_t streams;
    enum mst_state state;

    do {
        if (__atomic_exchange_n(&session->held, true, __ATOMIC_ACQUIRE))
            return;
        streams = __atomic_load_n(&session->streams, __ATOMIC_SEQ_CST);
        state = streams ? MST_STATE_HANDLING : MST_STATE_KEEPALIVE;
        if (now < session->state_since_ns)
            now = session->state_since_ns;   /* another thread has read a later time */
        if (session->worker && !mst_is_in(session, MST_STATE_CLOSING) && !mst_is_in(session, state))
            mst_enter(session, state, now);
        __atomic_store_n(&session->held, false, __ATOMIC_SEQ_CST);
    } while (streams != __atomic_load_n(&session->streams, __ATOMIC_SEQ_CST));
}

/* Notes when the session has written to the client. */
static apr_status_t see_session(ap_filter_t *f, apr_bucket_brigade *bb)
{
    struct mst_connection *session = f->ctx;
    apr_status_t rv = ap_pass_brigade(f->next, bb);

    __atomic_store_n(&session->wrote_ns, mst_now_ns(), __ATOMIC_RELAXED);
    return rv;
}

/* The connection becomes a session. The request by which it does is the first stream, too, and is
 * recorded as that. */
int mst_http2_protocol_switch(conn_rec *c, request_rec *r, server_rec *s, const char *protocol)
{
    struct mst_connection *conn = mst_connection_of(c);
    struct mst_timed *req = r ? mst_timed_of(r) : NULL;

    (void)s;
    if (conn && (strcmp(protocol, "h2") == 0 || strcmp(protocol, "h2c") == 0))
        ap_add_output_filter_handle(session_filter, conn, NULL, c);
    if (!req || strcmp(protocol, "h2c") != 0)
        return DECLINED;
    mst_count_on_worker(req);
    if (req->connection->worker)
        mst_worker_show_none(req->connection->worker);
    mst_enter(req->connection, MST_STATE_READING, mst_now_ns());
    req->connection->current = req->connection->awaited = NULL;
    req->connection->upgraded = true;
    req->r = NULL;
    ap_set_module_config(r->request_config, &mst_module, NULL);
    return DECLINED;
}

/* ---- streams ------------------------------------------------------------------------- */

static void count_stream(struct mst_connection *stream, int32_t by)
{
    __atomic_fetch_add(&stream->session->streams, (uint32_t)by, __ATOMIC_SEQ_CST);
    if (mst_recording.self)
        __atomic_fetch_add(&mst_recording.self->streams, by, __ATOMIC_RELAXED);
    mst_http2_update(stream->session, mst_now_ns());
}

void mst_http2_end_stream(struct mst_connection *stream)
{
    if (!stream->counted)
        return;
    stream->counted = false;
    count_stream(stream, -1);
}

/* Begins or ends the work of one of mod_http2's threads on the stream. mod_http2 frees the stream's
 * connection only after that, so two threads are never here for one stream at once. */
static void set_worker(struct mst_connection *stream, bool has_one)
{
    if (stream->on_http2_worker == has_one || !mst_recording.self)
        return;
    stream->on_http2_worker = has_one;
    __atomic_fetch_add(&mst_recording.self->http2_busy, has_one ? 1 : -1, __ATOMIC_RELAXED);
}

/* Ends a stream that had no request. */
static apr_status_t stream_gone(void *stream)
{
    set_worker(stream, false);
    mst_http2_end_stream(stream);
    return APR_SUCCESS;
}

void mst_http2_begin_stream(struct mst_connection *stream, conn_rec *c)
{
    stream->left_ns = 1;   /* it never has a worker */
    stream->picked_up_ns = mst_connection_now(stream);   /* this thread is mod_http2's worker */
    stream->session = mst_connection_of(c->master);
    ap_add_output_filter_handle(stream_filter, stream, NULL, c);
    if (!stream->session)
        return;
    __atomic_store_n(&stream->session->has_streams, true, __ATOMIC_RELAXED);
    stream->counted = true;
    count_stream(stream, 1);
    set_worker(stream, true);
    apr_pool_cleanup_register(c->pool, stream, stream_gone, apr_pool_cleanup_null);
}

/* mod_http2 marks a stream's connection as aborted also where the client had all of the response
 * before the stream's thread was done with the request: so what was delivered is noted here. */
static apr_status_t see_stream(ap_filter_t *f, apr_bucket_brigade *bb)
{
    struct mst_connection *conn = f->ctx;
    bool has_eos = false, has_eor = false;
    const apr_bucket *b;
    apr_status_t rv;

    for (b = APR_BRIGADE_FIRST(bb); b != APR_BRIGADE_SENTINEL(bb); b = APR_BUCKET_NEXT(b)) {
        has_eos = has_eos || APR_BUCKET_IS_EOS(b);
        has_eor = has_eor || AP_BUCKET_IS_EOR(b);
    }
    rv = conn->awaited ? mst_timing_pass_response(f, bb) : ap_pass_brigade(f->next, bb);
    if (has_eor)
        set_worker(conn, false);   /* the thread has nothing more to do than to end */
    if (!conn->current)
        return rv;   /* EOR was destroyed: the request is complete */
    if (has_eos && rv == APR_SUCCESS)
        conn->current->delivered = true;
    if (has_eor)
        conn->current->handed_ns = mst_now_ns();
    return rv;
}

void mst_http2_register_filter(void)
{
    session_filter = ap_register_output_filter("MPMSTAT_SESSION", see_session, NULL,
                                               AP_FTYPE_CONNECTION);
    stream_filter = ap_register_output_filter("MPMSTAT_STREAM", see_stream, NULL,
                                              AP_FTYPE_CONNECTION);
}
