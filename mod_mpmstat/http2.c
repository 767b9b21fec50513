/* http2.c - HTTP/2: its streams are requests on threads that are no workers of the MPM,
 * and their session's worker waits for them.
 *
 * mod_http2 makes a connection of each stream, whose `master` is the session's.
 */
#include "request.h"

#include <http_connection.h>
#include <http_protocol.h>
#include <http_request.h>

#include "base/clock.h"

static ap_filter_rec_t *stream_filter;

/* ---- the session ------------------------------------------------------------------ */

/* `handling` while there are streams, and when there is none left, `keepalive` until the
 * next or until event takes the connection back. The session's worker runs no hook
 * meanwhile, so the streams' threads set its state, one at a time. None waits: who finds
 * another at it leaves it to that one, who looks again afterwards. */
void mst_http2_settle(struct mst_connection *session, uint64_t now)
{
    uint32_t streams;
    enum mst_state state;

    do {
        if (__atomic_exchange_n(&session->held, true, __ATOMIC_ACQUIRE))
            return;
        streams = __atomic_load_n(&session->streams, __ATOMIC_SEQ_CST);
        state = streams ? MST_STATE_HANDLING : MST_STATE_KEEPALIVE;
        if (now < session->state_since_ns)
            now = session->state_since_ns;   /* by another thread's clock */
        if (session->state != MST_STATE_CLOSING && session->state != state)
            mst_enter(session, state, now);
        __atomic_store_n(&session->held, false, __ATOMIC_SEQ_CST);
    } while (streams != __atomic_load_n(&session->streams, __ATOMIC_SEQ_CST));
}

/* A request by which its connection becomes HTTP/2's is the first stream, too, and
 * recorded as such. */
static int protocol_switch(conn_rec *c, request_rec *r, server_rec *s, const char *protocol)
{
    struct mst_timed *req = r ? mst_timed_of(r) : NULL;

    (void)c, (void)s;
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

/* ---- streams ----------------------------------------------------------------------- */

static void count_stream(struct mst_connection *stream, int32_t by)
{
    __atomic_fetch_add(&stream->session->streams, (uint32_t)by, __ATOMIC_SEQ_CST);
    if (mst_recording.self)
        __atomic_fetch_add(&mst_recording.self->streams, by, __ATOMIC_RELAXED);
    mst_http2_settle(stream->session, mst_now_ns());
}

void mst_http2_end_stream(struct mst_connection *stream)
{
    if (!stream->counted)
        return;
    stream->counted = false;
    count_stream(stream, -1);
}

/* There may have been no request. */
static apr_status_t stream_gone(void *stream)
{
    mst_http2_end_stream(stream);
    return APR_SUCCESS;
}

void mst_http2_begin_stream(struct mst_connection *stream, conn_rec *c)
{
    stream->left_ns = 1;   /* always */
    stream->worker_index = UINT32_MAX;
    stream->session = mst_connection_of(c->master);
    ap_add_output_filter_handle(stream_filter, stream, NULL, c);
    if (!stream->session)
        return;
    __atomic_store_n(&stream->session->has_streams, true, __ATOMIC_RELAXED);
    stream->session->awaited = &stream->session->own;   /* its filter is to note when it wrote */
    stream->counted = true;
    count_stream(stream, 1);
    apr_pool_cleanup_register(c->pool, stream, stream_gone, apr_pool_cleanup_null);
}

/* mod_http2 marks a stream's connection as aborted also where the client had all of
 * the response before the stream's thread was done with the request. */
static apr_status_t see_stream(ap_filter_t *f, apr_bucket_brigade *bb)
{
    struct mst_connection *conn = f->ctx;
    bool ends = false, is_last = false;
    const apr_bucket *b;
    apr_status_t rv;

    for (b = APR_BRIGADE_FIRST(bb); b != APR_BRIGADE_SENTINEL(bb); b = APR_BUCKET_NEXT(b)) {
        ends = ends || APR_BUCKET_IS_EOS(b);
        is_last = is_last || AP_BUCKET_IS_EOR(b);
    }
    rv = mst_timing_see_response(f, bb);
    if (!conn->current)
        return rv;   /* EOR was destroyed: it is complete */
    if (ends && rv == APR_SUCCESS)
        conn->current->delivered = true;
    if (is_last)
        conn->current->handed_ns = mst_now_ns();
    return rv;
}

/* Where the session was done with the stream before the stream's thread was, it destroys
 * EOR when it next has something to do, maybe seconds later: but then it has not written
 * anything meanwhile. */
uint64_t mst_http2_sent(const struct mst_timed *req, uint64_t now)
{
    const struct mst_connection *session = req->connection->session;
    uint64_t wrote_ns = session ? __atomic_load_n(&session->wrote_ns, __ATOMIC_RELAXED) : 0;

    if (wrote_ns < req->handed_ns)
        wrote_ns = req->handed_ns;
    return wrote_ns < now ? wrote_ns : now;
}

void mst_http2_register(apr_pool_t *p)
{
    (void)p;
    stream_filter = ap_register_output_filter("MPMSTAT_STREAM", see_stream, NULL,
                                              AP_FTYPE_CONNECTION);
    ap_hook_protocol_switch(protocol_switch, NULL, NULL, APR_HOOK_REALLY_FIRST);
}
