/* target_file.h - targets from a file, and tokens from files of their own: for target.c.
 *
 * A line of the file is `[NAME=]TARGET [token-file=FILE] [ca-file=FILE]`. Empty lines, and what
 * follows a # at the beginning of a word, are comments. Words have no blanks in them.
 */
#ifndef MPMSTAT_TARGET_FILE_H
#define MPMSTAT_TARGET_FILE_H

#include "base/error.h"

struct mst_target_line {
    char        name[64];                /* ""; else letters, digits and - _ . */
    const char *target;
    const char *token_file, *ca_file;    /* NULL: the line names none */
};

/* Takes a line; valid during the call only. Not negative, or -1 with a sentence. */
typedef int mst_take_target_line(void *context, const struct mst_target_line *line,
                                 char error[MST_ERROR_MAX]);

/* Gives each line that names a target. 0; -1 with a sentence that names the line. */
int mst_target_file_read(const char *path, mst_take_target_line *take, void *context,
                         char error[MST_ERROR_MAX]);

/* The token in the first line of a file. NULL with a sentence. Free it. */
char *mst_token_read(const char *path, char error[MST_ERROR_MAX]);

#endif
