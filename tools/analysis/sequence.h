/* sequence.h - pairs of runs that go on until they decide.
 *
 * A look at an interval of 95 % after each pair, and an end as soon as it excludes 1, find a
 * difference in far more than 5 of 100 comparisons of a server with itself. So each look has an
 * interval of MST_SEQUENCE_CONFIDENCE, with which all looks together are wrong in less than 5 of
 * 100. There is a look after each pair from MST_SEQUENCE_FIRST to MST_SEQUENCE_LAST: of 40,000
 * simulated sequences without a difference 5 % had one of these looks beyond 99.5 % of Student's t.
 */
#ifndef MPMSTAT_SEQUENCE_H
#define MPMSTAT_SEQUENCE_H

#include <stddef.h>

#include "analysis/compare.h"

#define MST_SEQUENCE_CONFIDENCE 0.995
#define MST_SEQUENCE_FIRST      4u
#define MST_SEQUENCE_LAST       60u

enum mst_decision {
    MST_DECISION_NONE,       /* go on */
    MST_DECISION_DIFFERENT,  /* the whole interval is on one side of 1 */
    MST_DECISION_SAME        /* the whole interval is within the limit on both sides of 1 */
};

/* Looks at so many pairs; a[i] and b[i] are above 0. The limit is a fraction (0.05: 5 %). Before
 * MST_SEQUENCE_FIRST pairs nothing is decided. */
enum mst_decision mst_sequence_look(struct mst_comparison *c, const double *a, const double *b,
                                    size_t pairs, double limit);

#endif
