/* fuzz_ndjson.c - arbitrary bytes as a status URL's journal. */
#include <stdlib.h>
#include <string.h>

#include "source/ndjson.h"

#define LIMIT 100u   /* records of a kind */

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

static void expect_text(const char *text, size_t room)
{
    if (memchr(text, '\0', room) == NULL)
        abort();
}

/* What is given is one of the known kinds, and its texts end. */
static void expect_line(const struct mst_ndjson_line *line)
{
    switch (line->kind) {
    case MST_NDJSON_PHP_REQUEST:
        expect_text(line->record.php_request.script, MST_PATH_MAX);
        /* fallthrough */
    case MST_NDJSON_REQUEST:
        expect_text(line->label, MST_NAME_MAX);
        expect_text(line->ends[0], MST_NAME_MAX);
        expect_text(line->ends[1], MST_NAME_MAX);
        expect_text(line->path, MST_PATH_NAME_MAX);
        break;
    case MST_NDJSON_MARK:
        expect_text(line->record.mark.name, MST_MARK_MAX);
        break;
    case MST_NDJSON_LIFECYCLE:
    case MST_NDJSON_DELIVERY:
        break;
    default:
        abort();
    }
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    struct mst_ndjson answer = { 0 };
    char error[MST_ERROR_MAX];
    size_t i;

    if (mst_ndjson_read((const char *)data, size, LIMIT, &answer, error) == 0)
        for (i = 0; i < answer.count; i++)
            expect_line(&answer.lines[i]);
    mst_ndjson_free(&answer);
    return 0;
}
