/* advice.h - what a run says about limits: how many workers and PHP processes are enough for its
 * load, by simulations, and how long an accept queue.
 *
 * Each answer comes with how it comes about and its uncertainty, or it is not known, with the
 * reason.
 */
#ifndef MPMSTAT_FINDINGS_ADVICE_H
#define MPMSTAT_FINDINGS_ADVICE_H

#include "findings/inquiry.h"

enum mst_advice_id { MST_ADVICE_WORKERS, MST_ADVICE_PHP, MST_ADVICE_BACKLOG, MST_ADVICE_COUNT };

struct mst_advice {
    const char *directive;        /* "MaxRequestWorkers" */
    bool        known;            /* false: `answer` is "cannot tell", or what was seen */
    char        answer[512];      /* "37 for this load", "more than 9: up to 20" */
    char        arithmetic[MST_ACTION_MAX];   /* how it comes about, or why it does not */
    char        uncertainty[MST_PREDICTED_MAX + 256];   /* "" where there is nothing to say */
};

struct mst_sizing { struct mst_advice advice[MST_ADVICE_COUNT]; };

/* Makes the summary's sizing, after all findings and their order. */
void mst_find_sizing(struct mst_inquiry *q);

#endif
