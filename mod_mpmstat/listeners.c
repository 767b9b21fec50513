/* listeners.c - the accept queues of this Apache's listening sockets.
 *
 * A child asks its own sockets: TCP_INFO of a listening socket has how many connections wait
 * (tcpi_unacked) and the limit of that (tcpi_sacked). With several buckets
 * (ListenCoresBucketsRatio) a child has the sockets of one, and none when it is to end. So the
 * parent notes which sockets there are, and the child asks the kernel for all of them. Where that
 * is not permitted (a container, a sandbox) the length is unknown.
 */
#include "listeners.h"

#include <ap_listen.h>
#include <apr_portable.h>
#include <apr_strings.h>
#include <netinet/in.h>
#include <netinet/tcp.h>
#include <unistd.h>

#include "mod_mpmstat.h"
#include "read/accept_queue.h"

/* The parent fills it, and its children inherit it. It is empty where the parent may not ask the
 * kernel. */
static struct mst_sockets sockets;

static const char *address_of(apr_pool_t *p, const apr_sockaddr_t *sa)
{
    char *ip;

    if (apr_sockaddr_ip_get(&ip, (apr_sockaddr_t *)sa) != APR_SUCCESS)
        return "?";
    return apr_psprintf(p, strchr(ip, ':') ? "[%s]:%u" : "%s:%u", ip, (unsigned)sa->port);
}

/* Where an address has several sockets, this child has one of them: it cannot know the sum of their
 * queues. */
static struct mst_snapshot_listener ask_socket(apr_pool_t *p, const ap_listen_rec *l)
{
    struct tcp_info info;
    socklen_t size = sizeof info;
    apr_os_sock_t fd;
    bool known = ap_num_listen_buckets <= 1 && l->sd
              && apr_os_sock_get(&fd, l->sd) == APR_SUCCESS
              && getsockopt(fd, IPPROTO_TCP, TCP_INFO, &info, &size) == 0
              && info.tcpi_state == TCP_LISTEN;

    return (struct mst_snapshot_listener){
        .address = address_of(p, l->bind_addr),
        .sockets = ap_num_listen_buckets > 1 ? (uint64_t)ap_num_listen_buckets : 1,
        .queue = known ? info.tcpi_unacked : MST_UNKNOWN,
        .queue_limit = known ? info.tcpi_sacked : MST_UNKNOWN,
        .queue_fullest = known ? info.tcpi_unacked : MST_UNKNOWN,
        .connections = MST_UNKNOWN,   /* of FPM only */
    };
}

/* Asks this child's sockets. Returns whether the queue of each listener is known then. */
static bool ask_own_sockets(apr_pool_t *p, struct mst_world *world)
{
    struct mst_snapshot_listener *all;
    bool complete = true;
    ap_listen_rec *l;
    size_t n = 0;

    for (l = ap_listeners; l; l = l->next)
        n++;
    all = apr_palloc(p, (n ? n : 1) * sizeof *all);
    for (l = ap_listeners, n = 0; l; l = l->next) {
        all[n] = ask_socket(p, l);
        complete = complete && all[n++].queue != MST_UNKNOWN;
    }
    mst_listen_sort(all, n);
    world->listeners_known = true;
    world->listener_count = n;
    world->listeners = all;
    return complete;
}

static apr_status_t free_answer(void *listen)
{
    mst_listen_free(listen);
    return APR_SUCCESS;
}

void mst_listeners_read(apr_pool_t *p, struct mst_world *world)
{
    bool complete = ask_own_sockets(p, world);
    struct mst_listen *listen;

    mst_listen_counters(&world->listen_overflows, &world->listen_drops);
    world->drops_known = true;
    if (complete)
        return;
    listen = apr_palloc(p, sizeof *listen);
    mst_listen_read(listen, &sockets, false);
    apr_pool_cleanup_register(p, listen, free_answer, apr_pool_cleanup_null);
    if (listen->count > 0)
        mst_listen_tell(listen, world);
}

static apr_status_t forget_sockets(void *unused)
{
    (void)unused;
    mst_sockets_free(&sockets);
    return APR_SUCCESS;
}

/* The MPM has opened all listening sockets before, in open_logs. */
int mst_listeners_note_sockets(apr_pool_t *pconf, apr_pool_t *plog, apr_pool_t *ptemp,
                               server_rec *s)
{
    (void)plog, (void)ptemp, (void)s;
    if (!mst_sockets_read(&sockets, (uint64_t)getpid()))
        mst_sockets_free(&sockets);
    apr_pool_cleanup_register(pconf, NULL, forget_sockets, apr_pool_cleanup_null);
    return OK;
}
