/* text.c - one line of a terminal: see text.h. */
#include "top/text.h"

#include <stdarg.h>
#include <stdio.h>
#include <string.h>
#include <wchar.h>

#define BYTES_OF_CHARACTER 4u   /* at most, in the encodings that are in use */

void mst_top_line_begin(struct mst_top_line *line, unsigned width, enum mst_top_look look)
{
    line->look = look;
    line->width = width < MST_TOP_COLUMNS_MAX ? width : MST_TOP_COLUMNS_MAX;
    line->columns = line->bytes = 0;
    line->text[0] = '\0';
}

/* The next character: its bytes, and the columns that it takes; 0 columns: it is not shown as it
 * is. */
static size_t next_character(const char *text, unsigned *columns)
{
    mbstate_t state = { 0 };
    wchar_t wide;
    size_t length;
    int width;

    *columns = 0;
    length = mbrtowc(&wide, text, strnlen(text, BYTES_OF_CHARACTER), &state);
    if (length == 0 || length > BYTES_OF_CHARACTER)
        return 1;
    width = wcwidth(wide);
    if (width > 0)
        *columns = (unsigned)width;
    return length;
}

static void put(struct mst_top_line *line, const char *bytes, size_t length, unsigned columns)
{
    memcpy(line->text + line->bytes, bytes, length);
    line->bytes += (unsigned)length;
    line->columns += columns;
}

void mst_top_add_text(struct mst_top_line *line, const char *text, unsigned columns,
                      bool is_padded)
{
    unsigned end = columns < line->width - line->columns ? line->columns + columns : line->width;
    unsigned width;
    size_t length;

    for (text = text != NULL ? text : ""; *text != '\0'; text += length) {
        length = next_character(text, &width);
        if (line->columns + (width > 0 ? width : 1) > end)
            break;
        if (width > 0)
            put(line, text, length, width);
        else
            put(line, "?", 1, 1);
    }
    while (is_padded && line->columns < end)
        put(line, " ", 1, 1);
    line->text[line->bytes] = '\0';
}

void mst_top_add(struct mst_top_line *line, const char *format, ...)
{
    char text[MST_TOP_BYTES_MAX];
    va_list arguments;

    va_start(arguments, format);
    vsnprintf(text, sizeof text, format, arguments);
    va_end(arguments);
    mst_top_add_text(line, text, line->width, false);
}

/* Takes away what is beyond so many columns. */
static void cut(struct mst_top_line *line, unsigned columns)
{
    unsigned at = 0, seen = 0, width;
    size_t length;

    while (at < line->bytes) {
        length = next_character(line->text + at, &width);
        if (seen + width > columns)
            break;
        seen += width;
        at += (unsigned)length;
    }
    line->text[at] = '\0';
    line->bytes = at;
    line->columns = seen;
}

void mst_top_add_right(struct mst_top_line *line, const char *text)
{
    struct mst_top_line right;
    unsigned from;

    mst_top_line_begin(&right, line->width, line->look);
    mst_top_add_text(&right, text, line->width, false);
    from = line->width - right.columns;
    cut(line, from);
    mst_top_add_text(line, "", from - line->columns, true);
    mst_top_add_text(line, right.text, line->width, false);
}
