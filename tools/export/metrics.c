/* metrics.c - boards as metrics of OpenTelemetry: see metrics.h. */
#include "export/metrics.h"

#include <string.h>
#include <unistd.h>

#include "export/otlp.h"
#include "render/metrics.h"

#define CUMULATIVE 2u   /* AggregationTemporality */

/* One resource's metrics. */
struct points {
    struct mst_json  json;
    unsigned         bounds;      /* of histograms, an octave */
    uint64_t         started_ns;  /* when its counters were 0; MST_UNKNOWN */
    uint64_t         now_ns;
    bool             has_points;  /* of the present family */
};

/* ---- families ------------------------------------------------------------------------------ */

static void put_escaped(struct mst_sink *sink, const char *text)
{
    for (; *text != '\0'; text++) {
        if (*text == '"' || *text == '\\')
            mst_sink_char(sink, '\\');
        mst_sink_char(sink, *text);
    }
}

/* UCUM's, where the name of the family says it. */
static const char *unit_of(const struct mst_field *f)
{
    const char *suffix = strrchr(f->openmetrics, '_');

    if (suffix != NULL && strcmp(suffix, "_seconds") == 0)
        return "s";
    return suffix != NULL && strcmp(suffix, "_bytes") == 0 ? "By" : NULL;
}

static void begin_family(void *out, const struct mst_field *f)
{
    struct points *p = out;

    (void)f;
    p->has_points = false;
}

/* Before the family's first point: a family without points is left out. */
static void begin_points(struct points *p, const struct mst_field *f)
{
    static const char *const kinds[] = {
        [MST_METRIC_COUNTER] = "sum", [MST_METRIC_GAUGE] = "gauge",
        [MST_METRIC_HISTOGRAM] = "histogram", [MST_METRIC_INFO] = "gauge",
    };
    enum mst_metric_kind kind = mst_metric_kind(f);
    struct mst_json *j = &p->json;

    p->has_points = true;
    mst_json_begin(j, NULL, '{');
    mst_json_string(j, "name", f->openmetrics);
    mst_json_value(j, "description");
    mst_sink_char(j->out, '"');
    mst_metrics_help(j->out, f, put_escaped);
    mst_sink_char(j->out, '"');
    if (unit_of(f) != NULL)
        mst_json_string(j, "unit", unit_of(f));
    mst_json_begin(j, kinds[kind], '{');
    if (kind == MST_METRIC_COUNTER)
        mst_json_bool(j, "isMonotonic", true);
    if (kind == MST_METRIC_COUNTER || kind == MST_METRIC_HISTOGRAM)
        mst_json_count(j, "aggregationTemporality", CUMULATIVE);
    mst_json_begin(j, "dataPoints", '[');
}

static void end_family(void *out)
{
    struct points *p = out;
    size_t i;

    for (i = 0; i < 3 && p->has_points; i++)   /* points, kind, metric */
        mst_json_end(&p->json, "]}}"[i]);
}

/* ---- points -------------------------------------------------------------------------------- */

static void put_number(struct mst_json *j, const struct mst_field *f, uint64_t word)
{
    if (f->unit == MST_UNIT_TIME || f->unit == MST_UNIT_INSTANT) {
        mst_json_seconds(j, "asDouble", word);
    } else if (f->type == MST_TYPE_I64) {
        mst_json_value(j, "asInt");
        mst_sink_char(j->out, '"');
        mst_sink_i64(j->out, (int64_t)word);
        mst_sink_char(j->out, '"');
    } else {
        mst_otlp_integer(j, "asInt", word);
    }
}

static void add_count(struct mst_json *j, uint64_t n)
{
    mst_otlp_integer(j, NULL, n);
}

