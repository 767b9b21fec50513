/* needs.c - what a study needs and is not installed: see lab.h. */
#include "lab/study/lab.h"

#include <stdio.h>
#include <string.h>

#include "console/diag.h"
#include "exec/spawn.h"
#include "lab/servers/servers.h"
#include "lab/study/ramp.h"
#include "loadtools/loadtool.h"

/* The Debian package of a program that a load needs and that is not here; NULL: it is, or
 * no package is known (then the step will say so). */
static const char *missing_program(const struct mst_runs *runs)
{
    char program[64];
    size_t length;

    if (runs->kind == MST_RUNS_RAMP)
        return mst_ramp_program(strcmp(runs->from, runs->to) != 0) == NULL ? "tsung" : NULL;
    length = strcspn(runs->load, " \t");
    if (length == 0 || length >= sizeof program)
        return NULL;
    memcpy(program, runs->load, length);
    program[length] = '\0';
    return mst_spawn_finds(program) ? NULL : mst_loadtool_for(program)->package;
}

/* All that the stacks, the workloads and the loads need, in one sentence. */
int mst_lab_check_needs(const struct mst_lab *lab)
{
    const struct mst_schedule *s = &lab->schedule;
    struct mst_stack loads = { 0 };
    const struct mst_stack **stacks = apr_pcalloc(lab->pool,
                                                  (s->stack_count + 2) * sizeof *stacks);
    size_t i, count = 0;
    char error[MST_ERROR_MAX];
    const char *package;

    loads.needs = apr_pcalloc(lab->pool, (lab->study.runs_count + 1) * sizeof *loads.needs);
    for (i = 0; i < lab->study.runs_count; i++)
        if ((package = missing_program(&lab->study.runs[i])) != NULL)
            loads.needs[count++] = (char *)package;
    memcpy(stacks, s->stacks, s->stack_count * sizeof *stacks);
    stacks[s->stack_count] = &loads;
    if (mst_servers_missing(lab->pool, stacks, (const struct mst_workload *const *)s->workloads,
                            error) == 0)
        return MST_EXIT_OK;
    return mst_failed(MST_EXIT_TARGET, "%s", error);
}
