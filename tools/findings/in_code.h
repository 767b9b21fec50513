/* in_code.h - where in PHP's code the time of a finding was spent. */
#ifndef MPMSTAT_IN_CODE_H
#define MPMSTAT_IN_CODE_H

#include "analysis/php_code.h"
#include "findings/inquiry.h"

/* Sets the finding's place, and says it, where samples of that kind (MST_SPENT_CPU, or enum
 * mst_wait plus 1) of the inquiry's PHP tell it. */
void mst_note_code(struct mst_inquiry *q, struct mst_finding *f, unsigned kind);

#endif
