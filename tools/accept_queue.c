/* accept_queue.c - asks the kernel (sock_diag) for accept queues: see accept_queue.h.
 *
 * Of a socket that listens, sock_diag says how many connections wait to be
 * accepted (idiag_rqueue) and how many may (idiag_wqueue), as `ss -ltn` shows.
 */
#include "accept_queue.h"

#include <arpa/inet.h>
#include <dirent.h>
#include <inttypes.h>
#include <linux/inet_diag.h>
#include <linux/netlink.h>
#include <linux/sock_diag.h>
#include <netinet/in.h>
#include <netinet/tcp.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/socket.h>
#include <sys/time.h>
#include <unistd.h>

#define ADDRESS_MAX   64u     /* "[" INET6_ADDRSTRLEN "]:65535" */
#define LISTENERS_MAX 1024u
#define SOCKETS_MAX   65536u  /* an Apache's parent has a dozen */

/* The inodes of a process's sockets. */
struct sockets {
    size_t    count, room;
    uint32_t *inodes;
};

/* ---- whose sockets ------------------------------------------------------------- */

static bool same_network(uint64_t pid)
{
    char path[64], ours[64], theirs[64];
    ssize_t n, m;

    snprintf(path, sizeof path, "/proc/%" PRIu64 "/ns/net", pid);
    n = readlink("/proc/self/ns/net", ours, sizeof ours);
    m = readlink(path, theirs, sizeof theirs);
    return n > 0 && n == m && memcmp(ours, theirs, (size_t)n) == 0;
}

static bool add_socket(struct sockets *s, uint32_t inode)
{
    uint32_t *inodes;
    size_t room;

    if (s->count == s->room) {
        room = s->room == 0 ? 64 : s->room * 2;
        inodes = room > SOCKETS_MAX ? NULL : realloc(s->inodes, room * sizeof *inodes);
        if (inodes == NULL)
            return false;
        s->inodes = inodes;
        s->room = room;
    }
    s->inodes[s->count++] = inode;
    return true;
}

static bool read_sockets(struct sockets *s, uint64_t pid)
{
    char path[64], link[64];
    struct dirent *entry;
    bool complete = true;
    uint32_t inode;
    ssize_t n;
    DIR *dir;

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

static bool has_socket(const struct sockets *s, uint32_t inode)
{
    size_t i;

    for (i = 0; i < s->count; i++)
        if (s->inodes[i] == inode)
            return true;
    return false;
}

/* ---- what the kernel says ---------------------------------------------------------- */

static void print_address(char out[ADDRESS_MAX], const struct inet_diag_msg *m)
{
    char ip[INET6_ADDRSTRLEN];

    if (inet_ntop(m->idiag_family, m->id.idiag_src, ip, sizeof ip) == NULL)
        strcpy(ip, "?");
    snprintf(out, ADDRESS_MAX, m->idiag_family == AF_INET6 ? "[%s]:%u" : "%s:%u", ip,
             (unsigned)ntohs(m->id.idiag_sport));
}

/* Sockets of one address (SO_REUSEPORT: a queue each) are shown as one. */
static void add_listener(struct mst_accept_queues *q, const struct inet_diag_msg *m)
{
    char (*addresses)[ADDRESS_MAX] = q->addresses;
    char address[ADDRESS_MAX];
    size_t i;

    print_address(address, m);
    for (i = 0; i < q->count && strcmp(addresses[i], address) != 0; i++)
        ;
    if (i == LISTENERS_MAX)
        return;
    if (i == q->count) {
        memcpy(addresses[i], address, sizeof address);
        q->listeners[i].address = addresses[i];
        q->listeners[i].queue = q->listeners[i].queue_limit = 0;
        q->count++;
    }
    q->listeners[i].queue += m->idiag_rqueue;
    q->listeners[i].queue_limit += m->idiag_wqueue;
}

static bool request_listeners(int netlink, uint8_t family)
{
    struct {
        struct nlmsghdr         header;
        struct inet_diag_req_v2 request;
    } message;

    memset(&message, 0, sizeof message);
    message.header.nlmsg_len = sizeof message;
    message.header.nlmsg_type = SOCK_DIAG_BY_FAMILY;
    message.header.nlmsg_flags = NLM_F_REQUEST | NLM_F_DUMP;
    message.request.sdiag_family = family;
    message.request.sdiag_protocol = IPPROTO_TCP;
    message.request.idiag_states = 1u << TCP_LISTEN;
    return send(netlink, &message, sizeof message, 0) == (ssize_t)sizeof message;
}

/* Takes the messages of one datagram. 1: more follow, 0: that was all, -1: refused. */
static int take_messages(struct mst_accept_queues *q, const struct sockets *s,
                         const char *bytes, size_t length)
{
    const struct nlmsghdr *header;
    size_t at;

    for (at = 0; at + sizeof *header <= length; at += NLMSG_ALIGN(header->nlmsg_len)) {
        const struct inet_diag_msg *m;

        header = (const void *)(bytes + at);
        m = NLMSG_DATA(header);
        if (header->nlmsg_type == NLMSG_DONE)
            return 0;
        if (header->nlmsg_type == NLMSG_ERROR || header->nlmsg_len > length - at ||
            header->nlmsg_len < NLMSG_LENGTH(sizeof *m))
            return -1;
        if (has_socket(s, m->idiag_inode))
            add_listener(q, m);
    }
    return 1;
}

static bool read_family(struct mst_accept_queues *q, const struct sockets *s, int netlink,
                        uint8_t family)
{
    union { struct nlmsghdr header; char bytes[32768]; } buffer;
    ssize_t n;
    int more;

    if (!request_listeners(netlink, family))
        return false;
    do {
        n = recv(netlink, &buffer, sizeof buffer, 0);
        if (n <= 0)
            return false;
        more = take_messages(q, s, buffer.bytes, (size_t)n);
    } while (more > 0);
    return more == 0;
}

static int by_address(const void *left, const void *right)
{
    const struct mst_snapshot_listener *a = left, *b = right;

    return strcmp(a->address, b->address);
}

/* ---- together -------------------------------------------------------------------------- */

static bool read_queues(struct mst_accept_queues *q, const struct sockets *s)
{
    const struct timeval patience = { .tv_sec = 1, .tv_usec = 0 };
    int netlink = socket(AF_NETLINK, SOCK_DGRAM | SOCK_CLOEXEC, NETLINK_SOCK_DIAG);
    bool known;

    if (netlink < 0)
        return false;
    q->listeners = calloc(LISTENERS_MAX, sizeof *q->listeners);
    q->addresses = calloc(LISTENERS_MAX, ADDRESS_MAX);
    known = q->listeners != NULL && q->addresses != NULL &&
            setsockopt(netlink, SOL_SOCKET, SO_RCVTIMEO, &patience, sizeof patience) == 0 &&
            read_family(q, s, netlink, AF_INET) && read_family(q, s, netlink, AF_INET6);
    close(netlink);
    return known;
}

void mst_accept_queues_read(struct mst_accept_queues *q, uint64_t pid)
{
    struct sockets sockets = { 0, 0, NULL };

    memset(q, 0, sizeof *q);
    q->known = same_network(pid) && read_sockets(&sockets, pid) && read_queues(q, &sockets);
    free(sockets.inodes);
    if (!q->known)
        q->count = 0;
    else
        qsort(q->listeners, q->count, sizeof *q->listeners, by_address);
}

void mst_accept_queues_free(struct mst_accept_queues *q)
{
    free(q->listeners);
    free(q->addresses);
    memset(q, 0, sizeof *q);
}
