/* only_apache.c - finds which Apache a PHP works for, where it works for one alone: see steps.h.
 *
 * A PHP gets a request a certain time after its Apache has begun to handle it: the Apache is the
 * one for which this time varies least. Where a PHP serves several Apaches, either many of its
 * requests are not in that one's records, or their ids repeat.
 */
#include "analysis/steps.h"
#include "analysis/thresholds.h"
#include "archive/query.h"

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

static bool count_rows(uint64_t *rows, const struct mst_summary_server *php, sqlite3 *db)
{
    struct mst_query q = mst_query_ask(db, "SELECT count(*) AS number FROM main.php_requests "
                                       "WHERE server_id = :id", php->id);

    *rows = mst_query_next(&q) ? mst_row_number(&q, "number") : 0;
    return mst_query_done(&q);
}

static bool find_only_apache(struct mst_summary_server *php, sqlite3 *db)
{
    uint64_t rows, least;
    struct mst_query q;

    if (!count_rows(&rows, php, db))
        return false;
    q = mst_query_ask(db, only_apache_sql, php->id);
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

bool mst_summary_find_only_apaches(struct mst_summary *s, sqlite3 *db)
{
    size_t i;

    for (i = 0; i < s->server_count; i++)
        if (mst_summary_is_php(&s->servers[i]) && !find_only_apache(&s->servers[i], db))
            return false;
    return true;
}
