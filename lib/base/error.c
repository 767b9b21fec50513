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
