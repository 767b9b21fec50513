/* fuzz_cursor.c - any bytes as what a client sends to the status page: a query,
 * a line feed, an Accept header. And as a cursor.
 */
#include <stdlib.h>
#include <string.h>

#include "render.h"

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

static void expect_printable(const char *sentence)
{
    expect(strlen(sentence) > 0 && strlen(sentence) < MST_ERROR_MAX);
    for (; *sentence != '\0'; sentence++)
        expect(*sentence >= ' ' && *sentence <= '~');
}

/* What is taken is complete, what is refused has a sentence that shows anywhere. */
static void query(const char *text, const char *accept)
{
    char error[MST_ERROR_MAX] = "";
    enum mst_format format;
    struct mst_status_query q;

    expect(mst_format_accepted(accept) < MST_FORMAT_JOURNAL);
    if (mst_status_query_parse(&q, text, accept, error) == 0) {
        expect(q.format < MST_FORMAT_COUNT && q.limit >= 1 && q.limit <= MST_JOURNAL_PAGE_MAX);
        expect(memchr(q.since, '\0', sizeof q.since) != NULL);
        expect(memchr(q.board, '\0', sizeof q.board) != NULL && strchr(q.board, '/') == NULL);
    } else {
        expect_printable(error);
    }
    if (mst_format_parse(&format, text, MST_FORMAT_SNAPSHOTS, error) != 0)
        expect_printable(error);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    char *text = malloc(size + 1), *accept;

    expect(text != NULL);
    memcpy(text, data, size);
    text[size] = '\0';
    cursor(text);
    accept = strchr(text, '\n');
    if (accept != NULL)
        *accept++ = '\0';
    query(text, accept);
    free(text);
    return 0;
}
