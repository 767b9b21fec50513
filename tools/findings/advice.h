/* advice.h - what a run's measurements say about limits: how many workers, how many
 * PHP processes, how long an accept queue; and where more concurrency stops to help.
 *
 * Each answer comes with its arithmetic and its uncertainty, or it is "cannot tell"
 * with the reason. Made from an archive alone.
 */
#ifndef MPMSTAT_FINDINGS_ADVICE_H
#define MPMSTAT_FINDINGS_ADVICE_H

#include <sqlite3.h>
#include <stdbool.h>
#include <stddef.h>

#include "analysis/summary.h"

enum mst_advice_id { MST_ADVICE_WORKERS, MST_ADVICE_PHP, MST_ADVICE_BACKLOG, MST_ADVICE_COUNT };

struct mst_advice {
    const char *directive;        /* "MaxRequestWorkers" */
    bool        known;            /* false: `answer` is "cannot tell" */
    char        answer[512];      /* "37", "at least 50" */
    char        arithmetic[MST_ACTION_MAX];   /* how it comes about, or why it does not */
    char        uncertainty[384]; /* "" where there is nothing to say */
};

struct mst_sizing { struct mst_advice advice[MST_ADVICE_COUNT]; };

/* False: SQLite failed. */
bool mst_sizing_make(struct mst_sizing *sizing, const struct mst_summary *run, sqlite3 *db);

#endif
