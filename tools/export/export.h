/* export.h - requests of a run as spans of OpenTelemetry, in the JSON of OTLP.
 *
 * A request is a server span. The parts of its time (read/split.h) are its children, one after
 * the other: they add up to it exactly. What PHP waited for are children of php_run.
 */
#ifndef MPMSTAT_EXPORT_H
#define MPMSTAT_EXPORT_H

#include <stdbool.h>
#include <stdint.h>

#include "analysis/summary.h"
#include "archive/archive.h"

/* Which requests: all of which one of these is true. */
struct mst_export_choice {
    uint64_t slowest;            /* so many of each server */
    uint64_t slower_than_ns;     /* MST_UNKNOWN: that is not a reason */
    bool     failed;             /* status 5xx */
    bool     sampled;            /* traceparent says so */
    uint64_t last_row;           /* of those, the ones up to this row; 0: all */
};
#define MST_EXPORT_SLOWEST 100u  /* where nothing is chosen: so many, and failed, and sampled */

/* A request of OTLP, whole. */
struct mst_export_batch {
    const char *json;            /* borrowed until the call returns */
    size_t      length;
    uint64_t    requests, spans; /* that are in it */
};

/* Takes one. 0, or -1 with a sentence. */
typedef int mst_export_send(void *context, const struct mst_export_batch *batch,
                            char error[MST_ERROR_MAX]);

struct mst_export {
    struct mst_export_choice choice;
    const char      *service;    /* service.name */
    const char      *host;       /* host.name of servers that are not a URL; NULL: this machine's */
    mst_export_send *send;
    void            *context;
    uint64_t         servers;    /* Apaches that were exported so far */
    uint64_t         requests, spans, traced;   /* sent so far; traced: of a client's trace */
};

/* Exports a run's requests, batch by batch. Counts up what is in *e. 0, or -1 with a sentence. */
int mst_export_run(struct mst_export *e, struct mst_archive *archive, const struct mst_summary *s,
                   char error[MST_ERROR_MAX]);

#endif
