/* predict.c - see predict.h. */
#include "model/predict.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "base/clock.h"
#include "memory/pool.h"
#include "stats/random.h"

#define REPLICATES      24u       /* simulations of a system, each of other requests */
#define BLOCKS          20u       /* of the recorded requests, which are drawn whole: what changes
                                   * slowly during a run makes neighbours alike */
#define REQUESTS_EACH   10000u    /* a simulation has no more */
#define SECONDS_MOST    3600.0    /* of a longer load as much is simulated */
#define FITTING         4u        /* rounds of fitting; the second changes little already */
#define HALVINGS        6u
#define WARM_UP         0.1       /* of the seconds */
#define RATE_OFF_MOST   0.05      /* what the simulation may be off, of what was measured */
#define TIME_OFF_MOST   0.15
/* How far predictions of the rate and of times are off besides, on servers whose recording is
 * simulated well: docs/measuring.md, the table of make check-model. */
#define RATE_OFF        0.07
#define TIME_OFF        0.10
#define SAME_RATE       0.03      /* rates that are so near are the same */
#define CONFIDENCE      0.90
#define STEP_MOST       0.1       /* of a time: more is too coarse to scale by */
#define ALL_BUSY        0.95      /* CPUs that are this busy are full */
#define HALF_OF_TIME    0.5
#define OTHERS_MATTER   0.05      /* of the CPUs */
#define MORE_USED       1.1       /* times the CPU time of now */
#define FEW             6u        /* simulations that compare systems with each other */
#define REQUESTS_OF_FEW 5000u     /* a simulation of these has no more */
/* An end that is this many times as busy as in the recording, and by this many requests, is busier
 * than anything that was seen. */
#define BUSIER_TIMES    1.25
#define BUSIER_BY       1.0

/* ---- many simulations -------------------------------------------------------------- */

static int by_size(const void *a, const void *b)
{
    double x = *(const double *)a, y = *(const double *)b;

    return (x > y) - (x < y);
}

/* NAN: there are none, or one is not known. */
static double quantile(const double *values, size_t count, double part)
{
    double *sorted, at, found = NAN;
    size_t i, low;

    for (i = 0; i < count; i++)
        if (isnan(values[i]))
            return NAN;
    if (count == 0)
        return NAN;
    sorted = mst_have(malloc(count * sizeof *sorted));
    for (i = 0; i < count; i++)
        sorted[i] = values[i];
    qsort(sorted, count, sizeof *sorted, by_size);
    at = part * (double)(count - 1);
    low = (size_t)at;
    found = low + 1 < count ? sorted[low] + (at - (double)low) * (sorted[low + 1] - sorted[low])
                            : sorted[low];
    free(sorted);
    return found;
}

/* Blocks of neighbours, drawn with replacement, as many requests of each front as there are. */
static size_t *draw_blocks(const struct mst_system *s, uint64_t *random, apr_pool_t *pool)
{
    size_t *drawn = apr_palloc(pool, (s->work_count + 1) * sizeof *drawn);
    const struct mst_front *f;
    size_t size, i, from = 0;

    for (f = s->fronts; f < s->fronts + s->front_count; f++) {
        size = f->work_count / BLOCKS > 0 ? f->work_count / BLOCKS : 1;
        for (i = 0; i < f->work_count; i++) {
            if (i % size == 0)
                from = f->first_work + mst_random_below(random, f->work_count - size + 1);
            drawn[f->first_work + i] = from + i % size;
        }
    }
    return drawn;
}

static double time_at(const struct mst_simulated_times *t, unsigned per_mille)
{
    return t->times.count > 0 ? (double)mst_values_quantile(&t->times, per_mille) /
                                (double)MST_NS_PER_S : NAN;
}

static void take_times(struct mst_forecast_view *v, const struct mst_simulated_times *t, size_t nth)
{
    v->values[MST_MEASURE_RATE][nth] = t->rate;
    v->values[MST_MEASURE_MEAN][nth] = t->requests > 0 ? t->mean : NAN;
    v->values[MST_MEASURE_P50][nth] = time_at(t, 500);
    v->values[MST_MEASURE_P90][nth] = time_at(t, 900);
    v->values[MST_MEASURE_P95][nth] = time_at(t, 950);
    v->values[MST_MEASURE_P99][nth] = time_at(t, 990);
}

