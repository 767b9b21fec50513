/* needs.c - what each of several servers needs of workers: see needs.h.
 *
 * Where workers ran out the numbers are the plan's, as in the findings; else how many were busy,
 * and how many would have been enough.
 */
#include "findings/needs.h"

#include <string.h>

#include "analysis/bottleneck.h"
#include "analysis/resources.h"
#include "analysis/thresholds.h"
#include "base/array.h"
#include "base/ratio.h"
#include "base/saturate.h"
#include "findings/change.h"
#include "findings/demand.h"
#include "findings/plan.h"
#include "findings/rules.h"
#include "findings/sentences.h"

#define BYTES_MOST 9e18   /* fits in 64 bits */

/* ---- memory ------------------------------------------------------------------------ */

/* The workers that share a process; 0: it is not known how many. */
static uint64_t workers_a_process(struct mst_inquiry *q, const struct mst_summary_server *server)
{
    uint64_t threads;

    if (!mst_summary_is_threaded(server))
        return 1;
    threads = mst_setting_number(q, server, "ThreadsPerChild");
    return threads != MST_UNKNOWN && threads <= server->workers_limit ? threads : 0;
}

/* What so many workers take at most. */
static uint64_t memory_of(struct mst_inquiry *q, const struct mst_summary_server *server,
                          uint64_t workers)
{
    uint64_t each = workers_a_process(q, server);
    struct mst_per_process process;
    double bytes;

    if (!mst_per_process_read(&process, q->db, server->id)) {
        q->failed = true;
        return MST_UNKNOWN;
    }
    if (!process.known || process.high <= 0 || each == 0 || workers == MST_UNKNOWN)
        return MST_UNKNOWN;
    bytes = (double)(workers / each + (workers % each != 0)) * process.high;
    return bytes < BYTES_MOST ? (uint64_t)bytes : MST_UNKNOWN;
}

/* ---- workers ----------------------------------------------------------------------- */

static const enum mst_bound bounds[] = {
    [MST_NEXT_NONE] = MST_BOUND_LIMIT, [MST_NEXT_CPU] = MST_BOUND_CPU,
    [MST_NEXT_ONE_BY_ONE] = MST_BOUND_ONE_BY_ONE, [MST_NEXT_MEMORY] = MST_BOUND_MEMORY,
    [MST_NEXT_OTHER] = MST_BOUND_LIMIT,
};

/* Where workers ran out. */
static void take_plan(struct mst_inquiry *q, struct mst_need *need,
                      const struct mst_workers_plan *plan)
{
    const struct mst_changed of = { q->db, q->s, need->server, need->pool != NULL ?
                                    need->pool->label : NULL, need->limit };
    struct mst_finding said;

    memset(&said, 0, sizeof said);
    need->why_not = plan->why_not;
    if (plan->why_not != NULL)
        return;
    mst_say_plan(&said, plan, need->directive);
    if (plan->workers != MST_UNKNOWN && plan->workers > plan->now)
        mst_change_limit(&need->changes, &of, plan->workers);
    mst_say_changes(said.action, sizeof said.action, &need->changes, 1);
    memcpy(need->action, said.action, sizeof need->action);
    memcpy(need->predicted, said.predicted, sizeof need->predicted);
    need->wanted = plan->wanted > plan->now ? plan->wanted : MST_UNKNOWN;
    need->advised = plan->workers;
    need->bound = bounds[plan->next];
}

/* Idle connections hold most of the workers: wanted is what they held, and what waited beside them
 * in the accept queue. No plan is made for this case, so there is no action and no prediction. */
static void take_keepalive(struct mst_need *need)
{
    uint64_t queued = mst_known(need->server->max_listen_queue);

    need->bound = MST_BOUND_KEEPALIVE;
    if (queued > 0)
        need->wanted = need->advised = mst_add_saturated(need->max_busy, queued);
}

static struct mst_need *add_need(struct mst_inquiry *q, const struct mst_summary_server *server,
                                 const struct mst_summary_pool *pool)
{
    struct mst_need *need = mst_append(&q->s->needs, &q->s->need_count, sizeof *need);

    if (need == NULL) {
        q->failed = true;
        return NULL;
    }
    need->server = server;
    need->pool = pool;
    need->directive = mst_workers_directive(server);
    need->limit = pool != NULL ? pool->workers_limit : server->workers_limit;
    need->max_busy = pool != NULL ? pool->max_busy : server->max_busy;
    need->wanted = need->advised = need->enough = need->memory_bytes = MST_UNKNOWN;
    return need;
}

/* Where they did not run out. */
static void take_seen(struct mst_need *need)
{
    need->wanted = need->max_busy;
    need->advised = need->limit != MST_UNKNOWN ? need->limit : need->max_busy;
}

