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

static uint64_t phase(const struct mst_summary_server *server, enum mst_phase which)
{
    return mst_known(server->phases[which].sum_ns);
}

/* Of a PHP that also works for others: the part of its time that is the front's. */
static uint64_t of_front(const struct mst_budget *b, uint64_t ns)
{
    uint64_t joined = b->php->joined;

    ns = mst_known(ns);
    if (b->fleet && b->php->only_apache == 0 && b->front->php.joined < joined)
        joined = b->front->php.joined;
    if (b->php == b->front || b->php->requests == 0 || joined >= b->php->requests)
        return ns;
    return mst_scale(ns, joined, b->php->requests);
}

static void take_run(struct mst_budget *b)
{
    const struct mst_summary_run *run = &b->php->run;
    uint64_t all = of_front(b, b->php->phases[MST_PHASE_PHP_RUN].sum_ns), told;
    int i;

    told = b->cpu_ns = of_front(b, run->cpu.sum_ns);
    b->cpu_wait_ns = of_front(b, run->cpu_wait.sum_ns);
    told += b->cpu_wait_ns;
    for (i = 0; i < MST_WAIT_COUNT; i++) {
        b->waits_ns[i] = run->waits[i].requests > 0 ? of_front(b, run->waits[i].times.sum_ns) : 0;
        told += b->waits_ns[i];
    }
    b->php_rest_ns = mst_subtract_saturated(all, told);
}

/* PHP's time in `handle` is a backend's where Apache handed requests over, else the handler's. */
static void take_handle(struct mst_budget *b)
{
    const struct mst_summary_overlay *php = &b->front->php;
    uint64_t backend = interval(b->front, MST_INTERVAL_BACKEND), in_php = 0, rest;

    b->checks_ns = interval(b->front, MST_INTERVAL_CHECKS);
    b->upload_ns = interval(b->front, MST_INTERVAL_UPLOAD);
    if (php->joined > 0) {
        b->php_wait_ns = mst_known(php->handle_wait.sum_ns);
        in_php = b->php_wait_ns + mst_known(php->handle_run.sum_ns);
    }
    b->backend_ns = mst_subtract_saturated(backend, in_php);
    rest = mst_subtract_saturated(phase(b->front, MST_PHASE_HANDLE), b->checks_ns + b->upload_ns);
    b->handle_ns = mst_subtract_saturated(rest, backend > in_php ? backend : in_php);
}

static void take_send(struct mst_budget *b)
{
    uint64_t in_php = b->front->php.joined > 0 ? mst_known(b->front->php.send_run.sum_ns) : 0;

    b->send_client_ns = interval(b->front, MST_INTERVAL_SEND_CLIENT);
    b->send_network_ns = interval(b->front, MST_INTERVAL_SEND_NETWORK);
    b->send_server_ns =
        mst_subtract_saturated(interval(b->front, MST_INTERVAL_SEND_SERVER), in_php);
    b->send_ns = mst_subtract_saturated(phase(b->front, MST_PHASE_SEND),
        b->send_client_ns + b->send_network_ns + b->send_server_ns + in_php);
}

bool mst_is_served(const struct mst_budget *b, const struct mst_summary_server *server)
{
    return mst_summary_is_php(server) == mst_summary_is_php(b->busiest) &&
           server->requests > 0 && server->requests >= b->busiest->requests / 100;
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
    b->total_ns = phase(b->front, MST_PHASE_TOTAL);
    if (b->php != NULL && (b->php == b->front || b->front->php.joined > 0))
        take_run(b);
    if (b->php == b->front) {
        b->php_wait_ns = phase(b->front, MST_PHASE_PHP_WAIT);
        return;
    }
    b->h2_wait_ns = interval(b->front, MST_INTERVAL_H2_WAIT);
    b->queue_ns = mst_subtract_saturated(phase(b->front, MST_PHASE_QUEUE), b->h2_wait_ns);
    b->tls_ns = interval(b->front, MST_INTERVAL_TLS);
    b->read_ns = mst_subtract_saturated(phase(b->front, MST_PHASE_READ), b->tls_ns);
    take_handle(b);
    take_send(b);
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

bool mst_budget_counts(const struct mst_budget *b, uint64_t part_ns)
{
    return mst_budget_milli(b, part_ns) >= MST_FINDING_MILLI &&
           mst_budget_mean_ns(b, part_ns) >= MST_PART_MEAN_MIN_NS;
}

uint64_t mst_budget_run_milli(const struct mst_budget *b, uint64_t part_ns)
{
    uint64_t run = b->php != NULL ? of_front(b, b->php->phases[MST_PHASE_PHP_RUN].sum_ns) : 0;

    return run > 0 ? mst_milli(part_ns, run) : 0;
}

bool mst_budget_knows_run(const struct mst_budget *b)
{
    return b->php != NULL && b->php->run.cpu.count > 0;
}