static void take(struct mst_forecast *o, const struct mst_system *system,
                 const struct mst_simulated *s, size_t nth)
{
    double n = (double)o->count;
    size_t i;

    take_times(&o->views[0], &s->all, nth);
    for (i = 0; i < s->front_count; i++)
        take_times(&o->views[1 + i], &s->fronts[i], nth);
    for (i = 0; i < system->gate_count; i++) {
        o->uses[i].used += s->gates[i].inside / n;
        o->uses[i].waiting += s->gates[i].waiting / n;
        o->uses[i].full += s->gates[i].full / n;
        o->uses[i].most = fmax(o->uses[i].most, s->gates[i].most);
    }
    for (i = 0; i < system->cpus_count; i++) {
        struct mst_model_use *use = &o->uses[system->gate_count + i];

        use->used += s->cpu_used[i] / n;
        use->waiting += s->cpu_used[i] * (s->cpu_stretch[i] - 1) / n;
        use->full += s->cpu_used[i] / system->cpus[i].count / n;
    }
    for (i = 0; i < system->end_count; i++)
        o->at_ends[i] += s->at_ends[i] / n;
}

/* front SIZE_MAX: of any. */
static const struct mst_model_use *find_full_gate(const struct mst_forecast *o,
                                                  const struct mst_system *system, size_t front)
{
    size_t i;

    for (i = system->gate_count; i-- > 0;)
        if ((front == SIZE_MAX || system->gates[i].front == SIZE_MAX ||
             system->gates[i].front == front) &&
            o->uses[i].full > HALF_OF_TIME && o->uses[i].waiting > 0)
            return &o->uses[i];
    return NULL;
}

/* What runs out. A request that waits for Apache's workers because those wait for PHP's waits for
 * PHP's: of several gates that are full, the last one that it comes to is the cause. CPUs that are
 * full are the cause of all. Of one of several servers its own gates are; those of the others keep
 * clients, but no requests that come by themselves. */
static const struct mst_model_use *find_limit(const struct mst_forecast *o,
                                              const struct mst_system *system, size_t view)
{
    const struct mst_model_use *limit = NULL;
    size_t i;

    for (i = 0; i < system->cpus_count; i++)
        if (o->uses[system->gate_count + i].full >= ALL_BUSY)
            limit = &o->uses[system->gate_count + i];
    if (limit == NULL && view > 0)
        limit = find_full_gate(o, system, view - 1);
    if (limit == NULL && (view == 0 || system->load.arrivals == MST_ARRIVALS_CLOSED))
        limit = find_full_gate(o, system, SIZE_MAX);
    return limit;
}

/* As long as the load took, but of a long one the time in which so many requests come. Where
 * processes are started under load, its beginning counts as it does in a recording. */
static struct mst_simulation how_to_simulate(const struct mst_system *system,
                                             const struct mst_model_run *r, unsigned requests)
{
    double most = fmin(requests / r->views[0].measured[MST_MEASURE_RATE], SECONDS_MOST);
    double seconds = fmin(r->seconds, most), warm_up = seconds * WARM_UP;
    size_t i;

    for (i = 0; i < system->gate_count; i++)
        if (system->gates[i].growth.start > 0 &&
            system->gates[i].growth.start < system->gates[i].limit)
            warm_up = 0;
    return (struct mst_simulation){ .seed = 1, .seconds = seconds, .warm_up = warm_up,
                                    .most_requests = requests, .at_front = !r->views[0].by_client };
}

static void begin(struct mst_forecast *o, const struct mst_system *system, size_t count,
                  const struct mst_model_run *r)
{
    apr_pool_t *pool = r->pool;
    size_t i, k;

    *o = (struct mst_forecast){ .count = count };
    o->views = apr_pcalloc(pool, r->view_count * sizeof *o->views);
    for (k = 0; k < r->view_count; k++)
        for (i = 0; i < MST_MEASURE_COUNT; i++)
            o->views[k].values[i] = apr_pcalloc(pool, count * sizeof(double));
    o->use_count = system->gate_count + system->cpus_count;
    o->uses = apr_pcalloc(pool, o->use_count * sizeof *o->uses);
    o->at_ends = apr_pcalloc(pool, system->end_count * sizeof *o->at_ends);
    for (i = 0; i < system->gate_count; i++) {
        o->uses[i].name = system->gates[i].name;
        o->uses[i].limit = system->gates[i].limit < UINT32_MAX ? system->gates[i].limit : INFINITY;
    }
    for (i = 0; i < system->cpus_count; i++) {
        o->uses[system->gate_count + i].name = system->cpus[i].name;
        o->uses[system->gate_count + i].limit = system->cpus[i].count;
    }
}

static size_t view_of(const struct mst_model_run *r)
{
    return (size_t)(r->view - r->views);
}

const struct mst_forecast_view *mst_model_seen(const struct mst_prediction *p,
                                               const struct mst_forecast *o)
{
    return &o->views[view_of(p->run)];
}

