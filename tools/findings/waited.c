/* waited.c - the rules for what requests waited for: PHP's waits, backends, what comes before and
 * after the application. See rules.h. */
#include <stdlib.h>
#include <string.h>

#include "analysis/run_requests.h"
#include "analysis/thresholds.h"
#include "archive/query.h"
#include "base/ratio.h"
#include "findings/holder.h"
#include "findings/in_code.h"
#include "findings/own_end.h"
#include "findings/rules.h"
#include "findings/sentences.h"
#include "findings/serial.h"
#include "segment/fields.h"

static const enum mst_code codes[MST_WAIT_COUNT] = {
#define X_CODE_OF_WAIT(id, name) [MST_WAIT_##id] = MST_CODE_##id,
    MST_WAITS(X_CODE_OF_WAIT)
};

/* ---- PHP's waits --------------------------------------------------------------------------- */

/* The end of that kind that took longest: ends are in this order. NULL: none has a name. */
static const struct mst_summary_end *longest_end(const struct mst_summary_server *server,
                                                 const char *kind)
{
    size_t i;

    for (i = 0; server != NULL && i < server->end_count; i++)
        if (strcmp(server->ends[i].kind, kind) == 0)
            return &server->ends[i];
    return NULL;
}

static void note_end(struct mst_finding *f, const struct mst_inquiry *q,
                     const struct mst_summary_end *end)
{
    if (end == NULL)
        return;
    mst_found_subject(f, end->name);
    mst_found_number(f, "calls", end->calls);
    mst_found_number(f, "failed", end->failed);
    mst_found_number(f, MST_CONNECT_NS, end->connect_ns);
    mst_found_number(f, "at_once_milli", mst_summary_at_once_milli(q->s, end));
}

/* Such a call takes a second worker while the first one waits for it. */
static void note_own_end(struct mst_finding *f, struct mst_inquiry *q,
                         const struct mst_summary_end *end)
{
    if (mst_own_end(q, end->name) != q->b.front || !q->b.php->local)
        return;
    mst_found_answer(f, MST_CALLS_ITSELF, MST_ANSWER_YES);
    mst_say_own_end(f, end->name);
}

/* Whose requests waited there: a page that few ask for can have nearly all of a wait. */
#define WAITED_BY(name) \
    "SELECT " name " AS name, (SELECT sum(w.wait_ns) FROM php_waits w WHERE w.key = " \
    "php_requests.key AND w.server_id = php_requests.server_id AND w.kind = :kind) AS time_ns, " \
    "0 AS waited_ns " MST_FROM_PHPS_REQUESTS
#define BACKEND_BY(name) \
    "SELECT " name " AS name, backend_ns AS time_ns, 0 AS waited_ns " MST_FROM_APACHES_REQUESTS
#define COMPUTED_BY(name) \
    "SELECT " name " AS name, user_ns + system_ns AS time_ns, 0 AS waited_ns " \
    MST_FROM_PHPS_REQUESTS
#define UNSEEN_BY(name) \
    "SELECT " name " AS name, max(handle_ns - coalesce(checks_ns, 0) - coalesce(upload_ns, 0) - " \
    "coalesce(backend_ns, 0), 0) AS time_ns, 0 AS waited_ns " MST_FROM_APACHES_REQUESTS
#define REST_BY(name) \
    "SELECT " name " AS name, max(run_ns - coalesce(user_ns, 0) - coalesce(system_ns, 0) - " \
    "coalesce(cpu_wait_ns, 0) - coalesce(waits_ns, 0), 0) AS time_ns, 0 AS waited_ns " \
    MST_FROM_PHPS_REQUESTS
static const struct mst_holders php_holders[] = {
    { WAITED_BY(MST_PHPS_PATH), true, NULL }, { WAITED_BY("script"), false, NULL },
}, computing_holders[] = {
    { COMPUTED_BY(MST_PHPS_PATH), true, NULL }, { COMPUTED_BY("script"), false, NULL },
}, apache_holders[] = {
    { BACKEND_BY("path"), true, NULL }, { BACKEND_BY("label"), false, NULL },
}, unseen_holders[] = {
    { UNSEEN_BY("path"), true, NULL }, { UNSEEN_BY("label"), false, NULL },
}, rest_holders[] = {
    { REST_BY(MST_PHPS_PATH), true, NULL }, { REST_BY("script"), false, NULL },
};

