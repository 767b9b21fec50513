/* note.c - see note.h. */
#include "model/note.h"

#include <math.h>
#include <stdio.h>
#include <string.h>

#include "base/clock.h"
#include "segment/format.h"

/* MST_UNKNOWN also: it is no number that an archive has. */
static uint64_t whole(double value)
{
    return value >= 0 && value < (double)MST_LEDGER_VALUE_MOST ? (uint64_t)llround(value)
                                                               : MST_UNKNOWN;
}

void mst_model_note(struct mst_ledger_entry *e, const struct mst_prediction *p,
                    const struct mst_system *changed, const struct mst_forecast *then)
{
    static const struct { enum mst_measure measure; double scale; } kept[MST_LEDGER_MEASURES] = {
        [MST_LEDGER_RATE] = { MST_MEASURE_RATE, 1000 },
        [MST_LEDGER_P50] = { MST_MEASURE_P50, (double)MST_NS_PER_S },
        [MST_LEDGER_P95] = { MST_MEASURE_P95, (double)MST_NS_PER_S },
    };
    bool closed = changed->load.arrivals == MST_ARRIVALS_CLOSED;
    size_t i;

    *e = (struct mst_ledger_entry){
        .clients = closed ? changed->load.clients : MST_UNKNOWN,
        .load_milli = closed ? MST_UNKNOWN : whole(changed->load.rate * 1000),
        .by_client = p->run->view->by_client,
    };
    for (i = 0; i < MST_LEDGER_MEASURES; i++) {
        const struct mst_model_estimate x = mst_model_estimate_of(p, then, kept[i].measure);
        struct mst_ledger_value *v = &e->values[i];

        *v = (struct mst_ledger_value){ whole(x.value * kept[i].scale),
                                        whole(x.low * kept[i].scale),
                                        whole(x.high * kept[i].scale) };
        if (v->low == MST_UNKNOWN || v->high == MST_UNKNOWN || (i == MST_LEDGER_RATE && !closed))
            v->predicted = MST_UNKNOWN;
    }
}

static bool same_connections(const struct mst_model_load *a, const struct mst_model_load *b)
{
    return a->requests_a_connection == b->requests_a_connection &&
           a->keepalive_timeout == b->keepalive_timeout;
}

bool mst_model_note_settings(struct mst_ledger_entry *e, const struct mst_model_run *r,
                             const struct mst_system *changed)
{
    const struct mst_system *s = &r->system;
    char value[24];
    size_t i;

    for (i = 0; i < r->workers_count; i++) {
        const struct mst_model_workers *w = &r->workers[i];

        if (changed->gates[w->gate].limit == s->gates[w->gate].limit)
            continue;
        snprintf(value, sizeof value, "%u", changed->gates[w->gate].limit);
        if (!mst_ledger_add_setting(e, w->settings, w->directive, value))
            return false;
    }
    return memcmp(s->cpus, changed->cpus, s->cpus_count * sizeof *s->cpus) == 0 &&
           memcmp(s->ends, changed->ends, s->end_count * sizeof *s->ends) == 0 &&
           same_connections(&s->load, &changed->load);
}
