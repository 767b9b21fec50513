/* down.c - the rule for a PHP-FPM that did not run while Apache handed requests to it: then the
 * failures are not a backend's that is slow or full. See rules.h. */
#include "analysis/run_requests.h"
#include "analysis/thresholds.h"
#include "archive/query.h"
#include "findings/rules.h"
#include "findings/sentences.h"

/* Requests that were handed to FastCGI since then, and those that failed then: Apache gets no
 * connection to a PHP that does not run (503), and loses that to one that ends (502). */
static const char answers_since[] =
    "SELECT count(*) AS answers, CAST(total(status IN (502, 503)) AS INTEGER) AS failed, "
    "max(CASE WHEN status IN (502, 503) THEN backend END) AS backend " MST_FROM_APACHES_REQUESTS
    "AND backend LIKE '%fcgi://%' AND (start_ns + queue_ns >= :since OR (status IN (502, 503) AND "
    "start_ns + queue_ns + read_ns + handle_ns + send_ns >= :since))";

static bool read_outage(struct mst_inquiry *q, const struct mst_summary_server *php,
                        struct mst_outage *o)
{
    struct mst_query stop = mst_query_ask(q->db,
        "SELECT max(time_ns) AS since, reason = 'clean' AS clean FROM lifecycle "
        "WHERE server_id = :id AND event = 'stopped'", php->id);
    struct mst_query row;

    o->since_ns = mst_query_next(&stop) ? mst_row_number(&stop, "since") : MST_UNKNOWN;
    o->was_stopped = o->since_ns != MST_UNKNOWN && mst_row_number(&stop, "clean") == 1;
    q->failed |= !mst_query_done(&stop);
    if (o->since_ns == MST_UNKNOWN)
        return false;
    row = mst_query_ask(q->db, answers_since, q->b.front->id);
    mst_query_set(&row, ":since", (int64_t)o->since_ns);
    if (mst_query_next(&row)) {
        o->answers = mst_row_number(&row, "answers");
        o->failed = mst_row_number(&row, "failed");
        mst_row_copy(&row, "backend", o->backend, sizeof o->backend);
    }
    q->failed |= !mst_query_done(&row);
    return o->failed > 0;
}

static bool is_our_fpm(const struct mst_inquiry *q, const struct mst_summary_server *server)
{
    return server->sapi_kind == MST_SAPI_FPM && mst_is_ours(q, server);
}

void mst_find_down(struct mst_inquiry *q)
{
    const struct mst_summary_server *server;
    struct mst_outage o = { 0 };
    struct mst_finding *f;
    size_t fpms = 0, i;

    if (mst_summary_is_php(q->b.front) || q->b.front->errors_5xx == 0)
        return;
    for (i = 0; i < q->s->server_count; i++)
        fpms += is_our_fpm(q, &q->s->servers[i]);
    for (i = 0; i < q->s->server_count; i++) {
        server = &q->s->servers[i];
        if (!is_our_fpm(q, server) || !read_outage(q, server, &o))
            continue;
        f = mst_found_requests(q, MST_CODE_PHP_DOWN, fpms == 1 ? MST_CERTAIN : MST_LIKELY, o.failed,
                               q->b.front->requests);
        f->weight = MST_WEIGHT_FIRST + 2000;   /* before the failures that follow from it */
        mst_found_subject(f, o.backend);
        mst_found_number(f, "failed", o.failed);
        mst_found_number(f, "answers", o.answers);
        mst_say_down(f, &o);
        return;
    }
}
