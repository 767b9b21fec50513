/* journal_line.h - a record of the journal as a line of JSON: for journal.c. */
#ifndef MPMSTAT_JOURNAL_LINE_H
#define MPMSTAT_JOURNAL_LINE_H

#include "read/tail.h"
#include "render/json_writer.h"

struct mst_journal_record {
    uint64_t          ticket;
    union mst_payload payload;
};

#define MST_LABELS_KEPT 64u

/* A cache of labels, each at its index modulo MST_LABELS_KEPT. All zero: empty. */
struct mst_label_cache {
    uint64_t              index[MST_LABELS_KEPT];
    struct mst_name labels[MST_LABELS_KEPT];
};

/* The time of all phases of a request, but for those in no sum (held, front). */
uint64_t mst_request_total_ns(const struct mst_request *request);

/* Writes a record of the ring `section` as a line. Returns 0; or -1 with a sentence, and writes
 * nothing, where the name of its label cannot be read. */
int mst_journal_line(struct mst_json *j, const struct mst_reader *reader,
                     enum mst_section_id section, const struct mst_journal_record *record,
                     struct mst_label_cache *labels, char error[MST_ERROR_MAX]);

#endif
