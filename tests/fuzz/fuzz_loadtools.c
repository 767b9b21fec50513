/* fuzz_loadtools.c - arbitrary bytes as a load tool's options, as what it printed, as
 * its rows. The first byte says which tool; the rest is each of these.
 */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "loadtools/loadtool.h"

#define WORDS_MAX 64u

/* A file of rows that says by itself whose it is. */
static void as_file(const struct mst_plan *plan, const uint8_t *data, size_t size)
{
    const struct mst_loadtool *tool;
    char line[64];

    snprintf(line, sizeof line, "%.*s", (int)(size < sizeof line ? size : sizeof line),
             (const char *)data);
    tool = mst_loadtool_of_rows(line);
    if (tool != NULL)
        as_rows(tool, plan, data, size);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

static int add_row(void *context, const struct mst_client_row *row)
{
    if (row->start_ns == MST_UNKNOWN || row->duration_ns == MST_UNKNOWN)
        abort();
    mst_row_totals_add(context, row);
    return 0;
}

static void as_printed(const struct mst_loadtool *tool, const struct mst_plan *plan,
                       const uint8_t *data, size_t size)
{
    const struct mst_printed printed = { (const char *)data, (const char *)data, size, size };
    struct mst_client_result result;
    char error[MST_ERROR_MAX] = "";

    if (tool->parse == NULL)
        return;
    if (tool->parse(&result, plan, &printed, error) == 0 ? result.requests == MST_UNKNOWN :
                                                           error[0] == '\0')
        abort();
}

static void as_rows(const struct mst_loadtool *tool, const struct mst_plan *plan,
                    const uint8_t *data, size_t size)
{
    /* fmemopen() takes no empty buffer. */
    FILE *rows = size > 0 && tool->read_row != NULL ?
                 fmemopen((void *)(uintptr_t)data, size, "r") : NULL;
    struct mst_row_totals totals = { 0 };
    struct mst_client_result result;
    char error[MST_ERROR_MAX];
    struct mst_rows_said said;
    long count;

    if (rows == NULL)
        return;
    count = mst_loadtool_read_rows(tool, rows, 0, add_row, &totals, &said, error);
    if (count >= 0 && (uint64_t)count != totals.rows)
        abort();
    totals.bad = said.bad;
    if (count >= 0) {
        mst_client_result_from_rows(&result, tool, plan, &totals, size % 2 == 0);
        if (result.requests + totals.failed != totals.rows)
            abort();
    }
    fclose(rows);
}

/* A word a line. */
static void as_options(struct mst_plan *plan, const struct mst_loadtool *tool,
                       const uint8_t *data, size_t size)
{
    char name[16], *argv[WORDS_MAX] = { name }, *text = calloc(size + 1, 1), *at, *save = NULL;
    char error[MST_ERROR_MAX];
    size_t n = 1;

    if (text == NULL)
        abort();
    snprintf(name, sizeof name, "%s", tool->name);
    memcpy(text, data, size);
    for (at = strtok_r(text, "\n", &save); at != NULL && n < WORDS_MAX - 1;
         at = strtok_r(NULL, "\n", &save))
        argv[n++] = at;
    if (tool->prepare(plan, argv, 9, error) != 0)
        abort();
    free(text);
}

/* A file of rows that says by itself whose it is. */
static void as_file(const struct mst_plan *plan, const uint8_t *data, size_t size)
{
    const struct mst_loadtool *tool;
    char line[64];

    snprintf(line, sizeof line, "%.*s", (int)(size < sizeof line ? size : sizeof line),
             (const char *)data);
    tool = mst_loadtool_of_rows(line);
    if (tool != NULL)
        as_rows(tool, plan, data, size);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    const struct mst_loadtool *tool;
    struct mst_plan plan;
    size_t tools = 0;

    while (mst_loadtool_at(tools) != NULL)
        tools++;
    if (size == 0)
        return 0;
    tool = mst_loadtool_at(data[0] % tools);
    as_options(&plan, tool, data + 1, size - 1);
    as_printed(tool, &plan, data + 1, size - 1);
    as_rows(tool, &plan, data + 1, size - 1);
    as_file(&plan, data, size);
    mst_plan_free(&plan);
    return 0;
}
