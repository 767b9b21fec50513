/* scope.h - how the scopes of the field table nest, and what each format calls their elements.
 * For the renderers.
 *
 * A renderer walks mst_fields scope by scope and names no metric. Differences between scopes are
 * columns of mst_scopes, not branches in a renderer.
 */
#ifndef MPMSTAT_SCOPE_H
#define MPMSTAT_SCOPE_H

#include "read/snapshot.h"

/* One scope. Its elements have fixed `names`, or are named by the scope's first row of the field
 * table (a label by `label`, a worker by `slot`). */
struct mst_scope_form {
    enum mst_scope     parent;       /* the scope around it; BOARD's: BOARD */
    const char        *json;         /* key of the list in the parent's object. With `names` it
                                      * is an object with a key for each, else an array */
    const char        *text;         /* the part of a key before [NAME]; NULL: the key has the name
                                      * alone, without brackets */
    const char        *openmetrics;  /* label that names the element */
    const char        *kind;         /* label of the kind, which names the element together with
                                      * its name: the scope's second row; NULL: the name does */
    const char *const *names;
    size_t             name_count;
    bool             (*in_text)(const void *element);  /* elements that text shows; NULL: all */
    size_t             text_limit;                     /* of those; unused where in_text is NULL */
    const char        *text_omitted;                   /* key for the number beyond text_limit */
};
extern const struct mst_scope_form mst_scopes[MST_SCOPE_COUNT];

/* An element of a snapshot, and the elements around it. */
struct mst_place {
    enum mst_scope          scope;
    const void             *element;   /* the scope's struct of snapshot.h */
    size_t                  index;     /* among its parent's */
    const struct mst_place *parent;    /* NULL: the board */
};

/* The elements of a scope at their parent's place. */
struct mst_elements {
    bool        known;     /* false: they could not be read */
    size_t      count, stride;
    const char *first;
};
struct mst_elements mst_scope_elements(const struct mst_place *parent, enum mst_scope scope);

struct mst_place mst_place_board(const struct mst_snapshot *board);
struct mst_place mst_place_at(const struct mst_place *parent, enum mst_scope scope,
                              const struct mst_elements *elements, size_t index);

/* The first row of a scope, which names its elements where their names are not fixed. */
const struct mst_field *mst_scope_key(enum mst_scope scope);

/* Whether any field is known there. None is for a phase that the server does not have. */
bool mst_place_known(const struct mst_place *place);

/* ---- values ---------------------------------------------------------------- */

/* A field's words (one, or one for each element of an array type), its string or its histogram,
 * in the element at `place`. */
const uint64_t             *mst_field_words(const struct mst_field *f,
                                            const struct mst_place *place);
const char                 *mst_field_string(const struct mst_field *f,
                                             const struct mst_place *place);
const struct mst_histogram *mst_field_histogram(const struct mst_field *f,
                                                const struct mst_place *place);

/* Whether a field (of an array: its element i) has a value there. An empty string is none. */
bool mst_field_known(const struct mst_field *f, const struct mst_place *place, size_t i);

/* What the elements of an array type are: "state", "class", ... NULL for the other types. */
const char *mst_type_key(enum mst_type type);

/* What OpenMetrics appends to the family's name in samples: "_total" or "". */
const char *mst_field_suffix(const struct mst_field *f);

/* ---- a board's name ----------------------------------------------------------
 * In metrics a board has the base name of its file; or the path, where two boards that are
 * shown together have the same base name. */
const char *mst_board_name(const struct mst_snapshot *const *boards, size_t count, size_t which);

#endif
