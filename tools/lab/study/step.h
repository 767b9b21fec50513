/* step.h - one step of a study: servers, warm-up, recording, and whether all went well. */
#ifndef MPMSTAT_LAB_STEP_H
#define MPMSTAT_LAB_STEP_H

#include <signal.h>
#include <stdint.h>

#include "archive/writer.h"
#include "lab/files/outcome.h"
#include "lab/servers/servers.h"
#include "lab/study/plan.h"

/* What is kept from step to step: the servers that steps share. */
struct mst_stage {
    apr_pool_t         *pool;            /* lives as long as the study */
    struct mst_archive *archive;         /* not within a batch while a step runs */
    const char         *directory;       /* of the study's output: an absolute path */
    bool                verbose;
    const volatile sig_atomic_t *stop;   /* raised: give up */
    void              (*tick)(void *context);   /* called about ten times a second */
    void               *context;

    struct mst_servers *servers;         /* NULL: none are up */
    unsigned            start;           /* which start of the plan they are */
    unsigned            failed_start;    /* the start that failed last: its other steps fail too */
    const char         *failed_why;
};

struct mst_step_result {
    int64_t  run_id;           /* 0: there is no run */
    const char *failure;       /* NULL: none */
    const char *load;          /* the command as it was run; NULL: it was not */
    uint64_t page_bytes, warmup_ns;      /* MST_UNKNOWN */
};

/* Runs it. The pool is the step's own: the result is there. */
enum mst_step_outcome mst_step_run(apr_pool_t *pool, struct mst_stage *stage,
                                   const struct mst_step *step, struct mst_step_result *result);

/* Stops the servers that are up. 0, or -1 with a sentence: what would not end. */
int mst_stage_clear(struct mst_stage *stage, char error[MST_ERROR_MAX]);

#endif
