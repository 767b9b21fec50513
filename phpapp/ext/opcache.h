/* opcache.h - what OPcache says of itself, for the board's header. */
#ifndef MPMSTAT_PHP_OPCACHE_H
#define MPMSTAT_PHP_OPCACHE_H

#include <stdint.h>

/* Asks OPcache, where nobody did within the last second. A request that is recorded calls it
 * as it ends, while PHP can still call functions. now_ns: CLOCK_MONOTONIC. */
void mst_opcache_look(uint64_t now_ns);

#endif
