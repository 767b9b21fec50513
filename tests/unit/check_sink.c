/* check_sink.c - what each format makes of strings that anybody may have written: every byte
 * alone, every pair of bytes, every character that a terminal or a page would obey; and its buffer.
 */
#include <jansson.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "boards.h"
#include "harness.h"
#include "render/script.h"
#include "render/sink.h"

#define REPLACEMENT "\xef\xbf\xbd"   /* U+FFFD */
#define LONGEST     4096             /* bytes of what is read back, with its NUL */

/* ---- UTF-8, by another way than the sink's -------------------------------------------- */

/* The character at s, of *length bytes; -1: none. */
static long decode(const unsigned char *s, size_t *length)
{
    static const long least[] = { 0, 0, 0x80, 0x800, 0x10000 };
    long code;
    size_t i;

    *length = s[0] < 0x80 ? 1 : s[0] >> 5 == 6 ? 2 : s[0] >> 4 == 14 ? 3 : s[0] >> 3 == 30 ? 4 : 0;
    if (*length < 2)
        return *length == 1 ? s[0] : -1;
    code = s[0] & (0x7f >> *length);
    for (i = 1; i < *length; i++) {
        if (s[i] >> 6 != 2)
            return -1;
        code = code << 6 | (s[i] & 0x3f);
    }
    return code < least[*length] || code > 0x10ffff || (code >= 0xd800 && code < 0xe000) ? -1
                                                                                         : code;
}

static bool is_obeyed(long code)
{
    return code < 0x20 || (code >= 0x7f && code < 0xa0) || (code >= 0x2028 && code <= 0x202e)
        || (code >= 0x2066 && code <= 0x2069);
}

/* ---- the formats ------------------------------------------------------------------------ */

static void text(struct mst_sink *sink, const char *string)
{
    mst_sink_text_string(sink, string, false);
}

static void text_key(struct mst_sink *sink, const char *string)
{
    mst_sink_text_string(sink, string, true);
}

static void help(struct mst_sink *sink, const char *string)
{
    mst_sink_help(sink, string, true);
}

static void classic_help(struct mst_sink *sink, const char *string)
{
    mst_sink_help(sink, string, false);
}

/* In a page's <script>. */
static void script_json(struct mst_sink *sink, const char *string)
{
    struct mst_script script = { .to = sink };
    struct mst_sink json;

    mst_sink_init(&json, mst_script_write, &script);
    mst_sink_json_string(&json, string);
    mst_sink_flush(&json);
    mst_script_end(&script);
}

/* Another writer's JSON, which lets everything through that JSON does. */
static void foreign_json(struct mst_sink *sink, const char *string)
{
    json_t *value = json_string(string);
    char *json;

    if (value == NULL) {       /* no UTF-8: not jansson's */
        mst_sink_json(sink, "\"\xff\"");
        return;
    }
    json = json_dumps(value, JSON_ENCODE_ANY);
    ck_assert_ptr_nonnull(json);
    mst_sink_json(sink, json);
    json_decref(value);
    free(json);
}

static void tamed(struct mst_sink *sink, const char *string)
{
    char *copy = strdup(string);

    ck_assert_ptr_nonnull(copy);
    mst_tame(copy, strlen(copy));
    mst_sink_puts(sink, copy);
    free(copy);
}

/* Readers of the formats: append the string to `out` and return whether there was one. */
typedef bool reader(const char *written, char *out);

static bool read_json(const char *written, char *out)
{
    json_t *value = json_loads(written, JSON_DECODE_ANY, NULL);
    bool is_string = json_is_string(value);

    strcpy(out, is_string ? json_string_value(value) : "");
    json_decref(value);
    return is_string;
}

static bool read_script(const char *written, char *out)
{
    return strchr(written, '<') == NULL && read_json(written, out);
}

/* OpenMetrics up to `end`; NULL: it is none. */
static const char *read_metric(const char *written, char end, char *out)
{
    for (; *written != end; written++) {
        bool escaped = *written == '\\';

        written += escaped;
        if (*written == '\0' || *written == '\n' || (escaped && strchr("\\\"n", *written) == NULL))
            return NULL;
        *out++ = escaped && *written == 'n' ? '\n' : *written;
    }
    *out = '\0';
    return written;
}

