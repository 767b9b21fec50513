/* forecast.c - many simulations of one system: see forecast.h. */
#include "model/forecast.h"

#include <math.h>
#include <stdlib.h>

#include "base/clock.h"
#include "memory/pool.h"
#include "stats/random.h"

#define REPLICATES      24u       /* simulations of a system, each of other requests */
#define BLOCKS          20u       /* of the recorded requests, which are drawn whole: what changes
                                   * slowly during a run makes neighbours alike */
#define REQUESTS_EACH   10000u    /* a simulation has no more */
#define SECONDS_MOST    3600.0    /* of a longer load as much is simulated */
#define WARM_UP         0.1       /* of the seconds */
#define HALF_OF_TIME    0.5
#define FEW             6u        /* simulations that compare systems with each other */
#define REQUESTS_OF_FEW 5000u     /* a simulation of these has no more */

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
const struct mst_model_use *mst_forecast_limit(const struct mst_forecast *o,
                                               const struct mst_system *system, size_t view)
{
    const struct mst_model_use *limit = NULL;
    size_t i;

    for (i = 0; i < system->cpus_count; i++)
        if (o->uses[system->gate_count + i].full >= MST_CPUS_FULL)
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

size_t mst_forecast_view(const struct mst_model_run *r)
{
    return (size_t)(r->view - r->views);
}

/* Each simulation has another part of more_cpus. */
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
    o->limit = mst_forecast_limit(o, system, mst_forecast_view(r));
}

struct mst_simulation mst_forecast_one(const struct mst_system *system,
                                       const struct mst_model_run *r)
{
    return how_to_simulate(system, r, REQUESTS_EACH);
}

void mst_forecast_make(struct mst_forecast *o, const struct mst_system *system,
                       const struct mst_model_run *r, double more_cpus)
{
    simulate_all(o, system, r, REPLICATES, more_cpus);
}

void mst_forecast_try(struct mst_forecast *few, const struct mst_system *system,
                      const struct mst_model_run *r)
{
    simulate_all(few, system, r, FEW, 0);
}

double mst_forecast_quantile(const struct mst_forecast *o, size_t view, enum mst_measure measure,
                             double part)
{
    return quantile(o->views[view].values[measure], o->count, part);
}
