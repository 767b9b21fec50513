/* cold.c - the rule for a load whose first answer was late: caches were cold, or processes were not
 * there yet. See rules.h. */
#include "analysis/kept.h"
#include "analysis/thresholds.h"
#include "findings/rules.h"
#include "findings/sentences.h"

struct first_time { uint64_t from_ns, until_ns; };   /* the first request's start, the first end */

static bool find_first(void *context, const struct mst_walked *r)
{
    struct first_time *t = context;
    uint64_t ended_ns = r->start_ns + r->total_ns;

    if (r->start_ns < t->from_ns)
        t->from_ns = r->start_ns;
    if (ended_ns < t->until_ns)
        t->until_ns = ended_ns;
    return true;
}

struct early { const struct first_time *time; struct mst_cold cold; uint64_t later, later_ns; };

/* Those that began before the first answer; and of those that began after it the ones that were
 * answered well, which tell what the page takes: an error is quick. */
static bool take_early(void *context, const struct mst_walked *r)
{
    struct early *e = context;
    enum mst_part part;

    if (r->start_ns >= e->time->until_ns) {
        if (r->status < 400 && !r->aborted) {
            e->later++;
            e->later_ns += r->total_ns;
        }
        return true;
    }
    e->cold.requests++;
    e->cold.total_ns += r->total_ns;
    for (part = 0; part < MST_PART_COUNT; part++)
        e->cold.parts_ns[part] += r->split.parts_ns[part];
    return true;
}

void mst_find_cold_start(struct mst_inquiry *q)
{
    const struct mst_summary_server *front = q->b.front;
    struct first_time t = { UINT64_MAX, UINT64_MAX };
    struct early e = { .time = &t };
    struct mst_finding *f;

    /* The first request ran for all of it. */
    if (q->s->client.tool == NULL || front->phases[MST_PHASE_TOTAL].max_ns < MST_COLD_NS ||
        !mst_kept_walk(front->kept, find_first, &t) || t.from_ns >= t.until_ns)
        return;
    e.cold.late_ns = t.until_ns - t.from_ns;
    if (e.cold.late_ns < MST_COLD_NS)
        return;
    q->failed |= !mst_kept_walk(front->kept, take_early, &e);
    if (e.later == 0 || e.cold.late_ns < MST_COLD_FACTOR * (e.later_ns / e.later))
        return;
    f = mst_found(q, MST_CODE_COLD_START, MST_CERTAIN, e.cold.total_ns);
    f->requests = e.cold.requests;
    f->when = (struct mst_when){ true, t.from_ns, t.until_ns };
    mst_found_number(f, "late_ns", e.cold.late_ns);
    mst_say_cold_start(f, &e.cold);
}
