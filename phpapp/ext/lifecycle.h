/* lifecycle.h - workers: how they join the board, their forks and their ends. */
#ifndef MPMSTAT_PHP_LIFECYCLE_H
#define MPMSTAT_PHP_LIFECYCLE_H

#include <stdbool.h>

/* At MINIT: forks are seen from now on. */
void mst_lifecycle_start(void);

/* The parent: opens its board, and tells of a restart. */
void mst_lifecycle_open(void);

/* Makes this process a worker of the board, at its first request; false: it records
 * nothing. */
bool mst_lifecycle_join(void);

/* Sets this thread's worker. */
void mst_lifecycle_thread(void);

/* Logs, once for all processes of the board, that it has lost pages, if it has. */
void mst_lifecycle_tell_loss(void);

/* At MSHUTDOWN, and when the process exits without one: a worker leaves the board, a
 * parent notes the stop. With threads (ZTS) others may be at a request meanwhile. */
void mst_lifecycle_end(void);

#endif
