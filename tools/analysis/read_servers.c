/* read_servers.c - reads the servers of a run from its archive: see steps.h. */
#include <stdio.h>
#include <string.h>

#include "analysis/bottleneck.h"
#include "analysis/run_requests.h"
#include "analysis/steps.h"
#include "archive/guard.h"
#include "archive/query.h"
#include "base/array.h"
#include "segment/fields.h"

/* Most servers of one run that are read: later steps cost time quadratic in their number. */
#define SERVERS_MAX 5000u

/* ---- samples --------------------------------------------------------------------- */

/* The columns of a sample whose growth from one sample to another is used. */
struct counters {
    uint64_t time_ns, state_ns[MST_STATE_COUNT];
    uint64_t requests, forks, exits, forks_failed, shed, unfinished, no_idle_ns, generations;
    uint64_t in_flight, workers_busy;
};

/* The sample that `which` (SQL behind WHERE server_id = :id) picks; `at_ns` is its :at_ns, or
 * MST_UNKNOWN where it has none. No such sample: all is unknown. */
static bool read_counters(struct counters *c, sqlite3 *db, int64_t server_id, const char *which,
                          uint64_t at_ns)
{
    const struct mst_row_member members[] = {
        { "time_ns", &c->time_ns }, { "idle_ns", &c->state_ns[MST_STATE_IDLE] },
        { "reading_ns", &c->state_ns[MST_STATE_READING] },
        { "handling_ns", &c->state_ns[MST_STATE_HANDLING] },
        { "sending_ns", &c->state_ns[MST_STATE_SENDING] },
        { "keepalive_ns", &c->state_ns[MST_STATE_KEEPALIVE] },
        { "closing_ns", &c->state_ns[MST_STATE_CLOSING] },
        { "logging_ns", &c->state_ns[MST_STATE_LOGGING] }, { "in_flight", &c->in_flight },
        { "shed", &c->shed }, { "requests", &c->requests }, { "forks", &c->forks },
        { "exits", &c->exits }, { "forks_failed", &c->forks_failed },
        { "no_idle_ns", &c->no_idle_ns }, { "generations", &c->generations },
        { "unfinished", &c->unfinished }, { "workers_busy", &c->workers_busy },
    };
    char sql[512];
    struct mst_query q;

    memset(c, 0xff, sizeof *c);   /* all unknown */
    snprintf(sql, sizeof sql, "SELECT time_ns, idle_ns, reading_ns, handling_ns, sending_ns, "
             "keepalive_ns, closing_ns, logging_ns, in_flight, shed, requests, forks, exits, "
             "forks_failed, no_idle_ns, generations, unfinished, workers_busy FROM samples "
             "WHERE server_id = :id %s", which);
    q = mst_query_ask(db, sql, server_id);
    if (at_ns != MST_UNKNOWN)
        mst_query_set(&q, ":at_ns", (int64_t)at_ns);
    if (mst_query_next(&q))
        mst_row_numbers(&q, members, sizeof members / sizeof *members);
    return mst_query_done(&q);
}

static uint64_t difference(uint64_t after, uint64_t before)
{
    if (after == MST_UNKNOWN || before == MST_UNKNOWN || after < before)
        return MST_UNKNOWN;
    return after - before;
}

/* Older servers do not know the state `logging`: their workers logged in others. */
static bool is_older(int state, uint64_t time_ns)
{
    return state == MST_STATE_LOGGING && time_ns == MST_UNKNOWN;
}

/* The counters of `end` less those of `before`, shared out over the time from began_ns. Workers
 * that were busy before it are so since `before`: of these, the time between counts, too. */
static void mean_occupancy(struct mst_summary_server *s, const struct counters *before,
                           const struct counters *end, uint64_t began_ns)
{
    bool was_idle = before->workers_busy == 0;
    uint64_t span = difference(end->time_ns, was_idle ? began_ns : before->time_ns);
    uint64_t busy = 0, state;
    int i;

    for (i = 0; i < MST_STATE_COUNT; i++) {
        state = difference(end->state_ns[i], before->state_ns[i]);
        s->mean_state_milli[i] = mst_summary_milli(state, span);
        if (i == MST_STATE_IDLE || is_older(i, state))
            continue;
        if (state == MST_UNKNOWN)
            busy = MST_UNKNOWN;
        else if (busy != MST_UNKNOWN)
            busy += state;
    }
    s->mean_busy_milli = mst_summary_milli(busy, span);
}

