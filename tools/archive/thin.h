/* thin.h - a thinned copy of an archive: what is left of it takes a fraction of the bytes.
 *
 * Of each minute, server and label it has the requests that failed, the slowest ones and those
 * with the server's largest value of any phase or part; of the rest a sample, of which each row
 * says how many it stands for (weight). Counts by minute, label and status stay exact. A request
 * of an Apache's and the one of PHP's that belongs to it stay together. Of the samples, each
 * minute's largest values and last counters stay.
 */
#ifndef MPMSTAT_ARCHIVE_THIN_H
#define MPMSTAT_ARCHIVE_THIN_H

#include <signal.h>

#include "archive/archive.h"

/* Writes the thinned copy of the archive `from` to the file `to`, which is not there; it is the
 * caller's to remove unless 1 is returned. *stop: not 0, and it gives up. Returns 1, or 0 where the
 * archive is not to be thinned: it is already, or it is not a single part of a long recording that
 * has ended; -1 with a sentence. */
int mst_archive_thin(const char *from, const char *to, const volatile sig_atomic_t *stop,
                     char error[MST_ERROR_MAX]);

#endif
