/* lines.h - lines of text for a terminal. What is in them may come from boards and archives: it is
 * escaped as text. */
#ifndef MPMSTAT_LINES_H
#define MPMSTAT_LINES_H

#include "console/style.h"
#include "render/sink.h"

/* A line of at most 1023 bytes, without blanks at its end, and the newline. */
void mst_line(struct mst_sink *sink, const char *format, ...)
    __attribute__((format(printf, 2, 3)));

/* The same in a style. */
void mst_line_styled(struct mst_sink *sink, enum mst_style style, const char *format, ...)
    __attribute__((format(printf, 3, 4)));

/* Columns of a text: where lines wrap, where the text behind a name begins. */
#define MST_TEXT_WIDTH  96u
#define MST_TEXT_INDENT 12u

/* A sentence in lines of at most `width` columns: `first`, no longer than `indent`, stands
 * before the first line, and all are indented by `indent`. An empty sentence is not a line. */
void mst_wrapped(struct mst_sink *sink, const char *first, unsigned indent, unsigned width,
                 const char *text);
void mst_wrapped_styled(struct mst_sink *sink, enum mst_style style, const char *first,
                        unsigned indent, unsigned width, const char *text);

#endif
