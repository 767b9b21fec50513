/* nearest.h - the word that a user may have meant. */
#ifndef MPMSTAT_NEAREST_H
#define MPMSTAT_NEAREST_H

#include <getopt.h>

/* The number of letters to add, drop or change to get from a to b. */
unsigned mst_edit_distance(const char *a, const char *b);

/* More changes than this are not a slip of the finger. */
#define MST_SLIP_MAX 2u

/* The name of the long option that the word "--NAME" or "--NAME=VALUE" was meant to be; NULL: none
 * is near. The options end with one that is all zero. */
const char *mst_nearest_option(const struct option *options, const char *word);

#endif
