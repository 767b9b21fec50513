/* tail.c - the slowest requests against the median: which part grew, and what they have in common.
 * See rules.h. */
#include <stdio.h>
#include <string.h>

#include "analysis/run_requests.h"
#include "analysis/thresholds.h"
#include "archive/query.h"
#include "base/ratio.h"
#include "findings/rules.h"
#include "findings/sentences.h"

#define TOTAL "queue_ns + read_ns + handle_ns + send_ns"

#define PHP_TOTAL "coalesce(wait_ns, 0) + run_ns"

/* What of the slow requests exceeds the median's, in parts. */
static const char apache_parts[] =
    "SELECT count(*) AS n, total(" TOTAL " - :median) AS excess, "
    "total(queue_ns) AS queue, total(read_ns) AS read, "
    "total(coalesce(checks_ns, 0)) AS checks, total(coalesce(upload_ns, 0)) AS upload, "
    "total(handle_ns - coalesce(checks_ns, 0) - coalesce(upload_ns, 0)) AS handle, "
    "total(send_ns) AS send " MST_FROM_APACHES_REQUESTS "AND " TOTAL " > :slow";
static const char php_parts[] =
    "SELECT count(*) AS n, total(" PHP_TOTAL " - :median) AS excess, "
    "total(coalesce(wait_ns, 0)) AS php_wait, total(coalesce(user_ns + system_ns, 0)) AS cpu, "
    "total(coalesce(cpu_wait_ns, 0)) AS cpu_wait, total(coalesce(waits_ns, 0)) AS waits "
    MST_FROM_PHPS_REQUESTS "AND " PHP_TOTAL " > :slow";

static const struct mst_tail_part apache_names[] = {
    { "queue", "waiting for a worker" }, { "read", "reading the request" },
    { "checks", "the checks before the application" }, { "upload", "the upload of the body" },
    { "handle", "the application, or what it waits for" }, { "send", "sending the answer" },
};
static const struct mst_tail_part php_names[] = {
    { "php_wait", "waiting for a PHP worker" }, { "cpu", "PHP's computing" },
    { "cpu_wait", "waiting for a CPU" }, { "waits", "what PHP waited for" },
};

/* The same of the PHP requests behind an Apache's slow ones. */
static const char behind_parts[] =
    "SELECT total(coalesce(p.wait_ns, 0)) AS php_wait, total(coalesce(user_ns + system_ns, 0)) AS "
    "cpu, total(coalesce(cpu_wait_ns, 0)) AS cpu_wait, total(coalesce(waits_ns, 0)) AS waits "
    "FROM php_requests p WHERE p.server_id = :php AND p.request_id IN (SELECT request_id "
    MST_FROM_APACHES_REQUESTS "AND " TOTAL " > :slow)";
/* The other end for which they waited longest. */
static const char longest_wait[] =
    "SELECT kind, end, sum(w.wait_ns) AS ns FROM php_requests p CROSS JOIN php_waits w "
    "ON w.server_id = p.server_id AND w.key = p.key WHERE p.server_id = :php AND p.ghost = 0 AND ";
static const char behind_slow[] =
    "p.request_id IN (SELECT request_id " MST_FROM_APACHES_REQUESTS "AND " TOTAL " > :slow)";
static const char slow_itself[] = "p.server_id = :id AND " PHP_TOTAL " > :slow";

/* What explain looks at has requests that began before. */
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