/* holders: pages, and the groups that every archive has. */
static void note_holder(struct mst_finding *f, struct mst_inquiry *q,
                        const struct mst_holders holders[2],
                        const struct mst_summary_server *server, const char *kind)
{
    struct mst_holder page = { .groups = 0 }, h = mst_holder_ask(q, &holders[1], server->id, kind);

    if (mst_summary_is_php(server) && f->place.function[0] == '\0' && h.name[0] != '\0' &&
        mst_holder_of_time_milli(&h) >= MST_HOLDER_TIME_MILLI)
        mst_say_script(f, &h);
    if (mst_holder_knows_pages(q, server))
        page = mst_holder_ask(q, &holders[0], server->id, kind);
    if (mst_holder_stands_out(&page, &holders[0]))
        h = page;
    else if (!mst_holder_stands_out(&h, &holders[1]))
        return;
    mst_found_number(f, "of_wait_milli", mst_holder_of_time_milli(&h));
    mst_found_number(f, "of_requests_milli", mst_holder_of_requests_milli(&h));
    mst_say_whose(f, &h);
}

/* A lock lets in one at a time by its nature; but there can be as many locks as sessions. */
static void find_wait(struct mst_inquiry *q, int wait)
{
    uint64_t ns = q->b.ns[MST_PART_WAITS + wait], of_run = mst_budget_run_milli(&q->b, ns);
    const struct mst_summary_end *end = longest_end(q->b.php, mst_wait_names[wait]);
    enum mst_answer one_by_one = MST_ANSWER_NO;
    bool is_lock = wait == MST_WAIT_LOCK;
    struct mst_finding *f;

    if (!mst_budget_counts(&q->b, ns) && (of_run < MST_HOLDER_TIME_MILLI ||
                               mst_budget_mean_ns(&q->b, ns) < MST_PART_MEAN_MIN_NS))
        return;
    if (wait != MST_WAIT_SLEEP && (is_lock || of_run >= MST_HOLDER_TIME_MILLI))
        one_by_one = mst_serial(q, MST_SERIAL_WAIT, q->b.php, mst_wait_names[wait],
                                is_lock ? MST_LOCK_INSIDE_MIN : MST_SERIAL_INSIDE_MIN);
    f = mst_found(q, codes[wait], MST_CERTAIN, ns);
    f->requests = q->b.php->parts[MST_PART_WAITS + wait].requests;
    if (one_by_one == MST_ANSWER_YES)
        f->weight = mst_weight_with_all_waiting(&q->b, ns) + 1;
    else if (is_lock)
        f->weight = mst_weight_with_queue(&q->b, ns) + 1;
    else if (of_run >= MST_HOLDER_TIME_MILLI && f->weight < MST_HEADLINE_MILLI)
        f->weight = MST_HEADLINE_MILLI;   /* what PHP's workers were held by, where they ran out */
    note_end(f, q, end);
    mst_found_number(f, "mean_ns", mst_budget_mean_ns(&q->b, ns));
    mst_found_number(f, "of_php_run_milli", of_run);
    mst_found_answer(f, MST_ONE_AT_A_TIME, one_by_one);
    mst_say_wait(f, &q->b, (enum mst_wait)wait, end, is_lock ? MST_ANSWER_YES : one_by_one);
    if ((wait == MST_WAIT_HTTP || wait == MST_WAIT_STREAM) && end != NULL)
        note_own_end(f, q, end);
    mst_note_code(q, f, 1 + (unsigned)wait);
    note_holder(f, q, php_holders, q->b.php, mst_wait_names[wait]);
}

/* ---- Apache's ------------------------------------------------------------------------------ */

/* Where the backend is a PHP that is known: what of it passed after PHP had ended, when Apache
 * reads what PHP said, and writes its error messages to its own log. */
