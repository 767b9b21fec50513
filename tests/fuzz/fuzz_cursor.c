/* fuzz_cursor.c - any bytes as a cursor of the journal. (Queries: fuzz_negotiate.c) */
#include <stdlib.h>
#include <string.h>

#include "render/cursor.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

static void expect(bool right)
{
    if (!right)
        abort();
}

static int keep(void *text, const void *bytes, size_t n)
{
    strncat(text, bytes, n);
    return 0;
}

/* A cursor that is taken means the same when it is printed. */
static void cursor(const char *text)
{
    struct mst_cursor once, twice;
    char printed[2 * MST_CURSOR_MAX] = "";
    struct mst_sink sink;

    if (mst_cursor_parse(&once, text) != 0)
        return;
    mst_sink_init(&sink, keep, printed);
    mst_cursor_print(&sink, &once);
    expect(mst_sink_flush(&sink) == 0 && strlen(printed) < MST_CURSOR_MAX);
    expect(mst_cursor_parse(&twice, printed) == 0);
    expect(memcmp(&once, &twice, sizeof once) == 0);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    char *text = malloc(size + 1);

    expect(text != NULL);
    memcpy(text, data, size);
    text[size] = '\0';
    cursor(text);
    free(text);
    return 0;
}
