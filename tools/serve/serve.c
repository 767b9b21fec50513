/* serve.c - the loop of mpmstat serve: takes connections, and signals. See serve.h. */
#include "serve/serve.h"

#include <errno.h>
#include <malloc.h>
#include <poll.h>
#include <signal.h>
#include <stdio.h>
#include <string.h>
#include <sys/signalfd.h>
#include <unistd.h>

#include "console/diag.h"
#include "serve/clients.h"
#include "serve/daemon.h"

#define LOOK_MS 1000    /* between two looks for clients whose time is over */
#define FULL_MS 10      /* before another try where all places are taken */

struct server {
    const struct mst_serve_options *options;
    struct mst_daemon              *daemon;
    struct mst_telemetry           *telemetry;  /* NULL: nothing is sent */
    bool                            is_short;   /* of descriptors or memory */
    unsigned                        count;
    struct pollfd                   fds[1 + MST_SERVE_ADDRESSES];   /* signals, then listeners */
};

/* ---- start --------------------------------------------------------------------------------- */

static void add_fd(struct server *s, int fd)
{
    s->fds[s->count++] = (struct pollfd){ .fd = fd, .events = POLLIN };
}

/* Threads that begin later have these signals blocked, too. */
static int take_signals(struct server *s)
{
    sigset_t signals;
    int fd = -1;

    sigemptyset(&signals);
    sigaddset(&signals, SIGTERM);
    sigaddset(&signals, SIGINT);
    sigaddset(&signals, SIGHUP);
    if (sigprocmask(SIG_BLOCK, &signals, NULL) == 0)
        fd = signalfd(-1, &signals, SFD_CLOEXEC);
    if (fd < 0)
        return mst_failed(MST_EXIT_OUTPUT, "cannot wait for signals: %s", strerror(errno));
    add_fd(s, fd);
    return MST_EXIT_OK;
}

/* Prints a line for each address. From the first line on, requests are answered. */
static int listen_everywhere(struct server *s)
{
    const char *scheme = s->options->files.certificate != NULL ? "https" : "http";
    char error[MST_ERROR_MAX];
    unsigned i;
    int fd;

    for (i = 0; i < s->options->addresses.count; i++) {
        fd = mst_serve_address_open(&s->options->addresses.items[i], error);
        if (fd >= 0) {
            add_fd(s, fd);
            printf("%s://%s/\n", scheme, s->options->addresses.items[i].text);
        } else if (error[0] != '\0') {
            return mst_failed(MST_EXIT_USAGE, "%s", error);
        }
    }
    return fflush(stdout) == 0 ? MST_EXIT_OK : MST_EXIT_OUTPUT;
}

static struct mst_daemon *start_daemon(const struct server *s)
{
    const struct mst_serve_options *o = s->options;
    struct mst_daemon *daemon = NULL;
    struct mst_secrets secrets;
    char error[MST_ERROR_MAX];

    const struct mst_daemon_sources sources = { o->targets, o->target_count, s->telemetry };

    if (mst_secrets_load(&secrets, &o->files, error) == 0)
        daemon = mst_daemon_start(&secrets, &sources, error);
    else
        mst_secrets_free(&secrets);
    if (daemon == NULL)
        mst_error("%s", error);
    return daemon;
}

static int start_telemetry(struct server *s)
{
    const struct mst_serve_options *o = s->options;
    char error[MST_ERROR_MAX];

    if (o->telemetry.post.url == NULL)
        return MST_EXIT_OK;
    s->telemetry = mst_telemetry_start(&o->telemetry, o->targets, o->target_count, error);
    return s->telemetry != NULL ? MST_EXIT_OK : mst_failed(MST_EXIT_USAGE, "%s", error);
}

/* ---- connections --------------------------------------------------------------------------- */

static void take_connection(struct server *s, int listener)
{
    struct sockaddr_storage from;
    socklen_t bytes = sizeof from;
    int fd = accept4(listener, (struct sockaddr *)&from, &bytes, SOCK_CLOEXEC | SOCK_NONBLOCK);

    s->is_short = fd < 0 && (errno == EMFILE || errno == ENFILE || errno == ENOMEM
                             || errno == ENOBUFS);
    if (fd >= 0)
        mst_daemon_take(s->daemon, fd, (struct sockaddr *)&from, bytes);
}

static bool has_room(struct server *s)
{
    bool was_short = s->is_short;

    s->is_short = false;
    return !was_short && mst_clients_make_room();
}

/* Waits for signals, and where there is room, for connections. */
static void wait_for_work(struct server *s)
{
    bool takes = has_room(s);
    unsigned i;

    for (i = 0; i < s->count; i++)
        s->fds[i].revents = 0;
    poll(s->fds, takes ? s->count : 1, !takes ? FULL_MS : mst_clients_count() > 0 ? LOOK_MS : -1);
    for (i = 1; i < s->count; i++)
        if (s->fds[i].revents != 0)
            take_connection(s, s->fds[i].fd);
    mst_clients_end_late();
}

/* ---- signals ------------------------------------------------------------------------------- */

/* Where a new certificate or token is wrong, those of before stay in use. New connections wait
 * until the present ones have ended. */
static void reload(struct server *s)
{
    struct mst_daemon *fresh = start_daemon(s);
    char error[MST_ERROR_MAX];

    if (s->telemetry != NULL && mst_telemetry_reload(s->telemetry, error) != 0)
        mst_error("%s: what is sent to the collector remains as before", error);
    if (fresh == NULL) {
        mst_error("the certificate, the key and the token remain those of before");
        return;
    }
    mst_daemon_stop(s->daemon);
    s->daemon = fresh;
}

/* Returns false at the end. */
static bool obey_signals(struct server *s)
{
    const struct pollfd *signals = &s->fds[0];
    struct signalfd_siginfo info;

    if (signals->revents == 0 || read(signals->fd, &info, sizeof info) != sizeof info)
        return true;
    if (info.ssi_signo != SIGHUP)
        return false;
    reload(s);
    return true;
}

/* ---- together ------------------------------------------------------------------------------ */

static int serve(struct server *s)
{
    int status = take_signals(s);

    if (status == MST_EXIT_OK)
        status = start_telemetry(s);
    if (status == MST_EXIT_OK && (s->daemon = start_daemon(s)) == NULL)
        status = MST_EXIT_USAGE;
    if (status == MST_EXIT_OK)
        status = listen_everywhere(s);
    while (status == MST_EXIT_OK && obey_signals(s))
        wait_for_work(s);
    if (s->daemon != NULL)
        mst_daemon_stop(s->daemon);
    mst_telemetry_stop(s->telemetry);
    return status;
}

int mst_serve_run(const struct mst_serve_options *options)
{
    struct server s = { .options = options };
    int status;

#ifdef __GLIBC__
    mallopt(M_ARENA_MAX, 2);   /* else each of the many threads keeps memory of its own */
#endif
    mst_diag_quiet(true);      /* what is passed over is part of the answers */
    status = serve(&s);
    while (s.count > 0)
        close(s.fds[--s.count].fd);
    return status;
}
