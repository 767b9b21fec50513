/* loadtools.c - the adapters there are, and what they share. */
#include "loadtool.h"

#include <signal.h>
#include <stdlib.h>
#include <string.h>

/* The generic one takes every command and is not in the table. */
static const struct mst_loadtool *const adapters[] = {
    &mst_loadtool_ab,
};
#define ADAPTER_COUNT (sizeof adapters / sizeof *adapters)

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

static size_t count_strings(const char *const *strings)
{
    size_t n = 0;

    while (strings != NULL && strings[n] != NULL)
        n++;
    return n;
}

/* "-g /dev/fd/5" of the strings. NULL: none, or out of memory. */
static char *join(const char *const *strings)
{
    size_t i, bytes = 1;
    char *joined;

    for (i = 0; strings[i] != NULL; i++)
        bytes += strlen(strings[i]) + 1;
    joined = calloc(bytes, 1);
    for (i = 0; joined != NULL && strings[i] != NULL; i++) {
        if (i > 0)
            strcat(joined, " ");
        strcat(joined, strings[i]);
    }
    return joined;
}

int mst_plan_init(struct mst_plan *plan, char *const *argv, const char *const *insert)
{
    size_t given = count_strings((const char *const *)argv), added = count_strings(insert);
    size_t i, n = 0;

    *plan = (struct mst_plan){ .stop_signal = SIGTERM, .requested = MST_UNKNOWN };
    plan->argv = calloc(given + added + 1, sizeof *plan->argv);
    if (plan->argv == NULL)
        return -1;
    for (i = 0; i < given + added; i++) {
        const char *from = i == 0 || added == 0 ? argv[i] :
                           i <= added ? insert[i - 1] : argv[i - added];

        plan->argv[n] = strdup(from);
        if (plan->argv[n++] == NULL)
            goto no_memory;
    }
    if (added > 0) {
        plan->added = join(insert);
        if (plan->added == NULL)
            goto no_memory;
    }
    return 0;

no_memory:
    mst_plan_free(plan);
    return -1;
}

void mst_plan_free(struct mst_plan *plan)
{
    char **arg;

    for (arg = plan->argv; arg != NULL && *arg != NULL; arg++)
        free(*arg);
    free(plan->argv);
    free(plan->added);
    free(plan->rows_path);
    *plan = (struct mst_plan){ 0 };
}

void mst_client_result_init(struct mst_client_result *result)
{
    /* Every member is a uint64_t, and MST_UNKNOWN is all bits set. */
    memset(result, 0xff, sizeof *result);
}
