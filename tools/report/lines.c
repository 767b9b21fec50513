/* lines.c - lines of text for a terminal: see lines.h. */
#include "report/lines.h"

#include <stdarg.h>
#include <stdio.h>
#include <string.h>

#define LINE_MAX_BYTES 1024u

void mst_line(struct mst_sink *sink, const char *format, ...)
{
    char text[LINE_MAX_BYTES];
    va_list args;
    size_t n;

    va_start(args, format);
    vsnprintf(text, sizeof text, format, args);
    va_end(args);
    for (n = strlen(text); n > 0 && text[n - 1] == ' '; n--)
        text[n - 1] = '\0';
    mst_sink_text_string(sink, text, false);
    mst_sink_char(sink, '\n');
}

void mst_wrapped(struct mst_sink *sink, const char *first, unsigned indent, unsigned width,
                 const char *text)
{
    size_t room = width - indent, n;

    if (text[0] == '\0')
        return;
    for (; strnlen(text, room + 1) > room; text += n + (text[n] == ' ')) {
        for (n = room; n > 0 && text[n] != ' '; n--)
            ;
        if (n == 0)
            n = room;
        mst_line(sink, "%-*s%.*s", (int)indent, first, (int)n, text);
        first = "";
    }
    mst_line(sink, "%-*s%s", (int)indent, first, text);
}
