/* ports.c - local ports in use: see ports.h.
 *
 * sock_diag lists the connections. Ports outside of the range for local ports are servers'. A
 * server that listens within the range is connected to clients with a port each, so its
 * connections are many addresses with one port.
 */
#include "system/ports.h"

#include <arpa/inet.h>
#include <errno.h>
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

#include "system/proc.h"

#define REMOTES_MAX (1u << 17)   /* different addresses; with more, nothing is told */
#define NO_STATES   (1u << TCP_LISTEN | 1u << TCP_SYN_RECV | 1u << TCP_CLOSE)

struct remote {
    uint32_t address[4];
    uint16_t port;               /* in network byte order */
    uint16_t family;             /* 0: free */
    uint32_t ports;
};

/* A hash table; its room is a power of two, and at least a half is free. */
struct remotes {
    struct remote *items;
    size_t         count, room;
    uint16_t       low, high;    /* local ports */
};

static size_t place_of(const struct remotes *r, const struct remote *key)
{
    const unsigned char *bytes = (const unsigned char *)key->address;
    uint64_t hash = UINT64_C(0xcbf29ce484222325) ^ key->port;
    size_t i;

    for (i = 0; i < sizeof key->address; i++)
        hash = (hash ^ bytes[i]) * UINT64_C(0x100000001b3);
    hash ^= hash >> 32;
    for (i = hash & (r->room - 1); r->items[i].family != 0; i = (i + 1) & (r->room - 1))
        if (r->items[i].family == key->family && r->items[i].port == key->port &&
            memcmp(r->items[i].address, key->address, sizeof key->address) == 0)
            break;
    return i;
}

static bool grow(struct remotes *r)
{
    struct remotes larger = *r;
    size_t i;

    larger.room = r->room > 0 ? 2 * r->room : 1024;
    larger.items = larger.room <= REMOTES_MAX ? calloc(larger.room, sizeof *larger.items) : NULL;
    if (larger.items == NULL)
        return false;
    for (i = 0; i < r->room; i++)
        if (r->items[i].family != 0)
            larger.items[place_of(&larger, &r->items[i])] = r->items[i];
    free(r->items);
    *r = larger;
    return true;
}

static bool count_connection(struct remotes *r, const struct inet_diag_msg *m)
{
    uint16_t local = ntohs(m->id.idiag_sport);
    struct remote key = { .port = m->id.idiag_dport, .family = m->idiag_family };
    size_t i;

    if (local < r->low || local > r->high || key.family == 0)
        return true;
    memcpy(key.address, m->id.idiag_dst, key.family == AF_INET ? 4 : sizeof key.address);
    if (2 * r->count >= r->room && !grow(r))
        return false;
    i = place_of(r, &key);
    if (r->items[i].family == 0) {
        r->items[i] = key;
        r->count++;
    }
    r->items[i].ports++;
    return true;
}

static bool request_connections(int netlink, uint8_t family)
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
    message.request.idiag_states = UINT32_MAX & ~NO_STATES;
    return send(netlink, &message, sizeof message, 0) == (ssize_t)sizeof message;
}

/* Takes the messages of one datagram. Returns 1 where more follow, 0 at the end, -1 where the
 * kernel refused. */
static int take_messages(struct remotes *r, const char *bytes, size_t length)
{
    struct inet_diag_msg socket;
    struct nlmsghdr header;
    size_t at;

    for (at = 0; at + sizeof header <= length; at += NLMSG_ALIGN(header.nlmsg_len)) {
        memcpy(&header, bytes + at, sizeof header);
        if (header.nlmsg_type == NLMSG_DONE)
            return 0;
        if (header.nlmsg_type == NLMSG_ERROR || header.nlmsg_len > length - at ||
            header.nlmsg_len < NLMSG_LENGTH(sizeof socket))
            return -1;
        memcpy(&socket, bytes + at + NLMSG_HDRLEN, sizeof socket);
        if (!count_connection(r, &socket))
            return -1;
    }
    return 1;
}

static bool read_family(struct remotes *r, int netlink, uint8_t family)
{
    char buffer[32768];
    ssize_t n;
    int more;

    if (!request_connections(netlink, family))
        return false;
    do {
        do
            n = recv(netlink, buffer, sizeof buffer, 0);
        while (n < 0 && errno == EINTR);
        more = n > 0 ? take_messages(r, buffer, (size_t)n) : -1;
    } while (more > 0);
    return more == 0;
}

static bool read_range(struct remotes *r)
{
    char text[64];

    return mst_proc_read("/proc/sys/net/ipv4/ip_local_port_range", text, sizeof text) > 0 &&
           sscanf(text, "%" SCNu16 " %" SCNu16, &r->low, &r->high) == 2 && r->low <= r->high;
}

static bool read_connections(struct remotes *r)
{
    const struct timeval patience = { .tv_sec = 1, .tv_usec = 0 };
    int netlink = socket(AF_NETLINK, SOCK_DGRAM | SOCK_CLOEXEC, NETLINK_SOCK_DIAG);
    bool known;

    if (netlink < 0)
        return false;
    known = setsockopt(netlink, SOL_SOCKET, SO_RCVTIMEO, &patience, sizeof patience) == 0 &&
            read_family(r, netlink, AF_INET) && read_family(r, netlink, AF_INET6);
    close(netlink);
    return known;
}

/* Puts an address into the list if it is one of those with the most ports. */
static void keep_if_high(struct mst_ports *ports, const struct remote *remote)
{
    char ip[INET6_ADDRSTRLEN];
    size_t i = ports->count < MST_PORTS_REMOTES ? ports->count : MST_PORTS_REMOTES - 1;

    if (i < ports->count && ports->remotes[i].ports >= remote->ports)
        return;
    for (; i > 0 && ports->remotes[i - 1].ports < remote->ports; i--)
        ports->remotes[i] = ports->remotes[i - 1];
    if (inet_ntop(remote->family, remote->address, ip, sizeof ip) == NULL)
        strcpy(ip, "?");
    snprintf(ports->remotes[i].address, sizeof ports->remotes[i].address,
             remote->family == AF_INET6 ? "[%s]:%u" : "%s:%u", ip, (unsigned)ntohs(remote->port));
    ports->remotes[i].ports = remote->ports;
    ports->count += ports->count < MST_PORTS_REMOTES;
}

bool mst_ports_read(struct mst_ports *ports)
{
    struct remotes all = { 0 };
    bool known = read_range(&all) && read_connections(&all);
    size_t i;

    *ports = (struct mst_ports){ .limit = (uint64_t)all.high - all.low + 1 };
    for (i = 0; known && i < all.room; i++)
        if (all.items[i].family != 0)
            keep_if_high(ports, &all.items[i]);
    free(all.items);
    return known;
}
