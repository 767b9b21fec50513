/* fit.c - fits a recorded system to what was measured: see fit.h. */
#include "model/fit.h"

#include <math.h>
#include <stdlib.h>

#include "memory/pool.h"
#include "model/forecast.h"

#define FITTING   4u        /* rounds of fitting; the second changes little already */
#define HALVINGS  6u
#define SAME_RATE 0.03      /* rates that are so near are the same */

/* By how much each request's time in the server itself has to be shorter, so that the mean is by
 * `seconds`: what a server computes is about the same for all requests, and what it waits for is
 * not. */
static double shorter_by(const struct mst_model_server *r, double seconds)
{
    double low = 0, high = 0, middle, taken;
    size_t i, round;

    for (i = 0; i < r->own_count; i++)
        high = fmax(high, r->own[i]);
    for (round = 0; round < 30; round++) {
        middle = (low + high) / 2;
        for (i = 0, taken = 0; i < r->own_count; i++)
            taken += fmin(r->own[i], middle);
        if (taken < seconds * (double)r->own_count)
            low = middle;
        else
            high = middle;
    }
    return high;
}

/* What computing takes of the time that was recorded as the end's, where CPUs are shared so. */
static void explain_by_cpu(struct mst_model_run *r, double stretch)
{
    struct mst_model_end *ends = r->system.ends, *own;
    const struct mst_model_server *of;
    size_t i;

    for (of = r->servers; of < r->servers + r->server_count; of++) {
        own = &ends[of->ends];
        own[MST_END_SERVER].shorter = shorter_by(of, own[MST_END_SERVER].compute_factor * stretch);
        own[MST_END_PHP_ITSELF].wait_factor = isnan(of->php_turn) ? 0 :
            fmax(of->php_turn - own[MST_END_PHP_ITSELF].compute_factor * stretch, 0);
        own[MST_END_SERVER_ITSELF].wait_factor = isnan(of->front_turn) ? 0 : of->front_turn;
    }
    for (i = 0; i < r->system.end_count; i++)
        if (ends[i].is_other)
            ends[i].wait_factor = fmax(1 - ends[i].compute_factor * stretch, 0);
}

/* One simulation of the system as it is fitted so far. */
struct trial { double rate, mean, stretch; };

static struct trial try_it(const struct mst_model_run *r)
{
    struct mst_simulation how = mst_forecast_one(&r->system, r);
    apr_pool_t *one = mst_pool_new(r->pool);
    struct mst_simulated s = { 0 };
    struct trial trial;

    mst_simulate(&s, &r->system, &how, one);
    trial = (struct trial){ s.all.rate, s.all.mean, s.cpu_stretch[0] };
    mst_simulated_free(&s);
    apr_pool_destroy(one);
    return trial;
}

/* What a trial's requests lack of the recorded ones' time, on average. */
static double missing_seconds(const struct mst_model_run *r, const struct trial *trial)
{
    if (r->system.load.arrivals != MST_ARRIVALS_CLOSED)
        return r->view->by_client ? r->view->measured[MST_MEASURE_MEAN] - trial->mean : 0;
    return trial->rate > 0 ? r->system.load.clients *
                             (1 / r->view->measured[MST_MEASURE_RATE] - 1 / trial->rate) : 0;
}

/* How long computing takes depends on how long requests wait elsewhere, and the other way round:
 * where PHP has not measured it, each round comes nearer. */
static struct trial fit_stretch(struct mst_model_run *r)
{
    double stretch = isnan(r->php_stretch) ? 1 : r->php_stretch;
    struct trial trial;
    size_t round;

    for (round = 0; round < FITTING; round++) {
        explain_by_cpu(r, stretch);
        trial = try_it(r);
        if (!isnan(r->php_stretch))
            break;
        stretch = trial.stretch;
    }
    return trial;
}

/* The time that requests lack passes outside of the server, unless a limit decides about them: then
 * they wait so much less for that, and a time outside changes nothing. */
static struct trial fit_waits(struct mst_model_run *r)
{
    double *outside = &r->system.ends[MST_END_OUTSIDE].wait_factor;
    struct trial trial, other;

    *outside = 0;
    trial = fit_stretch(r);
    *outside = fmin(fmax(missing_seconds(r, &trial), 0), r->outside_most);
    if (*outside <= 0)
        return trial;
    other = fit_stretch(r);
    if (fabs(missing_seconds(r, &other)) < missing_seconds(r, &trial) / 2)
        return other;
    *outside = 0;
    return fit_stretch(r);
}

/* Other programs take CPU time that the servers want, or what they leave: scheduling classes,
 * weights and groups decide that. It is between all that they took and nothing, and what PHP's
 * computing took tells; where there is no PHP, the rate does. */
void mst_model_fit(struct mst_model_run *r)
{
    double *count = &r->system.cpus[0].count, low = *count, high = r->cpus;
    double rate = r->view->measured[MST_MEASURE_RATE];
    struct trial trial = fit_waits(r);
    size_t round;
    bool more;

    for (round = 0; round < HALVINGS && high - low > 0; round++) {
        more = isnan(r->php_stretch) ? trial.rate < rate * (1 - SAME_RATE)
                                     : trial.stretch > r->php_stretch;
        if (round == 0 && !more)
            return;     /* they took all of it from the servers */
        if (more)
            low = *count;
        else
            high = *count;
        *count = (low + high) / 2;
        trial = fit_waits(r);
    }
}
