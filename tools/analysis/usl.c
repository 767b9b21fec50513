/* usl.c - fits the Universal Scalability Law to several runs: see usl.h.
 *
 * N / X(N) is linear in a = 1/gamma, b = alpha/gamma and c = beta/gamma:
 * a + b (N - 1) + c N (N - 1). Weighted with X^2 / N^2 its residuals are relative
 * errors of the throughput. The knee is sqrt((a - b) / c); the interval of that
 * quotient is Fieller's, which is unbounded, as it should be, where c cannot be told
 * from 0: then no knee was reached.
 */
#include <math.h>
#include <stdio.h>
#include <stdlib.h>

#include "analysis/thresholds.h"
#include "analysis/usl.h"
#include "stats/distribution.h"

enum { TERMS = 3 };

struct fit {
    double coefficients[TERMS];
    double covariance[TERMS][TERMS];
    size_t freedom;                     /* degrees of it: points less terms */
};

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

static bool solve(struct fit *fit, const struct mst_usl_point *points, size_t count)
{
    double normal[TERMS][TERMS] = { { 0 } }, right[TERMS] = { 0 }, terms[TERMS], weight, y;
    double residual, squares = 0;
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
    if (!invert(normal, fit->covariance))
        return false;
    for (i = 0; i < TERMS; i++)
        for (fit->coefficients[i] = 0, j = 0; j < TERMS; j++)
            fit->coefficients[i] += fit->covariance[i][j] * right[j];
    for (p = 0; p < count; p++) {
        terms_of(points[p].concurrency, terms);
        y = points[p].concurrency / points[p].throughput;
        for (residual = y, i = 0; i < TERMS; i++)
            residual -= fit->coefficients[i] * terms[i];
        squares += residual * residual / (y * y);
    }
    fit->freedom = count - TERMS;
    for (i = 0; i < TERMS; i++)
        for (j = 0; j < TERMS; j++)
            fit->covariance[i][j] *= fit->freedom > 0 ? squares / (double)fit->freedom : 0;
    return true;
}

/* Fieller's interval of (a - b) / c: the roots of a quadratic. False: unbounded. */
static bool fieller(const struct fit *fit, double *from, double *to)
{
    const double (*v)[TERMS] = fit->covariance;
    double t = mst_student(0.95, (double)fit->freedom), t2 = t * t;
    double u = fit->coefficients[0] - fit->coefficients[1], c = fit->coefficients[2];
    double var_u = v[0][0] + v[1][1] - 2 * v[0][1], cov = v[0][2] - v[1][2];
    double qa = c * c - t2 * v[2][2], qb = u * c - t2 * cov, qc = u * u - t2 * var_u;
    double root = qb * qb - qa * qc;

    if (!(qa > 0) || root < 0)
        return false;
    root = sqrt(root);
    *from = (qb - root) / qa;
    *to = (qb + root) / qa;
    return true;
}

static int by_concurrency(const void *a, const void *b)
{
    double x = ((const struct mst_usl_point *)a)->concurrency;
    double y = ((const struct mst_usl_point *)b)->concurrency;

    return (x > y) - (x < y);
}

static size_t levels(const struct mst_usl_point *points, size_t count)
{
    size_t i, n = count > 0;

    for (i = 1; i < count; i++)
        n += points[i].concurrency != points[i - 1].concurrency;
    return n;
}

static void find_knee(struct mst_usl *usl, const struct fit *fit, double largest)
{
    double from, to;

    usl->knee = MST_KNEE_BEYOND;
    if (!(usl->beta > 0) || !(usl->alpha < 1))
        return;
    usl->at = sqrt((1 - usl->alpha) / usl->beta);
    if (!fieller(fit, &from, &to) || to <= 0)
        return;
    usl->from = from > 1 ? sqrt(from) : 1;
    usl->to = sqrt(to);
    /* The fit does not hold far from the concurrencies that were tried: no knee is known there. */
    if (usl->to <= MST_KNEE_WIDEST * usl->from && usl->at <= MST_KNEE_FARTHEST * largest)
        usl->knee = MST_KNEE_KNOWN;
}

void mst_usl_fit(struct mst_usl *usl, struct mst_usl_point *points, size_t count)
{
    struct fit fit;

    *usl = (struct mst_usl){ .knee = MST_KNEE_FEW_POINTS };
    if (count > 1)
        qsort(points, count, sizeof *points, by_concurrency);
    if (levels(points, count) < MST_USL_LEVELS)
        return;
    usl->knee = MST_KNEE_NO_FIT;
    if (!solve(&fit, points, count) || !(fit.coefficients[0] > 0))
        return;
    usl->fits = true;
    usl->gamma = 1 / fit.coefficients[0];
    usl->alpha = fit.coefficients[1] / fit.coefficients[0];
    usl->beta = fit.coefficients[2] / fit.coefficients[0];
    find_knee(usl, &fit, points[count - 1].concurrency);
}

void mst_usl_say(const struct mst_usl *usl, size_t points, char *text, size_t size)
{
    static const char rest[] = "It takes runs at more levels of concurrency, further apart and "
                               "beyond the fall of the throughput, each repeated.";

    switch (usl->knee) {
    case MST_KNEE_KNOWN:
        snprintf(text, size, "Throughput is highest at about %.0f concurrent requests (95 %% "
                 "interval %.0f to %.0f), by the Universal Scalability Law through %zu runs: "
                 "gamma %.0f requests/s alone, alpha %.4g (waiting for what only one can have), "
                 "beta %.4g (what they cost each other). More concurrency than that makes it "
                 "slower.",
                 usl->at, usl->from, usl->to, points, usl->gamma, usl->alpha, usl->beta);
        break;
    case MST_KNEE_FEW_POINTS:
        snprintf(text, size, "Not identifiable: the runs here have fewer than %u different "
                 "concurrencies. %s", MST_USL_LEVELS, rest);
        break;
    case MST_KNEE_NO_FIT:
        snprintf(text, size, "Not identifiable: the Universal Scalability Law does not describe "
                 "these %zu runs. %s", points, rest);
        break;
    case MST_KNEE_BEYOND:
        snprintf(text, size, "Not identifiable: these %zu runs do not show where the throughput "
                 "has its maximum, or they scatter too much. %s", points, rest);
        break;
    }
}
