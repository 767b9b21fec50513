/* read_requests.c - reads a server's requests: how many, how long, and what their phases consist
 * of. See steps.h.
 *
 * The rows are read once for all of it: SQLite takes most of the time, and the more of it the more
 * often it has the row.
 */
#include "analysis/at_limit.h"
#include "analysis/parts.h"
#include "analysis/steps.h"
#include "analysis/requests.h"
#include "archive/query.h"
#include "base/saturate.h"

#define X_COLUMN(suffix, name) ", " name "_ns"
static const char apache_sql[] =
    "SELECT start_ns, queue_ns, read_ns, handle_ns, send_ns, held_ns, front_ns, bytes, status, "
    "aborted, no_worker, ghost, label = '" MST_LABEL_STATUS_NAME "' AS is_page, "
    "path IS NOT NULL AS has_path" MST_INTERVALS(X_COLUMN) " FROM server_requests "
    "WHERE server_id = :id";
static const char php_sql[] =
    "SELECT start_ns, wait_ns, run_ns, status, aborted, ghost, fatal, timeout, cached, "
    "memory_bytes, user_ns, system_ns, cpu_wait_ns, waits_ns FROM php_requests "
    "WHERE server_id = :id";

struct reading {
    struct mst_summary_server *s;
    struct mst_query  q;              /* the requests */
    uint64_t          sampled_from_ns, sampled_to_ns;   /* MST_UNKNOWN: there is no sample */
    uint64_t          ended_ns;
    struct mst_values phases[MST_PHASE_COUNT];
    struct mst_parts  parts;
    struct mst_at_limit at_limit;
};

/* What counts for every server. */
struct request {
    uint64_t first_ns, end_ns;        /* instants */
    uint64_t held_since_ns, held_ns;  /* its worker */
    uint64_t waited_ns, status;
    bool     aborted, has_worker;
};

static bool is_set(struct mst_query *q, const char *name)
{
    return mst_row_number(q, name) == 1;
}

/* Of the load's requests. */
static void count(struct reading *r, const struct request *of)
{
    struct mst_summary_server *s = r->s;
    bool late = of->end_ns != MST_UNKNOWN && of->end_ns > r->ended_ns;

    s->requests++;
    s->aborted += of->aborted;
    s->late += late;
    if (of->waited_ns != MST_UNKNOWN && of->waited_ns > 0) {
        s->waited++;
        mst_at_limit_add(&r->at_limit, of->first_ns, of->waited_ns);
    }
    if (of->status != MST_UNKNOWN) {
        s->errors_5xx += of->status >= 500;
        s->errors_4xx += of->status >= 400 && of->status < 500;
        s->redirects += mst_status_redirects(of->status);
        s->non_2xx += of->status < 200 || of->status > 299;
    }
    if (of->first_ns < s->first_ns)
        s->first_ns = of->first_ns;
    if (of->end_ns != MST_UNKNOWN && (s->last_ns == MST_UNKNOWN || of->end_ns > s->last_ns))
        s->last_ns = of->end_ns;
    if (!of->has_worker || of->held_ns == MST_UNKNOWN)
        return;
    s->held.requests++;
    s->held.late += late;
    s->held.sum_ns += (double)of->held_ns;
    s->held.squares += (double)of->held_ns * (double)of->held_ns;
}

/* Of all requests, with the status page's and those in flight before the load: they held workers,
 * too. It is compared with what the samples say, so it counts from the first to the last of
 * these. */
static void add_held(struct reading *r, const struct request *of, bool ghost)
{
    uint64_t held_ns = of->held_ns, since_ns = of->held_since_ns, until_ns;

    if (!of->has_worker || held_ns == MST_UNKNOWN || since_ns == MST_UNKNOWN)
        return;
    if (r->sampled_from_ns == MST_UNKNOWN) {
        r->s->held_ns = mst_add_saturated(r->s->held_ns, ghost ? 0 : held_ns);
        return;
    }
    until_ns = mst_add_saturated(since_ns, held_ns);
    since_ns = since_ns > r->sampled_from_ns ? since_ns : r->sampled_from_ns;
    until_ns = until_ns < r->sampled_to_ns ? until_ns : r->sampled_to_ns;
    r->s->held_ns = mst_add_saturated(r->s->held_ns, mst_subtract_saturated(until_ns, since_ns));
}

static bool add_phases(struct reading *r, const uint64_t ns[MST_PHASE_COUNT])
{
    const enum mst_phase *phases;
    size_t phase_count = mst_summary_phases(r->s, &phases), i;

    for (i = 0; i < phase_count; i++)
        if (ns[phases[i]] != MST_UNKNOWN &&
            mst_values_add(&r->phases[phases[i]], ns[phases[i]]) != 0)
            return false;
    return true;
}

/* ---- an Apache's ------------------------------------------------------------------- */

