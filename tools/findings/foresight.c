/* foresight.c - see foresight.h. */
#include "findings/foresight.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "base/array.h"
#include "findings/rules.h"
#include "findings/say.h"
#include "memory/pool.h"
#include "model/note.h"

struct mst_foresight {
    apr_pool_t           *pool;
    struct mst_model_run  run;
    struct mst_prediction prediction;
};

/* The rules see the findings of one of several servers at a time. The model is of all servers, and
 * takes from the findings what lets in one request at a time. */
static void find_waits_of_others(struct mst_inquiry *q)
{
    const struct mst_budget of_front = q->b;
    const struct mst_summary_server *server;

    for (server = q->s->servers; server < q->s->servers + q->s->server_count; server++) {
        if (server == of_front.front || !mst_is_served(&of_front, server))
            continue;
        q->b = mst_budget_of(&of_front, server);
        mst_find_waits(q);
    }
    q->b = of_front;
}

/* On copies: a rule that asks can hold a finding. */
static bool make_run_of_several(struct mst_foresight *f, struct mst_inquiry *q)
{
    struct mst_finding *own = q->s->findings;
    size_t count = q->s->finding_count;
    bool made;

    q->s->findings = NULL;
    q->s->finding_count = 0;
    while (q->s->finding_count < count) {
        const struct mst_finding *next = &own[q->s->finding_count];

        *(struct mst_finding *)mst_append(&q->s->findings, &q->s->finding_count,
                                          sizeof *next) = *next;
    }
    find_waits_of_others(q);
    made = mst_model_run_make(&f->run, q->s, q->db, f->pool);
    free(q->s->findings);
    q->s->findings = own;
    q->s->finding_count = count;
    return made;
}

static struct mst_foresight *begin(struct mst_inquiry *q)
{
    apr_pool_t *pool = mst_pool_new(NULL);
    struct mst_foresight *f = apr_pcalloc(pool, sizeof *f);
    bool made;

    f->pool = pool;
    made = q->b.fleet ? make_run_of_several(f, q) :
                        mst_model_run_make(&f->run, q->s, q->db, f->pool);
    if (!made) {
        q->failed = true;
        f->prediction.why_not = "the archive cannot be read";
    } else if (f->run.why_not != NULL || isnan(f->run.cpus)) {
        f->prediction.why_not = f->run.why_not != NULL ? f->run.why_not :
                                "how busy the CPUs were is not known";
    } else {
        mst_model_calibrate(&f->prediction, &f->run);
    }
    return f;
}

const struct mst_prediction *mst_foresee(struct mst_inquiry *q)
{
    struct mst_prediction *p;

    if (!q->predicts || q->obstacle != NULL)
        return NULL;
    if (q->foresight == NULL)
        q->foresight = begin(q);
    p = &q->foresight->prediction;
    if (q->b.fleet && p->run != NULL)
        mst_model_look_at(p, &q->foresight->run, q->b.front);
    return p->why_not == NULL ? p : NULL;
}

const char *mst_why_unforeseen(const struct mst_inquiry *q)
{
    return q->foresight != NULL ? q->foresight->prediction.why_not : q->obstacle;
}

void mst_foresight_end(struct mst_inquiry *q)
{
    if (q->foresight != NULL)
        apr_pool_destroy(q->foresight->pool);
    q->foresight = NULL;
}

/* The part of the CPUs that is in use: of the machine's or of a control group's, the larger one. */
static uint64_t cpu_milli(const struct mst_system *system, const struct mst_forecast *then)
{
    uint64_t most = MST_UNKNOWN, milli;
    size_t i;

    for (i = system->gate_count; i < then->use_count; i++) {
        if (!isfinite(then->uses[i].limit))
            continue;
        milli = (uint64_t)(fmin(then->uses[i].full, 1) * 1000);
        most = most == MST_UNKNOWN || milli > most ? milli : most;
    }
    return most;
}

struct mst_foreseen mst_foreseen_of(const struct mst_prediction *p,
                                    const struct mst_forecast *then)
{
    static const enum mst_measure told[MST_FORESEEN_COUNT] = {
        [MST_FORESEEN_RATE] = MST_MEASURE_RATE, [MST_FORESEEN_P50] = MST_MEASURE_P50,
        [MST_FORESEEN_P95] = MST_MEASURE_P95,
    };
    const struct mst_system *system = &p->run->system;
    const struct mst_model_end *busier = mst_model_busier_end(p, then);
    struct mst_foreseen f = {
        .known = true, .closed = system->load.arrivals == MST_ARRIVALS_CLOSED,
        .cpu_milli = cpu_milli(system, then), .of_several = p->run->server_count > 1,
    };
    size_t i;

    mst_model_note(&f.ledger, p, system, then);
    for (i = 0; i < MST_FORESEEN_COUNT; i++) {
        f.now[i] = p->run->view->measured[told[i]];
        f.then[i] = mst_model_estimate_of(p, then, told[i]);
    }
    if (busier != NULL) {
        f.busier = busier->called;
        f.busier_now = p->now.at_ends[busier - system->ends];
        f.busier_then = then->at_ends[busier - system->ends];
    }
    return f;
}

const char *mst_limit_called(char text[MST_LIMIT_CALLED_MAX], const char *name)
{
    if (strncmp(name, "cpu", 3) == 0)
        mst_say(text, MST_LIMIT_CALLED_MAX, "the CPUs%s", name + 3);
    else if (strcmp(name, "load tool") == 0)
        mst_say(text, MST_LIMIT_CALLED_MAX, "the load tool itself");
    else if (strncmp(name, "apache-workers", 14) == 0)
        mst_say(text, MST_LIMIT_CALLED_MAX, "Apache's workers%s", name + 14);
    else if (strncmp(name, "php-workers", 11) == 0)
        mst_say(text, MST_LIMIT_CALLED_MAX, "PHP's workers%s%s", name[11] == '\0' ||
                strncmp(name + 11, " of ", 4) == 0 ? "" : " of the pool", name + 11);
    else
        mst_say(text, MST_LIMIT_CALLED_MAX, "\"%s\"", name);
    return text;
}
