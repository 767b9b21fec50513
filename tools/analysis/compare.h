/* compare.h - one metric of two sets of runs: which is more, by how much, or that it
 * cannot be told.
 */
#ifndef MPMSTAT_COMPARE_H
#define MPMSTAT_COMPARE_H

#include <stdbool.h>
#include <stddef.h>

#include "stats/bootstrap.h"

enum mst_change { MST_CHANGE_UNSURE, MST_CHANGE_LESS, MST_CHANGE_MORE };

/* What is compared: a value of each run, in any unit. */
struct mst_compare_input {
    const double *a, *b;
    size_t        a_count, b_count;    /* 1 at least */
    bool          paired;
    double        step;                /* resolution of the values; 0: they are exact */
    double        confidence;          /* of the interval; 0: 0.95 */
    const char   *less, *more;         /* what to say: "B is faster", "B is slower" */
};

struct mst_comparison {
    double          a, b;              /* geometric means; of values with a 0 arithmetic ones */
    bool            bounded;           /* the interval is known */
    struct mst_confidence interval;
    double          noise;             /* of A against itself; below 0: not known */
    double          smallest;          /* difference that 4 of 5 such comparisons would show, 0.05
                                        * for 5 %; below 0: not known */
    enum mst_change change;            /* the whole interval is on one side of 1 */
    char            by[160];           /* what was seen: "69 % less (60 to 76 %)"; "": nothing */
    char            text[256];         /* a sentence, without a period */
};

void mst_compare(struct mst_comparison *c, const struct mst_compare_input *in);

/* Whether b is worse than a by more than `limit` (0.05: 5 %): the whole interval says
 * so (MST_LIMIT_BEYOND), the whole of it says no, or part of it. */
enum mst_limit { MST_LIMIT_UNSURE, MST_LIMIT_WITHIN, MST_LIMIT_BEYOND };
enum mst_limit mst_compare_limit(const struct mst_comparison *c, bool more_is_better,
                                 double limit);

#endif
