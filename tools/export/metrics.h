/* metrics.h - boards as metrics of OpenTelemetry, in the JSON of OTLP. */
#ifndef MPMSTAT_EXPORT_METRICS_H
#define MPMSTAT_EXPORT_METRICS_H

#include <stdint.h>

#include "render/render.h"

struct mst_export_metrics {
    const struct mst_shown *shown;     /* the boards, and figures of the program's own */
    const char             *service;   /* service.name of Apaches */
    const char             *host;      /* host.name; NULL: this machine's */
    uint64_t                now_ns;    /* since 1970: when the snapshots were taken */
};

/* Writes one request of OTLP, which has the families of metrics in other formats: a counter is a
 * cumulative sum, a histogram has the same bounds (backends without exponential histograms are
 * common). Each board is a resource, and the program is one. What is above INT64_MAX is left out.
 * Flushes the sink, and returns its error: 0 where everything was written. */
int mst_export_metrics(struct mst_sink *sink, const struct mst_export_metrics *metrics);

#endif
