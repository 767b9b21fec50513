/* workers.c - the rules for workers and accept queues that ran out, and for processes that were
 * started too slowly. See rules.h. */
#include <inttypes.h>
#include <math.h>
#include <stdio.h>
#include <string.h>

#include "analysis/bottleneck.h"
#include "analysis/resources.h"
#include "analysis/run_requests.h"
#include "analysis/thresholds.h"
#include "archive/query.h"
#include "base/ratio.h"
#include "base/saturate.h"
#include "findings/plan.h"
#include "findings/rules.h"
#include "findings/sentences.h"

static void note_busy(struct mst_finding *f, uint64_t limit, uint64_t max_busy,
                      uint64_t mean_busy_milli)
{
    mst_found_number(f, "workers_limit", limit);
    mst_found_number(f, "max_busy", max_busy);
    mst_found_number(f, "mean_busy_milli", mean_busy_milli);
}

static void note_workers(struct mst_finding *f, const struct mst_summary_server *server)
{
    note_busy(f, server->workers_limit, server->max_busy, server->mean_busy_milli);
}

static uint64_t in_ns(double seconds)
{
    return isnan(seconds) ? MST_UNKNOWN : (uint64_t)(seconds * (double)MST_NS_PER_S);
}

static void note_foreseen(struct mst_finding *f, const struct mst_foreseen *foreseen)
{
    const struct mst_model_estimate *then = foreseen->then;
    double rate = then[MST_FORESEEN_RATE].value;

    if (!foreseen->known)
        return;
    if (foreseen->closed && !isnan(rate))
        mst_found_number(f, "predicted_rate_milli", (uint64_t)(rate * 1000));
    mst_found_number(f, "predicted_p50_ns", in_ns(then[MST_FORESEEN_P50].value));
    mst_found_number(f, "predicted_p95_ns", in_ns(then[MST_FORESEEN_P95].value));
}

/* What is predicted for so many workers, for the archive. A comparison does not judge what is
 * predicted for one of several servers. */
static void note_ledger(struct mst_finding *f, const struct mst_workers_plan *plan,
                        const char *pool, const char *directive)
{
    char workers[24];

    if (!plan->foreseen.known || plan->foreseen.of_several || plan->workers == MST_UNKNOWN ||
        plan->workers <= plan->now)
        return;
    f->ledger = plan->foreseen.ledger;
    snprintf(f->ledger.code, sizeof f->ledger.code, "%s", mst_code_names[f->code]);
    snprintf(workers, sizeof workers, "%" PRIu64, plan->workers);
    if (!mst_ledger_add_setting(&f->ledger, pool, directive, workers))
        f->ledger.setting_count = 0;
}

/* Action and prediction of a finding that workers ran out. pool: of an FPM; NULL: it has none of
 * that name, or several that share the workers. */
static void note_plan(struct mst_finding *f, const struct mst_workers_plan *plan,
                      const struct mst_summary_server *server, const char *pool)
{
    const char *directive = mst_workers_directive(server);

    if (plan->why_not == NULL) {
        mst_found_number(f, "workers_advised", plan->workers);
        mst_found_number(f, "wanted", plan->wanted);
        note_foreseen(f, &plan->foreseen);
        if (!mst_summary_is_php(server) || server->sapi_kind == MST_SAPI_FPM)
            note_ledger(f, plan, pool, directive);
        mst_found_number(f, "predicted_cpu_milli", plan->cpu_then_milli);
        mst_found_number(f, "start_servers_too", mst_summary_spawns(server) ? 1 : MST_UNKNOWN);
    }
    mst_say_plan(f, plan, directive);
}

static void plan_workers(struct mst_inquiry *q, struct mst_finding *f,
                         const struct mst_summary_server *server)
{
    struct mst_workers_plan plan;

    mst_plan_workers(&plan, q, server);
    note_plan(f, &plan, server, server->pool_count == 1 ? server->pools[0].label : NULL);
}

/* Whether the limit is too low as well for the load of a server that started its processes too
 * slowly, and nothing else limits it: then the next run would find that. Each of several pools has
 * a limit of its own. */
