/* lab.h - a study that is run: what run.c and the files with its parts share.
 *
 * options.c -> choose.c -> needs.c -> output.c, store.c -> run.c, which has step.h run each step
 * and progress.c tell of it. Functions that return an enum mst_exit have told why.
 */
#ifndef MPMSTAT_LAB_LAB_H
#define MPMSTAT_LAB_LAB_H

#include "archive/writer.h"
#include "console/stop.h"
#include "lab/files/study.h"
#include "lab/study/plan.h"
#include "lab/study/step.h"
#include "memory/pool.h"

#define MST_STUDY_ARCHIVE "study.db"   /* in the output directory */

struct mst_lab_options {
    const char *study, *output, *resume;
    enum mst_study_size size;
    bool     size_given, seed_given, dry_run, verbose, help;
    uint64_t seed;
    struct mst_list only;        /* stacks; empty: all */
};

struct mst_lab {
    apr_pool_t *pool;            /* all of it, but for a step's own */
    const struct mst_lab_options *options;
    const char *directory;       /* the output */
    int      lock;               /* held on it while it is written; -1 */
    const char *beside;          /* directory of the study's file; NULL: none */
    struct mst_stop     stop;
    struct mst_study    study;
    struct mst_schedule schedule;
    struct mst_archive *archive;
    int64_t  study_id;
    struct mst_stage stage;
    bool    *finished;           /* of each step: nothing is left to do */
    size_t   done, failed, skipped;

    uint64_t began_ns, limit_ns;           /* CLOCK_MONOTONIC; of the whole study */
    const struct mst_step *running;
    const char *step_name;       /* what is running: mst_planned_name() */
    uint64_t step_began_ns, shown_ns;
    uint64_t taken_ns, expected_ns;        /* of the steps made now: to learn from */
};

/* ---- options.c: the command line; returns an enum mst_exit ---- */

extern const char mst_lab_run_help[];
int mst_lab_read_options(apr_pool_t *pool, struct mst_lab_options *options, int argc,
                         char **argv);

/* ---- choose.c: the study and its plan; return an enum mst_exit ---- */

int mst_lab_read_study(struct mst_lab *lab);
uint64_t mst_lab_choose_seed(const struct mst_lab_options *options);
int mst_lab_plan(struct mst_lab *lab, uint64_t seed, char *const *only);

/* ---- needs.c, dry_run.c: return an enum mst_exit ---- */

int mst_lab_check_needs(const struct mst_lab *lab);
int mst_lab_dry_run(const struct mst_lab *lab);

/* ---- output.c: directory, lock, archive, reports; return an enum mst_exit ---- */

int mst_lab_make_output(struct mst_lab *lab);
int mst_lab_open_output(struct mst_lab *lab);      /* of the study that is gone on with */
int mst_lab_write_reports(struct mst_lab *lab);
int mst_lab_archive_failed(const struct mst_lab *lab);   /* tells the archive's error */

/* ---- store.c: the study in the archive; return an enum mst_exit ---- */

int mst_lab_store_study(struct mst_lab *lab);
int mst_lab_resume(struct mst_lab *lab);           /* opens the output, reads and plans it again */

/* ---- progress.c ---- */

uint64_t mst_lab_expected_ns(const struct mst_step *step);
uint64_t mst_lab_left_ns(const struct mst_lab *lab);
void mst_lab_show_progress(void *lab);             /* a line that is redrawn */
void mst_lab_say_done(struct mst_lab *lab, const struct mst_step *step,
                      const struct mst_step_result *result);
void mst_lab_say_failed(const struct mst_lab *lab, const struct mst_step *step,
                        const struct mst_step_result *result);

#endif
