/* plan.c - how many workers the load that wanted to come takes: see plan.h.
 *
 * A load tool with C connections sends the next request when it has the answer to the last: with a
 * worker for each it has C requests at once, and C / held of them a second (Little's law), unless
 * the CPUs are full before. What the server completed in this run is not a measure of that: too few
 * workers made it so few.
 */
#include "findings/plan.h"

#include <math.h>
#include <string.h>

#include "analysis/bottleneck.h"
#include "analysis/thresholds.h"
#include "base/clock.h"
#include "findings/cpu.h"
#include "findings/demand.h"
#include "findings/inquiry.h"

/* Time that one of its requests waits for a worker of this server, and for those in front of it.
 * Not every request of the front comes to PHP. */
static double waited_seconds(const struct mst_budget *b, const struct mst_summary_server *server)
{
    uint64_t ns = mst_budget_mean_ns(b, b->ns[MST_PART_QUEUE]);

    if (server == b->php)
        ns += mst_known(server->phases[MST_PHASE_PHP_WAIT].mean_ns);
    return (double)ns / (double)MST_NS_PER_S;
}

static bool is_uneven(const struct mst_workers_plan *plan, uint64_t at_times)
{
    return at_times != MST_UNKNOWN &&
           (double)at_times > plan->at_once * MST_UNEVEN_MILLI / 1000;
}

static void take_most(struct mst_workers_plan *plan, uint64_t at_times)
{
    if (at_times == MST_UNKNOWN || at_times <= plan->wanted)
        return;
    plan->uneven = is_uneven(plan, at_times);
    plan->wanted = at_times;
    plan->by = MST_WANTED_AT_TIMES;
}

static void take_demand(struct mst_workers_plan *plan, const struct mst_budget *b,
                        const struct mst_summary_server *server, const struct mst_demand *d)
{
    const struct mst_summary_client *c = &b->s->client;

    plan->held = d->held;
    plan->rate = d->rate;
    plan->seconds = d->seconds;
    plan->waited = waited_seconds(b, server);
    plan->at_once = d->rate * (d->held + plan->waited);
    plan->wanted = (uint64_t)ceil(plan->at_once);
    /* Of several servers it is not known how many of the connections were for this one. */
    if (c->known && !b->fleet && c->concurrency != MST_UNKNOWN &&
        c->concurrency >= plan->wanted) {
        plan->wanted = c->concurrency;
        plan->at_once = (double)c->concurrency;
        plan->by = MST_WANTED_BY_TOOL;
    } else {
        take_most(plan, is_uneven(plan, server->came_at_once_p99) ? server->came_at_once_p99
                                                                  : server->at_once_p99);
    }
}

/* CPU time of the server and the PHP behind it. */
static uint64_t own_cpu_ns(const struct mst_budget *b)
{
    if (!b->fleet)
        return mst_own_cpu_ns(b->s);
    return mst_known(b->front->cpu_ns) +
           (b->php != NULL && b->php != b->front ? mst_known(b->php->cpu_ns) : 0);
}

/* Whether its control group lets a server have no more of the CPUs. */
static bool has_used_up_quota(const struct mst_summary *s)
{
    const struct mst_summary_server *throttled = mst_throttled_server(s);

    return throttled != NULL && mst_is_throttled_for_sure(s, throttled);
}

/* The same where no recording has seen the machine. NAN: it is not known. */
static double full_rate_by_requests(const struct mst_budget *b, const struct mst_workers_plan *plan)
{
    struct mst_cpu_seen seen = mst_cpu_see(b);

    if (mst_cpu_seen_full(&seen))
        return plan->rate;
    if (mst_cpu_seen_short(&seen) || seen.used_milli == MST_UNKNOWN || seen.cpu_ns == 0)
        return NAN;
    return plan->rate * plan->seconds * (double)seen.cpus_milli / 1000 * (double)MST_NS_PER_S /
           (double)seen.cpu_ns;
}

/* The rate at which the CPUs are full, if a request takes as much of them as now: of what others
 * take, the scheduler gives half where both want all. */
static double full_rate(const struct mst_budget *b, const struct mst_workers_plan *plan)
{
    const struct mst_summary *s = b->s;
    double all, busy, own = (double)own_cpu_ns(b), others, requests = plan->rate * plan->seconds;

    if (s->machine_busy_milli == MST_UNKNOWN)
        return full_rate_by_requests(b, plan);
    if (!b->front->local || s->cpus == MST_UNKNOWN)
        return INFINITY;
    if (has_used_up_quota(s))
        return plan->rate;
    all = (double)s->duration_ns * (double)s->cpus;
    busy = all * (double)s->machine_busy_milli / 1000;
    if (!b->fleet && mst_cpu_is_ours(s))
        own = busy;
    others = fmax(busy - own, 0);
    return own > 0 ? requests * (all - others / 2) / own * (double)MST_NS_PER_S /
                     (double)s->duration_ns : INFINITY;
}

/* Whether what the requests waited for most lets in one at a time. */
static enum mst_answer waits_one_by_one(const struct mst_summary *s)
{
    enum mst_answer found = MST_ANSWER_NO, answer;
    size_t i;

