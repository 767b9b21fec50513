/* tail.c - the slowest requests against the median: which part grew, and what they have in common.
 * See rules.h. */
#include <stdio.h>
#include <string.h>

#include "analysis/kept.h"
#include "analysis/run_requests.h"
#include "analysis/thresholds.h"
#include "archive/query.h"
#include "base/ratio.h"
#include "findings/rules.h"
#include "findings/sentences.h"

#define TOTAL "queue_ns + read_ns + handle_ns + send_ns"

#define PHP_TOTAL "coalesce(wait_ns, 0) + run_ns"

/* The other end for which they waited longest. */
static const char longest_wait[] =
    "SELECT kind, end, sum(w.wait_ns) AS ns FROM php_requests p CROSS JOIN php_waits w "
    "ON w.server_id = p.server_id AND w.key = p.key WHERE p.server_id = :php AND p.ghost = 0 AND ";
static const char behind_slow[] =
    "p.request_id IN (SELECT request_id " MST_FROM_APACHES_REQUESTS "AND " TOTAL " > :slow)";
static const char kernels_part[] =
    "SELECT " MST_KERNEL_NUMBER "FROM php_requests p WHERE p.server_id = :php AND p.ghost = 0 AND ";
static const char slow_itself[] = "p.server_id = :id AND " PHP_TOTAL " > :slow";

/* The second of the run in which a request began. NULL: it began before the run, as requests can
 * that mpmstat explain reads. */
#define BEGAN_IN_SECOND "CASE WHEN start_ns >= :started THEN (start_ns - :started) / 1000000000 END"

/* What most slow requests share, and few others have. */
struct attribute { const char *apache, *php; enum mst_in_common kind; };
static const struct attribute attributes[] = {
    { "CASE WHEN path LIKE '/%' THEN path END", NULL, MST_COMMON_PAGE },
    { "label", "script", MST_COMMON_LABEL },
    { "CASE nth WHEN 0 THEN 'first' END", NULL, MST_COMMON_FIRST },
    { NULL, "CASE cached WHEN 0 THEN 'cold' END", MST_COMMON_UNCACHED },
    { BEGAN_IN_SECOND, BEGAN_IN_SECOND, MST_COMMON_SECOND },
    { "pid", "pid", MST_COMMON_PROCESS },
};

static bool find_common(struct mst_inquiry *q, struct mst_slow_tail *t, const char *expression,
                        const char *rows_of, const char *total)
{
    struct mst_query rows;
    uint64_t slow = 0, all = 0, first_slow = 0, first_all = 0, n;
    char sql[1024];

    snprintf(sql, sizeof sql, "SELECT %s AS value, CAST(total(%s > :slow) AS INTEGER) AS slow, "
             "count(*) AS n %s GROUP BY 1 ORDER BY 2 DESC", expression, total, rows_of);
    rows = mst_query_ask(q->db, sql, t->server->id);
    mst_query_set(&rows, ":slow", (int64_t)t->border_ns);
    if (strstr(sql, ":started") != NULL)
        mst_query_set(&rows, ":started", (int64_t)q->s->started_ns);
    while (mst_query_next(&rows)) {
        n = mst_row_number(&rows, "slow");
        if (first_all == 0 && !mst_row_is_null(&rows, "value")) {
            first_slow = n;
            first_all = mst_row_number(&rows, "n");
            mst_row_copy(&rows, "value", t->value, sizeof t->value);
        }
        slow += n;
        all += mst_row_number(&rows, "n");
    }
    q->failed |= !mst_query_done(&rows);
    if (slow == 0 || all == 0)
        return false;
    t->common_slow_milli = mst_milli(first_slow, slow);
    t->common_all_milli = mst_milli(first_all, all);
    return t->common_slow_milli >= MST_COMMON_SLOW_MILLI &&
           t->common_all_milli * 2 <= t->common_slow_milli;
}

static void look_for_common(struct mst_inquiry *q, struct mst_slow_tail *t)
{
    bool is_php = mst_summary_is_php(t->server);
    const char *expression;
    size_t i;

    for (i = 0; i < sizeof attributes / sizeof *attributes; i++) {
        expression = is_php ? attributes[i].php : attributes[i].apache;
        if (expression != NULL &&
            find_common(q, t, expression,
                        is_php ? MST_FROM_PHPS_REQUESTS : MST_FROM_APACHES_REQUESTS,
                        is_php ? PHP_TOTAL : "(" TOTAL ")")) {
            t->common = attributes[i].kind;
            return;
        }
    }
}

/* Of PHP's requests that were slow, or that Apache's slow ones waited for. */
static struct mst_query ask_of_slow(struct mst_inquiry *q, const struct mst_slow_tail *t,
                                    const char *select, const char *order)
{
    struct mst_query rows;
    char sql[1024];

    snprintf(sql, sizeof sql, "%s%s%s", select,
             mst_summary_is_php(t->server) ? slow_itself : behind_slow, order);
    rows = mst_query_ask(q->db, sql, t->server->id);
    mst_query_set(&rows, ":php", q->b.php->id);
    mst_query_set(&rows, ":slow", (int64_t)t->border_ns);
    return rows;
}

