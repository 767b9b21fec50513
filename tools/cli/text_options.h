/* text_options.h - options of the verbs that print text: how it looks. Each function reads an
 * option's argument, and returns an enum mst_exit.
 */
#ifndef MPMSTAT_TEXT_OPTIONS_H
#define MPMSTAT_TEXT_OPTIONS_H

#include "console/style.h"

/* --percentiles "50,95,99.9": a set as mst_report_text() takes it. */
int mst_percentiles_read(unsigned *percentiles, const char *verb, const char *argument);

/* --color "auto", "always", "never". */
int mst_colour_read(enum mst_colour *colour, const char *verb, const char *argument);

#endif