/* more_cpus: CPUs that the system has perhaps besides; each simulation has another part of them. */
static void simulate_all(struct mst_forecast *o, const struct mst_system *system,
                         const struct mst_model_run *r, size_t count, double more_cpus)
{
    struct mst_simulation how = how_to_simulate(system, r, count > FEW ? REQUESTS_EACH :
                                                                         REQUESTS_OF_FEW);
    struct mst_system varied = *system;
    struct mst_forecast_view *v;
    uint64_t random = 1;
    size_t i, k, overloaded = 0;

    begin(o, system, count, r);
    varied.cpus = apr_pmemdup(r->pool, system->cpus, system->cpus_count * sizeof *varied.cpus);
    for (k = 0; k < count; k++) {
        apr_pool_t *one = mst_pool_new(r->pool);
        struct mst_simulated s = { 0 };

        varied.cpus[0].count = system->cpus[0].count + more_cpus * (double)k / (double)(count - 1);
        how.seed = mst_random_word(&random);
        how.drawn = draw_blocks(system, &random, one);
        mst_simulate(&s, &varied, &how, one);
        take(o, &varied, &s, k);
        overloaded += s.overloaded;
        mst_simulated_free(&s);
        apr_pool_destroy(one);
    }
    for (v = o->views; v < o->views + r->view_count; v++)
        for (i = 0; i < MST_MEASURE_COUNT; i++)
            v->medians[i] = quantile(v->values[i], count, 0.5);
    o->overloaded = overloaded * 2 > count;
    o->uses[system->gate_count].limit += more_cpus / 2;
    o->limit = find_limit(o, system, view_of(r));
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

    simulate_all(o, system, r, REPLICATES, 0);
    then = cpus_used(o, system);
    if (lost > OTHERS_MATTER && used < ALL_BUSY * r->system.cpus[0].count &&
        (then > MORE_USED * used || then > ALL_BUSY * system->cpus[0].count)) {
        simulate_all(o, system, r, REPLICATES, lost * system->cpus[0].count);
        o->others_matter = true;
    }
}

void mst_model_try(struct mst_forecast *few, const struct mst_system *system,
                   const struct mst_model_run *r)
{
    simulate_all(few, system, r, FEW, 0);
}

/* ---- the recorded system ----------------------------------------------------------- */

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
    struct mst_simulation how = how_to_simulate(&r->system, r, REQUESTS_EACH);
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
static void fit(struct mst_model_run *r)
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

/* Whether requests of the view wait for something, and would not have come in the same way if they
 * had not: a client that waits for its answer sends nothing, and how many clients there were is not
 * known. */
static bool hides_clients(const struct mst_prediction *p, size_t view)
{
    const struct mst_system *system = &p->run->system;

    return system->load.arrivals != MST_ARRIVALS_CLOSED &&
           find_limit(&p->now, system, view) != NULL;
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
    size_t count = p->now.count;

    return !isnan(measured) && fabs(simulated - measured) > fmax(most * measured, step) &&
           (hides_clients(p, view) ||
            measured < quantile(now->values[measure], count, (1 - CONFIDENCE) / 2) ||
            measured > quantile(now->values[measure], count, (1 + CONFIDENCE) / 2));
}

bool mst_model_is_off(const struct mst_prediction *p, size_t view)
{
    return is_off(p, view, MST_MEASURE_RATE, RATE_OFF_MOST) ||
           is_off(p, view, MST_MEASURE_P50, TIME_OFF_MOST) ||
           is_off(p, view, MST_MEASURE_P95, TIME_OFF_MOST);
}

/* A view that the simulation does not come to has no predictions. */
static void look(struct mst_prediction *p, struct mst_model_run *r, struct mst_model_view *view)
{
    size_t nth;

    r->view = view;
    nth = view_of(r);
    p->now.limit = find_limit(&p->now, &r->system, nth);
    p->hides_clients = hides_clients(p, nth);
    p->why_not = !mst_model_is_off(p, nth) ? NULL :
                 !p->hides_clients ? "the simulation does not come to what was measured" :
                 "the simulation does not come to what was measured, as requests waited, and how "
                 "many clients waited for them is not known (a load tool that mpmstat knows, as "
                 "record's own command, tells it)";
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
    fit(r);
    simulate_all(&p->now, &r->system, r, REPLICATES, 0);
    look(p, r, r->views);
}

/* ---- predictions ------------------------------------------------------------------- */

/* Two causes of deviation that do not depend on each other: relative, one of two sides. */
static double together(double a, double b)
{
    return sqrt(a * a + b * b);
}

struct mst_model_estimate mst_model_estimate_of(const struct mst_prediction *p,
                                       const struct mst_forecast *then, enum mst_measure measure)
{
    return mst_model_estimate_for(p, view_of(p->run), then, measure);
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
    low = quantile(seen->values[measure], then->count, (1 - CONFIDENCE) / 2);
    high = quantile(seen->values[measure], then->count, (1 + CONFIDENCE) / 2);
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