/* Over the time under load, from the first request's begin (before it workers were idle, mostly) to
 * the first sample after the last one's end: exact, whatever happened between. `before` and `end`
 * enclose the load tool's run, which counts where no request, or no tool, tells more. */
static bool read_occupancy(struct mst_summary_server *s, sqlite3 *db, const struct mst_summary *run,
                           const struct counters *before, const struct counters *end)
{
    bool known = mst_summary_has_load(run, s);
    struct counters first = *before, last = *end;
    uint64_t began_ns = run->started_ns;

    if (known && (!read_counters(&first, db, s->id, "AND time_ns <= :at_ns "
                                 "ORDER BY rowid DESC LIMIT 1", s->first_ns) ||
                  !read_counters(&last, db, s->id, "AND moment <> 'after' AND time_ns >= :at_ns "
                                 "ORDER BY rowid LIMIT 1", s->last_ns)))
        return false;
    if (last.time_ns == MST_UNKNOWN)
        last = *end;
    /* Not so where another clock has timed the requests than the samples. */
    if (known && first.time_ns <= s->first_ns && s->first_ns < last.time_ns) {
        began_ns = s->first_ns;
    } else {
        first = *before;
        last = *end;
    }
    mean_occupancy(s, &first, &last, began_ns);
    return true;
}

static uint64_t working(const struct counters *before, const struct counters *after)
{
    static const int states[] = { MST_STATE_READING, MST_STATE_HANDLING, MST_STATE_SENDING,
                                  MST_STATE_LOGGING };
    uint64_t total = 0, state;
    size_t i;

    for (i = 0; i < sizeof states / sizeof *states; i++) {
        state = difference(after->state_ns[states[i]], before->state_ns[states[i]]);
        if (is_older(states[i], state))
            continue;
        if (state == MST_UNKNOWN)
            return MST_UNKNOWN;
        total += state;
    }
    return total;
}

/* The server itself counts the time without an idle worker. More of it than all samples took
 * together shows that all workers were busy at once, although every sample missed it. */
static void correct_max_busy(struct mst_summary_server *s, uint64_t sampling_ns)
{
    if (s->no_idle_ns != MST_UNKNOWN && sampling_ns != MST_UNKNOWN && s->no_idle_ns > sampling_ns &&
        s->workers_limit != MST_UNKNOWN && s->max_busy < s->workers_limit)
        s->max_busy = s->workers_limit;
}

/* A server that was stopped and started has two boards, and the second one counts from 0: the
 * difference of two samples says nothing. Its journals tell which processes began and ended, and
 * how many requests died. */
static bool count_by_journals(struct mst_summary_server *s, sqlite3 *db)
{
    const struct mst_row_member members[] = {
        { "forks", &s->forks }, { "exits", &s->exits }, { "unfinished", &s->unfinished },
        { "generations", &s->generations },
    };
    struct mst_query q = mst_query_ask(db,
        "SELECT coalesce(sum(event = 'fork'), 0) AS forks, coalesce(sum(event = 'exit'), 0) AS "
        "exits, coalesce(sum(unfinished), 0) AS unfinished, "
        "coalesce(sum(event = 'generation'), 0) AS generations FROM lifecycle "
        "WHERE server_id = :id AND coalesce(kind, 'child') IN ('child', 'php')", s->id);

    if (mst_query_next(&q))
        mst_row_numbers(&q, members, sizeof members / sizeof *members);
    memset(s->mean_state_milli, 0xff, sizeof s->mean_state_milli);   /* all unknown */
    s->mean_busy_milli = s->working_ns = s->counted = MST_UNKNOWN;
    s->forks_failed = s->shed = s->no_idle_ns = MST_UNKNOWN;
    return mst_query_done(&q);
}

