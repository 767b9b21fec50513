/* warmup.h - load that is not measured, until a server answers at a steady rate.
 *
 * The first requests after a start find cold caches and few processes. So many connections
 * as the measurement will have ask for the page, a new connection a request, until two
 * samples in a row have about the same rate. What is in flight then is waited for.
 */
#ifndef MPMSTAT_LAB_WARMUP_H
#define MPMSTAT_LAB_WARMUP_H

#include <signal.h>
#include <stdbool.h>
#include <stdint.h>

#include "memory/pool.h"

#define MST_WARMUP_CONNECTIONS 2000u    /* more are never opened */

struct mst_warmup_options {
    unsigned connections;
    uint64_t limit_ns;                   /* given up then: it is not steady */
    const volatile sig_atomic_t *stop;   /* raised: given up */
    void   (*tick)(void *context);       /* called now and then; NULL: not */
    void    *context;
};

struct mst_warmup {
    uint64_t took_ns;
    uint64_t requests;                   /* answered with 200 */
    bool     steady;
};

void mst_warm_up(apr_pool_t *pool, const char *url, const struct mst_warmup_options *options,
                 struct mst_warmup *result);

#endif
