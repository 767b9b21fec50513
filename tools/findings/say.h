/* say.h - puts a sentence into a member that is an array: for sentences*.c and advice.c. */
#ifndef MPMSTAT_SAY_H
#define MPMSTAT_SAY_H

#include <stdarg.h>
#include <stdio.h>
#include <string.h>

__attribute__((format(printf, 3, 4)))
static inline void mst_say(char *text, size_t size, const char *format, ...)
{
    va_list args;

    va_start(args, format);
    vsnprintf(text, size, format, args);
    va_end(args);
}

#define MST_SAY(member, ...)  mst_say((member), sizeof (member), __VA_ARGS__)

/* Adds a sentence behind the text where all of it fits: half a sentence can say the contrary. */
__attribute__((format(printf, 3, 4)))
static inline void mst_say_more(char *text, size_t size, const char *format, ...)
{
    size_t used = strlen(text);
    va_list args;
    int length;

    va_start(args, format);
    length = vsnprintf(text + used, size - used, format, args);
    va_end(args);
    if (length < 0 || (size_t)length >= size - used)
        text[used] = '\0';
}

/* Members of a finding. */
#define MST_TEXT(f, ...)      MST_SAY((f)->text, __VA_ARGS__)
#define MST_MORE(f, ...)      mst_say_more((f)->text, sizeof (f)->text, __VA_ARGS__)
#define MST_ACTION(f, ...)    MST_SAY((f)->action, __VA_ARGS__)
#define MST_PREDICTED(f, ...) MST_SAY((f)->predicted, __VA_ARGS__)

#endif
