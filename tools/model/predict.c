/* predict.c - see predict.h. */
#include "model/predict.h"

#include <math.h>
#include <string.h>

#include "analysis/bottleneck.h"
#include "model/fit.h"

#define RATE_OFF_MOST   0.05      /* what the simulation may be off, of what was measured */
#define TIME_OFF_MOST   0.15
/* How far predictions of the rate and of times are off besides, on servers whose recording is
 * simulated well: docs/measuring.md, the table of make check-model. */
#define RATE_OFF        0.07
#define TIME_OFF        0.10
#define CONFIDENCE      0.90
#define STEP_MOST       0.1       /* of a time: more is too coarse to scale by */
#define OTHERS_MATTER   0.05      /* of the CPUs */
#define MORE_USED       1.1       /* times the CPU time of now */
/* An end that is this many times as busy as in the recording, and by this many requests, is busier
 * than anything that was seen. */
#define BUSIER_TIMES    1.25
#define BUSIER_BY       1.0

/* ---- the recorded system ----------------------------------------------------------- */

/* Whether requests of the view wait for something, and would not have come in the same way if they
 * had not: a client that waits for its answer sends nothing, and how many clients there were is not
 * known. */
static bool hides_clients(const struct mst_prediction *p, size_t view)
{
    const struct mst_system *system = &p->run->system;

    return system->load.arrivals != MST_ARRIVALS_CLOSED &&
           mst_forecast_limit(&p->now, system, view) != NULL;
}

/* Whether the simulations do not come to what was measured: not within so much of it, and not as
 * different recordings of the same differ. Those of hidden clients differ in any way. */
static bool is_off(const struct mst_prediction *p, size_t view, enum mst_measure measure,
                   double most)
{
    const struct mst_forecast_view *now = &p->now.views[view];
    const struct mst_model_view *v = &p->run->views[view];
    double simulated = now->medians[measure], measured = v->measured[measure];
    double step = measure == MST_MEASURE_RATE ? 0 : v->step;

    return !isnan(measured) && fabs(simulated - measured) > fmax(most * measured, step) &&
           (hides_clients(p, view) ||
            measured < mst_forecast_quantile(&p->now, view, measure, (1 - CONFIDENCE) / 2) ||
            measured > mst_forecast_quantile(&p->now, view, measure, (1 + CONFIDENCE) / 2));
}

bool mst_model_is_off(const struct mst_prediction *p, size_t view)
{
    return is_off(p, view, MST_MEASURE_RATE, RATE_OFF_MOST) ||
           is_off(p, view, MST_MEASURE_P50, TIME_OFF_MOST) ||
           is_off(p, view, MST_MEASURE_P95, TIME_OFF_MOST);
}

/* Whether requests waited for a worker of event, which serves the connections that it keeps before
 * those that wait to be accepted. */
static bool is_unordered(const struct mst_model_run *r)
{
    size_t i;

    for (i = 0; i < r->server_count; i++)
        if (r->servers[i].is_kept_by_event && mst_summary_is_short(r->servers[i].front))
            return true;
    return false;
}

/* NULL: the recording does not tell. */
static const char *why_off(const struct mst_prediction *p, size_t view)
{
    if (hides_clients(p, view))
        return "the simulation does not come to what was measured, as requests waited, and how "
               "many clients waited for them is not known (a load tool that mpmstat knows, as "
               "record's own command, tells it)";
    if (is_unordered(p->run))
        return "the simulation does not come to what was measured, as event serves the connections "
               "that it keeps before those that wait to be accepted, and the simulation has one "
               "queue (a load that keeps no connections tells more)";
    return NULL;
}

/* A view that the simulation does not come to has no predictions. */
static void look(struct mst_prediction *p, struct mst_model_run *r, struct mst_model_view *view)
{
    const char *reason;
    size_t nth;

    r->view = view;
    nth = mst_forecast_view(r);
    p->now.limit = mst_forecast_limit(&p->now, &r->system, nth);
    p->why_not = NULL;
    p->is_explained = false;
    if (!mst_model_is_off(p, nth))
        return;
    reason = why_off(p, nth);
    p->is_explained = reason != NULL;
    p->why_not = reason != NULL ? reason : "the simulation does not come to what was measured";
}

bool mst_model_look_at(struct mst_prediction *p, struct mst_model_run *r,
                       const struct mst_summary_server *front)
{
    size_t i;

    for (i = 0; i < r->view_count; i++)
        if (r->views[i].server == front) {
            look(p, r, &r->views[i]);
            return true;
        }
    return false;
}

void mst_model_calibrate(struct mst_prediction *p, struct mst_model_run *r)
{
    *p = (struct mst_prediction){ .run = r };
    mst_model_fit(r);
    mst_forecast_make(&p->now, &r->system, r, 0);
    look(p, r, r->views);
}

