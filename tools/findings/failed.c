/* failed.c - the rules for failures that servers know of: answers, clients that leave, processes,
 * restarts. See rules.h. */
#include "analysis/run_requests.h"
#include "analysis/thresholds.h"
#include "archive/query.h"
#include "base/ratio.h"
#include "findings/rules.h"
#include "findings/sentences.h"

/* ---- answers ------------------------------------------------------------------------------- */

static const char apache_failures[] =
    "SELECT status, label, coalesce(backend, handler) AS end, count(*) AS n, "
    "CAST(avg(queue_ns + read_ns + handle_ns + send_ns) AS INTEGER) AS took_ns "
    MST_FROM_APACHES_REQUESTS "AND status BETWEEN :low AND :high AND status <> 304 "
    "GROUP BY status, label, coalesce(backend, handler) ORDER BY n DESC";
static const char php_failures[] =
    "SELECT status, label, script AS end, count(*) AS n, "
    "CAST(avg(coalesce(wait_ns, 0) + run_ns) AS INTEGER) AS took_ns " MST_FROM_PHPS_REQUESTS
    "AND status BETWEEN :low AND :high AND status <> 304 "
    "GROUP BY status, label, script ORDER BY n DESC";

static struct mst_answers read_answers(struct mst_inquiry *q, unsigned low, unsigned high)
{
    const struct mst_summary_server *front = q->b.front;
    struct mst_query rows = mst_query_ask(q->db, mst_summary_is_php(front) ? php_failures
                                                                           : apache_failures,
                                          front->id);
    struct mst_answers a = { 0 };

    mst_query_set(&rows, ":low", low);
    mst_query_set(&rows, ":high", high);
    while (mst_query_next(&rows)) {
        if (a.all == 0) {
            a.status = mst_row_number(&rows, "status");
            a.most = mst_row_number(&rows, "n");
            a.took_ns = mst_row_number(&rows, "took_ns");
            mst_row_copy(&rows, "label", a.label, sizeof a.label);
            mst_row_copy(&rows, "end", a.end, sizeof a.end);
        }
        a.all += mst_row_number(&rows, "n");
    }
    q->failed |= !mst_query_done(&rows);
    return a;
}

static void found_answers(struct mst_finding *f, const struct mst_answers *a)
{
    mst_found_subject(f, a->end[0] != '\0' ? a->end : a->label);
    mst_found_number(f, "answers", a->all);
    mst_found_number(f, "status", a->status);
    mst_found_number(f, "with_that_status", a->most);
    mst_found_number(f, "took_mean_ns", a->took_ns);
}

static void find_answers(struct mst_inquiry *q, enum mst_code code, unsigned hundred)
{
    struct mst_answers a = read_answers(q, hundred * 100, hundred * 100 + 99);
    struct mst_finding *f;

    if (a.all == 0)
        return;
    f = mst_found_requests(q, code, MST_CERTAIN, a.all, q->b.front->requests);
    mst_weigh_failure(f, hundred == 5 ? MST_FAILURES_FLOOR_MILLI : 0);
    found_answers(f, &a);
    mst_say_answers(f, &q->b, &a);
}

/* A load tool that does not follow redirects measures them; one that does measures them and what
 * they lead to, as one request or as several. */
static void find_redirects(struct mst_inquiry *q)
{
    const struct mst_summary_client *c = &q->s->client;
    uint64_t redirects = q->b.front->redirects, all = q->b.front->requests;
    bool most = all > 0 && mst_milli(redirects, all) >= MST_NEARLY_ALL_MILLI;
    struct mst_finding *f;
    struct mst_answers a;

    if (redirects == 0 || c->tool == NULL ||
        (!most && (!c->follows_redirects ||
                   mst_milli(redirects, all - redirects) < MST_NEARLY_ALL_MILLI)))
        return;
    a = read_answers(q, 301, 308);
    f = mst_found_requests(q, MST_CODE_ANSWERS_3XX, MST_CERTAIN, redirects, all);
    f->weight = MST_WEIGHT_FIRST + (most ? f->share_milli : 0);
    found_answers(f, &a);
    mst_found_number(f, "followed", mst_summary_redirects_followed(q->s));
    mst_say_redirects(f, &q->b, most, a.status, a.label, a.end);
}

