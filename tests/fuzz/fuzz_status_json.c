/* fuzz_status_json.c - arbitrary bytes as a status URL's JSON. */

#include "source/source_kind.h"
#include "source/status_json.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    struct mst_sample sample = { 0 };
    struct mst_status status;
    char error[MST_ERROR_MAX];
    size_t i;

    if (mst_status_parse(&status, (const char *)data, size, error) != 0)
        return 0;
    for (i = 0; i < status.count; i++)
        mst_sample_from_snapshot(&sample, &status.boards[i]);
    mst_status_free(&status);
    return 0;
}
