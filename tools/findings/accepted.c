/* accepted.c - which settings of workers a server accepts together: see accepted.h. */
#include "findings/accepted.h"

#include <string.h>

/* Compiled into httpd. */
#define SERVERS_MOST_THREADED 20000u
#define SERVERS_MOST          200000u
#define THREADS_MOST          20000u

static uint64_t at_least(uint64_t n, uint64_t least)
{
    return n > least ? n : least;
}

static uint64_t at_most(uint64_t n, uint64_t most)
{
    return n < most ? n : most;
}

/* ---- a pool of PHP-FPM ----------------------------------------------------------------------- */

uint64_t mst_fpm_usual_start(const struct mst_fpm_pool *pool)
{
    uint64_t least = pool->n[MST_FPM_MIN_SPARE], most = pool->n[MST_FPM_MAX_SPARE];

    return most > least ? least + (most - least) / 2 : least;
}

bool mst_fpm_accepts(const struct mst_fpm_pool *pool)
{
    const uint64_t *n = pool->n;

    if (n[MST_FPM_CHILDREN] < 1)
        return false;
    return pool->pm != MST_PM_DYNAMIC ||
           (n[MST_FPM_MIN_SPARE] >= 1 && n[MST_FPM_MIN_SPARE] <= n[MST_FPM_MAX_SPARE] &&
            n[MST_FPM_MAX_SPARE] <= n[MST_FPM_CHILDREN] &&
            n[MST_FPM_START] >= n[MST_FPM_MIN_SPARE] && n[MST_FPM_START] <= n[MST_FPM_MAX_SPARE]);
}

void mst_fpm_set_ready(struct mst_fpm_pool *pool, uint64_t workers)
{
    uint64_t *n = pool->n;

    if (pool->pm == MST_PM_ONDEMAND) {
        pool->pm = MST_PM_STATIC;   /* ends none, and starts all of them */
        return;
    }
    if (pool->pm != MST_PM_DYNAMIC)
        return;
    workers = at_least(at_most(workers, n[MST_FPM_CHILDREN]), 1);
    n[MST_FPM_MIN_SPARE] = at_least(at_most(n[MST_FPM_MIN_SPARE], n[MST_FPM_CHILDREN]), 1);
    n[MST_FPM_MAX_SPARE] = at_least(at_least(at_most(n[MST_FPM_MAX_SPARE], n[MST_FPM_CHILDREN]),
                                             workers), n[MST_FPM_MIN_SPARE]);
    n[MST_FPM_START] = at_least(at_least(at_most(n[MST_FPM_START], n[MST_FPM_MAX_SPARE]), workers),
                                n[MST_FPM_MIN_SPARE]);
}

void mst_fpm_set_limit(struct mst_fpm_pool *pool, uint64_t workers)
{
    pool->n[MST_FPM_CHILDREN] = at_least(workers, 1);
    if (pool->pm == MST_PM_DYNAMIC)
        mst_fpm_set_ready(pool, workers);
}

/* ---- an MPM of httpd ------------------------------------------------------------------------- */

static uint64_t threads(const struct mst_mpm *mpm)
{
    return mpm->threaded ? mpm->n[MST_MPM_THREADS] : 1;
}

static uint64_t servers_most(const struct mst_mpm *mpm)
{
    return mpm->threaded ? SERVERS_MOST_THREADED : SERVERS_MOST;
}

/* MaxSpareThreads is at least so much above MinSpareThreads. */
static uint64_t spare_apart(const struct mst_mpm *mpm)
{
    return threads(mpm);
}

void mst_mpm_correct(struct mst_mpm *mpm)
{
    uint64_t *n = mpm->n, processes;

    n[MST_MPM_SERVER_LIMIT] = at_least(at_most(n[MST_MPM_SERVER_LIMIT], servers_most(mpm)), 1);
    n[MST_MPM_THREAD_LIMIT] = at_least(at_most(n[MST_MPM_THREAD_LIMIT], THREADS_MOST), 1);
    n[MST_MPM_THREADS] = at_least(at_most(n[MST_MPM_THREADS], n[MST_MPM_THREAD_LIMIT]), 1);
    processes = at_most(at_least(n[MST_MPM_WORKERS] / threads(mpm), 1), n[MST_MPM_SERVER_LIMIT]);
    n[MST_MPM_WORKERS] = processes * threads(mpm);
    n[MST_MPM_START] = at_least(at_most(n[MST_MPM_START], processes), 1);
    n[MST_MPM_MIN_SPARE] = at_least(n[MST_MPM_MIN_SPARE], 1);
    n[MST_MPM_MAX_SPARE] = at_least(n[MST_MPM_MAX_SPARE],
                                    n[MST_MPM_MIN_SPARE] + spare_apart(mpm));
}

bool mst_mpm_accepts(const struct mst_mpm *mpm)
{
    struct mst_mpm corrected = *mpm;

    mst_mpm_correct(&corrected);
    return memcmp(corrected.n, mpm->n, sizeof mpm->n) == 0;
}

void mst_mpm_set_limit(struct mst_mpm *mpm, uint64_t workers)
{
    uint64_t *n = mpm->n, processes;

    mst_mpm_correct(mpm);
    processes = workers / threads(mpm) + (workers % threads(mpm) != 0);
    processes = at_least(at_most(processes, servers_most(mpm)), 1);
    n[MST_MPM_WORKERS] = processes * threads(mpm);
    n[MST_MPM_SERVER_LIMIT] = at_least(n[MST_MPM_SERVER_LIMIT], processes);
    n[MST_MPM_START] = at_most(n[MST_MPM_START], processes);
}

void mst_mpm_set_ready(struct mst_mpm *mpm, uint64_t workers)
{
    uint64_t *n = mpm->n, processes;

    mst_mpm_correct(mpm);
    workers = at_most(workers, n[MST_MPM_WORKERS]);
    processes = workers / threads(mpm) + (workers % threads(mpm) != 0);
    n[MST_MPM_START] = at_least(n[MST_MPM_START], processes);
    n[MST_MPM_MIN_SPARE] = at_least(n[MST_MPM_MIN_SPARE], workers);
    n[MST_MPM_MAX_SPARE] = at_least(n[MST_MPM_MAX_SPARE],
                                    n[MST_MPM_MIN_SPARE] + spare_apart(mpm));
}
