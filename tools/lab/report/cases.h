/* cases.h - a study as it was run, read from its archive: its cases, their repetitions and the
 * figures of these, with the tables that were published.
 *
 * A case is what is repeated: a stack, a workload, the values of the variables. The cases of a
 * line differ in one variable only, for example the concurrency: it is the charts' x.
 */
#ifndef MPMSTAT_LAB_CASES_H
#define MPMSTAT_LAB_CASES_H

#include "archive/archive.h"
#include "lab/files/study.h"
#include "lab/report/measure.h"

/* ---- what was run ----------------------------------------------------------------- */

struct mst_study_run {
    int64_t  run_id;
    unsigned repetition, block;
    uint64_t page_bytes;           /* before the run; MST_UNKNOWN */
    double   values[MST_M_COUNT];
};

struct mst_study_case {
    const char *stack, *workload, *title;      /* title: of the stack, for people */
    size_t   key_count;
    const char **keys, **values;               /* the variables */
    double   x;                                /* NaN: the section has none */
    size_t   line;                             /* of its section */
    size_t   run_count;
    struct mst_study_run *runs;                 /* those that are done, by repetition */
    size_t   planned, failed, skipped, waiting;   /* steps; waiting: not reached */
    const char *mpm, *sapi;                    /* as the servers say it; NULL: not known */
    struct mst_study_servers servers;          /* that its stack has */
    bool     in_part;                          /* a run has a server that was not recorded */
};

struct mst_study_line {
    const char *label;             /* for people: what tells it from the section's others */
    size_t first, count;           /* its cases within the section, by x */
};

struct mst_study_section {
    apr_pool_t                 *pool;          /* the study's */
    const struct mst_runs      *runs;
    const struct mst_published *published;     /* NULL: nothing was published */
    const struct mst_study     *study;
    const char *x_name;                        /* the variable; NULL: none is swept */
    size_t   telling_count;
    const char **telling;                      /* variables that tell alike cases apart, x first */
    size_t   case_count, line_count;
    struct mst_study_case *cases;                    /* line by line, by x */
    struct mst_study_line *lines;
};

struct mst_study_unrun {                 /* a step that failed or was skipped */
    const char *section, *stack, *what, *state, *failure;
    unsigned repetition;
};

struct mst_study_data {
    apr_pool_t *pool;                          /* all of it is there */
    struct mst_archive *archive;
    const char *path;
    struct mst_study study;
    int64_t  id;
    uint64_t seed, started_ns, ended_ns, interrupted;
    const char *size, *only;
    size_t   steps, done, others;              /* others: studies in this archive */
    size_t   section_count;
    struct mst_study_section *sections;
    size_t   unrun_count;
    struct mst_study_unrun *unrun;
};

/* Whether the archive holds a study. */
bool mst_study_in(struct mst_archive *archive);

/* Reads the latest study of the archive. Returns 0, or -1 with a sentence. */
int mst_study_load(apr_pool_t *pool, struct mst_study_data *data, struct mst_archive *archive,
                   const char *path, char error[MST_ERROR_MAX]);

/* The value of a variable of the case; NULL: it has no variable of that name. */
const char *mst_study_value(const struct mst_study_case *c, const char *key);

/* Whether any case of the section has the metric, and not only 0. */
bool mst_study_is_known(const struct mst_study_section *section, enum mst_metric_id metric);

/* The last case of a line that was run; NULL: none was. */
const struct mst_study_case *mst_study_heaviest(const struct mst_study_section *section,
                                                size_t line);

/* Sorts the section's cases into lines: as the study's file has them, then by x. */
void mst_study_make_lines(struct mst_study_section *section);

/* "php workers" of PHP_WORKERS, for people. */
#define MST_SPOKEN_MAX 64u
void mst_spoken(char word[MST_SPOKEN_MAX], const char *key);

/* The case's name for people, unique in its section: the line's label and the value of x. */
const char *mst_study_label(const struct mst_study_section *section,
                            const struct mst_study_case *c);

#endif
