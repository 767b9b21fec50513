/* strings.c - a growing array of strings: see strings.h. */
#include "base/strings.h"

#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/array.h"

static void take(struct mst_strings *strings, char *text)
{
    char **item = text != NULL
                      ? mst_append(&strings->items, &strings->count, sizeof *item) : NULL;

    if (item != NULL) {
        *item = text;
        return;
    }
    free(text);
    strings->failed = true;
}

void mst_strings_add(struct mst_strings *strings, const char *text)
{
    take(strings, strdup(text));
}

void mst_strings_addf(struct mst_strings *strings, const char *format, ...)
{
    char *text = NULL;
    va_list arguments;

    va_start(arguments, format);
    if (vasprintf(&text, format, arguments) < 0)
        text = NULL;
    va_end(arguments);
    take(strings, text);
}

void mst_strings_add_all(struct mst_strings *strings, char *const *items)
{
    for (; items != NULL && *items != NULL; items++)
        mst_strings_add(strings, *items);
}

char **mst_strings_steal(struct mst_strings *strings)
{
    char **items = strings->items;

    if (!strings->failed && items == NULL)
        items = calloc(1, sizeof *items);
    if (strings->failed) {
        mst_strings_free_items(items);
        items = NULL;
    }
    *strings = (struct mst_strings){ 0 };
    return items;
}

void mst_strings_free_items(char **items)
{
    char **item;

    for (item = items; item != NULL && *item != NULL; item++)
        free(*item);
    free(items);
}

void mst_strings_free(struct mst_strings *strings)
{
    mst_strings_free_items(strings->items);
    *strings = (struct mst_strings){ 0 };
}

char *mst_strings_join(char *const *items)
{
    char *text = NULL;
    size_t size, i;
    FILE *out = open_memstream(&text, &size);

    if (out == NULL)
        return NULL;
    for (i = 0; items[i] != NULL; i++)
        fprintf(out, "%s%s", i > 0 ? " " : "", items[i]);
    if (fclose(out) == 0)
        return text;
    free(text);
    return NULL;
}

size_t mst_string_append(char *text, size_t size, size_t used, const char *format, va_list args)
{
    size_t room = size - used;
    int n = vsnprintf(text + used, room, format, args);

    return used + (n < 0 ? 0 : (size_t)n < room ? (size_t)n : room - 1);
}
