/* outcome.c - the outcomes of steps as the archive has them: see outcome.h. */
#include "lab/files/outcome.h"

#include <string.h>

#include "segment/format.h"   /* MST_UNKNOWN */

static const char *const states[] = {
    [MST_STEP_DONE] = "done", [MST_STEP_FAILED] = "failed", [MST_STEP_SKIPPED] = "skipped",
    [MST_STEP_INTERRUPTED] = "planned", [MST_STEP_NO_ARCHIVE] = "running",
};

const char *mst_outcome_state(enum mst_step_outcome outcome)
{
    return states[outcome];
}

bool mst_outcome_is_discarded(const char *state)
{
    return strcmp(state, states[MST_STEP_FAILED]) == 0 ||
           strcmp(state, states[MST_STEP_SKIPPED]) == 0;
}

bool mst_outcome_counts(const char *state, uint64_t run_id)
{
    return strcmp(state, states[MST_STEP_DONE]) == 0 && run_id != MST_UNKNOWN;
}
