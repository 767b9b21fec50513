/* html.h - the elements of pages that tables and other blocks have: see doc.h.
 *
 * A number is a <data> element: its text is for people, its value for programs.
 */
#ifndef MPMSTAT_DOC_HTML_H
#define MPMSTAT_DOC_HTML_H

#include <stddef.h>

#include "doc/quantity.h"

/* The value for programs, and as people read it; "not known". */
void mst_page_number(struct mst_sink *sink, enum mst_quantity unit, uint64_t value);
void mst_page_cell(struct mst_sink *sink, enum mst_quantity unit, uint64_t value);

/* Begins a table that scrolls by itself where it is too wide; its name is for screen readers.
 * MST_PAGE_TABLE_END ends it. */
void mst_page_table(struct mst_sink *sink, const char *name, const char *class);
#define MST_PAGE_TABLE_END "</tbody></table></div>\n"

/* The row of that table that names the next rows' group, over `columns` columns of values. */
void mst_page_group(struct mst_sink *sink, const char *group, size_t columns);

#endif
