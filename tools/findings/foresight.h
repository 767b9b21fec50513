/* foresight.h - what the model of the run says of a change, for the rules that advise one. */
#ifndef MPMSTAT_FORESIGHT_H
#define MPMSTAT_FORESIGHT_H

#include "analysis/ledger.h"
#include "findings/inquiry.h"
#include "model/predict.h"

/* Measures that sentences tell. */
enum mst_foreseen_measure {
    MST_FORESEEN_RATE, MST_FORESEEN_P50, MST_FORESEEN_P95, MST_FORESEEN_COUNT
};

struct mst_foreseen {
    bool known;                    /* false: the run cannot be simulated, and nothing else is set */
    bool of_several;               /* servers: the numbers are of one of them */
    bool closed;                   /* clients wait for an answer before they ask again: the rate
                                    * changes with the times */
    double now[MST_FORESEEN_COUNT];    /* as measured: per second, and seconds. NAN */
    struct mst_model_estimate then[MST_FORESEEN_COUNT];
    uint64_t cpu_milli;            /* part of the CPUs that is in use then; MST_UNKNOWN */
    struct mst_ledger_entry ledger;    /* load and measures; who names the change adds settings */
    const char *busier;            /* an end that would have more requests at once than was ever
                                    * seen; NULL: none would */
    double busier_now, busier_then;
};

/* The fitted model of the run, made when it is first asked for: mst_find_waits() has to be done, as
 * the model takes from it what lets in one request at a time. Of several servers it is looked at
 * the budget's front. NULL: the inquiry is not to predict, or the run cannot be simulated. */
const struct mst_prediction *mst_foresee(struct mst_inquiry *q);
/* Why mst_foresee() said NULL: a sentence without its end, about the run ("it"). */
const char *mst_why_unforeseen(const struct mst_inquiry *q);

struct mst_foreseen mst_foreseen_of(const struct mst_prediction *p,
                                    const struct mst_forecast *then);

/* What a limit that the model names so is called in a sentence: "PHP's workers of the pool shop",
 * "Apache's workers of web1", "the CPUs". */
#define MST_LIMIT_CALLED_MAX 128
const char *mst_limit_called(char text[MST_LIMIT_CALLED_MAX], const char *name);

/* Frees the model. */
void mst_foresight_end(struct mst_inquiry *q);

#endif
