/* waits.h - what a request waits for. */
#ifndef MPMSTAT_PHP_WAITS_H
#define MPMSTAT_PHP_WAITS_H

#include "segment/format.h"

/* ---- timed.c: which functions are timed --------------------------------------------------- */

/* At MINIT: has the functions of waits.def timed after all extensions have started. */
void mst_waits_install(void);
/* For phpinfo(): why waits are not measured although mpmstat.waits is on; NULL: they are. */
const char *mst_waits_why_not(void);
/* At MSHUTDOWN. */
void mst_waits_uninstall(void);

/* ---- waits.c: a request's waits ----------------------------------------------------------- */

/* A recorded request begins. cpu_ns: of its thread, from any point on; MST_UNKNOWN. */
void mst_waits_begin(uint64_t now_ns, uint64_t cpu_ns);
/* A fatal error ends the call under way. */
void mst_waits_break(void);
/* The request ends: counts its calls and sets the record's cpu_wait_ns, waits_ns and longest.
 * Together they are at most left_ns. */
void mst_waits_end(struct mst_php_request *record, uint64_t left_ns);

#endif