/* ---- predictions ------------------------------------------------------------------- */

const struct mst_forecast_view *mst_model_seen(const struct mst_prediction *p,
                                               const struct mst_forecast *o)
{
    return &o->views[mst_forecast_view(p->run)];
}

static double cpus_used(const struct mst_forecast *o, const struct mst_system *system)
{
    return o->uses[system->gate_count].used;
}

/* What other programs took while CPUs were idle, they perhaps give back when the servers want it:
 * the recording does not tell. */
void mst_model_forecast(struct mst_forecast *o, const struct mst_prediction *p,
                        const struct mst_system *system, const struct mst_model_run *r)
{
    double lost = isnan(r->cpus) ? 0 : r->cpus / r->system.cpus[0].count - 1;
    double used = cpus_used(&p->now, system), then;

    mst_forecast_make(o, system, r, 0);
    then = cpus_used(o, system);
    if (lost > OTHERS_MATTER && used < MST_CPUS_FULL * r->system.cpus[0].count &&
        (then > MORE_USED * used || then > MST_CPUS_FULL * system->cpus[0].count)) {
        mst_forecast_make(o, system, r, lost * system->cpus[0].count);
        o->others_matter = true;
    }
}

/* Two causes of deviation that do not depend on each other: relative, one of two sides. */
static double together(double a, double b)
{
    return sqrt(a * a + b * b);
}

struct mst_model_estimate mst_model_estimate_of(const struct mst_prediction *p,
                                       const struct mst_forecast *then, enum mst_measure measure)
{
    return mst_model_estimate_for(p, mst_forecast_view(p->run), then, measure);
}

struct mst_model_estimate mst_model_estimate_for(const struct mst_prediction *p, size_t nth,
                                       const struct mst_forecast *then, enum mst_measure measure)
{
    const struct mst_forecast_view *seen = &then->views[nth];
    const struct mst_model_view *view = &p->run->views[nth];
    double now = p->now.views[nth].medians[measure];
    double scale = view->measured[measure] / now;
    double median = seen->medians[measure], low, high, off;
    double besides = measure == MST_MEASURE_RATE ? RATE_OFF : TIME_OFF;

    /* A load tool that counts in milliseconds tells nothing of shorter times. */
    if (measure != MST_MEASURE_RATE && view->step > STEP_MOST * view->measured[measure])
        scale = 1;
    if (isnan(scale) || isnan(median) || now <= 0 || median <= 0)
        return (struct mst_model_estimate){ NAN, NAN, NAN };
    off = together(besides, log(scale));
    low = mst_forecast_quantile(then, nth, measure, (1 - CONFIDENCE) / 2);
    high = mst_forecast_quantile(then, nth, measure, (1 + CONFIDENCE) / 2);
    return (struct mst_model_estimate){
        median * scale, median * scale * exp(-together(log(median / low), off)),
        median * scale * exp(together(log(high / median), off)),
    };
}

/* A sleep takes its time always, and a lock is a gate of its own. */
bool mst_model_is_busier(const struct mst_prediction *p, const struct mst_forecast *then,
                         size_t nth)
{
    const struct mst_model_end *end = &p->run->system.ends[nth];
    double now = p->now.at_ends[nth];

    return end->is_other && strcmp(end->kind, "sleep") != 0 &&
           strcmp(end->kind, "lock") != 0 && then->at_ends[nth] > BUSIER_TIMES * now &&
           then->at_ends[nth] > now + BUSIER_BY;
}

const struct mst_model_end *mst_model_busier_end(const struct mst_prediction *p,
                                                 const struct mst_forecast *then)
{
    const struct mst_system *system = &p->run->system;
    size_t i;

    for (i = 0; i < system->end_count; i++)
        if (mst_model_is_busier(p, then, i))
            return &system->ends[i];
    return NULL;
}

static bool is_named(const char *name, const struct mst_model_use *use)
{
    return strcmp(name, use->name) == 0;
}

/* The machine's CPUs are the first. */
bool mst_model_is_quota(const struct mst_prediction *p, const struct mst_model_use *use)
{
    return mst_model_is_cpus(p, use) && !is_named(p->run->system.cpus[0].name, use);
}

bool mst_model_is_cpus(const struct mst_prediction *p, const struct mst_model_use *use)
{
    const struct mst_system *system = &p->run->system;
    size_t i;

    for (i = 0; i < system->cpus_count; i++)
        if (is_named(system->cpus[i].name, use))
            return true;
    return false;
}

bool mst_model_is_serial_end(const struct mst_prediction *p, const struct mst_model_use *use)
{
    const struct mst_system *system = &p->run->system;
    size_t i;

    for (i = 0; i < system->end_count; i++)
        if (system->ends[i].is_other && is_named(system->ends[i].called, use))
            return true;
    return false;
}
