/* scope.h - how the scopes of the field table nest, and what each format calls
 * the places where they are. For the renderers.
 *
 * A renderer walks mst_fields scope by scope and names no metric. What differs
 * from scope to scope is a column of mst_scopes, not a branch in a renderer.
 */
#ifndef MPMSTAT_SCOPE_H
#define MPMSTAT_SCOPE_H

#include "read/snapshot.h"

/* One scope. Its elements are named by its first row of the field table (a label
 * by `label`, a worker by `slot`), or by `names` where those are fixed. */
struct mst_scope_form {
    enum mst_scope     parent;       /* whose elements have elements of this one; BOARD's: itself */
    const char        *json;         /* key of the list in the parent's object. With `names` it
                                      * is an object with a key for each, else an array */
    const char        *text;         /* what stands before [NAME] in a key; NULL: the name itself
                                      * does, without brackets */
    const char        *openmetrics;  /* label that says which element it is */
    const char *const *names;
    size_t             name_count;
    bool             (*in_text)(const void *element);  /* NULL: all of them are shown in text; */
    size_t             text_limit;                     /* else those alone, at most so many */
    const char        *text_omitted;                   /* key: how many were left out by that */
};
extern const struct mst_scope_form mst_scopes[MST_SCOPE_COUNT];

/* An element of a snapshot and how one got there. */
struct mst_place {
    enum mst_scope          scope;
    const void             *element;   /* the scope's struct of snapshot.h */
    size_t                  index;     /* among its parent's */
    const struct mst_place *parent;    /* NULL: the board */
};

/* The elements of a scope at their parent's place. */
struct mst_elements {
    bool        known;     /* false: nobody could look */
    size_t      count, stride;
    const char *first;
};
struct mst_elements mst_scope_elements(const struct mst_place *parent, enum mst_scope scope);

struct mst_place mst_place_board(const struct mst_snapshot *board);
struct mst_place mst_place_at(const struct mst_place *parent, enum mst_scope scope,
                              const struct mst_elements *elements, size_t index);

/* The first row of a scope: the one that names its elements, where their names
 * are not fixed. */
const struct mst_field *mst_scope_key(enum mst_scope scope);

/* Whether anything is known there. A phase that the server does not have is not. */
bool mst_place_known(const struct mst_place *place);

/* ---- values ---------------------------------------------------------------- */

/* A field's words (one, or one for each element of an array type), its string,
 * its histogram, in the element that `place` is at. */
const uint64_t             *mst_field_words(const struct mst_field *f,
                                            const struct mst_place *place);
const char                 *mst_field_string(const struct mst_field *f,
                                             const struct mst_place *place);
const struct mst_histogram *mst_field_histogram(const struct mst_field *f,
                                                const struct mst_place *place);

/* Whether a field has a value there; of an array, whether its element i has. An
 * empty string is none. */
bool mst_field_known(const struct mst_field *f, const struct mst_place *place, size_t i);

/* What tells the elements of an array type apart: "state", "class", ... NULL for
 * the other types. */
const char *mst_type_key(enum mst_type type);

/* What OpenMetrics appends to the family's name in samples: "_total" or nothing. */
const char *mst_field_suffix(const struct mst_field *f);

/* ---- a board's name ----------------------------------------------------------
 * In metrics a board is called by its file's base name; where two of those shown
 * together have the same, by the whole path. */
const char *mst_board_name(const struct mst_snapshot *const *boards, size_t count, size_t which);

#endif
