/* sizing.h - what a run's measurements say about limits: how many workers, how many
 * PHP processes, how long an accept queue; and where more concurrency stops to help.
 *
 * Each answer comes with its arithmetic and its uncertainty, or it is "cannot tell"
 * with the reason. Made from an archive alone.
 */
#ifndef MPMSTAT_SIZING_H
#define MPMSTAT_SIZING_H

#include <sqlite3.h>
#include <stdbool.h>
#include <stddef.h>

#include "analysis/summary.h"

enum mst_advice_id { MST_ADVICE_WORKERS, MST_ADVICE_PHP, MST_ADVICE_BACKLOG, MST_ADVICE_COUNT };

struct mst_advice {
    const char *directive;        /* "MaxRequestWorkers" */
    bool        known;            /* false: `answer` is "cannot tell" */
    char        answer[160];      /* "37", "at least 50" */
    char        arithmetic[512];  /* how it comes about, or why it does not: a sentence */
    char        uncertainty[384]; /* "" where there is nothing to say */
};

struct mst_sizing { struct mst_advice advice[MST_ADVICE_COUNT]; };

/* False: SQLite failed. */
bool mst_sizing_make(struct mst_sizing *sizing, const struct mst_summary *run, sqlite3 *db);

/* ---- the Universal Scalability Law ------------------------------------------------
 *
 * N. J. Gunther's: X(N) = gamma N / (1 + alpha (N - 1) + beta N (N - 1)); N clients
 * that wait for each answer, X the throughput; alpha is what they queue for, beta what
 * they cost each other. It has its maximum, the knee, at sqrt((1 - alpha) / beta). */
struct mst_usl_point { double concurrency, throughput; };

enum mst_knee { MST_KNEE_KNOWN, MST_KNEE_FEW_POINTS, MST_KNEE_NO_FIT, MST_KNEE_BEYOND };
struct mst_usl {
    enum mst_knee knee;
    bool          fits;                     /* gamma, alpha, beta are there */
    double        gamma, alpha, beta;
    double        at, from, to;             /* the knee, and its 95 % interval */
};

/* Least squares of the relative errors. Reorders the points. */
void mst_usl_fit(struct mst_usl *usl, struct mst_usl_point *points, size_t count);
/* What came out, as a sentence. */
void mst_usl_say(const struct mst_usl *usl, size_t points, char *text, size_t size);

#endif