static void plan_beyond_limit(struct mst_inquiry *q, struct mst_finding *f,
                              const struct mst_summary_server *server)
{
    struct mst_workers_plan plan;

    if (server->pool_count > 1 && mst_pools_matter(server))
        return;
    mst_plan_workers(&plan, q, server);
    if (plan.why_not == NULL && plan.next == MST_NEXT_NONE && !plan.perhaps_one_by_one &&
        server->workers_limit != MST_UNKNOWN && plan.wanted > server->workers_limit) {
        mst_found_number(f, "workers_advised", plan.workers);
        mst_found_number(f, "wanted", plan.wanted);
    }
}

/* ---- Apache's ------------------------------------------------------------------------------ */

static bool apache_ran_out(const struct mst_budget *b)
{
    return b->front != b->php && mst_summary_is_short(b->front) && mst_summary_waits(b->front) &&
           mst_budget_milli(b, b->ns[MST_PART_QUEUE]) >= MST_FINDING_MILLI;
}

static void find_apache(struct mst_inquiry *q)
{
    struct mst_finding *f = mst_found(q, MST_CODE_APACHE_WORKERS, MST_CERTAIN,
                                      q->b.ns[MST_PART_QUEUE]);

    f->requests = q->b.front->waited;
    note_workers(f, q->b.front);
    mst_found_number(f, "queue_mean_ns", q->b.front->phases[MST_PHASE_QUEUE].mean_ns);
    mst_say_apache_workers(f, &q->b);
    plan_workers(q, f, q->b.front);
}

/* Whether a sample during the load is as `condition` says; :share and :factor are set. */
static bool sampled(struct mst_inquiry *q, const char *condition, uint64_t share, uint64_t factor)
{
    char sql[320];
    struct mst_query row;

    snprintf(sql, sizeof sql, "SELECT count(*) AS number FROM samples WHERE server_id = :id "
             "AND moment IN ('during', 'end') AND :share > 0 AND :factor > 0 AND %s", condition);
    row = mst_query_ask(q->db, sql, q->b.front->id);
    mst_query_set(&row, ":share", (int64_t)share);
    mst_query_set(&row, ":factor", (int64_t)factor);
    return mst_known(mst_end_with_number(q, &row)) > 0;
}

/* AsyncRequestWorkerFactor, of which event uses the whole part. 0: the server does not tell. */
static uint64_t async_factor(struct mst_inquiry *q)
{
    uint64_t factor = mst_setting_number(q, q->b.front, "AsyncRequestWorkerFactor");

    return factor == MST_UNKNOWN ? 0 : factor > 0 ? factor : 1;
}

/* Event takes as many connections as it has workers, and AsyncRequestWorkerFactor more for each
 * idle one. One process can be at its limit before all are: near the limit it is likely. */
static bool connections_were_full(struct mst_inquiry *q, enum mst_certainty *certainty)
{
    static const char near[] =
        "connections * 1000 >= :share * (workers_busy + idle + :factor * idle)";
    const char *mpm = q->b.front->mpm;
    uint64_t factor;

    if (mpm == NULL || strcmp(mpm, "event") != 0)
        return false;
    factor = async_factor(q);
    *certainty = factor > 0 && sampled(q, near, 1000, factor) ? MST_CERTAIN : MST_LIKELY;
    return *certainty == MST_CERTAIN ||
           sampled(q, near, MST_EVENT_FULL_MILLI, factor > 0 ? factor : MST_DEFAULT_ASYNC_FACTOR);
}

/* Whether new processes came too late: those that were there had hardly an idle worker, or had
 * ended, which their parent notices once a second. */
static bool started_too_slowly(struct mst_inquiry *q)
{
    const struct mst_summary_server *front = q->b.front;

    return mst_known(front->forks) > 0 &&
           (mst_summary_started_late(front) ||
            mst_known(front->exits) > mst_restart_exits(q, front) ||
            sampled(q, "idle * 1000 <= :share * workers_busy", MST_SPAWNING_IDLE_MILLI, 1));
}

/* Requests waited below the limit: event accepted no more connections, or processes were started
 * too slowly. What requests waited for while the server restarted is that finding's. */
