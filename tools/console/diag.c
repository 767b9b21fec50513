/* diag.c - the tool's messages: see diag.h. */
#include "console/diag.h"

#include <getopt.h>
#include <poll.h>
#include <pthread.h>
#include <stdarg.h>
#include <stdio.h>
#include <string.h>
#include <sys/ioctl.h>
#include <unistd.h>

#include "console/nearest.h"
#include "console/style.h"
#include "render/sink.h"

#define ERASE_LINE "\r\033[K"
#define STATUS_MAX 400
#define MESSAGE_MAX 2048u

static bool progress_always, be_quiet;
static char status[STATUS_MAX];   /* the line at the terminal's end; "" none */

static pthread_mutex_t kept_lock = PTHREAD_MUTEX_INITIALIZER;   /* of these two: */
static char  *kept;               /* the first error goes here; NULL: nowhere */
static size_t kept_size;

static char last_words[MESSAGE_MAX];

static void draw_status(void)
{
    if (status[0] != '\0')
        fputs(status, stderr);
}

#define INDENT      "  "    /* of each line of a message but its first */

/* Names in a message come from archives and servers: a terminal obeys none of them, and no line
 * in them begins as one of ours does. Writes what is to be shown, with a newline at its end, and
 * returns its length. The first `lead` bytes of the message have the style. */
static size_t compose(char out[MESSAGE_MAX], char *message, size_t lead, enum mst_style style)
{
    size_t used;

    mst_tame(message, strlen(message));
    used = (size_t)snprintf(out, MESSAGE_MAX, "%s%.*s%s",
                            mst_style_begin(MST_STYLED_MESSAGES, style), (int)lead, message,
                            mst_style_end(MST_STYLED_MESSAGES, style));
    for (message += lead; *message != '\0' && used < MESSAGE_MAX - sizeof INDENT - 1; message++) {
        out[used++] = *message;
        if (*message == '\n' && message[1] != '\0') {
            memcpy(out + used, INDENT, sizeof INDENT - 1);
            used += sizeof INDENT - 1;
        }
    }
    if (out[used - 1] != '\n')
        out[used++] = '\n';
    return used;
}

/* One write a message, so that those of several processes do not mix. stdout is
 * flushed first: on a terminal a message comes after the results before it. */
__attribute__((format(printf, 3, 0)))
static void say(const char *lead, enum mst_style style, const char *format, va_list args)
{
    char message[MESSAGE_MAX], out[MESSAGE_MAX];
    int used = snprintf(message, sizeof message, "%s ", lead);

    if (vsnprintf(message + used, sizeof message - (size_t)used, format, args) < 0)
        return;
    fflush(stdout);
    if (status[0] != '\0')
        fputs(ERASE_LINE, stderr);
    fwrite(out, 1, compose(out, message, strlen(lead), style), stderr);
    draw_status();
    fflush(stderr);
}

__attribute__((format(printf, 1, 0)))
static void say_error(const char *format, va_list args)
{
    va_list again;

    va_copy(again, args);
    pthread_mutex_lock(&kept_lock);
    if (kept != NULL && kept[0] == '\0')
        vsnprintf(kept, kept_size, format, again);
    pthread_mutex_unlock(&kept_lock);
    va_end(again);
    say("mpmstat:", MST_STYLE_ERROR, format, args);
}

void mst_error(const char *format, ...)
{
    va_list args;

    va_start(args, format);
    say_error(format, args);
    va_end(args);
}

int mst_failed(enum mst_exit exit_status, const char *format, ...)
{
    va_list args;

    va_start(args, format);
    say_error(format, args);
    va_end(args);
    return exit_status;
}

void mst_error_keep(char *buffer, size_t size)
{
    pthread_mutex_lock(&kept_lock);
    kept = buffer;
    kept_size = size;
    pthread_mutex_unlock(&kept_lock);
}

void mst_warn(const char *format, ...)
{
    va_list args;

    if (be_quiet)
        return;
    va_start(args, format);
    say("mpmstat: warning:", MST_STYLE_WARNING, format, args);
    va_end(args);
}

void mst_progress_enable(bool always)
{
    progress_always = always;
}

void mst_progress(const char *format, ...)
{
    va_list args;

    if (be_quiet || (!progress_always && !isatty(STDERR_FILENO)))
        return;
    va_start(args, format);
    say("mpmstat:", MST_STYLE_PLAIN, format, args);
    va_end(args);
}

void mst_say_last(const char *format, ...)
{
    va_list args;

    va_start(args, format);
    vsnprintf(last_words, sizeof last_words, format, args);
    va_end(args);
}

__attribute__((format(printf, 2, 3)))
static void say_plain(const char *lead, const char *format, ...)
{
    va_list args;

    va_start(args, format);
    say(lead, MST_STYLE_PLAIN, format, args);
    va_end(args);
}

void mst_diag_end(void)
{
    if (last_words[0] != '\0' && !be_quiet)
        say_plain("mpmstat:", "%s", last_words);
    last_words[0] = '\0';
}

void mst_tell(bool is_warning, const char *sentence)
{
    (is_warning ? mst_warn : mst_progress)("%s", sentence);
}

void mst_diag_quiet(bool quiet)
{
    be_quiet = quiet;
}

/* No longer than the terminal is wide: a longer one could not be erased. */
size_t mst_status_room(void)
{
    struct winsize size;
    size_t room = ioctl(STDERR_FILENO, TIOCGWINSZ, &size) == 0 && size.ws_col > 1 ?
                  size.ws_col - 1u : 79;

    return room < STATUS_MAX - 1 ? room : STATUS_MAX - 1;
}

static bool terminal_takes_more(void)
{
    struct pollfd fd = { STDERR_FILENO, POLLOUT, 0 };

    return poll(&fd, 1, 0) == 1 && (fd.revents & POLLOUT) != 0;
}

void mst_status_line(const char *text)
{
    bool was = status[0] != '\0';
    char *end;

    if (!isatty(STDERR_FILENO) || (text != NULL && !terminal_takes_more()))
        return;
    status[0] = '\0';
    if (text != NULL)
        snprintf(status, sizeof status, "%.*s", (int)mst_status_room(), text);
    mst_tame(status, strlen(status));
    for (end = status; (end = strchr(end, '\n')) != NULL; end++)
        *end = ' ';
    if (was || status[0] != '\0')
        fputs(ERASE_LINE, stderr);
    draw_status();
    fflush(stderr);
}

void mst_diag_lines(char *text)
{
    mst_tame(text, strlen(text));
    fputs(text, stderr);
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

int mst_option_error(const char *verb, int option, char *const *argv,
                     const struct option *options)
{
    const char *problem = option == ':' ? "wants an argument" : "is not an option";
    const char *word = argv[optind > 1 ? optind - 1 : 1];
    const char *nearest = option == ':' ? NULL : mst_nearest_option(options, word);

    if (nearest != NULL)
        return mst_usage_error(verb, "%s %s; the nearest is --%s", word, problem, nearest);
    if (word[0] == '-' && word[1] == '-')
        return mst_usage_error(verb, "%s %s", word, problem);
    return mst_usage_error(verb, "-%c %s", optopt, problem);
}
