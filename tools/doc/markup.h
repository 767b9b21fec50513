/* markup.h - HTML and Markdown by templates that escape.
 *
 * A template is written as it is; what its conversions fill in is text and is escaped, so that
 * no argument can become markup:
 *
 *     mst_html(sink, "<a href=\"#run-%zu\">%s</a>\n", i + 1, title);
 *
 * The conversions are %s (NULL is nothing), %u, %zu, PRIu64, PRId64 and %%: no flags, no width,
 * no precision.
 */
#ifndef MPMSTAT_MARKUP_H
#define MPMSTAT_MARKUP_H

#include "render/sink.h"

void mst_html(struct mst_sink *sink, const char *template, ...)
    __attribute__((format(printf, 2, 3)));

/* GitHub's Markdown: what is filled in is one line, and can be in a cell of a table. */
void mst_markdown(struct mst_sink *sink, const char *template, ...)
    __attribute__((format(printf, 2, 3)));

#endif
