/* nearest.h - the word that a user may have meant. */
#ifndef MPMSTAT_NEAREST_H
#define MPMSTAT_NEAREST_H

/* The number of letters to add, drop or change to get from a to b. */
unsigned mst_edit_distance(const char *a, const char *b);

/* More changes than this are no slip of the finger. */
#define MST_SLIP_MAX 2u

#endif
