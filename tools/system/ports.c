/* ports.c - local ports in use: see ports.h.
 *
 * sock_diag lists the connections. Ports outside of the range for local ports are servers'. A
 * server that listens within the range is connected to clients with a port each, so its
 * connections are many addresses with one port.
 */
#include "system/ports.h"

#include <arpa/inet.h>
#include <inttypes.h>
#include <linux/inet_diag.h>
#include <netinet/in.h>
#include <netinet/tcp.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/socket.h>
#include <unistd.h>

#include "base/fnv.h"
#include "read/sock_diag.h"
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
    uint64_t hash = MST_FNV_BEGIN ^ key->port;
    size_t i;

    for (i = 0; i < sizeof key->address; i++)
        hash = mst_fnv_byte(hash, bytes[i]);
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

static bool take_connection(void *remotes, const char *bytes, size_t length)
{
    struct inet_diag_msg socket;

    if (length < sizeof socket)
        return false;
    memcpy(&socket, bytes, sizeof socket);
    return count_connection(remotes, &socket);
}

static bool read_family(struct remotes *r, int netlink, uint8_t family)
{
    const struct inet_diag_req_v2 request = {
        .sdiag_family = family, .sdiag_protocol = IPPROTO_TCP,
        .idiag_states = UINT32_MAX & ~NO_STATES,
    };

    return mst_sock_diag_read(netlink, &request, sizeof request, take_connection, r);
}

static bool read_range(struct remotes *r)
{
    char text[64];

    return mst_proc_read("/proc/sys/net/ipv4/ip_local_port_range", text, sizeof text) > 0 &&
           sscanf(text, "%" SCNu16 " %" SCNu16, &r->low, &r->high) == 2 && r->low <= r->high;
}

static bool read_connections(struct remotes *r)
{
    int netlink = mst_sock_diag_open();
    bool known;

    if (netlink < 0)
        return false;
    known = read_family(r, netlink, AF_INET) && read_family(r, netlink, AF_INET6);
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
