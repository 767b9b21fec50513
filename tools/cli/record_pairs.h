/* record_pairs.h - mpmstat record --repeat until-decided: pairs of runs that go on until they tell
 * whether B takes another time than A.
 */
#ifndef MPMSTAT_RECORD_PAIRS_H
#define MPMSTAT_RECORD_PAIRS_H

#include <stddef.h>
#include <stdint.h>

#include "analysis/sequence.h"
#include "report/metrics.h"

#define MST_PAIRS_LIMIT     0.05                     /* --limit */
#define MST_PAIRS_WITHIN_NS (900 * MST_NS_PER_S)     /* --within */

struct mst_pairs {
    double   limit;                   /* a smaller difference does not matter; 0.05: 5 % */
    uint64_t within_ns;               /* no pair begins that could end later than that */
    /* The rest is made by the functions, from 0. */
    const struct mst_metric *metric;  /* the mean time of a request, whose clock is fine enough */
    double   times[2][MST_SEQUENCE_LAST];
    size_t   runs[2];                 /* of A and of B, whose times those are */
    uint64_t pairs_ns, longest_ns;    /* what all pairs took, and the longest */
    struct mst_comparison seen;       /* of all pairs */
    enum mst_decision decision;
};

/* A run of A (variant 0) or B (1). Returns an enum mst_exit: it can have no times to compare. */
int mst_pairs_add(struct mst_pairs *pairs, size_t variant, const struct mst_summary *summary);

/* Looks at all pairs, after each of them, which took so long. Whether to make another one. */
bool mst_pairs_go_on(struct mst_pairs *pairs, uint64_t took_ns);

/* What the pairs show, in a line: "after 5 pairs, the time of B: from 1 % less to 8 % more". */
void mst_pairs_put_look(const struct mst_pairs *pairs);

/* The decision, with the sentence that mpmstat compare has for these runs. */
void mst_pairs_put_decision(const struct mst_pairs *pairs, const char *archive,
                            const char *const names[2]);

#endif
