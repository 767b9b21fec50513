/* accept_queue.c - asks the kernel for accept queues: see accept_queue.h.
 *
 * For a listening socket, sock_diag tells how many connections wait to be accepted (idiag_rqueue,
 * udiag_rqueue) and the limit (idiag_wqueue, udiag_wqueue), as `ss -ltn` and `ss -lx` show them.
 *
 * Several sockets can share an address (SO_REUSEPORT), with a queue each. The kernel puts a
 * connection into one of them by its addresses and ports, whether or not that has room. So at
 * most the sum of the limits can wait, and connections are lost as soon as the fullest queue is
 * at its own limit.
 *
 * Of FPM's sockets it asks for their connections, too: those that a process has taken have an
 * inode, those that still wait have none.
 */
#include "read/accept_queue.h"

#include <arpa/inet.h>
#include <dirent.h>
#include <inttypes.h>
#include <linux/inet_diag.h>
#include <linux/rtnetlink.h>
#include <linux/unix_diag.h>
#include <netinet/in.h>
#include <netinet/tcp.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/socket.h>
#include <sys/un.h>
#include <unistd.h>

#include "base/array.h"
#include "base/host.h"
#include "read/sock_diag.h"
#include "segment/listen_hash.h"

#define ADDRESS_MAX   (sizeof ((struct sockaddr_un *)0)->sun_path + 2)   /* the longest */
#define LISTENERS_MAX 1024u
#define SOCKETS_MAX   65536u  /* Apache's parent has about twelve */

/* ---- whose sockets ------------------------------------------------------------- */

static bool add_socket(struct mst_sockets *s, uint32_t inode)
{
    if (s->count == SOCKETS_MAX || !mst_grow(&s->inodes, &s->room, s->count, sizeof *s->inodes))
        return false;
    s->inodes[s->count++] = inode;
    return true;
}

bool mst_sockets_read(struct mst_sockets *s, uint64_t pid)
{
    char path[64], link[64];
    struct dirent *entry;
    bool complete = true;
    uint32_t inode;
    ssize_t n;
    DIR *dir;

    memset(s, 0, sizeof *s);
    snprintf(path, sizeof path, "/proc/%" PRIu64 "/fd", pid);
    dir = opendir(path);
    if (dir == NULL)
        return false;
    while (complete && (entry = readdir(dir)) != NULL) {
        n = readlinkat(dirfd(dir), entry->d_name, link, sizeof link - 1);
        if (n < 0)
            continue;   /* "..", or closed meanwhile */
        link[n] = '\0';
        if (sscanf(link, "socket:[%" SCNu32 "]", &inode) == 1)
            complete = add_socket(s, inode);
    }
    closedir(dir);
    return complete;
}

void mst_sockets_free(struct mst_sockets *s)
{
    free(s->inodes);
    memset(s, 0, sizeof *s);
}

static bool has_socket(const struct mst_sockets *s, uint32_t inode)
{
    size_t i;

    for (i = 0; i < s->count; i++)
        if (s->inodes[i] == inode)
            return true;
    return false;
}

/* ---- the queues ------------------------------------------------------------------ */

/* Adds a socket to the listener of that address. */
static void add_listener(struct mst_listen *l, const char *address, uint32_t queue, uint32_t limit)
{
    char (*addresses)[ADDRESS_MAX] = l->addresses;
    struct mst_snapshot_listener *listener;
    size_t i;

    for (i = 0; i < l->count && strcmp(addresses[i], address) != 0; i++)
        ;
    if (i == LISTENERS_MAX)
        return;
    listener = &l->listeners[i];
    if (i == l->count) {
        strcpy(addresses[i], address);
        listener->address = addresses[i];
        listener->connections = MST_UNKNOWN;
        l->count++;
    }
    listener->sockets++;
    listener->queue += queue;
    listener->queue_limit += limit;
    if (listener->queue_fullest < queue)
        listener->queue_fullest = queue;
}

/* What is read, and where it goes: the queues of `sockets`; or, where that is NULL, of the sockets
 * that listen at the addresses of the FPM pools of `fpm`. `drops` is NULL where the drops are not
 * shared with other readings. */