/* ---- clients ------------------------------------------------------------------------------- */

/* Aborted requests without those of the load's last moment: a load tool that ends by time closes
 * its last connections, too. Clients that no load tool makes do not. */
static uint64_t aborted_before_the_end(struct mst_inquiry *q)
{
    const struct mst_summary_server *front = q->b.front;
    uint64_t ended = q->s->ended_ns;
    struct mst_query row;

    if (mst_summary_is_php(front) || front->aborted == 0 || q->s->command_line == NULL)
        return front->aborted;
    if (ended == MST_UNKNOWN)
        return 0;
    row = mst_query_ask(q->db,
        "SELECT count(*) AS number " MST_FROM_APACHES_REQUESTS "AND aborted "
        "AND start_ns + queue_ns + read_ns + handle_ns + send_ns < :end", front->id);
    mst_query_set(&row, ":end", (int64_t)(ended - MST_LAST_MOMENT_NS));
    return mst_known(mst_end_with_number(q, &row));
}

/* The load tool's failures are a finding already: the same requests, where they are as many. */
static bool client_told(struct mst_inquiry *q, uint64_t aborted)
{
    size_t i;

    for (i = 0; i < q->s->finding_count && !q->b.fleet; i++)
        if ((q->s->findings[i].code == MST_CODE_CLIENT_ABORTS ||
             q->s->findings[i].code == MST_CODE_CLIENT_ERRORS) &&
            q->s->findings[i].requests != MST_UNKNOWN && q->s->findings[i].requests >= aborted)
            return true;
    return false;
}

static void find_aborts(struct mst_inquiry *q)
{
    uint64_t aborted = aborted_before_the_end(q);
    struct mst_finding *f;

    if (aborted == 0 || client_told(q, aborted))
        return;
    f = mst_found_requests(q, MST_CODE_CLIENT_ABORTS, MST_CERTAIN, aborted, q->b.front->requests);
    mst_weigh_failure(f, MST_FAILURES_FLOOR_MILLI);
    mst_found_number(f, "aborted", aborted);
    mst_say_aborts(f, &q->b, aborted);
}

/* ---- restarts ------------------------------------------------------------------------------ */

/* The first restart of the load, after its start. */
static uint64_t first_restart_ns(struct mst_inquiry *q, const struct mst_summary_server *server)
{
    struct mst_query row = mst_query_ask(q->db,
        "SELECT min(time_ns) AS number FROM lifecycle WHERE server_id = :id "
        "AND event = 'generation' AND time_ns >= :started", server->id);
    uint64_t at;

    mst_query_set(&row, ":started", (int64_t)q->s->started_ns);
    at = mst_end_with_number(q, &row);
    return at != MST_UNKNOWN && at >= q->s->started_ns ? at - q->s->started_ns : MST_UNKNOWN;
}

/* The number that sql gives of a server around its restarts. */
static uint64_t around_restarts(struct mst_inquiry *q, const struct mst_summary_server *server,
                                const char *sql)
{
    struct mst_query row = mst_query_ask(q->db, sql, server->id);

    mst_query_set(&row, ":length", MST_RESTART_NS);
    return mst_known(mst_end_with_number(q, &row));
}

#define AROUND(events) "AND EXISTS (SELECT 1 FROM lifecycle AS l WHERE l.server_id = :id " \
                       "AND l.event IN (" events ") AND "
#define RESTARTS       AROUND("'generation'")

/* Children of the generation before that go on with their requests keep slots, without which Apache
 * starts no new ones: their ends are as the restart itself. Where all workers were busy, the limit
 * says more. */
