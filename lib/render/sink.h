/* sink.h - where rendered text goes: a buffer, a writer, and the first error.
 *
 * A renderer need not check for errors: after the first failed write a sink drops everything,
 * and the caller that made it gets the error from mst_sink_flush() at the end. All escape
 * functions are here, one for each format.
 */
#ifndef MPMSTAT_SINK_H
#define MPMSTAT_SINK_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

/* Writes all n bytes and returns 0; or returns an errno value where it did not write all. */
typedef int mst_sink_write(void *context, const void *bytes, size_t n);

struct mst_sink {
    mst_sink_write *write;
    void           *context;
    int             error;     /* what `write` returned when it first failed; 0: none */
    size_t          used;      /* bytes in the buffer */
    char            buffer[8192];
};

void mst_sink_init(struct mst_sink *sink, mst_sink_write *write, void *context);

/* Writes what is buffered. Returns the sink's error: 0 means that everything up to here was
 * written. MUST be called at the end. */
int mst_sink_flush(struct mst_sink *sink);

/* Makes the sink fail, where what is to be written cannot be made. error: an errno value. */
void mst_sink_fail(struct mst_sink *sink, int error);

void mst_sink_bytes(struct mst_sink *sink, const void *bytes, size_t n);
void mst_sink_puts(struct mst_sink *sink, const char *string);
void mst_sink_char(struct mst_sink *sink, char c);
void mst_sink_u64(struct mst_sink *sink, uint64_t n);
void mst_sink_i64(struct mst_sink *sink, int64_t n);
void mst_sink_hex(struct mst_sink *sink, uint64_t n);

/* Nanoseconds as seconds, exactly: "S.NNNNNNNNN". */
void mst_sink_seconds(struct mst_sink *sink, uint64_t ns);

/* Nanoseconds since 1970 in RFC 3339, UTC, exactly: "2001-02-03T04:05:06.123456789Z". */
void mst_sink_instant(struct mst_sink *sink, uint64_t ns);

/* A word in camel case: php_wait becomes PhpWait. Joints are '_' and '-'. */
void mst_sink_camel(struct mst_sink *sink, const char *word);

/* ---- escapes ---------------------------------------------------------------
 * Strings come from boards, which any user can write.
 *
 * The output of each format is UTF-8 without these characters: C0 controls and DEL (except \n
 * and \t in HTML and CSV), C1 controls (U+0080 to U+009F), U+2028 and U+2029, which end a line
 * for some readers, and U+202A to U+202E and U+2066 to U+2069, which reverse the text around
 * them. Below they are the "controls". */

/* JSON: quoted; a control is \uNNNN, so that readers get the same string; every byte that is
 * not UTF-8 becomes \ufffd. NULL is null. */
void mst_sink_json_string(struct mst_sink *sink, const char *string);

/* A whole JSON text of another writer, unchanged except that controls within its strings become
 * \uNNNN, and bytes that are not UTF-8 become \ufffd. */
void mst_sink_json(struct mst_sink *sink, const char *json);

/* Text: each byte of a control, backslashes and bytes that are not UTF-8 become
 * \xNN, so that a value is one line and no command to a terminal. In a key
 * (the NAME of Label[NAME]) also ']' and the blank of ": ": a key ends at the
 * first ": ", its name at the first ']'. NULL writes nothing. */
void mst_sink_text_string(struct mst_sink *sink, const char *string, bool in_key);

/* OpenMetrics and Prometheus: a quoted label value: backslash, quote and newline
 * escaped; every other control, and every byte that is not UTF-8, becomes U+FFFD.
 * NULL is "". */
void mst_sink_label_value(struct mst_sink *sink, const char *string);

/* The same for a HELP line: no quotes around it; those within are escaped for
 * OpenMetrics only (the older format has no escape for them there). */
void mst_sink_help(struct mst_sink *sink, const char *string, bool escape_quotes);

/* Metrics where nothing needs an escape (protobuf): what readers get from mst_sink_label_value().
 * Controls except newline, and bytes that are not UTF-8, become U+FFFD. NULL writes nothing. */
void mst_sink_plain_string(struct mst_sink *sink, const char *string);

/* HTML: between tags and within a quoted attribute. Controls except newline and tab,
 * and bytes that are not UTF-8, become U+FFFD. NULL writes nothing. */
void mst_sink_html_string(struct mst_sink *sink, const char *string);

/* Markdown (GitHub's), behind the beginning of a line, also in a cell of a table: one
 * line, nothing in it is markup. C0 controls and DEL become blanks, the other controls and
 * bytes that are not UTF-8 U+FFFD. NULL writes nothing. */
void mst_sink_markdown_string(struct mst_sink *sink, const char *string);

/* CSV: quoted where it has to be; a spreadsheet does not take it for a formula. Controls except
 * newline and tab, and bytes that are not UTF-8, become U+FFFD. NULL writes nothing. */
void mst_sink_csv_string(struct mst_sink *sink, const char *string);

/* For a terminal, in place: each byte of a control except newline and tab, and bytes that are
 * not UTF-8, become '?'. Precondition: text[length] is a NUL. */
void mst_tame(char *text, size_t length);

#endif