static bool read_apaches(struct reading *r)
{
    struct mst_query *q = &r->q;
    uint64_t start_ns = mst_row_number(q, "start_ns"), bytes;
    uint64_t ns[MST_PHASE_COUNT] = {
        [MST_PHASE_QUEUE] = mst_row_number(q, "queue_ns"),
        [MST_PHASE_READ] = mst_row_number(q, "read_ns"),
        [MST_PHASE_HANDLE] = mst_row_number(q, "handle_ns"),
        [MST_PHASE_SEND] = mst_row_number(q, "send_ns"),
        [MST_PHASE_HELD] = mst_row_number(q, "held_ns"),
        [MST_PHASE_FRONT] = mst_row_number(q, "front_ns"),
    };
    struct request of = { .first_ns = start_ns, .held_since_ns = start_ns,
                          .held_ns = ns[MST_PHASE_HELD], .waited_ns = ns[MST_PHASE_QUEUE] };
    uint64_t intervals_ns[MST_INTERVAL_COUNT];
    bool ghost;

    bytes = mst_row_number(q, "bytes");
    of.status = mst_row_number(q, "status");
    of.aborted = is_set(q, "aborted");
    of.has_worker = mst_row_number(q, "no_worker") == 0;
    ghost = is_set(q, "ghost");
    add_held(r, &of, ghost);
    if (is_set(q, "is_page"))
        return true;
    r->s->in_flight_before += ghost;
    if (ghost)
        return true;
    ns[MST_PHASE_TOTAL] = mst_add_saturated(
        mst_add_saturated(ns[MST_PHASE_QUEUE], ns[MST_PHASE_READ]),
        mst_add_saturated(ns[MST_PHASE_HANDLE], ns[MST_PHASE_SEND]));
    of.end_ns = mst_add_saturated(start_ns, ns[MST_PHASE_TOTAL]);
    count(r, &of);
    r->s->with_path += is_set(q, "has_path");
    r->s->bytes = bytes != MST_UNKNOWN ? mst_add_saturated(r->s->bytes, bytes) : r->s->bytes;
    mst_requests_read_intervals(intervals_ns, q);
    return add_phases(r, ns) &&
           mst_parts_add_intervals(&r->parts, intervals_ns);
}

/* ---- a PHP's ----------------------------------------------------------------------- */

static void count_php(struct mst_summary_server *s, struct mst_query *q)
{
    uint64_t bytes;

    s->fatal += is_set(q, "fatal");
    s->timeouts += is_set(q, "timeout");
    s->uncached += mst_row_number(q, "cached") == 0;
    bytes = mst_row_number(q, "memory_bytes");
    if (bytes != MST_UNKNOWN &&
        (s->max_memory_bytes == MST_UNKNOWN || bytes > s->max_memory_bytes))
        s->max_memory_bytes = bytes;
}

static bool read_phps(struct reading *r)
{
    struct mst_query *q = &r->q;
    uint64_t start_ns = mst_row_number(q, "start_ns");
    uint64_t wait_ns = mst_row_number(q, "wait_ns"), run_ns = mst_row_number(q, "run_ns");
    uint64_t known_wait_ns = mst_known(wait_ns);
    const uint64_t ns[MST_PHASE_COUNT] = {
        [MST_PHASE_PHP_WAIT] = wait_ns, [MST_PHASE_PHP_RUN] = run_ns,
        [MST_PHASE_TOTAL] = mst_add_saturated(known_wait_ns, run_ns),
    };
    struct request of = {
        .first_ns = mst_subtract_saturated(start_ns, known_wait_ns),
        .end_ns = mst_add_saturated(start_ns, run_ns), .held_since_ns = start_ns,
        .held_ns = run_ns, .waited_ns = wait_ns, .status = mst_row_number(q, "status"),
        .aborted = is_set(q, "aborted"), .has_worker = true,
    };
    bool ghost = is_set(q, "ghost");
    struct mst_parts_run run = { .run_ns = run_ns };

    add_held(r, &of, ghost);
    r->s->in_flight_before += ghost;
    if (ghost)
        return true;
    count(r, &of);
    count_php(r->s, q);
    run.user_ns = mst_row_number(q, "user_ns");
    run.system_ns = mst_row_number(q, "system_ns");
    run.cpu_wait_ns = mst_row_number(q, "cpu_wait_ns");
    run.waits_ns = mst_row_number(q, "waits_ns");
    r->s->php_cpu_ns += mst_known(run.user_ns) + mst_known(run.system_ns);
    return add_phases(r, ns) && mst_parts_add_run(&r->parts, &run);
}

/* ---- all of them ------------------------------------------------------------------- */

static bool read_one_number(uint64_t *number, sqlite3 *db, const char *sql, int64_t server_id)
{
    struct mst_query q = mst_query_ask(db, sql, server_id);

    *number = mst_query_next(&q) ? mst_row_number(&q, "number") : MST_UNKNOWN;
    return mst_query_done(&q);
}

static bool read_rows(struct reading *r)
{
    bool php = mst_summary_is_php(r->s), fine = true;

    while (fine && mst_query_next(&r->q))
        fine = php ? read_phps(r) : read_apaches(r);
    return mst_query_done(&r->q) && fine;
}

bool mst_summary_read_requests(struct mst_summary_server *s, sqlite3 *db, uint64_t ended_ns)
{
    bool php = mst_summary_is_php(s), fine;
    struct reading r = { .s = s, .ended_ns = ended_ns };
    int i;

    s->first_ns = s->last_ns = s->max_memory_bytes = MST_UNKNOWN;
    s->bytes = php ? MST_UNKNOWN : 0;
    fine = read_one_number(&r.sampled_from_ns, db, "SELECT min(time_ns) AS number FROM samples "
                           "WHERE server_id = :id", s->id) &&
           read_one_number(&r.sampled_to_ns, db, "SELECT max(time_ns) AS number FROM samples "
                           "WHERE server_id = :id", s->id) &&
           mst_at_limit_begin(&r.at_limit, db, s->id) &&
           (!php || read_one_number(&s->marks, db, "SELECT count(*) AS number FROM marks "
                                    "WHERE server_id = :id", s->id));
    r.q = mst_query_ask(db, php ? php_sql : apache_sql, s->id);
    fine = read_rows(&r) && fine;
    for (i = 0; i < MST_PHASE_COUNT; i++) {
        mst_summary_times_of(&s->phases[i], &r.phases[i]);
        mst_values_free(&r.phases[i]);
    }
    s->waited_at_limit_ns = mst_at_limit_end(&r.at_limit, s->first_ns, s->last_ns,
                                             &s->at_limit_ns);
    return mst_parts_end(s, &r.parts) && fine;
}
