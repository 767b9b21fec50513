/* held.c - the rules for what held workers: clients, the network, labels, stuck requests. See
 * rules.h. */
#include "analysis/bottleneck.h"
#include "analysis/run_requests.h"
#include "analysis/thresholds.h"
#include "base/ratio.h"
#include "base/saturate.h"
#include "findings/holder.h"
#include "findings/rules.h"
#include "findings/sentences.h"
#include "findings/serial.h"

/* ---- clients and the network --------------------------------------------------------------- */

/* Archives of an older mpmstat do not tell the client from the network. */
static bool knows_sending(const struct mst_summary_server *server)
{
    return server->intervals[MST_INTERVAL_SEND_CLIENT].requests > 0 ||
           server->intervals[MST_INTERVAL_SEND_NETWORK].requests > 0 ||
           server->intervals[MST_INTERVAL_SEND_SERVER].requests > 0 ||
           server->intervals[MST_INTERVAL_CHECKS].requests > 0;
}

/* The kernel counts small gaps between a client's windows as the network's, and the reverse: what
 * is much less than the other is not a headline. */
static void find_sending(struct mst_inquiry *q, enum mst_code code, uint64_t part_ns,
                         uint64_t other_ns, enum mst_interval interval)
{
    struct mst_finding *f;

    if (!mst_budget_counts(&q->b, part_ns))
        return;
    f = mst_found(q, code, part_ns < other_ns / 3 * 2 ? MST_LIKELY : MST_CERTAIN, part_ns);
    if (code == MST_CODE_SERVER_PACED && mst_cpu_explains(q, part_ns))
        f->certainty = MST_LIKELY;   /* who waits for a CPU gives the kernel nothing to send */
    if (f->certainty == MST_LIKELY)
        mst_found_no_headline(f);
    f->requests = q->b.front->intervals[interval].requests;
    mst_found_number(f, "mean_ns", mst_budget_mean_ns(&q->b, part_ns));
    mst_say_sending(f, &q->b, part_ns);
    if (code == MST_CODE_SERVER_PACED && f->certainty == MST_CERTAIN)
        mst_note_serial(q, f, MST_SERIAL_SENDING, part_ns);
}

/* What the kernel still had when the response was complete. It does not tell the client's window
 * from the network's width: retransmissions, and what `send` was limited by, do. */
static void find_late_delivery(struct mst_inquiry *q)
{
    const struct mst_budget *b = &q->b;
    const struct mst_summary_interval *late = &b->front->intervals[MST_INTERVAL_UNDELIVERED];
    uint64_t client = b->ns[MST_PART_SEND_CLIENT], network = b->ns[MST_PART_SEND_NETWORK];
    struct mst_finding *f;

    if (!mst_budget_counts(b, b->undelivered_ns) || client + network >= b->undelivered_ns)
        return;
    f = mst_found(q, client > network ? MST_CODE_SLOW_CLIENTS : MST_CODE_SLOW_NETWORK, MST_LIKELY,
                  b->undelivered_ns);
    f->share_milli = mst_milli(b->undelivered_ns, b->total_ns + b->undelivered_ns);
    f->share_of = MST_SHARE_OF_DELIVERY;
    f->weight = f->share_milli;
    f->requests = late->requests;
    mst_found_number(f, "undelivered_mean_ns", late->times.mean_ns);
    mst_say_late_delivery(f, b);
}

static void find_uploads(struct mst_inquiry *q)
{
    struct mst_finding *f;

    if (mst_budget_counts(&q->b, q->b.ns[MST_PART_UPLOAD])) {
        f = mst_found(q, MST_CODE_SLOW_UPLOAD, MST_CERTAIN, q->b.ns[MST_PART_UPLOAD]);
        f->requests = q->b.front->intervals[MST_INTERVAL_UPLOAD].requests;
        mst_say_uploads(f, &q->b);
    }
    if (mst_budget_counts(&q->b, q->b.ns[MST_PART_READ])) {
        f = mst_found(q, MST_CODE_SLOW_HEADERS, MST_LIKELY, q->b.ns[MST_PART_READ]);
        mst_found_number(f, "mean_ns", mst_budget_mean_ns(&q->b, q->b.ns[MST_PART_READ]));
        mst_say_headers(f, &q->b);
    }
}

/* ---- who held them ------------------------------------------------------------------------- */

#define HELD_BY(name) \
    "SELECT " name " AS name, held_ns AS time_ns, queue_ns AS waited_ns " \
    MST_FROM_APACHES_REQUESTS "AND no_worker = 0"
#define RUN_BY(name) \
    "SELECT " name " AS name, run_ns AS time_ns, wait_ns AS waited_ns " MST_FROM_PHPS_REQUESTS
static const struct mst_holders apache_pages = { HELD_BY("path"), true, "Requests for" },
                                apache_labels = { HELD_BY("label"), false, "Label" },
                                php_pages = { RUN_BY(MST_PHPS_PATH), true, "Requests for" },
                                php_scripts = { RUN_BY("script"), false, "Script" };

/* Finds a page, label or script whose share of the workers' time is far larger than its share of
 * the requests, while other requests waited: it explains its own time and their waits. */
