/* delivery.c - what limited the sending of a response, and what the client had not got when it was
 * complete.
 *
 * The kernel counts for each connection how long data was on its way to the client (busy), and for
 * how long of that the client's window was closed. It is asked where sending took long, or where
 * the response is large; and once more when the next request begins or the connection ends. While
 * data was on its way and the window was open, the network was the limit; while nothing was, the
 * server.
 */
#include "request.h"

#include <apr_portable.h>
#include <fcntl.h>
#include <http_core.h>
#include <unistd.h>

#include "tcp_info.h"
#include "write/journal.h"

int mst_connection_fd(conn_rec *c, apr_socket_t *csd)
{
    apr_os_sock_t fd;

    if (!csd)
        csd = ap_get_conn_socket(c);
    return csd && apr_os_sock_get(&fd, csd) == APR_SUCCESS ? fd : -1;
}

static uint64_t smaller(uint64_t a, uint64_t b)
{
    return a < b ? a : b;
}

/* Asks the kernel, and sets what has been added since it was asked last. */
static bool ask(struct mst_connection *conn, int fd, struct mst_tcp_info *since)
{
    struct mst_tcp_info now;

    if (!mst_tcp_info(fd, &now))
        return false;
    since->busy_ns = now.busy_ns - conn->busy_ns;
    since->client_slow_ns = now.client_slow_ns - conn->client_slow_ns;
    conn->busy_ns = now.busy_ns;
    conn->client_slow_ns = now.client_slow_ns;
    return true;
}

void mst_delivery_begin(struct mst_connection *conn, conn_rec *c)
{
    struct mst_tcp_info since;

    ask(conn, mst_connection_fd(c, NULL), &since);
}

/* Splits `send`. Time that the kernel does not attribute to client or network counts as the
 * server's. */
static void split_send(struct mst_timed *req, const struct mst_tcp_info *since)
{
    struct mst_parts *parts = mst_parts_of(req);
    uint64_t send_ns = req->complete_ns - req->first_ns;
    uint64_t busy_ns = smaller(since->busy_ns, send_ns);

    parts->send_client_ns = smaller(since->client_slow_ns, busy_ns);
    parts->send_network_ns = busy_ns - parts->send_client_ns;
    parts->asked = true;
}

static void note_late(struct mst_timed *req, int fd)
{
    struct mst_connection *conn = req->connection;
    uint64_t bytes;

    if (!mst_tcp_unacknowledged(fd, &bytes) || bytes == 0 || req->label == MST_NO_LABEL)
        return;
    conn->late = (struct mst_late){
        .id = req->id, .bytes = bytes, .busy_ns = conn->busy_ns, .label = req->label, .fd = -1,
    };
    conn->expects_more = true;
}

void mst_delivery_complete(struct mst_timed *req, conn_rec *c)
{
    struct mst_tcp_info since;
    int fd;

    if (req->connection->stream || !req->first_ns)
        return;
    fd = mst_connection_fd(c, NULL);
    if (!ask(req->connection, fd, &since))
        return;
    if (req->complete_ns - req->first_ns >= MST_SLOW_SEND_NS)
        split_send(req, &since);
    if (req->bytes > MST_LARGE_BYTES)
        note_late(req, fd);
}

/* Writes how long it took until the client had all of the late response. That is unknown where the
 * client does not have it yet. */
static void write_delivery(struct mst_connection *conn, int fd)
{
    struct mst_delivery delivery = {
        .id = conn->late.id, .undelivered_ns = MST_UNKNOWN, .undelivered_bytes = conn->late.bytes,
    };
    struct mst_counters *t = conn->thread->counters
                           + (size_t)conn->late.label * mst_recording.stripes;
    struct mst_tcp_info since;
    uint64_t left;

    if (mst_tcp_unacknowledged(fd, &left) && left == 0 && ask(conn, fd, &since)) {
        delivery.undelivered_ns = conn->busy_ns - conn->late.busy_ns;
        mst_count(&t->interval_ns[MST_INTERVAL_UNDELIVERED], delivery.undelivered_ns);
        mst_count(&t->intervals[MST_INTERVAL_UNDELIVERED], 1);
    }
    mst_journal_delivery(mst_recording.board, &delivery);
    conn->late.id = 0;
}

void mst_delivery_settle(struct mst_connection *conn, conn_rec *c)
{
    write_delivery(conn, mst_connection_fd(c, NULL));
}

/* httpd waits for the client (a lingering close), and then closes the socket, without a hook. So
 * a copy of the descriptor is kept until the pool is cleaned up, right after that. */
void mst_delivery_close(struct mst_connection *conn, conn_rec *c)
{
    int fd = mst_connection_fd(c, NULL);
    uint64_t left;

    if (!conn->late.id)
        return;
    if (!mst_recording.forked && mst_tcp_unacknowledged(fd, &left) && left > 0)
        conn->late.fd = fcntl(fd, F_DUPFD_CLOEXEC, 0);
    if (conn->late.fd < 0)
        write_delivery(conn, fd);
}

void mst_delivery_gone(struct mst_connection *conn)
{
    if (!conn->late.id)
        return;
    write_delivery(conn, conn->late.fd);
    if (conn->late.fd >= 0)
        close(conn->late.fd);
}
