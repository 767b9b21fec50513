/* exit_by_finding.h - --fail-on CODE[,CODE]: findings with which record and report exit with
 * status 1. */
#ifndef MPMSTAT_EXIT_BY_FINDING_H
#define MPMSTAT_EXIT_BY_FINDING_H

#include <stdbool.h>

#include "analysis/summary.h"

struct mst_fail_on { bool any, codes[MST_CODE_COUNT]; };

/* Takes the option's argument, as often as it is given. Returns an enum mst_exit. */
int mst_fail_on_read(struct mst_fail_on *f, const char *verb, const char *argument);

/* Whether the run has a finding of one of the codes. Says which, and of which run. */
bool mst_fail_on_found(const struct mst_fail_on *f, const struct mst_summary *s);

#endif
