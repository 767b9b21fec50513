/* exemplars.h - single requests of a board's journal, as examples of what its histograms count. */
#ifndef MPMSTAT_EXEMPLARS_H
#define MPMSTAT_EXEMPLARS_H

#include "read/copy.h"

#define MST_EXEMPLARS_MAX 1024u   /* the latest requests: 200 KB of the journal */

struct mst_exemplar {
    uint64_t    id;           /* the request's, as in the journal */
    uint64_t    end_ns;       /* when its response was complete: ns since 1970 */
    const char *label;
    uint64_t    phase_ns[MST_PHASE_COUNT];   /* MST_UNKNOWN: it has no such phase */
};

struct mst_exemplars {
    size_t               count;
    struct mst_exemplar *items;   /* the latest ones last; NULL: none */
};

/* Reads them from the journal of the copied board, whose reader must be open. names: the labels',
 * by index, borrowed. What cannot be read is left out. Free with mst_exemplars_free(). */
void mst_exemplars_read(struct mst_exemplars *e, const struct mst_copy *copy,
                        const char *const *names);
void mst_exemplars_free(struct mst_exemplars *e);

#endif
