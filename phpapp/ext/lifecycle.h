/* lifecycle.h - workers: how they join the board, their forks and their ends. */
#ifndef MPMSTAT_PHP_LIFECYCLE_H
#define MPMSTAT_PHP_LIFECYCLE_H

#include "state.h"

/* At MINIT: begins to watch forks. */
void mst_lifecycle_start(void);

/* In the parent: opens its board, and records a restart. */
void mst_lifecycle_open(void);

/* At the first request of a process: makes it a worker of the board. Returns false where it
 * records nothing. */
bool mst_lifecycle_join(void);

/* Sets this thread's number and worker (MPMSTAT_G). */
void mst_lifecycle_thread(void);
/* The thread whose globals these are ends: the next thread can have its number and worker. */
void mst_lifecycle_thread_end(zend_mpmstat_globals *of);

/* Logs that the board has lost pages, if it has: once for all processes of the board. */
void mst_lifecycle_tell_loss(void);

/* At MSHUTDOWN, or at an exit without it: a worker leaves the board, a parent records the stop.
 * With threads (ZTS), others can be at a request meanwhile. */
void mst_lifecycle_end(void);

#endif
