/* protobuf.c - boards as metrics in Prometheus's protobuf format: messages MetricFamily of
 * io/prometheus/client/metrics.proto, each with its length before it. Prometheus asks for it where
 * native histograms are on: a histogram is then one series with all of the tallies' buckets.
 *
 * A histogram has both kinds of buckets: scrapers that know no native ones use the classic ones.
 */
#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "base/clock.h"
#include "render/message.h"
#include "render/metrics.h"

/* ---- native histograms --------------------------------------------------------------- */

/* BucketSpan: how far it is from the span before, from 0 at first; how many buckets it has. No two
 * of the buckets in use are neighbours, so each is a span. */
static void put_spans(struct mst_message *m, const struct mst_histogram *h)
{
    int64_t next = 0;
    unsigned i;

    for (i = 1; i < MST_HIST_BUCKETS; i++) {
        size_t begin = m->used;

        if (h->buckets[i] == 0)
            continue;
        mst_message_u64(m, 1, mst_message_zigzag(mst_native_index(i) - next));
        mst_message_u64(m, 2, 1);
        mst_message_end(m, 12, begin);
        next = mst_native_index(i) + 1;
    }
}

/* Each bucket's count, as the difference to the one before. */
static void put_deltas(struct mst_message *m, const struct mst_histogram *h)
{
    size_t begin = m->used;
    uint64_t before = 0;
    unsigned i;

    for (i = 1; i < MST_HIST_BUCKETS; i++) {
        if (h->buckets[i] == 0)
            continue;
        mst_message_varint(m, mst_message_zigzag((int64_t)(h->buckets[i] - before)));
        before = h->buckets[i];
    }
    if (m->used > begin)
        mst_message_end(m, 13, begin);
}

static double seconds(uint64_t ns)
{
    return (double)ns / (double)MST_NS_PER_S;
}

/* The zero bucket takes what is below the tallies' first bound. It is there even where it is
 * empty: scrapers see by it that the histogram is a native one. */
static void put_native(struct mst_message *m, const struct mst_histogram *h)
{
    mst_message_u64(m, 5, mst_message_zigzag(MST_NATIVE_SCHEMA));
    mst_message_double(m, 6, seconds(UINT64_C(1) << MST_HIST_MIN_EXP));
    mst_message_u64(m, 7, h->buckets[0]);
    put_spans(m, h);
    put_deltas(m, h);
}

/* ---- families and samples --------------------------------------------------------------- */

struct families {
    struct mst_sink *out;
    unsigned         bounds;    /* of classic histograms, an octave */
    struct mst_message   family;    /* the present one */
    struct mst_sink  text;      /* writes to it: texts with what is not UTF-8 replaced */
};

static void put_text(struct families *m, unsigned field, const char *text)
{
    size_t begin = m->family.used;

    mst_sink_plain_string(&m->text, text);
    mst_sink_flush(&m->text);
    mst_message_end(&m->family, field, begin);
}

static void begin_family(void *out, const struct mst_field *f)
{
    static const unsigned types[] = {
        [MST_METRIC_COUNTER] = 0, [MST_METRIC_GAUGE] = 1, [MST_METRIC_INFO] = 1,
        [MST_METRIC_HISTOGRAM] = 4,
    };
    struct families *m = out;
    size_t begin;

    m->family.used = 0;
    mst_sink_puts(&m->text, f->openmetrics);
    mst_sink_puts(&m->text, mst_field_suffix(f));
    mst_sink_flush(&m->text);
    mst_message_end(&m->family, 1, 0);
    begin = m->family.used;
    mst_metrics_help(&m->text, f, mst_sink_plain_string);
    mst_sink_flush(&m->text);
    mst_message_end(&m->family, 2, begin);
    mst_message_u64(&m->family, 3, types[mst_metric_kind(f)]);
}

static void put_labels(struct families *m, const struct mst_metric_sample *s)
{
    size_t i;

    for (i = 0; i < s->label_count; i++) {
        size_t begin = m->family.used;

        put_text(m, 1, s->labels[i].name);
        put_text(m, 2, s->labels[i].value);
        mst_message_end(&m->family, 1, begin);
    }
}

