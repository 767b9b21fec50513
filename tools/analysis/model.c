/* model.c - what is asked of a summary: which server is which, its phases, sets of times. */
#include "analysis/summary.h"

#include <stdlib.h>
#include <string.h>

#include "analysis/kept.h"
#include "base/ratio.h"
#include "base/saturate.h"
#include "loadtools/loadtool.h"
#include "segment/format.h"

/* ---- sets of times --------------------------------------------------------------- */

const char *const mst_percentile_names[MST_PERCENTILE_COUNT] = {
    [MST_P50] = "p50", [MST_P90] = "p90", [MST_P95] = "p95", [MST_P99] = "p99",
    [MST_P999] = "p99.9",
};
static const unsigned per_mille[MST_PERCENTILE_COUNT] = {
    [MST_P50] = 500, [MST_P90] = 900, [MST_P95] = 950, [MST_P99] = 990, [MST_P999] = 999,
};

uint64_t mst_percentile_needs(enum mst_percentile percentile)
{
    return 1000 / (1000 - per_mille[percentile]);
}

uint64_t mst_summary_percentile(const struct mst_summary_times *t, enum mst_percentile percentile)
{
    const uint64_t values[MST_PERCENTILE_COUNT] = {
        [MST_P50] = t->p50_ns, [MST_P90] = t->p90_ns, [MST_P95] = t->p95_ns,
        [MST_P99] = t->p99_ns, [MST_P999] = t->p999_ns,
    };

    return t->count == 0 || t->count >= mst_percentile_needs(percentile) ? values[percentile]
                                                                         : MST_UNKNOWN;
}

void mst_summary_times_of(struct mst_summary_times *t, struct mst_values *values)
{
    mst_values_sort(values);
    t->count = values->count;
    t->sum_ns = mst_values_sum(values);
    t->mean_ns = mst_values_mean(values);
    t->p50_ns = mst_values_quantile(values, per_mille[MST_P50]);
    t->p90_ns = mst_values_quantile(values, per_mille[MST_P90]);
    t->p95_ns = mst_values_quantile(values, per_mille[MST_P95]);
    t->p99_ns = mst_values_quantile(values, per_mille[MST_P99]);
    t->p999_ns = mst_values_quantile(values, per_mille[MST_P999]);
    t->p95_ns = mst_summary_percentile(t, MST_P95);
    t->p999_ns = mst_summary_percentile(t, MST_P999);
    t->max_ns = mst_values_quantile(values, 1000);
}

bool mst_summary_times_with_zeros(struct mst_summary_times *t, struct mst_values *values,
                                  uint64_t count)
{
    bool fine = true;

    while (fine && values->count < count)
        fine = mst_values_add(values, 0) == 0;
    mst_summary_times_of(t, values);
    mst_values_free(values);
    return fine;
}

uint64_t mst_summary_milli(uint64_t part, uint64_t whole)
{
    if (part == MST_UNKNOWN || whole == MST_UNKNOWN || whole == 0)
        return MST_UNKNOWN;
    return mst_milli(part, whole);
}

/* ---- servers ----------------------------------------------------------------------------- */

bool mst_summary_is_php(const struct mst_summary_server *server)
{
    return server->producer == MST_PRODUCER_PHP;
}

bool mst_summary_is_threaded(const struct mst_summary_server *server)
{
    return server->mpm != NULL &&
           (strcmp(server->mpm, "worker") == 0 || strcmp(server->mpm, "event") == 0);
}

bool mst_summary_spawns(const struct mst_summary_server *server)
{
    return mst_summary_is_php(server) && server->forks != MST_UNKNOWN && server->forks > 0;
}

uint64_t mst_summary_clock_ns(const struct mst_summary_server *server)
{
    return mst_magnitude(server->clock_ahead_ns);
}

const char *mst_summary_called(const struct mst_summary_server *server)
{
    return server->name != NULL ? server->name : server->target;
}

size_t mst_summary_phases(const struct mst_summary_server *server, const enum mst_phase **phases)
{
    static const enum mst_phase apache[] = {
        MST_PHASE_QUEUE, MST_PHASE_READ, MST_PHASE_HANDLE, MST_PHASE_SEND, MST_PHASE_TOTAL,
        MST_PHASE_HELD, MST_PHASE_FRONT,
    };
    static const enum mst_phase php[] = {
        MST_PHASE_PHP_WAIT, MST_PHASE_PHP_RUN, MST_PHASE_TOTAL,
    };
    bool is_php = mst_summary_is_php(server);

    *phases = is_php ? php : apache;
    return is_php ? sizeof php / sizeof *php : sizeof apache / sizeof *apache;
}

static bool comes_before(const struct mst_summary_server *a, const struct mst_summary_server *b)
{
    if (mst_summary_is_php(a) != mst_summary_is_php(b))
        return mst_summary_is_php(b);
    return a->requests > b->requests;
}

