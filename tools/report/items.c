/* items.c - a subject and what is said of it: see items.h. */
#include "report/items.h"

#include <stdarg.h>
#include <stdio.h>
#include <string.h>

#define WIDTH  80u
#define INDENT 16u   /* columns before a value */

__attribute__((format(printf, 3, 0)))
static void add_text(struct mst_items *items, const char *before, const char *format, va_list args)
{
    size_t room = sizeof items->text - items->used, length = strlen(before);
    int n;

    if (length >= room)
        return;
    memcpy(items->text + items->used, before, length + 1);
    n = vsnprintf(items->text + items->used + length, room - length, format, args);
    if (n >= 0 && length + (size_t)n < room)
        items->used += length + (size_t)n;
    items->text[items->used] = '\0';
}

void mst_items_add(struct mst_items *items, const char *format, ...)
{
    va_list args;

    va_start(args, format);
    add_text(items, items->used > 0 ? ", " : "", format, args);
    va_end(args);
}

void mst_items_more(struct mst_items *items, const char *format, ...)
{
    va_list args;

    va_start(args, format);
    add_text(items, "", format, args);
    va_end(args);
}

static bool begins_character(char c)
{
    return ((unsigned char)c & 0xc0) != 0x80;
}

static size_t columns(const char *text, size_t length)
{
    size_t i, n = 0;

    for (i = 0; i < length; i++)
        n += begins_character(text[i]);
    return n;
}

/* Keeps the first characters; a sink's writer. */
static int keep_name(void *context, const void *bytes, size_t n)
{
    struct mst_item_name *name = context;
    const char *more = bytes;
    size_t i;

    for (i = 0; i < n && !name->cut; i++) {
        name->cut = begins_character(more[i]) &&
                    columns(name->text, name->used) == MST_NAME_COLUMNS;
        if (!name->cut && name->used + 4 < sizeof name->text)
            name->text[name->used++] = more[i];
    }
    return 0;
}

struct mst_item_name mst_items_name(const char *string)
{
    struct mst_item_name name = { .used = 0 };
    struct mst_sink sink;

    mst_sink_init(&sink, keep_name, &name);
    mst_sink_text_string(&sink, string, false);
    mst_sink_flush(&sink);
    if (name.cut)
        memcpy(name.text + name.used, "...", 4);
    return name;
}

/* The bytes of a text that go on the first line of `room` columns: its items up to the last that
 * ends there; of an item that is longer than the line, its words. */
static size_t first_line(const char *text, size_t room)
{
    size_t n, column = 0, blank = 0, item = 0;

    for (n = 0; text[n] != '\0'; n++) {
        column += begins_character(text[n]);
        if (column > room && text[n] != ' ')
            return item > 0 ? item : blank > 0 ? blank : n;
        if (text[n] == ' ')
            blank = n;
        if (text[n] == ' ' && n > 0 && text[n - 1] == ',')
            item = n;
    }
    return n;
}

void mst_items_put(struct mst_sink *sink, const char *subject, const struct mst_items *items)
{
    const char *text = items->text;
    char label[INDENT + 1];
    size_t n;

    while (*text != '\0') {
        snprintf(label, sizeof label, "  %-*s", (int)INDENT - 2, subject);
        n = first_line(text, WIDTH - INDENT);
        mst_sink_puts(sink, label);
        mst_sink_bytes(sink, text, n);
        mst_sink_char(sink, '\n');
        text += n + (text[n] == ' ');
        subject = "";
    }
}

