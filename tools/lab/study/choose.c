/* choose.c - which study is meant, and its plan: see lab.h. */
#include "lab/study/lab.h"

#include <limits.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/random.h>
#include <time.h>

#include "base/clock.h"
#include "console/diag.h"
#include "lab/files/paths.h"

#define START_LIMIT_NS (60 * MST_NS_PER_S)    /* what a start and a stop take at most */

struct wanted { apr_pool_t *pool; unsigned number; char *path; bool found; };

static int take_if_number(void *context, const char *path)
{
    struct wanted *wanted = context;
    char error[MST_ERROR_MAX];
    struct mst_study study;

    wanted->found = mst_study_read(wanted->pool, &study, path, MST_STUDY_QUICK, error) == 0 &&
                    study.number == wanted->number;
    if (wanted->found)
        snprintf(wanted->path, PATH_MAX, "%s", path);
    return wanted->found;
}

/* The path of the study that is meant by a number, a name or a path. 0, or -1 said why. */
static int find_study(apr_pool_t *pool, const char *given, char path[PATH_MAX])
{
    char error[MST_ERROR_MAX];
    struct wanted wanted = { .pool = pool, .path = path };

    if (given[0] != '\0' && strspn(given, "0123456789") == strlen(given)) {
        wanted.number = (unsigned)strtoul(given, NULL, 10);
        mst_lab_each("study", take_if_number, &wanted);
        if (wanted.found)
            return 0;
    }
    if (mst_lab_file(given, "study", NULL, path, error) == 0)
        return 0;
    mst_error("%s", error);
    return -1;
}

static char *directory_of(apr_pool_t *pool, const char *path)
{
    char real[PATH_MAX], *slash;

    if (realpath(path, real) == NULL)
        snprintf(real, sizeof real, "%s", path);
    slash = strrchr(real, '/');
    if (slash == NULL)
        return apr_pstrdup(pool, ".");
    *slash = '\0';
    return apr_pstrdup(pool, real[0] != '\0' ? real : "/");
}

int mst_lab_read_study(struct mst_lab *lab)
{
    char path[PATH_MAX], error[MST_ERROR_MAX];

    if (find_study(lab->pool, lab->options->study, path) != 0)
        return MST_EXIT_USAGE;
    if (mst_study_read(lab->pool, &lab->study, path, lab->options->size, error) != 0)
        return mst_failed(MST_EXIT_USAGE, "%s", error);
    lab->beside = directory_of(lab->pool, path);
    return MST_EXIT_OK;
}

int mst_lab_plan(struct mst_lab *lab, uint64_t seed, char *const *only)
{
    const struct mst_schedule_options options = { .seed = seed, .beside = lab->beside,
                                                  .only = only };
    char error[MST_ERROR_MAX];
    uint64_t all_ns;

    if (mst_schedule_make(lab->pool, &lab->schedule, &lab->study, &options, error) != 0)
        return mst_failed(MST_EXIT_USAGE, "%s", error);
    lab->finished = apr_pcalloc(lab->pool, (lab->schedule.step_count + 1) * sizeof *lab->finished);
    all_ns = lab->schedule.limit_ns + lab->schedule.start_count * START_LIMIT_NS;
    lab->limit_ns = lab->study.limit_ns > 0 && lab->study.limit_ns < all_ns ? lab->study.limit_ns
                                                                            : all_ns;
    return MST_EXIT_OK;
}

uint64_t mst_lab_choose_seed(const struct mst_lab_options *o)
{
    uint32_t seed = 0;

    if (o->seed_given)
        return o->seed;
    if (getrandom(&seed, sizeof seed, 0) != sizeof seed)
        seed = (uint32_t)time(NULL);
    return seed;
}
