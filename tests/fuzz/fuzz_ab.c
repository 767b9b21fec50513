/* fuzz_ab.c - arbitrary bytes as what ab printed, as its rows, as its options. */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "loadtools/loadtool.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

static int count_row(void *context, const struct mst_client_row *row)
{
    if (row->duration_ns == MST_UNKNOWN)
        abort();
    ++*(long *)context;
    return 0;
}

static void as_output(const struct mst_plan *plan, const uint8_t *data, size_t size)
{
    struct mst_client_result result;
    char error[MST_ERROR_MAX];

    if (mst_loadtool_ab.parse(&result, plan, (const char *)data, size, error) == 0 &&
        result.requests == MST_UNKNOWN)
        abort();
}

static void as_rows(const uint8_t *data, size_t size)
{
    /* fmemopen() takes no empty buffer. */
    FILE *rows = size > 0 ? fmemopen((void *)(uintptr_t)data, size, "r") : NULL;
    char error[MST_ERROR_MAX];
    uint64_t bad;
    long seen = 0, count;

    if (rows == NULL)
        return;
    count = mst_loadtool_ab.read_rows(rows, count_row, &seen, &bad, error);
    if (count >= 0 && count != seen)
        abort();
    fclose(rows);
}

/* A word a line. */
static void as_options(struct mst_plan *plan, const uint8_t *data, size_t size)
{
    char first[] = "ab", *argv[64] = { first }, *text = calloc(size + 1, 1), *at, *save = NULL;
    char error[MST_ERROR_MAX];
    size_t n = 1;

    if (text == NULL)
        abort();
    memcpy(text, data, size);
    for (at = strtok_r(text, "\n", &save); at != NULL && n < 63; at = strtok_r(NULL, "\n", &save))
        argv[n++] = at;
    if (mst_loadtool_ab.prepare(plan, argv, 9, error) != 0)
        abort();
    free(text);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    struct mst_plan plan;

    as_options(&plan, data, size);
    as_output(&plan, data, size);
    as_rows(data, size);
    mst_plan_free(&plan);
    return 0;
}
