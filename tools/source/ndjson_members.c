/* ndjson_members.c - the members of one line of the journal: see ndjson_members.h. */
#include "source/ndjson_members.h"

#include <stdarg.h>
#include <stdio.h>
#include <string.h>

#include "base/clock.h"
#include "segment/format.h"

void mst_line_complain(struct mst_line *l, const char *format, ...)
{
    va_list args;

    if (l->problem[0] != '\0')
        return;
    va_start(args, format);
    vsnprintf(l->problem, sizeof l->problem, format, args);
    va_end(args);
}

size_t mst_decimal_ns(const char *text, size_t length, uint64_t *ns)
{
    uint64_t value = 0, scale = MST_NS_PER_S / 10;
    size_t i = 0, decimals;

    for (; i < length && text[i] >= '0' && text[i] <= '9'; i++)
        if (__builtin_mul_overflow(value, 10, &value) ||
            __builtin_add_overflow(value, (uint64_t)(text[i] - '0'), &value))
            return 0;
    if (i == 0 || __builtin_mul_overflow(value, MST_NS_PER_S, &value))
        return 0;
    if (i < length && text[i] == '.') {
        decimals = ++i;
        for (; i < length && text[i] >= '0' && text[i] <= '9'; i++, scale /= 10)
            if (__builtin_add_overflow(value, scale * (uint64_t)(text[i] - '0'), &value))
                return 0;
        if (i == decimals || i - decimals > 9)
            return 0;
    }
    *ns = value;
    return i;
}

/* The text of a number member. jansson makes a double of it, which has not
 * enough digits for a time of day in nanoseconds. The line is known to be one
 * valid object: unescaped, "key": cannot stand within a string. NULL: not there
 * in this plain form. */
static const char *number_text(const struct mst_line *l, const char *key)
{
    const char *from = l->text, *end = l->text + l->length, *found;
    char pattern[32];
    size_t n = (size_t)snprintf(pattern, sizeof pattern, "\"%s\":", key);

    while ((found = memmem(from, (size_t)(end - from), pattern, n)) != NULL) {
        if (found > l->text && found[-1] != '\\')
            return found + n;
        from = found + n;
    }
    return NULL;
}

uint64_t mst_line_seconds(struct mst_line *l, const char *key)
{
    const char *text = number_text(l, key);
    uint64_t ns = 0;
    size_t n = 0;

    if (json_is_null(json_object_get(l->object, key)))
        return MST_UNKNOWN;
    if (text != NULL)
        n = mst_decimal_ns(text, (size_t)(l->text + l->length - text), &ns);
    if (n == 0 || (text[n] != ',' && text[n] != '}'))
        mst_line_complain(l, "expected \"%s\" to be seconds with up to nine decimals", key);
    return ns;
}

uint64_t mst_line_seconds_if_sent(struct mst_line *l, const char *key)
{
    return json_object_get(l->object, key) != NULL ? mst_line_seconds(l, key) : MST_UNKNOWN;
}

uint64_t mst_line_integer(struct mst_line *l, const char *key, uint64_t max)
{
    const json_t *value = json_object_get(l->object, key);
    json_int_t n = json_integer_value(value);

    if (!json_is_integer(value) || n < 0 || (uint64_t)n > max) {
        mst_line_complain(l, "expected \"%s\" to be an integer from 0 to %llu", key,
                 (unsigned long long)max);
        return 0;
    }
    return (uint64_t)n;
}

uint64_t mst_line_integer_or_null(struct mst_line *l, const char *key, uint64_t max,
                                  uint64_t absent)
{
    return json_is_null(json_object_get(l->object, key)) ? absent : mst_line_integer(l, key, max);
}

bool mst_line_boolean(struct mst_line *l, const char *key)
{
    const json_t *value = json_object_get(l->object, key);

    if (!json_is_boolean(value))
        mst_line_complain(l, "expected \"%s\" to be true or false", key);
    return json_is_true(value);
}

uint64_t mst_line_count(struct mst_line *l, const char *key)
{
    return mst_line_integer_or_null(l, key, INT64_MAX, MST_UNKNOWN);
}

void mst_line_string(struct mst_line *l, const char *key, char *out, size_t room)
{
    const char *value = json_string_value(json_object_get(l->object, key));

    if (value == NULL || strlen(value) >= room) {
        mst_line_complain(l, "expected \"%s\" to be a string of at most %zu bytes", key, room - 1);
        value = "";
    }
    snprintf(out, room, "%s", value);
}

#define REPLACED_BYTES 3u   /* of \ufffd, which stands for a byte that was not UTF-8 */

void mst_line_cut_string(struct mst_line *l, const char *key, char *out, size_t room)
{
    const char *value = json_string_value(json_object_get(l->object, key));
    size_t n = value != NULL ? strlen(value) : 0, most = REPLACED_BYTES * (room - 1);

    memset(out, 0, room);
    if (value == NULL || n > most) {
        mst_line_complain(l, "expected \"%s\" to be a string of at most %zu bytes", key, most);
        return;
    }
    if (n > room - 1)
        for (n = room - 1; n > 0 && ((unsigned char)value[n] & 0xc0) == 0x80; n--)
            ;
    memcpy(out, value, n);
}

size_t mst_line_name_index(const struct mst_line *l, const char *key, const char *const *names,
                           size_t n)
{
    const char *value = json_string_value(json_object_get(l->object, key));
    size_t i;

    for (i = 0; value != NULL && i < n; i++)
        if (strcmp(names[i], value) == 0)
            return i;
    return n;
}
