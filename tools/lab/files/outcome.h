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

#include "archive/states.h"

enum mst_step_outcome {
    MST_STEP_DONE,
    MST_STEP_FAILED,           /* the study goes on */
    MST_STEP_SKIPPED,          /* it cannot be run; the study goes on */
    MST_STEP_INTERRUPTED,      /* it is to be made again */
    MST_STEP_NO_ARCHIVE        /* nothing can be recorded any more; said why */
};

/* Its state in the archive. */
enum mst_step_state mst_step_state_after(enum mst_step_outcome outcome);

/* Whether a state of the archive is that of a repetition that was discarded; and of one whose run
 * counts. */
bool mst_step_is_discarded(enum mst_step_state state);
bool mst_step_counts(enum mst_step_state state, uint64_t run_id);

#endif