/* Of the budget's front, or its PHP. */
static void find_of(struct mst_inquiry *q, const struct mst_summary_server *server)
{
    struct mst_need *need = add_need(q, server, NULL);
    struct mst_workers_plan plan;

    if (need == NULL ||
        (need->why_not = mst_demand_obstacle(q->s, server, server->held.requests)) != NULL)
        return;
    need->ran_out = mst_demand_ran_out(server);
    if (!need->ran_out) {
        take_seen(need);
    } else if (mst_starved_by_keepalive(server)) {
        take_keepalive(need);
    } else {
        mst_plan_workers(&plan, q, server);
        take_plan(q, need, &plan);
        if (need->bound == MST_BOUND_LIMIT && server != q->b.php && q->b.php != NULL &&
            mst_demand_ran_out(q->b.php))
            need->bound = MST_BOUND_PHP;
    }
    need->memory_bytes = memory_of(q, server, need->wanted);
}

/* ---- pools ------------------------------------------------------------------------- */

static bool pool_ran_out(const struct mst_summary_server *php, const struct mst_summary_pool *pool)
{
    uint64_t wait = mst_pool_mean_wait_ns(pool), run = mst_pool_mean_run_ns(pool);

    return mst_pool_is_short(php, pool) &&
           mst_milli(wait, mst_add_saturated(wait, mst_known(run))) >= MST_FINDING_MILLI;
}

static void find_of_pool(struct mst_inquiry *q, const struct mst_summary_server *php,
                         const struct mst_summary_pool *pool)
{
    struct mst_need *need = add_need(q, php, pool);
    struct mst_workers_plan plan;

    if (need == NULL || (need->why_not = mst_demand_obstacle(q->s, php, pool->requests)) != NULL)
        return;
    need->ran_out = pool_ran_out(php, pool);
    if (need->ran_out) {
        mst_plan_pool(&plan, q, pool);
        take_plan(q, need, &plan);
    } else {
        take_seen(need);
    }
    need->memory_bytes = memory_of(q, php, need->wanted);
}

/* Of several pools each has a limit of its own. */
static void find_of_php(struct mst_inquiry *q, const struct mst_summary_server *php)
{
    size_t i;

    if (!mst_pools_matter(php) || php->pool_count < 2) {
        find_of(q, php);
        return;
    }
    for (i = 0; i < php->pool_count; i++)
        if (mst_pool_was_used(&php->pools[i]))
            find_of_pool(q, php, &php->pools[i]);
}

/* ---- all of it --------------------------------------------------------------------- */

void mst_find_needs(struct mst_inquiry *q)
{
    const struct mst_summary_server *main_php = q->b.php, *server;
    size_t i;

    if (!q->b.fleet)
        return;
    if (!mst_summary_is_php(q->b.front))
        find_of(q, q->b.front);
    for (i = 0; i < q->s->server_count; i++) {
        server = &q->s->servers[i];
        if (!mst_summary_is_php(server) || server->requests == 0 || !mst_is_ours(q, server))
            continue;
        q->b.php = server;   /* its own time and waits, of several that work for the front */
        find_of_php(q, server);
    }
    q->b.php = main_php;
}

void mst_needs_find_enough(struct mst_inquiry *q)
{
    const struct mst_budget of_front = q->b;
    struct mst_workers_enough enough;
    struct mst_need *need;

    for (need = q->s->needs; need < q->s->needs + q->s->need_count; need++) {
        if (need->why_not != NULL || need->ran_out)
            continue;
        q->b = mst_budget_of(&of_front, mst_summary_front_of(q->s, need->server, of_front.front));
        mst_plan_enough(&enough, q, need->server, need->pool);
        if (enough.why_not == NULL)
            need->enough = enough.workers;
    }
    q->b = of_front;
}

void mst_needs_add_up(struct mst_inquiry *q)
{
    struct mst_summary *s = q->s;
    uint64_t ram;
    size_t i;

    s->room_bytes = MST_UNKNOWN;
    s->needs_bytes = 0;
    if (s->need_count == 0)
        return;
    if (!mst_ram_read(&ram, q->db, s->id)) {
        q->failed = true;
        return;
    }
    if (ram != MST_UNKNOWN)
        s->room_bytes = mst_scale(ram, MST_RAM_SHARE_MILLI, 1000);
    for (i = 0; i < s->need_count; i++)
        if (s->needs[i].server->local)
            s->needs_bytes = mst_add_saturated(s->needs_bytes,
                                               mst_known(s->needs[i].memory_bytes));
}

const struct mst_need *mst_needs_get(const struct mst_summary *s,
                                     const struct mst_summary_server *server)
{
    const struct mst_need *need = NULL;
    size_t i;

    for (i = 0; i < s->need_count; i++)
        if (s->needs[i].server == server && (need == NULL || !need->ran_out))
            need = &s->needs[i];
    return need;
}
