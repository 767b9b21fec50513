/* order.c - the order in which the cases of a study are run: see plan.h. */
#include "lab/study/plan.h"

#include <string.h>

#include "stats/random.h"

struct ordering {
    struct mst_schedule *schedule;
    const char *study;
    size_t     *order;        /* of the cases, in the present block */
    char       *error;
};

static bool same_parameters(const struct mst_parameters *a, const struct mst_parameters *b)
{
    const char *other;
    size_t i;

    if (a->count != b->count)
        return false;
    for (i = 0; i < a->count; i++) {
        other = mst_parameters_get(b, a->items[i].name);
        if (other == NULL || strcmp(other, a->items[i].value) != 0)
            return false;
    }
    return true;
}

static bool share_servers(const struct mst_planned *a, const struct mst_planned *b)
{
    return a->stack == b->stack && a->workload == b->workload &&
           a->runs->kind != MST_RUNS_SPAWN && b->runs->kind != MST_RUNS_SPAWN &&
           same_parameters(&a->given, &b->given);
}

static int add_step(struct ordering *o, const struct mst_planned *of, unsigned block)
{
    struct mst_schedule *s = o->schedule;
    struct mst_step *step;

    if (s->step_count == MST_STEPS_MAX)
        return mst_fail(o->error, "the study %s has more than %u steps: fewer repetitions, or "
                        "fewer cases", o->study, MST_STEPS_MAX);
    step = mst_pool_append(s->pool, &s->steps, &s->step_count, sizeof *step);
    *step = (struct mst_step){ (unsigned)s->step_count, block, block, (unsigned)s->start_count,
                               of };
    s->about_ns += of->runs->about_ns + of->runs->warmup_ns / 4;
    s->limit_ns += of->runs->limit_ns + of->runs->warmup_ns;
    return 0;
}

/* One block: cases in random order, but each followed by those that share its servers.
 */
static int add_block(struct ordering *o, unsigned block, uint64_t *state)
{
    struct mst_schedule *s = o->schedule;
    size_t i, k;

    mst_random_shuffle(o->order, s->case_count, state);
    for (i = 0; i < s->case_count; i++) {
        const struct mst_planned *first = &s->cases[o->order[i]];
        bool begun = false;

        for (k = 0; k < i && !begun; k++)
            begun = s->cases[o->order[k]].runs->repetitions >= block &&
                    share_servers(&s->cases[o->order[k]], first);
        if (begun || first->runs->repetitions < block)
            continue;
        s->start_count++;
        for (k = i; k < s->case_count; k++)
            if (s->cases[o->order[k]].runs->repetitions >= block &&
                (k == i || share_servers(&s->cases[o->order[k]], first)) &&
                add_step(o, &s->cases[o->order[k]], block) != 0)
                return -1;
    }
    return 0;
}

int mst_schedule_order(struct mst_schedule *s, const char *study, char error[MST_ERROR_MAX])
{
    struct ordering o = { .schedule = s, .study = study, .error = error };
    uint64_t state = s->seed;
    unsigned blocks = 0, block;
    size_t i;

    o.order = apr_pcalloc(s->pool, (s->case_count + 1) * sizeof *o.order);
    for (i = 0; i < s->case_count; i++) {
        o.order[i] = i;
        if (s->cases[i].runs->repetitions > blocks)
            blocks = s->cases[i].runs->repetitions;
    }
    for (block = 1; block <= blocks; block++)
        if (add_block(&o, block, &state) != 0)
            return -1;
    return 0;
}
