/* read_requests.c - reads a server's requests: how many they are, and what they were like. It keeps
 * them (kept.h); account.c tells how long they took. See steps.h.
 *
 * The rows are read once for all of it: SQLite takes most of the time.
 */
#include <stdlib.h>

#include "analysis/at_limit.h"
#include "analysis/kept.h"
#include "analysis/steps.h"
#include "archive/query.h"
#include "base/saturate.h"

struct reading {
    struct mst_summary_server *s;
    uint64_t          sampled_from_ns, sampled_to_ns;   /* MST_UNKNOWN: there is no sample */
    uint64_t          ended_ns;       /* the load tool's end */
    struct mst_values intervals[MST_INTERVAL_COUNT];   /* those that are not 0 */
    uint64_t          told;           /* requests of which the intervals are known */
    struct mst_at_limit at_limit;
};

/* A request's instants, and what it waited. */
struct span { uint64_t from_ns, to_ns, held_since_ns, waited_ns; };

/* A PHP's request holds its worker after its wait, an Apache's waits without one. */
static struct span span_of(const struct mst_summary_server *s, const struct mst_walked *r)
{
    bool is_php = mst_summary_is_php(s);

    return (struct span){
        .from_ns = r->start_ns, .to_ns = mst_add_saturated(r->start_ns, r->total_ns),
        .held_since_ns = is_php ? r->php_start_ns : r->start_ns,
        .waited_ns = is_php ? r->times->php_wait_ns : r->queue_ns,
    };
}

/* ---- of the load ---------------------------------------------------------------------------- */

static void count_status(struct mst_summary_server *s, uint64_t status)
{
    if (status == MST_UNKNOWN)
        return;
    s->errors_5xx += status >= 500;
    s->errors_4xx += status >= 400 && status < 500;
    s->redirects += mst_status_redirects(status);
    s->non_2xx += status < 200 || status > 299;
}

static void count(struct reading *reading, const struct mst_walked *r, const struct span *span)
{
    struct mst_summary_server *s = reading->s;
    bool late = span->to_ns > reading->ended_ns;

    s->requests++;
    s->aborted += r->aborted;
    s->late += late;
    if (span->waited_ns > 0) {
        s->waited++;
        mst_at_limit_add(&reading->at_limit, span->from_ns, span->waited_ns);
    }
    count_status(s, r->status);
    if (span->from_ns < s->first_ns)
        s->first_ns = span->from_ns;
    if (s->last_ns == MST_UNKNOWN || span->to_ns > s->last_ns)
        s->last_ns = span->to_ns;
    if (!r->has_worker)
        return;
    s->held.requests++;
    s->held.late += late;
    s->held.sum_ns += (double)r->held_ns;
}

/* Most requests have few intervals. Those of an older mpmstat tell of none: their `checks` is not
 * known, either. */
static bool add_intervals(struct reading *reading, const uint64_t ns[MST_INTERVAL_COUNT])
{
    bool fine = true;
    int i;

    if (ns[MST_INTERVAL_CHECKS] == MST_UNKNOWN)
        return true;
    reading->told++;
    for (i = 0; i < MST_INTERVAL_COUNT && fine; i++)
        fine = mst_known(ns[i]) == 0 || mst_values_add(&reading->intervals[i], ns[i]) == 0;
    return fine;
}

static bool count_apaches(struct reading *reading, const struct mst_walked *r)
{
    struct mst_summary_server *s = reading->s;

    s->with_path += r->path[0] != '\0';
    s->bytes = mst_add_saturated(s->bytes, mst_known(r->bytes));
    if (s->php.known) {
        s->php.joined += r->has_php;
        s->php.wait_unknown += r->wait_unknown;
    }
    return add_intervals(reading, r->times->intervals_ns);
}

static void count_phps(struct mst_summary_server *s, const struct mst_walked *r)
{
    s->fatal += r->fatal;
    s->timeouts += r->timeout;
    s->uncached += r->uncached;
    s->measured += r->is_measured;
    s->php_cpu_ns = mst_add_saturated(s->php_cpu_ns, r->times->cpu_ns);
    if (r->memory_bytes != MST_UNKNOWN &&
        (s->max_memory_bytes == MST_UNKNOWN || r->memory_bytes > s->max_memory_bytes))
        s->max_memory_bytes = r->memory_bytes;
}

