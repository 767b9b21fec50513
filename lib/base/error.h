/* error.h - a sentence that says what went wrong in the world: what was expected, what was
 * found, what to do.
 */
#ifndef MPMSTAT_ERROR_H
#define MPMSTAT_ERROR_H

#define MST_ERROR_MAX 1024u   /* bytes of an error sentence, with its NUL: a path fits in */

/* Writes the sentence into error, cut where it is too long. Returns -1. */
int mst_fail(char error[MST_ERROR_MAX], const char *format, ...)
    __attribute__((format(printf, 2, 3)));

#endif