static bool find_holder(struct mst_inquiry *q, const struct mst_summary_server *server,
                        const struct mst_holders *holders)
{
    struct mst_holder h = { .groups = 0 };
    uint64_t of_time, of_requests;
    struct mst_finding *f;

    if (holders->are_pages && !mst_holder_knows_pages(q, server))
        return false;
    h = mst_holder_ask(q, holders, server->id, NULL);
    of_time = mst_holder_of_time_milli(&h);
    of_requests = mst_holder_of_requests_milli(&h);
    if (!mst_holder_stands_out(&h, holders) ||
        mst_budget_milli(&q->b, (uint64_t)h.others_waited_ns) < MST_FINDING_MILLI)
        return false;
    f = mst_found_requests(q, MST_CODE_HELD_BY, MST_CERTAIN, h.requests, h.all_requests);
    f->share_milli = f->weight = of_time;
    f->share_of = MST_SHARE_OF_HELD;
    mst_found_subject(f, h.name);
    mst_found_number(f, "of_busy_time_milli", of_time);
    mst_found_number(f, "of_requests_milli", of_requests);
    mst_found_number(f, "others_waited_ns", (uint64_t)h.others_waited_ns);
    mst_say_holder(f, holders, of_time, of_requests);
    return true;
}

static void find_who_held(struct mst_inquiry *q)
{
    const struct mst_budget *b = &q->b;

    if (b->front != b->php && (find_holder(q, b->front, &apache_pages) ||
                               find_holder(q, b->front, &apache_labels)))
        return;
    if (b->php != NULL && !find_holder(q, b->php, &php_pages))
        find_holder(q, b->php, &php_scripts);
}

/* Without a load tool nobody waits for the last answers: those in flight are of a server that goes
 * on. A few of them are told where a process was stopped. */
static void find_stuck(struct mst_inquiry *q, const struct mst_summary_server *server)
{
    uint64_t n = server->in_flight, limit = server->workers_limit;
    struct mst_finding *f;

    if (q->s->command_line == NULL || n == MST_UNKNOWN || n == 0 || limit == MST_UNKNOWN ||
        limit == 0 ||
        (mst_milli(n, limit) < MST_FINDING_MILLI && !mst_was_stopped(q, server)))
        return;
    f = mst_found(q, MST_CODE_STUCK_REQUESTS, MST_LIKELY, 0);
    f->requests = n;
    f->share_milli = mst_milli(n, limit);
    f->share_of = MST_SHARE_OF_WORKERS;
    f->weight = f->share_milli;
    mst_say_stuck(f, server);
    mst_note_halted(q, f);
}

/* ---- processes that live shortly ----------------------------------------------------------- */

static void find_churn(struct mst_inquiry *q, const struct mst_summary_server *server)
{
    uint64_t exits = mst_known(server->exits);
    struct mst_finding *f;

    /* A stop ends all of them, a CGI ends with its request, and mod_php's processes are Apache's:
     * under mpm_itk, each connection has its own. */
    if (mst_known(server->restarts) > 0 || server->sapi_kind == MST_SAPI_CGI ||
        server->sapi_kind == MST_SAPI_MOD_PHP)
        return;
    if (exits >= MST_CHURN_EXITS_MIN)
        exits = mst_subtract_saturated(exits, mst_restart_exits(q, server));
    if (exits < MST_CHURN_EXITS_MIN ||
        server->requests / exits > MST_CHURN_REQUESTS_MAX)
        return;
    f = mst_found(q, MST_CODE_CHILD_CHURN, MST_LIKELY, 0);
    f->of = server;
    f->share_milli = MST_UNKNOWN;
    f->weight = MST_HEADLINE_MILLI;
    mst_found_number(f, "exits", exits);
    mst_found_number(f, "forks", server->forks);
    mst_found_number(f, "requests", server->requests);
    mst_say_churn(f, server);
}

void mst_find_holders(struct mst_inquiry *q)
{
    const struct mst_budget *b = &q->b;
    uint64_t client = b->ns[MST_PART_SEND_CLIENT], network = b->ns[MST_PART_SEND_NETWORK];
    size_t i;

    if (b->front != b->php) {
        if (knows_sending(b->front)) {
            find_sending(q, MST_CODE_SLOW_CLIENTS, client, network, MST_INTERVAL_SEND_CLIENT);
            find_sending(q, MST_CODE_SLOW_NETWORK, network, client, MST_INTERVAL_SEND_NETWORK);
            find_sending(q, MST_CODE_SERVER_PACED, b->ns[MST_PART_SEND_SERVER], 0,
                         MST_INTERVAL_SEND_SERVER);
        } else if (mst_clients_are_slow(b->front)) {
            mst_say_slow_sending(mst_found(q, MST_CODE_SLOW_CLIENTS, MST_LIKELY,
                                           b->ns[MST_PART_SEND]), b);
        }
        find_late_delivery(q);
        find_uploads(q);
    }
    if (mst_budget_milli(b, mst_budget_for_workers_ns(b)) >= MST_FINDING_MILLI)
        find_who_held(q);
    find_stuck(q, b->front);
    for (i = 0; i < q->s->server_count; i++)
        if (mst_is_ours(q, &q->s->servers[i]))
            find_churn(q, &q->s->servers[i]);
}
