/* text_options.h - options of the verbs that print something: the format, and how text looks. Each
 * function reads an option's argument, and returns an enum mst_exit.
 */
#ifndef MPMSTAT_TEXT_OPTIONS_H
#define MPMSTAT_TEXT_OPTIONS_H

#include <stddef.h>

#include "console/style.h"

/* --format: which of the names it is, NULL behind the last one. */
int mst_output_format_read(size_t *nth, const char *verb, const char *const *names,
                           const char *argument);

/* --percentiles "50,95,99.9": a set as mst_report_text() takes it. */
int mst_percentiles_read(unsigned *percentiles, const char *verb, const char *argument);

/* --color "auto", "always", "never". */
int mst_colour_read(enum mst_colour *colour, const char *verb, const char *argument);

#endif