#define LAST_OLD_CHILD "coalesce((SELECT max(o.time_ns) FROM lifecycle AS o WHERE " \
    "o.server_id = :id AND o.event = 'exit' AND o.kind = 'child' AND " \
    "o.generation = l.generation - 1), 0)"

uint64_t mst_restart_wait_ns(struct mst_inquiry *q, const struct mst_summary_server *server)
{
    if (mst_known(server->generations) == 0)
        return 0;
    if (mst_summary_is_php(server))
        return around_restarts(q, server,
            "SELECT sum(wait_ns) AS number " MST_FROM_PHPS_REQUESTS RESTARTS
            "start_ns >= l.time_ns AND start_ns - wait_ns <= l.time_ns + :length)");
    return around_restarts(q, server, mst_summary_is_short(server) ?
        "SELECT sum(queue_ns) AS number " MST_FROM_APACHES_REQUESTS RESTARTS
        "start_ns + queue_ns >= l.time_ns AND start_ns <= l.time_ns + :length)" :
        "SELECT sum(queue_ns) AS number " MST_FROM_APACHES_REQUESTS RESTARTS
        "start_ns + queue_ns >= l.time_ns AND start_ns <= max(l.time_ns, "
        LAST_OLD_CHILD ") + :length)");
}

/* The processes of a hard restart end before it, and so do those of a stop. */
uint64_t mst_restart_exits(struct mst_inquiry *q, const struct mst_summary_server *server)
{
    return around_restarts(q, server,
        "SELECT count(*) AS number FROM lifecycle AS e WHERE server_id = :id AND event = 'exit' "
        AROUND("'generation', 'stopped'") "abs(e.time_ns - l.time_ns) <= :length)");
}

/* A graceful restart lets children end their requests: until then they have slots that new ones
 * would have, and take memory. */
static void note_old_children(struct mst_inquiry *q, struct mst_finding *f,
                              const struct mst_summary_server *server)
{
    struct mst_query row = mst_query_ask(q->db,
        "SELECT count(*) AS children, max(e.time_ns - g.time_ns) AS longest FROM lifecycle AS e "
        "JOIN lifecycle AS g ON g.server_id = e.server_id AND g.event = 'generation' "
        "AND g.generation = e.generation + 1 WHERE e.server_id = :id AND e.event = 'exit' "
        "AND e.kind = 'child' AND e.time_ns - g.time_ns >= :least", server->id);
    uint64_t children = 0, longest_ns = 0;

    mst_query_set(&row, ":least", MST_OLD_CHILD_NS);
    if (mst_query_next(&row)) {
        children = mst_known(mst_row_number(&row, "children"));
        longest_ns = mst_known(mst_row_number(&row, "longest"));
    }
    q->failed |= !mst_query_done(&row);
    if (children == 0)
        return;
    mst_found_number(f, "old_children", children);
    mst_found_number(f, "old_children_ns", longest_ns);
    mst_say_old_children(f, children, longest_ns);
}

/* How many workers FPM ended by a signal as it reloaded, just before its new generation began,
 * where requests died with them. */
static uint64_t ended_by_reload(struct mst_inquiry *q, const struct mst_summary_server *server)
{
    return server->sapi_kind != MST_SAPI_FPM || mst_known(server->unfinished) == 0 ? 0 :
        around_restarts(q, server,
        "SELECT count(*) AS number FROM lifecycle AS e WHERE server_id = :id AND event = 'exit' "
        "AND reason IN ('killed', 'signal') " RESTARTS
        "e.time_ns BETWEEN l.time_ns - :length AND l.time_ns)");
}

