/* study.h - a study: what to run on which stacks, what was published of it, and what was
 * claimed. Read from tools/lab/studies/NAME.study or a user's own file; the runner and the
 * study's report work from this.
 *
 *     %% study          facts: title, number, year, language, original, question, limit
 *     %% runs NAME      facts: what to run; several such sections
 *     %% published NAME table: what the original measured in `%% runs NAME`
 *     %% claims         a line each: what the original says, to be checked
 *     %% notes          text: how this differs from the original
 *
 * `quick.KEY = ...` in %% study and %% runs is what KEY is at --quick. A study is read at
 * one size: what is found here is that size's.
 */
#ifndef MPMSTAT_LAB_STUDY_H
#define MPMSTAT_LAB_STUDY_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "base/error.h"
#include "lab/files/textfile.h"

#define MST_STEPS_MAX    10000u   /* of a study: cases times repetitions */

struct mst_study;

enum mst_study_size { MST_STUDY_FULL, MST_STUDY_QUICK };

/* "full", "quick": as in the archive's studies.size. */
extern const char *const mst_study_size_names[2];

/* ---- what is run ------------------------------------------------------------------ */

/* A fact with an uppercase key. One value: a setting; several: a sweep, a run for each
 * ("100 200 ... 1000" counts on as it began). A value with ${...} in it is computed
 * in each case from those above it: "${CONCURRENCY} * 10". A variable stands for itself in
 * the load's command, and is passed to a stack that has a parameter of that name. With a
 * stack before the name (`event-fpm.WORKERS = 2000`) it is for that stack alone, in place of
 * what is for all. Several can be swept together: `PM+SPARE = dynamic+50 static+0`. */
struct mst_variable {
    char    *stack;            /* NULL: for all */
    char    *name;
    size_t   count;
    char   **values;
    bool     with_previous;    /* swept together with the variable before it */
    unsigned line;
};

enum mst_runs_kind {
    MST_RUNS_LOAD,             /* a load tool against a warm server */
    MST_RUNS_SPAWN,            /* a burst against one that has just been started */
    MST_RUNS_RAMP,             /* arrivals at a rate that rises steadily, or stays */
};

extern const char *const mst_runs_kind_names[3];

/* `%% runs NAME`. Texts may have ${...} in them. */
struct mst_runs {
    char  *name;
    char  *title;              /* for people; the name where the file says nothing */
    enum mst_runs_kind kind;
    char **stacks;             /* NULL at the end; so workloads */
    char **workloads;
    char  *load;               /* the load tool's command; NULL of a ramp: it is made of ... */
    char  *from, *to, *over;   /* arrivals a second, and seconds; NULL but of a ramp */
    size_t variable_count;
    struct mst_variable *variables;
    unsigned repetitions;
    uint64_t about_ns;         /* how long a run takes, to tell the time left beforehand */
    uint64_t limit_ns;         /* how long it may take */
    uint64_t warmup_ns;        /* how long to warm up at most; 0: not at all */
    unsigned line;
};

/* ---- what was published ----------------------------------------------------------- */

/* Columns of %% published that say which case a row is about, besides variables of the runs
 * (uppercase); all others are figures, by their names in report/metrics.def. */
#define MST_PUBLISHED_SYSTEM   "system"     /* what the original calls it */
#define MST_PUBLISHED_STACK    "stack"      /* ours for it: one, or several with commas */
#define MST_PUBLISHED_WORKLOAD "workload"
#define MST_PUBLISHED_NONE     "-"          /* a cell of which nothing is known */

/* `%% published NAME`: row 0 names the columns. */
struct mst_published {
    char    *name;             /* of the runs */
    struct mst_rows rows;
};

const struct mst_published *mst_study_published(const struct mst_study *study,
                                                const char *runs);
/* The index of a column of that name, or -1. */
int mst_published_column(const struct mst_published *published, const char *name);

/* ---- what was claimed ------------------------------------------------------------- */

/* One side of a comparison: `STACK`, `STACK@WORKLOAD`, either with `[KEY=VALUE,...]` behind it,
 * or on the right a number. */
struct mst_claim_side {
    const char *stack;         /* NULL: this side is a number */
    const char *workload;      /* NULL: any */
    size_t key_count;
    char **keys, **values;     /* of variables */
    double number;
};

enum mst_claim_relation { MST_CLAIM_MORE, MST_CLAIM_LESS, MST_CLAIM_SAME };

/*     RUNS: LEFT > RIGHT by FIGURE [times N | apart N] "the sentence"
 * Relations are >, < and ~ (about the same). `times N`: the left is N times the right;
 * `apart N`: it is N more, or less, in the figure's unit. */
struct mst_claim {
    char    *runs;
    struct mst_claim_side left, right;
    enum mst_claim_relation relation;
    const char *figure;        /* its name in report/metrics.def */
    double   times;            /* 0: not said */
    double   apart;            /* 0: not said */
    const char *sentence;
    unsigned line;
};

/* ---- the study -------------------------------------------------------------------- */

struct mst_study {
    struct mst_text text;      /* the file: path, contents, about; all is in its pool */
    enum mst_study_size size;
    char    *name;             /* of the file, without its suffix */
    char    *title, *year, *language, *original, *question;    /* "" not said */
    unsigned number;           /* 1 to 5; 0: a user's own */
    uint64_t limit_ns;         /* of the whole study; 0: not said */
    size_t   runs_count;
    struct mst_runs *runs;
    size_t   published_count;
    struct mst_published *published;
    size_t   claim_count;
    struct mst_claim *claims;
    const char *notes;         /* "" none */
};

/* Reads the study at `path`, or one whose text is at hand: the name is the study's, as in
 * the archive's studies. 0, or -1 with a sentence. */
int mst_study_read(apr_pool_t *pool, struct mst_study *study, const char *path,
                   enum mst_study_size size, char error[MST_ERROR_MAX]);
int mst_study_parse(apr_pool_t *pool, struct mst_study *study, const char *name, const char *text,
                    enum mst_study_size size, char error[MST_ERROR_MAX]);

/* The `%% runs` section of that name. NULL: there is none. */
const struct mst_runs *mst_study_runs(const struct mst_study *study, const char *name);

#endif
