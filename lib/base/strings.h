/* strings.h - a growing array of strings, as execvp() takes it; and texts that are put together. */
#ifndef MPMSTAT_STRINGS_H
#define MPMSTAT_STRINGS_H

#include <stdarg.h>
#include <stdbool.h>
#include <stddef.h>

/* Begins as { 0 }. An addition that fails (out of memory) leaves the array as it is and sets
 * `failed`, so that the caller checks once, after the last addition. */
struct mst_strings {
    size_t count;
    char **items;        /* a NULL follows the last one; NULL: nothing has been added */
    bool   failed;
};

void mst_strings_add(struct mst_strings *strings, const char *text);
void mst_strings_addf(struct mst_strings *strings, const char *format, ...)
    __attribute__((format(printf, 2, 3)));
/* Each of an array that ends with NULL; NULL: none. */
void mst_strings_add_all(struct mst_strings *strings, char *const *items);

/* Hands the array over to the caller, who frees it with mst_strings_free_items(). Where nothing was
 * added, it has only the final NULL. Returns NULL where an addition has failed; the strings are
 * freed then. */
char **mst_strings_steal(struct mst_strings *strings);

void mst_strings_free(struct mst_strings *strings);
void mst_strings_free_items(char **items);

/* The strings with a space between them, on the heap. NULL: out of memory. */
char *mst_strings_join(char *const *items);

/* Adds to a text in `size` bytes of which `used` are taken; what does not fit is cut. Returns how
 * many are taken then. */
size_t mst_string_append(char *text, size_t size, size_t used, const char *format, va_list args)
    __attribute__((format(printf, 4, 0)));

#endif
