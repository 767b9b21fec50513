/* json_writer.h - writes JSON into a sink, and the commas by itself.
 *
 * A value's `key` is the name of the member; NULL for an element of an array and for the
 * outermost value. Keys are written as they are: they contain nothing to escape.
 */
#ifndef MPMSTAT_JSON_WRITER_H
#define MPMSTAT_JSON_WRITER_H

#include <stdbool.h>
#include <stdint.h>

#include "render/sink.h"

/* Begin with { .out = sink }. */
struct mst_json {
    struct mst_sink *out;      /* borrowed */
    bool             spaced;   /* a blank follows each comma and colon */
    bool             comma;    /* the writer's own: a comma is due before the next value */
};

/* An object ('{', '}') or an array ('[', ']'). */
void mst_json_begin(struct mst_json *j, const char *key, char bracket);
void mst_json_end(struct mst_json *j, char bracket);

/* Ends an object and its line, for texts of an object a line. */
void mst_json_end_line(struct mst_json *j);

/* Puts what comes next on a new line, behind `indent` blanks. */
void mst_json_line(struct mst_json *j, unsigned indent);

/* null for every n above INT64_MAX, MST_UNKNOWN among them: parsers want integers of 63 bits. */
void mst_json_count(struct mst_json *j, const char *key, uint64_t n);

/* Nanoseconds as seconds, exactly; MST_UNKNOWN is null. */
void mst_json_seconds(struct mst_json *j, const char *key, uint64_t ns);

/* Nanoseconds since 1970 as a string, see mst_sink_instant(); MST_UNKNOWN is null. */
void mst_json_instant(struct mst_json *j, const char *key, uint64_t ns);

/* Escaped; NULL is null. */
void mst_json_string(struct mst_json *j, const char *key, const char *string);
void mst_json_bool(struct mst_json *j, const char *key, bool value);

/* For every other value: writes what precedes it. The caller then writes the value, whole,
 * into j->out. */
void mst_json_value(struct mst_json *j, const char *key);

#endif
