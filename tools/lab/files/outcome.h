/* outcome.h - what becomes of a step, which is one repetition of a case; and which runs count.
 *
 * "done", and so a part of the report's figures: the servers that were started for it ran to its
 * end, the load tool ended well and had an answer, and the page is right afterwards. "failed":
 * one of these was not so, or nothing could be started or recorded. "skipped": it cannot be run
 * here, or the study's time was up. "planned": it was interrupted, or not begun; it is made again.
 */
#ifndef MPMSTAT_LAB_OUTCOME_H
#define MPMSTAT_LAB_OUTCOME_H

#include <stdbool.h>
#include <stdint.h>

enum mst_step_outcome {
    MST_STEP_DONE,
    MST_STEP_FAILED,           /* the study goes on */
    MST_STEP_SKIPPED,          /* it cannot be run; the study goes on */
    MST_STEP_INTERRUPTED,      /* it is to be made again */
    MST_STEP_NO_ARCHIVE        /* nothing can be recorded any more; said why */
};

/* Its state in the archive. */
const char *mst_outcome_state(enum mst_step_outcome outcome);

/* Whether a state of the archive is that of a repetition that was discarded; and of one whose run
 * counts. */
bool mst_outcome_is_discarded(const char *state);
bool mst_outcome_counts(const char *state, uint64_t run_id);

#endif