static void find_below_limit(struct mst_inquiry *q)
{
    const struct mst_summary_server *front = q->b.front;
    enum mst_certainty certainty;
    struct mst_finding *f;

    if (front == q->b.php || mst_mean_wait_ns(front) < MST_QUEUE_MEAN_MIN_NS ||
        mst_budget_milli(&q->b, mst_subtract_saturated(q->b.ns[MST_PART_QUEUE],
                                                      mst_restart_wait_ns(q, front))) <
            MST_FINDING_MILLI)
        return;
    if (!mst_summary_started_late(front) && connections_were_full(q, &certainty)) {
        f = mst_found(q, MST_CODE_EVENT_CONNECTIONS, certainty, q->b.ns[MST_PART_QUEUE]);
    } else if (started_too_slowly(q)) {
        f = mst_found(q, MST_CODE_APACHE_SPAWNING, MST_LIKELY, q->b.ns[MST_PART_QUEUE]);
        mst_found_number(f, "forks", front->forks);
        plan_beyond_limit(q, f, front);
    } else {
        f = mst_found(q, MST_CODE_CANNOT_TELL, MST_CANNOT_TELL, q->b.ns[MST_PART_QUEUE]);
    }
    f->requests = front->waited;
    note_workers(f, front);
    mst_say_below_limit(f, &q->b);
    if (f->code == MST_CODE_CANNOT_TELL)
        mst_note_halted(q, f);
}

/* ---- PHP's --------------------------------------------------------------------------------- */

/* Below a millisecond on average it is the hand-over. */
static bool php_waited(const struct mst_budget *b)
{
    return b->php != NULL && mst_budget_milli(b, b->ns[MST_PART_PHP_WAIT]) >= MST_FINDING_MILLI &&
           mst_php_wait(b->front)->mean_ns >= MST_PHP_WAIT_MEAN_MIN_NS;
}

/* The queue in front of PHP overflowed: connections to it wait for the kernel's next try, or fail.
 * A Unix socket's clients get EAGAIN, and no overflow is counted. */
static bool php_queue_overflowed(const struct mst_budget *b)
{
    const struct mst_summary_server *php = b->php;

    return php != NULL && php != b->front && php->max_listen_queue != MST_UNKNOWN &&
           php->listen_queue_limit != MST_UNKNOWN &&
           php->max_listen_queue >= php->listen_queue_limit &&
           ((b->s->listen_overflows != MST_UNKNOWN && b->s->listen_overflows > 0) ||
            b->front->errors_5xx > 0);
}

static void find_php_queue(struct mst_inquiry *q)
{
    const struct mst_summary_server *php = q->b.php;
    struct mst_finding *f = mst_found(q, MST_CODE_PHP_ACCEPT_QUEUE, MST_CERTAIN,
                                      q->b.ns[MST_PART_PHP_WAIT]);

    f->of = php;
    if (php->listen_pool != NULL && php->listen_address != NULL)
        snprintf(f->subject, sizeof f->subject, "%s (%s)", php->listen_pool, php->listen_address);
    f->weight = mst_budget_milli(&q->b, mst_budget_for_workers_ns(&q->b) +
                                        q->b.ns[MST_PART_BACKEND]) + 1;
    if (f->weight < MST_FAILURES_FLOOR_MILLI)
        f->weight = MST_FAILURES_FLOOR_MILLI;
    mst_found_number(f, "queue", php->max_listen_queue);
    mst_found_number(f, "queue_limit", php->listen_queue_limit);
    mst_found_number(f, "overflows", q->s->listen_overflows);
    mst_say_php_queue(f, &q->b);
}

/* PHP can go on after the answer is complete (fastcgi_finish_request()): that holds a worker, and
 * is no part of any request's time. Not of answers that Apache gave itself as it gave requests
 * up. */
static void note_work_after_answers(struct mst_inquiry *q, struct mst_finding *f)
{
    static const char after[] =
        "SELECT sum(max(p.start_ns + p.run_ns - a.ended_ns, 0)) AS number FROM (SELECT request_id, "
        "start_ns + queue_ns + read_ns + handle_ns + send_ns AS ended_ns "
        MST_FROM_APACHES_REQUESTS "AND status < 500 AND aborted = 0) AS a "
        "JOIN php_requests AS p ON p.request_id = a.request_id AND p.ghost = 0";
    const struct mst_summary_server *php = q->b.php;
    const struct mst_summary_times *run = &php->phases[MST_PHASE_PHP_RUN];
    uint64_t after_ns;

    if (php == q->b.front || q->b.fleet || run->count == 0)
        return;
    after_ns = mst_ask_sum(q, after, q->b.front);
    if (after_ns < run->sum_ns / 2)
        return;
    mst_found_number(f, "after_answer_ns", after_ns / run->count);
    mst_say_work_after_answers(f, php, after_ns / run->count);
}

