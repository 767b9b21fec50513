/* read_at_once.c - how many requests there were at once, of a server and of each of its pools: how
 * many workers they want. See steps.h. */
#include "analysis/bottleneck.h"
#include "analysis/run_requests.h"
#include "analysis/steps.h"
#include "analysis/thresholds.h"
#include "archive/query.h"
#include "stats/quantile.h"

/* Where the accept queue is not known, a full server does not tell how many wanted to come. */
static bool read_samples(struct mst_summary_server *s, sqlite3 *db)
{
    struct mst_query q = mst_query_ask(db,
        "SELECT coalesce(in_flight, workers_busy) + listen_queue AS at_once FROM samples "
        "WHERE server_id = :id AND moment IN ('during', 'end') AND at_once IS NOT NULL", s->id);
    struct mst_values values = { 0 };
    bool fine = true;

    while (fine && mst_query_next(&q))
        fine = mst_values_add(&values, mst_row_number(&q, "at_once")) == 0;
    mst_values_sort(&values);
    s->at_once_p99 = mst_values_quantile(&values, 990);
    mst_values_free(&values);
    return mst_query_done(&q) && fine;
}

/* ---- by what the requests found ------------------------------------------------------------- */

/* When requests came, and when they ended. */
struct times { struct mst_values begins, ends; };

/* How many requests there were, itself included, when each of them came: *quantile is that of
 * these numbers. False: no memory. */
static bool count(uint64_t *quantile, unsigned per_mille, struct times *t)
{
    struct mst_values found = { 0 };
    size_t ended = 0, i;
    bool fine = true;

    mst_values_sort(&t->begins);
    mst_values_sort(&t->ends);
    for (i = 0; i < t->begins.count && fine; i++) {
        while (ended < t->ends.count && t->ends.items[ended] <= t->begins.items[i])
            ended++;
        fine = mst_values_add(&found, i + 1 - (ended < i ? ended : i)) == 0;
    }
    mst_values_sort(&found);
    *quantile = mst_values_quantile(&found, per_mille);
    mst_values_free(&found);
    return fine;
}

/* Ends the query of their `began` and `ended`. */
static bool count_rows(uint64_t *quantile, unsigned per_mille, struct mst_query *q)
{
    struct times t = { 0 };
    bool fine = true;

    while (fine && mst_query_next(q))
        fine = mst_values_add(&t.begins, mst_row_number(q, "began")) == 0 &&
               mst_values_add(&t.ends, mst_row_number(q, "ended")) == 0;
    fine = mst_query_done(q) && fine && count(quantile, per_mille, &t);
    mst_values_free(&t.begins);
    mst_values_free(&t.ends);
    return fine;
}

#define OF_PHP "SELECT start_ns - coalesce(wait_ns, 0) AS began, start_ns + run_ns AS ended " \
               MST_FROM_PHPS_REQUESTS "AND start_ns < :ended "

static bool read_requests(struct mst_summary_server *s, sqlite3 *db, const struct mst_summary *run)
{
    struct mst_query q = mst_query_ask(db, mst_summary_is_php(s) ? OF_PHP :
        "SELECT start_ns AS began, start_ns + queue_ns + read_ns + handle_ns + send_ns AS ended "
        MST_FROM_APACHES_REQUESTS "AND no_worker = 0 AND start_ns < :ended", s->id);

    mst_query_set(&q, ":ended", (int64_t)run->ended_ns);
    return count_rows(&s->came_at_once_p99, 990, &q);
}

static bool read_pools(struct mst_summary_server *s, sqlite3 *db, const struct mst_summary *run)
{
    struct mst_summary_pool *pool;
    struct mst_query q;

    for (pool = s->pools; pool < s->pools + s->pool_count; pool++) {
        if (!mst_pool_is_short(s, pool))
            continue;
        q = mst_query_ask(db, OF_PHP "AND label = :pool", s->id);
        mst_query_set(&q, ":ended", (int64_t)run->ended_ns);
        mst_query_set_text(&q, ":pool", pool->label);
        if (!count_rows(&pool->came_at_once_p99, 990, &q))
            return false;
    }
    return true;
}

/* Connections found an accept queue of the machine full. Requests know how many of them were in
 * this server's at once: at most, since the kernel's clock can hide a step of each wait. */
static bool read_queued(struct mst_summary_server *s, sqlite3 *db, const struct mst_summary *run)
{
    struct mst_query q;

    if (mst_summary_is_php(s) || run->listen_overflows == MST_UNKNOWN ||
        run->listen_overflows == 0)
        return true;
    q = mst_query_ask(db, "SELECT start_ns AS began, start_ns + queue_ns + :step AS ended "
                      MST_FROM_APACHES_REQUESTS "AND start_ns < :ended", s->id);
    mst_query_set(&q, ":step", MST_QUEUE_MEAN_MIN_NS);
    mst_query_set(&q, ":ended", (int64_t)run->ended_ns);
    return count_rows(&s->queued_at_once, 1000, &q);
}

/* Reads the number from the samples, and from how many requests each request found when it came.
 * The latter is known without the accept queue, and a pause in the load does not make it smaller.
 * It is not read for a server that had workers enough, nor from a thinned archive, where all
 * requests that one row stands for would come at its instant. */
bool mst_summary_read_at_once(struct mst_summary_server *s, sqlite3 *db,
                              const struct mst_summary *run)
{
    size_t i;

    s->came_at_once_p99 = s->queued_at_once = MST_UNKNOWN;
    for (i = 0; i < s->pool_count; i++)
        s->pools[i].came_at_once_p99 = MST_UNKNOWN;
    return read_samples(s, db) &&
           (run->is_thinned || ((!mst_summary_all_busy(s) || read_requests(s, db, run)) &&
                                read_queued(s, db, run) && read_pools(s, db, run)));
}
