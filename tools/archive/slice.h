/* slice.h - what archives have of a time, as an archive of its own in memory.
 *
 * The archives of one recording that follow each other make one run of it. What is known of a whole
 * recording only is left out where a run is cut, and its notes say so: the CPU time of servers and
 * programs, the totals of other ends, the results of the load tool.
 */
#ifndef MPMSTAT_ARCHIVE_SLICE_H
#define MPMSTAT_ARCHIVE_SLICE_H

#include <stddef.h>
#include <stdint.h>

#include "archive/archive.h"

/* Requests that ended, and samples that were taken, from from_ns on and before to_ns (nanoseconds
 * since 1970); of a thinned archive that would be cut within a minute, the whole minute. The
 * archives are only read, and are not needed afterwards. NULL with a sentence,
 * also where nothing was recorded then. */
struct mst_archive *mst_archive_slice(struct mst_archive *const *archives, size_t count,
                                      uint64_t from_ns, uint64_t to_ns,
                                      char error[MST_ERROR_MAX]);

#endif
