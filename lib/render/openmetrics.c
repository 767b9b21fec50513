/* openmetrics.c - boards as metrics in text: OpenMetrics 1.0, and Prometheus's older format 0.0.4.
 */
#include <string.h>

#include "render/metrics.h"

struct text {
    struct mst_sink *out;
    bool             classic;   /* the format 0.0.4 */
    unsigned         bounds;    /* of histograms, an octave */
};

/* ---- a family's head -------------------------------------------------------------- */

/* The family's name in # lines. In OpenMetrics it lacks the suffix of the samples. */
static void put_family(const struct text *t, const struct mst_field *f)
{
    size_t length = strlen(f->openmetrics);

    if (mst_metric_kind(f) == MST_METRIC_INFO && !t->classic)
        length -= strlen("_info");
    mst_sink_bytes(t->out, f->openmetrics, length);
    if (t->classic)
        mst_sink_puts(t->out, mst_field_suffix(f));
}

static void begin_meta(const struct text *t, const struct mst_field *f, const char *what)
{
    mst_sink_puts(t->out, "# ");
    mst_sink_puts(t->out, what);
    mst_sink_char(t->out, ' ');
    put_family(t, f);
    mst_sink_char(t->out, ' ');
}

static void put_type(const struct text *t, const struct mst_field *f)
{
    static const char *const types[] = {
        [MST_METRIC_COUNTER] = "counter", [MST_METRIC_GAUGE] = "gauge",
        [MST_METRIC_HISTOGRAM] = "histogram", [MST_METRIC_INFO] = "info",
    };
    enum mst_metric_kind kind = mst_metric_kind(f);

    begin_meta(t, f, "TYPE");
    mst_sink_puts(t->out, types[kind == MST_METRIC_INFO && t->classic ? MST_METRIC_GAUGE : kind]);
    mst_sink_char(t->out, '\n');
}

/* OpenMetrics requires that the family's name ends with its unit. */
static void put_unit(const struct text *t, const struct mst_field *f)
{
    const char *suffix = strrchr(f->openmetrics, '_');

    if (t->classic || suffix == NULL
        || (strcmp(suffix, "_seconds") != 0 && strcmp(suffix, "_bytes") != 0))
        return;
    begin_meta(t, f, "UNIT");
    mst_sink_puts(t->out, suffix + 1);
    mst_sink_char(t->out, '\n');
}

static void put_classic_help(struct mst_sink *sink, const char *text)
{
    mst_sink_help(sink, text, false);
}

static void put_help(struct mst_sink *sink, const char *text)
{
    mst_sink_help(sink, text, true);
}

static void begin_family(void *out, const struct mst_field *f)
{
    const struct text *t = out;

    put_type(t, f);
    put_unit(t, f);
    begin_meta(t, f, "HELP");
    mst_metrics_help(t->out, f, t->classic ? put_classic_help : put_help);
    mst_sink_char(t->out, '\n');
}

static void end_family(void *out)
{
    (void)out;
}

/* ---- samples ------------------------------------------------------------------------- */

/* `family_suffix{board="..",producer="..",...`, open for further labels. */
static void begin_sample(const struct text *t, const struct mst_field *f, const char *suffix,
                         const struct mst_metric_sample *s)
{
    size_t i;

    mst_sink_puts(t->out, f->openmetrics);
    mst_sink_puts(t->out, suffix);
    for (i = 0; i < s->label_count; i++) {
        mst_sink_char(t->out, i == 0 ? '{' : ',');
        mst_sink_puts(t->out, s->labels[i].name);
        mst_sink_char(t->out, '=');
        mst_sink_label_value(t->out, s->labels[i].value);
    }
}

static void end_sample(const struct text *t, const struct mst_field *f, uint64_t word)
{
    mst_sink_puts(t->out, "} ");
    if (f->unit == MST_UNIT_TIME || f->unit == MST_UNIT_INSTANT)
        mst_sink_seconds(t->out, word);
    else if (f->type == MST_TYPE_I64)
        mst_sink_i64(t->out, (int64_t)word);
    else
        mst_sink_u64(t->out, word);
    mst_sink_char(t->out, '\n');
}

static void end_count(const struct text *t, uint64_t count)
{
    mst_sink_puts(t->out, "} ");
    mst_sink_u64(t->out, count);
    mst_sink_char(t->out, '\n');
}

/* The count of a bucket, with a request that is an example of its times: those of the tallies'
 * buckets from `from` up to, not including, `end`. The older format has no exemplars. */
static void end_bucket(const struct text *t, const struct mst_metric_sample *s, uint64_t count,
                       unsigned from, unsigned end)
{
    const struct mst_exemplar *e = t->classic ? NULL : mst_sample_exemplar(s, from, end);

    mst_sink_puts(t->out, "} ");
    mst_sink_u64(t->out, count);
    if (e != NULL) {
        mst_sink_puts(t->out, " # {request_id=\"");
        mst_sink_u64(t->out, e->id);
        mst_sink_puts(t->out, "\"} ");
        mst_sink_seconds(t->out, e->phase_ns[s->phase]);
        mst_sink_char(t->out, ' ');
        mst_sink_seconds(t->out, e->end_ns);
    }
    mst_sink_char(t->out, '\n');
}

static void put_histogram(const struct text *t, const struct mst_field *f,
                          const struct mst_metric_sample *s)
{
    uint64_t all = mst_histogram_count(s->histogram);
    struct mst_bound b = { 0 };
    unsigned from = 0;

    for (; s->bounded && mst_bound_next(&b, s->histogram, t->bounds); from = b.bucket) {
        begin_sample(t, f, "_bucket", s);
        mst_sink_puts(t->out, ",le=\"");
        mst_sink_seconds(t->out, b.ns);
        mst_sink_char(t->out, '"');
        end_bucket(t, s, b.below, from, b.bucket);
    }
    begin_sample(t, f, "_bucket", s);
    mst_sink_puts(t->out, ",le=\"+Inf\"");
    end_bucket(t, s, all, from, MST_HIST_BUCKETS);
    begin_sample(t, f, "_count", s);
    end_count(t, all);
    begin_sample(t, f, "_sum", s);
    end_sample(t, f, s->histogram->sum_ns);
}

static void put_sample(void *out, const struct mst_field *f, const struct mst_metric_sample *s)
{
    const struct text *t = out;

    switch (mst_metric_kind(f)) {
    case MST_METRIC_COUNTER:
    case MST_METRIC_GAUGE:
        begin_sample(t, f, mst_field_suffix(f), s);
        end_sample(t, f, s->word);
        break;
    case MST_METRIC_HISTOGRAM:
        put_histogram(t, f, s);
        break;
    case MST_METRIC_INFO:
        begin_sample(t, f, "", s);
        end_count(t, s->word);
        break;
    }
}

/* ---- all ------------------------------------------------------------------------------- */

static const struct mst_metrics_form form = { begin_family, put_sample, end_family };

void mst_render_openmetrics(struct mst_sink *sink, const struct mst_shown *shown)
{
    struct text t = { .out = sink, .bounds = mst_bounds_wanted(shown) };

    mst_metrics_walk(shown, &form, &t);
    mst_sink_puts(sink, "# EOF\n");
}

void mst_render_prometheus(struct mst_sink *sink, const struct mst_shown *shown)
{
    struct text t = { .out = sink, .classic = true, .bounds = mst_bounds_wanted(shown) };

    mst_metrics_walk(shown, &form, &t);
}