static void find_restarts(struct mst_inquiry *q, const struct mst_summary_server *server,
                          uint64_t by_reload)
{
    uint64_t generations = mst_known(server->generations);
    /* A PHP-FPM that became a daemon makes another board as it reloads. */
    uint64_t starts = mst_subtract_saturated(mst_known(server->restarts), generations);
    uint64_t waited_ns, waited_milli;
    struct mst_finding *f;

    if (starts + generations == 0)
        return;
    waited_ns = server == q->b.front || server == q->b.php ?
                mst_restart_wait_ns(q, server) : 0;
    waited_milli = mst_budget_milli(&q->b, waited_ns);
    f = mst_found(q, MST_CODE_SERVER_RESTARTED, MST_CERTAIN, 0);
    f->share_milli = waited_milli >= MST_FINDING_MILLI ? waited_milli : MST_UNKNOWN;
    f->weight = waited_milli > MST_FAILURES_FLOOR_MILLI ? waited_milli : MST_FAILURES_FLOOR_MILLI;
    f->weight += starts > 0 ? MST_WEIGHT_FIRST : 0;
    mst_found_number(f, "waited_ns", waited_ns > 0 ? waited_ns : MST_UNKNOWN);
    mst_found_number(f, "restarts", generations);
    mst_found_number(f, "starts", starts);
    mst_found_number(f, "first_ns", first_restart_ns(q, server));
    mst_say_restarts(f, &q->b, server, starts > 0, by_reload > 0);
    if (!mst_summary_is_php(server))
        note_old_children(q, f, server);
}

/* ---- processes ----------------------------------------------------------------------------- */

static void find_deaths(struct mst_inquiry *q, const struct mst_summary_server *server,
                        uint64_t by_reload)
{
    uint64_t n = mst_known(server->unfinished);
    uint64_t killed = mst_subtract_saturated(mst_known(server->killed), by_reload);
    struct mst_finding *f;

    if (n == 0)
        return;
    f = mst_found_requests(q, MST_CODE_REQUESTS_DIED, MST_CERTAIN, n, server->requests + n);
    mst_weigh_failure(f, MST_FAILURES_FLOOR_MILLI + 1);
    mst_found_number(f, "requests", n);
    mst_found_number(f, "processes_killed", killed);
    mst_say_deaths(f, server, n, killed);
}

static void find_fatal(struct mst_inquiry *q, const struct mst_summary_server *php)
{
    struct mst_query rows;
    struct mst_finding *f;
    uint64_t n = mst_known(php->fatal) + mst_known(php->timeouts);

    if (n == 0)
        return;
    f = mst_found_requests(q, MST_CODE_PHP_FATAL, MST_CERTAIN, n, php->requests);
    mst_weigh_failure(f, MST_FAILURES_FLOOR_MILLI + 2);
    f->weight += f->weight >= MST_WEIGHT_FIRST ? 2 : 0;   /* before the 5xx that it is */
    rows = mst_query_ask(q->db, "SELECT script, count(*) AS n " MST_FROM_PHPS_REQUESTS
                         "AND (fatal OR timeout) GROUP BY script "
                         "ORDER BY n DESC LIMIT 1", php->id);
    if (mst_query_next(&rows))
        mst_found_subject(f, mst_row_text(&rows, "script"));
    q->failed |= !mst_query_done(&rows);
    mst_found_number(f, "fatal", php->fatal);
    mst_found_number(f, "timeouts", php->timeouts);
    mst_found_number(f, "max_memory_bytes", php->max_memory_bytes);
    mst_say_fatal(f, php);
}

void mst_find_failures(struct mst_inquiry *q)
{
    const struct mst_summary_server *front = q->b.front, *server;
    uint64_t by_reload;
    size_t i;

    find_redirects(q);
    if (front->errors_4xx > 0)
        find_answers(q, MST_CODE_ANSWERS_4XX, 4);
    if (front->errors_5xx > 0)
        find_answers(q, MST_CODE_ANSWERS_5XX, 5);
    find_aborts(q);
    for (i = 0; i < q->s->server_count; i++) {
        server = &q->s->servers[i];
        if (!mst_is_ours(q, server))
            continue;
        by_reload = ended_by_reload(q, server);
        find_deaths(q, server, by_reload);
        find_restarts(q, server, by_reload);
        if (mst_summary_is_php(server))
            find_fatal(q, server);
    }
}
