/* usl.h - where more concurrency stops to help: a curve through several runs. */
#ifndef MPMSTAT_USL_H
#define MPMSTAT_USL_H

#include <stdbool.h>
#include <stddef.h>

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
