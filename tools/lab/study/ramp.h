/* ramp.h - a load that arrives at a rate, whether the server answers or not: which program
 * makes it here, and how it is told.
 *
 * k6 where it is installed, else Debian's tsung, whose users arrive by chance (a Poisson
 * process) at a rate that rises every second; oha before tsung for a rate that stays, for it
 * knows no other. (Debian's httperf holds one rate too, but says nothing of single requests.)
 */
#ifndef MPMSTAT_LAB_RAMP_H
#define MPMSTAT_LAB_RAMP_H

#include <stdbool.h>

#include "base/error.h"
#include "memory/pool.h"

struct mst_ramp_options {
    const char *from, *to;     /* requests a second */
    const char *over;          /* seconds */
    const char *url;           /* http://ADDRESS:PORT/PATH */
    const char *directory;     /* for the program's files: empty, and its HOME */
};

struct mst_ramp {
    struct mst_list argv;           /* the command */
    struct mst_list variables;      /* its environment's, besides mpmstat's own */
};

/* The program that would be taken; NULL where none is installed. */
const char *mst_ramp_program(bool rises);

/* Writes the program's files. 0, or -1 with a sentence. */
int mst_ramp_make(apr_pool_t *pool, struct mst_ramp *ramp, const struct mst_ramp_options *options,
                  char error[MST_ERROR_MAX]);

#endif