static bool read_samples(struct mst_summary_server *s, sqlite3 *db, const struct mst_summary *run)
{
    uint64_t sampling_ns = MST_UNKNOWN;
    struct counters before, end, last;
    struct mst_query q = mst_query_ask(db,
        "SELECT count(*) AS samples, max(workers_busy) AS max_busy, max(workers_limit) AS most, "
        "sum(cost_ns) AS cost_ns FROM samples WHERE server_id = :id "
        "AND moment IN ('during', 'end')", s->id);

    if (mst_query_next(&q)) {
        s->samples = mst_row_number(&q, "samples");
        s->max_busy = mst_row_number(&q, "max_busy");
        s->workers_limit = mst_row_number(&q, "most");
        sampling_ns = mst_row_number(&q, "cost_ns");
    }
    if (!mst_query_done(&q) ||
        !read_counters(&before, db, s->id, "AND moment = 'before'", MST_UNKNOWN) ||
        !read_counters(&end, db, s->id, "AND moment <> 'after' ORDER BY rowid DESC LIMIT 1",
                       MST_UNKNOWN) ||
        !read_counters(&last, db, s->id, "ORDER BY rowid DESC LIMIT 1", MST_UNKNOWN) ||
        !read_occupancy(s, db, run, &before, &end))
        return false;
    s->working_ns = working(&before, &last);
    s->span_ns = difference(last.time_ns, before.time_ns);
    s->in_flight = last.in_flight;
    s->counted = difference(last.requests, before.requests);
    s->forks = difference(last.forks, before.forks);
    s->exits = difference(last.exits, before.exits);
    s->forks_failed = difference(last.forks_failed, before.forks_failed);
    s->shed = difference(last.shed, before.shed);
    s->unfinished = difference(last.unfinished, before.unfinished);
    s->no_idle_ns = difference(end.no_idle_ns, before.no_idle_ns);
    s->generations = difference(last.generations, before.generations);
    if (mst_known(s->restarts) > 0 && !count_by_journals(s, db))
        return false;
    correct_max_busy(s, sampling_ns);
    return true;
}

/* When the queue was fullest. A server of several sockets gives each sample those of its
 * fullest one, which are not always the same one's. */
static bool read_listen_queue(struct mst_summary_server *s, sqlite3 *db)
{
    struct mst_query q = mst_query_ask(db,
        "SELECT listen_queue, listen_queue_limit, listen_address, listen_pool FROM samples "
        "WHERE server_id = :id AND moment IN ('during', 'end') "
        "ORDER BY 1.0 * listen_queue / listen_queue_limit DESC, listen_queue DESC, "
        "listen_queue_limit LIMIT 1", s->id);

    s->max_listen_queue = s->listen_queue_limit = MST_UNKNOWN;
    if (mst_query_next(&q)) {
        s->max_listen_queue = mst_row_number(&q, "listen_queue");
        s->listen_queue_limit = mst_row_number(&q, "listen_queue_limit");
        s->listen_address = mst_row_string(&q, "listen_address");
        s->listen_pool = mst_row_string(&q, "listen_pool");
    }
    return mst_query_done(&q);
}

/* A CGI whose end mod_cgid handled has the reason 'unknown' and does not count as killed. */
static bool read_memory(struct mst_summary_server *s, sqlite3 *db)
{
    struct mst_query q = mst_query_ask(db,
        "SELECT max(pss_bytes) AS peak, processes, rss_bytes, "
        "(SELECT count(*) FROM lifecycle WHERE server_id = :id AND event = 'exit' "
        "AND reason IN ('killed', 'signal')) AS killed, "
        "(SELECT count(*) FROM lifecycle WHERE server_id = :id AND event = 'exit' "
        "AND reason = 'signal') AS signalled FROM memory_samples WHERE server_id = :id", s->id);

    if (mst_query_next(&q)) {
        s->peak_pss_bytes = mst_row_number(&q, "peak");
        s->peak_processes = mst_row_number(&q, "processes");
        s->peak_rss_bytes = mst_row_number(&q, "rss_bytes");
        s->killed = mst_row_number(&q, "killed");
        s->signalled = mst_row_number(&q, "signalled");
    }
    return mst_query_done(&q);
}

static bool read_opcache(struct mst_summary_server *s, sqlite3 *db)
{
    struct mst_query q = mst_query_ask(db,
        "SELECT state, used_bytes, wasted_bytes, limit_bytes, scripts, keys, keys_limit, restarts "
        "- (SELECT restarts FROM opcache WHERE server_id = :id ORDER BY rowid LIMIT 1) AS restarts "
        "FROM opcache WHERE server_id = :id ORDER BY rowid DESC LIMIT 1", s->id);
    const struct mst_row_member members[] = {
        { "used_bytes", &s->opcache.used_bytes }, { "wasted_bytes", &s->opcache.wasted_bytes },
        { "limit_bytes", &s->opcache.limit_bytes }, { "scripts", &s->opcache.scripts },
        { "keys", &s->opcache.keys }, { "keys_limit", &s->opcache.keys_limit },
        { "restarts", &s->opcache.restarts },
    };

    if (mst_query_next(&q)) {
        s->opcache.state = mst_opcache_named(mst_row_text(&q, "state"));
        mst_row_numbers(&q, members, sizeof members / sizeof *members);
    }
    return mst_query_done(&q);
}

