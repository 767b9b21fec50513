/* pools.h - FPM's pools: how many workers each can have, by FPM's configuration. */
#ifndef MPMSTAT_PHP_POOLS_H
#define MPMSTAT_PHP_POOLS_H

#include "state.h"

/* Keeps the command line's prefix for relative names. Called as PHP starts: FPM's title replaces
 * the command line later. */
void mst_pools_start(void);

/* Reads the pools in FPM's configuration file. Returns how many workers all of them can have
 * together; MST_UNKNOWN where the file cannot be read. */
uint64_t mst_pools_read(const char *path);

/* Writes the limits of the pools that were read to the labels on the board, and forgets the
 * pools. */
void mst_pools_show(void);

#endif
