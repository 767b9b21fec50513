/* journal_line.h - a record of the journal as a line of JSON: for journal.c. */
#ifndef MPMSTAT_JOURNAL_LINE_H
#define MPMSTAT_JOURNAL_LINE_H

#include "read/tail.h"
#include "render/json_writer.h"

struct mst_journal_record {
    uint64_t          ticket;
    union mst_payload payload;
};

#define MST_NAMES_KEPT 48u

/* A cache of names, each at its index modulo MST_NAMES_KEPT. All zero: empty. */
struct mst_name_cache {
    uint64_t index[MST_NAMES_KEPT];
    struct mst_kept_name {
        uint64_t used;                      /* as in struct mst_name */
        char     name[MST_PATH_NAME_MAX];   /* labels and ends have MST_NAME_MAX */
    } names[MST_NAMES_KEPT];
};

/* The names of labels, of other ends and of paths. */
struct mst_journal_names { struct mst_name_cache labels, ends, paths; };

/* Writes a record of the ring `section` as a line. Returns 0; or -1 with a sentence, and writes
 * nothing, where a name that it refers to cannot be read. */
int mst_journal_line(struct mst_json *j, const struct mst_reader *reader,
                     enum mst_section_id section, const struct mst_journal_record *record,
                     struct mst_journal_names *names, char error[MST_ERROR_MAX]);

#endif
