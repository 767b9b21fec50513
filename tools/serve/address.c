/* address.c - where mpmstat serve listens: see address.h. */
#include "serve/address.h"

#include <arpa/inet.h>
#include <errno.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <strings.h>
#include <unistd.h>

#define BACKLOG 128   /* connections that wait while the limit is reached */

#define HOST_MAX (INET6_ADDRSTRLEN + 2u)   /* with brackets */

/* ---- text ---------------------------------------------------------------------------------- */

/* 1 to 65535; 0: it is none. */
static uint16_t read_port(const char *text)
{
    unsigned long port = 0;
    size_t i;

    for (i = 0; text[i] >= '0' && text[i] <= '9' && i < 6; i++)
        port = port * 10 + (unsigned long)(text[i] - '0');
    return i > 0 && text[i] == '\0' && port <= 65535 ? (uint16_t)port : 0;
}

/* Divides HOST:PORT; *port is "" where there is none. False: the host is too long. */
static bool split(const char *text, char host[HOST_MAX], const char **port)
{
    const char *bracket = strrchr(text, ']'), *colon = strrchr(bracket ? bracket : text, ':');
    size_t length = colon != NULL ? (size_t)(colon - text) : strlen(text);

    if (length >= HOST_MAX)
        return false;
    memcpy(host, text, length);
    host[length] = '\0';
    *port = colon != NULL ? colon + 1 : "";
    return true;
}

static bool is_loopback_v4(struct in_addr address)
{
    return ntohl(address.s_addr) >> 24 == 127;
}

bool mst_serve_host_is_loopback(const char *text)
{
    char host[HOST_MAX];
    struct in_addr address;
    const char *port;

    if (!split(text, host, &port) || (*port != '\0' && read_port(port) == 0))
        return false;
    return strcasecmp(host, "localhost") == 0 || strcmp(host, "[::1]") == 0
        || (inet_pton(AF_INET, host, &address) == 1 && is_loopback_v4(address));
}

/* ---- addresses ----------------------------------------------------------------------------- */

static bool set_v4(struct mst_serve_address *a, const char *host, uint16_t port)
{
    if (inet_pton(AF_INET, host, &a->socket.v4.sin_addr) != 1)
        return false;
    a->socket.v4.sin_family = AF_INET;
    a->socket.v4.sin_port = htons(port);
    a->length = sizeof a->socket.v4;
    a->is_loopback = is_loopback_v4(a->socket.v4.sin_addr);
    return true;
}

static bool set_v6(struct mst_serve_address *a, const char *host, uint16_t port)
{
    char bare[HOST_MAX];
    size_t length = strlen(host);

    if (length < 2 || host[0] != '[' || host[length - 1] != ']')
        return false;
    snprintf(bare, sizeof bare, "%.*s", (int)(length - 2), host + 1);
    if (inet_pton(AF_INET6, bare, &a->socket.v6.sin6_addr) != 1)
        return false;
    a->socket.v6.sin6_family = AF_INET6;
    a->socket.v6.sin6_port = htons(port);
    a->length = sizeof a->socket.v6;
    a->is_loopback = IN6_IS_ADDR_LOOPBACK(&a->socket.v6.sin6_addr);
    return true;
}

/* Precondition: there is room. False: `host` is not an address. */
static bool add_address(struct mst_serve_addresses *all, const char *host, uint16_t port,
                        bool is_optional)
{
    struct mst_serve_address *a = &all->items[all->count];

    *a = (struct mst_serve_address){ .is_optional = is_optional };
    if (!set_v4(a, host, port) && !set_v6(a, host, port))
        return false;
    snprintf(a->text, sizeof a->text, "%s:%u", host, port);
    all->count++;
    return true;
}

int mst_serve_address_add(struct mst_serve_addresses *all, const char *text,
                          char error[MST_ERROR_MAX])
{
    uint16_t port_alone = read_port(text);
    char host[HOST_MAX];
    const char *port;

    if (all->count + 2 > MST_SERVE_ADDRESSES)
        return mst_fail(error, "expected at most %u addresses to listen at",
                        MST_SERVE_ADDRESSES - 1);
    if (port_alone > 0 && add_address(all, "127.0.0.1", port_alone, false)
        && add_address(all, "[::1]", port_alone, true))
        return 0;
    if (split(text, host, &port) && read_port(port) > 0 &&
        add_address(all, host, read_port(port), false))
        return 0;
    return mst_fail(error, "expected ADDRESS:PORT, [ADDRESS]:PORT or PORT, with an address in "
                    "numbers (127.0.0.1:" MST_SERVE_PORT ", [::1]:" MST_SERVE_PORT "), found "
                    "\"%.100s\"", text);
}

static int fail_to_listen(const struct mst_serve_address *a, char error[MST_ERROR_MAX])
{
    int reason = errno;

    error[0] = '\0';
    if (a->is_optional && (reason == EAFNOSUPPORT || reason == EADDRNOTAVAIL))
        return -1;
    if (reason == EADDRINUSE)
        return mst_fail(error, "another program listens at %s (ss -ltnp shows which); take another "
                        "port: --listen PORT", a->text);
    return mst_fail(error, "cannot listen at %s: %s", a->text, strerror(reason));
}

int mst_serve_address_open(const struct mst_serve_address *a, char error[MST_ERROR_MAX])
{
    const int on = 1;
    int fd = socket(a->socket.any.sa_family, SOCK_STREAM | SOCK_CLOEXEC | SOCK_NONBLOCK, 0);

    if (fd < 0)
        return fail_to_listen(a, error);
    if (setsockopt(fd, SOL_SOCKET, SO_REUSEADDR, &on, sizeof on) != 0
        || (a->socket.any.sa_family == AF_INET6
            && setsockopt(fd, IPPROTO_IPV6, IPV6_V6ONLY, &on, sizeof on) != 0)
        || bind(fd, &a->socket.any, a->length) != 0 || listen(fd, BACKLOG) != 0) {
        fail_to_listen(a, error);
        close(fd);
        return -1;
    }
    return fd;
}