static void find_php(struct mst_inquiry *q)
{
    const struct mst_summary_server *php = q->b.php;
    struct mst_finding *f = mst_found(q, MST_CODE_PHP_WORKERS, MST_CERTAIN,
                                      q->b.ns[MST_PART_PHP_WAIT]);

    f->of = php;
    if (php->workers_limit == MST_UNKNOWN)
        f->certainty = MST_LIKELY;
    note_workers(f, php);
    mst_found_number(f, "wait_mean_ns", mst_php_wait(q->b.front)->mean_ns);
    mst_say_php_workers(f, &q->b);
    note_work_after_answers(q, f);
    plan_workers(q, f, php);
}

/* Requests that Apache gave up after its own time-out wait on in PHP's queue: PHP knows for how
 * long, and Apache only that its backend did not answer. */
static bool find_php_of_lost_requests(struct mst_inquiry *q)
{
    const struct mst_summary_server *php = q->b.php;
    const struct mst_summary_times *wait, *run;
    struct mst_finding *f;
    uint64_t lost_ns;

    if (php == NULL || php == q->b.front || !mst_summary_is_short(php))
        return false;
    wait = &php->phases[MST_PHASE_PHP_WAIT];
    run = &php->phases[MST_PHASE_PHP_RUN];
    if (mst_known(wait->mean_ns) < MST_PHP_WAIT_MEAN_MIN_NS || run->mean_ns == MST_UNKNOWN)
        return false;
    lost_ns = mst_ask_sum(q, "SELECT sum(backend_ns) AS number " MST_FROM_APACHES_REQUESTS
                     "AND status BETWEEN 502 AND 504 AND backend LIKE '%fcgi:%'", q->b.front);
    lost_ns = mst_scale(lost_ns, wait->mean_ns, wait->mean_ns + run->mean_ns);
    if (mst_budget_milli(&q->b, lost_ns) < MST_FINDING_MILLI)
        return false;
    f = mst_found(q, MST_CODE_PHP_WORKERS, MST_LIKELY, lost_ns);
    f->of = php;
    note_workers(f, php);
    mst_found_number(f, "wait_mean_ns", wait->mean_ns);
    mst_found_number(f, MST_LOST_BY_APACHE, 1);
    mst_say_php_workers_late(f, php);
    plan_workers(q, f, php);
    return true;
}

/* Of several pools each has a limit of its own. */
static bool pool_ran_out(const struct mst_budget *b, const struct mst_summary_pool *pool)
{
    return mst_pool_is_short(b->php, pool) &&
           mst_budget_milli(b, pool->wait_sum_ns) >= MST_FINDING_MILLI;
}

static void find_pool(struct mst_inquiry *q, const struct mst_summary_pool *pool)
{
    struct mst_finding *f = mst_found(q, MST_CODE_PHP_WORKERS, MST_CERTAIN, pool->wait_sum_ns);
    struct mst_workers_plan plan;

    f->of = q->b.php;
    mst_found_subject(f, pool->label);
    f->requests = pool->requests;
    note_busy(f, pool->workers_limit, pool->max_busy, pool->mean_busy_milli);
    mst_found_number(f, "wait_mean_ns", mst_pool_mean_wait_ns(pool));
    mst_found_number(f, "limit_reached", pool->limit_reached);
    mst_say_pool(f, &q->b, pool);
    mst_plan_pool(&plan, q, pool);
    note_plan(f, &plan, q->b.php, pool->label);
}

static bool find_pools(struct mst_inquiry *q)
{
    const struct mst_summary_server *php = q->b.php;
    bool found = false;
    size_t i;

    if (php == NULL || !mst_pools_matter(php) || php->pool_count < 2)
        return false;
    for (i = 0; i < php->pool_count; i++)
        if (pool_ran_out(&q->b, &php->pools[i])) {
            find_pool(q, &php->pools[i]);
            found = true;
        }
    return found;
}

/* Each worker of FPM takes one connection at a time, and keeps it for as long as Apache does. A run
 * of journals (mpmstat explain) has one look, at its end. */
struct bound { uint64_t looks, connections_milli, busy_milli; };

