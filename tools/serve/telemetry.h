/* telemetry.h - mpmstat serve --otlp: sends requests as spans, and metrics, to a collector of
 * OpenTelemetry.
 *
 * One thread reads the boards, another one sends. So a collector that is away, or slow, delays
 * neither the reading of journals nor any answer. Spans wait in a queue of bounded size; where it
 * is full, the oldest are dropped and counted. Of metrics only the latest wait: they are
 * cumulative.
 */
#ifndef MPMSTAT_SERVE_TELEMETRY_H
#define MPMSTAT_SERVE_TELEMETRY_H

#include "export/post.h"
#include "render/render.h"

#define MST_TELEMETRY_INTERVAL_NS UINT64_C(15000000000)   /* without --otlp-interval */
#define MST_TELEMETRY_QUEUE_BYTES (32u << 20)             /* of spans that wait */

struct mst_telemetry_options {
    struct mst_post_settings post;          /* url NULL: nothing is sent */
    struct mst_export_choice choice;        /* of requests; `slowest` is not used */
    const char              *service, *host;
    uint64_t                 interval_ns;   /* between two sets of metrics */
};

struct mst_telemetry;

/* Options and targets are borrowed. Signals have to be blocked already. NULL with a sentence. */
struct mst_telemetry *mst_telemetry_start(const struct mst_telemetry_options *options,
                                          char *const *targets, size_t target_count,
                                          char error[MST_ERROR_MAX]);

/* Reads the files of the settings again, for what is sent from now on. 0; -1 with a sentence, and
 * all stays as it was. */
int mst_telemetry_reload(struct mst_telemetry *telemetry, char error[MST_ERROR_MAX]);

/* Sends what there is, for a few seconds at most, and ends. NULL is fine. */
void mst_telemetry_stop(struct mst_telemetry *telemetry);

/* What it did so far, as metrics. Returns how many; of NULL there are none. Any thread may call
 * it. */
#define MST_TELEMETRY_METRICS 12u
size_t mst_telemetry_metrics(struct mst_telemetry *telemetry,
                             struct mst_own_metric metrics[MST_TELEMETRY_METRICS]);

#endif
