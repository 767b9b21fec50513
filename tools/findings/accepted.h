/* accepted.h - which settings of workers a server accepts together, and the fewest changes that
 * give it more of them: the rules of php-fpm's fpm_conf.c and of httpd's MPMs.
 */
#ifndef MPMSTAT_ACCEPTED_H
#define MPMSTAT_ACCEPTED_H

#include <stdbool.h>
#include <stdint.h>

#include "analysis/configured.h"

/* ---- a pool of PHP-FPM ----------------------------------------------------------------------- */

struct mst_fpm_pool {
    enum mst_pm pm;
    uint64_t    n[MST_FPM_SETTINGS];   /* those of pm = dynamic count for that alone */
};

/* What FPM takes where pm.start_servers is not set. */
uint64_t mst_fpm_usual_start(const struct mst_fpm_pool *pool);

/* FPM starts with these. It does not start at all with others. */
bool mst_fpm_accepts(const struct mst_fpm_pool *pool);

/* Sets the limit. With pm = dynamic it also has FPM start that many workers before the load comes:
 * under load FPM adds workers once a second, and at most as many as idle ones are missing to
 * pm.min_spare_servers. */
void mst_fpm_set_limit(struct mst_fpm_pool *pool, uint64_t workers);

/* So many are there before the load comes, as far as the limit allows. */
void mst_fpm_set_ready(struct mst_fpm_pool *pool, uint64_t workers);

/* ---- an MPM of httpd ------------------------------------------------------------------------- */

struct mst_mpm {
    bool     threaded;                 /* worker, event; else one thread in each process */
    uint64_t n[MST_MPM_SETTINGS];
};

/* What httpd runs with: it corrects what it does not accept, with a warning. */
void mst_mpm_correct(struct mst_mpm *mpm);
bool mst_mpm_accepts(const struct mst_mpm *mpm);

/* Sets the limit, to the next multiple of ThreadsPerChild. */
void mst_mpm_set_limit(struct mst_mpm *mpm, uint64_t workers);

/* So many workers are there before the load comes, as far as the limit allows. */
void mst_mpm_set_ready(struct mst_mpm *mpm, uint64_t workers);

#endif
