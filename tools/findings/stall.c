/* stall.c - the rule for a time in which PHP stood still: no request ended, and those in flight
 * waited for the same. What came meanwhile waited for workers, and more of these would have waited
 * there, too. See rules.h. */
#include <string.h>

#include "analysis/run_requests.h"
#include "analysis/thresholds.h"
#include "archive/query.h"
#include "findings/chains.h"
#include "findings/holder.h"
#include "findings/rules.h"
#include "findings/sentences.h"

#define ENDED "start_ns + run_ns"

/* The longest time in which a request ran and none ended; not that before the first end where it is
 * a cold start. Reads the ends from the latest one backwards: the requests that ended later tell
 * since when one ran. */
static bool find_gap(struct mst_inquiry *q, struct mst_stall *stall)
{
    struct mst_query rows = mst_query_ask(q->db,
        "SELECT start_ns, " ENDED " AS ended " MST_FROM_PHPS_REQUESTS
        "UNION ALL SELECT 0, 0 WHERE :is_cold = 0 ORDER BY 2 DESC", q->b.php->id);
    uint64_t until = 0, began = UINT64_MAX, ended, started, from;

    mst_query_set(&rows, ":is_cold", mst_findings_get(q->s, MST_CODE_COLD_START, "") != NULL);
    while (mst_query_next(&rows)) {
        ended = mst_row_number(&rows, "ended");
        started = mst_row_number(&rows, "start_ns");
        from = ended > began ? ended : began;
        if (until > from && until - from > stall->until_ns - stall->from_ns) {
            stall->from_ns = from;
            stall->until_ns = until;
        }
        until = ended;
        began = started < began ? started : began;
    }
    q->failed |= !mst_query_done(&rows);
    return stall->until_ns - stall->from_ns >= MST_STALL_NS &&
           stall->until_ns - stall->from_ns >=
               MST_STALL_FACTOR * mst_known(q->b.php->phases[MST_PHASE_PHP_RUN].p50_ns);
}

/* The requests that ran through all of the second half of the stall. */
#define STALLED "AND start_ns <= :half AND " ENDED " >= :until "

static void set_times(struct mst_query *query, const struct mst_stall *stall)
{
    mst_query_set(query, ":half", (int64_t)(stall->from_ns / 2 + stall->until_ns / 2));
    mst_query_set(query, ":until", (int64_t)stall->until_ns);
}

/* What the stalled requests waited for most. */
static bool find_wait(struct mst_inquiry *q, struct mst_stall *stall)
{
    struct mst_query row = mst_query_ask(q->db,
        "SELECT (SELECT count(*) " MST_FROM_PHPS_REQUESTS STALLED ") AS requests, kind, end, "
        "sum(w.wait_ns) AS waited, sum(p.run_ns) AS ran FROM php_requests p CROSS JOIN php_waits w "
        "ON w.server_id = p.server_id AND w.key = p.key WHERE p.server_id = :id AND p.ghost = 0 "
        STALLED "GROUP BY kind, end ORDER BY waited DESC LIMIT 1", q->b.php->id);
    bool found;

    set_times(&row, stall);
    found = mst_query_next(&row);
    if (found) {
        stall->requests = mst_row_number(&row, "requests");
        mst_row_copy(&row, "kind", stall->kind, sizeof stall->kind);
        mst_row_copy(&row, "end", stall->end, sizeof stall->end);
        found = mst_row_number(&row, "waited") >= mst_row_number(&row, "ran") / 2;
    }
    q->failed |= !mst_query_done(&row);
    return found && stall->requests >= MST_STALL_REQUESTS_MIN;
}

#define STALLED_MOST(page) \
    "SELECT " page " AS page, count(*) AS requests " MST_FROM_PHPS_REQUESTS STALLED \
    "GROUP BY page ORDER BY requests DESC, page LIMIT 1"

/* The page, or where no pages are known the script, of most of the stalled requests. */
static void find_page(struct mst_inquiry *q, struct mst_stall *stall)
{
    bool knows_pages = mst_holder_knows_pages(q, q->b.php);
    struct mst_query row = mst_query_ask(q->db, knows_pages ?
        STALLED_MOST(MST_PHPS_PATH) : STALLED_MOST("script"), q->b.php->id);

    set_times(&row, stall);
    if (knows_pages)
        mst_query_set(&row, ":front", q->b.front->id);
    if (mst_query_next(&row)) {
        mst_row_copy(&row, "page", stall->page, sizeof stall->page);
        stall->of_page = mst_row_number(&row, "requests");
    }
    q->failed |= !mst_query_done(&row);
    if (stall->page[0] != '/' || 2 * stall->of_page <= stall->requests)
        stall->of_page = 0;
}