static bool read_server(struct mst_summary_server *s, sqlite3 *db, struct mst_summary *run)
{
    return mst_summary_read_requests(run, s, db) && mst_summary_account(s) &&
           mst_summary_read_ends(s, db) && read_samples(s, db, run) &&
           read_listen_queue(s, db) && read_memory(s, db) && read_opcache(s, db) &&
           mst_summary_read_resources(s, db, run) && mst_summary_read_at_once(s, db, run);
}

/* ---- all of them ------------------------------------------------------------------ */

static struct mst_summary_server read_identity(struct mst_query *q)
{
    return (struct mst_summary_server){
        .id = mst_row_id(q, "id"), .local = mst_row_number(q, "local") == 1,
        .target = mst_row_string(q, "target"), .name = mst_row_string(q, "name"),
        .producer = mst_producer_of(mst_row_text(q, "producer")),
        .server = mst_row_string(q, "server"), .mpm = mst_row_string(q, "mpm"),
        .sapi = mst_row_string(q, "sapi"), .sapi_kind = mst_sapi_of(mst_row_text(q, "sapi")),
        .unknown = mst_row_string(q, "unknown"), .listens = mst_row_string(q, "listens"),
        .lost = mst_row_number(q, "lost"), .restarts = mst_row_number(q, "restarts"),
        .cpu_ns = mst_row_number(q, "cpu_ns"), .cgroup = mst_row_string(q, "cgroup"),
        .memory_limit = mst_row_number(q, "memory_limit_bytes"),
        .oom_kills = mst_row_number(q, "oom_kills"),
        .memory_stall_ns = mst_row_number(q, "memory_stall_ns"),
        .throttled_ns = mst_row_number(q, "throttled_ns"),
        .clock_known = !mst_row_is_null(q, "clock_offset_ns"),
        .clock_offset_ns = mst_row_id(q, "clock_offset_ns"),
        .clock_ahead_ns = mst_row_id(q, "clock_ahead_ns"),
        .clock_uncertainty_ns = mst_row_number(q, "clock_uncertainty_ns"),
    };
}

static bool read_identities(struct mst_summary *s, sqlite3 *db)
{
    struct mst_query q = mst_query_ask(db,
        "SELECT id, local, target, name, producer, server, mpm, sapi, unknown, lost, restarts, "
        "cpu_ns, cgroup, memory_limit_bytes, oom_kills, memory_stall_ns, throttled_ns, listens, "
        "clock_offset_ns, clock_ahead_ns, clock_uncertainty_ns FROM servers "
        "WHERE run_id = :id ORDER BY id", s->id);
    struct mst_summary_server *server;
    bool fine = true;

    while (fine && mst_query_next(&q)) {
        if (s->server_count == SERVERS_MAX) {
            mst_query_refuse(&q, "a run in it has more servers than can be: " MST_GUARD_ODD);
            break;
        }
        server = mst_append(&s->servers, &s->server_count, sizeof *server);
        fine = server != NULL;
        if (!fine)
            break;
        *server = read_identity(&q);
        fine = server->target != NULL;
    }
    return mst_query_done(&q) && fine;
}

bool mst_summary_read_servers(struct mst_summary *s, sqlite3 *db)
{
    size_t apaches = 0, i;

    if (!read_identities(s, db))
        return false;
    for (i = 0; i < s->server_count; i++)
        apaches += !mst_summary_is_php(&s->servers[i]);
    if (apaches > 1 && !mst_summary_find_only_apaches(s, db))
        return false;
    for (i = 0; i < s->server_count; i++) {
        s->servers[i].php.known = !mst_summary_is_php(&s->servers[i]) && apaches < s->server_count;
        if (!read_server(&s->servers[i], db, s))
            return false;
    }
    /* Two Apaches may have had requests of the same id at the same time. */
    for (i = 0; i < s->server_count; i++)
        if (s->servers[i].joined > s->servers[i].requests)
            s->servers[i].joined = s->servers[i].requests;
    return mst_summary_read_php_cgi(s, db);
}
