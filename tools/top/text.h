/* text.h - one line of a terminal, in columns. Whatever comes from a board or a URL is made
 * harmless here: each control, each byte that is not a character of the locale, and each character
 * that has no width of its own becomes a '?'.
 */
#ifndef MPMSTAT_TOP_TEXT_H
#define MPMSTAT_TOP_TEXT_H

#include <stdbool.h>

#define MST_TOP_COLUMNS_MAX 320u    /* of a terminal; wider ones stay empty at the right */
#define MST_TOP_BYTES_MAX   (4u * MST_TOP_COLUMNS_MAX + 1)   /* a character has at most 4 */

enum mst_top_look { MST_TOP_PLAIN, MST_TOP_TITLE, MST_TOP_HEADING, MST_TOP_FAINT, MST_TOP_ALARM };

struct mst_top_line {
    enum mst_top_look look;
    unsigned          width;        /* columns that it can have */
    unsigned          columns;      /* that it has */
    unsigned          bytes;
    char              text[MST_TOP_BYTES_MAX];   /* ends with a NUL */
};

void mst_top_line_begin(struct mst_top_line *line, unsigned width, enum mst_top_look look);

/* Adds text, cut to so many columns; is_padded: with spaces up to them. NULL: "". */
void mst_top_add_text(struct mst_top_line *line, const char *text, unsigned columns,
                      bool is_padded);

/* Adds what printf would, cut to the line. */
void mst_top_add(struct mst_top_line *line, const char *format, ...)
    __attribute__((format(printf, 2, 3)));

/* Puts text at the right end; what stands there is cut off. */
void mst_top_add_right(struct mst_top_line *line, const char *text);

#endif
