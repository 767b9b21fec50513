/* plan.h - the steps of a study, in the order in which they are run.
 *
 * A case is one stack with one workload and one value of each variable. Repetitions are
 * made in blocks: each has every case once, in random order, so that what changes on the
 * machine meanwhile meets all cases alike. Within a block the cases that need the same
 * servers with the same parameters are run next to each other, in random order too, with
 * one start of the servers; but a burst against fresh servers has a start of its own. The
 * same study, size, choice of stacks and seed make the same plan.
 */
#ifndef MPMSTAT_LAB_PLAN_H
#define MPMSTAT_LAB_PLAN_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "lab/files/expand.h"
#include "lab/files/stack.h"
#include "lab/files/study.h"

struct mst_planned {
    const struct mst_runs     *runs;
    const struct mst_stack    *stack;
    const struct mst_workload *workload;
    struct mst_parameters variables;    /* all of them, computed */
    struct mst_parameters given;        /* those that stack and workload have */
    const char *load;                   /* with values for variables, and ${URL} */
    const char *from, *to, *over;       /* a ramp has these, and the load "" */
    const char *parameters;             /* the variables, as a JSON object */
};

struct mst_step {
    unsigned ordinal, block, repetition, start;      /* as in the archive's steps; from 1 */
    const struct mst_planned *of;
};

struct mst_schedule {
    apr_pool_t *pool;                   /* all of it is there */
    uint64_t seed;
    size_t   stack_count, workload_count, case_count, step_count;
    size_t   start_count;               /* of servers */
    struct mst_stack    **stacks;       /* NULL at the end; so workloads */
    struct mst_workload **workloads;
    struct mst_planned      *cases;
    struct mst_step      *steps;
    uint64_t about_ns, limit_ns;        /* of all steps together, servers' starts aside */
};

struct mst_schedule_options {
    uint64_t     seed;
    const char  *beside;                /* directory of the study's file; NULL: none */
    char *const *only;                  /* the stacks wanted, NULL at the end; NULL: all */
};

/* Reads the study's stacks and workloads and makes the plan, which points into the study.
 * 0, or -1 with a sentence. */
int mst_schedule_make(apr_pool_t *pool, struct mst_schedule *schedule,
                      const struct mst_study *study, const struct mst_schedule_options *options,
                      char error[MST_ERROR_MAX]);

/* order.c: adds the steps to a schedule that has its cases. 0, or -1 with a sentence. */
int mst_schedule_order(struct mst_schedule *schedule, const char *study,
                       char error[MST_ERROR_MAX]);

/* "SECTION STACK [WORKLOAD] VARIABLE=VALUE...": repetitions have the same. */
char *mst_planned_name(apr_pool_t *pool, const struct mst_planned *of, bool with_workload);

#endif
