/* when.h - the part of the run in which findings hold, where it is a part. */
#ifndef MPMSTAT_FINDINGS_WHEN_H
#define MPMSTAT_FINDINGS_WHEN_H

#include "findings/inquiry.h"

/* Sets it, by the requests of the budget's front, in the findings of that server and of the run
 * that have none, and says it. After all rules of that server. */
void mst_find_when(struct mst_inquiry *q);

#endif