static void put_histogram(const struct points *p, struct mst_json *j,
                          const struct mst_metric_sample *s)
{
    uint64_t all = mst_histogram_count(s->histogram);
    struct mst_bound b = { 0 };
    uint64_t below = 0;

    mst_otlp_integer(j, "count", all);
    mst_json_seconds(j, "sum", s->histogram->sum_ns);
    mst_json_begin(j, "bucketCounts", '[');
    for (; s->bounded && mst_bound_next(&b, s->histogram, p->bounds); below = b.below)
        add_count(j, b.below - below);
    add_count(j, all - below);
    mst_json_end(j, ']');
    mst_json_begin(j, "explicitBounds", '[');
    for (b = (struct mst_bound){ 0 };
         s->bounded && mst_bound_next(&b, s->histogram, p->bounds);)
        mst_json_seconds(j, NULL, b.ns);
    mst_json_end(j, ']');
}

static void put_sample(void *out, const struct mst_field *f, const struct mst_metric_sample *s)
{
    struct points *p = out;
    struct mst_json *j = &p->json;
    size_t i;

    if (s->histogram == NULL && s->word > INT64_MAX && f->type != MST_TYPE_I64)
        return;
    if (!p->has_points)
        begin_points(p, f);
    mst_json_begin(j, NULL, '{');
    mst_json_begin(j, "attributes", '[');
    for (i = 0; i < s->label_count; i++)
        mst_otlp_text(j, s->labels[i].name, s->labels[i].value);
    mst_json_end(j, ']');
    if (p->started_ns <= p->now_ns && mst_metric_kind(f) != MST_METRIC_GAUGE)
        mst_otlp_integer(j, "startTimeUnixNano", p->started_ns);
    mst_otlp_integer(j, "timeUnixNano", p->now_ns);
    if (s->histogram != NULL)
        put_histogram(p, j, s);
    else
        put_number(j, f, s->word);
    mst_json_end(j, '}');
}

/* ---- resources ----------------------------------------------------------------------------- */

static const struct mst_metrics_form form = { begin_family, put_sample, end_family };

static void begin_resource(struct mst_json *j, const struct mst_otlp_resource *resource)
{
    mst_json_begin(j, NULL, '{');
    mst_otlp_resource(j, resource);
    mst_json_begin(j, "scopeMetrics", '[');
    mst_json_begin(j, NULL, '{');
    mst_otlp_scope(j);
    mst_json_begin(j, "metrics", '[');
}

static void end_resource(struct mst_json *j)
{
    size_t i;

    for (i = 0; i < 4; i++)   /* metrics, scope, scopes, resource */
        mst_json_end(j, "]}]}"[i]);
}

static void put_board(struct points *p, const struct mst_export_metrics *m, const char *host,
                      size_t which)
{
    const struct mst_snapshot *board = m->shown->boards[which];
    bool is_apache = board->producer != NULL && strcmp(board->producer, "apache") == 0;

    p->started_ns = board->started_ns;
    begin_resource(&p->json, &(struct mst_otlp_resource){
        .service = is_apache ? m->service : "php", .host = host,
        .target = board->path != NULL ? board->path : "", .pid = board->pid,
        .is_apache = is_apache, .server = board->server, .mpm = board->mpm,
    });
    mst_metrics_walk_board(m->shown, which, &form, p);
    end_resource(&p->json);
}

static void put_own(struct points *p, const struct mst_export_metrics *m, const char *host)
{
    p->started_ns = MST_UNKNOWN;
    begin_resource(&p->json, &(struct mst_otlp_resource){
        .service = "mpmstat", .host = host, .target = "mpmstat serve", .pid = (uint64_t)getpid(),
    });
    mst_metrics_walk_own(m->shown, &form, p);
    end_resource(&p->json);
}

int mst_export_metrics(struct mst_sink *sink, const struct mst_export_metrics *m)
{
    struct points p = { .json = { .out = sink }, .bounds = mst_bounds_wanted(m->shown),
                        .now_ns = m->now_ns };
    char host[256];
    size_t i;

    mst_otlp_host(host, sizeof host, "", m->host);
    mst_json_begin(&p.json, NULL, '{');
    mst_json_begin(&p.json, "resourceMetrics", '[');
    for (i = 0; i < m->shown->count; i++)
        put_board(&p, m, host, i);
    if (m->shown->own_count > 0)
        put_own(&p, m, host);
    mst_json_end(&p.json, ']');
    mst_json_end(&p.json, '}');
    return mst_sink_flush(sink);
}
