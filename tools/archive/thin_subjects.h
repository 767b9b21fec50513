/* thin_subjects.h - which tables of an archive thinning takes rows out of, and by which rule: for
 * thin.c.
 */
#ifndef MPMSTAT_ARCHIVE_THIN_SUBJECTS_H
#define MPMSTAT_ARCHIVE_THIN_SUBJECTS_H

#include <stdbool.h>
#include <stddef.h>

#include "archive/thin_choose.h"

#define MST_THIN_MAXIMA 20u   /* of one side at most */

/* The columns of a side in a subject's query: these, then those whose largest values are kept. Rows
 * of the same owner, label and status may stand for each other. */
enum mst_thin_column {
    MST_THIN_ROWID, MST_THIN_OWNER, MST_THIN_TIME, MST_THIN_LABEL, MST_THIN_STATUS, MST_THIN_ORDER,
    MST_THIN_KEEP, MST_THIN_LARGEST
};

struct mst_thin_subject {
    const char *tables[MST_THIN_SIDES];   /* NULL: it has no such side */
    const char *sql;                      /* its :id is to be true */
    int         largest[MST_THIN_SIDES];  /* how many columns */
    bool        by_label;                 /* minutes are those of an owner's label */
    bool        keeps_last;               /* of each minute: counters */
    struct mst_thin_rule rule;
};

extern const struct mst_thin_subject mst_thin_subjects[];
extern const size_t mst_thin_subject_count;

#endif
