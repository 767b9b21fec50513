/* sink.c - the output sink: buffer, sticky error, numbers, escapes.
 *
 * Independent of the locale: it uses neither printf() for numbers nor ctype.
 */
#include "render/sink.h"

#include <string.h>
#include <time.h>

#include "base/clock.h"

/* ---- the buffer --------------------------------------------------------------- */

void mst_sink_init(struct mst_sink *sink, mst_sink_write *write, void *context)
{
    sink->write = write;
    sink->context = context;
    sink->error = 0;
    sink->used = 0;
}

static void pass_on(struct mst_sink *sink, const void *bytes, size_t n)
{
    if (sink->error == 0 && n > 0)
        sink->error = sink->write(sink->context, bytes, n);
}

int mst_sink_flush(struct mst_sink *sink)
{
    pass_on(sink, sink->buffer, sink->used);
    sink->used = 0;
    return sink->error;
}

void mst_sink_fail(struct mst_sink *sink, int error)
{
    if (sink->error == 0)
        sink->error = error;
}

void mst_sink_bytes(struct mst_sink *sink, const void *bytes, size_t n)
{
    if (n > sizeof(sink->buffer) - sink->used)
        mst_sink_flush(sink);
    if (n > sizeof(sink->buffer)) {
        pass_on(sink, bytes, n);
        return;
    }
    memcpy(sink->buffer + sink->used, bytes, n);
    sink->used += n;
}

/* ---- strings and numbers --------------------------------------------------------- */

void mst_sink_puts(struct mst_sink *sink, const char *string)
{
    mst_sink_bytes(sink, string, strlen(string));
}

void mst_sink_char(struct mst_sink *sink, char c)
{
    mst_sink_bytes(sink, &c, 1);
}

static void put_number(struct mst_sink *sink, uint64_t n, unsigned base, size_t width)
{
    char digits[20];
    size_t at = sizeof(digits);

    do {
        digits[--at] = "0123456789abcdef"[n % base];
        n /= base;
    } while (n > 0 || sizeof(digits) - at < width);
    mst_sink_bytes(sink, digits + at, sizeof(digits) - at);
}

void mst_sink_u64(struct mst_sink *sink, uint64_t n)
{
    put_number(sink, n, 10, 1);
}

void mst_sink_i64(struct mst_sink *sink, int64_t n)
{
    if (n < 0)
        mst_sink_char(sink, '-');
    mst_sink_u64(sink, n < 0 ? -(uint64_t)n : (uint64_t)n);
}

void mst_sink_hex(struct mst_sink *sink, uint64_t n)
{
    put_number(sink, n, 16, 1);
}

static void put_fraction(struct mst_sink *sink, uint64_t ns)
{
    mst_sink_char(sink, '.');
    put_number(sink, ns % MST_NS_PER_S, 10, 9);
}

void mst_sink_seconds(struct mst_sink *sink, uint64_t ns)
{
    mst_sink_u64(sink, ns / MST_NS_PER_S);
    put_fraction(sink, ns);
}

void mst_sink_instant(struct mst_sink *sink, uint64_t ns)
{
    time_t seconds = (time_t)(ns / MST_NS_PER_S);   /* at most the year 2554 */
    struct tm t;

    gmtime_r(&seconds, &t);
    put_number(sink, (uint64_t)t.tm_year + 1900, 10, 4);
    mst_sink_char(sink, '-');
    put_number(sink, (uint64_t)t.tm_mon + 1, 10, 2);
    mst_sink_char(sink, '-');
    put_number(sink, (uint64_t)t.tm_mday, 10, 2);
    mst_sink_char(sink, 'T');
    put_number(sink, (uint64_t)t.tm_hour, 10, 2);
    mst_sink_char(sink, ':');
    put_number(sink, (uint64_t)t.tm_min, 10, 2);
    mst_sink_char(sink, ':');
    put_number(sink, (uint64_t)t.tm_sec, 10, 2);
    put_fraction(sink, ns);
    mst_sink_char(sink, 'Z');
}

