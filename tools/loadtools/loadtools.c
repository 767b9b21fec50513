/* loadtools.c - the table of the adapters. What adapters share is in plan.c and rows.c. */
#include "loadtools/loadtool.h"

#include <string.h>

/* The generic one takes every command and is not in the table. */
static const struct mst_loadtool *const adapters[] = {
    &mst_loadtool_ab, &mst_loadtool_siege, &mst_loadtool_wrk, &mst_loadtool_hey,
    &mst_loadtool_h2load, &mst_loadtool_oha, &mst_loadtool_k6, &mst_loadtool_vegeta,
    &mst_loadtool_locust, &mst_loadtool_tsung,
};
#define ADAPTER_COUNT (sizeof adapters / sizeof *adapters)

const struct mst_loadtool *mst_loadtool_at(size_t index)
{
    return index < ADAPTER_COUNT ? adapters[index] : NULL;
}

const struct mst_loadtool *mst_loadtool_for(const char *command)
{
    const char *slash = strrchr(command, '/');
    const char *base = slash != NULL ? slash + 1 : command;
    size_t i;

    for (i = 0; i < ADAPTER_COUNT; i++)
        if (strcmp(base, adapters[i]->name) == 0)
            return adapters[i];
    return &mst_loadtool_generic;
}

const struct mst_loadtool *mst_loadtool_of_rows(const char *first_line)
{
    if (first_line[0] == '{' || strncmp(first_line, "metric_name,", 12) == 0)
        return &mst_loadtool_k6;
    return strncmp(first_line, MST_LOCUST_ROWS, sizeof MST_LOCUST_ROWS - 1) == 0
               ? &mst_loadtool_locust_rows : NULL;
}

const char *mst_loadtool_names(void)
{
    static char names[256];
    size_t i;

    names[0] = '\0';
    for (i = 0; i < ADAPTER_COUNT; i++) {
        if (i > 0)
            strncat(names, ", ", sizeof names - strlen(names) - 1);
        strncat(names, adapters[i]->name, sizeof names - strlen(names) - 1);
    }
    return names;
}

uint64_t mst_loadtool_failed_besides(const struct mst_loadtool *tool, uint64_t failed,
                                     uint64_t failed_timeout)
{
    uint64_t among = tool->failed_among == MST_FAILED_AMONG ? failed :
                     tool->failed_among == MST_FAILED_TIMEOUTS_AMONG ? failed_timeout : 0;

    if (failed == MST_UNKNOWN || among == MST_UNKNOWN)
        return failed;
    return failed > among ? failed - among : 0;
}
