/* study_data.h - a study as it was run: its cases, their repetitions and what these came to,
 * beside what was published. Read from the archive alone; what the study's report is
 * written from.
 *
 * A case is what is repeated: a stack, a workload, the values of the variables. A line of
 * cases differs in one variable only (the concurrency, say): the charts' x.
 */
#ifndef MPMSTAT_STUDY_DATA_H
#define MPMSTAT_STUDY_DATA_H

#include "archive/archive.h"
#include "lab/files/study.h"
#include "lab/report/study_metrics.h"
#include "stats/bootstrap.h"

/* ---- what was run ----------------------------------------------------------------- */

struct mst_study_run {
    int64_t  run_id;
    unsigned repetition, block;
    uint64_t page_bytes;           /* before the run; MST_UNKNOWN */
    double   values[MST_M_COUNT];
};

struct mst_study_case {
    char    *stack, *workload, *title;         /* title: of the stack, for people */
    size_t   key_count;
    char   **keys, **values;                   /* the variables */
    double   x;                                /* NaN: the section has none */
    size_t   line;                             /* of its section */
    size_t   run_count;
    struct mst_study_run *runs;                 /* those that are done, by repetition */
    size_t   planned, failed, skipped, waiting;   /* steps; waiting: not come to */
    char    *mpm, *sapi;                       /* of the servers that were seen; NULL */
    struct mst_study_servers servers;          /* that its stack has */
    bool     in_part;                          /* a run has a server that was not recorded */
};

struct mst_study_line {
    char  *label;                  /* for people: what tells it from the section's others */
    size_t first, count;           /* its cases within the section, by x */
};

struct mst_study_section {
    const struct mst_runs      *runs;
    const struct mst_published *published;     /* NULL: nothing was */
    const struct mst_study     *study;
    const char *x_name;                        /* the variable; NULL: none is swept */
    size_t   telling_count;
    const char **telling;                      /* variables that tell alike cases apart, x first */
    size_t   case_count, line_count;
    struct mst_study_case *cases;                    /* line by line, by x */
    struct mst_study_line *lines;
};

struct mst_study_unrun {                 /* a step that came to nothing */
    char *section, *stack, *what, *state, *failure;
    unsigned repetition;
};

struct mst_study_data {
    struct mst_archive *archive;
    const char *path;
    struct mst_study study;
    int64_t  id;
    uint64_t seed, started_ns, ended_ns, interrupted;
    char    *size, *only;
    size_t   steps, done, others;              /* others: studies in this archive */
    size_t   section_count;
    struct mst_study_section *sections;
    size_t   unrun_count;
    struct mst_study_unrun *unrun;
};

/* Whether the archive holds a study. */
bool mst_study_in(struct mst_archive *archive);

/* Reads the latest study of the archive. 0, or -1 with a sentence. Free in either case. */
int  mst_study_load(struct mst_study_data *data, struct mst_archive *archive, const char *path,
                    char error[MST_ERROR_MAX]);
void mst_study_unload(struct mst_study_data *data);

/* The value of a variable of the case, NULL: it has none of that name. */
const char *mst_study_value(const struct mst_study_case *c, const char *key);

/* "php workers" of PHP_WORKERS, for people. */
#define MST_SPOKEN_MAX 64u
void mst_spoken(char word[MST_SPOKEN_MAX], const char *key);

/* The case as one of its section, for people: the line's label, and where on it. */
char *mst_study_label(const struct mst_study_section *section, const struct mst_study_case *c);

/* ---- what it came to -------------------------------------------------------------- */

/* A metric of a case over its repetitions. */
struct mst_estimate {
    size_t count;                  /* repetitions that have it; 0: not known */
    double mean;                   /* geometric, where all are above 0; else arithmetic */
    double low, high;              /* 95 %; NaN: too few repetitions, or one of them is 0 */
    double least, most;
};

struct mst_estimate mst_estimate_of(const struct mst_study_case *c,
                                    enum mst_metric_id metric);

/* The ratio of one case to another, as far as it is known: paired where their repetitions
 * are. */
struct mst_ratio {
    bool   known, bounded;         /* bounded: low and high are */
    double ratio, low, high;
    size_t runs, of;               /* repetitions of either */
};

struct mst_ratio mst_ratio_of(const struct mst_study_case *c, const struct mst_study_case *to,
                              enum mst_metric_id metric);

/* ---- what was published ----------------------------------------------------------- */

/* Whether a row (from 1) of the section's published table is about the case. */
bool mst_published_is(const struct mst_study_section *section, size_t row,
                      const struct mst_study_case *c);

/* The figure of the row, NaN where it is not said. */
double mst_published_value(const struct mst_study_section *section, size_t row,
                           enum mst_metric_id metric);

/* Whether the table has the metric at all. */
bool mst_published_has(const struct mst_study_section *section, enum mst_metric_id metric);

/* The case that the others' ratios are to: the first row's, or the first case. NULL: none
 * of it was run. */
const struct mst_study_case *mst_reference_of(const struct mst_study_section *section);

#endif
