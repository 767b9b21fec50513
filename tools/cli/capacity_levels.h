/* capacity_levels.h - the levels of mpmstat capacity as its archive has them: a run each. */
#ifndef MPMSTAT_CAPACITY_LEVELS_H
#define MPMSTAT_CAPACITY_LEVELS_H

#include "archive/archive.h"
#include "loadtools/level.h"
#include "report/capacity.h"

#define MST_CAPACITY_MOST 10000000u   /* no level is higher */

/* In ascending order. Begins with a pool, a command and what is promised. */
struct mst_capacity_levels {
    apr_pool_t *pool;
    const struct mst_level_command *command;
    const struct mst_slo           *slo;
    const char                     *archive;
    uint64_t    seconds;                   /* what {seconds} in the command stands for */
    size_t      count;
    struct mst_level        *levels;
    struct mst_capacity_run *runs;
    struct mst_capacity_again again;       /* after them; a further level takes it away */
};

/* The name of a level's run: "capacity 40 clients", "capacity 40 clients again". */
const char *mst_capacity_name(apr_pool_t *pool, bool by_rate, uint64_t at, bool again);

/* Adds the levels that the archive has already; there need not be one. Refuses levels of another
 * command. Returns an enum mst_exit. */
int mst_capacity_go_on(struct mst_capacity_levels *levels);

/* Adds the level of a run that has just been recorded; tool_failed: its load tool did. The same. */
int mst_capacity_add(struct mst_capacity_levels *levels, uint64_t at, bool again, int64_t run_id,
                     bool tool_failed);

/* What the model of the run that says what is the limit knows of the next limit; and of each level,
 * which takes a simulation for each: for a page. The same. */
int mst_capacity_foresee(struct mst_capacity *c, const struct mst_capacity_levels *levels,
                         bool of_levels);

#endif
