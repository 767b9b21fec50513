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

/* Blocks of neighbours, drawn with replacement, as many requests as there are. */
static size_t *draw_blocks(const struct mst_system *s, uint64_t *random, apr_pool_t *pool)
{
    size_t *drawn = apr_palloc(pool, (s->work_count + 1) * sizeof *drawn);
    size_t size = s->work_count / BLOCKS > 0 ? s->work_count / BLOCKS : 1, i, from = 0;

    for (i = 0; i < s->work_count; i++) {
        if (i % size == 0)
            from = mst_random_below(random, s->work_count - size + 1);
        drawn[i] = from + i % size;
    }
    return drawn;
}

static double time_at(const struct mst_simulated *s, unsigned per_mille)
{
    return s->times.count > 0 ? (double)mst_values_quantile(&s->times, per_mille) /
                                (double)MST_NS_PER_S : NAN;
}

static void take(struct mst_forecast *o, const struct mst_system *system,
                 const struct mst_simulated *s, size_t nth)
{
    double n = (double)o->count;
    size_t i;

    o->values[MST_MEASURE_RATE][nth] = s->rate;
    o->values[MST_MEASURE_MEAN][nth] = s->requests > 0 ? s->mean : NAN;
    o->values[MST_MEASURE_P50][nth] = time_at(s, 500);
    o->values[MST_MEASURE_P90][nth] = time_at(s, 900);
    o->values[MST_MEASURE_P95][nth] = time_at(s, 950);
    o->values[MST_MEASURE_P99][nth] = time_at(s, 990);
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

/* What runs out. A request that waits for Apache's workers because those wait for PHP's waits for
 * PHP's: of several gates that are full, the last one that it comes to is the cause. CPUs that are
 * full are the cause of all. */
static const struct mst_model_use *find_limit(const struct mst_forecast *o,
                                              const struct mst_system *system)
{
    const struct mst_model_use *limit = NULL;
    size_t i;

    for (i = 0; i < system->cpus_count; i++)
        if (o->uses[system->gate_count + i].full >= MST_CPUS_FULL)
            limit = &o->uses[system->gate_count + i];
    for (i = system->gate_count; limit == NULL && i-- > 0;)
        if (o->uses[i].full > HALF_OF_TIME && o->uses[i].waiting > 0)
            limit = &o->uses[i];
    return limit;
}

/* As long as the load took, but of a long one the time in which so many requests come. Where
 * processes are started under load, its beginning counts as it does in a recording. */
static struct mst_simulation how_to_simulate(const struct mst_system *system,
                                             const struct mst_model_run *r, unsigned requests)
{
    double most = fmin(requests / r->measured[MST_MEASURE_RATE], SECONDS_MOST);
    double seconds = fmin(r->seconds, most), warm_up = seconds * WARM_UP;
    size_t i;

    for (i = 0; i < system->gate_count; i++)
        if (system->gates[i].growth.start > 0 &&
            system->gates[i].growth.start < system->gates[i].limit)
            warm_up = 0;
    return (struct mst_simulation){ .seed = 1, .seconds = seconds, .warm_up = warm_up,
                                    .most_requests = requests, .at_front = !r->by_client };
}

static void begin(struct mst_forecast *o, const struct mst_system *system, size_t count,
                  apr_pool_t *pool)
{
    size_t i;

    *o = (struct mst_forecast){ .count = count };
    for (i = 0; i < MST_MEASURE_COUNT; i++)
        o->values[i] = apr_pcalloc(pool, count * sizeof **o->values);
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

/* Each simulation has another part of more_cpus. */
static void simulate_all(struct mst_forecast *o, const struct mst_system *system,
                         const struct mst_model_run *r, size_t count, double more_cpus)
{
    struct mst_simulation how = how_to_simulate(system, r, count > FEW ? REQUESTS_EACH :
                                                                         REQUESTS_OF_FEW);
    struct mst_system varied = *system;
    uint64_t random = 1;
    size_t i, k, overloaded = 0;

    begin(o, system, count, r->pool);
    varied.cpus = apr_pmemdup(r->pool, system->cpus, system->cpus_count * sizeof *varied.cpus);
    for (k = 0; k < count; k++) {
        apr_pool_t *one = mst_pool_new(r->pool);
        struct mst_simulated s = { 0 };

        varied.cpus[0].count = system->cpus[0].count + more_cpus * (double)k / (double)(count - 1);
        how.seed = mst_random_word(&random);
        how.drawn = draw_blocks(system, &random, one);
        how.drawn_count = system->work_count;
        mst_simulate(&s, &varied, &how, one);
        take(o, &varied, &s, k);
        overloaded += s.overloaded;
        free(s.times.items);
        apr_pool_destroy(one);
    }
    for (i = 0; i < MST_MEASURE_COUNT; i++)
        o->medians[i] = quantile(o->values[i], count, 0.5);
    o->overloaded = overloaded * 2 > count;
    o->uses[system->gate_count].limit += more_cpus / 2;
    o->limit = find_limit(o, system);
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

double mst_forecast_quantile(const struct mst_forecast *o, enum mst_measure measure, double part)
{
    return quantile(o->values[measure], o->count, part);
}
