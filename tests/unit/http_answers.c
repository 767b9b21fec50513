/* http_answers.c - see http_answers.h. */
#include <stdlib.h>
#include <string.h>

#include "harness.h"
#include "http_answers.h"
#include "write/journal.h"

int append(void *context, const void *bytes, size_t n)
{
    struct text *t = context;

    t->bytes = realloc(t->bytes, t->length + n + 1);
    ck_assert_ptr_nonnull(t->bytes);
    memcpy(t->bytes + t->length, bytes, n);
    t->length += n;
    t->bytes[t->length] = '\0';
    return 0;
}
