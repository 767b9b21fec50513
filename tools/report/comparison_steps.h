/* comparison_steps.h - the steps of mst_comparison_make(), which comparison.h is the outside of. */
#ifndef MPMSTAT_COMPARISON_STEPS_H
#define MPMSTAT_COMPARISON_STEPS_H

#include "report/comparison.h"

/* What forbids the comparison into t->obstacles, what else should be equal into t->warnings. */
void mst_comparison_find_differences(struct mst_comparison_table *t);

/* Whether a side's requests failed so often that its times are not those of its work. */
bool mst_comparison_fails(const struct mst_compare_side *side);

/* Whether what Apache handed its requests to was recorded, too, in all runs of both sides or in
 * none: then sums of their servers can be compared. */
bool mst_comparison_same_servers(const struct mst_comparison_table *t);

/* comparison_names.c: t->names. are_gates: their whole times are judged by the limit. */
void mst_comparison_by_name(struct mst_comparison_table *t, bool are_gates);

/* comparison_sentence.c: t->sentence. */
void mst_comparison_say(struct mst_comparison_table *t);

#endif