void mst_sink_camel(struct mst_sink *sink, const char *word)
{
    bool begins = true;

    for (; *word != '\0'; word++) {
        bool joint = *word == '_' || *word == '-';

        if (!joint)
            mst_sink_char(sink, begins && *word >= 'a' && *word <= 'z' ? (char)(*word - 'a' + 'A')
                                                                       : *word);
        begins = joint;
    }
}

/* ---- escapes ------------------------------------------------------------------------ */

/* The length of the UTF-8 character at s (the table of RFC 3629, section 4); 0 where there is
 * none. It never reads past a NUL, which continues no character. */
static size_t utf8_length(const unsigned char *s)
{
    unsigned char low = 0x80, high = 0xbf;
    size_t length, i;

    if (s[0] < 0x80)
        return 1;
    if (s[0] < 0xc2 || s[0] > 0xf4)
        return 0;
    length = s[0] < 0xe0 ? 2 : s[0] < 0xf0 ? 3 : 4;
    if (s[0] == 0xe0)
        low = 0xa0;
    if (s[0] == 0xed)
        high = 0x9f;
    if (s[0] == 0xf0)
        low = 0x90;
    if (s[0] == 0xf4)
        high = 0x8f;
    for (i = 1; i < length; i++) {
        if (s[i] < low || s[i] > high)
            return 0;
        low = 0x80;
        high = 0xbf;
    }
    return length;
}

/* The kinds of what a string can begin with. */
enum glyph {
    GLYPH_TEXT,        /* a character that is only shown */
    GLYPH_CONTROL,     /* U+0001 to U+001F, U+007F: one byte */
    GLYPH_INVISIBLE,   /* a longer control: not shown, but obeyed */
    GLYPH_MALFORMED    /* a byte that is not UTF-8 */
};

/* The character of the 2 or 3 bytes at s. */
static unsigned code_point(const unsigned char *s, size_t length)
{
    if (length == 2)
        return (s[0] & 0x1fu) << 6 | (s[1] & 0x3fu);
    return (s[0] & 0x0fu) << 12 | (s[1] & 0x3fu) << 6 | (s[2] & 0x3fu);
}

/* C1 controls, which some terminals obey; U+2028 and U+2029, which end a line for some readers;
 * U+202A to U+202E and U+2066 to U+2069, which reverse the text around them, so that a name can
 * look like another one. */
static bool is_invisible(const unsigned char *s, size_t length)
{
    unsigned code;

    if (length != 2 && length != 3)
        return false;
    code = code_point(s, length);
    return (code >= 0x80 && code <= 0x9f) || (code >= 0x2028 && code <= 0x202e)
        || (code >= 0x2066 && code <= 0x2069);
}

/* The kind of the character at s. Sets *length to its bytes, at least 1. Precondition: *s is not
 * NUL. */
static enum glyph classify(const unsigned char *s, size_t *length)
{
    *length = utf8_length(s);
    if (*length == 0) {
        *length = 1;
        return GLYPH_MALFORMED;
    }
    if (*s < 0x20 || *s == 0x7f)
        return GLYPH_CONTROL;
    return is_invisible(s, *length) ? GLYPH_INVISIBLE : GLYPH_TEXT;
}

#define REPLACEMENT "\xef\xbf\xbd"   /* U+FFFD */

static void put_hex_escape(struct mst_sink *sink, const char *prefix, unsigned code, size_t width)
{
    mst_sink_puts(sink, prefix);
    put_number(sink, code, 16, width);
}

/* The number of letters, digits and underscores at s: no format escapes them. Saves time for
 * scoreboards, which have thousands. */
static size_t plain_length(const unsigned char *s)
{
    size_t length = 0;

    while ((unsigned)(s[length] | 0x20) - 'a' < 26u || (unsigned)s[length] - '0' < 10u
           || s[length] == '_')
        length++;
    return length;
}

/* The controls that a page, a cell of a table or a terminal may get. */
static bool is_layout(unsigned char c)
{
    return c == '\n' || c == '\t';
}

