/* pool.h - memory of a command: pools of APR, each freed as a whole.
 *
 * Memory of a pool lives as long as the pool. No function that takes a pool returns NULL, or fails,
 * for want of memory: the command then ends, with a sentence and MST_EXIT_OUTPUT. What it has
 * started is stopped by supervisors, as it is when the command is killed; an archive keeps what was
 * committed.
 *
 * Rooms that a server or a recorder is made of (record/, serve/, source/, explain/, what these use,
 * and all of lib/) use no pools: a recorder survives a moment without memory, so they allocate with
 * malloc() and say when it fails.
 */
#ifndef MPMSTAT_POOL_H
#define MPMSTAT_POOL_H

#include <apr_pools.h>
#include <apr_strings.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdio.h>

/* A pool within another one, with which it is freed; NULL: by itself. apr_pool_destroy() frees it.
 * A pool belongs to one thread. */
apr_pool_t *mst_pool_new(apr_pool_t *parent);

/* An element of `size` bytes, all zero, at the end of an array, which is NULL at first: `array` is
 * the address of the pointer to its first element. Another such element follows it, so an array of
 * pointers ends with NULL. All elements of an array are added with this function. */
void *mst_pool_append(apr_pool_t *pool, void *array, size_t *count, size_t size);

/* Ends the command, as a pool does where there is no memory left. */
void mst_out_of_memory(void) __attribute__((noreturn));

/* The memory that there is, or the end of the command: for memory that is not a pool's. */
void *mst_have(void *memory) __attribute__((returns_nonnull));

/* ---- strings ---- */

/* The text, as printf() makes it (apr_psprintf() does not know %zu). */
char *mst_pool_printf(apr_pool_t *pool, const char *format, ...)
    __attribute__((format(printf, 2, 3)));

/* An array of strings, as execvp() takes it. It begins as { 0 }. */
struct mst_list {
    size_t count;
    char **items;        /* a NULL follows the last one; NULL: nothing has been added */
};

/* Add copies, or a text as vprintf() makes it. */
void mst_list_addv(apr_pool_t *pool, struct mst_list *list, const char *format, va_list args)
    __attribute__((format(printf, 3, 0)));
void mst_list_add(apr_pool_t *pool, struct mst_list *list, const char *text);
void mst_list_add_all(apr_pool_t *pool, struct mst_list *list, const char *const *items);

/* The strings with a space between them. */
char *mst_list_join(apr_pool_t *pool, const struct mst_list *list);

/* The text with `value` in place of each `mark`. */
char *mst_pool_replace(apr_pool_t *pool, const char *text, const char *mark, const char *value);

/* Text that is written piece by piece. It is begun, written to `out`, and ended once. */
struct mst_stream {
    FILE  *out;
    char  *text;         /* between the two functions' calls: the stream's own */
    size_t size;
};

FILE *mst_stream_begin(struct mst_stream *stream);
char *mst_stream_end(struct mst_stream *stream, apr_pool_t *pool);

#endif
