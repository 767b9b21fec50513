/* tls.c - how long a connection's TLS handshake took: the interval `tls`, from the pick-up to the
 * first decrypted byte.
 *
 * An input filter above mod_ssl's sees that byte. It stays, as requests keep pointers to it.
 */
#include "request.h"

#include <http_connection.h>
#include <http_ssl.h>

static ap_filter_rec_t *tls_filter;

static apr_status_t see_decrypted(ap_filter_t *f, apr_bucket_brigade *bb, ap_input_mode_t mode,
                                  apr_read_type_e block, apr_off_t bytes)
{
    struct mst_connection *conn = f->ctx;
    apr_status_t rv = ap_get_brigade(f->next, bb, mode, block, bytes);
    uint64_t now;

    if (!conn || rv != APR_SUCCESS || mode == AP_MODE_INIT || APR_BRIGADE_EMPTY(bb))
        return rv;
    f->ctx = NULL;
    now = mst_connection_now(conn);
    if (conn->picked_up_ns && now > conn->picked_up_ns)
        conn->tls_ns = now - conn->picked_up_ns;
    conn->expects_more = true;
    return rv;
}

int mst_tls_watch(conn_rec *c, void *csd)
{
    struct mst_connection *conn = mst_connection_of(c);

    (void)csd;
    if (conn && !conn->stream && ap_ssl_conn_is_ssl(c))
        ap_add_input_filter_handle(tls_filter, conn, NULL, c);
    return OK;
}

void mst_tls_register_filter(void)
{
    tls_filter = ap_register_input_filter("MPMSTAT_TLS", see_decrypted, NULL,
                                          AP_FTYPE_CONNECTION);
}
