/* ndjson_members.h - the members of one line of the journal, checked: for ndjson.c.
 *
 * Members are asked for one after the other, and `problem` is checked once, at the end: a member
 * that is not as expected sets it, unless it is set, and the function returns 0 or "".
 */
#ifndef MPMSTAT_NDJSON_MEMBERS_H
#define MPMSTAT_NDJSON_MEMBERS_H

#include <jansson.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

/* Seconds as plain decimal digits, "S" or "S.N" with one to nine decimals, into
 * nanoseconds, exactly. Returns the bytes used, 0 where it is none or too large. */
size_t mst_decimal_ns(const char *text, size_t length, uint64_t *ns);

/* A line's text, and what jansson made of it. */
struct mst_line {
    const char *text;
    size_t      length;
    json_t     *object;
    char        problem[160];
};

/* Sets the line's problem, unless it has one. */
void mst_line_complain(struct mst_line *l, const char *format, ...)
    __attribute__((format(printf, 2, 3)));

/* In nanoseconds. MST_UNKNOWN where the member is null. */
uint64_t mst_line_seconds(struct mst_line *l, const char *key);

/* Of a member that servers of this version send, and older ones do not: there MST_UNKNOWN. */
uint64_t mst_line_seconds_if_sent(struct mst_line *l, const char *key);

uint64_t mst_line_integer(struct mst_line *l, const char *key, uint64_t max);

/* `absent` where the member is null. */
uint64_t mst_line_integer_or_null(struct mst_line *l, const char *key, uint64_t max,
                                  uint64_t absent);

/* MST_UNKNOWN where the member is null. */
uint64_t mst_line_count(struct mst_line *l, const char *key);

bool mst_line_boolean(struct mst_line *l, const char *key);

/* A string that is too long is a problem. */
void mst_line_string(struct mst_line *l, const char *key, char *out, size_t room);

/* A string that is too long because bytes that were not UTF-8 have become three on their way
 * (\ufffd) is cut to the room, at the end of a character. */
void mst_line_cut_string(struct mst_line *l, const char *key, char *out, size_t room);

/* The index of a member's name in names[n]; n where it is null, missing or new. */
size_t mst_line_name_index(const struct mst_line *l, const char *key, const char *const *names,
                           size_t n);

#endif
