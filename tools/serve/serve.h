/* serve.h - mpmstat serve: HTTP from the boards, with nothing of Apache; and OTLP to a
 * collector. */
#ifndef MPMSTAT_SERVE_H
#define MPMSTAT_SERVE_H

#include "serve/address.h"
#include "serve/secrets.h"
#include "serve/telemetry.h"

struct mst_serve_options {
    struct mst_serve_addresses addresses;
    struct mst_secret_files    files;
    char *const               *targets;       /* none: this machine's */
    size_t                     target_count;
    struct mst_telemetry_options telemetry;
};

/* Serves until SIGTERM or SIGINT; on SIGHUP it reads the files again. Returns an enum mst_exit,
 * having said the error. */
int mst_serve_run(const struct mst_serve_options *options);

#endif
