/* replace.h - a file that takes the place of another when it is whole, or not at all.
 *
 * Until then it has no name, where the file system has such files (O_TMPFILE): however the
 * program ends, nothing of it stays. Elsewhere it is FILE.XXXXXXXX.part. An error or a signal
 * that ends the program (SIGINT, SIGTERM, SIGHUP) removes it; what a kill -9 leaves the next
 * replacement of FILE removes, and knows it by its lock, which is gone.
 */
#ifndef MPMSTAT_REPLACE_H
#define MPMSTAT_REPLACE_H

#include <stdbool.h>
#include <stdio.h>

struct mst_replacement {
    FILE *file;      /* to be written to */
    char *path;      /* what is to be replaced: no link */
    char *part;      /* the file's name until then; NULL: it has none */
};

/* One at a time. 0, or an errno value; then there is nothing to end. */
int mst_replace_begin(struct mst_replacement *r, const char *path);
/* Closes the file, and puts it in its place, or removes it. 0, or an errno value. */
int mst_replace_end(struct mst_replacement *r, bool keep);

#endif
