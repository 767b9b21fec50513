/* spawn_curve.c - spawning, from fork events: see spawn_curve.h. */
#include "lab/report/spawn_curve.h"

#include <math.h>
#include <string.h>

#include "archive/query.h"
#include "base/clock.h"
#include "lab/report/measure.h"

#define CURVE_ROWS_MAX 4000u    /* more cannot be told apart on a screen */

static const char *const curve_columns[] = { "t", "processes" };
enum { CURVE_T, CURVE_PROCESSES };

/* The server whose processes are counted: PHP where it forks them itself, else Apache. NULL: there
 * is not a server, or several Apaches: one of them does not tell when all processes were there. */
static const struct mst_summary_server *spawner(const struct mst_summary *s)
{
    const struct mst_summary_server *php = mst_summary_behind(s);
    size_t fronts = 0, i;

    if (php != NULL && php->sapi_kind == MST_SAPI_FPM)
        return php;
    for (i = 0; i < s->server_count; i++)
        fronts += mst_study_is_front(s, &s->servers[i]);
    return fronts == 1 ? mst_summary_front(s) : NULL;
}

/* When the first request of the load arrived; the load tool's start where none is known. */
static bool find_start(uint64_t *start_ns, const struct mst_summary *s, sqlite3 *db)
{
    struct mst_query q = mst_query_ask(db,
        "SELECT min(start) AS start FROM (SELECT min(start_ns) AS start FROM server_requests "
        "JOIN servers ON servers.id = server_id WHERE run_id = :id AND ghost = 0 AND label <> '"
        MST_LABEL_STATUS_NAME "' UNION ALL SELECT min(start_ns - coalesce(wait_ns, 0)) "
        "FROM php_requests JOIN servers ON servers.id = server_id WHERE run_id = :id "
        "AND ghost = 0)", s->id);

    *start_ns = mst_query_next(&q) ? mst_row_number(&q, "start") : MST_UNKNOWN;
    if (*start_ns == MST_UNKNOWN || *start_ns < s->started_ns)
        *start_ns = s->started_ns;
    return mst_query_done(&q);
}

/* How many processes there were at the last sample before the load, and when that was. */
static bool find_base(double *processes, uint64_t *at_ns, int64_t server_id, sqlite3 *db)
{
    struct mst_query q = mst_query_ask(db,
        "SELECT forks - exits AS processes, time_ns FROM samples WHERE server_id = :id "
        "AND moment = 'before' AND forks IS NOT NULL ORDER BY time_ns DESC LIMIT 1", server_id);

    *processes = 0;
    *at_ns = 0;
    if (mst_query_next(&q)) {
        *processes = mst_cell(mst_row_number(&q, "processes"));
        *at_ns = mst_row_number(&q, "time_ns");
    }
    if (isnan(*processes))
        *processes = 0;
    return mst_query_done(&q);
}

static void add_row(struct mst_table *curve, double t, double processes)
{
    double *row = mst_table_add(curve);

    row[CURVE_T] = t;
    row[CURVE_PROCESSES] = processes;
}

/* Reads all changes; those before the load only change the number of processes at its start. */
static bool read_changes(struct mst_table *curve, const struct mst_summary *s,
                         const struct mst_summary_server *server, sqlite3 *db)
{
    uint64_t start_ns, base_ns = 0, end_ns = s->ended_ns;
    double processes = 0, t = 0;
    struct mst_query q;
    bool begun = false;

    if (!find_start(&start_ns, s, db) || !find_base(&processes, &base_ns, server->id, db))
        return false;
    q = mst_query_ask(db,
        "SELECT time_ns, event = 'fork' AS is_fork FROM lifecycle WHERE server_id = :id "
        "AND (event = 'exit' OR (event = 'fork' AND kind IN ('child', 'php'))) "
        "AND time_ns > :base_ns AND time_ns <= :end_ns ORDER BY time_ns", server->id);
    mst_query_set(&q, ":base_ns", (int64_t)(base_ns > 0 ? base_ns : start_ns));
    mst_query_set(&q, ":end_ns", end_ns != MST_UNKNOWN ? (int64_t)end_ns : INT64_MAX);
    while (mst_query_next(&q)) {
        uint64_t at = mst_row_number(&q, "time_ns");

        t = at > start_ns ? (double)(at - start_ns) / (double)MST_NS_PER_S : 0;
        if (t > 0 && !begun) {
            add_row(curve, 0, processes);
            begun = true;
        }
        processes += mst_row_number(&q, "is_fork") == 1 ? 1 : -1;
        if (t > 0)
            add_row(curve, t, processes);
    }
    if (!begun)
        add_row(curve, 0, processes);
    if (end_ns != MST_UNKNOWN && end_ns > start_ns)
        add_row(curve, fmax(t, (double)(end_ns - start_ns) / (double)MST_NS_PER_S), processes);
    return mst_query_done(&q);
}

/* Keeps every nth change, and the last. */
static void thin(struct mst_table *curve)
{
    size_t every = curve->rows / CURVE_ROWS_MAX + 1, to = 0, from;

    for (from = 0; from < curve->rows; from++)
        if (from % every == 0 || from == curve->rows - 1)
            memmove(curve->cells + to++ * curve->width, curve->cells + from * curve->width,
                    curve->width * sizeof *curve->cells);
    curve->rows = to;
}

bool mst_spawn_curve(struct mst_table *curve, const struct mst_summary *s, sqlite3 *db)
{
    const struct mst_summary_server *server = spawner(s);
    bool fine;

    *curve = MST_TABLE("spawn", curve_columns);
    fine = server == NULL || read_changes(curve, s, server, db);
    thin(curve);
    return fine;
}

/* When there were as many for the first time; NaN: never. */
static double reached(const struct mst_table *curve, double processes)
{
    size_t i;

    for (i = 0; i < curve->rows; i++)
        if (curve->cells[i * curve->width + CURVE_PROCESSES] >= processes)
            return curve->cells[i * curve->width + CURVE_T];
    return NAN;
}

bool mst_spawn_measure(double *values, const struct mst_summary *s, sqlite3 *db)
{
    const struct mst_summary_server *server = spawner(s);
    struct mst_table curve = MST_TABLE("spawn", curve_columns);
    double first, most, spawned, tenth, ninth;
    bool fine = server == NULL || read_changes(&curve, s, server, db);
    size_t i;

    if (fine && curve.rows > 0) {
        first = most = curve.cells[CURVE_PROCESSES];
        for (i = 0; i < curve.rows; i++)
            most = fmax(most, curve.cells[i * curve.width + CURVE_PROCESSES]);
        spawned = values[MST_M_SPAWNED] = most - first;
        tenth = reached(&curve, first + ceil(spawned / 10));
        ninth = reached(&curve, first + ceil(spawned * 9 / 10));
        if (spawned > 0) {
            values[MST_M_SPAWN_FIRST] = reached(&curve, first + 1);
            values[MST_M_SPAWN_HALF] = reached(&curve, first + ceil(spawned / 2));
            values[MST_M_SPAWN_ALL] = reached(&curve, most);
        }
        if (ninth > tenth)
            values[MST_M_SPAWN_RATE] = (ceil(spawned * 9 / 10) - ceil(spawned / 10)) /
                                       (ninth - tenth);
    }
    mst_table_free(&curve);
    return fine;
}
