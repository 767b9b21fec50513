/* check_usl.c - the Universal Scalability Law, fitted to points of laws that are known, and the
 * knee among points. */
#include "analysis/usl.h"
#include "harness.h"
#include "stats/random.h"

static double law(double n, double gamma, double alpha, double beta)
{
    return gamma * n / (1 + alpha * (n - 1) + beta * n * (n - 1));
}

/* Points of a law, each off by at most `noise` of itself. */
static size_t points_of(struct mst_usl_point *points, const double *levels, size_t count,
                        double beta, double noise)
{
    uint64_t state = 7;
    size_t i;

    for (i = 0; i < count; i++) {
        double off = 1 + noise * ((double)(mst_random_word(&state) % 2001) / 1000 - 1);

        points[i] = (struct mst_usl_point){ levels[i], law(levels[i], 100, 0.05, beta) * off };
    }
    return count;
}

START_TEST(test_the_law)
{
    static const double levels[] = { 64, 1, 2, 4, 8, 16, 32, 64, 32 };
    struct mst_usl_point points[9];
    struct mst_usl usl;

    ck_assert_uint_eq(mst_usl_fit(&usl, points, points_of(points, levels, 9, 0.002, 0)), 7);
    ck_assert(usl.fits);
    ck_assert_double_eq_tol(usl.gamma, 100, 1e-6);
    ck_assert_double_eq_tol(usl.alpha, 0.05, 1e-6);
    ck_assert_double_eq_tol(usl.beta, 0.002, 1e-6);
    /* 513 with 16, 510 with 32, and 424 with 8. */
    ck_assert_double_eq(points[usl.best].concurrency, 16);
    ck_assert_double_eq(points[usl.knee].concurrency, 16);
    mst_usl_fit(&usl, points, points_of(points, levels, 9, 0.002, 0.02));
    ck_assert_double_eq_tol(usl.gamma, 100, 5);
    mst_usl_fit(&usl, points, 3);
    ck_assert(!usl.fits);
    ck_assert_uint_eq(mst_usl_fit(&usl, points, 0), 0);
    ck_assert(!usl.fits);
}
END_TEST

/* Throughputs with 1, 2, 4 and 8 concurrent requests, and which of them is the knee. */
static const struct { double throughputs[4]; size_t knee, best; } curves[] = {
    { { 10, 20, 40, 80 }, 3, 3 },
    { { 10, 20, 38, 40 }, 2, 3 },
    { { 10, 40, 30, 20 }, 1, 1 },
    { { 40, 40, 40, 40 }, 0, 0 },
};

/* Two runs of each, of which the mean counts. */
START_TEST(test_the_knee)
{
    struct mst_usl_point points[8];
    struct mst_usl usl;
    size_t i;

    for (i = 0; i < 4; i++) {
        double x = curves[_i].throughputs[i];

        points[i] = (struct mst_usl_point){ (double)(1u << i), x * 1.2 };
        points[7 - i] = (struct mst_usl_point){ (double)(1u << i), x * 0.8 };
    }
    ck_assert_uint_eq(mst_usl_fit(&usl, points, 8), 4);
    ck_assert_uint_eq(usl.knee, curves[_i].knee);
    ck_assert_uint_eq(usl.best, curves[_i].best);
    ck_assert_double_eq_tol(points[3].throughput, curves[_i].throughputs[3], 1e-9);
}
END_TEST

int main(void)
{
    Suite *suite = suite_create("usl");
    TCase *tests = tcase_create("usl");

    tcase_add_test(tests, test_the_law);
    tcase_add_loop_test(tests, test_the_knee, 0, (int)(sizeof curves / sizeof *curves));
    suite_add_tcase(suite, tests);
    return test_run(suite);
}
