/* enough.c - see enough.h. */
#include "model/enough.h"

#include "model/change.h"

/* Means that differ by less are the same: a worker more or less has to change something. */
#define SAME_MEAN 0.03
/* Clients are doubled so often. That many times as much as was measured is not known any more. */
#define DOUBLINGS 6u

struct search {
    const struct mst_prediction *p;
    size_t gate;
    bool   all_ready;
};

static struct mst_system system_with(const struct search *s, uint32_t limit)
{
    struct mst_system system = mst_system_copy(s->p->run);

    system.gates[s->gate].limit = limit;
    if (s->all_ready)
        system.gates[s->gate].growth = (struct mst_growth){ 0 };
    return system;
}

static double mean_with(const struct search *s, uint32_t limit)
{
    struct mst_system system = system_with(s, limit);

    return mst_model_mean_time(&system, s->p->run);
}

static void forecast_with(struct mst_forecast *then, const struct search *s, uint32_t limit)
{
    struct mst_system system = system_with(s, limit);

    mst_model_forecast(then, s->p, &system, s->p->run);
}

/* Mean times fall as the limit rises. */
static uint32_t least_limit(const struct search *s, uint32_t low, uint32_t high, double enough)
{
    uint32_t middle;

    while (high - low > 1) {
        middle = low + (high - low) / 2;
        if (mean_with(s, middle) <= enough)
            high = middle;
        else
            low = middle;
    }
    return high;
}

void mst_model_find_enough(struct mst_model_enough *e, const struct mst_prediction *p, size_t gate,
                           uint32_t most, bool all_ready)
{
    const struct search s = { p, gate, all_ready };
    uint32_t now = p->run->system.gates[gate].limit;
    double best;

    e->limit = most;
    forecast_with(&e->then, &s, most);
    e->next = e->then.limit != &e->then.uses[gate] ? e->then.limit : NULL;
    if (most <= now || e->next == NULL)
        return;
    best = mean_with(&s, most);
    e->limit = mean_with(&s, now) * (1 - SAME_MEAN) <= best ? now :
               least_limit(&s, now, most, best * (1 + SAME_MEAN));
    if (e->limit < most)
        forecast_with(&e->then, &s, e->limit);
}

bool mst_model_find_next(struct mst_model_next *n, const struct mst_prediction *p, size_t gate)
{
    struct search s = { p, gate, true };
    uint32_t clients = p->run->system.load.clients;
    unsigned i;

    if (p->run->system.load.arrivals != MST_ARRIVALS_CLOSED)
        return false;
    for (i = 0; i <= DOUBLINGS; i++, clients *= 2) {
        struct mst_system system = system_with(&s, clients);

        system.load.clients = n->clients = clients;
        mst_model_forecast(&n->then, p, &system, p->run);
        if (n->then.limit != NULL && n->then.limit != &n->then.uses[gate])
            return true;
    }
    n->then.limit = NULL;
    return true;
}
