/* pool.c - memory of a command: see pool.h. */
#include "memory/pool.h"

#include <apr_general.h>
#include <stdlib.h>
#include <string.h>

#include "console/diag.h"

void mst_out_of_memory(void)
{
    mst_error("out of memory: the command ends here, and its output is not complete");
    exit(MST_EXIT_OUTPUT);
}

/* APR calls it where malloc() fails. */
static int no_memory(int status)
{
    (void)status;
    mst_out_of_memory();
}

apr_pool_t *mst_pool_new(apr_pool_t *parent)
{
    apr_pool_t *pool = NULL;

    if (apr_initialize() != APR_SUCCESS ||
        apr_pool_create_ex(&pool, parent, no_memory, NULL) != APR_SUCCESS)
        mst_out_of_memory();
    return pool;
}

void *mst_have(void *memory)
{
    if (memory == NULL)
        mst_out_of_memory();
    return memory;
}

/* There is room for a power of two of elements: an array moves where its count, with the element of
 * zeroes, reaches one. Pointers to different types have one representation, but are not of one
 * type: hence memcpy(). */
void *mst_pool_append(apr_pool_t *pool, void *array, size_t *count, size_t size)
{
    size_t held = *count + 1;
    char *items = NULL, *moved;

    if (*count > 0)
        memcpy(&items, array, sizeof items);
    if ((held & (held - 1)) == 0) {
        moved = apr_palloc(pool, 2 * held * size);
        if (*count > 0)
            memcpy(moved, items, *count * size);
        items = moved;
        memcpy(array, &items, sizeof items);
    }
    return memset(items + size * (*count)++, 0, 2 * size);
}

__attribute__((format(printf, 2, 0)))
static char *print(apr_pool_t *pool, const char *format, va_list args)
{
    va_list again;
    size_t size;
    char *text;

    va_copy(again, args);
    size = (size_t)vsnprintf(NULL, 0, format, again) + 1;
    va_end(again);
    text = apr_palloc(pool, size);
    vsnprintf(text, size, format, args);
    return text;
}

char *mst_pool_printf(apr_pool_t *pool, const char *format, ...)
{
    va_list args;
    char *text;

    va_start(args, format);
    text = print(pool, format, args);
    va_end(args);
    return text;
}

/* The string is the list's from then on. */
static void take(apr_pool_t *pool, struct mst_list *list, char *text)
{
    char **item = mst_pool_append(pool, &list->items, &list->count, sizeof *item);

    *item = text;
}

void mst_list_add(apr_pool_t *pool, struct mst_list *list, const char *text)
{
    take(pool, list, apr_pstrdup(pool, text));
}

void mst_list_addv(apr_pool_t *pool, struct mst_list *list, const char *format, va_list args)
{
    take(pool, list, print(pool, format, args));
}

void mst_list_add_all(apr_pool_t *pool, struct mst_list *list, const char *const *items)
{
    for (; *items != NULL; items++)
        mst_list_add(pool, list, *items);
}

char *mst_list_join(apr_pool_t *pool, const struct mst_list *list)
{
    struct mst_stream joined;
    size_t i;

    mst_stream_begin(&joined);
    for (i = 0; i < list->count; i++)
        fprintf(joined.out, "%s%s", i > 0 ? " " : "", list->items[i]);
    return mst_stream_end(&joined, pool);
}

FILE *mst_stream_begin(struct mst_stream *stream)
{
    stream->out = mst_have(open_memstream(&stream->text, &stream->size));
    return stream->out;
}

char *mst_stream_end(struct mst_stream *stream, apr_pool_t *pool)
{
    char *text;

    if (fclose(stream->out) != 0)
        mst_out_of_memory();
    text = apr_pstrmemdup(pool, stream->text, stream->size);
    free(stream->text);
    return text;
}

char *mst_pool_replace(apr_pool_t *pool, const char *text, const char *mark, const char *value)
{
    struct mst_stream stream;
    const char *found;

    mst_stream_begin(&stream);
    while ((found = strstr(text, mark)) != NULL) {
        fprintf(stream.out, "%.*s%s", (int)(found - text), text, value);
        text = found + strlen(mark);
    }
    fputs(text, stream.out);
    return mst_stream_end(&stream, pool);
}