static bool find_after_php(struct mst_inquiry *q)
{
    static const char after[] =
        "SELECT sum(max(a.answer_ns - p.start_ns - p.run_ns, 0)) AS number "
        "FROM (SELECT request_id, "
        "start_ns + queue_ns + read_ns + checks_ns + upload_ns + backend_ns AS answer_ns "
        MST_FROM_APACHES_REQUESTS "AND backend_ns > 0) AS a "
        "JOIN php_requests AS p ON p.request_id = a.request_id AND p.ghost = 0";
    uint64_t ns;
    struct mst_finding *f;

    if (q->b.php == NULL || q->b.fleet)
        return false;
    ns = mst_ask_sum(q, after, q->b.front);
    if (ns < q->b.ns[MST_PART_BACKEND] / 2)
        return false;
    f = mst_found(q, MST_CODE_CANNOT_TELL, MST_CANNOT_TELL, ns);
    mst_say_after_php(f, &q->b, ns);
    return true;
}

/* Of the time with the backend, that of requests that died with a process of PHP's: PHP has no
 * record of them, and they are a finding of their own. */
static uint64_t died_in_php_ns(struct mst_inquiry *q)
{
    static const char died[] =
        "SELECT sum(backend_ns) AS number FROM (SELECT request_id, backend_ns "
        MST_FROM_APACHES_REQUESTS "AND status >= 500 AND backend_ns > 0) AS a WHERE NOT EXISTS "
        "(SELECT 1 FROM php_requests AS p WHERE p.request_id = a.request_id)";

    return q->b.php == NULL || q->b.fleet || mst_known(q->b.php->unfinished) == 0
           ? 0 : mst_ask_sum(q, died, q->b.front);
}

static void find_backend(struct mst_inquiry *q)
{
    const struct mst_summary_end *end = longest_end(q->b.front, "backend");
    uint64_t ns = mst_subtract_saturated(q->b.ns[MST_PART_BACKEND], died_in_php_ns(q));
    enum mst_answer one_by_one;
    struct mst_finding *f;

    if (!mst_budget_counts(&q->b, ns) || find_after_php(q))
        return;
    one_by_one = mst_serial(q, MST_SERIAL_BACKEND, q->b.front, NULL, MST_SERIAL_INSIDE_MIN);
    f = mst_found(q, MST_CODE_BACKEND, MST_CERTAIN, ns);
    f->requests = q->b.front->intervals[MST_INTERVAL_BACKEND].requests;
    if (one_by_one == MST_ANSWER_YES)
        f->weight = mst_weight_with_all_waiting(&q->b, ns) + 1;
    note_end(f, q, end);
    mst_found_number(f, "mean_ns", mst_budget_mean_ns(&q->b, ns));
    mst_found_answer(f, MST_ONE_AT_A_TIME, one_by_one);
    mst_say_backend(f, &q->b, ns, end, one_by_one);
    note_holder(f, q, apache_holders, q->b.front, NULL);
}

static void find_own(struct mst_inquiry *q, enum mst_code code, uint64_t ns,
                     enum mst_interval interval)
{
    struct mst_finding *f;

    if (!mst_budget_counts(&q->b, ns))
        return;
    f = mst_found(q, code, MST_CERTAIN, ns);
    f->requests = q->b.front->intervals[interval].requests;
    mst_found_number(f, "mean_ns", mst_budget_mean_ns(&q->b, ns));
    mst_say_own(f, &q->b, ns);
    if (code == MST_CODE_CHECKS)
        mst_note_serial(q, f, MST_SERIAL_CHECKS, ns);
}

/* It follows the total: the client does not wait for it, but the worker is held. */
static void find_logging(struct mst_inquiry *q)
{
    const struct mst_budget *b = &q->b;
    uint64_t held = b->total_ns - b->ns[MST_PART_QUEUE] + b->log_ns, milli;
    struct mst_finding *f;

    milli = held > 0 ? mst_milli(b->log_ns, held) : 0;
    if (milli < MST_FINDING_MILLI || mst_budget_mean_ns(b, b->log_ns) < MST_PART_MEAN_MIN_NS)
        return;
    /* Little of it is what computing takes where threads wait for a CPU. */
    f = mst_found(q, MST_CODE_LOGGING, mst_budget_mean_ns(b, b->log_ns) >= MST_LOG_MEAN_MIN_NS &&
                  !mst_crowd_explains(q, b->log_ns) ? MST_CERTAIN : MST_LIKELY, b->log_ns);
    f->share_milli = milli;
    f->share_of = MST_SHARE_OF_HELD;
    f->weight = milli + mst_budget_milli(b, b->ns[MST_PART_QUEUE]) * milli / 1000;
    mst_found_number(f, "mean_ns", mst_budget_mean_ns(b, b->log_ns));
    mst_say_logging(f, b);
}