static bool are_bound(struct mst_inquiry *q, struct bound *bound)
{
    const struct mst_summary_server *php = q->b.php;
    struct mst_query row = mst_query_ask(q->db,
        "SELECT count(*) AS looks, CAST(avg(connections) * 1000 AS INTEGER) AS connections, "
        "CAST(avg(workers_busy) * 1000 AS INTEGER) AS busy FROM samples WHERE server_id = :id "
        "AND connections IS NOT NULL AND moment = (SELECT min(moment) FROM samples WHERE "
        "server_id = :id AND connections IS NOT NULL AND moment IN ('during', 'end'))", php->id);

    bound->looks = bound->connections_milli = bound->busy_milli = MST_UNKNOWN;
    if (mst_query_next(&row)) {
        bound->looks = mst_row_number(&row, "looks");
        bound->connections_milli = mst_row_number(&row, "connections");
        bound->busy_milli = mst_row_number(&row, "busy");
    }
    q->failed |= !mst_query_done(&row);
    return php->workers_limit != MST_UNKNOWN && bound->connections_milli != MST_UNKNOWN &&
           bound->connections_milli > 0 &&
           bound->connections_milli >= php->workers_limit * MST_BOUND_MILLI &&
           mst_milli(bound->busy_milli, bound->connections_milli) <= MST_BOUND_BUSY_MILLI;
}

/* A request behind a bound worker has a php_wait only once it gets one: until then it is one of the
 * connections in FPM's queue. */
static bool find_php_bound(struct mst_inquiry *q)
{
    const struct mst_summary_server *php = q->b.php;
    struct bound bound;
    struct mst_finding *f;
    uint64_t queue;

    if (php == NULL || php == q->b.front || php->sapi_kind != MST_SAPI_FPM || !are_bound(q, &bound))
        return false;
    queue = mst_known(php->max_listen_queue);
    if (queue == 0 && !php_waited(&q->b))
        return false;
    f = mst_found(q, MST_CODE_PHP_CONNECTIONS, bound.looks > 1 ? MST_CERTAIN : MST_LIKELY,
                  q->b.ns[MST_PART_PHP_WAIT]);
    f->of = php;
    if (queue > 0) {
        f->share_milli = mst_milli(queue, queue + mst_known(php->max_busy));
        f->share_of = MST_SHARE_OF_AT_ONCE;
        f->weight = 1000 + f->share_milli;   /* it is in front of all that PHP knows */
    }
    mst_found_number(f, "workers_limit", php->workers_limit);
    mst_found_number(f, "connections_milli", bound.connections_milli);
    mst_found_number(f, "mean_busy_milli", bound.busy_milli);
    mst_found_number(f, "queue", queue > 0 ? queue : MST_UNKNOWN);
    mst_say_php_connections(f, &q->b, bound.connections_milli, bound.busy_milli);
    return true;
}

/* FPM reads a body before the request begins: until then its worker is not busy for the extension,
 * but others wait for it. Only where uploads have half of the time with a worker. */
static bool find_php_in_uploads(struct mst_inquiry *q)
{
    const struct mst_summary_server *php = q->b.php;
    struct mst_finding *f;

    if (php == NULL || php == q->b.front || php->sapi_kind != MST_SAPI_FPM || !php_waited(&q->b) ||
        2 * q->b.ns[MST_PART_UPLOAD] + q->b.ns[MST_PART_PHP_WAIT] + q->b.ns[MST_PART_QUEUE] +
            q->b.ns[MST_PART_H2_WAIT] < q->b.total_ns)
        return false;
    f = mst_found(q, MST_CODE_PHP_WORKERS, MST_LIKELY, q->b.ns[MST_PART_PHP_WAIT]);
    f->of = php;
    note_workers(f, php);
    mst_say_php_in_uploads(f, &q->b);
    return true;
}

/* As the load began there were as many processes as requests came at once, and they stayed: none
 * waited for one to be started. */
static bool had_processes(struct mst_inquiry *q, const struct mst_summary_server *php)
{
    bool stayed = mst_known(php->exits) <= php->requests / MST_STAYED_REQUESTS;

    return stayed && php->at_once_p99 != MST_UNKNOWN && php->at_once_p99 <= mst_ask_sum(q,
        "SELECT idle + workers_busy AS number FROM samples WHERE server_id = :id AND "
        "moment = 'before'", php);
}

