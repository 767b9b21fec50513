/* idle_processes.h - waits until servers that have just been started have as many processes as they
 * keep when idle. A burst begins then; the lab's spawn_curve.h shows what they fork in it.
 */
#ifndef MPMSTAT_LAB_IDLE_PROCESSES_H
#define MPMSTAT_LAB_IDLE_PROCESSES_H

#include <signal.h>
#include <stddef.h>

#include "lab/servers/servers.h"

/* Waits until the number of the servers' processes has not changed for some seconds. Returns that
 * number; 0 if it kept changing for too long, or if *stop was raised. */
size_t mst_idle_processes_wait(const struct mst_servers *servers,
                               const volatile sig_atomic_t *stop);

#endif
