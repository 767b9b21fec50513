/* findings.h - the results of a study in sentences: which claims of the original still hold, which
 * do not, which cannot be told, and what the original did not measure. Each is computed from the
 * runs.
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
    const char *claim;             /* the original's sentence; NULL: it made no claim */
    char       *text;              /* ours */
};

struct mst_findings {
    size_t count;
    struct mst_finding *items;      /* the claims in their order, then section by section */
};

void mst_findings_free(struct mst_findings *findings);

/* Adds a finding, which owns the text from then on. 0, or -1: out of memory (or text is NULL). */
int  mst_findings_add(struct mst_findings *findings, enum mst_finding_kind kind,
                      const struct mst_study_section *section, const char *claim, char *text);
/* The text on the heap; NULL: out of memory. */
char *mst_finding_text(const char *format, ...) __attribute__((format(printf, 1, 2)));

/* Adds one for each claim (claims.c); those about a section that the original made no claim of
 * (unmeasured.c). 0, or -1: out of memory. */
int  mst_findings_of_claims(struct mst_findings *findings, const struct mst_study_data *data);
int  mst_findings_unmeasured(struct mst_findings *findings,
                             const struct mst_study_section *section);

/* A sentence that says how many pairs of published systems are still in the same order, by the
 * first published figure that was measured; NULL where no pair was run, or out of memory. */
char *mst_findings_ranking(const struct mst_study_section *section);

/* For a heading: "What still holds", ... */
extern const char *const mst_finding_titles[MST_FINDING_KINDS];

#endif