    for (i = 0; i < s->finding_count && found != MST_ANSWER_YES; i++) {
        answer = mst_finding_answer(&s->findings[i], MST_ONE_AT_A_TIME);
        if (answer == MST_ANSWER_UNKNOWN ||
            (answer == MST_ANSWER_YES && s->findings[i].weight >= MST_HOLDER_TIME_MILLI))
            found = answer;
    }
    return found;
}

static void choose(struct mst_workers_plan *plan, const struct mst_budget *b)
{
    double at_once = plan->uneven ? (double)plan->wanted : plan->at_once;
    double alone = at_once / plan->held, full = full_rate(b, plan);
    enum mst_answer one_by_one = waits_one_by_one(b->s);

    plan->has_quota = b->s->machine_busy_milli != MST_UNKNOWN ? has_used_up_quota(b->s)
                                                              : mst_cpu_see(b).has_quota;
    plan->then = isnan(full) ? NAN : fmin(alone, full);
    plan->workers = plan->wanted > plan->now ? plan->wanted : MST_UNKNOWN;
    plan->perhaps_one_by_one = one_by_one == MST_ANSWER_UNKNOWN;
    if (one_by_one == MST_ANSWER_YES) {
        plan->next = MST_NEXT_ONE_BY_ONE;
        plan->workers = plan->now;
        plan->then = plan->rate;
    } else if (full * 1000 <= plan->rate * MST_WORTH_MILLI) {
        plan->next = MST_NEXT_CPU;
        plan->workers = plan->now;
    } else if (full < alone) {
        plan->next = MST_NEXT_CPU;
        plan->workers = (uint64_t)fmax(ceil(full * plan->held), (double)plan->now + 1);
    }
    if (plan->workers != MST_UNKNOWN && !plan->threaded && plan->processes_fit != MST_UNKNOWN &&
        plan->processes_fit < plan->workers && plan->processes_fit > 0) {
        plan->next = MST_NEXT_MEMORY;
        plan->workers = plan->processes_fit;
        if (!isnan(full))
            plan->then = fmin(plan->then, (double)plan->workers / plan->held);
    }
    plan->cpu_then_milli = MST_UNKNOWN;
    if (isfinite(full) && full > 0)
        plan->cpu_then_milli = (uint64_t)fmin(1000 * plan->then / full, 1000);
}

static const char *why_not(const struct mst_budget *b, const struct mst_summary_server *server,
                           const struct mst_demand *d)
{
    const char *obstacle = mst_demand_obstacle(b->s, server, d);

    return obstacle != NULL || d->held > 0 ? obstacle :
           "its requests held no worker for a time that can be measured";
}

bool mst_plan_workers(struct mst_workers_plan *plan, const struct mst_budget *b,
                      const struct mst_summary_server *server, sqlite3 *db)
{
    struct mst_demand d = mst_demand_of(b->s, server);
    struct mst_per_process process;
    uint64_t ram;

    memset(plan, 0, sizeof *plan);
    if (!mst_per_process_read(&process, db, server->id) || !mst_ram_read(&ram, db, b->s->id))
        return false;
    plan->why_not = why_not(b, server, &d);
    if (plan->why_not != NULL)
        return true;
    plan->now = server->workers_limit != MST_UNKNOWN ? server->workers_limit : server->max_busy;
    plan->threaded = mst_summary_is_threaded(server);
    plan->processes_fit = mst_processes_fit(&process, ram);
    plan->process_bytes = plan->processes_fit != MST_UNKNOWN ? process.high : 0;
    take_demand(plan, b, server, &d);
    choose(plan, b);
    return true;
}

void mst_plan_fill_processes(struct mst_workers_plan *plan, uint64_t threads_per_child)
{
    uint64_t each = threads_per_child;

    if (each != MST_UNKNOWN && each > 0 && plan->workers != MST_UNKNOWN &&
        plan->workers > plan->now && plan->workers % each != 0)
        plan->workers += each - plan->workers % each;
}

void mst_plan_pool(struct mst_workers_plan *plan, const struct mst_budget *b,
                   const struct mst_summary_pool *pool)
{
    memset(plan, 0, sizeof *plan);
    plan->processes_fit = MST_UNKNOWN;
    plan->why_not = why_not(b, b->php, &(struct mst_demand){
        .requests = pool->requests,
        .held = pool->waited > 0 ? (double)pool->run_sum_ns : 0 });
    if (plan->why_not != NULL)
        return;
    plan->now = pool->workers_limit;
    plan->held = (double)pool->run_sum_ns / (double)pool->requests / (double)MST_NS_PER_S;
    plan->seconds = (double)mst_summary_under_load_ns(b->s, b->php) / (double)MST_NS_PER_S;
    plan->rate = (double)pool->requests / plan->seconds;
    plan->waited = (double)pool->wait_sum_ns / (double)pool->waited / (double)MST_NS_PER_S;
    plan->at_once = plan->rate * (plan->held + plan->waited);
    plan->wanted = (uint64_t)ceil(plan->at_once);
    if (is_uneven(plan, pool->came_at_once_p99))
        take_most(plan, pool->came_at_once_p99);
    choose(plan, b);
}
