/* usl.h - throughput by concurrency, of several runs: a curve through them, and where more
 * concurrency stops to help. */
#ifndef MPMSTAT_USL_H
#define MPMSTAT_USL_H

#include <stdbool.h>
#include <stddef.h>

struct mst_usl_point { double concurrency, throughput; };

struct mst_usl {
    size_t knee, best;    /* by number: the least concurrency with nearly the highest throughput,
                           * and the one that has this; 0 where there are none */
    /* The Universal Scalability Law, N. J. Gunther's: X(N) = gamma N / (1 + alpha (N - 1) +
     * beta N (N - 1)); N clients that wait for each answer, X the throughput; alpha is what they
     * queue for, beta what they cost each other. Least squares of the relative errors. */
    bool   fits;          /* gamma, alpha, beta are there */
    double gamma, alpha, beta;
};

/* Makes the points one of each concurrency, in order, with the mean throughput. Returns how many
 * these are. */
size_t mst_usl_fit(struct mst_usl *usl, struct mst_usl_point *points, size_t count);

#endif
