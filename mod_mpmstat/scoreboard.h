/* scoreboard.h - httpd's own view of its workers, which the status page shows, too. */
#ifndef MPMSTAT_SCOREBOARD_H
#define MPMSTAT_SCOREBOARD_H

#include <apr_pools.h>

/* A letter for each slot of the scoreboard, as mod_status prints them. From the pool;
 * NULL: there is no scoreboard. */
const char *mst_scoreboard_letters(apr_pool_t *p);

#endif