/* ---- of all --------------------------------------------------------------------------------- */

/* With the status page's and those in flight before the load: they held workers, too. It is
 * compared with what the samples say, so it counts from the first to the last of these. */
static void add_held(struct reading *reading, const struct mst_walked *r, uint64_t since_ns)
{
    struct mst_summary_server *s = reading->s;
    uint64_t until_ns = mst_add_saturated(since_ns, r->held_ns);

    if (!r->has_worker)
        return;
    if (reading->sampled_from_ns == MST_UNKNOWN) {
        s->held_ns = mst_add_saturated(s->held_ns, r->is_ghost ? 0 : r->held_ns);
        return;
    }
    since_ns = since_ns > reading->sampled_from_ns ? since_ns : reading->sampled_from_ns;
    until_ns = until_ns < reading->sampled_to_ns ? until_ns : reading->sampled_to_ns;
    s->held_ns = mst_add_saturated(s->held_ns, mst_subtract_saturated(until_ns, since_ns));
}

static bool take(void *context, const struct mst_walked *r)
{
    struct reading *reading = context;
    struct mst_summary_server *s = reading->s;
    struct span span = span_of(s, r);
    bool fine = true;

    add_held(reading, r, span.held_since_ns);
    s->in_flight_before += r->is_ghost && !r->is_page;
    if (!mst_walked_counts(r))
        return true;
    count(reading, r, &span);
    if (mst_summary_is_php(s))
        count_phps(s, r);
    else
        fine = count_apaches(reading, r);
    return fine && mst_kept_add(s->kept, r);
}

static bool read_one_number(uint64_t *number, sqlite3 *db, const char *sql, int64_t server_id)
{
    struct mst_query q = mst_query_ask(db, sql, server_id);

    *number = mst_query_next(&q) ? mst_row_number(&q, "number") : MST_UNKNOWN;
    return mst_query_done(&q);
}

static bool read_rows(struct reading *reading, struct mst_summary *s, sqlite3 *db)
{
    uint64_t *joined = calloc(s->server_count, sizeof *joined);
    bool fine = joined != NULL &&
                mst_requests_read(s, db, reading->s, take, reading, joined);
    size_t i;

    for (i = 0; fine && i < s->server_count; i++)
        s->servers[i].joined += joined[i];
    free(joined);
    return fine;
}

static bool end_intervals(struct reading *reading)
{
    bool fine = true;
    int i;

    for (i = 0; i < MST_INTERVAL_COUNT; i++) {
        struct mst_summary_interval *interval = &reading->s->intervals[i];
        struct mst_values *values = &reading->intervals[i];

        interval->requests = values->count;
        fine = mst_summary_times_with_zeros(&interval->times, values,
                                            values->count > 0 ? reading->told : 0) && fine;
    }
    return fine;
}

bool mst_summary_read_requests(struct mst_summary *run, struct mst_summary_server *s, sqlite3 *db)
{
    struct reading reading = { .s = s, .ended_ns = run->ended_ns };
    bool is_php = mst_summary_is_php(s), fine;

    s->first_ns = s->last_ns = s->max_memory_bytes = MST_UNKNOWN;
    s->bytes = is_php ? MST_UNKNOWN : 0;
    s->kept = mst_kept_new();
    fine = s->kept != NULL &&
           read_one_number(&reading.sampled_from_ns, db, "SELECT min(time_ns) AS number "
                           "FROM samples WHERE server_id = :id", s->id) &&
           read_one_number(&reading.sampled_to_ns, db, "SELECT max(time_ns) AS number "
                           "FROM samples WHERE server_id = :id", s->id) &&
           mst_at_limit_begin(&reading.at_limit, db, s->id) &&
           (!is_php || read_one_number(&s->marks, db, "SELECT count(*) AS number FROM marks "
                                       "WHERE server_id = :id", s->id)) &&
           read_rows(&reading, run, db);
    if (s->kept != NULL)
        mst_kept_end(s->kept);
    s->waited_at_limit_ns = mst_at_limit_end(&reading.at_limit, s->first_ns, s->last_ns,
                                             &s->at_limit_ns);
    return end_intervals(&reading) && fine;
}
