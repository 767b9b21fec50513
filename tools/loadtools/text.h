/* text.h - what the adapters share to read command lines, output and rows: plain
 * text that a program wrote for people, and that may end anywhere.
 */
#ifndef MPMSTAT_LOADTOOLS_TEXT_H
#define MPMSTAT_LOADTOOLS_TEXT_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

struct mst_output_text { const char *at, *end; };

/* The text behind `name` at the beginning of a line, blanks before it aside, to
 * the line's end. Empty: there is no such line, or it was not finished. */
struct mst_output_text mst_text_line(struct mst_output_text in, const char *name);

/* The text from the last place where `mark` is at the beginning of a line; empty: none. */
struct mst_output_text mst_text_from_last(struct mst_output_text in, const char *mark);

/* The text behind `key`, wherever it is; empty: it is not there. */
struct mst_output_text mst_text_behind(struct mst_output_text in, const char *key);

bool mst_text_is_empty(struct mst_output_text text);

/* The number at the beginning, blanks before it aside, in units of 1/scale (a
 * power of ten, at most 10^9); digits beyond are dropped. The decimal point can
 * be a comma: some programs write as their locale does. MST_UNKNOWN: there is
 * none, or it is beyond 2^53. *text (where not NULL) is then behind it. */
uint64_t mst_text_number(struct mst_output_text in, uint64_t scale, struct mst_output_text *behind);

/* The whole number just before `key`: 12 of "12 requests in". MST_UNKNOWN: there is none. */
uint64_t mst_text_number_before(struct mst_output_text in, const char *key);

/* Cuts the next word off; empty: there is none. */
struct mst_output_text mst_text_word(struct mst_output_text *in);

/* A time with its unit, as "1.50ms", "250us" or "1m2.5s", in nanoseconds;
 * *step_ns (where not NULL) is what its last digit stands for. Without a unit it
 * is in units of bare_ns. MST_UNKNOWN: there is none. */
uint64_t mst_text_time(struct mst_output_text in, uint64_t bare_ns, uint64_t *step_ns);

/* Bytes with their unit, as "13.18MB", of 1024; MST_UNKNOWN. */
uint64_t mst_text_bytes(struct mst_output_text in);

/* ---- command lines --------------------------------------------------------------- */

/* An option by its names, NULL at their end; the last one given counts. Two-letter
 * names are followed by their value or have it behind them ("-n20"), unless the
 * program reads them as Go's package flag does: then `go` is set, and a name with
 * one dash matches one with two. */
struct mst_option {
    const char *names[4];
    bool        go;
};

/* A flag that an adapter sets for a load that is open (level.h): its first name is written.
 * `value` has open places; "": the flag takes none; NULL: the flag contradicts the others, and is
 * taken away. An array of these ends with one that has no name. Besides the places of a command
 * there is {threads}: the number that the command says, or `otherwise`, but not more than the
 * clients; and {equal-threads}: so few that all have the same number of clients. */
struct mst_level_flag {
    struct mst_option option;
    const char *value;
    uint64_t    otherwise;
};

/* Its value. NULL: it is not there. */
const char *mst_option(char *const *argv, const struct mst_option *option);

/* Whether it is there, one that takes no value. */
bool mst_option_given(char *const *argv, const struct mst_option *option);

/* Its value as a number or a time, or `otherwise` where it is not there or is none. */
uint64_t mst_option_number(char *const *argv, const struct mst_option *option,
                           uint64_t otherwise);
uint64_t mst_option_time(char *const *argv, const struct mst_option *option, uint64_t bare_ns,
                         uint64_t otherwise);

/* The index of a word, 0: it is not there. argv[0] does not count. */
size_t mst_word(char *const *argv, const char *word);

/* ---- rows ------------------------------------------------------------------------ */

/* Cuts the next field off, which can be quoted as in CSV: NULL behind the last. */
char *mst_field(char **line, char separator);

/* Such a field, wholly a number: see mst_text_number. */
uint64_t mst_field_number(const char *field, uint64_t scale);

/* Such a field, wholly digits, up to 2^62: an instant in nanoseconds has more of
 * them than other numbers. */
uint64_t mst_field_integer(const char *field);

#endif
