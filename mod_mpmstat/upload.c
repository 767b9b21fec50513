/* upload.c - how long a request's handler was blocked in reading the request's body: the interval
 * `upload`.
 *
 * An input filter takes the time around each read. It is inserted only where there is a body, and
 * stays through internal redirects.
 */
#include "request.h"

#include <http_protocol.h>

static ap_filter_rec_t *upload_filter;

/* Adds the part of [began, ended] that lies within the phase `handle`. */
static void add_upload(struct mst_timed *req, uint64_t began, uint64_t ended)
{
    if (req->first_ns && ended > req->first_ns)
        ended = req->first_ns;
    if (ended > began)
        mst_parts_of(req)->upload_ns += ended - began;
}

static apr_status_t time_reading(ap_filter_t *f, apr_bucket_brigade *bb, ap_input_mode_t mode,
                                 apr_read_type_e block, apr_off_t bytes)
{
    struct mst_timed *req = f->ctx;
    uint64_t began = mst_connection_now(req->connection);
    apr_status_t rv = ap_get_brigade(f->next, bb, mode, block, bytes);

    add_upload(req, began, mst_connection_now(req->connection));
    return rv;
}

/* HTTP/2 does not always say whether a body follows. */
static bool may_have_body(const request_rec *r, const struct mst_timed *req)
{
    return req->connection->stream || apr_table_get(r->headers_in, "Content-Length")
        || apr_table_get(r->headers_in, "Transfer-Encoding");
}

void mst_upload_watch(struct mst_timed *req, request_rec *r)
{
    if (may_have_body(r, req))
        ap_add_input_filter_handle(upload_filter, req, r, r->connection);
}

void mst_upload_register_filter(void)
{
    /* A filter of the protocol: a request that is redirected internally keeps it. */
    upload_filter = ap_register_input_filter("MPMSTAT_UPLOAD", time_reading, NULL,
                                             AP_FTYPE_PROTOCOL);
}
