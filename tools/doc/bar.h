/* bar.h - a bar of coloured segments, one behind the other, and the legend of their colours: on
 * pages. The other formats say the same in words, which stand beside them: see doc.h.
 */
#ifndef MPMSTAT_DOC_BAR_H
#define MPMSTAT_DOC_BAR_H

#include <stddef.h>
#include <stdint.h>

#include "doc/doc.h"
#include "doc/quantity.h"

struct mst_doc_segment {
    const char *name, *colour;   /* colour: of charts */
    uint64_t    value;           /* 0: it is not shown */
};

/* A line across the bar. */
struct mst_doc_mark { const char *name; uint64_t at; };

/* Borrows all. */
struct mst_doc_bar {
    const struct mst_doc_segment *segments;
    size_t                        count;
    const struct mst_doc_mark    *marks;
    size_t                        mark_count;
    uint64_t                      whole;      /* the value that fills the width */
    enum mst_quantity             quantity;
};
void mst_doc_bar(const struct mst_doc *doc, const struct mst_doc_bar *bar);

struct mst_doc_key { const char *colour, *name, *noun; };
void mst_doc_legend(const struct mst_doc *doc, const struct mst_doc_key *keys, size_t count);

#endif
