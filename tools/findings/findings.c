/* findings.c - makes a run's findings, puts them in order, and makes the verdict: findings.h. */
#include "findings/findings.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "analysis/thresholds.h"
#include "base/array.h"
#include "base/ratio.h"
#include "findings/rules.h"
#include "findings/sentences.h"

/* ---- adding ------------------------------------------------------------------------------- */

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
    f->weight = f->share_milli != MST_UNKNOWN ? f->share_milli : 0;
    return f;
}

void mst_found_number(struct mst_finding *f, const char *name, uint64_t value)
{
    if (value != MST_UNKNOWN && f->number_count < MST_FINDING_NUMBERS)
        f->numbers[f->number_count++] = (struct mst_finding_number){ name, value };
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
    uint64_t waiting = b->queue_ns + b->php_wait_ns + b->h2_wait_ns;
    uint64_t held = b->total_ns > waiting ? b->total_ns - waiting : 0;

    if (held == 0)
        return 0;
    part_ns = part_ns < held ? part_ns : held;
    return mst_budget_milli(b, part_ns + (uint64_t)((unsigned __int128)waiting * part_ns / held));
}

/* ---- when nothing can be said -------------------------------------------------------------- */

const char *mst_find_obstacle(const struct mst_inquiry *q, enum mst_code *code)
{
    static const char *const incomplete[MST_OUTCOME_COUNT] = {
        [MST_OUTCOME_UNFINISHED] = "the recording did not come to its end",
        [MST_OUTCOME_COMPLETE] = "the run was interrupted",
        [MST_OUTCOME_FAILED] = "the load tool failed",
        [MST_OUTCOME_TIMEOUT] = "the load tool did not end in time",
        [MST_OUTCOME_INTERRUPTED] = "the run was interrupted",
    };
    const struct mst_summary *s = q->s;
    const struct mst_summary_server *server = q->b.front;

    *code = MST_CODE_CANNOT_TELL;
    if (!s->complete || s->outcome == MST_OUTCOME_UNFINISHED)
        return incomplete[s->outcome];
    if (server == NULL || server->requests == 0)
        return "no request of the load was recorded (does its URL lead to this server, and is "
               "MPMStat on there?)";
    if (s->duration_ns == MST_UNKNOWN || s->duration_ns < MST_VERDICT_RUN_MIN_NS ||
        server->samples < MST_SAMPLES_MIN) {
        *code = MST_CODE_TOO_SHORT;
        return "the run was too short";
    }
    if (server->restarts != 0)
        return "the server was started anew during the run, so what its workers did in between is "
               "not known";
    if ((server->workers_limit == MST_UNKNOWN && !mst_summary_is_php(server)) ||
        server->max_busy == MST_UNKNOWN || server->mean_busy_milli == MST_UNKNOWN)
        return "how busy the workers were is not known";
    return NULL;
}

/* ---- order and verdict --------------------------------------------------------------------- */

static int by_weight(const void *left, const void *right)
{
    const struct mst_finding *a = left, *b = right;

    if (a->weight != b->weight)
        return a->weight < b->weight ? 1 : -1;
    return (int)a->code - (int)b->code;
}

static uint64_t heaviest(const struct mst_summary *s)
{
    uint64_t most = 0;
    size_t i;

    for (i = 0; i < s->finding_count; i++)
        if (s->findings[i].weight > most)
            most = s->findings[i].weight;
    return most;
}

/* The first finding, and the second where it explains a headline's share, too. */
static void judge(struct mst_summary *s)
{
    size_t used, i;

    s->verdict[0] = '\0';
    for (i = 0; i < s->finding_count && i < 2; i++) {
        if (i > 0 && s->findings[i].weight < MST_HEADLINE_MILLI)
            break;
        used = strlen(s->verdict);
        snprintf(s->verdict + used, sizeof s->verdict - used, "%s%s", i > 0 ? " " : "",
                 s->findings[i].text);
    }
}

/* The other findings stay behind it: what they explain does not decide. */
static void find_nothing(struct mst_inquiry *q)
{
    struct mst_finding *f;

    if (q->b.front->local && q->s->machine_busy_milli == MST_UNKNOWN) {
        f = mst_found(q, MST_CODE_CANNOT_TELL, MST_CANNOT_TELL, 0);
        mst_say_obstacle(f, "the workers did not run out, and how busy the CPUs were is not known");
    } else {
        f = mst_found(q, MST_CODE_NOTHING, MST_CERTAIN, 0);
        mst_say_nothing(f, &q->b);
    }
    f->share_milli = MST_UNKNOWN;
    f->weight = MST_HEADLINE_MILLI;
}

static void find_all(struct mst_inquiry *q)
{
    enum mst_code code;
    const char *obstacle;

    mst_find_failures(q);
    mst_find_memory(q);
    obstacle = mst_find_obstacle(q, &code);
    if (obstacle != NULL) {
        mst_say_obstacle(mst_found(q, code, MST_CANNOT_TELL, 0), obstacle);
        return;
    }
    mst_find_waits(q);
    mst_find_generator(q);
    mst_find_workers(q);
    mst_find_queues(q);
    mst_find_cpu(q);
    mst_find_exhausted(q);
    mst_find_holders(q);
    mst_find_tail(q);
    mst_find_beyond(q);
    if (heaviest(q->s) < MST_HEADLINE_MILLI)
        find_nothing(q);
}

int mst_findings_summary(struct mst_summary *s, struct mst_archive *a, int64_t run_id,
                         char error[MST_ERROR_MAX])
{
    struct mst_inquiry q = { .s = s };

    if (mst_summary_make(s, a, run_id, error) != 0)
        return -1;
    q.db = mst_archive_db(a);
    q.b = mst_budget_make(s);
    find_all(&q);
    if (q.failed)
        return mst_archive_unreadable(a, error);
    qsort(s->findings, s->finding_count, sizeof *s->findings, by_weight);
    judge(s);
    return 0;
}

const struct mst_finding *mst_findings_get(const struct mst_summary *s, enum mst_code code)
{
    size_t i;

    for (i = 0; i < s->finding_count; i++)
        if (s->findings[i].code == code)
            return &s->findings[i];
    return NULL;
}
