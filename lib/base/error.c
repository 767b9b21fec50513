/* error.c - sentences about what went wrong: see error.h. */
#include "base/error.h"

#include <stdarg.h>
#include <stdio.h>

int mst_fail(char error[MST_ERROR_MAX], const char *format, ...)
{
    va_list arguments;

    va_start(arguments, format);
    vsnprintf(error, MST_ERROR_MAX, format, arguments);
    va_end(arguments);
    return -1;
}

void mst_printable(char *out, size_t room, const char *bytes, size_t length)
{
    size_t i;

    if (room == 0)
        return;
    for (i = 0; i < length && i + 1 < room; i++) {
        unsigned char c = (unsigned char)bytes[i];

        if (c == '\n' || c == '\r' || c == '\0')
            break;
        out[i] = c < ' ' || c > '~' ? '?' : (char)c;
    }
    out[i] = '\0';
}
