/* run_requests.h - which rows of requests count as the load's, for SQL of analysis and findings.
 *
 * A ghost was in flight before the load began; requests to /mpm-status are of the tools that
 * measure. */
#ifndef MPMSTAT_RUN_REQUESTS_H
#define MPMSTAT_RUN_REQUESTS_H

#include "segment/format.h"

/* Of the server :id; further conditions follow with AND. */
#define MST_FROM_APACHES_REQUESTS \
    "FROM server_requests WHERE server_id = :id AND ghost = 0 AND label <> '" \
    MST_LABEL_STATUS_NAME "' "
/* Single rows, each once, of a thinned archive, too (archive/weights.c). */
#define MST_FROM_APACHES_ROWS \
    "FROM main.server_requests WHERE server_id = :id AND ghost = 0 AND label <> '" \
    MST_LABEL_STATUS_NAME "' "
#define MST_FROM_PHPS_ROWS "FROM main.php_requests WHERE server_id = :id AND ghost = 0 "
#define MST_FROM_PHPS_REQUESTS "FROM php_requests WHERE server_id = :id AND ghost = 0 "

/* The kernel's part of PHP's CPU time, in thousandths; NULL where there is none. */
#define MST_KERNEL_NUMBER \
    "CAST(1000.0 * sum(system_ns) / sum(user_ns + system_ns) AS INTEGER) AS number "

/* What Apache handed a request to, of its row: a proxy's handler only repeats the backend. */
#define MST_HANDED_TO \
    "CASE WHEN backend IS NULL THEN handler WHEN handler IS NULL OR handler LIKE 'proxy:%' " \
    "THEN backend ELSE handler || ' ' || backend END"

#endif
