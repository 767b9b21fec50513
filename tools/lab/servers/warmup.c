/* warmup.c - see warmup.h. One thread, non-blocking sockets, epoll. */
#include "lab/servers/warmup.h"

#include <arpa/inet.h>
#include <errno.h>
#include <netinet/in.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/epoll.h>
#include <sys/socket.h>
#include <unistd.h>

#include "base/clock.h"

#define LOOK_NS       MST_NS_PER_S          /* how long the rate is looked at, at least */
#define LOOK_REQUESTS 20u                   /* and over how many requests */
#define ALIKE         10u                   /* per cent between two looks: steady */
#define LAST_NS       (10 * MST_NS_PER_S)   /* for what is in flight in the end */
#define POLL_MS       50
#define EVENTS        256
#define REQUEST_MAX   2048u
#define STATUS_SIZE   12u                   /* "HTTP/1.1 200" */

struct connection {
    int    fd;                       /* -1: none */
    size_t sent, received;
    char   status[STATUS_SIZE];
};

struct warming {
    const struct mst_warmup_options *options;
    struct mst_warmup  *result;
    struct sockaddr_in  address;
    char                request[REQUEST_MAX];
    size_t              length;
    int                 epoll;
    unsigned            open;
    struct connection  *connections;
};

/* ---- the address ------------------------------------------------------------------ */

static int take_url(struct warming *w, const char *url, char error[MST_ERROR_MAX])
{
    char host[64], path[1024] = "/";
    unsigned port = 80;
    int n = sscanf(url, "http://%63[0-9.]:%u%1023s", host, &port, path);

    if (n < 2 || path[0] != '/' || port == 0 || port > 65535 ||
        inet_pton(AF_INET, host, &w->address.sin_addr) != 1)
        return mst_fail(error, "expected http://ADDRESS:PORT/PATH to warm up, found \"%.200s\"",
                        url);
    w->address.sin_family = AF_INET;
    w->address.sin_port = htons((uint16_t)port);
    w->length = (size_t)snprintf(w->request, sizeof w->request, "GET %s HTTP/1.0\r\nHost: %s:%u\r\n"
                                 "User-Agent: mpmstat (warming up)\r\nAccept: */*\r\n\r\n", path,
                                 host, port);
    return 0;
}

/* ---- one request ------------------------------------------------------------------ */

static void end_request(struct warming *w, struct connection *c)
{
    bool good = c->received >= STATUS_SIZE && memcmp(c->status, "HTTP/1.", 7) == 0 &&
                memcmp(c->status + 8, " 200", 4) == 0;

    w->result->requests += good;
    w->result->failed += !good;
    close(c->fd);
    c->fd = -1;
    w->open--;
}

/* Begins one; where that is not possible it has failed. */
static void begin_request(struct warming *w, struct connection *c)
{
    struct epoll_event event = { .events = EPOLLIN | EPOLLOUT | EPOLLET, .data.ptr = c };

    *c = (struct connection){ .fd = socket(AF_INET, SOCK_STREAM | SOCK_NONBLOCK | SOCK_CLOEXEC,
                                           0) };
    if (c->fd < 0) {
        w->result->failed++;
        return;
    }
    w->open++;
    if ((connect(c->fd, (struct sockaddr *)&w->address, sizeof w->address) != 0 &&
         errno != EINPROGRESS) || epoll_ctl(w->epoll, EPOLL_CTL_ADD, c->fd, &event) != 0)
        end_request(w, c);
}

static bool send_rest(const struct warming *w, struct connection *c)
{
    ssize_t n;

    while (c->sent < w->length) {
        n = send(c->fd, w->request + c->sent, w->length - c->sent, MSG_NOSIGNAL);
        if (n < 0)
            return errno == EAGAIN || errno == EINTR || errno == ENOTCONN;
        c->sent += (size_t)n;
    }
    return true;
}