struct reading {
    struct mst_listen        *listen;
    const struct mst_sockets *sockets;
    const struct mst_copy    *fpm;
    struct mst_drops         *drops;
    bool                      with_connections;   /* FPM's: its sockets have few */
};

static bool is_wanted(const struct reading *r, uint32_t inode, const char *address)
{
    return r->sockets != NULL ? has_socket(r->sockets, inode)
                              : mst_copy_pool_at(r->fpm, address) < r->fpm->label_count;
}

static void print_tcp(char address[ADDRESS_MAX], const struct inet_diag_msg *m)
{
    char ip[INET6_ADDRSTRLEN];

    if (inet_ntop(m->idiag_family, m->id.idiag_src, ip, sizeof ip) == NULL)
        strcpy(ip, "?");
    snprintf(address, ADDRESS_MAX, m->idiag_family == AF_INET6 ? "[%s]:%u" : "%s:%u", ip,
             (unsigned)ntohs(m->id.idiag_sport));
}

static bool take_tcp(void *reading_, const char *bytes, size_t length)
{
    const struct reading *reading = reading_;
    char address[ADDRESS_MAX];
    struct inet_diag_msg m;

    if (length < sizeof m)
        return true;
    memcpy(&m, bytes, sizeof m);
    print_tcp(address, &m);
    if (is_wanted(reading, m.idiag_inode, address))
        add_listener(reading->listen, address, m.idiag_rqueue, m.idiag_wqueue);
    return true;
}

/* A path; or a name without a file, which begins with a NUL and is shown with "@". */
static void print_path(char out[ADDRESS_MAX], const char *name, size_t length)
{
    size_t i;

    if (length > ADDRESS_MAX - 1)
        length = ADDRESS_MAX - 1;
    for (i = 0; i < length && (i == 0 || name[i] != '\0'); i++)
        out[i] = name[i] != '\0' ? name[i] : '@';
    out[i] = '\0';
}

struct unix_socket { uint32_t inode; struct unix_diag_rqlen queue; char address[ADDRESS_MAX]; };

static bool parse_unix(struct unix_socket *s, const char *bytes, size_t length)
{
    struct unix_diag_msg m;
    struct rtattr attribute;
    size_t at;

    if (length < sizeof m)
        return false;
    memcpy(&m, bytes, sizeof m);
    *s = (struct unix_socket){ .inode = m.udiag_ino };
    for (at = NLMSG_ALIGN(sizeof m); at + sizeof attribute <= length;
         at += RTA_ALIGN(attribute.rta_len)) {
        memcpy(&attribute, bytes + at, sizeof attribute);
        if (attribute.rta_len < RTA_LENGTH(0) || attribute.rta_len > length - at)
            break;
        if (attribute.rta_type == UNIX_DIAG_NAME)
            print_path(s->address, bytes + at + RTA_LENGTH(0), attribute.rta_len - RTA_LENGTH(0));
        if (attribute.rta_type == UNIX_DIAG_RQLEN &&
            attribute.rta_len >= RTA_LENGTH(sizeof s->queue))
            memcpy(&s->queue, bytes + at + RTA_LENGTH(0), sizeof s->queue);
    }
    return true;
}

static bool take_unix(void *reading_, const char *bytes, size_t length)
{
    const struct reading *reading = reading_;
    struct unix_socket s;

    if (parse_unix(&s, bytes, length) && is_wanted(reading, s.inode, s.address))
        add_listener(reading->listen, s.address, s.queue.udiag_rqueue, s.queue.udiag_wqueue);
    return true;
}

static bool read_tcp(struct reading *reading, int netlink, uint8_t family)
{
    const struct inet_diag_req_v2 request = {
        .sdiag_family = family, .sdiag_protocol = IPPROTO_TCP, .idiag_states = 1u << TCP_LISTEN,
    };

    return mst_sock_diag_read(netlink, &request, sizeof request, take_tcp, reading);
}

static bool read_unix(struct reading *reading, int netlink)
{
    const struct unix_diag_req request = {
        .sdiag_family = AF_UNIX, .udiag_states = 1u << TCP_LISTEN,
        .udiag_show = UDIAG_SHOW_NAME | UDIAG_SHOW_RQLEN,
    };

    return mst_sock_diag_read(netlink, &request, sizeof request, take_unix, reading);
}

