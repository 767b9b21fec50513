/* enough.c - see enough.h. */
#include "model/enough.h"

#include <math.h>

#include "model/change.h"

/* Means that differ by less are the same: a worker more or less has to change something. */
#define SAME_MEAN 0.03
/* Clients are doubled so often. That many times as much as was measured is not known any more. */
#define DOUBLINGS 6u

/* Each step sets the system's limit. */
struct search {
    const struct mst_prediction *p;
    size_t gate;
    struct mst_system system;
};

static struct search begin(const struct mst_prediction *p, size_t gate, bool all_ready)
{
    struct search s = { p, gate, mst_system_copy(p->run) };

    if (all_ready)
        s.system.gates[gate].growth = (struct mst_growth){ 0 };
    return s;
}

static void try_with(struct mst_forecast *few, struct search *s, uint32_t limit)
{
    s->system.gates[s->gate].limit = limit;
    mst_forecast_try(few, &s->system, s->p->run);
}

static double mean_of(const struct search *s, const struct mst_forecast *few)
{
    return mst_model_seen(s->p, few)->medians[MST_MEASURE_MEAN];
}

static double mean_with(struct search *s, uint32_t limit)
{
    struct mst_forecast few;

    try_with(&few, s, limit);
    return mean_of(s, &few);
}

static void forecast_with(struct mst_forecast *then, struct search *s, uint32_t limit)
{
    s->system.gates[s->gate].limit = limit;
    mst_model_forecast(then, s->p, &s->system, s->p->run);
}

/* The least limit above low with which the mean is at most `enough`, as it is with high; `with` has
 * the simulations of high, and then of that limit. Mean times fall as the limit rises. */
static uint32_t least_limit(struct search *s, uint32_t low, uint32_t high, double enough,
                            struct mst_forecast *with)
{
    struct mst_forecast few;
    uint32_t middle;

    while (high - low > 1) {
        middle = low + (high - low) / 2;
        try_with(&few, s, middle);
        if (mean_of(s, &few) <= enough) {
            high = middle;
            *with = few;
        } else {
            low = middle;
        }
    }
    return high;
}

void mst_model_find_enough(struct mst_model_enough *e, const struct mst_prediction *p, size_t gate,
                           uint32_t most, bool all_ready)
{
    struct search s = begin(p, gate, all_ready);
    uint32_t now = p->run->system.gates[gate].limit;
    struct mst_forecast few;
    double best;

    e->limit = most;
    forecast_with(&e->then, &s, most);
    e->next = e->then.limit != &e->then.uses[gate] ? e->then.limit : NULL;
    if (most <= now || e->next == NULL)
        return;
    try_with(&few, &s, most);
    best = mean_of(&s, &few);
    e->limit = mean_with(&s, now) * (1 - SAME_MEAN) <= best ? now :
               least_limit(&s, now, most, best * (1 + SAME_MEAN), &few);
    if (e->limit < most)
        forecast_with(&e->then, &s, e->limit);
}

bool mst_model_find_least(struct mst_model_least *l, const struct mst_prediction *p, size_t gate)
{
    struct search s = begin(p, gate, true);
    struct mst_forecast few;
    size_t i;

    for (i = 0; i < p->run->workers_count; i++) {
        struct mst_gate *workers = &s.system.gates[p->run->workers[i].gate];

        workers->limit = UINT32_MAX;
        workers->growth = (struct mst_growth){ 0 };
    }
    try_with(&few, &s, UINT32_MAX);
    if (few.overloaded || !(few.uses[gate].most >= 1))
        return false;
    l->at_once = (uint32_t)few.uses[gate].most;
    l->next = few.limit != NULL ? few.limit->name : NULL;
    l->limit = least_limit(&s, 0, l->at_once, mean_of(&s, &few) * (1 + SAME_MEAN),
                           &few);
    l->mean = mst_model_estimate_of(p, &few, MST_MEASURE_MEAN).value;
    l->wait = few.uses[gate].waiting / mst_model_seen(p, &few)->medians[MST_MEASURE_RATE];
    return true;
}

bool mst_model_find_next(struct mst_model_next *n, const struct mst_prediction *p, size_t gate)
{
    struct search s = begin(p, gate, true);
    uint32_t clients = p->run->system.load.clients;
    unsigned i;

    if (p->run->system.load.arrivals != MST_ARRIVALS_CLOSED)
        return false;
    for (i = 0; i <= DOUBLINGS; i++, clients *= 2) {
        s.system.load.clients = n->clients = clients;
        forecast_with(&n->then, &s, clients);
        if (n->then.limit != NULL && n->then.limit != &n->then.uses[gate])
            return true;
    }
    n->then.limit = NULL;
    return true;
}
