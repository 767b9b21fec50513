/* accept_wait.c - how long a connection, or its next request, waited for a worker: the phase
 * `queue`. The kernel knows it (TCP_INFO): the age of the newest data that it has received.
 *
 * A client that waits may go on sending its request's body. So of a new connection with more than
 * one segment of data it is the age of the connection: with httpd's default AcceptFilter
 * (TCP_DEFER_ACCEPT) the kernel opens it when the first segment arrives.
 *
 * mst_accept_may_have_waited() (request.h) decides whether the kernel is asked at all. Where the
 * worker had been idle, an answer below two jiffies is the grain of the kernel's clock, not a wait.
 */
#include "request.h"

#include "tcp_info.h"

uint64_t mst_accept_wait(const struct mst_connection *conn, conn_rec *c, apr_socket_t *csd,
                         uint64_t idle_ns, uint64_t now)
{
    uint64_t since_last = now - conn->ended_ns;   /* of a new connection: since ever */
    struct mst_tcp_info info;
    uint64_t waited_ns;

    if (!mst_tcp_info(mst_connection_fd(c, csd), &info))
        return 0;
    waited_ns = csd && info.segments > 1 ? info.opened_ns : info.received_ns;
    if (idle_ns >= mst_recording.idle_enough_ns && waited_ns < mst_recording.idle_enough_ns)
        return 0;
    return waited_ns < since_last ? waited_ns : since_last;
}
