/* items.h - a subject and what is said of it, in lines of at most 80 columns. */
#ifndef MPMSTAT_ITEMS_H
#define MPMSTAT_ITEMS_H

#include <stdbool.h>
#include <stddef.h>

#include "render/sink.h"

#define MST_NAME_COLUMNS 48u   /* of a name, which comes from a board */

/* What is said of one subject: items with commas between them. What does not fit is dropped.
 * Zeroed: nothing yet. */
struct mst_items { char text[2048]; size_t used; };

/* A name in printable characters, as text has it; a long one ends with "...". */
struct mst_item_name { char text[4 * MST_NAME_COLUMNS + 4]; size_t used; bool cut; };

/* Adds an item. */
void mst_items_add(struct mst_items *items, const char *format, ...)
    __attribute__((format(printf, 2, 3)));

/* Continues the last item. */
void mst_items_more(struct mst_items *items, const char *format, ...)
    __attribute__((format(printf, 2, 3)));

struct mst_item_name mst_items_name(const char *string);

/* Writes the lines: the subject before the first. A line ends after an item, or within one that is
 * longer than a line. Names in it are printable already: it is not escaped again. */
void mst_items_put(struct mst_sink *sink, const char *subject, const struct mst_items *items);

#endif
