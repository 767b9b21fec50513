/* enough.h - how high a limit has to be, by simulations of the recorded server. */
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

#endif
