/* study_sayings.h - what a study came to, in sentences: what still holds of what the
 * original said, what does not, what cannot be told, and what it could not see. Each is
 * computed from the runs.
 */
#ifndef MPMSTAT_STUDY_SAYINGS_H
#define MPMSTAT_STUDY_SAYINGS_H

#include "lab/report/study_data.h"

enum mst_saying_kind {
    MST_SAYING_HOLDS, MST_SAYING_FAILS, MST_SAYING_UNSURE, MST_SAYING_UNSEEN, MST_SAYING_KINDS
};

struct mst_saying {
    enum mst_saying_kind kind;
    const struct mst_study_section *section;
    const char *claim;             /* the original's sentence; NULL: of what it did not see */
    char       *text;              /* ours */
};

struct mst_sayings {
    size_t count;
    struct mst_saying *items;      /* the claims in their order, then section by section */
};

void mst_sayings_free(struct mst_sayings *sayings);

/* Adds one: the text is taken over. 0, or -1: out of memory (text NULL). */
int  mst_sayings_add(struct mst_sayings *sayings, enum mst_saying_kind kind,
                     const struct mst_study_section *section, const char *claim, char *text);
/* The text by a format; NULL: out of memory. */
char *mst_saying_text(const char *format, ...) __attribute__((format(printf, 1, 2)));

/* study_claims.c: one for each claim. study_unseen.c: the others, of one section. */
int  mst_sayings_of_claims(struct mst_sayings *sayings, const struct mst_study_data *data);
int  mst_sayings_unseen(struct mst_sayings *sayings, const struct mst_study_section *section);

/* In how many of the pairs of published systems the one that was ahead is so still, by the
 * first of the published figures that were measured. A sentence, or NULL where there is
 * nothing to say (or no memory). */
char *mst_sayings_ranking(const struct mst_study_section *section);

/* For a heading: "What still holds", ... */
extern const char *const mst_saying_titles[MST_SAYING_KINDS];

#endif
