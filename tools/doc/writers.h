/* writers.h - how each format writes a table: for table.c alone. */
#ifndef MPMSTAT_DOC_WRITERS_H
#define MPMSTAT_DOC_WRITERS_H

#include "doc/table.h"

static inline bool mst_doc_is_shown(const struct mst_doc_table *t, size_t column)
{
    return column >= 32 || (t->hidden & 1u << column) == 0;
}

static inline const struct mst_doc_cell *mst_doc_cell(const struct mst_doc_table *t, size_t line,
                                                      size_t column)
{
    return &t->cells[line * t->width + column];
}

/* Whether a column has a name. */
static inline bool mst_doc_has_head(const struct mst_doc_table *t)
{
    size_t i;

    for (i = 0; i < t->width; i++)
        if (t->columns[i].name[0] != '\0')
            return true;
    return false;
}

void mst_doc_table_text(const struct mst_doc *doc, const struct mst_doc_table *t);
void mst_doc_table_html(const struct mst_doc *doc, const struct mst_doc_table *t, const char *name,
                        const char *class);
void mst_doc_table_markdown(const struct mst_doc *doc, const struct mst_doc_table *t);

#endif
