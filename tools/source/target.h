/* target.h - what the user points at: board files, directories of them, URLs.
 *
 * Every verb takes TARGETs through here, so that they mean the same everywhere:
 *   PATH                  a board file
 *   DIR                   every *.board in it and in DIR/php
 *   http(s)://.../STATUS  a server's status URL
 *   --targets FILE        a target each line (target_file.h)
 *   nothing               boards of root and of the user in the directories of
 *                         $MPMSTAT_RUNDIR (colon separated), else in /run/mpmstat,
 *                         /run/mpmstat/php, /run/apache2, those of further Apaches
 *                         (/run/apache2-NAME) and $XDG_RUNTIME_DIR/mpmstat
 *
 * Any user may make boards in some of these directories. What is in a board is its
 * owner's word: so another user's counts only where the user points at it.
 */
#ifndef MPMSTAT_TARGET_H
#define MPMSTAT_TARGET_H

#include <stdbool.h>
#include <stddef.h>
#include <sys/types.h>

#include "read/accept_queue.h"
#include "read/allowance.h"
#include "read/copy.h"
#include "read/snapshot.h"
#include "source/http.h"

#define MST_RUNDIR_VARIABLE  "MPMSTAT_RUNDIR"
#define MST_RUNDIR_DEFAULT   "/run/mpmstat:/run/mpmstat/php:/run/apache2"
#define MST_RUNDIR_INSTANCES "/run/apache2-*"   /* of further Apaches: Debian's apache2@NAME */

/* What all boards that are read together are allowed to cost (allowance.h), and the part of it
 * for other users' boards; and how many of those a directory stands for. */
#define MST_TARGETS_COST       (UINT64_C(1) << 30)
#define MST_TARGETS_COST_OTHER (UINT64_C(256) << 20)
#define MST_TARGETS_OTHER_MAX  64u

enum mst_target_kind { MST_TARGET_FILE, MST_TARGET_URL };

struct mst_target {
    enum mst_target_kind kind;
    char *name;      /* the URL or the board's path; what messages call it */
    char *label;     /* NAME= of its line in a file of targets; NULL: none */
    struct mst_http_access access;   /* MST_TARGET_URL: what it is asked with */
    char *problem;   /* a sentence: why there is nothing to open (no such file, an empty
                      * directory); NULL: none known yet */

    /* MST_TARGET_FILE, once opened. */
    bool               is_open;
    struct mst_reader  reader;
    bool               has_owner;   /* it was found or open already: only a file of this */
    uid_t              owner;       /* user is taken for it from then on */
    struct mst_allowance *allowance;      /* of all targets */
    struct mst_listen  listen;      /* of the latest snapshot */
    struct mst_drops  *drops;       /* borrowed; of this look at all targets. NULL: each snapshot
                                     * reads its own */
    bool               exemplars;   /* wanted in snapshots */
};

struct mst_targets {
    size_t             count, room;
    struct mst_target *items;
    struct mst_allowance *allowance;
    void              *files;       /* which files are among them */
    struct {
        size_t count;               /* other users' boards that were found and passed over */
        char  *example;
        uid_t  owner;
    } passed;
    char note[MST_ERROR_MAX];       /* to be told to the user: what was passed over, and how
                                     * to name it; empty: nothing was */
};

/* What the command line says of targets. */
struct mst_target_names {
    char *const *args;
    size_t       count;
    const char  *file;         /* --targets; NULL: none */
    const char  *ca_file;      /* --ca-file, for URLs; NULL: the system's authorities */
    const char  *token_file;   /* --token-file, for URLs; NULL: none */
};

/* Whether they name any target. */
static inline bool mst_targets_named(const struct mst_target_names *names)
{
    return names->count > 0 || names->file != NULL;
}

/* As mst_targets_resolve(), with the targets of a file, and what URLs are asked with. A file
 * of targets, an authority or a token that cannot be read is an error: -1. */
int mst_targets_find(struct mst_targets *out, const struct mst_target_names *names,
                     char error[MST_ERROR_MAX]);

/* Finds what args[n] name, in that order, each board once. Opens nothing yet.
 * What was asked for by name and is not there becomes a target with a problem,
 * so that the others can still be used. Returns 0; or -1 with a sentence where
 * nothing was found at all without a name (it says which places were searched), or memory
 * ran out. Free with mst_targets_free in either case. */
int  mst_targets_resolve(struct mst_targets *out, char *const *args, size_t n,
                         char error[MST_ERROR_MAX]);
void mst_targets_free(struct mst_targets *targets);

/* Whether one of that name is among them. */
bool mst_targets_have(const struct mst_targets *targets, const char *name);

/* Writes what runs here without the module or the extension (uninstrumented.h), where boards are
 * looked for in the usual directories: those of MPMSTAT_RUNDIR are of certain servers, and others
 * do not matter. Returns false, and "", where there is nothing to say. */
bool mst_targets_hint(unsigned ask, char *text, size_t size);

/* Adds the URL of another board that the status of `front` shows: it is asked as that is. 0, or -1:
 * out of memory. */
int mst_targets_add_behind(struct mst_targets *targets, const char *url,
                           const struct mst_target *front);

/* Opens a file target, or opens it again where a new start of the server has
 * put another file of the same user in its place. Returns 1 if it is another board
 * than before (also the first time), 0 if it is still the same; or -1 with a sentence
 * (the board that was open before stays open). Not for URLs. */
int mst_target_open(struct mst_target *target, char error[MST_ERROR_MAX]);

/* Opens the file at the target's path into a reader of the caller's: -1 with a sentence
 * where it is not a board, or belongs to another user than the target has. */
int mst_target_reader(const struct mst_target *target, struct mst_reader *reader,
                      char error[MST_ERROR_MAX]);

/* Until `drops` NULL is given, snapshots of all these targets have the same drops: those of the
 * first that needs them. */
void mst_targets_share_drops(const struct mst_targets *targets, struct mst_drops *drops);

/* Closes the file. What was read stays counted in the allowance. */
void mst_target_close(struct mst_target *target);

/* One snapshot of a file target: opened as above, copied, completed with what
 * the board does not know (whether the server is alive, its accept queues).
 * *copy is what it was made from. Free it with mst_snapshot_free, the copy with
 * mst_copy_free, before the target's next snapshot. Returns what mst_target_open
 * does, or -1 with a sentence. Not for URLs. */
int mst_target_snapshot(struct mst_target *target, struct mst_snapshot *snapshot,
                        struct mst_copy *copy, char error[MST_ERROR_MAX]);

#endif
