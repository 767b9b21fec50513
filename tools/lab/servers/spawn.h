/* spawn.h - a burst against servers that have just been started: what is waited for before
 * it. The curve itself is in the fork events that the recording writes down (spawn_curve.h).
 */
#ifndef MPMSTAT_LAB_SPAWN_H
#define MPMSTAT_LAB_SPAWN_H

#include <signal.h>
#include <stddef.h>

#include "lab/servers/servers.h"

/* Waits until the servers have come to the processes that they keep when idle: their number
 * has stayed for a while. Returns that number; 0 where it did not come to rest in time, or
 * *stop was raised. */
size_t mst_spawn_rest(const struct mst_servers *servers, const volatile sig_atomic_t *stop);

#endif
