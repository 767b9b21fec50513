/* dry_run.c - a study's plan and its servers' files, to read: see lab.h. */
#include "lab/study/lab.h"

#include <inttypes.h>
#include <stdio.h>
#include <string.h>

#include "console/diag.h"
#include "console/format.h"
#include "lab/servers/servers.h"
#include "lab/study/ramp.h"

static void put_step(const struct mst_step *step)
{
    const struct mst_planned *of = step->of;

    printf("%5u  block %u  start %u  %s  %s  %s  %s\n", step->ordinal, step->block, step->start,
           of->runs->name, of->stack->name, of->workload->name, of->parameters);
    if (of->runs->kind == MST_RUNS_RAMP)
        printf("       %s to %s arrivals a second over %s s, by %s\n", of->from, of->to, of->over,
               mst_ramp_program(strcmp(of->from, of->to) != 0));
    else
        printf("       %s\n", of->load);
}

/* Each set of servers once. */
static int put_configurations(const struct mst_schedule *s)
{
    char error[MST_ERROR_MAX];
    unsigned last = 0;
    size_t i;

    for (i = 0; i < s->step_count && s->steps[i].block == 1; i++) {
        const struct mst_planned *of = s->steps[i].of;
        const struct mst_servers_options options = { .parameters = &of->given };

        if (s->steps[i].start == last)
            continue;
        last = s->steps[i].start;
        printf("\n==== start %u: %s with %s %s\n", last, of->stack->name, of->workload->name,
               of->parameters);
        if (mst_servers_dry_run(s->pool, of->stack, of->workload, &options, stdout, error) != 0)
            return mst_failed(MST_EXIT_BAD, "%s", error);
    }
    return MST_EXIT_OK;
}

int mst_lab_dry_run(const struct mst_lab *lab)
{
    const struct mst_schedule *s = &lab->schedule;
    size_t i;

    printf("%s (%s): %zu steps with %zu starts of servers, about %s, %s at most; seed %" PRIu64
           "\n\n", lab->study.title, mst_study_size_names[lab->study.size], s->step_count,
           s->start_count, mst_format_duration(s->about_ns).text,
           mst_format_duration(lab->limit_ns).text, s->seed);
    for (i = 0; i < s->step_count; i++)
        put_step(&s->steps[i]);
    return put_configurations(s);
}
