/* snapshot_draft.h - the parts of which mst_snapshot_make() consists.
 *
 * Here it is decided which processes are alive, which times still run, and what a stop of the
 * server means for them.
 */
#ifndef MPMSTAT_SNAPSHOT_DRAFT_H
#define MPMSTAT_SNAPSHOT_DRAFT_H

#include "read/snapshot.h"

/* A snapshot in the making. */
struct mst_draft {
    struct mst_snapshot   *s;
    const struct mst_copy *copy;
    bool     stopped;
    bool     killed;         /* stopped, and nobody has marked the board */
    bool    *dead;         /* by process: ended without notice, its entry is not freed yet */
    uint64_t *in_flight;   /* by label */
    uint64_t end_ns;       /* until when time has passed in workers; 0: unknown */
    char    *text;         /* the free part of s->storage */
    size_t   text_left;
};

/* ---- snapshot_draft.c ------------------------------------------------------------- */

/* Copies a text into the snapshot; the second returns NULL for an empty one. */
const char *mst_draft_keep(struct mst_draft *m, const char *text);
const char *mst_draft_keep_unless_empty(struct mst_draft *m, const char *text);

/* Whether a living process holds the entry. */
bool mst_draft_is_owned(const struct mst_draft *m, const struct mst_process *p);

const struct mst_process *mst_draft_owner_of(const struct mst_draft *m, size_t worker);

/* Whether a living process has the worker, in a state that this build knows. */
bool mst_draft_is_working(const struct mst_draft *m, size_t worker);

/* Whether the board's server runs: where its processes have no common parent, whether one of
 * them does. Sets m->dead, but not for a server that has stopped by itself. */
int mst_draft_find_running(struct mst_draft *m, int running);

/* Sets m->stopped, m->killed and m->end_ns. */
void mst_draft_find_end(struct mst_draft *m, int running);

/* ---- snapshot_fields.c ------------------------------------------------------------- */

/* Copies the stored fields of a scope from the board's struct to the snapshot's. A PHASE's field
 * is an array of `elements` in the former, and one element in the latter. */
void mst_draft_fill_stored(enum mst_scope scope, void *to, const void *from, size_t element,
                           size_t elements);

/* Makes the fields unknown that the board's producer does not have, whatever is stored. */
void mst_draft_blank_foreign(const struct mst_draft *m, enum mst_scope scope, void *element);

/* ---- snapshot_labels.c ------------------------------------------------------------- */

/* Counts the requests in flight of each label: those that workers show, and the others. */
void mst_draft_count_in_flight(struct mst_draft *m);

/* Sets names[index] to the snapshot's copy of the name; it stays NULL for an unused index. */
void mst_draft_fill_labels(struct mst_draft *m, const char **names);

/* Leaves out ends without calls: on most boards the one that counts what found no room. */
void mst_draft_fill_ends(struct mst_draft *m);

/* ---- snapshot_workers.c ------------------------------------------------------------ */

/* How many workers are shown. */
size_t mst_draft_count_workers(const struct mst_draft *m);

/* Room at `scoreboard`: a letter for each of these workers, and a NUL. */
void mst_draft_fill_workers(struct mst_draft *m, const char *const *names, char *scoreboard);

/* ---- snapshot_wanted.c ------------------------------------------------------------- */

/* Sets how many workers the server, or each pool of FPM, would have in use if no connection had to
 * wait for one. Precondition: workers, labels and listeners are filled. */
void mst_draft_fill_wanted(struct mst_draft *m, const char *const *names);

#endif
