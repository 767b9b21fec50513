/* record_warm_up.c - a load before the one that is recorded: see record_warm_up.h. */
#include "cli/record_warm_up.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "base/clock.h"
#include "console/diag.h"
#include "memory/pool.h"

#define LATELY_NS  (3 * MST_NS_PER_S)    /* its rate has been steady for so long */
#define LONGEST_NS (20 * MST_NS_PER_S)

static void remove_archive(apr_pool_t *pool, const char *directory, const char *archive)
{
    static const char *const parts[] = { "", "-wal", "-shm" };
    size_t i;

    for (i = 0; i < sizeof parts / sizeof *parts; i++)
        unlink(apr_pstrcat(pool, archive, parts[i], NULL));
    if (rmdir(directory) != 0)
        mst_warn("the warm-up's directory %s is left: %s", directory, strerror(errno));
}

int mst_record_warm_up(const struct mst_recording_options *recording,
                       const struct mst_variant *variant, bool show_progress)
{
    apr_pool_t *pool = mst_pool_new(NULL);
    char *directory = apr_pstrcat(pool, recording->archive, ".warm-up-XXXXXX", NULL);
    struct mst_recording_options options = *recording;
    int64_t run_id;
    int status;

    if (mkdtemp(directory) == NULL) {
        status = mst_failed(MST_EXIT_OUTPUT, "cannot make the directory %s: %s", directory,
                            strerror(errno));
        apr_pool_destroy(pool);
        return status;
    }
    options.archive = apr_pstrcat(pool, directory, "/warm-up.db", NULL);
    options.name = variant->name;
    options.command = variant->command;
    options.steady_ns = LATELY_NS;
    options.longest_ns = LONGEST_NS;
    options.warm_up = true;
    options.memory = options.until_decided = false;
    options.progress = show_progress && !recording->verbose ? "warm-up" : NULL;
    status = mst_record(&options, &run_id);
    remove_archive(pool, directory, options.archive);
    apr_pool_destroy(pool);
    return status;
}
