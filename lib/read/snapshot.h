/* snapshot.h - a copy of a board turned into numbers with a meaning.
 *
 * Renderers take a snapshot, never a board: it is private and complete. There is a struct for
 * each scope of fields.def.
 */
#ifndef MPMSTAT_SNAPSHOT_H
#define MPMSTAT_SNAPSHOT_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "read/copy.h"
#include "read/exemplars.h"
#include "segment/fields.h"

#define MST_SNAPSHOT_BOARD_BOARD(id, type)       MST_MEMBER_##type(id)
#define MST_SNAPSHOT_LISTENER_LISTENER(id, type) MST_MEMBER_##type(id)
#define MST_SNAPSHOT_LABEL_LABEL(id, type)       MST_MEMBER_##type(id)
#define MST_SNAPSHOT_PHASE_PHASE(id, type)       MST_MEMBER_##type(id)
#define MST_SNAPSHOT_SLOT_SLOT(id, type)         MST_MEMBER_##type(id)
#define MST_SNAPSHOT_END_END(id, type)           MST_MEMBER_##type(id)
#define MST_SNAPSHOT_BOARD_LISTENER(id, type)
#define MST_SNAPSHOT_BOARD_LABEL(id, type)
#define MST_SNAPSHOT_BOARD_PHASE(id, type)
#define MST_SNAPSHOT_BOARD_SLOT(id, type)
#define MST_SNAPSHOT_LISTENER_BOARD(id, type)
#define MST_SNAPSHOT_LISTENER_LABEL(id, type)
#define MST_SNAPSHOT_LISTENER_PHASE(id, type)
#define MST_SNAPSHOT_LISTENER_SLOT(id, type)
#define MST_SNAPSHOT_LABEL_BOARD(id, type)
#define MST_SNAPSHOT_LABEL_LISTENER(id, type)
#define MST_SNAPSHOT_LABEL_PHASE(id, type)
#define MST_SNAPSHOT_LABEL_SLOT(id, type)
#define MST_SNAPSHOT_PHASE_BOARD(id, type)
#define MST_SNAPSHOT_PHASE_LISTENER(id, type)
#define MST_SNAPSHOT_PHASE_LABEL(id, type)
#define MST_SNAPSHOT_PHASE_SLOT(id, type)
#define MST_SNAPSHOT_SLOT_BOARD(id, type)
#define MST_SNAPSHOT_SLOT_LISTENER(id, type)
#define MST_SNAPSHOT_SLOT_LABEL(id, type)
#define MST_SNAPSHOT_SLOT_PHASE(id, type)
#define MST_SNAPSHOT_BOARD_END(id, type)
#define MST_SNAPSHOT_LISTENER_END(id, type)
#define MST_SNAPSHOT_LABEL_END(id, type)
#define MST_SNAPSHOT_PHASE_END(id, type)
#define MST_SNAPSHOT_SLOT_END(id, type)
#define MST_SNAPSHOT_END_BOARD(id, type)
#define MST_SNAPSHOT_END_LISTENER(id, type)
#define MST_SNAPSHOT_END_LABEL(id, type)
#define MST_SNAPSHOT_END_PHASE(id, type)
#define MST_SNAPSHOT_END_SLOT(id, type)

struct mst_snapshot_listener {
#define MST_FIELD(scope, storage, id, type, ...) MST_SNAPSHOT_LISTENER_##scope(id, type)
#include "segment/fields.def"
#undef MST_FIELD
};
struct mst_snapshot_phase {
#define MST_FIELD(scope, storage, id, type, ...) MST_SNAPSHOT_PHASE_##scope(id, type)
#include "segment/fields.def"
#undef MST_FIELD
};
struct mst_snapshot_label {
#define MST_FIELD(scope, storage, id, type, ...) MST_SNAPSHOT_LABEL_##scope(id, type)
#include "segment/fields.def"
#undef MST_FIELD
    struct mst_snapshot_phase phases[MST_PHASE_COUNT];
};
struct mst_snapshot_slot {
#define MST_FIELD(scope, storage, id, type, ...) MST_SNAPSHOT_SLOT_##scope(id, type)
#include "segment/fields.def"
#undef MST_FIELD
};

struct mst_snapshot_end {
#define MST_FIELD(scope, storage, id, type, ...) MST_SNAPSHOT_END_##scope(id, type)
#include "segment/fields.def"
#undef MST_FIELD
};

/* One board. Strings and arrays belong to the snapshot, except those of struct mst_world. A
 * STRING is NULL where it is unknown. */
struct mst_snapshot {
#define MST_FIELD(scope, storage, id, type, ...) MST_SNAPSHOT_BOARD_##scope(id, type)
#include "segment/fields.def"
#undef MST_FIELD
    uint64_t taken_ns;                         /* CLOCK_MONOTONIC */
    bool     listeners_known;                  /* false: they could not be read */
    size_t   listener_count;
    const struct mst_snapshot_listener *listeners;   /* borrowed: see struct mst_world; or: */
    struct mst_snapshot_listener *fpm_listeners;     /* NULL: it is not an FPM's */
    size_t   label_count;                      /* those in use, in order of their index */
    struct mst_snapshot_label *labels;
    size_t   slot_count;                       /* busy ones first, longest in flight first */
    struct mst_snapshot_slot *slots;
    size_t   end_count;                        /* those that were called */
    struct mst_snapshot_end *ends;
    struct mst_exemplars exemplars;            /* none unless the caller wants them */
    void    *storage;                          /* what the strings point into */
};

/* What the caller knows from outside the board. */
struct mst_world {
    bool     listeners_known;
    size_t   listener_count;
    const struct mst_snapshot_listener *listeners;  /* borrowed until the snapshot is freed */
    bool     drops_known;                           /* false: they could not be read */
    uint64_t listen_overflows, listen_drops;        /* the network namespace's */
    const char *apache_scoreboard;                  /* NULL: unknown; borrowed, too */
    /* Whether the board's parent is alive: 1 yes, 0 no, -1 unknown (liveness.h). */
    int      running;
    bool     exemplars;                             /* wanted: they are read from the journal */
};

/* Where a field's member is in the struct of its scope, in bytes from its beginning. */
size_t mst_snapshot_offset(const struct mst_field *f);

/* Fills *s from a copy, which can be freed afterwards. Returns 0, or -1 out of memory. Free with
 * mst_snapshot_free(). */
int mst_snapshot_make(struct mst_snapshot *s, const struct mst_copy *copy,
                      const struct mst_world *world);
void mst_snapshot_free(struct mst_snapshot *s);

/* Connections in the accept queues of a pool's listeners (NULL: of all listeners). MST_UNKNOWN
 * where one of them is not known, or there is none. */
uint64_t mst_snapshot_queue(const struct mst_snapshot *s, const char *pool);

#endif
