/* client.c - the rules for what the load tool saw, and for its own limits. See rules.h. */
#include "analysis/run_requests.h"
#include "analysis/thresholds.h"
#include "archive/query.h"
#include "base/ratio.h"
#include "findings/rules.h"
#include "findings/sentences.h"

/* The time of the load in which the front had a request: of several at once, once. */
static uint64_t covered_ns(struct mst_inquiry *q)
{
    bool is_php = mst_summary_is_php(q->b.front);
    struct mst_query rows = mst_query_ask(q->db, is_php ?
        "SELECT start_ns - coalesce(wait_ns, 0) AS began, start_ns + run_ns AS ended "
        MST_FROM_PHPS_REQUESTS "ORDER BY 1" :
        "SELECT start_ns AS began, start_ns + queue_ns + read_ns + handle_ns + send_ns AS ended "
        MST_FROM_APACHES_REQUESTS "ORDER BY 1", q->b.front->id);
    uint64_t covered = 0, until = 0, began, ended;

    while (mst_query_next(&rows)) {
        began = mst_row_number(&rows, "began");
        ended = mst_row_number(&rows, "ended");
        if (began == MST_UNKNOWN || ended == MST_UNKNOWN || ended <= until)
            continue;
        covered += ended - (began > until ? began : until);
        until = ended;
    }
    q->failed |= !mst_query_done(&rows);
    return covered;
}

/* A load tool that has one request at a time, or computes in between, leaves the server idle. It is
 * the limit only where it computed: one that waits by plan asks for no more. */
static void find_idle_server(struct mst_inquiry *q)
{
    const struct mst_summary *s = q->s;
    uint64_t covered, idle, used;
    struct mst_finding *f;

    if (s->tool_cpu_ns == MST_UNKNOWN || q->b.front->mean_busy_milli >= 1000)
        return;
    covered = covered_ns(q);
    idle = covered < s->duration_ns ? mst_milli(s->duration_ns - covered, s->duration_ns) : 0;
    used = mst_milli(s->tool_cpu_ns, s->duration_ns);
    if (idle < MST_HEADLINE_MILLI || used < MST_HEADLINE_MILLI || used * 2 < idle)
        return;
    f = mst_found(q, MST_CODE_GENERATOR, MST_LIKELY, 0);
    f->share_milli = idle;
    f->share_of = MST_SHARE_OF_SPAN;
    f->weight = idle;
    mst_found_subject(f, s->client.tool);
    mst_found_number(f, "server_idle_milli", idle);
    mst_found_number(f, "tool_cpu_ns", s->tool_cpu_ns);
    mst_say_idle_server(f, &q->b, idle, used);
}

void mst_find_generator(struct mst_inquiry *q)
{
    const struct mst_summary_generator *limit;
    struct mst_finding *f;

    if (q->s->client.tool == NULL)
        return;
    if (q->s->checks[MST_CHECK_GENERATOR].ok != MST_ANSWER_NO) {
        find_idle_server(q);
        return;
    }
    f = mst_found(q, MST_CODE_GENERATOR, MST_CERTAIN, 0);
    f->share_milli = MST_UNKNOWN;
    f->weight = MST_WEIGHT_FIRST - 1;   /* what the server could do is not to be seen */
    limit = mst_summary_limit(q->s);
    mst_found_subject(f, limit != NULL ? limit->name : q->s->client.tool);
    if (limit != NULL) {
        mst_found_number(f, "generator_cpu_milli", limit->cpu_milli);
        mst_found_number(f, "generator_dropped", limit->dropped);
    } else {
        mst_found_number(f, "tool_cpu_ns", q->s->tool_cpu_ns);
        mst_found_number(f, "tool_threads", q->s->tool_threads);
    }
    mst_say_generator(f, &q->b);
}

/* The servers' time for one request of the client's, as it sees it: with what they still had to
 * deliver, and of all requests that a redirect made of one. */
static uint64_t server_mean_ns(struct mst_inquiry *q)
{
    const struct mst_summary_all fronts = mst_summary_fronts(q->s);
    uint64_t mean = fronts.phases[MST_PHASE_TOTAL].mean_ns;
    uint64_t followed = mst_summary_redirects_followed(q->s);

    if (mean == MST_UNKNOWN)
        return MST_UNKNOWN;
    mean += mst_budget_mean_ns(&q->b, q->b.undelivered_ns);
    return followed > 0 && followed < fronts.requests ?
           mst_scale(mean, fronts.requests, fronts.requests - followed) : mean;
}

/* What the client saw beyond what the server knows of. Where the accept queue overflowed, that is
 * a finding of its own. */
void mst_find_beyond(struct mst_inquiry *q)
{
    const struct mst_summary_client *c = &q->s->client;
    uint64_t server = server_mean_ns(q), apart, milli;
    struct mst_finding *f;

    if (!c->known || c->times.mean_ns == MST_UNKNOWN || c->corrected || server == MST_UNKNOWN ||
        q->s->checks[MST_CHECK_ACCEPT_QUEUE].ok == MST_ANSWER_NO)
        return;
    apart = c->times.mean_ns > server ? c->times.mean_ns - server : 0;
    milli = c->times.mean_ns > 0 ? mst_milli(apart, c->times.mean_ns) : 0;
    if (milli < MST_HEADLINE_MILLI || apart < MST_QUEUE_MEAN_MIN_NS)
        return;
    f = mst_found(q, MST_CODE_CLIENT_BEYOND_SERVER, MST_LIKELY, 0);
    f->share_milli = milli;
    f->share_of = MST_SHARE_OF_CLIENT;
    f->weight = milli;
    mst_found_number(f, "client_mean_ns", c->times.mean_ns);
    mst_found_number(f, "server_mean_ns", server);
    mst_found_number(f, "syn_retransmits", q->s->syn_retransmits);
    mst_found_number(f, "tcp_retransmits", q->s->tcp_retransmits);
    mst_say_beyond(f, &q->b, apart);
}
