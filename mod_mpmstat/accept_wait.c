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

#include "tcp_info.h"

uint64_t mst_accept_wait(const struct mst_connection *conn, conn_rec *c, apr_socket_t *csd,
                         uint64_t idle_ns, uint64_t now)
{
    uint64_t since_last = now - conn->ended_ns;   /* of a new connection: since ever */
    struct mst_tcp_info info;

    if (!mst_tcp_info(mst_connection_fd(c, csd), &info)
        || (idle_ns >= mst_recording.idle_enough_ns
            && info.received_ns < mst_recording.idle_enough_ns))
        return 0;
    return info.received_ns < since_last ? info.received_ns : since_last;
}
