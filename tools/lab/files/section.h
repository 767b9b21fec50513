/* section.h - the facts of a study's section, at the size that is wanted: for study.c, variables.c
 * and claims.c alone.
 */
#ifndef MPMSTAT_LAB_SECTION_H
#define MPMSTAT_LAB_SECTION_H

#include "lab/files/study.h"

#define MST_QUICK_PREFIX "quick."   /* of a fact for the quick size, in place of the usual one */

struct mst_sized_section {
    struct mst_study *study;
    struct mst_facts  facts;
    enum mst_study_size size;
    unsigned          line;
};

bool mst_is_quick(const struct mst_fact *fact);

/* The fact with this key, or what stands in its place at this size. NULL: there is none. */
const struct mst_fact *mst_sized_find(const struct mst_sized_section *section, const char *key);

/* These return 0, or -1 with a sentence. */

/* A copy; it stays as it is where there is no such fact and need not be. */
int mst_sized_text(const struct mst_sized_section *section, const char *key, bool needed,
                   char **copy, char error[MST_ERROR_MAX]);
int mst_sized_list(const struct mst_sized_section *section, const char *key, char ***list,
                   char error[MST_ERROR_MAX]);
int mst_sized_number(const struct mst_sized_section *section, const char *key, uint64_t most,
                     uint64_t otherwise, uint64_t *number, char error[MST_ERROR_MAX]);
int mst_sized_seconds(const struct mst_sized_section *section, const char *key,
                      uint64_t otherwise, uint64_t *ns, char error[MST_ERROR_MAX]);
/* That there are no other facts than these, and variables where they are allowed. */
int mst_sized_expect(const struct mst_sized_section *section, const char *const *keys,
                     bool variables, char error[MST_ERROR_MAX]);

/* A name of variables, or several with + between them. */
bool mst_are_variables(const char *names);
/* A whole number. False: it is none, or beyond `most`. */
bool mst_read_number(const char *value, uint64_t most, uint64_t *number);

/* variables.c: the variables of a section of runs. */
int mst_study_variables(const struct mst_sized_section *section, struct mst_runs *runs,
                        char error[MST_ERROR_MAX]);

/* claims.c: the claims of a section. */
int mst_study_add_claims(struct mst_study *study, const struct mst_text_section *section,
                         char error[MST_ERROR_MAX]);

#endif