/* The time of the requests that it held up, and the part of it that was waiting for workers. */
static void read_held_up(struct mst_inquiry *q, const struct mst_stall *stall, uint64_t *total_ns,
                         uint64_t *waited_ns)
{
    bool is_php = q->b.front == q->b.php;
    struct mst_query row = mst_query_ask(q->db, is_php ?
        "SELECT total(coalesce(wait_ns, 0) + run_ns) AS total, total(wait_ns) AS waited "
        MST_FROM_PHPS_REQUESTS "AND start_ns - coalesce(wait_ns, 0) < :until AND " ENDED
        " >= :until" :
        "SELECT total(queue_ns + read_ns + handle_ns + send_ns) AS total, total(queue_ns + "
        "coalesce((SELECT max(p.wait_ns) FROM php_requests p WHERE +p.server_id = :php AND "
        "p.ghost = 0 AND p.request_id = server_requests.request_id), 0)) AS waited "
        MST_FROM_APACHES_REQUESTS
        "AND start_ns < :until AND start_ns + queue_ns + read_ns + handle_ns + send_ns >= :until",
        q->b.front->id);

    mst_query_set(&row, ":until", (int64_t)stall->until_ns);
    if (!is_php)
        mst_query_set(&row, ":php", q->b.php->id);
    *total_ns = *waited_ns = 0;
    if (mst_query_next(&row)) {
        *total_ns = (uint64_t)mst_row_real(&row, "total");
        *waited_ns = (uint64_t)mst_row_real(&row, "waited");
    }
    q->failed |= !mst_query_done(&row);
}

static bool is_of_workers(enum mst_code code)
{
    return code == MST_CODE_APACHE_WORKERS || code == MST_CODE_PHP_WORKERS ||
           code == MST_CODE_APACHE_SPAWNING || code == MST_CODE_PHP_SPAWNING ||
           code == MST_CODE_FCGID_WAITS || code == MST_CODE_CANNOT_TELL;
}

/* What is said of that wait without the stall is no headline. The findings about the slowest
 * requests follow from the stall; and so do those about workers, where the requests that the stall
 * held up have at least half of all waits for workers: more workers would have waited there, too.
 */
static void note_what_follows(struct mst_inquiry *q, const struct mst_finding *stall,
                              uint64_t waited_ns)
{
    bool has_most = 2 * waited_ns >= q->b.ns[MST_PART_QUEUE] + q->b.ns[MST_PART_PHP_WAIT];
    struct mst_finding *f;
    size_t i;

    for (i = 0; i < q->s->finding_count; i++) {
        f = &q->s->findings[i];
        if (f == stall || f->server[0] != '\0')
            continue;
        if (f->code == stall->code) {
            mst_found_no_headline(f);
            f->predicted[0] = '\0';
        } else if (f->code == MST_CODE_TAIL || (is_of_workers(f->code) && has_most)) {
            mst_follows(f, stall, f->code == MST_CODE_TAIL);
        }
    }
}

void mst_find_stall(struct mst_inquiry *q)
{
    uint64_t total_ns, waited_ns;
    struct mst_stall stall = { 0 };
    struct mst_finding *f;
    enum mst_code code;

    /* A request ran for all of it. */
    if (!mst_budget_knows_run(&q->b) ||
        q->b.php->phases[MST_PHASE_PHP_RUN].max_ns < MST_STALL_NS || !find_gap(q, &stall) ||
        !find_wait(q, &stall))
        return;
    code = mst_code_of(stall.kind);
    read_held_up(q, &stall, &total_ns, &waited_ns);
    if (code == MST_CODE_COUNT || mst_budget_milli(&q->b, total_ns) < MST_FINDING_MILLI)
        return;
    find_page(q, &stall);
    f = mst_found(q, code, MST_CERTAIN, total_ns);
    f->weight++;
    f->requests = stall.requests;
    f->when = (struct mst_when){ true, stall.from_ns, stall.until_ns };
    mst_found_subject(f, stall.end);
    mst_found_number(f, "stood_still_ns", stall.until_ns - stall.from_ns);
    mst_say_stall(f, &stall);
    mst_note_halted(q, f);
    note_what_follows(q, f, waited_ns);
}
