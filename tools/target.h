/* target.h - what the user points at: board files, directories of them, URLs.
 *
 * Every verb takes TARGETs through here, so that they mean the same everywhere:
 *   PATH                  a board file
 *   DIR                   every *.board in it and in DIR/php
 *   http(s)://.../STATUS  a server's status URL
 *   nothing               the directories in $MPMSTAT_RUNDIR (colon separated),
 *                         else /run/mpmstat, /run/mpmstat/php, /run/apache2
 */
#ifndef MPMSTAT_TARGET_H
#define MPMSTAT_TARGET_H

#include <stdbool.h>
#include <stddef.h>
#include <sys/types.h>

#include "copy.h"
#include "listen.h"
#include "snapshot.h"

#define MST_RUNDIR_VARIABLE "MPMSTAT_RUNDIR"
#define MST_RUNDIR_DEFAULT  "/run/mpmstat:/run/mpmstat/php:/run/apache2"

enum mst_target_kind { MST_TARGET_FILE, MST_TARGET_URL };

struct mst_target {
    enum mst_target_kind kind;
    char *name;      /* the URL or the board's path; what messages call it */
    char *problem;   /* a sentence: why there is nothing to open (no such file, an empty
                      * directory); NULL: none known yet */

    /* MST_TARGET_FILE, once opened. */
    bool              is_open;
    struct mst_reader reader;
    dev_t             device;    /* of the open file: another at this path is another */
    ino_t             inode;     /* start of the server */
    struct mst_listen listen;   /* of the latest snapshot */
};

struct mst_targets {
    size_t             count;
    struct mst_target *items;
};

/* Finds what args[n] name, in that order, each board once. Opens nothing yet.
 * What was asked for by name and is not there becomes a target with a problem,
 * so that the others can still be used. Returns 0; or -1 with a sentence where
 * nothing was found at all without a name (it says where was looked), or memory
 * ran out. Free with mst_targets_free in either case. */
int  mst_targets_resolve(struct mst_targets *out, char *const *args, size_t n,
                         char error[MST_ERROR_MAX]);
void mst_targets_free(struct mst_targets *targets);

/* Whether one of that name is among them; adds the URL of a status. 0, or -1: out of
 * memory. */
bool mst_targets_have(const struct mst_targets *targets, const char *name);
int  mst_targets_add_url(struct mst_targets *targets, const char *url);

/* Opens a file target, or opens it again where a new start of the server has
 * put another file in its place. Returns 1 if it is another board than before
 * (also the first time), 0 if it is still the same; or -1 with a sentence (the
 * board that was open before stays open). Not for URLs. */
int mst_target_open(struct mst_target *target, char error[MST_ERROR_MAX]);

/* One snapshot of a file target: opened as above, copied, completed with what
 * the board does not know (whether the server is alive, its accept queues).
 * *copy is what it was made from. Free it with mst_snapshot_free, the copy with
 * mst_copy_free, before the target's next snapshot. Returns what mst_target_open
 * does, or -1 with a sentence. Not for URLs. */
int mst_target_snapshot(struct mst_target *target, struct mst_snapshot *snapshot,
                        struct mst_copy *copy, char error[MST_ERROR_MAX]);

#endif
