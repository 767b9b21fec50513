/* read_parts.c - reads what phases consist of: an Apache's intervals, the parts of PHP's php_run,
 * and calls of other ends. See steps.h.
 *
 * Each set of times has a value for every request that tells, 0 where it had no such part: so the
 * means of parts that follow each other add up to the phase's.
 */
#include <stdio.h>
#include <string.h>

#include "analysis/steps.h"
#include "analysis/thresholds.h"
#include "archive/query.h"
#include "base/array.h"
#include "segment/fields.h"

#define APACHES "FROM server_requests WHERE server_id = :id AND ghost = 0 AND label <> '" \
                MST_LABEL_STATUS_NAME "'"
#define PHPS    "FROM php_requests p WHERE server_id = :id AND ghost = 0"

/* A board has 64, and other archives may have any number. */
#define ENDS_MAX 4096u

/* Times of `ns`, one for each row. */
static bool take_times(struct mst_summary_times *t, struct mst_query *q)
{
    struct mst_values values = { 0 };
    bool fine = true;
    uint64_t ns;

    while (fine && mst_query_next(q)) {
        ns = mst_row_number(q, "ns");
        fine = ns == MST_UNKNOWN || mst_values_add(&values, ns) == 0;
    }
    fine = mst_query_done(q) && fine;
    mst_summary_times_of(t, &values);
    mst_values_free(&values);
    return fine;
}

static bool ask_times(struct mst_summary_times *t, sqlite3 *db, int64_t server_id, const char *sql)
{
    struct mst_query q = mst_query_ask(db, sql, server_id);

    return take_times(t, &q);
}

/* ---- an Apache's intervals ---------------------------------------------------------------- */

/* In which phase each lies; `undelivered` follows the total. */
static const enum mst_phase phases[] = {
    [MST_INTERVAL_TLS] = MST_PHASE_READ, [MST_INTERVAL_H2_WAIT] = MST_PHASE_QUEUE,
    [MST_INTERVAL_CHECKS] = MST_PHASE_HANDLE, [MST_INTERVAL_UPLOAD] = MST_PHASE_HANDLE,
    [MST_INTERVAL_BACKEND] = MST_PHASE_HANDLE, [MST_INTERVAL_SEND_CLIENT] = MST_PHASE_SEND,
    [MST_INTERVAL_SEND_NETWORK] = MST_PHASE_SEND, [MST_INTERVAL_SEND_SERVER] = MST_PHASE_SEND,
    [MST_INTERVAL_UNDELIVERED] = MST_PHASE_TOTAL, [MST_INTERVAL_LOG] = MST_PHASE_HELD,
};

enum mst_phase mst_summary_interval_in(enum mst_interval interval)
{
    return phases[interval];
}

bool mst_summary_is_much(uint64_t part_ns, uint64_t whole_ns)
{
    uint64_t share = mst_summary_milli(part_ns, whole_ns);

    return part_ns > 0 && share != MST_UNKNOWN && share >= MST_PART_SHARE_MILLI;
}

bool mst_summary_has_interval(const struct mst_summary_server *s, enum mst_interval interval)
{
    const struct mst_summary_interval *i = &s->intervals[interval];

    return i->requests > 0 &&
           mst_summary_is_much(i->times.sum_ns, s->phases[phases[interval]].sum_ns);
}

/* How many requests had each of them. */
static bool count_intervals(struct mst_summary_server *s, sqlite3 *db)
{
#define X_COUNT(suffix, name) "total(" name "_ns > 0) AS " name ", "
    struct mst_query q = mst_query_ask(db, "SELECT " MST_INTERVALS(X_COUNT) "count(*) AS requests "
                                           APACHES, s->id);
    uint64_t requests;
    int i;

    if (mst_query_next(&q))
        for (i = 0; i < MST_INTERVAL_COUNT; i++) {
            requests = mst_row_number(&q, mst_interval_names[i]);
            s->intervals[i].requests = requests != MST_UNKNOWN ? requests : 0;
        }
    return mst_query_done(&q);
}

/* Requests of an older mpmstat tell of no interval: their `checks_ns` is NULL, too. */
static bool read_intervals(struct mst_summary_server *s, sqlite3 *db)
{
    bool fine = count_intervals(s, db);
    char sql[256];
    int i;

    for (i = 0; i < MST_INTERVAL_COUNT && fine; i++) {
        if (s->intervals[i].requests == 0)
            continue;
        snprintf(sql, sizeof sql, "SELECT coalesce(%s_ns, 0) AS ns " APACHES
                 " AND checks_ns IS NOT NULL", mst_interval_names[i]);
        fine = ask_times(&s->intervals[i].times, db, s->id, sql);
    }
    return fine;
}

