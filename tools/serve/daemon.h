/* daemon.h - HTTP by libmicrohttpd: connections come in, answers of pages.c go out. */
#ifndef MPMSTAT_SERVE_DAEMON_H
#define MPMSTAT_SERVE_DAEMON_H

#include <sys/socket.h>

#include "serve/secrets.h"

struct mst_daemon;
struct mst_telemetry;

/* What answers are made of; borrowed. */
struct mst_daemon_sources {
    char *const          *targets;
    size_t                target_count;
    struct mst_telemetry *telemetry;    /* NULL: there is none */
};

/* Starts it with secrets, which it owns from then on. NULL with a sentence, and the secrets are
 * freed. */
struct mst_daemon *mst_daemon_start(struct mst_secrets *secrets,
                                    const struct mst_daemon_sources *sources,
                                    char error[MST_ERROR_MAX]);

/* Serves a connection, and closes it in any case. */
void mst_daemon_take(struct mst_daemon *daemon, int fd, const struct sockaddr *from,
                     socklen_t from_bytes);

/* Ends its connections, with the answers that are being sent as far as they get in a few
 * seconds. */
void mst_daemon_stop(struct mst_daemon *daemon);

#endif
