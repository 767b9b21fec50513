/* number.h - numbers as users write them. */
#ifndef MPMSTAT_NUMBER_H
#define MPMSTAT_NUMBER_H

#include "base/error.h"

/* The number that is all of a text, without a sign; NAN: it is none. */
double mst_number_read(const char *text);

/* A rate per second from 0.001 to `most`, "400/s" or "400", of an option without its dashes.
 * Returns 0, or -1 with a sentence without its end. */
int mst_rate_read(double *rate, const char *option, const char *text, double most,
                  char error[MST_ERROR_MAX]);

#endif