static void find_php_below_limit(struct mst_inquiry *q)
{
    const struct mst_summary_server *php = q->b.php;
    /* One that was stopped and started has forked all its workers anew. */
    bool forked = mst_known(php->forks) > 0 && mst_known(php->restarts) == 0 &&
                  !had_processes(q, php);
    uint64_t restart_ns = mst_restart_wait_ns(q, php);
    struct mst_finding *f;

    if (mst_budget_milli(&q->b, mst_subtract_saturated(q->b.ns[MST_PART_PHP_WAIT], restart_ns)) <
        MST_FINDING_MILLI)
        return;
    f = mst_found(q, forked ? MST_CODE_PHP_SPAWNING : MST_CODE_CANNOT_TELL,
                  forked ? MST_LIKELY : MST_CANNOT_TELL, q->b.ns[MST_PART_PHP_WAIT]);
    f->of = php;
    note_workers(f, php);
    mst_found_number(f, "forks", php->forks);
    if (forked)
        plan_beyond_limit(q, f, php);
    mst_say_php_below_limit(f, &q->b, forked, !forked && php->sapi_kind == MST_SAPI_FPM &&
                            php->max_listen_queue == 0 && !mst_was_stopped(q, php));
    if (!forked)
        mst_note_halted(q, f);
}

/* Each request waits for the start of its own process: there is no number of them that could be too
 * low. */
static void find_cgi_processes(struct mst_inquiry *q)
{
    struct mst_finding *f = mst_found(q, MST_CODE_CGI_PROCESSES, MST_CERTAIN,
                                      q->b.ns[MST_PART_PHP_WAIT]);

    f->of = q->b.php;
    mst_found_number(f, "wait_mean_ns", mst_php_wait(q->b.front)->mean_ns);
    mst_say_cgi_processes(f);
}

/* mod_fcgid lets a request that finds no free process sleep for a second before it looks again
 * (handle_request in its fcgid_bridge.c), also where one is free at once: waits of whole seconds,
 * while processes are idle. */
static bool find_fcgid_waits(struct mst_inquiry *q)
{
    static const char waits[] =
        "SELECT total(wait_ns) AS waited, coalesce(sum(wait_ns >= 900000000), 0) AS \"long\", "
        "coalesce(sum(wait_ns >= 900000000 AND wait_ns % 1000000000 < 100000000), 0) AS whole, "
        "total(CASE WHEN wait_ns >= 900000000 AND wait_ns % 1000000000 < 100000000 THEN wait_ns "
        "END) AS whole_ns, coalesce(max(wait_ns), 0) AS longest " MST_FROM_PHPS_REQUESTS;
    const struct mst_summary_server *php = q->b.php;
    struct mst_query row;
    uint64_t whole, longest_ns = 0, at_once = q->b.front->at_once_p99;
    struct mst_finding *f;
    bool is_so = false;

    if (php->sapi_kind != MST_SAPI_FCGID)
        return false;
    row = mst_query_ask(q->db, waits, php->id);
    if (mst_query_next(&row)) {
        whole = mst_row_number(&row, "whole");
        longest_ns = mst_row_number(&row, "longest");
        is_so = whole >= MST_WHOLE_SECONDS_MIN &&
                mst_milli(whole, mst_row_number(&row, "long")) >= MST_WHOLE_SECONDS_MILLI &&
                2 * mst_row_real(&row, "whole_ns") >= mst_row_real(&row, "waited");
    }
    q->failed |= !mst_query_done(&row);
    if (!is_so)
        return false;
    f = mst_found(q, MST_CODE_FCGID_WAITS, MST_CERTAIN, q->b.ns[MST_PART_PHP_WAIT]);
    f->of = php;
    f->requests = whole;
    note_workers(f, php);
    mst_found_number(f, "longest_ns", longest_ns);
    mst_found_number(f, "wanted", at_once);
    mst_say_fcgid_waits(f, &q->b, mst_known(php->forks) > 0);
    return true;
}

/* A PHP behind another server than Apache does not know when requests were handed to it.
 * Connections that its accept queue held are such requests. */