/* Writes the character of `length` bytes at s, as a format has it. */
typedef void put_glyph(struct mst_sink *sink, const unsigned char *s, size_t length,
                       enum glyph glyph);

static void put_escaped(struct mst_sink *sink, const char *string, put_glyph *put)
{
    const unsigned char *s = (const unsigned char *)string;
    enum glyph glyph;
    size_t length;

    for (; *s != '\0'; s += length) {
        length = plain_length(s);
        if (length > 0) {
            mst_sink_bytes(sink, s, length);
            continue;
        }
        glyph = classify(s, &length);
        put(sink, s, length, glyph);
    }
}

static void put_json_glyph(struct mst_sink *sink, const unsigned char *s, size_t length,
                           enum glyph glyph)
{
    switch (glyph) {
    case GLYPH_CONTROL:
        put_hex_escape(sink, "\\u", *s, 4);
        break;
    case GLYPH_INVISIBLE:
        put_hex_escape(sink, "\\u", code_point(s, length), 4);
        break;
    case GLYPH_MALFORMED:
        mst_sink_puts(sink, "\\ufffd");
        break;
    case GLYPH_TEXT:
        if (*s == '"' || *s == '\\')
            mst_sink_char(sink, '\\');
        mst_sink_bytes(sink, s, length);
    }
}

void mst_sink_json_string(struct mst_sink *sink, const char *string)
{
    if (string == NULL) {
        mst_sink_puts(sink, "null");
        return;
    }
    mst_sink_char(sink, '"');
    put_escaped(sink, string, put_json_glyph);
    mst_sink_char(sink, '"');
}

static void put_raw_json_glyph(struct mst_sink *sink, const unsigned char *s, size_t length,
                               enum glyph glyph)
{
    if (glyph == GLYPH_TEXT || is_layout(*s))
        mst_sink_bytes(sink, s, length);
    else if (*s == '\r')
        mst_sink_char(sink, ' ');
    else
        put_json_glyph(sink, s, length, glyph);
}

void mst_sink_json(struct mst_sink *sink, const char *json)
{
    put_escaped(sink, json, put_raw_json_glyph);
}

void mst_sink_text_string(struct mst_sink *sink, const char *string, bool in_key)
{
    const unsigned char *s = (const unsigned char *)string;
    unsigned char before = 0;
    size_t length, i;

    if (string == NULL)
        return;
    for (; *s != '\0'; s += length) {
        bool escape;

        length = plain_length(s);
        if (length > 0) {
            mst_sink_bytes(sink, s, length);
            before = s[length - 1];
            continue;
        }
        escape = classify(s, &length) != GLYPH_TEXT || *s == '\\'
                 || (in_key && (*s == ']' || (*s == ' ' && before == ':')));
        before = *s;
        for (i = 0; i < length && escape; i++)
            put_hex_escape(sink, "\\x", s[i], 2);
        if (!escape)
            mst_sink_bytes(sink, s, length);
    }
}

static void put_help_glyph(struct mst_sink *sink, const unsigned char *s, size_t length,
                           enum glyph glyph)
{
    if (*s == '\n') {
        mst_sink_puts(sink, "\\n");
    } else if (glyph != GLYPH_TEXT) {
        mst_sink_puts(sink, REPLACEMENT);
    } else {
        if (*s == '\\')
            mst_sink_char(sink, '\\');
        mst_sink_bytes(sink, s, length);
    }
}

static void put_label_glyph(struct mst_sink *sink, const unsigned char *s, size_t length,
                            enum glyph glyph)
{
    if (*s == '"')
        mst_sink_char(sink, '\\');
    put_help_glyph(sink, s, length, glyph);
}

void mst_sink_label_value(struct mst_sink *sink, const char *string)
{
    mst_sink_char(sink, '"');
    if (string != NULL)
        put_escaped(sink, string, put_label_glyph);
    mst_sink_char(sink, '"');
}

void mst_sink_help(struct mst_sink *sink, const char *string, bool escape_quotes)
{
    put_escaped(sink, string, escape_quotes ? put_label_glyph : put_help_glyph);
}

