/* repetition.h - what becomes of a repetition once its recording is over.
 *
 * What fails before the recording discards it, too: the parts of mst_step_run() (step.c) decide
 * that. outcome.h says what each outcome means, and which runs count.
 */
#ifndef MPMSTAT_LAB_REPETITION_H
#define MPMSTAT_LAB_REPETITION_H

#include "archive/states.h"
#include "lab/study/step.h"

/* What is known of it when its recording is over. */
struct mst_recorded {
    int64_t     run_id;        /* 0: there is no run */
    int         status;        /* an enum mst_exit: of the recording */
    bool        archived;      /* all that belongs to it is in the archive */
    const char *said;          /* the recording's error; "" none */
};

/* Why the repetition cannot be run at all; NULL: it can. */
const char *mst_repetition_why_skipped(const struct mst_step *step, bool time_is_up);

/* Judges it. Of one that failed *failure is a sentence with the load tool's and the servers' last
 * lines. */
enum mst_step_outcome mst_repetition_judge(apr_pool_t *pool, struct mst_stage *stage,
                                           const struct mst_recorded *recorded,
                                           const char **failure);

/* MST_STEP_FAILED, with this sentence and lines below it (NULL: none); or with the servers' last
 * lines. */
enum mst_step_outcome mst_repetition_fail(apr_pool_t *pool, const char **failure,
                                          const char *sentence, const char *lines);
enum mst_step_outcome mst_repetition_fail_of_servers(apr_pool_t *pool, struct mst_stage *stage,
                                                     const char **failure, const char *sentence);

#endif