uint64_t mst_summary_failures(const struct mst_summary_client *c)
{
    uint64_t failed = mst_known(c->failed);
    uint64_t non_2xx = c->non_2xx != MST_UNKNOWN ? c->non_2xx : 0, besides = 0;

    /* Failures that the tool counts besides its requests are not among its answers, either: they
     * are added to the bad answers. */
    if (c->tool != NULL)
        besides = mst_loadtool_failed_besides(mst_loadtool_for(c->tool), failed,
                                              c->failed_timeout);
    failed -= besides;
    if (c->failed_length != MST_UNKNOWN && c->failed_length <= failed)
        failed -= c->failed_length;
    return besides + (failed > non_2xx ? failed : non_2xx);
}

uint64_t mst_summary_made(const struct mst_summary_client *c)
{
    uint64_t besides;

    if (!c->known || c->tool == NULL || c->requests == MST_UNKNOWN)
        return MST_UNKNOWN;
    besides = mst_loadtool_failed_besides(mst_loadtool_for(c->tool), c->failed,
                                          c->failed_timeout);
    return c->requests + mst_known(besides);
}

bool mst_status_redirects(uint64_t status)
{
    return (status >= 301 && status <= 303) || status == 307 || status == 308;
}

uint64_t mst_summary_redirects_followed(const struct mst_summary *s)
{
    const struct mst_summary_all fronts = mst_summary_fronts(s);
    uint64_t made = mst_summary_made(&s->client), more;

    if (made == MST_UNKNOWN || made == 0 || fronts.redirects == 0 || fronts.requests <= made ||
        !s->client.follows_redirects)
        return 0;
    more = fronts.requests - made;
    /* Some requests that were in flight at the end are the servers' alone. */
    return more * 10 >= fronts.redirects * 9 &&
           more <= fronts.redirects + fronts.redirects / 10 + mst_known(s->client.concurrency)
               ? fronts.redirects : 0;
}

bool mst_summary_has_load(const struct mst_summary *s, const struct mst_summary_server *server)
{
    return s->client.tool != NULL && server->first_ns != MST_UNKNOWN &&
           server->last_ns != MST_UNKNOWN;
}

uint64_t mst_summary_under_load_ns(const struct mst_summary *s,
                                   const struct mst_summary_server *server)
{
    uint64_t first_ns = server->first_ns, end_ns = server->last_ns;

    if (!mst_summary_has_load(s, server))
        return s->duration_ns;
    if (server->local && s->ended_ns < end_ns)
        end_ns = s->ended_ns;
    return end_ns > first_ns && end_ns - first_ns < s->duration_ns ? end_ns - first_ns
                                                                   : s->duration_ns;
}

uint64_t mst_summary_rate_milli(const struct mst_summary *s,
                                const struct mst_summary_server *server)
{
    uint64_t late = server->local && server->late <= server->requests ? server->late : 0;
    uint64_t time_ns = mst_summary_under_load_ns(s, server);

    if (time_ns == MST_UNKNOWN || time_ns == 0)
        return MST_UNKNOWN;
    return mst_rate_milli(server->requests - late, time_ns);
}

const struct mst_summary_server *mst_summary_front(const struct mst_summary *s)
{
    const struct mst_summary_server *front = NULL;
    size_t i;

    for (i = 0; i < s->server_count; i++)
        if (front == NULL || comes_before(&s->servers[i], front))
            front = &s->servers[i];
    return front;
}

static void add_times(struct mst_summary_times *all, const struct mst_summary_times *one)
{
    if (one->count == 0)
        return;
    if (all->count == 0) {
        *all = *one;
        return;
    }
    all->count += one->count;
    all->sum_ns = mst_add_saturated(all->sum_ns, one->sum_ns);
    all->mean_ns = all->sum_ns != MST_UNKNOWN ? all->sum_ns / all->count : MST_UNKNOWN;
    all->max_ns = one->max_ns > all->max_ns ? one->max_ns : all->max_ns;
    all->p50_ns = all->p90_ns = all->p95_ns = all->p99_ns = all->p999_ns = MST_UNKNOWN;
}

/* A mean over as many requests, which some do not have: it is 0 there. */
static uint64_t mean_over(const struct mst_summary_times *times, uint64_t count)
{
    if (times->sum_ns == MST_UNKNOWN)
        return MST_UNKNOWN;
    return count > 0 ? times->sum_ns / count : 0;
}

struct mst_summary_all mst_summary_all(const struct mst_summary *s, bool php)
{
    struct mst_summary_all all = { 0 };
    size_t i, k;

