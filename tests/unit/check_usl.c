/* check_usl.c - the Universal Scalability Law, fitted to points of laws that are known. */
#include <math.h>

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

START_TEST(test_usl)
{
    static const double levels[] = { 64, 1, 2, 4, 8, 16, 32, 64, 32 };
    static const double rising[] = { 1, 2, 3, 4, 5 };
    struct mst_usl_point points[9];
    struct mst_usl usl;
    double knee = sqrt(0.95 / 0.002);   /* 21.8 */

    mst_usl_fit(&usl, points, points_of(points, levels, 9, 0.002, 0));
    ck_assert_int_eq(usl.knee, MST_KNEE_KNOWN);
    ck_assert_double_eq_tol(usl.gamma, 100, 1e-6);
    ck_assert_double_eq_tol(usl.alpha, 0.05, 1e-6);
    ck_assert_double_eq_tol(usl.beta, 0.002, 1e-6);
    ck_assert_double_eq_tol(usl.at, knee, 1e-3);

    mst_usl_fit(&usl, points, points_of(points, levels, 9, 0.002, 0.05));
    ck_assert_int_eq(usl.knee, MST_KNEE_KNOWN);
    ck_assert_msg(usl.from < knee && knee < usl.to, "%g to %g", usl.from, usl.to);

    /* Never past the knee, and noisy: it cannot be told. */
    mst_usl_fit(&usl, points, points_of(points, rising, 5, 0.0001, 0.1));
    ck_assert_int_eq(usl.knee, MST_KNEE_BEYOND);
    mst_usl_fit(&usl, points, points_of(points, levels, 9, 0, 0));
    ck_assert_int_eq(usl.knee, MST_KNEE_BEYOND);
    mst_usl_fit(&usl, points, 3);
    ck_assert_int_eq(usl.knee, MST_KNEE_FEW_POINTS);
    mst_usl_fit(&usl, points, 0);
    ck_assert_int_eq(usl.knee, MST_KNEE_FEW_POINTS);
}
END_TEST

int main(void)
{
    Suite *suite = suite_create("usl");
    TCase *tests = tcase_create("usl");

    tcase_add_test(tests, test_usl);
    suite_add_tcase(suite, tests);
    return test_run(suite);
}
