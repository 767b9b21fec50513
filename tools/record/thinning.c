/* thinning.c - see thinning.h. */
#include "record/thinning.h"

#include "base/clock.h"
#include "console/diag.h"

static void *look(void *context)
{
    struct mst_thinning *t = context;
    char error[MST_ERROR_MAX];

    if (mst_rotation_thin(t->rotation, mst_realtime_ns(), &t->is_over, error) != 0)
        mst_warn("%s", error);
    t->has_ended = 1;
    return NULL;
}

static void join(struct mst_thinning *t)
{
    if (t->has_thread)
        pthread_join(t->thread, NULL);
    t->has_thread = false;
}

void mst_thinning_look(struct mst_thinning *t, const struct mst_rotation *rotation)
{
    sigset_t all, before;

    if (rotation == NULL || rotation->thin_ns == 0 || (t->has_thread && t->has_ended == 0))
        return;
    join(t);
    *t = (struct mst_thinning){ .rotation = rotation };
    sigfillset(&all);
    pthread_sigmask(SIG_SETMASK, &all, &before);
    t->has_thread = pthread_create(&t->thread, NULL, look, t) == 0;
    pthread_sigmask(SIG_SETMASK, &before, NULL);
}

void mst_thinning_end(struct mst_thinning *t)
{
    t->is_over = 1;
    join(t);
}