    for (k = 0; k < MST_PHASE_COUNT; k++)
        all.phases[k].mean_ns = MST_UNKNOWN;
    for (i = 0; i < s->server_count; i++) {
        const struct mst_summary_server *one = &s->servers[i];

        if (mst_summary_is_php(one) != php)
            continue;
        all.count++;
        all.requests += one->requests;
        all.errors_4xx += one->errors_4xx;
        all.errors_5xx += one->errors_5xx;
        all.redirects += one->redirects;
        all.non_2xx += one->non_2xx;
        all.aborted += one->aborted;
        all.rate_milli = mst_add_saturated(all.rate_milli, mst_summary_rate_milli(s, one));
        all.mean_busy_milli = mst_add_saturated(all.mean_busy_milli, one->mean_busy_milli);
        all.workers_limit = mst_add_saturated(all.workers_limit, one->workers_limit);
        for (k = 0; k < MST_PHASE_COUNT; k++)
            add_times(&all.phases[k], &one->phases[k]);
        for (k = 0; k < MST_INTERVAL_COUNT; k++)
            add_times(&all.intervals[k], &one->intervals[k].times);
        for (k = 0; k < MST_PART_COUNT; k++) {
            all.parts[k].requests += one->parts[k].requests;
            add_times(&all.parts[k].times, &one->parts[k].times);
        }
    }
    for (k = 0; k < MST_PART_COUNT; k++)
        all.parts[k].times.mean_ns = mean_over(&all.parts[k].times,
                                               all.phases[MST_PHASE_TOTAL].count);
    return all;
}

bool mst_summary_is_served(const struct mst_summary *s, const struct mst_summary_server *server)
{
    const struct mst_summary_server *front = mst_summary_front(s);

    return front != NULL && mst_summary_is_php(server) == mst_summary_is_php(front) &&
           server->requests > 0 && server->requests >= front->requests / 100;
}

struct mst_summary_all mst_summary_fronts(const struct mst_summary *s)
{
    const struct mst_summary_server *front = mst_summary_front(s);

    return mst_summary_all(s, front != NULL && mst_summary_is_php(front));
}

/* Its own PHP before one that is not known to be another's. */
static bool works_more(const struct mst_summary_server *php,
                       const struct mst_summary_server *other)
{
    if (other == NULL || (php->only_apache != 0) != (other->only_apache != 0))
        return other == NULL || php->only_apache != 0;
    return php->joined > other->joined;
}

const struct mst_summary_server *mst_summary_php_of(const struct mst_summary *s,
                                                    const struct mst_summary_server *front)
{
    const struct mst_summary_server *behind = NULL, *php;
    size_t i;

    if (front != NULL && mst_summary_is_php(front))
        return front;
    for (i = 0; i < s->server_count; i++) {
        php = &s->servers[i];
        if (mst_summary_is_php(php) && works_more(php, behind) &&
            (php->only_apache == 0 || front == NULL || php->only_apache == front->id))
            behind = php;
    }
    return behind;
}

const struct mst_summary_server *mst_summary_behind(const struct mst_summary *s)
{
    return mst_summary_php_of(s, mst_summary_front(s));
}

const struct mst_summary_server *mst_summary_front_of(const struct mst_summary *s,
                                                      const struct mst_summary_server *server,
                                                      const struct mst_summary_server *otherwise)
{
    size_t i;

    if (otherwise == NULL || mst_summary_is_php(server) == mst_summary_is_php(otherwise))
        return server;
    for (i = 0; server->only_apache != 0 && i < s->server_count; i++)
        if (s->servers[i].id == server->only_apache)
            return &s->servers[i];
    return otherwise;
}

uint64_t mst_summary_at_once_milli(const struct mst_summary *s, const struct mst_summary_end *end)
{
    return mst_summary_milli(end->end_ns, s->duration_ns);
}

static void free_lists(struct mst_summary_server *server)
{
    size_t i;

    for (i = 0; i < server->pool_count; i++)
        free(server->pools[i].label);
    free(server->pools);
    for (i = 0; i < server->end_count; i++) {
        free(server->ends[i].kind);
        free(server->ends[i].name);
    }
    free(server->ends);
    mst_by_name_free(&server->pages);
    mst_kept_free(server->kept);
}

/* ---- the end of it --------------------------------------------------------------- */

void mst_summary_free(struct mst_summary *s)
{
    size_t i;

    for (i = 0; i < s->server_count; i++) {
        free(s->servers[i].target);
        free(s->servers[i].name);
        free(s->servers[i].server);
        free(s->servers[i].mpm);
        free(s->servers[i].sapi);
        free(s->servers[i].unknown);
        free(s->servers[i].cgroup);
        free(s->servers[i].listens);
        free(s->servers[i].listen_address);
        free(s->servers[i].listen_pool);
        free_lists(&s->servers[i]);
    }
    for (i = 0; i < s->program_count; i++)
        free(s->programs[i].name);
    free(s->programs);
    for (i = 0; i < s->port_count; i++)
        free(s->ports[i].remote);
    free(s->ports);
    for (i = 0; i < s->note_count; i++)
        free(s->notes[i]);
    for (i = 0; i < s->generator_count; i++) {
        free(s->generators[i].name);
        free(s->generators[i].tool);
    }
    free(s->generators);
    free(s->servers);
    free(s->findings);
    free(s->needs);
    free(s->sizing);
    free(s->notes);
    free(s->name);
    free(s->command_json);
    free(s->command_line);
    free(s->added);
    free(s->client.tool);
    memset(s, 0, sizeof *s);
}
