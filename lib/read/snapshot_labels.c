/* snapshot_labels.c - a snapshot's labels: their counters, phases and requests in flight; and its
 * other ends. */
#include "read/snapshot_draft.h"

#include <string.h>

#include "base/saturate.h"

static void fill_phase(struct mst_snapshot_phase *phase)
{
    const struct mst_histogram *h = &phase->times;

    phase->count = mst_histogram_count(h);
    phase->sum_ns = h->sum_ns;
    phase->p50_ns = phase->p90_ns = phase->p99_ns = phase->max_ns = MST_UNKNOWN;
    if (phase->count == 0 || phase->count == MST_UNKNOWN)
        return;
    phase->p50_ns = mst_histogram_quantile(h, 0.50);
    phase->p90_ns = mst_histogram_quantile(h, 0.90);
    phase->p99_ns = mst_histogram_quantile(h, 0.99);
    /* A copy between a writer's count and its maximum must not put p99 above. */
    phase->max_ns = h->max_ns > phase->p99_ns ? h->max_ns : phase->p99_ns;
}

/* Classes that the writer does not know are unknown: it counted no request in them. */
static uint64_t sum_of_classes(const uint64_t status[MST_CLASS_COUNT])
{
    uint64_t sum = 0;
    unsigned i;

    if (status[0] == MST_UNKNOWN)
        return MST_UNKNOWN;
    for (i = 0; i < MST_CLASS_COUNT; i++)
        if (status[i] != MST_UNKNOWN)
            sum = mst_add_saturated(sum, status[i]);
    return sum;
}

/* One worker can count down what another counted up, so a copy can see a negative number of the
 * others for a moment. */
void mst_draft_count_in_flight(struct mst_draft *m)
{
    const struct mst_copy *c = m->copy;
    size_t i, label;

    for (i = 0; i < c->process_count && !m->stopped; i++)
        for (label = 0; label < c->label_count && mst_draft_is_owned(m, &c->processes[i]);
             label++) {
            uint32_t n = c->in_flight[i * c->label_count + label];

            m->in_flight[label] += n <= INT32_MAX ? n : 0;
        }
    for (i = 0; i < c->worker_count && !m->stopped; i++)
        if (c->workers[i].request_label < c->label_count && mst_draft_is_working(m, i))
            m->in_flight[c->workers[i].request_label]++;
}

static void fill_label(struct mst_draft *m, struct mst_snapshot_label *to, size_t label)
{
    const struct mst_name *name = &m->copy->labels[label];
    const struct mst_counters *counters = &m->copy->counters[label];
    unsigned i;

    to->label = mst_draft_keep(m, name->name);
    to->in_flight = m->in_flight[label];
    to->workers_limit = name->workers_limit != 0 ? name->workers_limit : MST_UNKNOWN;
    to->limit_reached = name->workers_limit != 0 ? name->limit_reached : MST_UNKNOWN;
    mst_draft_fill_stored(MST_SCOPE_LABEL, to, counters, 0, 1);
    to->requests = sum_of_classes(to->status);
    for (i = 0; i < MST_PHASE_COUNT; i++) {
        int place = mst_phase_index(m->copy->header.producer, (enum mst_phase)i);

        memset(&to->phases[i], 0xff, sizeof to->phases[i]);   /* MST_UNKNOWN */
        if (place < 0)
            continue;
        mst_draft_fill_stored(MST_SCOPE_PHASE, &to->phases[i], counters, (size_t)place,
                              MST_COUNTED_PHASES);
        fill_phase(&to->phases[i]);
    }
    mst_draft_blank_foreign(m, MST_SCOPE_LABEL, to);
}

/* Whether the label is shown. PHP has no status page, though its board has that label. */
static bool is_label(const struct mst_copy *c, size_t label)
{
    return c->labels[label].used
           && (label != MST_LABEL_STATUS || c->header.producer != MST_PRODUCER_PHP);
}

void mst_draft_fill_labels(struct mst_draft *m, const char **names)
{
    size_t i;

    for (i = 0; i < m->copy->label_count; i++) {
        struct mst_snapshot_label *to = &m->s->labels[m->s->label_count];

        if (!is_label(m->copy, i))
            continue;
        fill_label(m, to, i);
        names[i] = to->label;
        m->s->label_count++;
    }
}

void mst_draft_fill_ends(struct mst_draft *m)
{
    size_t i;

    for (i = 0; i < m->copy->end_count; i++) {
        const struct mst_name *name = &m->copy->ends[i];
        struct mst_snapshot_end *to = &m->s->ends[m->s->end_count];
        uint32_t kind = MST_END_KIND_OF(name->owner);

        if (!name->used || m->copy->end_counters[i].calls == 0)
            continue;
        to->name = mst_draft_keep(m, name->name);
        to->end_kind = kind < MST_END_KIND_COUNT ? mst_other_end_kind_names[kind] : NULL;
        mst_draft_fill_stored(MST_SCOPE_END, to, &m->copy->end_counters[i], 0, 1);
        mst_draft_blank_foreign(m, MST_SCOPE_END, to);
        m->s->end_count++;
    }
}
