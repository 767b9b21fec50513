/* recorder.h - the recording that top's user starts by a key: mpmstat record as a child. */
#ifndef MPMSTAT_TOP_RECORDER_H
#define MPMSTAT_TOP_RECORDER_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <sys/types.h>

#include "base/error.h"
#include "source/target.h"

struct mst_top_recorder {
    pid_t    pid;            /* 0: there is none */
    bool     is_ending;      /* it was asked to end */
    bool     has_failed;     /* as it ended */
    int      said;           /* a file with what it says */
    uint64_t started_ns;     /* CLOCK_MONOTONIC */
    char     file[64];       /* the archive, in this directory */
};

/* Records the targets (none: as mpmstat record without any) from now on. 0, or -1 with a
 * sentence. */
int  mst_top_recorder_start(struct mst_top_recorder *r,
                            const struct mst_target_names *targets, char error[MST_ERROR_MAX]);

/* Asks it to end, which takes a moment: the archive gets its last rows. */
void mst_top_recorder_stop(struct mst_top_recorder *r);

/* Whether it has ended since the last call; the sentence says how. */
bool mst_top_recorder_ended(struct mst_top_recorder *r, char sentence[MST_ERROR_MAX]);

/* Waits for its end, at most so long, having asked for it. */
bool mst_top_recorder_wait(struct mst_top_recorder *r, int timeout_ms,
                           char sentence[MST_ERROR_MAX]);

#endif
