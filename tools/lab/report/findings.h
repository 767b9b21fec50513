/* findings.h - what a study came to, in sentences: what still holds of what the
 * original said, what does not, what cannot be told, and what it could not see. Each is
 * computed from the runs.
 */
#ifndef MPMSTAT_LAB_FINDINGS_H
#define MPMSTAT_LAB_FINDINGS_H

#include "lab/report/cases.h"

enum mst_finding_kind {
    MST_FINDING_HOLDS, MST_FINDING_FAILS, MST_FINDING_UNSURE, MST_FINDING_UNMEASURED,
    MST_FINDING_KINDS
};

struct mst_finding {
    enum mst_finding_kind kind;
    const struct mst_study_section *section;
    const char *claim;             /* the original's sentence; NULL: of what it did not see */
    char       *text;              /* ours */
};

struct mst_findings {
    size_t count;
    struct mst_finding *items;      /* the claims in their order, then section by section */
};

void mst_findings_free(struct mst_findings *findings);

/* Adds one: the text is taken over. 0, or -1: out of memory (text NULL). */
int  mst_findings_add(struct mst_findings *findings, enum mst_finding_kind kind,
                      const struct mst_study_section *section, const char *claim, char *text);
/* The text by a format; NULL: out of memory. */
char *mst_finding_text(const char *format, ...) __attribute__((format(printf, 1, 2)));

/* claims.c: one for each claim. unmeasured.c: the others, of one section. */
int  mst_findings_of_claims(struct mst_findings *findings, const struct mst_study_data *data);
int  mst_findings_unmeasured(struct mst_findings *findings,
                             const struct mst_study_section *section);

/* In how many of the pairs of published systems the one that was ahead is so still, by the
 * first of the published figures that were measured. A sentence, or NULL where there is
 * nothing to say (or no memory). */
char *mst_findings_ranking(const struct mst_study_section *section);

/* For a heading: "What still holds", ... */
extern const char *const mst_finding_titles[MST_FINDING_KINDS];

#endif
