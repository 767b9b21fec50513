/* lines.c - lines of text for a terminal: see lines.h. */
#include "doc/lines.h"

#include <stdarg.h>
#include <stdio.h>
#include <string.h>

#define LINE_MAX_BYTES 1024u

__attribute__((format(printf, 3, 0)))
static void put_line(struct mst_sink *sink, enum mst_style style, const char *format, va_list args)
{
    char text[LINE_MAX_BYTES];
    size_t n;

    vsnprintf(text, sizeof text, format, args);
    for (n = strlen(text); n > 0 && text[n - 1] == ' '; n--)
        text[n - 1] = '\0';
    mst_sink_puts(sink, mst_style_begin(MST_STYLED_RESULTS, style));
    mst_sink_text_string(sink, text, false);
    mst_sink_puts(sink, mst_style_end(MST_STYLED_RESULTS, style));
    mst_sink_char(sink, '\n');
}

void mst_line(struct mst_sink *sink, const char *format, ...)
{
    va_list args;

    va_start(args, format);
    put_line(sink, MST_STYLE_PLAIN, format, args);
    va_end(args);
}

void mst_line_styled(struct mst_sink *sink, enum mst_style style, const char *format, ...)
{
    va_list args;

    va_start(args, format);
    put_line(sink, style, format, args);
    va_end(args);
}

void mst_wrapped(struct mst_sink *sink, const char *first, unsigned indent, unsigned width,
                 const char *text)
{
    mst_wrapped_styled(sink, MST_STYLE_PLAIN, first, indent, width, text);
}

void mst_wrapped_styled(struct mst_sink *sink, enum mst_style style, const char *first,
                        unsigned indent, unsigned width, const char *text)
{
    size_t room = width - indent, n;

    if (text[0] == '\0')
        return;
    for (; strnlen(text, room + 1) > room; text += n + (text[n] == ' ')) {
        for (n = room; n > 0 && text[n] != ' '; n--)
            ;
        if (n == 0)
            n = room;
        mst_line_styled(sink, style, "%-*s%.*s", (int)indent, first, (int)n, text);
        first = "";
    }
    mst_line_styled(sink, style, "%-*s%s", (int)indent, first, text);
}
