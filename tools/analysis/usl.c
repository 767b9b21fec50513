/* usl.c - the curve through several runs, and the knee among them: see usl.h.
 *
 * N / X(N) is linear in a = 1/gamma, b = alpha/gamma and c = beta/gamma:
 * a + b (N - 1) + c N (N - 1). Weighted with X^2 / N^2 its residuals are relative
 * errors of the throughput.
 */
#include <math.h>
#include <stdlib.h>

#include "analysis/thresholds.h"
#include "analysis/usl.h"

enum { TERMS = 3 };

static void terms_of(double n, double terms[TERMS])
{
    terms[0] = 1;
    terms[1] = n - 1;
    terms[2] = n * (n - 1);
}

/* Gauss and Jordan's, with pivots. False: singular. */
static bool invert(double m[TERMS][TERMS], double inverse[TERMS][TERMS])
{
    int column, row, i, pivot;
    double factor, swap;

    for (row = 0; row < TERMS; row++)
        for (i = 0; i < TERMS; i++)
            inverse[row][i] = row == i;
    for (column = 0; column < TERMS; column++) {
        for (pivot = column, row = column + 1; row < TERMS; row++)
            if (fabs(m[row][column]) > fabs(m[pivot][column]))
                pivot = row;
        if (fabs(m[pivot][column]) < 1e-300)
            return false;
        for (i = 0; i < TERMS; i++) {
            swap = m[pivot][i], m[pivot][i] = m[column][i], m[column][i] = swap;
            swap = inverse[pivot][i], inverse[pivot][i] = inverse[column][i];
            inverse[column][i] = swap;
        }
        factor = m[column][column];
        for (i = 0; i < TERMS; i++) {
            m[column][i] /= factor;
            inverse[column][i] /= factor;
        }
        for (row = 0; row < TERMS; row++) {
            factor = m[row][column];
            for (i = 0; i < TERMS && row != column; i++) {
                m[row][i] -= factor * m[column][i];
                inverse[row][i] -= factor * inverse[column][i];
            }
        }
    }
    return true;
}

static bool solve(double coefficients[TERMS], const struct mst_usl_point *points, size_t count)
{
    double normal[TERMS][TERMS] = { { 0 } }, inverse[TERMS][TERMS], right[TERMS] = { 0 };
    double terms[TERMS], weight, y;
    size_t p;
    int i, j;

    for (p = 0; p < count; p++) {
        terms_of(points[p].concurrency, terms);
        y = points[p].concurrency / points[p].throughput;
        weight = 1 / (y * y);
        for (i = 0; i < TERMS; i++) {
            right[i] += weight * terms[i] * y;
            for (j = 0; j < TERMS; j++)
                normal[i][j] += weight * terms[i] * terms[j];
        }
    }
    if (!invert(normal, inverse))
        return false;
    for (i = 0; i < TERMS; i++)
        for (coefficients[i] = 0, j = 0; j < TERMS; j++)
            coefficients[i] += inverse[i][j] * right[j];
    return true;
}

static int by_concurrency(const void *a, const void *b)
{
    double x = ((const struct mst_usl_point *)a)->concurrency;
    double y = ((const struct mst_usl_point *)b)->concurrency;

    return (x > y) - (x < y);
}

/* The points as one of each concurrency, with the mean of their throughputs, in order. Returns how
 * many these are. */
static size_t find_levels(struct mst_usl_point *points, size_t count)
{
    size_t i, same, levels = 0;
    double sum;

    if (count > 1)
        qsort(points, count, sizeof *points, by_concurrency);
    for (i = 0; i < count; i += same, levels++) {
        for (sum = 0, same = 0; i + same < count &&
                                points[i + same].concurrency == points[i].concurrency; same++)
            sum += points[i + same].throughput;
        points[levels] = (struct mst_usl_point){ points[i].concurrency, sum / (double)same };
    }
    return levels;
}

size_t mst_usl_fit(struct mst_usl *usl, struct mst_usl_point *points, size_t count)
{
    size_t levels = find_levels(points, count), i;
    double of[TERMS];

    *usl = (struct mst_usl){ .knee = 0, .best = 0 };
    for (i = 1; i < levels; i++)
        usl->best = points[i].throughput > points[usl->best].throughput ? i : usl->best;
    while (usl->knee < usl->best &&
           points[usl->knee].throughput < MST_KNEE_NEARLY * points[usl->best].throughput)
        usl->knee++;
    usl->fits = levels >= MST_USL_LEVELS && solve(of, points, levels) && of[0] > 0;
    if (usl->fits) {
        usl->gamma = 1 / of[0];
        usl->alpha = of[1] / of[0];
        usl->beta = of[2] / of[0];
    }
    return levels;
}