static bool find_common(struct mst_inquiry *q, struct mst_tail *t, const char *expression,
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

static void look_for_common(struct mst_inquiry *q, struct mst_tail *t)
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

static const struct mst_tail_part *longest_part(struct mst_query *row,
                                                const struct mst_tail_part *parts, size_t count)
{
    const struct mst_tail_part *found = NULL;
    double most = 0, part;
    size_t i;

    for (i = 0; i < count; i++) {
        part = mst_row_real(row, parts[i].name);
        if (part > most) {
            most = part;
            found = &parts[i];
        }
    }
    return found;
}

/* Names what PHP waited for, where the part is that. */
static void name_wait(struct mst_inquiry *q, struct mst_tail *t, bool is_php)
{
    struct mst_query row;
    char sql[1024];

    snprintf(sql, sizeof sql, "%s%s GROUP BY kind, end ORDER BY ns DESC LIMIT 1", longest_wait,
             is_php ? slow_itself : behind_slow);
    row = mst_query_ask(q->db, sql, t->server->id);
    mst_query_set(&row, ":php", q->b.php->id);
    mst_query_set(&row, ":slow", (int64_t)t->border_ns);
    if (mst_query_next(&row)) {
        mst_row_copy(&row, "kind", t->wait, sizeof t->wait);
        mst_row_copy(&row, "end", t->wait_end, sizeof t->wait_end);
    }
    q->failed |= !mst_query_done(&row);
}

/* What Apache knows as the application's time is PHP's, whose parts are known. */
static void look_behind(struct mst_inquiry *q, struct mst_tail *t)
{
    const struct mst_tail_part *part;
    struct mst_query row;

    if (strcmp(t->part->name, "handle") != 0 || q->b.php == NULL || q->b.fleet ||
        t->server->php.joined == 0)
        return;
    row = mst_query_ask(q->db, behind_parts, t->server->id);
    mst_query_set(&row, ":php", q->b.php->id);
    mst_query_set(&row, ":slow", (int64_t)t->border_ns);
    if (mst_query_next(&row)) {
        part = longest_part(&row, php_names, sizeof php_names / sizeof *php_names);
        t->part = part != NULL ? part : t->part;
    }
    q->failed |= !mst_query_done(&row);
}

/* The part that has most of what the slow requests took beyond the median. */
static bool read_parts(struct mst_inquiry *q, struct mst_tail *t)
{
    bool is_php = mst_summary_is_php(t->server);
    const struct mst_tail_part *parts = is_php ? php_names : apache_names;
    size_t count = is_php ? sizeof php_names / sizeof *php_names
                          : sizeof apache_names / sizeof *apache_names;
    struct mst_query row = mst_query_ask(q->db, is_php ? php_parts : apache_parts, t->server->id);

    mst_query_set(&row, ":median", (int64_t)t->median_ns);
    mst_query_set(&row, ":slow", (int64_t)t->border_ns);
    if (mst_query_next(&row)) {
        t->slow = (uint64_t)mst_row_real(&row, "n");
        t->excess_ns = (uint64_t)mst_row_real(&row, "excess");
        t->part = longest_part(&row, parts, count);
    }
    q->failed |= !mst_query_done(&row);
    if (t->part != NULL && !is_php)
        look_behind(q, t);
    if (t->part != NULL && strcmp(t->part->name, "waits") == 0)
        name_wait(q, t, is_php);
    return t->slow >= MST_TAIL_SLOW_MIN && t->part != NULL;
}

static bool has_headline(const struct mst_summary *s)
{
    size_t i;

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
    struct mst_tail t = { .server = q->b.front, .median_ns = total->p50_ns };
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
    if (has_headline(q->s))
        f->weight /= 2;   /* that says why; this, which requests */
    if (strcmp(t.part->name, "queue") == 0 || strcmp(t.part->name, "php_wait") == 0 ||
        mst_findings_get(q->s, MST_CODE_HELD_BY, "") != NULL)
        mst_found_no_headline(f);
    f->requests = t.slow;
    if (t.common == MST_COMMON_LABEL || t.common == MST_COMMON_PAGE)
        mst_found_subject(f, t.value);
    mst_found_number(f, "median_ns", t.median_ns);
    mst_found_number(f, "border_ns", t.border_ns);
    mst_found_number(f, "max_ns", total->max_ns);
    mst_say_tail(f, &q->b, &t);
}
