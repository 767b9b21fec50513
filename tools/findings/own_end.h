/* own_end.h - whether what PHP calls is a server of the same run: a server that calls itself. */
#ifndef MPMSTAT_FINDINGS_OWN_END_H
#define MPMSTAT_FINDINGS_OWN_END_H

#include "findings/inquiry.h"

/* The server of the run that listens where an other end of PHP's waits is ("http 127.0.0.1:80").
 * NULL: none does, as far as is known: of a name only loopback's and the labels of its requests
 * are taken for its own. */
const struct mst_summary_server *mst_own_end(struct mst_inquiry *q, const char *end);

#endif
