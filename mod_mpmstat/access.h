/* access.h - who may see the status page. */
#ifndef MPMSTAT_ACCESS_H
#define MPMSTAT_ACCESS_H

#include "mod_mpmstat.h"

/* For a request that has come to the handler: DECLINED where it is to be answered. Else it has
 * been answered already (OK), or this is the status to answer with. */
int mst_check_access(request_rec *r);

#endif
