/* sequence.c - see sequence.h. */
#include "analysis/sequence.h"

enum mst_decision mst_sequence_look(struct mst_comparison *c, const double *a, const double *b,
                                    size_t pairs, double limit)
{
    const struct mst_compare_input in = {
        .a = a, .b = b, .a_count = pairs, .b_count = pairs, .paired = true,
        .confidence = MST_SEQUENCE_CONFIDENCE, .less = "B takes less", .more = "B takes more",
    };

    mst_compare(c, &in);
    if (!c->bounded || pairs < MST_SEQUENCE_FIRST)
        return MST_DECISION_NONE;
    if (c->change != MST_CHANGE_UNSURE)
        return MST_DECISION_DIFFERENT;
    return c->interval.low > 1 / (1 + limit) && c->interval.high < 1 + limit ? MST_DECISION_SAME
                                                                             : MST_DECISION_NONE;
}
