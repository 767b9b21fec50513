/* error.h - a sentence that says what went wrong in the world: what was expected, what was
 * found, what to do.
 */
#ifndef MPMSTAT_ERROR_H
#define MPMSTAT_ERROR_H

#include <stddef.h>

#define MST_ERROR_MAX 1024u   /* bytes of an error sentence, with its NUL: a path fits in */

/* Writes the sentence into error, cut where it is too long. Returns -1. */
int mst_fail(char error[MST_ERROR_MAX], const char *format, ...)
    __attribute__((format(printf, 2, 3)));

/* Copies what another program has sent to where a person reads it: the first
 * line, cut to `room`, with every control and non-ASCII byte as '?'. */
void mst_printable(char *out, size_t room, const char *bytes, size_t length);

#endif
