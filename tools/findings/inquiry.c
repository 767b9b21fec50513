/* inquiry.c - adds findings to a summary, and finds them again: see inquiry.h. */
#include "findings/inquiry.h"

#include <stdio.h>
#include <string.h>

#include "analysis/thresholds.h"
#include "archive/states.h"
#include "base/array.h"
#include "base/ratio.h"

struct mst_finding *mst_found(struct mst_inquiry *q, enum mst_code code,
                              enum mst_certainty certainty, uint64_t part_ns)
{
    static struct mst_finding nobodys;
    struct mst_finding *f = mst_append(&q->s->findings, &q->s->finding_count, sizeof *f);

    if (f == NULL) {
        q->failed = true;
        f = &nobodys;
    }
    memset(f, 0, sizeof *f);
    f->code = code;
    f->certainty = certainty;
    f->requests = MST_UNKNOWN;
    f->share_milli = mst_budget_milli(&q->b, part_ns);
    f->weight = f->share_milli;
    return f;
}

struct mst_finding *mst_found_requests(struct mst_inquiry *q, enum mst_code code,
                                       enum mst_certainty certainty, uint64_t requests,
                                       uint64_t of)
{
    struct mst_finding *f = mst_found(q, code, certainty, 0);

    f->requests = requests;
    f->share_milli = of > 0 ? mst_milli(requests < of ? requests : of, of) : MST_UNKNOWN;
    f->share_of = MST_SHARE_OF_REQUESTS;
    f->weight = f->share_milli != MST_UNKNOWN ? f->share_milli : 0;
    return f;
}

void mst_found_number(struct mst_finding *f, const char *name, uint64_t value)
{
    if (value != MST_UNKNOWN && f->number_count < MST_FINDING_NUMBERS)
        f->numbers[f->number_count++] = (struct mst_finding_number){ name, value };
}

void mst_found_answer(struct mst_finding *f, const char *name, enum mst_answer answer)
{
    if (f->number_count < MST_FINDING_NUMBERS)
        f->numbers[f->number_count++] = (struct mst_finding_number){
            name, answer == MST_ANSWER_UNKNOWN ? MST_UNKNOWN : answer == MST_ANSWER_YES };
}

void mst_weigh_failure(struct mst_finding *f, uint64_t floor)
{
    if (f->share_milli == MST_UNKNOWN)
        f->weight = floor;
    else if (f->share_milli >= MST_FAILURES_FIRST_MILLI)
        f->weight = MST_WEIGHT_FIRST + f->share_milli;
    else
        f->weight = f->share_milli > floor ? f->share_milli : floor;
}

void mst_found_no_headline(struct mst_finding *f)
{
    if (f->weight >= MST_HEADLINE_MILLI)
        f->weight = MST_HEADLINE_MILLI - 1;
}

void mst_found_subject(struct mst_finding *f, const char *subject)
{
    if (subject != NULL) {
        strncpy(f->subject, subject, sizeof f->subject - 1);
        f->subject[sizeof f->subject - 1] = '\0';
    }
}

uint64_t mst_weight_with_queue(const struct mst_budget *b, uint64_t part_ns)
{
    uint64_t waiting = mst_budget_for_workers_ns(b), busy = 0;
    uint64_t held = b->total_ns > waiting ? b->total_ns - waiting : 0;

    if (b->front->mean_busy_milli != MST_UNKNOWN && b->s->duration_ns != MST_UNKNOWN)
        busy = mst_scale(b->front->mean_busy_milli, mst_summary_under_load_ns(b->s, b->front),
                         1000);
    /* Apache's workers wait for PHP's, too. */
    busy = busy > b->ns[MST_PART_PHP_WAIT] ? busy - b->ns[MST_PART_PHP_WAIT] : 0;
    held = held > busy ? held : busy;
    if (held == 0)
        return 0;
    part_ns = part_ns < held ? part_ns : held;
    return mst_budget_milli(b, part_ns + mst_scale(waiting, part_ns, held));
}

uint64_t mst_weight_with_all_waiting(const struct mst_budget *b, uint64_t part_ns)
{
    return mst_budget_milli(b, part_ns + mst_budget_for_workers_ns(b));
}

bool mst_is_ours(const struct mst_inquiry *q, const struct mst_summary_server *server)
{
    const struct mst_budget *b = &q->b;
    const struct mst_summary_server *whose;

    if (server == b->front || (server->only_apache != 0 && server->only_apache == b->front->id))
        return true;
    if (b->front != b->busiest)
        return false;
    whose = mst_summary_front_of(q->s, server, b->busiest);
    return whose == b->busiest || !mst_is_served(b, whose);
}

const struct mst_finding *mst_findings_get(const struct mst_summary *s, enum mst_code code,
                                           const char *server)
{
    const struct mst_finding *f;
    size_t i;

    for (i = 0; i < s->finding_count; i++) {
        f = &s->findings[i];
        if (f->code == code && (f->server[0] == '\0' || strncmp(f->server, server,
                                                                sizeof f->server - 1) == 0))
            return f;
    }
    return NULL;
}

uint64_t mst_end_with_number(struct mst_inquiry *q, struct mst_query *row)
{
    uint64_t number = mst_query_next(row) ? mst_row_number(row, "number") : MST_UNKNOWN;

    q->failed |= !mst_query_done(row);
    return number;
}

uint64_t mst_ask_sum(struct mst_inquiry *q, const char *sql, const struct mst_summary_server *of)
{
    struct mst_query row = mst_query_ask(q->db, sql, of->id);

    return mst_known(mst_end_with_number(q, &row));
}

struct mst_query mst_ask_environment(sqlite3 *db, const struct mst_summary *s,
                                     const struct mst_summary_server *server, const char *what)
{
    bool is_php = mst_summary_is_php(server);
    char prefix[MST_PREFIX_MAX], name[MST_PREFIX_MAX + 16];
    const struct mst_summary_server *other;
    struct mst_query q;
    size_t nth = 1;

    for (other = s->servers; other < server; other++)
        nth += mst_summary_is_php(other) == is_php;
    mst_server_prefix(prefix, is_php ? MST_PRODUCER_PHP : MST_PRODUCER_APACHE, nth);
    snprintf(name, sizeof name, "%s_%s", prefix, what);
    q = mst_query_ask(db, "SELECT value FROM environment WHERE run_id = :id AND name = :name "
                      "AND value IS NOT NULL", s->id);
    mst_query_set_text(&q, ":name", name);
    return q;
}