/* Names what PHP waited for, where the part is that. */
static void name_wait(struct mst_inquiry *q, struct mst_slow_tail *t)
{
    struct mst_query row = ask_of_slow(q, t, longest_wait,
                                       " GROUP BY kind, end ORDER BY ns DESC LIMIT 1");

    if (mst_query_next(&row)) {
        mst_row_copy(&row, "kind", t->wait, sizeof t->wait);
        mst_row_copy(&row, "end", t->wait_end, sizeof t->wait_end);
    }
    q->failed |= !mst_query_done(&row);
}

struct slow { struct mst_slow_tail *tail; uint64_t parts_ns[MST_PART_COUNT]; };

static bool take(void *context, const struct mst_walked *r)
{
    struct slow *slow = context;
    struct mst_slow_tail *t = slow->tail;
    enum mst_part part;

    if (r->total_ns <= t->border_ns)
        return true;
    t->slow++;
    t->excess_ns += r->total_ns - t->median_ns;
    for (part = 0; part < MST_PART_COUNT; part++)
        slow->parts_ns[part] += r->split.parts_ns[part];
    return true;
}

/* The part that has most of what the slow requests took beyond the median. */
static bool read_parts(struct mst_inquiry *q, struct mst_slow_tail *t)
{
    struct slow slow = { .tail = t };
    struct mst_query kernel;

    q->failed |= !mst_kept_walk(t->server->kept, take, &slow);
    t->part = mst_part_longest(slow.parts_ns);
    if (t->slow < MST_TAIL_SLOW_MIN)
        return false;
    if (t->part >= MST_PART_WAITS && t->part < MST_PART_WAITS + MST_WAIT_COUNT)
        name_wait(q, t);
    if (t->part == MST_PART_CPU) {
        kernel = ask_of_slow(q, t, kernels_part, "");
        t->kernel_milli = mst_end_with_number(q, &kernel);
    }
    return true;
}

/* Whether another finding says why; of what a few requests computed none does, where most of them
 * compute for a moment. */
static bool is_told(const struct mst_summary *s, const struct mst_slow_tail *t)
{
    size_t i;

    if (t->part == MST_PART_CPU && mst_findings_get(s, MST_CODE_APPLICATION_CPU, "") == NULL &&
        mst_findings_get(s, MST_CODE_CPU, "") == NULL &&
        mst_findings_get(s, MST_CODE_CPU_NEIGHBOUR, "") == NULL)
        return false;
    for (i = 0; i < s->finding_count; i++)
        if (s->findings[i].code != MST_CODE_TAIL &&
            s->findings[i].certainty != MST_CANNOT_TELL &&
            s->findings[i].weight >= MST_HEADLINE_MILLI)
            return true;
    return false;
}

void mst_find_tail(struct mst_inquiry *q)
{
    const struct mst_summary_times *total = &q->b.front->phases[MST_PHASE_TOTAL];
    struct mst_slow_tail t = { .server = q->b.front, .median_ns = total->p50_ns,
                               .kernel_milli = MST_UNKNOWN };
    struct mst_finding *f;

    if (total->count < MST_TAIL_REQUESTS_MIN)
        return;
    t.border_ns = t.median_ns * MST_TAIL_FACTOR;
    if (t.border_ns < t.median_ns + MST_TAIL_NS)
        t.border_ns = t.median_ns + MST_TAIL_NS;
    if (total->max_ns <= t.border_ns || !read_parts(q, &t) ||
        mst_milli(t.slow, total->count) > MST_TAIL_MOST_MILLI ||
        mst_budget_milli(&q->b, t.excess_ns) < MST_FINDING_MILLI)
        return;
    look_for_common(q, &t);
    f = mst_found(q, MST_CODE_TAIL, MST_CERTAIN, t.excess_ns);
    if (is_told(q->s, &t))
        f->weight /= 2;   /* the headline says why, the tail which requests */
    if (t.part == MST_PART_QUEUE || t.part == MST_PART_PHP_WAIT ||
        mst_findings_get(q->s, MST_CODE_HELD_BY, "") != NULL)
        mst_found_no_headline(f);
    f->requests = t.slow;
    if (t.common == MST_COMMON_LABEL || t.common == MST_COMMON_PAGE)
        mst_found_subject(f, t.value);
    mst_found_number(f, "median_ns", t.median_ns);
    mst_found_number(f, "border_ns", t.border_ns);
    mst_found_number(f, "max_ns", total->max_ns);
    mst_say_tail(f, &q->b, &t);
    mst_note_halted(q, f);
}
