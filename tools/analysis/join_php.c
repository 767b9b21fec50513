/* join_php.c - joins PHP's requests to Apache's phases: see join_php.h.
 *
 * Records of the two sides join on Apache's request id and on the time, since ids are unique in
 * one board only. Servers behind a balancer have requests of the same id at the same time, so it is
 * found first which PHP works for one Apache alone.
 *
 * php_wait and php_run are not parts of Apache's sum: of each, the part within `handle` or `send`
 * counts. PHP flushes, so php_run may reach into `send`.
 */
#include "analysis/join_php.h"

#include <stdlib.h>

#include "analysis/steps.h"
#include "analysis/thresholds.h"
#include "archive/query.h"
#include "base/array.h"
#include "base/saturate.h"

struct interval { uint64_t from, to; };

enum part { HANDLE_WAIT, HANDLE_RUN, HANDLE_OTHER, HANDLE_REST, SEND_RUN, SEND_OTHER, PARTS };

struct parts {
    struct mst_summary_overlay *to;
    struct mst_values           values[PARTS];
};

#define JOINED(schema, condition) \
    "SELECT a.rowid AS id, a.start_ns AS start_ns, a.queue_ns + a.read_ns AS before_ns, " \
    "a.handle_ns AS handle_ns, a.send_ns AS send_ns, " \
    "coalesce(a.checks_ns + a.upload_ns, 0) AS apart_ns, " \
    "p.start_ns AS php_start_ns, p.server_id AS php_id, p.wait_ns AS wait_ns, " \
    "p.run_ns AS run_ns, p.rowid AS php_row FROM " schema "server_requests a " \
    "LEFT JOIN " schema "php_requests p ON p.request_id = a.request_id AND p.ghost = 0 " \
    "WHERE a.server_id = :id AND a.ghost = 0 AND a.label <> '" MST_LABEL_STATUS_NAME "' " \
    condition
/* The rows' order is MST_REQUESTS_ORDER. */
static const char joined_sql[] = JOINED("", "ORDER BY a.request_id, a.rowid");
static const char one_sql[] = JOINED("main.", "AND a.rowid = :row");

static uint64_t common(struct interval a, struct interval b)
{
    uint64_t from = a.from > b.from ? a.from : b.from, to = a.to < b.to ? a.to : b.to;

    return to > from ? to - from : 0;
}

/* Intervals of several PHP requests may overlap: no part is longer than the whole. */
static void add(uint64_t *part, uint64_t ns, uint64_t whole)
{
    *part = ns > whole || *part > whole - ns ? whole : *part + ns;
}

/* The present row's request of PHP's, which began at start_ns by Apache's clock. */
static void lay(struct mst_joined *l, struct mst_query *q, uint64_t php_id, uint64_t start_ns)
{
    uint64_t wait_ns = mst_row_number(q, "wait_ns"), run_ns = mst_row_number(q, "run_ns");
    uint64_t handled_ns = l->start_ns + l->before_ns, sent_ns = handled_ns + l->handle_ns;
    struct interval handle = { handled_ns, sent_ns }, send = { sent_ns, sent_ns + l->send_ns };
    struct interval run = { start_ns, start_ns + run_ns }, wait = { start_ns, start_ns };

    if (wait_ns == MST_UNKNOWN)
        l->wait_unknown = true;
    else
        wait.from = mst_subtract_saturated(start_ns, wait_ns);
    l->joined = true;
    if (l->php_row == 0 || run_ns > l->php_run_ns) {
        l->php_id = php_id;
        l->php_row = mst_row_number(q, "php_row");
        l->php_start_ns = start_ns;
        l->php_run_ns = run_ns;
    }
    add(&l->handle_wait, common(wait, handle), l->handle_ns);
    add(&l->handle_run, common(run, handle), l->handle_ns);
    add(&l->send_run, common(run, send), l->send_ns);
}

/* Keeps PHP's times of a request, and adds its parts to the values that the quantiles are computed
 * from. */
static bool take(void *context, const struct mst_joined *l)
{
    struct parts *o = context;
    struct mst_summary_overlay *to = o->to;
    uint64_t other = mst_subtract_saturated(l->handle_ns, l->handle_wait + l->handle_run);
    const uint64_t parts[PARTS] = {
        [HANDLE_WAIT] = l->handle_wait, [HANDLE_RUN] = l->handle_run,
        [HANDLE_OTHER] = other, [HANDLE_REST] = mst_subtract_saturated(other, l->apart_ns),
        [SEND_RUN] = l->send_run, [SEND_OTHER] = mst_subtract_saturated(l->send_ns, l->send_run),
    };
    int i;

    if (!mst_grow(&to->requests, &to->request_room, to->request_count, sizeof *to->requests))
        return false;
    to->requests[to->request_count++] = (struct mst_php_times){ l->id, l->handle_wait,
                                                                l->handle_run, l->send_run };
    to->joined += l->joined;
    to->wait_unknown += l->wait_unknown;
    for (i = 0; i < PARTS; i++)
        if (mst_values_add(&o->values[i], parts[i]) != 0)
            return false;
    return true;
}

