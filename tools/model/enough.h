/* enough.h - how high a limit has to be, and what runs out without it, by simulations of the
 * recorded server. */
#ifndef MPMSTAT_MODEL_ENOUGH_H
#define MPMSTAT_MODEL_ENOUGH_H

#include "model/predict.h"

struct mst_model_enough {
    uint32_t limit;              /* the recorded one: a higher one changes nothing */
    struct mst_forecast then;    /* with that limit */
    const struct mst_model_use *next;   /* what runs out with `most`; NULL: nothing but this gate */
};

/* The least limit of a gate, up to `most`, with which requests take about as long as with `most`:
 * that is `most`, unless something else runs out before. all_ready: so many workers are there when
 * the load begins. */
void mst_model_find_enough(struct mst_model_enough *e, const struct mst_prediction *p, size_t gate,
                           uint32_t most, bool all_ready);

struct mst_model_least {
    uint32_t limit;
    uint32_t at_once;            /* requests that are inside at once, at most, without a limit */
    const char *next;            /* what runs out then; NULL: nothing does */
    double   wait, mean;         /* with that limit, seconds: what a request waits at the gate, and
                                  * what it takes, on average */
};

/* The least limit of a gate of workers with which requests take no more than 3 % longer than with a
 * worker for each at once. The other workers have no limit meanwhile. False: more requests come
 * than are answered, however many workers there are. */
bool mst_model_find_least(struct mst_model_least *l, const struct mst_prediction *p, size_t gate);

struct mst_model_next {
    struct mst_forecast then;    /* then.limit is what runs out; NULL: nothing does with so
                                  * many clients */
    uint32_t clients;
};

/* What runs out next where a gate has no limit and more and more clients come: these double, and
 * are as many at first as there were. False: no clients were recorded that wait for answers. */
bool mst_model_find_next(struct mst_model_next *n, const struct mst_prediction *p, size_t gate);

#endif