/* ---- FPM's connections ------------------------------------------------------------ */

/* Another listener can have the same port at another address. */
static bool count_tcp(void *listener_, const char *bytes, size_t length)
{
    struct mst_snapshot_listener *listener = listener_;
    char address[ADDRESS_MAX];
    struct inet_diag_msg m;

    if (length < sizeof m)
        return true;
    memcpy(&m, bytes, sizeof m);
    print_tcp(address, &m);
    listener->connections += m.idiag_inode != 0 && (mst_listens_on_all(listener->address) ||
                                                    strcmp(listener->address, address) == 0);
    return true;
}

static bool count_unix(void *listen_, const char *bytes, size_t length)
{
    struct mst_listen *l = listen_;
    struct unix_socket s;
    size_t i;

    if (!parse_unix(&s, bytes, length) || s.inode == 0)
        return true;
    for (i = 0; i < l->count; i++)
        if (strcmp(l->listeners[i].address, s.address) == 0)
            l->listeners[i].connections++;
    return true;
}

/* The kernel gives those of that local port only. */
static bool count_of_port(struct mst_snapshot_listener *listener, int netlink, const char *port)
{
    struct inet_diag_req_v2 request = {
        .sdiag_family = AF_INET, .sdiag_protocol = IPPROTO_TCP,
        .idiag_states = 1u << TCP_ESTABLISHED,
        .id = { .idiag_sport = htons((uint16_t)strtoul(port, NULL, 10)) },
    };
    bool fine = mst_sock_diag_read(netlink, &request, sizeof request, count_tcp, listener);

    request.sdiag_family = AF_INET6;
    return mst_sock_diag_read(netlink, &request, sizeof request, count_tcp, listener) && fine;
}

/* An address of TCP ends with its port; a path can have a colon, and then a slash before it. */
static const char *port_of(const char *address)
{
    const char *colon = strrchr(address, ':');

    return colon != NULL && strchr(address, '/') == NULL && address[0] != '@' ? colon + 1 : NULL;
}

/* Unknown where the kernel does not tell all of them. */
static void count_connections(struct mst_listen *l, int netlink)
{
    const struct unix_diag_req of_unix = {
        .sdiag_family = AF_UNIX, .udiag_states = 1u << TCP_ESTABLISHED,
        .udiag_show = UDIAG_SHOW_NAME,
    };
    bool any_unix = false, fine;
    const char *port;
    size_t i;

    for (i = 0; i < l->count; i++) {
        l->listeners[i].connections = 0;
        port = port_of(l->listeners[i].address);
        if (port == NULL)
            any_unix = true;
        else if (!count_of_port(&l->listeners[i], netlink, port))
            l->listeners[i].connections = MST_UNKNOWN;
    }
    fine = !any_unix || mst_sock_diag_read(netlink, &of_unix, sizeof of_unix, count_unix, l);
    for (i = 0; i < l->count && !fine; i++)
        if (port_of(l->listeners[i].address) == NULL)
            l->listeners[i].connections = MST_UNKNOWN;
}

/* ---- all of them ------------------------------------------------------------------ */

/* Where the kernel cannot tell Unix sockets (it lacks unix_diag), those of TCP are told. */
static bool read_queues(struct reading *reading, bool with_unix)
{
    struct mst_listen *l = reading->listen;
    int netlink = mst_sock_diag_open();
    bool known;

    if (netlink < 0)
        return false;
    l->listeners = calloc(LISTENERS_MAX, sizeof *l->listeners);
    l->addresses = calloc(LISTENERS_MAX, ADDRESS_MAX);
    known = l->listeners != NULL && l->addresses != NULL
         && read_tcp(reading, netlink, AF_INET) && read_tcp(reading, netlink, AF_INET6);
    if (known && with_unix && !read_unix(reading, netlink))
        known = l->count > 0;
    if (known && reading->with_connections)
        count_connections(l, netlink);
    close(netlink);
    return known;
}

static int by_address(const void *left, const void *right)
{
    const struct mst_snapshot_listener *a = left, *b = right;

    return strcmp(a->address, b->address);
}

void mst_listen_sort(struct mst_snapshot_listener *listeners, size_t count)
{
    if (count > 1)
        qsort(listeners, count, sizeof *listeners, by_address);
}