/* Whether there is more to come. */
static bool receive(struct connection *c)
{
    char bytes[65536];
    size_t room;
    ssize_t n;

    for (;;) {
        n = recv(c->fd, bytes, sizeof bytes, 0);
        if (n < 0)
            return errno == EAGAIN || errno == EINTR;
        if (n == 0)
            return false;
        if (c->received < STATUS_SIZE) {
            room = STATUS_SIZE - c->received;
            memcpy(c->status + c->received, bytes, (size_t)n < room ? (size_t)n : room);
        }
        c->received += (size_t)n;
    }
}

static void go_on(struct warming *w, struct connection *c, uint32_t events)
{
    if (c->fd < 0)
        return;
    if ((events & EPOLLERR) != 0 || !send_rest(w, c) ||
        ((events & (EPOLLIN | EPOLLHUP)) != 0 && !receive(c)))
        end_request(w, c);
}

/* ---- all of them ------------------------------------------------------------------ */

static void follow(struct warming *w)
{
    struct epoll_event events[EVENTS];
    int n = epoll_wait(w->epoll, events, EVENTS, POLL_MS), i;

    for (i = 0; i < n; i++)
        go_on(w, events[i].data.ptr, events[i].events);
    if (w->options->tick != NULL)
        w->options->tick(w->options->context);
}

static bool is_stopped(const struct warming *w)
{
    return w->options->stop != NULL && *w->options->stop != 0;
}

static void refill(struct warming *w)
{
    unsigned i;

    for (i = 0; i < w->options->connections; i++)
        if (w->connections[i].fd < 0)
            begin_request(w, &w->connections[i]);
}

static bool are_alike(uint64_t a, uint64_t b)
{
    uint64_t more = a > b ? a : b, less = a > b ? b : a;

    return less > 0 && (more - less) * 100 <= more * ALIKE;
}

/* Loads until two looks agree, or the time is up. */
static void load(struct warming *w)
{
    uint64_t began = mst_now_ns(), look = began, now = began, before = 0, counted = 0, rate = 0;

    while (!w->result->steady && !is_stopped(w) && now - began < w->options->limit_ns) {
        refill(w);
        follow(w);
        now = mst_now_ns();
        if (now - look < LOOK_NS || w->result->requests - counted < LOOK_REQUESTS)
            continue;
        rate = (w->result->requests - counted) * 1000 * MST_NS_PER_S / (now - look);
        w->result->steady = are_alike(rate, before);
        before = rate;
        counted = w->result->requests;
        look = now;
    }
    w->result->rate_milli = rate;
}

static void finish(struct warming *w)
{
    uint64_t until = mst_now_ns() + LAST_NS;
    unsigned i;

    while (w->open > 0 && mst_now_ns() < until && !is_stopped(w))
        follow(w);
    for (i = 0; i < w->options->connections; i++)
        if (w->connections[i].fd >= 0)
            close(w->connections[i].fd);
}

int mst_warm_up(const char *url, const struct mst_warmup_options *given,
                struct mst_warmup *result, char error[MST_ERROR_MAX])
{
    struct mst_warmup_options options = *given;
    struct warming w = { .options = &options, .result = result, .epoll = -1 };
    uint64_t began = mst_now_ns();
    int status = -1;
    unsigned i;

    *result = (struct mst_warmup){ 0 };
    if (options.connections > MST_WARMUP_CONNECTIONS)
        options.connections = MST_WARMUP_CONNECTIONS;
    if (take_url(&w, url, error) != 0)
        return -1;
    w.connections = calloc(options.connections + 1, sizeof *w.connections);
    w.epoll = epoll_create1(EPOLL_CLOEXEC);
    if (w.connections == NULL || w.epoll < 0) {
        mst_fail(error, "cannot warm up: %s", strerror(errno));
        goto done;
    }
    for (i = 0; i < options.connections; i++)
        w.connections[i].fd = -1;
    load(&w);
    finish(&w);
    result->took_ns = mst_now_ns() - began;
    status = 0;
done:
    if (w.epoll >= 0)
        close(w.epoll);
    free(w.connections);
    return status;
}