static bool has_any(const struct mst_summary_server *s, enum mst_phase in)
{
    int i;

    for (i = 0; i < MST_INTERVAL_COUNT; i++)
        if (phases[i] == in && mst_summary_has_interval(s, (enum mst_interval)i))
            return true;
    return false;
}

/* What is left of a phase without the intervals that lie in it one after the other. */
static bool read_rests(struct mst_summary_server *s, sqlite3 *db)
{
    return (!has_any(s, MST_PHASE_HANDLE) ||
            ask_times(&s->handle_rest, db, s->id,
                      "SELECT max(0, handle_ns - checks_ns - upload_ns - backend_ns) AS ns "
                      APACHES " AND checks_ns IS NOT NULL")) &&
           (!has_any(s, MST_PHASE_SEND) ||
            ask_times(&s->send_rest, db, s->id,
                      "SELECT max(0, send_ns - coalesce(send_client_ns + send_network_ns + "
                      "send_server_ns, 0)) AS ns " APACHES " AND checks_ns IS NOT NULL"));
}

/* ---- the parts of php_run ----------------------------------------------------------------- */

static bool read_wait(struct mst_summary_server *s, sqlite3 *db, enum mst_wait wait)
{
    struct mst_summary_interval *w = &s->run.waits[wait];
    struct mst_query q = mst_query_ask(db,
        "SELECT coalesce((SELECT sum(wait_ns) FROM php_waits w WHERE w.server_id = p.server_id "
        "AND w.key = p.key AND w.kind = :kind), 0) AS ns " PHPS " AND waits_ns IS NOT NULL", s->id);

    mst_query_set_text(&q, ":kind", mst_wait_names[wait]);
    return take_times(&w->times, &q);
}

/* In one pass, which requests waited for what. */
static bool count_waits(struct mst_summary_server *s, sqlite3 *db)
{
    struct mst_query q = mst_query_ask(db,
        "SELECT kind, count(DISTINCT w.key) AS requests FROM php_waits w JOIN php_requests p ON "
        "p.server_id = w.server_id AND p.key = w.key AND p.ghost = 0 WHERE w.server_id = :id "
        "GROUP BY kind", s->id);
    int i;

    while (mst_query_next(&q)) {
        const char *kind = mst_row_text(&q, "kind");

        for (i = 0; i < MST_WAIT_COUNT; i++)
            if (kind != NULL && strcmp(kind, mst_wait_names[i]) == 0)
                s->run.waits[i].requests = mst_row_number(&q, "requests");
    }
    return mst_query_done(&q);
}

static bool read_run(struct mst_summary_server *s, sqlite3 *db)
{
    bool fine = ask_times(&s->run.cpu, db, s->id, "SELECT user_ns + system_ns AS ns " PHPS
                          " AND waits_ns IS NOT NULL") &&
                ask_times(&s->run.cpu_wait, db, s->id, "SELECT cpu_wait_ns AS ns " PHPS) &&
                ask_times(&s->run.rest, db, s->id, "SELECT max(0, run_ns - coalesce(user_ns + "
                          "system_ns, 0) - coalesce(cpu_wait_ns, 0) - waits_ns) AS ns " PHPS) &&
                count_waits(s, db);
    int i;

    for (i = 0; i < MST_WAIT_COUNT && fine; i++)
        if (s->run.waits[i].requests > 0)
            fine = read_wait(s, db, (enum mst_wait)i);
    return fine;
}

/* ---- other ends --------------------------------------------------------------------------- */

static bool read_ends(struct mst_summary_server *s, sqlite3 *db)
{
    struct mst_query q = mst_query_ask(db,
        "SELECT kind, end, calls, failed, end_ns FROM ends WHERE server_id = :id "
        "ORDER BY end_ns DESC, kind, end", s->id);
    struct mst_summary_end *end;

    while (s->end_count < ENDS_MAX && mst_query_next(&q)) {
        end = mst_append(&s->ends, &s->end_count, sizeof *end);
        if (end == NULL) {
            mst_query_no_memory(&q);
            break;
        }
        *end = (struct mst_summary_end){
            .kind = mst_row_string(&q, "kind"), .name = mst_row_string(&q, "end"),
            .calls = mst_row_number(&q, "calls"), .failed = mst_row_number(&q, "failed"),
            .end_ns = mst_row_number(&q, "end_ns"),
        };
    }
    return mst_query_done(&q);
}

bool mst_summary_read_parts(struct mst_summary_server *s, sqlite3 *db)
{
    bool fine = mst_summary_is_php(s) ? read_run(s, db)
                                      : read_intervals(s, db) && read_rests(s, db);

    return fine && read_ends(s, db);
}
