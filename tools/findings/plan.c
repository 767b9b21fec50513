/* plan.c - how many workers the load that wanted to come takes: see plan.h.
 *
 * A load tool with C connections sends the next request when it has the answer to the last: with a
 * worker for each it has C requests at once. What the server completed in this run is not a measure
 * of that: too few workers made it so few. Whether something else runs out before, the model tells.
 */
#include "findings/plan.h"

#include <math.h>
#include <string.h>

#include "analysis/bottleneck.h"
#include "analysis/resources.h"
#include "analysis/thresholds.h"
#include "base/clock.h"
#include "findings/cpu.h"
#include "findings/demand.h"
#include "findings/rules.h"
#include "findings/say.h"

/* ---- wanted ------------------------------------------------------------------------ */

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
    plan->wanted = at_times;
    plan->by = MST_WANTED_AT_TIMES;
}

static void take_demand(struct mst_workers_plan *plan, const struct mst_budget *b,
                        const struct mst_summary_server *server, const struct mst_demand *d)
{
    const struct mst_summary_client *c = &b->s->client;

    plan->at_once = d->rate * (d->held + waited_seconds(b, server));
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

/* ---- what it changes --------------------------------------------------------------- */

/* Whether its control group lets a server have no more of the CPUs. */
static bool has_used_up_quota(const struct mst_summary *s)
{
    const struct mst_summary_server *throttled = mst_throttled_server(s);

    return throttled != NULL && mst_is_throttled_for_sure(s, throttled);
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

/* Without a model it is known whether the servers fill the CPUs now, and not when they would. What
 * other programs take they can give back. */
static void choose_unforeseen(struct mst_workers_plan *plan, const struct mst_budget *b)
{
    const struct mst_cpu_seen seen = mst_cpu_see(b);
    bool is_recorded = b->s->machine_busy_milli != MST_UNKNOWN;
    bool fills_cpus = mst_cpu_is_full(b->s) && mst_cpu_is_ours(b->s);

    plan->has_quota = is_recorded ? has_used_up_quota(b->s) : seen.has_quota;
    if (is_recorded ? plan->has_quota || fills_cpus : mst_cpu_seen_full(&seen)) {
        plan->next = MST_NEXT_CPU;
        plan->workers = plan->now;
        plan->cpu_then_milli = 1000;
    } else if (plan->wanted > plan->now) {
        plan->workers = plan->wanted;
    }
}

static enum mst_next_limit next_of(const struct mst_prediction *p,
                                   const struct mst_model_enough *enough)
{
    if (enough->next == NULL)
        return MST_NEXT_NONE;
    if (mst_model_is_cpus(p, enough->next))
        return MST_NEXT_CPU;
    return mst_model_is_serial_end(p, enough->next) ? MST_NEXT_ONE_BY_ONE : MST_NEXT_OTHER;
}

static void choose_foreseen(struct mst_workers_plan *plan, const struct mst_prediction *p,
                            size_t gate, bool all_ready)
{
    uint64_t most = plan->wanted < UINT32_MAX ? plan->wanted : UINT32_MAX;
    struct mst_model_enough enough;

    if (most <= plan->now)
        return;
    if (!plan->threaded && plan->processes_fit < most && plan->processes_fit > plan->now)
        most = plan->processes_fit;
    mst_model_find_enough(&enough, p, gate, (uint32_t)most, all_ready);
    plan->next = next_of(p, &enough);
    if (plan->next == MST_NEXT_ONE_BY_ONE || plan->next == MST_NEXT_OTHER)
        MST_SAY(plan->next_name, "%s", enough.next->name);
    plan->has_quota |= plan->next == MST_NEXT_CPU && mst_model_is_quota(p, enough.next);
    plan->workers = enough.limit;
    if (plan->next == MST_NEXT_NONE && most < plan->wanted)
        plan->next = MST_NEXT_MEMORY;
    plan->foreseen = mst_foreseen_of(p, &enough.then);
    plan->cpu_then_milli = plan->foreseen.cpu_milli;
}

/* The workers' gate. NULL: the model has none. pool NULL: of all the server's, or of the only pool
 * that had requests. */
static const struct mst_model_workers *find_gate(const struct mst_prediction *p,
                                                 const struct mst_summary_server *server,
                                                 const struct mst_summary_pool *pool)
{
    size_t i;

    for (i = 0; p != NULL && i < p->run->workers_count; i++)
        if (p->run->workers[i].server == server &&
            (pool == NULL || p->run->workers[i].pool == pool))
            return &p->run->workers[i];
    return NULL;
}

static void choose(struct mst_workers_plan *plan, struct mst_inquiry *q,
                   const struct mst_summary_server *server, const struct mst_summary_pool *pool)
{
    enum mst_answer one_by_one = waits_one_by_one(q->s);
    const struct mst_prediction *p = one_by_one != MST_ANSWER_UNKNOWN ? mst_foresee(q) : NULL;
    const struct mst_model_workers *w = find_gate(p, server, pool);

    plan->workers = plan->cpu_then_milli = MST_UNKNOWN;
    plan->perhaps_one_by_one = one_by_one == MST_ANSWER_UNKNOWN;
    if (w != NULL) {
        plan->has_quota = has_used_up_quota(q->s);
        choose_foreseen(plan, p, w->gate, mst_summary_spawns(server));
    } else {
        choose_unforeseen(plan, &q->b);
    }
    if (one_by_one == MST_ANSWER_YES) {
        plan->next = MST_NEXT_ONE_BY_ONE;
        plan->workers = plan->now;
    }
    if (plan->workers != MST_UNKNOWN && plan->workers > plan->now && !plan->threaded &&
        plan->processes_fit < plan->workers && plan->processes_fit > 0) {
        plan->next = MST_NEXT_MEMORY;
        plan->workers = plan->processes_fit;
        plan->foreseen.known = false;
    }
}

/* ---- the plans --------------------------------------------------------------------- */

/* Apache lowers MaxRequestWorkers to a multiple of ThreadsPerChild: rounds up to one. */
static uint64_t in_processes(struct mst_inquiry *q, const struct mst_summary_server *server,
                             uint64_t workers)
{
    uint64_t each = mst_summary_is_threaded(server) ?
                    mst_setting_number(q, server, "ThreadsPerChild") : 1;

    if (each == MST_UNKNOWN || each == 0 || workers % each == 0)
        return workers;
    return workers + each - workers % each;
}

static const char *why_not(const struct mst_budget *b, const struct mst_summary_server *server,
                           const struct mst_demand *d)
{
    const char *obstacle = mst_demand_obstacle(b->s, server, d->requests);

    return obstacle != NULL || d->held > 0 ? obstacle :
           "its requests held no worker for a time that can be measured";
}

void mst_plan_workers(struct mst_workers_plan *plan, struct mst_inquiry *q,
                      const struct mst_summary_server *server)
{
    struct mst_demand d = mst_demand_of(q->s, server);
    struct mst_per_process process;
    uint64_t ram;

    memset(plan, 0, sizeof *plan);
    plan->why_not = why_not(&q->b, server, &d);
    if (!mst_per_process_read(&process, q->db, server->id) ||
        !mst_ram_read(&ram, q->db, q->s->id)) {
        q->failed = true;
        plan->why_not = "the archive cannot be read";
    }
    if (plan->why_not != NULL)
        return;
    plan->now = server->workers_limit != MST_UNKNOWN ? server->workers_limit : server->max_busy;
    plan->threaded = mst_summary_is_threaded(server);
    plan->processes_fit = mst_processes_fit(&process, ram);
    plan->process_bytes = plan->processes_fit != MST_UNKNOWN ? process.high : 0;
    take_demand(plan, &q->b, server, &d);
    choose(plan, q, server, NULL);
    if (plan->workers != MST_UNKNOWN && plan->workers > plan->now)
        plan->workers = in_processes(q, server, plan->workers);
}

void mst_plan_pool(struct mst_workers_plan *plan, struct mst_inquiry *q,
                   const struct mst_summary_pool *pool)
{
    const struct mst_summary_server *php = q->b.php;
    struct mst_demand d = { .requests = pool->requests };
    double waited;

    memset(plan, 0, sizeof *plan);
    plan->processes_fit = MST_UNKNOWN;
    d.held = pool->waited > 0 ? (double)pool->run_sum_ns : 0;
    plan->why_not = why_not(&q->b, php, &d);
    if (plan->why_not != NULL)
        return;
    plan->now = pool->workers_limit;
    d.held /= (double)pool->requests * (double)MST_NS_PER_S;
    d.rate = (double)pool->requests * (double)MST_NS_PER_S /
             (double)mst_summary_under_load_ns(q->s, php);
    waited = (double)pool->wait_sum_ns / (double)pool->waited / (double)MST_NS_PER_S;
    plan->at_once = d.rate * (d.held + waited);
    plan->wanted = (uint64_t)ceil(plan->at_once);
    if (is_uneven(plan, pool->came_at_once_p99))
        take_most(plan, pool->came_at_once_p99);
    choose(plan, q, php, pool);
}

/* ---- enough for this load ---------------------------------------------------------- */

/* Idle connections that keep a worker are simulated of a load tool's clients only. */
static bool keeps_unseen(const struct mst_model_run *r, size_t gate)
{
    return gate == 0 && r->system.load.keepalive_timeout > 0 &&
           r->system.load.arrivals != MST_ARRIVALS_CLOSED;
}

static const char *find_least(struct mst_workers_enough *enough, struct mst_inquiry *q,
                              const struct mst_summary_server *server,
                              const struct mst_summary_pool *pool)
{
    const struct mst_prediction *p;
    const struct mst_model_workers *w;

    if (waits_one_by_one(q->s) == MST_ANSWER_UNKNOWN)
        return "a thinned archive does not tell whether what requests wait for lets in several at "
               "a time";
    p = mst_foresee(q);
    if (p == NULL)
        return mst_why_unforeseen(q);
    w = find_gate(p, server, pool);
    if (w == NULL)
        return "how many workers there can be is not known";
    if (keeps_unseen(p->run, w->gate))
        return "idle connections keep workers, and how many clients there were is not known";
    return mst_model_find_least(&enough->least, p, w->gate) ? NULL :
           "requests came faster than they could be answered";
}

void mst_plan_enough(struct mst_workers_enough *enough, struct mst_inquiry *q,
                     const struct mst_summary_server *server, const struct mst_summary_pool *pool)
{
    *enough = (struct mst_workers_enough){
        .why_not = mst_demand_obstacle(q->s, server, pool != NULL ? pool->requests :
                                                                    server->held.requests),
    };
    if (enough->why_not == NULL)
        enough->why_not = find_least(enough, q, server, pool);
    if (enough->why_not == NULL)
        enough->workers = in_processes(q, server, enough->least.limit);
}
