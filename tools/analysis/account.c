/* account.c - reads the requests of each server, and adds up where their time went: see summary.h
 * and steps.h.
 *
 * First it is found which PHP works for one Apache alone, as the walk over the requests asks that.
 */
#include <stdlib.h>

#include "analysis/kept.h"
#include "analysis/steps.h"
#include "analysis/thresholds.h"
#include "archive/query.h"
#include "base/saturate.h"
#include "stats/quantile.h"

/* ---- parts ---------------------------------------------------------------------------------- */

/* PHP's time by Apache's phase, whose parts add up to it. */
enum by_phase { HANDLE_WAIT, HANDLE_RUN, HANDLE_OTHER, SEND_RUN, SEND_OTHER, RUN, BY_PHASE };

struct reading {
    struct mst_summary_server *server;
    uint64_t requests, having[MST_PART_COUNT];
};

static bool take(void *context, const struct mst_walked *request)
{
    struct reading *r = context;
    unsigned i;

    r->requests++;
    for (i = 0; i < MST_PART_COUNT; i++)
        r->having[i] += request->split.parts_ns[i] > 0;
    if (r->server->php.known) {
        r->server->php.joined += request->has_php;
        r->server->php.wait_unknown += request->wait_unknown;
    }
    return mst_kept_add(r->server->kept, request);
}

static bool read_all(struct reading *r, struct mst_summary *s, sqlite3 *db)
{
    uint64_t *joined = calloc(s->server_count + 1, sizeof *joined);
    bool fine;
    size_t i;

    r->server->kept = mst_kept_new();
    fine = joined != NULL && r->server->kept != NULL &&
           mst_requests_read(s, db, r->server, take, r, joined);
    for (i = 0; fine && i < s->server_count; i++)
        s->servers[i].joined += joined[i];
    free(joined);
    if (r->server->kept != NULL)
        mst_kept_end(r->server->kept);
    return fine;
}

/* A column of times: a part, or beyond those PHP's time by phase. Two at a time are gathered, as a
 * column of a million requests has 8 MB. */
enum { COLUMNS = MST_PART_COUNT + BY_PHASE, AT_ONCE = 2 };
struct gathering { unsigned count, columns[AT_ONCE]; struct mst_values values[AT_ONCE]; };

static uint64_t by_phase_ns(enum by_phase which, const struct mst_walked *r)
{
    uint64_t wait = r->split.parts_ns[MST_PART_PHP_WAIT];

    switch (which) {
    case HANDLE_WAIT:  return wait;
    case HANDLE_RUN:   return r->split.handle_run_ns;
    case HANDLE_OTHER: return r->handle_ns - wait - r->split.handle_run_ns;
    case SEND_RUN:     return r->split.send_run_ns;
    case SEND_OTHER:   return r->send_ns - r->split.send_run_ns;
    default:           return r->split.handle_run_ns + r->split.send_run_ns;
    }
}

static bool gather(void *context, const struct mst_walked *r)
{
    struct gathering *g = context;
    bool fine = true;
    unsigned i;

    for (i = 0; i < g->count && fine; i++) {
        unsigned column = g->columns[i];

        if (column >= MST_PART_COUNT)
            fine = mst_values_add(&g->values[i],
                                  by_phase_ns(column - MST_PART_COUNT, r)) == 0;
        else if (r->split.parts_ns[column] > 0)
            fine = mst_values_add(&g->values[i], r->split.parts_ns[column]) == 0;
    }
    return fine;
}

static bool end_column(const struct reading *r, unsigned column, struct mst_values *values)
{
    struct mst_summary_overlay *php = &r->server->php;
    struct mst_summary_times *const by_phase[BY_PHASE] = {
        [HANDLE_WAIT] = &php->handle_wait, [HANDLE_RUN] = &php->handle_run,
        [HANDLE_OTHER] = &php->handle_other, [SEND_RUN] = &php->send_run,
        [SEND_OTHER] = &php->send_other, [RUN] = &php->run,
    };

    if (column < MST_PART_COUNT) {
        r->server->parts[column].requests = values->count;
        return mst_summary_times_with_zeros(&r->server->parts[column].times, values, r->requests);
    }
    mst_summary_times_of(by_phase[column - MST_PART_COUNT], values);
    mst_values_free(values);
    return true;
}

static bool end_columns(const struct reading *r, struct gathering *g)
{
    bool fine = mst_kept_walk(r->server->kept, gather, g);
    unsigned i;

    for (i = 0; i < g->count; i++)
        fine = end_column(r, g->columns[i], &g->values[i]) && fine;
    *g = (struct gathering){ 0 };
    return fine;
}

/* Whether any request has something in that column. */
static bool is_wanted(const struct reading *r, unsigned column)
{
    return column < MST_PART_COUNT ? r->having[column] > 0
                                   : r->server->php.known;
}

static bool account(struct mst_summary *s, struct mst_summary_server *server, sqlite3 *db)
{
    struct reading r = { .server = server };
    bool fine = read_all(&r, s, db);
    struct gathering g = { 0 };
    unsigned column;

    for (column = 0; column < COLUMNS && fine; column++) {
        if (is_wanted(&r, column))
            g.columns[g.count++] = column;
        if (g.count == AT_ONCE || column == COLUMNS - 1)
            fine = end_columns(&r, &g);
    }
    return fine;
}

/* ---- which Apache a PHP works for ----------------------------------------------------------- */

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

bool mst_summary_account(struct mst_summary *s, sqlite3 *db)
{
    size_t apaches = 0, i;

    for (i = 0; i < s->server_count; i++)
        apaches += !mst_summary_is_php(&s->servers[i]);
    for (i = 0; apaches > 1 && i < s->server_count; i++)
        if (mst_summary_is_php(&s->servers[i]) && !find_only_apache(s, &s->servers[i], db))
            return false;
    for (i = 0; i < s->server_count; i++) {
        s->servers[i].php.known = !mst_summary_is_php(&s->servers[i]) && apaches < s->server_count;
        if (!account(s, &s->servers[i], db))
            return false;
    }
    /* Two Apaches may have had requests of the same id at the same time. */
    for (i = 0; i < s->server_count; i++)
        if (s->servers[i].joined > s->servers[i].requests)
            s->servers[i].joined = s->servers[i].requests;
    return true;
}
