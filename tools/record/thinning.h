/* thinning.h - thins the old archives of a rotation, in a thread beside the recording. */
#ifndef MPMSTAT_THINNING_H
#define MPMSTAT_THINNING_H

#include <pthread.h>
#include <signal.h>
#include <stdbool.h>

#include "record/rotation.h"

struct mst_thinning {
    const struct mst_rotation *rotation;
    pthread_t             thread;
    bool                  has_thread;
    volatile sig_atomic_t is_over;      /* asks the thread to give up */
    volatile sig_atomic_t has_ended;
};

/* Looks for archives to thin, unless it still does. Nothing where the rotation thins none. */
void mst_thinning_look(struct mst_thinning *t, const struct mst_rotation *rotation);
/* Ends the thread. Archives that are thinned stay so; the one that it is thinning stays whole. */
void mst_thinning_end(struct mst_thinning *t);

#endif
