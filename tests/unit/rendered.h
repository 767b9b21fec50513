/* rendered.h - boards in each format, as text. */
#ifndef MPMSTAT_TESTS_RENDERED_H
#define MPMSTAT_TESTS_RENDERED_H

#include <jansson.h>

#include "render/fields_table.h"
#include "render/render.h"
#include "render/scope.h"

char *rendered(enum mst_format format, const struct mst_snapshot *const *boards,
               size_t count);

char *rendered_fields(enum mst_fields_format format);

json_t *parsed(const char *text);

/* Follows "a.b[0].c" from a JSON value; NULL where it leads nowhere. */
const json_t *at(const json_t *json, const char *path);

/* Where a field's word is in the numbered board: the phase and the element that
 * stand for <phase> and, say, <state> in its names. */
struct where {
    const struct mst_field *field;
    struct mst_place        board, label, place;
    const char             *phase, *element;
    size_t                  index;
};

/* The name that stands for <what>; the first letter tells a capital one. */
const char *stands_for(const struct where *w, const char *what);

/* A name of the documentation with everything in its place. */
void resolve(const struct where *w, const char *name, char to[256]);

/* The value as text and metrics show it. */
void value_text(const struct where *w, bool instant_as_seconds, char to[64]);

#endif
