/* read_parts.c - reads what phases consist of: an Apache's intervals, the parts of PHP's php_run,
 * and calls of other ends. See parts.h and steps.h.
 */
#include "analysis/parts.h"

#include <string.h>

#include "analysis/steps.h"
#include "analysis/thresholds.h"
#include "archive/query.h"
#include "base/array.h"
#include "base/saturate.h"
#include "segment/fields.h"

/* A board has 64, and other archives may have any number. */
#define ENDS_MAX 4096u

static bool add_known(struct mst_values *values, uint64_t ns)
{
    return ns == MST_UNKNOWN || mst_values_add(values, ns) == 0;
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

bool mst_summary_has_interval(const struct mst_summary_server *s, enum mst_interval interval)
{
    const struct mst_summary_interval *i = &s->intervals[interval];
    uint64_t share = mst_summary_milli(i->times.sum_ns, s->phases[phases[interval]].sum_ns);

    return i->requests > 0 && i->times.sum_ns > 0 && share != MST_UNKNOWN &&
           share >= MST_PART_SHARE_MILLI;
}

/* The whole without the part, both known or not. */
static uint64_t rest_of(uint64_t whole_ns, uint64_t part_ns)
{
    return whole_ns == MST_UNKNOWN || part_ns == MST_UNKNOWN ? MST_UNKNOWN :
           mst_subtract_saturated(whole_ns, part_ns);
}

/* Most requests have few intervals. Those of an older mpmstat tell of none: their `checks` is not
 * known, either. */
bool mst_parts_add_intervals(struct mst_parts *p, const uint64_t ns[MST_INTERVAL_COUNT])
{
    bool fine = true;
    int i;

    if (ns[MST_INTERVAL_CHECKS] == MST_UNKNOWN)
        return true;
    p->told++;
    for (i = 0; i < MST_INTERVAL_COUNT && fine; i++)
        fine = ns[i] == 0 || add_known(&p->intervals[i], ns[i]);
    return fine;
}

static bool end_intervals(struct mst_summary_server *s, struct mst_parts *p)
{
    bool fine = true;
    int i;

    for (i = 0; i < MST_INTERVAL_COUNT; i++) {
        s->intervals[i].requests = p->intervals[i].count;
        fine = mst_summary_times_with_zeros(&s->intervals[i].times, &p->intervals[i],
                          p->intervals[i].count > 0 ? p->told : 0) && fine;
    }
    return fine;
}

/* ---- the parts of php_run ----------------------------------------------------------------- */

/* The waits of one request, by kind; it can have waited for several ends of a kind. */
struct request_waits { int64_t key; bool any[MST_WAIT_COUNT]; uint64_t ns[MST_WAIT_COUNT]; };

static void add_wait(struct request_waits *of, struct mst_query *q)
{
    const char *kind = mst_row_text(q, "kind");
    uint64_t ns = mst_row_number(q, "ns");
    int i;

    for (i = 0; i < MST_WAIT_COUNT; i++)
        if (kind != NULL && strcmp(kind, mst_wait_names[i]) == 0 && ns != MST_UNKNOWN) {
            of->any[i] = true;
            of->ns[i] = mst_add_saturated(of->ns[i], ns);
        }
}

static bool end_request(struct request_waits *of, struct mst_values values[MST_WAIT_COUNT])
{
    bool fine = true;
    int i;

    for (i = 0; i < MST_WAIT_COUNT && fine; i++)
        fine = !of->any[i] || mst_values_add(&values[i], of->ns[i]) == 0;
    *of = (struct request_waits){ 0 };
    return fine;
}

/* One after the other, with the waits of each by its index: in the other order SQLite would look
 * for each wait's request among all. */
static const char waits_sql[] =
    "SELECT p.rowid AS key, w.kind AS kind, w.wait_ns AS ns FROM php_requests p "
    "CROSS JOIN php_waits w ON w.server_id = p.server_id AND w.key = p.key "
    "WHERE p.server_id = :id AND p.ghost = 0 AND p.waits_ns IS NOT NULL ORDER BY p.rowid";

static bool read_waits(struct mst_summary_run *run, sqlite3 *db, int64_t server_id,
                       uint64_t requests)
{
    struct mst_query q = mst_query_ask(db, waits_sql, server_id);
    struct mst_values values[MST_WAIT_COUNT] = { 0 };
    struct request_waits of = { 0 };
    bool fine = true;
    int64_t key;
    int i;

    while (fine && mst_query_next(&q)) {
        key = mst_row_id(&q, "key");
        if (key != of.key)
            fine = end_request(&of, values);
        of.key = key;
        add_wait(&of, &q);
    }
    fine = mst_query_done(&q) && fine && end_request(&of, values);
    for (i = 0; i < MST_WAIT_COUNT; i++) {
        run->waits[i].requests = values[i].count;
        fine = mst_summary_times_with_zeros(&run->waits[i].times, &values[i],
                          values[i].count > 0 ? requests : 0) && fine;
    }
    return fine;
}

bool mst_parts_add_run(struct mst_parts *p, const struct mst_parts_run *run)
{
    uint64_t cpu_ns = mst_add_saturated(run->user_ns, run->system_ns), rest_ns = run->run_ns;

    if (run->waits_ns != MST_UNKNOWN) {
        rest_ns = rest_of(rest_ns, run->waits_ns);
        rest_ns = rest_of(rest_ns, mst_known(cpu_ns));
        rest_ns = rest_of(rest_ns, mst_known(run->cpu_wait_ns));
        if (!add_known(&p->cpu, cpu_ns) || !add_known(&p->rest, rest_ns))
            return false;
    }
    return add_known(&p->cpu_wait, run->cpu_wait_ns);
}

static bool end_run(struct mst_summary_server *s, struct mst_parts *p)
{
    bool fine = mst_summary_times_with_zeros(&s->run.cpu, &p->cpu, 0);

    fine = mst_summary_times_with_zeros(&s->run.cpu_wait, &p->cpu_wait, 0) && fine;
    return mst_summary_times_with_zeros(&s->run.rest, &p->rest, 0) && fine;
}

bool mst_parts_end(struct mst_summary_server *s, struct mst_parts *p)
{
    bool fine = end_intervals(s, p);

    return end_run(s, p) && fine;
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

bool mst_summary_read_waits(struct mst_summary_server *s, sqlite3 *db)
{
    return (!mst_summary_is_php(s) || read_waits(&s->run, db, s->id, s->run.rest.count)) &&
           read_ends(s, db);
}