static double value_of(const struct mst_field *f, uint64_t word)
{
    if (f->unit == MST_UNIT_TIME || f->unit == MST_UNIT_INSTANT)
        return seconds(word);
    return f->type == MST_TYPE_I64 ? (double)(int64_t)word : (double)word;
}

/* A Counter and a Gauge are alike. */
static void put_number(struct mst_message *m, unsigned field, double value)
{
    size_t begin = m->used;

    mst_message_double(m, 1, value);
    mst_message_end(m, field, begin);
}

/* Timestamp: seconds, nanoseconds. */
static void put_instant(struct mst_message *m, unsigned field, uint64_t ns)
{
    size_t begin = m->used;

    mst_message_u64(m, 1, ns / MST_NS_PER_S);
    mst_message_u64(m, 2, ns % MST_NS_PER_S);
    mst_message_end(m, field, begin);
}

static void put_exemplar(struct families *m, unsigned field, const struct mst_exemplar *e,
                         enum mst_phase phase)
{
    size_t begin = m->family.used, label = begin, value;

    put_text(m, 1, "request_id");
    value = m->family.used;
    mst_sink_u64(&m->text, e->id);
    mst_sink_flush(&m->text);
    mst_message_end(&m->family, 2, value);
    mst_message_end(&m->family, 1, label);
    mst_message_double(&m->family, 2, seconds(e->phase_ns[phase]));
    put_instant(&m->family, 3, e->end_ns);
    mst_message_end(&m->family, field, begin);
}

static void put_bounds(struct families *m, const struct mst_metric_sample *s)
{
    const struct mst_exemplar *e;
    struct mst_bound b = { 0 };
    unsigned from = 0;

    for (; mst_bound_next(&b, s->histogram, m->bounds); from = b.bucket) {
        size_t begin = m->family.used;

        mst_message_u64(&m->family, 1, b.below);
        mst_message_double(&m->family, 2, seconds(b.ns));
        e = mst_sample_exemplar(s, from, b.bucket);
        if (e != NULL)
            put_exemplar(m, 3, e, s->phase);
        mst_message_end(&m->family, 3, begin);
    }
}

static void put_histogram(struct families *m, const struct mst_metric_sample *s)
{
    size_t begin = m->family.used;

    mst_message_u64(&m->family, 1, mst_histogram_count(s->histogram));
    mst_message_double(&m->family, 2, seconds(s->histogram->sum_ns));
    if (s->bounded)
        put_bounds(m, s);
    put_native(&m->family, s->histogram);
    mst_message_end(&m->family, 7, begin);
}

static void put_sample(void *out, const struct mst_field *f, const struct mst_metric_sample *s)
{
    struct families *m = out;
    size_t begin = m->family.used;

    put_labels(m, s);
    switch (mst_metric_kind(f)) {
    case MST_METRIC_GAUGE:
    case MST_METRIC_INFO:      put_number(&m->family, 2, value_of(f, s->word)); break;
    case MST_METRIC_COUNTER:   put_number(&m->family, 3, value_of(f, s->word)); break;
    case MST_METRIC_HISTOGRAM: put_histogram(m, s); break;
    }
    mst_message_end(&m->family, 4, begin);
}

static void end_family(void *out)
{
    struct families *m = out;
    unsigned char length[MST_VARINT_MAX];

    if (m->family.out_of_memory) {
        mst_sink_fail(m->out, ENOMEM);
        return;
    }
    mst_sink_bytes(m->out, length, mst_message_make_varint(length, m->family.used));
    mst_sink_bytes(m->out, m->family.bytes, m->family.used);
}

void mst_render_protobuf(struct mst_sink *sink, const struct mst_shown *shown)
{
    static const struct mst_metrics_form form = { begin_family, put_sample, end_family };
    struct families m = { .out = sink, .bounds = mst_bounds_wanted(shown) };

    mst_sink_init(&m.text, mst_message_write, &m.family);
    mst_metrics_walk(shown, &form, &m);
    free(m.family.bytes);
}
