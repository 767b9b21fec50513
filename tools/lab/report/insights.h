/* insights.h - the results of a study in sentences: which claims of the original still hold, which
 * do not, which cannot be told, and what the original did not measure. Each is computed from the
 * runs.
 */
#ifndef MPMSTAT_LAB_FINDINGS_H
#define MPMSTAT_LAB_FINDINGS_H

#include "lab/report/cases.h"

enum mst_insight_kind {
    MST_INSIGHT_HOLDS, MST_INSIGHT_FAILS, MST_INSIGHT_UNSURE, MST_INSIGHT_UNMEASURED,
    MST_INSIGHT_KINDS
};

struct mst_insight {
    enum mst_insight_kind kind;
    const struct mst_study_section *section;
    const char *claim;             /* the original's sentence; NULL: it made no claim */
    const char *text;              /* ours */
};

struct mst_insights {
    apr_pool_t *pool;
    size_t count;
    struct mst_insight *items;      /* the claims in their order, then section by section */
};

/* Adds a finding; the texts are the study's, or of its pool. */
void mst_insights_add(struct mst_insights *findings, enum mst_insight_kind kind,
                      const struct mst_study_section *section, const char *claim,
                      const char *text);

/* Adds one for each claim (claims.c); those about a section that the original made no claim of
 * (unmeasured.c). */
void mst_insights_of_claims(struct mst_insights *findings, const struct mst_study_data *data);
void mst_insights_unmeasured(struct mst_insights *findings,
                             const struct mst_study_section *section);

/* A sentence that says how many pairs of published systems are still in the same order, by the
 * first published figure that was measured; NULL where no pair was run. */
const char *mst_insights_ranking(const struct mst_study_section *section);

/* For a heading: "What still holds", ... */
extern const char *const mst_insight_titles[MST_INSIGHT_KINDS];

#endif