static void put_plain_glyph(struct mst_sink *sink, const unsigned char *s, size_t length,
                            enum glyph glyph)
{
    if (glyph != GLYPH_TEXT && *s != '\n')
        mst_sink_puts(sink, REPLACEMENT);
    else
        mst_sink_bytes(sink, s, length);
}

void mst_sink_plain_string(struct mst_sink *sink, const char *string)
{
    if (string != NULL)
        put_escaped(sink, string, put_plain_glyph);
}

static const char *html_entity(unsigned char c)
{
    switch (c) {
    case '&':  return "&amp;";
    case '<':  return "&lt;";
    case '>':  return "&gt;";
    case '"':  return "&quot;";
    case '\'': return "&#39;";
    default:   return NULL;
    }
}

static void put_html_glyph(struct mst_sink *sink, const unsigned char *s, size_t length,
                           enum glyph glyph)
{
    const char *entity = html_entity(*s);

    if (glyph != GLYPH_TEXT && !is_layout(*s))
        mst_sink_puts(sink, REPLACEMENT);
    else if (entity != NULL)
        mst_sink_puts(sink, entity);
    else
        mst_sink_bytes(sink, s, length);
}

void mst_sink_html_string(struct mst_sink *sink, const char *string)
{
    if (string != NULL)
        put_escaped(sink, string, put_html_glyph);
}

/* A backslash keeps a character from being markup. That does not help against links on GitHub
 * ("@name", "#12") and HTML: those characters become entities. */
static void put_markdown_ascii(struct mst_sink *sink, unsigned char c)
{
    if (strchr("<>&@#", c) != NULL) {
        mst_sink_puts(sink, "&#");
        mst_sink_u64(sink, c);
        mst_sink_char(sink, ';');
    } else {
        if (strchr("\\`*_[]|~$", c) != NULL)
            mst_sink_char(sink, '\\');
        mst_sink_char(sink, (char)c);
    }
}

static void put_markdown_glyph(struct mst_sink *sink, const unsigned char *s, size_t length,
                               enum glyph glyph)
{
    if (glyph == GLYPH_CONTROL)
        mst_sink_char(sink, ' ');
    else if (glyph != GLYPH_TEXT)
        mst_sink_puts(sink, REPLACEMENT);
    else if (length == 1)
        put_markdown_ascii(sink, *s);
    else
        mst_sink_bytes(sink, s, length);
}

void mst_sink_markdown_string(struct mst_sink *sink, const char *string)
{
    if (string != NULL)
        put_escaped(sink, string, put_markdown_glyph);
}

/* Replaces malformed bytes and controls as in HTML. */
static void put_csv_glyph(struct mst_sink *sink, const unsigned char *s, size_t length,
                          enum glyph glyph)
{
    if (glyph != GLYPH_TEXT && !is_layout(*s))
        mst_sink_puts(sink, REPLACEMENT);
    else if (*s == '"')
        mst_sink_puts(sink, "\"\"");
    else
        mst_sink_bytes(sink, s, length);
}

void mst_sink_csv_string(struct mst_sink *sink, const char *string)
{
    bool is_formula, is_quoted;

    if (string == NULL)
        return;
    is_formula = string[0] != '\0' && strchr("=+-@\t", string[0]) != NULL;
    is_quoted = is_formula || string[0] == ' ' || strpbrk(string, ",\"\r\n") != NULL;
    mst_sink_puts(sink, is_quoted ? "\"" : "");
    mst_sink_puts(sink, is_formula ? "'" : "");
    put_escaped(sink, string, put_csv_glyph);
    mst_sink_puts(sink, is_quoted ? "\"" : "");
}

void mst_tame(char *text, size_t length)
{
    unsigned char *s = (unsigned char *)text, *end = s + length;
    size_t n;

    for (; s < end; s += n)
        if (classify(s, &n) != GLYPH_TEXT && !is_layout(*s))
            memset(s, '?', n);
}