/* ---- the counters ----------------------------------------------------------------- */

/* The number in the line `values` at the position that `name` has in the line `names`. */
static uint64_t counter(const char *names, const char *values, const char *name)
{
    size_t length = strlen(name);

    while (*names && *names != '\n' && *values) {
        if (strncmp(names, name, length) == 0 && strchr(" \n", names[length]))
            return strtoull(values, NULL, 10);
        names += strcspn(names, " \n");
        names += *names == ' ';
        values += strcspn(values, " \n");
        values += *values == ' ';
    }
    return MST_UNKNOWN;
}

/* The file has two lines for each protocol: names, then numbers. */
void mst_listen_counters(uint64_t *overflows, uint64_t *drops)
{
    const char *names, *values;
    char text[16384];

    *overflows = *drops = MST_UNKNOWN;
    if (!mst_host_read_text("/proc/self/net/netstat", text, sizeof text))
        return;
    names = strstr(text, "TcpExt: ");
    values = names ? strstr(names + 1, "TcpExt: ") : NULL;
    if (!values)
        return;
    *overflows = counter(names, values, "ListenOverflows");
    *drops = counter(names, values, "ListenDrops");
}

/* ---- together -------------------------------------------------------------------------- */

static void know_nothing(struct mst_listen *l)
{
    memset(l, 0, sizeof *l);
    l->overflows = l->drops = MST_UNKNOWN;
}

static void read_listen(struct reading *reading, bool with_unix)
{
    struct mst_drops now = { .are_read = false };
    struct mst_drops *drops = reading->drops != NULL ? reading->drops : &now;
    struct mst_listen *l = reading->listen;

    if (!drops->are_read)
        mst_listen_counters(&drops->overflows, &drops->drops);
    drops->are_read = true;
    l->overflows = drops->overflows;
    l->drops = drops->drops;
    l->known = read_queues(reading, with_unix);
    if (!l->known)
        l->count = 0;
    mst_listen_sort(l->listeners, l->count);
}

void mst_listen_read(struct mst_listen *l, const struct mst_sockets *s, bool with_unix)
{
    know_nothing(l);
    read_listen(&(struct reading){ .listen = l, .sockets = s }, with_unix);
}

/* Whether a process is in this network namespace: 1 yes, 0 no, -1 this user may not know. */
static int same_network(uint64_t pid)
{
    char path[64], ours[64], theirs[64];
    ssize_t n, m;

    snprintf(path, sizeof path, "/proc/%" PRIu64 "/ns/net", pid);
    n = readlink("/proc/self/ns/net", ours, sizeof ours);
    m = readlink(path, theirs, sizeof theirs);
    if (n <= 0 || m <= 0)
        return -1;
    return n == m && memcmp(ours, theirs, (size_t)n) == 0;
}

void mst_listen_read_pools(struct mst_listen *l, const struct mst_copy *fpm,
                           struct mst_drops *drops)
{
    size_t i = 0;

    know_nothing(l);
    while (i < fpm->label_count && fpm->labels[i].listen == 0)
        i++;
    if (i < fpm->label_count && same_network(fpm->header.pid) != 0)
        read_listen(&(struct reading){ .listen = l, .fpm = fpm, .drops = drops,
                                       .with_connections = true }, true);
}

void mst_listen_read_process(struct mst_listen *l, uint64_t pid, bool with_unix,
                             struct mst_drops *drops)
{
    struct mst_sockets sockets = { 0 };

    know_nothing(l);
    if (same_network(pid) == 1 && mst_sockets_read(&sockets, pid))
        read_listen(&(struct reading){ .listen = l, .sockets = &sockets, .drops = drops,
                                       .with_connections = with_unix }, with_unix);
    mst_sockets_free(&sockets);
}

void mst_listen_free(struct mst_listen *l)
{
    free(l->listeners);
    free(l->addresses);
    know_nothing(l);
}

void mst_listen_tell(const struct mst_listen *l, struct mst_world *world)
{
    world->listeners_known = l->known;
    world->listener_count = l->count;
    world->listeners = l->listeners;
    world->drops_known = true;
    world->listen_overflows = l->overflows;
    world->listen_drops = l->drops;
}
