/* record_warm_up.h - mpmstat record --steady: a load that runs before the one that is recorded. */
#ifndef MPMSTAT_RECORD_WARM_UP_H
#define MPMSTAT_RECORD_WARM_UP_H

#include <stdbool.h>

#include "cli/record_runs.h"

/* Runs the command as the recording would, until its rate is steady. What it records goes into a
 * directory beside the archive, which is removed. Returns an enum mst_exit. */
int mst_record_warm_up(const struct mst_recording_options *recording,
                       const struct mst_variant *variant, bool show_progress);

#endif
