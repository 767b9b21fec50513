/* rotation.h - a recording without an end: a directory of archives, one for each period, of which
 * the oldest are removed.
 *
 * An archive's name is mpmstat-YYYYMMDDTHHMMSSZ.db: when it begins (UTC). The second of the same
 * second ends in Z02.db, so that names sort by time. Other files of the directory are never
 * touched.
 */
#ifndef MPMSTAT_ROTATION_H
#define MPMSTAT_ROTATION_H

#include <signal.h>
#include <stdbool.h>
#include <stdint.h>

#include "base/error.h"

/* Nothing of it is owned. 0: no such bound. */
struct mst_rotation {
    const char *directory;
    uint64_t    period_ns;       /* archives end at multiples of it since 1970 */
    uint64_t    size_bytes;      /* an archive ends where it has so many */
    uint64_t    keep_ns;         /* archives that ended so long ago are removed */
    uint64_t    keep_bytes;      /* all archives together; at least mst_rotation_kept() times
                                  * size_bytes, which then is not 0 */
    uint64_t    thin_ns;         /* archives that ended so long ago are thinned */
};

/* How many archives of full size must have room, so that the bound holds at any moment. */
unsigned mst_rotation_kept(const struct mst_rotation *r);

/* Keeps the directory for this recording until the descriptor is closed, which is returned, and
 * removes what a thinning that was killed has left. -1 with a sentence. */
int mst_rotation_begin(const struct mst_rotation *r, char error[MST_ERROR_MAX]);

/* The path of a new archive that begins then, to be freed. NULL with a sentence. */
char *mst_rotation_path(const struct mst_rotation *r, uint64_t wall_ns, char error[MST_ERROR_MAX]);

/* When the archive that begins then has to end; UINT64_MAX: its size alone decides. */
uint64_t mst_rotation_end_ns(const struct mst_rotation *r, uint64_t wall_ns);

/* Whether the archive has reached its size. Its log counts twice: where it goes into the file, both
 * are there for a moment. */
bool mst_rotation_is_full(const struct mst_rotation *r, const char *path);

/* Removes the archives that are not to be kept, the oldest first. An archive ended when the next
 * one began, or was last written before. Call it before a new one begins:
 * that has room for its whole size then, and for what it gets before its size is looked at. 0, or
 * -1 with a sentence. */
int mst_rotation_remove_old(const struct mst_rotation *r, uint64_t wall_ns,
                            char error[MST_ERROR_MAX]);

/* Thins the archives that are old enough, one after the other, but for the latest one, which may be
 * being written. Each is replaced at once by its thinned copy, also where programs read it: those
 * have the whole one on. *stop: not 0, and it gives up. Can run in a thread of its own beside the
 * functions above. 0, or -1 with a sentence: archives that could not be thinned are whole. */
int mst_rotation_thin(const struct mst_rotation *r, uint64_t wall_ns,
                      const volatile sig_atomic_t *stop, char error[MST_ERROR_MAX]);

#endif
