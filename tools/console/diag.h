/* diag.h - what the tool says besides its results: to stderr, as sentences.
 *
 * Results go to stdout, everything else through here, each line beginning with
 * "mpmstat: ". Also the exit codes, which are documented and do not change.
 */
#ifndef MPMSTAT_DIAG_H
#define MPMSTAT_DIAG_H

#include <getopt.h>
#include <stdbool.h>
#include <stddef.h>

enum mst_exit {
    MST_EXIT_OK          = 0,
    MST_EXIT_BAD         = 1,     /* the answer is bad: the load tool failed, a check failed */
    MST_EXIT_USAGE       = 2,     /* the command line is wrong */
    MST_EXIT_TARGET      = 3,     /* a target cannot be read */
    MST_EXIT_OUTPUT      = 4,     /* stdout or the archive cannot be written */
    MST_EXIT_INTERRUPTED = 130    /* SIGINT, SIGTERM */
};

void mst_error(const char *format, ...) __attribute__((format(printf, 1, 2)));
void mst_warn(const char *format, ...) __attribute__((format(printf, 1, 2)));

/* mst_error(); returns the status. */
int mst_failed(enum mst_exit exit_status, const char *format, ...)
    __attribute__((format(printf, 2, 3)));

/* What is going on, for a person that waits: shown only where stderr is a
 * terminal or mst_progress_enable(true) was called. A whole line each. */
void mst_progress(const char *format, ...) __attribute__((format(printf, 1, 2)));
void mst_progress_enable(bool always);
/* What is worth a line and no more: it is kept until the end, where mst_diag_end() says it. A later
 * one takes its place. */
void mst_say_last(const char *format, ...) __attribute__((format(printf, 1, 2)));
void mst_diag_end(void);
/* One of these two, for what is told by a callback. */
void mst_tell(bool is_warning, const char *sentence);

/* Lines of another program, as they are but for what a terminal would obey; changes them. */
void mst_diag_lines(char *text);

/* Neither progress nor warnings, until told otherwise: for a caller that runs the same code
 * many times, and shows them elsewhere. */
void mst_diag_quiet(bool quiet);

/* Keeps the first error from now on, of any thread, in the buffer too, which is "" before. NULL: no
 * longer. */
void mst_error_keep(char *buffer, size_t size);

/* A line at the terminal's end that is redrawn each time; messages come above it. NULL
 * takes it away. Nothing where stderr is not a terminal. A terminal that takes nothing now (^S, a
 * slow line) keeps the line that it has, and is waited for only by NULL. */
void mst_status_line(const char *text);
/* How many columns of it are shown. */
size_t mst_status_room(void);

/* "mpmstat VERB: problem. See mpmstat VERB --help." Returns MST_EXIT_USAGE. */
int mst_usage_error(const char *verb, const char *format, ...)
    __attribute__((format(printf, 2, 3)));

/* The same for what getopt_long did not understand: `option` is what it
 * returned, ':' (no argument; its option string begins with ':') or '?'; `options`
 * are its own, of which the nearest is named. */
int mst_option_error(const char *verb, int option, char *const *argv,
                     const struct option *options);

#endif