static void find_php_by_its_queue(struct mst_inquiry *q)
{
    const struct mst_summary_server *php = q->b.php;
    struct mst_finding *f;

    if (php == NULL || php != q->b.front || php->phases[MST_PHASE_PHP_WAIT].count > 0 ||
        !mst_summary_all_busy(php) || php->max_listen_queue == MST_UNKNOWN ||
        php->max_listen_queue == 0)
        return;
    f = mst_found(q, MST_CODE_PHP_WORKERS, MST_LIKELY, 0);
    f->of = php;
    f->share_milli = mst_milli(php->max_listen_queue,
                               php->max_listen_queue + php->max_busy);
    f->share_of = MST_SHARE_OF_AT_ONCE;
    f->weight = 1000 + f->share_milli;   /* it is in front of all that PHP knows */
    note_workers(f, php);
    mst_found_number(f, "queue", php->max_listen_queue);
    mst_say_php_queued(f, php);
    plan_workers(q, f, php);
}

void mst_find_workers(struct mst_inquiry *q)
{
    bool php = php_waited(&q->b), pools = php && find_pools(q);

    if (php_queue_overflowed(&q->b))
        find_php_queue(q);
    if (php && q->b.php->sapi_kind == MST_SAPI_CGI)
        find_cgi_processes(q);
    else if (php && !pools && mst_summary_is_short(q->b.php))
        find_php(q);
    else if (!pools && !find_php_in_uploads(q) && !find_php_bound(q) &&
             !find_php_of_lost_requests(q) && php && !find_fcgid_waits(q))
        find_php_below_limit(q);
    find_php_by_its_queue(q);
    if (mst_starved_by_keepalive(q->b.front)) {
        mst_say_keepalive(mst_found(q, MST_CODE_KEEPALIVE, MST_CERTAIN, q->b.ns[MST_PART_QUEUE]),
                          &q->b);
        return;
    }
    if (apache_ran_out(&q->b))
        find_apache(q);
    else if (mst_waits_are_too_short(q->b.front))
        mst_say_short_waits(mst_found(q, MST_CODE_CANNOT_TELL, MST_CANNOT_TELL,
                                      q->b.ns[MST_PART_QUEUE]), &q->b);
    else
        find_below_limit(q);
}

/* ---- queues -------------------------------------------------------------------------------- */

/* What the client waited for before the server knew of it: thousandths of the client's time. */
static uint64_t before_server_milli(const struct mst_inquiry *q)
{
    const struct mst_summary_times *client = &q->s->client.times;
    uint64_t server = q->b.front->phases[MST_PHASE_TOTAL].mean_ns;

    if (!q->s->client.known || client->mean_ns == MST_UNKNOWN || client->mean_ns == 0 ||
        server == MST_UNKNOWN || server >= client->mean_ns)
        return 0;
    return mst_milli(client->mean_ns - server, client->mean_ns);
}

void mst_find_accept_queue(struct mst_inquiry *q)
{
    struct mst_finding *f;

    if (q->s->checks[MST_CHECK_ACCEPT_QUEUE].ok != MST_ANSWER_NO)
        return;
    f = mst_found(q, MST_CODE_ACCEPT_QUEUE, MST_CERTAIN, 0);
    f->share_milli = MST_UNKNOWN;
    f->weight = MST_FAILURES_FLOOR_MILLI;
    if (before_server_milli(q) >= MST_HOLDER_TIME_MILLI)
        f->weight = 1000 + before_server_milli(q);   /* more than all of the server's time */
    mst_found_number(f, "queue", q->b.front->max_listen_queue);
    mst_found_number(f, "queue_limit", q->b.front->listen_queue_limit);
    mst_found_number(f, "overflows", q->s->listen_overflows);
    mst_say_accept_queue(f, &q->b);
}

void mst_find_h2_workers(struct mst_inquiry *q)
{
    struct mst_finding *f;

    if (mst_budget_milli(&q->b, q->b.ns[MST_PART_H2_WAIT]) < MST_FINDING_MILLI)
        return;
    f = mst_found(q, MST_CODE_H2_WORKERS, MST_CERTAIN, q->b.ns[MST_PART_H2_WAIT]);
    f->requests = q->b.front->intervals[MST_INTERVAL_H2_WAIT].requests;
    mst_found_number(f, "workers_limit", q->b.front->resources.http2_workers_limit);
    mst_found_number(f, "max_busy", q->b.front->resources.http2_workers);
    mst_found_number(f, "full_milli", q->b.front->resources.http2_full_milli);
    mst_say_h2_workers(f, &q->b);
}
