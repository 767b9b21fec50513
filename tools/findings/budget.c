/* budget.c - where the time of all requests went: see budget.h. */
#include "findings/budget.h"

#include "analysis/thresholds.h"
#include "base/ratio.h"
#include "base/saturate.h"

/* The sum of an interval over all requests; 0 where none had it. */
static uint64_t interval(const struct mst_summary_server *server, enum mst_interval which)
{
    const struct mst_summary_interval *i = &server->intervals[which];

    return i->requests > 0 ? mst_known(i->times.sum_ns) : 0;
}

bool mst_is_served(const struct mst_budget *b, const struct mst_summary_server *server)
{
    return mst_summary_is_served(b->s, server);
}

static bool has_peers(const struct mst_budget *b)
{
    size_t served = 0, i;

    for (i = 0; i < b->s->server_count; i++)
        served += mst_is_served(b, &b->s->servers[i]);
    return served > 1;
}

/* The parts of a front that has none yet. */
static void take_parts(struct mst_budget *b)
{
    enum mst_part part;

    b->total_ns = mst_known(b->front->phases[MST_PHASE_TOTAL].sum_ns);
    for (part = 0; part < MST_PART_COUNT; part++)
        if (b->front->parts[part].requests > 0)
            b->ns[part] = mst_known(b->front->parts[part].times.sum_ns);
    b->log_ns = interval(b->front, MST_INTERVAL_LOG);
    b->undelivered_ns = interval(b->front, MST_INTERVAL_UNDELIVERED);
}

struct mst_budget mst_budget_make(const struct mst_summary *s)
{
    const struct mst_summary_server *busiest = mst_summary_front(s);
    struct mst_budget b = {
        .s = s, .busiest = busiest, .front = busiest, .php = mst_summary_php_of(s, busiest),
    };

    if (busiest == NULL)
        return b;
    b.fleet = has_peers(&b);
    take_parts(&b);
    return b;
}

struct mst_budget mst_budget_of(const struct mst_budget *run,
                                const struct mst_summary_server *front)
{
    struct mst_budget b = {
        .s = run->s, .busiest = run->busiest, .fleet = run->fleet, .front = front,
        .php = mst_summary_php_of(run->s, front),
    };

    take_parts(&b);
    return b;
}

uint64_t mst_budget_milli(const struct mst_budget *b, uint64_t part_ns)
{
    return b->total_ns > 0 ? mst_milli(part_ns, b->total_ns) : 0;
}

uint64_t mst_budget_mean_ns(const struct mst_budget *b, uint64_t part_ns)
{
    return b->front != NULL && b->front->requests > 0 ? part_ns / b->front->requests : 0;
}

uint64_t mst_budget_php_cpu_ns(const struct mst_budget *b)
{
    return b->ns[MST_PART_COMPILE] + b->ns[MST_PART_GC] + b->ns[MST_PART_CPU];
}

uint64_t mst_budget_for_workers_ns(const struct mst_budget *b)
{
    return b->ns[MST_PART_QUEUE] + b->ns[MST_PART_H2_WAIT] + b->ns[MST_PART_PHP_WAIT];
}

bool mst_budget_counts(const struct mst_budget *b, uint64_t part_ns)
{
    return mst_budget_milli(b, part_ns) >= MST_FINDING_MILLI &&
           mst_budget_mean_ns(b, part_ns) >= MST_PART_MEAN_MIN_NS;
}

uint64_t mst_budget_run_milli(const struct mst_budget *b, uint64_t part_ns)
{
    uint64_t run = mst_parts_within(b->ns, MST_WITHIN_PHP_RUN);

    return run > 0 ? mst_milli(part_ns, run) : 0;
}

bool mst_budget_knows_run(const struct mst_budget *b)
{
    return b->php != NULL && b->php->measured > 0;
}