/* s->server_count: none of them. */
static size_t server_of(const struct mst_summary *s, uint64_t id)
{
    size_t i;

    for (i = 0; i < s->server_count && (uint64_t)s->servers[i].id != id; i++)
        ;
    return i;
}

static bool have_same_clock(const struct mst_summary_server *apache,
                            const struct mst_summary_server *php)
{
    return apache->clock_known && php->clock_known;
}

/* The instant of PHP's by Apache's clock, where both clocks are known. MST_UNKNOWN: there is no
 * such instant. */
static uint64_t by_apaches_clock(uint64_t instant_ns, const struct mst_summary_server *apache,
                                 const struct mst_summary_server *php)
{
    if (instant_ns != MST_UNKNOWN && have_same_clock(apache, php))
        instant_ns += (uint64_t)apache->clock_offset_ns - (uint64_t)php->clock_offset_ns;
    return instant_ns <= INT64_MAX ? instant_ns : MST_UNKNOWN;
}

/* Whether PHP's request can be this one of Apache's: ids repeat, in another board. */
static bool fits(const struct mst_joined *l, uint64_t php_start, bool same_clock)
{
    uint64_t tolerance = same_clock ? MST_SAME_CLOCK_TOLERANCE_NS
                                    : MST_WALL_CLOCK_TOLERANCE_NS;

    return php_start != MST_UNKNOWN && php_start + tolerance >= l->start_ns &&
           php_start <= l->start_ns + l->before_ns + l->handle_ns + l->send_ns + tolerance;
}

static void begin_request(struct mst_joined *l, uint64_t id, struct mst_query *q)
{
    *l = (struct mst_joined){
        .id = id, .start_ns = mst_row_number(q, "start_ns"),
        .before_ns = mst_row_number(q, "before_ns"), .handle_ns = mst_row_number(q, "handle_ns"),
        .send_ns = mst_row_number(q, "send_ns"), .apart_ns = mst_row_number(q, "apart_ns"),
    };
}

/* Lays the present row's request of PHP's over Apache's, where it is of this run and can be. */
static void lay_row(struct mst_joined *l, struct mst_query *q, const struct mst_summary *s,
                    const struct mst_summary_server *apache, uint64_t *joined)
{
    uint64_t start_ns = mst_row_number(q, "php_start_ns"), id = mst_row_number(q, "php_id");
    size_t i = id != MST_UNKNOWN ? server_of(s, id) : s->server_count;
    const struct mst_summary_server *php = &s->servers[i];

    if (i == s->server_count || !mst_summary_is_php(php) ||
        (php->only_apache != 0 && php->only_apache != apache->id))
        return;
    start_ns = by_apaches_clock(start_ns, apache, php);
    if (!fits(l, start_ns, have_same_clock(apache, php)))
        return;
    lay(l, q, id, start_ns);
    if (joined != NULL)
        joined[i]++;
}

/* A request that Apache handed to PHP several times has several rows. */
static bool walk(struct mst_query *q, const struct mst_summary *s, int64_t apache,
                 mst_join_php_each *each, void *context, uint64_t *joined)
{
    size_t of = server_of(s, (uint64_t)apache);
    struct mst_joined laid = { 0 };
    bool fine = of < s->server_count;
    uint64_t id;

    while (fine && mst_query_next(q)) {
        id = mst_row_number(q, "id");
        if (id != laid.id) {
            fine = laid.id == 0 || each(context, &laid);
            begin_request(&laid, id, q);
        }
        lay_row(&laid, q, s, &s->servers[of], joined);
    }
    fine = fine && (laid.id == 0 || each(context, &laid));
    return mst_query_done(q) && fine;
}

bool mst_join_php_walk(const struct mst_summary *s, sqlite3 *db, int64_t apache,
                      mst_join_php_each *each, void *context, uint64_t *joined)
{
    struct mst_query q = mst_query_ask(db, joined_sql, apache);

    return walk(&q, s, apache, each, context, joined);
}

static bool keep(void *context, const struct mst_joined *request)
{
    *(struct mst_joined *)context = *request;
    return true;
}

bool mst_join_php_one(struct mst_joined *to, const struct mst_summary *s, sqlite3 *db,
                      int64_t apache, uint64_t row)
{
    struct mst_query q = mst_query_ask(db, one_sql, apache);

    *to = (struct mst_joined){ 0 };
    mst_query_set(&q, ":row", (int64_t)row);
    return walk(&q, s, apache, keep, to, NULL);
}

