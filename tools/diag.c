/* diag.c - the tool's messages: see diag.h. */
#include "diag.h"

#include <getopt.h>
#include <stdarg.h>
#include <stdio.h>
#include <unistd.h>

static bool progress_always;

/* One write a line, so that lines of several processes do not mix. stdout is
 * flushed first: on a terminal a message comes after the results before it. */
__attribute__((format(printf, 2, 0)))
static void say(const char *prefix, const char *format, va_list args)
{
    char line[2048];
    int used, n;

    used = snprintf(line, sizeof line, "mpmstat: %s", prefix);
    n = vsnprintf(line + used, sizeof line - (size_t)used - 1, format, args);
    if (n < 0)
        return;
    used += n;
    if ((size_t)used > sizeof line - 2)
        used = (int)sizeof line - 2;
    line[used++] = '\n';
    fflush(stdout);
    fwrite(line, 1, (size_t)used, stderr);
    fflush(stderr);
}

void mst_error(const char *format, ...)
{
    va_list args;

    va_start(args, format);
    say("", format, args);
    va_end(args);
}

void mst_warn(const char *format, ...)
{
    va_list args;

    va_start(args, format);
    say("warning: ", format, args);
    va_end(args);
}

void mst_progress_enable(bool always)
{
    progress_always = always;
}

void mst_progress(const char *format, ...)
{
    va_list args;

    if (!progress_always && !isatty(STDERR_FILENO))
        return;
    va_start(args, format);
    say("", format, args);
    va_end(args);
}

int mst_usage_error(const char *verb, const char *format, ...)
{
    char problem[512];
    va_list args;

    va_start(args, format);
    vsnprintf(problem, sizeof problem, format, args);
    va_end(args);
    mst_error("%s: %s. See mpmstat %s --help", verb, problem, verb);
    return MST_EXIT_USAGE;
}

int mst_option_error(const char *verb, int option, char *const *argv)
{
    const char *problem = option == ':' ? "wants an argument" : "is no option";
    const char *word = argv[optind > 1 ? optind - 1 : 1];

    if (word[0] == '-' && word[1] == '-')
        return mst_usage_error(verb, "%s %s", word, problem);
    return mst_usage_error(verb, "-%c %s", optopt, problem);
}
