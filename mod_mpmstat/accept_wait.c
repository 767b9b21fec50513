/* accept_wait.c - how long a connection, or its next request, waited for a worker: the phase
 * `queue`. The kernel knows it (TCP_INFO): the age of the newest data that it has received.
 *
 * The kernel is asked only where there can have been a wait, as it is a system call. While a
 * worker is idle no connection waits, where workers accept by themselves (prefork). A listener
 * thread can be late, by some 10 ms when event's listeners wake up: there each new connection
 * is asked about. An answer below two jiffies is the grain of the kernel's clock then, not a
 * wait. So is what a kept-alive connection can have waited whose last request was complete less
 * than two jiffies ago.
 */
#include "request.h"

#include <apr_portable.h>
#include <http_core.h>
#include <netinet/in.h>
#include <netinet/tcp.h>


/* False: the kernel does not say. */
static bool ask_kernel(conn_rec *c, apr_socket_t *csd, uint64_t *age_ns)
{
    struct tcp_info info;
    socklen_t size = sizeof info;
    apr_os_sock_t fd;

    if (!csd)
        csd = ap_get_conn_socket(c);
    if (!csd || apr_os_sock_get(&fd, csd) != APR_SUCCESS
        || getsockopt(fd, IPPROTO_TCP, TCP_INFO, &info, &size) != 0)
        return false;
    *age_ns = info.tcpi_last_data_recv * MST_NS_PER_MS;
    return true;
}

uint64_t mst_accept_wait(const struct mst_connection *conn, conn_rec *c, apr_socket_t *csd,
                         uint64_t idle_ns, uint64_t now)
{
    uint64_t since_last = now - conn->ended_ns;   /* of a new connection: since ever */
    uint64_t wait;

    if (!ask_kernel(c, csd, &wait)
        || (idle_ns >= mst_recording.idle_enough_ns && wait < mst_recording.idle_enough_ns))
        return 0;
    return wait < since_last ? wait : since_last;
}