static bool read_label(const char *written, char *out)
{
    const char *end = *written == '"' ? read_metric(written + 1, '"', out) : NULL;

    return end != NULL && end[1] == '\0';
}

static bool read_help(const char *written, char *out)
{
    return read_metric(written, '\0', out) != NULL;
}

static bool read_text(const char *written, char *out)
{
    unsigned byte;

    while (*written != '\0') {
        if (*written != '\\') {
            *out++ = *written++;
            continue;
        }
        if (sscanf(written, "\\x%2x", &byte) != 1)
            return false;
        *out++ = (char)byte;
        written += 4;
    }
    *out = '\0';
    return true;
}

static bool read_entities(const char *written, char *out)
{
    static const struct { const char *entity; char c; } known[] = {
        { "&amp;", '&' }, { "&lt;", '<' }, { "&gt;", '>' }, { "&quot;", '"' }, { "&#39;", '\'' },
    };
    size_t i;

    while (*written != '\0') {
        for (i = 0; i < 5 && strncmp(written, known[i].entity, strlen(known[i].entity)) != 0; i++)
            ;
        if (i == 5 && strchr("&<>\"'", *written) != NULL)
            return false;
        *out++ = i < 5 ? known[i].c : *written;
        written += i < 5 ? strlen(known[i].entity) : 1;
    }
    *out = '\0';
    return true;
}

static bool read_markdown(const char *written, char *out)
{
    unsigned code;
    int n;

    while (*written != '\0') {
        n = 0;
        if (sscanf(written, "&#%u;%n", &code, &n) == 1 && n > 0) {
            *out++ = (char)code;
            written += n;
        } else {
            written += *written == '\\';
            *out++ = *written++;
        }
    }
    *out = '\0';
    return true;
}

/* A cell; what keeps a spreadsheet from taking it for a formula goes. */
static bool read_csv(const char *written, char *out)
{
    char *begin = out;
    bool quoted = *written == '"';

    for (written += quoted; *written != '\0'; written++) {
        if (*written == '"' && *++written != '"') {
            *out = '\0';
            if (*begin == '\'' && begin[1] != '\0' && strchr("=+-@\t", begin[1]) != NULL)
                memmove(begin, begin + 1, strlen(begin));
            return quoted && *written == '\0';
        }
        *out++ = *written;
    }
    *out = '\0';
    return !quoted && strpbrk(begin, ",\n") == NULL
        && (*begin == '\0' || strchr("=+-@\t", *begin) == NULL);
}

static bool read_plain(const char *written, char *out)
{
    strcpy(out, written);
    return true;
}

/* What becomes of an obeyed character, and of a byte that is not UTF-8. NULL: the reader gets
 * back what was written. */
static const struct format {
    const char *name;
    void      (*write)(struct mst_sink *, const char *);
    reader     *read;
    const char *control, *unseen, *malformed;
    const char *kept;       /* controls that are themselves */
    const char *raw;        /* of these, those that are not escaped */
} formats[] = {
    { "JSON", mst_sink_json_string, read_json, NULL, NULL, REPLACEMENT, "", "" },
    { "JSON in a script", script_json, read_script, NULL, NULL, REPLACEMENT, "", "" },
    { "JSON of others", foreign_json, NULL, NULL, NULL, NULL, "", "" },
    { "text", text, read_text, NULL, NULL, NULL, "", "" },
    { "a text's key", text_key, read_text, NULL, NULL, NULL, "", "" },
    { "a label's value", mst_sink_label_value, read_label, REPLACEMENT, REPLACEMENT, REPLACEMENT,
      "\n", "" },
    { "help", help, read_help, REPLACEMENT, REPLACEMENT, REPLACEMENT, "\n", "" },
    { "older help", classic_help, read_help, REPLACEMENT, REPLACEMENT, REPLACEMENT, "\n", "" },
    { "a message's text", mst_sink_plain_string, read_plain, REPLACEMENT, REPLACEMENT,
      REPLACEMENT, "\n", "\n" },
    { "HTML", mst_sink_html_string, read_entities, REPLACEMENT, REPLACEMENT, REPLACEMENT, "\n\t",
      "\n\t" },
    { "Markdown", mst_sink_markdown_string, read_markdown, " ", REPLACEMENT, REPLACEMENT, "", "" },
    { "CSV", mst_sink_csv_string, read_csv, REPLACEMENT, REPLACEMENT, REPLACEMENT, "\n\t",
      "\n\t" },
    { "a terminal's", tamed, NULL, NULL, NULL, NULL, "\n\t", "\n\t" },
};
#define FORMATS (sizeof formats / sizeof *formats)