bool mst_join_php_read(struct mst_php_times *to, const struct mst_summary_overlay *php,
                       size_t nth, struct mst_query *q)
{
    *to = (struct mst_php_times){ 0 };
    if (php->joined == 0)
        return true;
    if (nth >= php->request_count || mst_row_number(q, "id") != php->requests[nth].id)
        return false;
    *to = php->requests[nth];
    return true;
}

static bool join(struct mst_summary *s, struct mst_summary_server *apache, sqlite3 *db)
{
    struct parts o = { .to = &apache->php };
    struct mst_summary_times *const to[PARTS] = {
        [HANDLE_WAIT] = &o.to->handle_wait, [HANDLE_RUN] = &o.to->handle_run,
        [HANDLE_OTHER] = &o.to->handle_other, [HANDLE_REST] = &o.to->handle_rest,
        [SEND_RUN] = &o.to->send_run, [SEND_OTHER] = &o.to->send_other,
    };
    uint64_t *joined = calloc(s->server_count, sizeof *joined);
    bool fine = joined != NULL && mst_join_php_walk(s, db, apache->id, take, &o, joined);
    size_t i;

    o.to->known = true;
    for (i = 0; fine && i < s->server_count; i++)
        s->servers[i].joined += joined[i];
    for (i = 0; i < PARTS; i++) {
        mst_summary_times_of(to[i], &o.values[i]);
        mst_values_free(&o.values[i]);
    }
    free(joined);
    return fine;
}

/* A PHP gets a request a certain time after its Apache has begun to handle it: the Apache is the
 * one for which this time varies least. Where a PHP serves several Apaches, either many of its
 * requests are not in that one's records, or their ids repeat. */
static const char only_apache_sql[] =
    "WITH some AS (SELECT rowid AS row, server_id, request_id, "
    "  start_ns - coalesce(wait_ns, 0) AS handed_ns FROM main.php_requests "
    "  WHERE server_id = :id AND ghost = 0 AND request_id % :step = 0), "
    "pairs AS (SELECT a.server_id AS apache, p.row AS row, a.handle_ns AS handle_ns, p.handed_ns + "
    "  coalesce(sa.clock_offset_ns - sp.clock_offset_ns, 0) - a.start_ns - a.queue_ns - a.read_ns "
    "  AS after_ns FROM some p JOIN servers sp ON sp.id = p.server_id "
    "  JOIN servers sa ON sa.run_id = sp.run_id AND sa.producer = 'apache' "
    "  JOIN main.server_requests a ON a.server_id = sa.id AND a.request_id = p.request_id "
    "  AND a.ghost = 0) "
    "SELECT apache, count(DISTINCT row) AS fitting, (SELECT count(*) FROM some) AS sampled, "
    "(SELECT count(DISTINCT request_id) FROM some) AS ids FROM pairs "
    "WHERE after_ns BETWEEN -:tolerance AND handle_ns + :tolerance GROUP BY apache "
    "ORDER BY avg(1.0 * after_ns * after_ns) - avg(after_ns) * avg(after_ns) LIMIT 1";

static bool find_only_apache(const struct mst_summary *s, struct mst_summary_server *php,
                             sqlite3 *db)
{
    struct mst_query q = mst_query_ask(db, only_apache_sql, php->id);
    uint64_t rows = php->requests, least;

    if (s->thinned_of > 0)
        rows = rows / (s->thinned_of / (s->thinned_kept + 1) + 1);
    mst_query_set(&q, ":step", (int64_t)(rows / MST_ONE_APACHE_SAMPLE + 1));
    mst_query_set(&q, ":tolerance", MST_WALL_CLOCK_TOLERANCE_NS);
    if (mst_query_next(&q)) {
        least = mst_row_number(&q, "sampled") * MST_ONE_APACHE_PERCENT;
        if (mst_row_number(&q, "fitting") * 100 >= least &&
            mst_row_number(&q, "ids") * 100 >= least)
            php->only_apache = mst_row_id(&q, "apache");
    }
    return mst_query_done(&q);
}

bool mst_summary_join_php(struct mst_summary *s, sqlite3 *db)
{
    size_t apaches = 0, i;

    for (i = 0; i < s->server_count; i++)
        apaches += !mst_summary_is_php(&s->servers[i]);
    for (i = 0; apaches > 1 && i < s->server_count; i++)
        if (mst_summary_is_php(&s->servers[i]) && !find_only_apache(s, &s->servers[i], db))
            return false;
    for (i = 0; apaches < s->server_count && i < s->server_count; i++)
        if (!mst_summary_is_php(&s->servers[i]) && !join(s, &s->servers[i], db))
            return false;
    /* Two Apaches may have had requests of the same id at the same time. */
    for (i = 0; i < s->server_count; i++)
        if (s->servers[i].joined > s->servers[i].requests)
            s->servers[i].joined = s->servers[i].requests;
    return true;
}