/* OPcache is off, full, or is reset all the time: each request compiles what it includes. */
static void find_compiling(struct mst_inquiry *q)
{
    uint64_t ns = q->b.ns[MST_PART_COMPILE], cpu = mst_budget_php_cpu_ns(&q->b);
    struct mst_finding *f;

    if (!mst_budget_counts(&q->b, ns))
        return;
    f = mst_found(q, MST_CODE_COMPILING, MST_CERTAIN, ns);
    f->requests = q->b.php->parts[MST_PART_COMPILE].requests;
    mst_found_number(f, "mean_ns", mst_budget_mean_ns(&q->b, ns));
    mst_found_number(f, MST_OF_CPU, mst_milli(ns, cpu));
    mst_found_number(f, "uncached", q->b.php->uncached);
    mst_say_compiling(f, &q->b);
}

static void find_computing(struct mst_inquiry *q)
{
    uint64_t cpu = q->b.ns[MST_PART_CPU], kernel_milli;
    struct mst_query row;
    struct mst_finding *f;

    if (!mst_budget_knows_run(&q->b) || mst_budget_milli(&q->b, cpu) < MST_HEADLINE_MILLI ||
        mst_budget_mean_ns(&q->b, cpu) < MST_COMPUTING_MEAN_MIN_NS)
        return;
    f = mst_found(q, MST_CODE_APPLICATION_CPU, MST_CERTAIN, cpu);
    f->requests = q->b.php->requests;
    mst_found_number(f, "mean_ns", mst_budget_mean_ns(&q->b, cpu));
    row = mst_query_ask(q->db, "SELECT " MST_KERNEL_NUMBER MST_FROM_PHPS_REQUESTS, q->b.php->id);
    kernel_milli = mst_end_with_number(q, &row);
    mst_found_number(f, "kernel_milli", kernel_milli);
    mst_say_computing(f, &q->b, kernel_milli);
    mst_note_code(q, f, MST_SPENT_CPU);
    note_holder(f, q, computing_holders, q->b.php, NULL);
}

static bool is_longest(const struct mst_budget *b, uint64_t ns)
{
    enum mst_part part;

    for (part = 0; part < MST_PART_COUNT; part++)
        if (part != MST_PART_HANDLE && part != MST_PART_REST && b->ns[part] > ns)
            return false;
    return true;
}

/* Most of the time, or more than any other part has, is the handler's, and nothing here looks
 * inside. */
static void find_unseen(struct mst_inquiry *q)
{
    const struct mst_budget *b = &q->b;
    uint64_t ns = b->ns[MST_PART_HANDLE] + b->ns[MST_PART_REST];
    struct mst_finding *f;

    if (mst_budget_milli(b, ns) < (is_longest(b, ns) ? MST_HEADLINE_MILLI
                                                     : MST_HOLDER_TIME_MILLI) ||
        mst_budget_mean_ns(b, ns) < MST_COMPUTING_MEAN_MIN_NS)
        return;
    f = mst_found(q, MST_CODE_CANNOT_TELL, MST_CANNOT_TELL, ns);
    f->weight = MST_HEADLINE_MILLI;   /* what is known comes first */
    mst_say_unseen(f, b, ns);
    if (b->php == NULL)
        note_holder(f, q, unseen_holders, b->front, NULL);
    else if (b->ns[MST_PART_REST] > b->ns[MST_PART_HANDLE])
        note_holder(f, q, rest_holders, b->php, NULL);
}

void mst_find_waits(struct mst_inquiry *q)
{
    int i;

    if (mst_budget_knows_run(&q->b))
        for (i = 0; i < MST_WAIT_COUNT; i++)
            find_wait(q, i);
    if (mst_budget_knows_run(&q->b))
        find_compiling(q);
    find_computing(q);
    if (q->b.front != q->b.php) {
        find_backend(q);
        find_own(q, MST_CODE_CHECKS, q->b.ns[MST_PART_CHECKS], MST_INTERVAL_CHECKS);
        find_own(q, MST_CODE_TLS, q->b.ns[MST_PART_TLS], MST_INTERVAL_TLS);
        find_logging(q);
    }
    find_unseen(q);
}