/* ---- what holds for all of them ------------------------------------------------------------- */

static char *written(const struct format *f, const char *string)
{
    struct test_kept kept;

    test_kept_begin(&kept);
    f->write(&kept.sink, string);
    ck_assert_int_eq(test_kept_end(&kept), 0);
    return kept.text;
}

static void expect_harmless(const struct format *f, const char *string, const char *out)
{
    const unsigned char *s = (const unsigned char *)out;
    size_t length;
    long code;

    for (; *s != '\0'; s += length) {
        code = decode(s, &length);
        if (code < 0)
            ck_abort_msg("%s of \"%s\" is not UTF-8: \"%s\"", f->name, string, out);
        if (is_obeyed(code) && (code >= 0x80 || strchr(f->raw, (int)code) == NULL))
            ck_abort_msg("%s of \"%s\" has a raw U+%04lX", f->name, string, code);
    }
}

/* What a reader of the format gets. */
static void expected(const struct format *f, const char *string, char *out)
{
    const unsigned char *s = (const unsigned char *)string;
    const char *instead;
    size_t length;
    long code;

    for (*out = '\0'; *s != '\0'; s += length) {
        code = decode(s, &length);
        instead = code < 0 ? f->malformed : !is_obeyed(code) ? NULL
                : code < 0x80 ? strchr(f->kept, (int)code) != NULL ? NULL : f->control
                : f->unseen;
        length = code < 0 ? 1 : length;
        if (instead != NULL)
            strcat(out, instead);
        else
            strncat(out, (const char *)s, length);
    }
}

static void expect_read_back(const struct format *f, const char *string, const char *out)
{
    char found[LONGEST], wanted[LONGEST];

    expected(f, string, wanted);
    ck_assert_msg(f->read(out, found), "no reader of %s takes \"%s\"", f->name, out);
    ck_assert_msg(strcmp(found, wanted) == 0, "%s of \"%s\" is \"%s\": expected \"%s\", read "
                  "\"%s\"", f->name, string, out, wanted, found);
}

static void check_string(const struct format *f, const char *string)
{
    char *out = written(f, string);

    expect_harmless(f, string, out);
    if (f->read != NULL)
        expect_read_back(f, string, out);
    free(out);
}

static void check_in_places(const struct format *f, const char *string)
{
    char longer[32];

    check_string(f, string);
    snprintf(longer, sizeof longer, "a%s", string);
    check_string(f, longer);
    snprintf(longer, sizeof longer, "%sz", string);
    check_string(f, longer);
    snprintf(longer, sizeof longer, "\xc3\xa9%s,%s: ]", string, string);
    check_string(f, longer);
}

START_TEST(every_byte_is_harmless)
{
    char string[2] = "";
    unsigned byte;

    check_string(&formats[_i], "");
    for (byte = 1; byte < 256; byte++) {
        string[0] = (char)byte;
        check_in_places(&formats[_i], string);
    }
}
END_TEST

START_TEST(every_pair_of_bytes_is_harmless)
{
    char string[3 * 255 + 1], *at;
    unsigned first, second;

    for (first = 1; first < 256; first++) {
        for (second = 1, at = string; second < 256; second++) {
            *at++ = (char)first;
            *at++ = (char)second;
            *at++ = '.';
        }
        *at = '\0';
        check_string(&formats[_i], string);
    }
}
END_TEST

/* Of two bytes: C1. Of three: what ends lines, what reverses text, and all about it. */
START_TEST(every_character_that_is_obeyed_is_harmless)
{
    char string[4] = "\xc2";
    unsigned byte;

    for (byte = 0x80; byte < 0xc0; byte++) {
        string[1] = (char)byte;
        check_in_places(&formats[_i], string);
    }
    memcpy(string, "\xe2\x80", 2);
    for (byte = 0x80; byte < 0xc0; byte++) {
        string[2] = (char)byte;
        check_in_places(&formats[_i], string);
    }
    memcpy(string, "\xe2\x81", 2);
    for (byte = 0x80; byte < 0xc0; byte++) {
        string[2] = (char)byte;
        check_in_places(&formats[_i], string);
    }
}
END_TEST

