/* without.c - what requests would take without what they waited for: rules.h. */
#include "analysis/thresholds.h"
#include "findings/foresight.h"
#include "findings/rules.h"
#include "findings/sentences.h"
#include "memory/pool.h"
#include "model/change.h"

/* What the finding calls the end that requests waited for; NULL: it is about something else. */
static const char *end_of(const struct mst_finding *f, const struct mst_model_run *r)
{
    static const char *const kinds[MST_CODE_COUNT] = {
#define MST_WAIT_PART(id, name, ...) [MST_CODE_##id] = name,
#include "segment/parts.def"
    };

    if (kinds[f->code] == NULL)
        return NULL;
    return f->subject[0] != '\0' ? mst_pool_printf(r->pool, "%s %s", kinds[f->code], f->subject)
                                 : kinds[f->code];
}

static void predict_without(const struct mst_prediction *p, struct mst_finding *f)
{
    struct mst_system system = mst_system_copy(p->run);
    const char *end = end_of(f, p->run);
    struct mst_foreseen foreseen;
    struct mst_forecast then;

    if (end == NULL || mst_change_without(&system, p->run, end) != NULL)
        return;
    mst_model_forecast(&then, p, &system, p->run);
    foreseen = mst_foreseen_of(p, &then);
    mst_say_foreseen(f, "without this wait ", &foreseen);
}

/* Only waits that explain enough for a headline get a prediction. */
void mst_find_predictions(struct mst_inquiry *q)
{
    const struct mst_prediction *p;
    size_t i;

    for (i = 0; i < q->s->finding_count; i++) {
        struct mst_finding *f = &q->s->findings[i];

        if (f->predicted[0] != '\0' || f->weight < MST_HEADLINE_MILLI ||
            f->share_milli == MST_UNKNOWN)
            continue;
        p = mst_foresee(q);
        if (p != NULL)
            predict_without(p, f);
    }
}
