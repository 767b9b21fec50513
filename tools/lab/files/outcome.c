/* outcome.c - the outcomes of steps as the archive has them: see outcome.h. */
#include "lab/files/outcome.h"

#include "segment/format.h"   /* MST_UNKNOWN */

enum mst_step_state mst_step_state_after(enum mst_step_outcome outcome)
{
    static const enum mst_step_state states[] = {
        [MST_STEP_DONE] = MST_STEP_STATE_DONE, [MST_STEP_FAILED] = MST_STEP_STATE_FAILED,
        [MST_STEP_SKIPPED] = MST_STEP_STATE_SKIPPED,
        [MST_STEP_INTERRUPTED] = MST_STEP_STATE_PLANNED,
        [MST_STEP_NO_ARCHIVE] = MST_STEP_STATE_RUNNING,
    };

    return states[outcome];
}

bool mst_step_is_discarded(enum mst_step_state state)
{
    return state == MST_STEP_STATE_FAILED || state == MST_STEP_STATE_SKIPPED;
}

bool mst_step_counts(enum mst_step_state state, uint64_t run_id)
{
    return state == MST_STEP_STATE_DONE && run_id != MST_UNKNOWN;
}
