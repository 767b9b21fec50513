/* check_quantile.c - exact quantiles and means, against their definitions. */
#include <stdlib.h>

#include "harness.h"
#include "stats/quantile.h"
#include "stats/random.h"

static void fill(struct mst_values *values, const uint64_t *items, size_t n)
{
    size_t i;

    for (i = 0; i < n; i++)
        ck_assert_int_eq(mst_values_add(values, items[i]), 0);
    mst_values_sort(values);
}

START_TEST(test_none)
{
    struct mst_values v = { 0 };

    mst_values_sort(&v);
    ck_assert_uint_eq(mst_values_quantile(&v, 500), MST_UNKNOWN);
    ck_assert_uint_eq(mst_values_mean(&v), MST_UNKNOWN);
    ck_assert_uint_eq(mst_values_sum(&v), 0);
}
END_TEST

/* Nearest rank: of 1..n the q-quantile is ceil(q n). */
START_TEST(test_nearest_rank)
{
    static const uint64_t ten[] = { 10, 1, 9, 2, 8, 3, 7, 4, 6, 5 };
    struct mst_values v = { 0 };

    fill(&v, ten, 10);
    ck_assert_uint_eq(mst_values_quantile(&v, 0), 1);
    ck_assert_uint_eq(mst_values_quantile(&v, 100), 1);
    ck_assert_uint_eq(mst_values_quantile(&v, 101), 2);
    ck_assert_uint_eq(mst_values_quantile(&v, 500), 5);
    ck_assert_uint_eq(mst_values_quantile(&v, 501), 6);
    ck_assert_uint_eq(mst_values_quantile(&v, 900), 9);
    ck_assert_uint_eq(mst_values_quantile(&v, 990), 10);
    ck_assert_uint_eq(mst_values_quantile(&v, 1000), 10);
    ck_assert_uint_eq(mst_values_sum(&v), 55);
    ck_assert_uint_eq(mst_values_mean(&v), 6);   /* 5.5, rounded */
    mst_values_free(&v);
}
END_TEST

START_TEST(test_one)
{
    static const uint64_t one[] = { 42 };
    struct mst_values v = { 0 };

    fill(&v, one, 1);
    ck_assert_uint_eq(mst_values_quantile(&v, 1), 42);
    ck_assert_uint_eq(mst_values_quantile(&v, 990), 42);
    ck_assert_uint_eq(mst_values_mean(&v), 42);
    mst_values_free(&v);
}
END_TEST

/* At least q of all do not exceed it, and it is the smallest such value. */
START_TEST(test_definition)
{
    uint64_t state = 7;
    struct mst_values v = { 0 };
    unsigned q;
    size_t i, n = 1 + (size_t)_i * 37, below, at_most;
    uint64_t value;

    for (i = 0; i < n; i++)
        ck_assert_int_eq(mst_values_add(&v, mst_random_word(&state) % 50), 0);
    mst_values_sort(&v);
    for (q = 1; q <= 1000; q += 13) {
        value = mst_values_quantile(&v, q);
        for (below = at_most = i = 0; i < n; i++) {
            below += v.items[i] < value;
            at_most += v.items[i] <= value;
        }
        ck_assert_uint_ge(at_most * 1000, n * q);
        ck_assert_uint_lt(below * 1000, n * q);
    }
    mst_values_free(&v);
}
END_TEST

/* Sums beyond 64 bits: the mean is right, the sum is not known. */
START_TEST(test_huge)
{
    static const uint64_t huge[] = { UINT64_MAX - 1, UINT64_MAX - 3, UINT64_MAX - 2 };
    struct mst_values v = { 0 };

    fill(&v, huge, 3);
    ck_assert_uint_eq(mst_values_mean(&v), UINT64_MAX - 2);
    ck_assert_uint_eq(mst_values_sum(&v), MST_UNKNOWN);
    ck_assert_uint_eq(mst_values_quantile(&v, 1000), UINT64_MAX - 1);
    mst_values_free(&v);
}
END_TEST

int main(void)
{
    Suite *suite = suite_create("quantile");
    TCase *tests = tcase_create("quantile");

    tcase_add_test(tests, test_none);
    tcase_add_test(tests, test_nearest_rank);
    tcase_add_test(tests, test_one);
    tcase_add_loop_test(tests, test_definition, 0, 6);
    tcase_add_test(tests, test_huge);
    suite_add_tcase(suite, tests);
    return test_run(suite);
}
