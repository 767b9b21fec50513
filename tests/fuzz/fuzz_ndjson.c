/* fuzz_ndjson.c - arbitrary bytes as a status URL's journal. */
#include <stdlib.h>

#include "ndjson.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    struct mst_ndjson answer = { 0 };
    char error[MST_ERROR_MAX];
    size_t i;

    if (mst_ndjson_read((const char *)data, size, &answer, error) == 0)
        for (i = 0; i < answer.count; i++)
            if (answer.lines[i].kind != MST_NDJSON_REQUEST &&
                answer.lines[i].kind != MST_NDJSON_LIFECYCLE)
                abort();
    mst_ndjson_free(&answer);
    return 0;
}
