/* say.h - puts a sentence into a member of a finding: for sentences*.c. */
#ifndef MPMSTAT_SAY_H
#define MPMSTAT_SAY_H

#include <stdarg.h>
#include <stdio.h>

__attribute__((format(printf, 3, 4)))
static inline void mst_say(char *text, size_t size, const char *format, ...)
{
    va_list args;

    va_start(args, format);
    vsnprintf(text, size, format, args);
    va_end(args);
}

#define MST_TEXT(f, ...)      mst_say((f)->text, sizeof (f)->text, __VA_ARGS__)
#define MST_ACTION(f, ...)    mst_say((f)->action, sizeof (f)->action, __VA_ARGS__)
#define MST_PREDICTED(f, ...) mst_say((f)->predicted, sizeof (f)->predicted, __VA_ARGS__)

#endif