/* ---- what it looks like ------------------------------------------------------------------ */

START_TEST(controls_look_as_documented)
{
    static const char string[] = "a\r\n\x1b\x7f\xc2\x9b\xe2\x80\xa8\xe2\x80\xae\xff";
    static const char *const looks[FORMATS] = {
        "\"a\\u000d\\u000a\\u001b\\u007f\\u009b\\u2028\\u202e\\ufffd\"",
        "\"a\\u000d\\u000a\\u001b\\u007f\\u009b\\u2028\\u202e\\ufffd\"", "\"\\ufffd\"",
        "a\\x0d\\x0a\\x1b\\x7f\\xc2\\x9b\\xe2\\x80\\xa8\\xe2\\x80\\xae\\xff",
        "a\\x0d\\x0a\\x1b\\x7f\\xc2\\x9b\\xe2\\x80\\xa8\\xe2\\x80\\xae\\xff",
#define FIVE REPLACEMENT REPLACEMENT REPLACEMENT REPLACEMENT REPLACEMENT
        "\"a" REPLACEMENT "\\n" FIVE REPLACEMENT "\"", "a" REPLACEMENT "\\n" FIVE REPLACEMENT,
        "a" REPLACEMENT "\\n" FIVE REPLACEMENT, "a" REPLACEMENT "\n" FIVE REPLACEMENT,
        "a" REPLACEMENT "\n" FIVE REPLACEMENT,
        "a    " REPLACEMENT REPLACEMENT REPLACEMENT REPLACEMENT,
        "\"a" REPLACEMENT "\n" FIVE REPLACEMENT "\"", "a?\n????" "???" "????",
    };
    char *out = written(&formats[_i], string);

    ck_assert_str_eq(out, looks[_i]);
    free(out);
}
END_TEST

START_TEST(json_of_others_keeps_its_layout)
{
    struct test_kept kept;

    test_kept_begin(&kept);
    mst_sink_json(&kept.sink, "{\r\n\t\"a\\\"\x7f\": [1, \"\xc2\x80 \xe2\x80\xa9 \xc3\xa9 "
                  "\xff\"]}\n");
    ck_assert_int_eq(test_kept_end(&kept), 0);
    ck_assert_str_eq(kept.text, "{ \n\t\"a\\\"\\u007f\": [1, \"\\u0080 \\u2029 \xc3\xa9 "
                     "\\ufffd\"]}\n");
    free(kept.text);
}
END_TEST

/* ---- strings against what is expected of them -------------------------------------------- */

/* What an escape function makes of a string. */
static char *escaped(void (*escape)(struct mst_sink *, const char *), const char *string)
{
    struct test_kept kept;

    test_kept_begin(&kept);
    escape(&kept.sink, string);
    ck_assert_int_eq(test_kept_end(&kept), 0);
    ck_assert_int_eq(mst_sink_flush(&kept.sink), 0);
    return kept.text;
}

static void escape_text(struct mst_sink *sink, const char *string)
{
    mst_sink_text_string(sink, string, false);
}

static void escape_key(struct mst_sink *sink, const char *string)
{
    mst_sink_text_string(sink, string, true);
}

static void expect_escaped(const char *string, const char *json, const char *text, const char *key,
                           const char *metric)
{
    char *found;

    found = escaped(mst_sink_json_string, string);
    ck_assert_str_eq(found, json);
    free(found);
    found = escaped(escape_text, string);
    ck_assert_str_eq(found, text);
    free(found);
    found = escaped(escape_key, string);
    ck_assert_str_eq(found, key);
    free(found);
    found = escaped(mst_sink_label_value, string);
    ck_assert_str_eq(found, metric);
    free(found);
}

