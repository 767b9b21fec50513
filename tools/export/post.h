/* post.h - sends requests of OTLP to a collector over HTTP, and tells what it answers. */
#ifndef MPMSTAT_EXPORT_POST_H
#define MPMSTAT_EXPORT_POST_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "base/error.h"
#include "export/export.h"

#define MST_POST_TRIES 5u        /* of one request; in between 1, 2, 4 and 8 seconds, or what the
                                  * collector says, MST_POST_PAUSE_S at most */
#define MST_POST_PAUSE_S 30u

enum mst_post_signal { MST_POST_TRACES, MST_POST_METRICS, MST_POST_SIGNALS };
extern const char *const mst_post_signal_names[MST_POST_SIGNALS];

/* The collector, and what it is asked with. All of it is borrowed until open returns. */
struct mst_post_settings {
    const char  *url;            /* http://HOST:4318; the signal's path is added */
    const char  *ca_file;        /* the authorities to trust; NULL: $SSL_CERT_FILE's, or the
                                  * system's */
    const char  *header_file;    /* "NAME: VALUE" in each line; NULL: none */
    const char **headers;        /* besides these and those of OTEL_EXPORTER_OTLP_HEADERS */
    size_t       header_count;
};

/* Belongs to one thread at a time. */
struct mst_post;

/* NULL with a sentence. */
struct mst_post *mst_post_open(const struct mst_post_settings *settings,
                               char error[MST_ERROR_MAX]);
void mst_post_close(struct mst_post *post);

/* A try ends soon after `stops` returns true. Without it, ^C ends it (console/stop.h). */
void mst_post_set_stop(struct mst_post *post, bool (*stops)(void *context), void *context);

/* Sends one request of traces. What a collector that is busy (429, 502, 503, 504) refuses is sent
 * again. 0, or -1 with a sentence. It is a mst_export_send. */
mst_export_send mst_post_send;

/* What became of a try: the collector has it; it is busy, or does not answer, so that a later try
 * can do better; it does not want it. */
enum mst_post_result { MST_POST_TAKEN, MST_POST_LATER, MST_POST_REFUSED };

/* Sends one request once. A sentence where the collector has not taken it. */
enum mst_post_result mst_post_try(struct mst_post *post, enum mst_post_signal signal,
                                  const char *json, size_t length, char error[MST_ERROR_MAX]);

/* How many seconds to wait before the next try, after so many that failed one after the other. */
unsigned mst_post_pause_s(const struct mst_post *post, unsigned tries);

/* How many spans, or points of metrics, the collector has refused so far, though it took the
 * requests, and why: its words about the latest; "" none. */
uint64_t mst_post_refused(const struct mst_post *post, const char **why);

/* Where it sends a signal to. */
const char *mst_post_url(const struct mst_post *post, enum mst_post_signal signal);

#endif
