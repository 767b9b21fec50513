/* listeners.c - the accept queues of this Apache's listening sockets.
 *
 * For a socket that listens, Linux puts into TCP_INFO how many connections wait
 * to be accepted (tcpi_unacked) and how many may (tcpi_sacked: the smaller of
 * ListenBacklog and net.core.somaxconn): what `ss -ltn` shows.
 */
#include "listeners.h"

#include <ap_listen.h>
#include <apr_portable.h>
#include <apr_strings.h>
#include <netinet/in.h>
#include <netinet/tcp.h>

static const char *address_of(apr_pool_t *p, const apr_sockaddr_t *sa)
{
    char *ip;

    if (apr_sockaddr_ip_get(&ip, (apr_sockaddr_t *)sa) != APR_SUCCESS)
        return "?";
    return apr_psprintf(p, strchr(ip, ':') ? "[%s]:%u" : "%s:%u", ip, (unsigned)sa->port);
}

static struct mst_snapshot_listener ask(apr_pool_t *p, const ap_listen_rec *l)
{
    struct tcp_info info;
    socklen_t size = sizeof info;
    apr_os_sock_t fd;
    int known = l->sd && apr_os_sock_get(&fd, l->sd) == APR_SUCCESS
             && getsockopt(fd, IPPROTO_TCP, TCP_INFO, &info, &size) == 0
             && info.tcpi_state == TCP_LISTEN;

    return (struct mst_snapshot_listener){
        .address = address_of(p, l->bind_addr),
        .queue = known ? info.tcpi_unacked : MST_UNKNOWN,
        .queue_limit = known ? info.tcpi_sacked : MST_UNKNOWN,
    };
}

struct mst_snapshot_listener *mst_listeners(apr_pool_t *p, size_t *count)
{
    struct mst_snapshot_listener *all;
    ap_listen_rec *l;
    size_t n = 0;

    for (l = ap_listeners; l; l = l->next)
        n++;
    all = apr_palloc(p, (n ? n : 1) * sizeof *all);
    for (l = ap_listeners, n = 0; l; l = l->next)
        all[n++] = ask(p, l);
    *count = n;
    return all;
}
