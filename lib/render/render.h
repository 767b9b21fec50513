/* render.h - snapshots as text, JSON, metrics and a page. For the module's handler and the tool.
 *
 * A renderer takes snapshots and never looks at a board. (The journal is records, no snapshot:
 * render/journal.h.)
 */
#ifndef MPMSTAT_RENDER_H
#define MPMSTAT_RENDER_H

#include "read/snapshot.h"
#include "render/sink.h"

/* X(SUFFIX, "name", "content type"). */
#define MST_FORMATS(X) \
    X(TEXT,        "text",        "text/plain; charset=utf-8")                                  \
    X(JSON,        "json",        "application/json")                                           \
    X(OPENMETRICS, "openmetrics", "application/openmetrics-text; version=1.0.0; charset=utf-8") \
    X(PROMETHEUS,  "prometheus",  "text/plain; version=0.0.4; charset=utf-8")                   \
    X(HTML,        "html",        "text/html; charset=utf-8")                                   \
    X(PROTOBUF,    "protobuf",    "application/vnd.google.protobuf; "                           \
                                  "proto=io.prometheus.client.MetricFamily; encoding=delimited") \
    X(JOURNAL,     "journal",     "application/x-ndjson")

#define MST_FORMAT_MEMBER(suffix, name, type) MST_FORMAT_##suffix,
enum mst_format { MST_FORMATS(MST_FORMAT_MEMBER) MST_FORMAT_COUNT };
#undef MST_FORMAT_MEMBER

/* The formats before this one are texts and complete in themselves: `mpmstat status` has them. (A
 * page asks the server that it came from for newer snapshots.) */
#define MST_FORMAT_SNAPSHOTS MST_FORMAT_HTML

/* A board that could not be read. */
struct mst_unreadable {
    const char *board;    /* its path */
    const char *reason;   /* a sentence */
};

/* How fine histograms are in metrics. All zeroes: the default. */
struct mst_histograms_wanted {
    unsigned bounds;   /* for each octave from 1 ms to 60 s: 1, 2, 4 or 8; 0: the default, 2 */
    unsigned phases;   /* bits 1 << enum mst_phase of those that have bounds; the others have count
                        * and sum only. 0: all */
};

/* A figure of the program that shows the boards, in metrics only. Those of a family follow each
 * other. */
struct mst_own_metric {
    const char *family;   /* of a counter without _total */
    const char *help;
    bool        is_gauge; /* else it is a counter */
    const char *label, *value;   /* of this figure */
    uint64_t    number;
};

/* What is rendered together; all of it is borrowed. */
struct mst_shown {
    const struct mst_snapshot *const *boards;
    size_t                            count;
    const struct mst_unreadable      *unreadable;   /* metrics leave them out */
    size_t                            unreadable_count;
    struct mst_histograms_wanted      histograms;        /* of metrics */
    const struct mst_own_metric      *own;
    size_t                            own_count;
};

/* Renders boards in a format, which must not be the journal, and flushes the sink. Returns the
 * sink's error: 0 where everything was written. */
int mst_render(struct mst_sink *sink, enum mst_format format, const struct mst_shown *shown);

/* One format each, without the flush. */
void mst_render_text(struct mst_sink *sink, const struct mst_shown *shown);
void mst_render_json(struct mst_sink *sink, const struct mst_shown *shown);
void mst_render_openmetrics(struct mst_sink *sink, const struct mst_shown *shown);
void mst_render_prometheus(struct mst_sink *sink, const struct mst_shown *shown);
void mst_render_protobuf(struct mst_sink *sink, const struct mst_shown *shown);

/* A page that shows the boards, and then newer snapshots from the URL that it came from. */
void mst_render_html(struct mst_sink *sink, const struct mst_shown *shown);

/* The page's Content-Security-Policy: it runs only its own scripts, connects only to its own
 * server, and cannot be in a frame. */
extern const char mst_html_policy[];

#endif