START_TEST(strings_are_escaped)
{
    expect_escaped("plain", "\"plain\"", "plain", "plain", "\"plain\"");
    expect_escaped("", "\"\"", "", "", "\"\"");
    expect_escaped(NULL, "null", "", "", "\"\"");
    expect_escaped("a\"b\\c\nd", "\"a\\\"b\\\\c\\u000ad\"", "a\"b\\x5cc\\x0ad", "a\"b\\x5cc\\x0ad",
                   "\"a\\\"b\\\\c\\nd\"");
    expect_escaped("a]: b", "\"a]: b\"", "a]: b", "a\\x5d:\\x20b", "\"a]: b\"");
    expect_escaped("\x7f\x1b", "\"\\u007f\\u001b\"", "\\x7f\\x1b", "\\x7f\\x1b",
                   "\"\xef\xbf\xbd\xef\xbf\xbd\"");
    expect_escaped("\xc2\x9b", "\"\\u009b\"", "\\xc2\\x9b", "\\xc2\\x9b",
                   "\"\xef\xbf\xbd\"");
}
END_TEST

/* UTF-8 that is none: each byte is replaced by itself. */
START_TEST(bytes_that_are_no_utf8_are_replaced)
{
    static const char *const bad[] = {
        "\x80", "\xbf", "\xc0\x80", "\xc1\xbf", "\xe0\x80\x80", "\xe0\x9f\xbf", "\xed\xa0\x80",
        "\xf0\x8f\xbf\xbf", "\xf4\x90\x80\x80", "\xf5\x80\x80\x80", "\xff", "\xc3", "\xe2\x82",
        "\xf0\x9f\x98",
    };
    static const char *const good[] = {
        "\xc2\xa0", "\xdf\xbf", "\xe0\xa0\x80", "\xed\x9f\xbf", "\xee\x80\x80", "\xef\xbf\xbf",
        "\xf0\x90\x80\x80", "\xf4\x8f\xbf\xbf",
    };
    size_t i, k;

    for (i = 0; i < sizeof bad / sizeof bad[0]; i++) {
        char json[64] = "\"", text[64] = "", metric[64] = "\"";

        for (k = 0; bad[i][k] != '\0'; k++) {
            strcat(json, "\\ufffd");
            snprintf(text + strlen(text), 8, "\\x%02x", (unsigned char)bad[i][k]);
            strcat(metric, "\xef\xbf\xbd");
        }
        expect_escaped(bad[i], strcat(json, "\""), text, text, strcat(metric, "\""));
    }
    for (i = 0; i < sizeof good / sizeof good[0]; i++) {
        char quoted[16];

        snprintf(quoted, sizeof quoted, "\"%s\"", good[i]);
        expect_escaped(good[i], quoted, good[i], good[i], quoted);
    }
}
END_TEST

/* ---- the buffer ---------------------------------------------------------------------------- */

START_TEST(a_piece_larger_than_the_buffer_is_written_in_order)
{
    static char piece[20000];
    struct test_kept kept;

    memset(piece, 'x', sizeof piece);
    test_kept_begin(&kept);
    mst_sink_puts(&kept.sink, "before");
    mst_sink_bytes(&kept.sink, piece, sizeof piece);
    mst_sink_puts(&kept.sink, "after");
    ck_assert_int_eq(mst_sink_flush(&kept.sink), 0);
    ck_assert_int_eq(test_kept_end(&kept), 0);
    ck_assert_uint_eq(kept.length, 6 + sizeof piece + 5);
    ck_assert_int_eq(strncmp(kept.text, "beforex", 7), 0);
    ck_assert_str_eq(kept.text + kept.length - 6, "xafter");
    free(kept.text);
}
END_TEST

int main(void)
{
    Suite *suite = suite_create("sink");
    TCase *tests = tcase_create("escapes");

    tcase_add_loop_test(tests, every_byte_is_harmless, 0, FORMATS);
    tcase_add_loop_test(tests, every_pair_of_bytes_is_harmless, 0, FORMATS);
    tcase_add_loop_test(tests, every_character_that_is_obeyed_is_harmless, 0, FORMATS);
    tcase_add_loop_test(tests, controls_look_as_documented, 0, FORMATS);
    tcase_add_test(tests, json_of_others_keeps_its_layout);
    tcase_add_test(tests, strings_are_escaped);
    tcase_add_test(tests, bytes_that_are_no_utf8_are_replaced);
    tcase_add_test(tests, a_piece_larger_than_the_buffer_is_written_in_order);
    suite_add_tcase(suite, tests);
    return test_run(suite);
}
