/* check_histogram.c - the histogram's bounds, counts and quantiles. */
#include <math.h>
#include <stdlib.h>

#include "base/clock.h"
#include "harness.h"
#include "stats/random.h"
#include "write/worker.h"   /* mst_histogram_record */

#define HOUR_NS (3600 * MST_NS_PER_S)

START_TEST(every_bucket_begins_where_the_one_before_ends)
{
    unsigned i;

    ck_assert_uint_eq(mst_histogram_lower(0), 0);
    for (i = 1; i < MST_HIST_BUCKETS; i++) {
        uint64_t lower = mst_histogram_lower(i);

        ck_assert_uint_gt(lower, mst_histogram_lower(i - 1));
        ck_assert_uint_eq(mst_histogram_bucket(lower), i);
        ck_assert_uint_eq(mst_histogram_bucket(lower - 1), i - 1);
    }
    ck_assert_uint_eq(mst_histogram_bucket(UINT64_MAX), MST_HIST_BUCKETS - 1);
}
END_TEST

START_TEST(no_bucket_is_wider_than_an_eighth)
{
    unsigned first = mst_histogram_bucket(MST_NS_PER_US), last = mst_histogram_bucket(HOUR_NS), i;

    ck_assert_uint_gt(first, 0);
    ck_assert_uint_lt(last, MST_HIST_BUCKETS - 1);
    for (i = first; i <= last; i++) {
        uint64_t lower = mst_histogram_lower(i), width = mst_histogram_lower(i + 1) - lower;

        ck_assert_uint_le(width * 8, lower);
    }
}
END_TEST

START_TEST(powers_of_two_are_bounds)
{
    unsigned exponent;

    for (exponent = MST_HIST_MIN_EXP; exponent <= MST_HIST_MAX_EXP; exponent++) {
        uint64_t power = UINT64_C(1) << exponent;

        ck_assert_uint_eq(mst_histogram_lower(mst_histogram_bucket(power)), power);
    }
}
END_TEST

START_TEST(nothing_observed_has_no_quantile)
{
    struct mst_histogram h = { 0 };

    ck_assert_uint_eq(mst_histogram_quantile(&h, 0.5), UINT64_MAX);
    ck_assert_uint_eq(mst_histogram_count(&h), 0);
}
END_TEST

START_TEST(one_observation_is_every_quantile)
{
    static const uint64_t values[] = { 0, 1, 511, 512, 1000, 123456789, HOUR_NS, UINT64_MAX };
    size_t i;

    for (i = 0; i < sizeof values / sizeof values[0]; i++) {
        struct mst_histogram h = { 0 };

        mst_histogram_record(&h, values[i]);
        ck_assert_uint_eq(mst_histogram_quantile(&h, 0.01), values[i]);
        ck_assert_uint_eq(mst_histogram_quantile(&h, 1), values[i]);
    }
}
END_TEST

/* A copy may fall between a writer's count and its maximum. */
START_TEST(a_maximum_not_written_yet_does_not_pull_quantiles_down)
{
    struct mst_histogram h = { 0 };
    unsigned bucket = mst_histogram_bucket(MST_NS_PER_S);

    h.buckets[bucket] = 1;
    ck_assert_uint_eq(mst_histogram_quantile(&h, 0.5), mst_histogram_lower(bucket));
}
END_TEST

static int ascending(const void *a, const void *b)
{
    const uint64_t *x = a, *y = b;

    return (*x > *y) - (*x < *y);
}

/* Log-uniform over 1 us to 1 h. */
static uint64_t random_time(uint64_t *random)
{
    double u = (double)(mst_random_word(random) >> 11) / 9007199254740992.0;

    return (uint64_t)(1e3 * pow((double)HOUR_NS / 1e3, u));
}

START_TEST(quantiles_lie_within_a_bucket_of_the_exact_ones)
{
    static const double quantiles[] = { 0.001, 0.1, 0.5, 0.9, 0.99, 0.999, 1 };
    struct mst_histogram h = { 0 };
    uint64_t random = 7, values[5000];
    size_t count = 1 + (size_t)_i * 333, i;

    for (i = 0; i < count; i++) {
        values[i] = random_time(&random);
        mst_histogram_record(&h, values[i]);
    }
    qsort(values, count, sizeof values[0], ascending);
    for (i = 0; i < sizeof quantiles / sizeof quantiles[0]; i++) {
        size_t rank = (size_t)ceil(quantiles[i] * (double)count);
        uint64_t exact = values[rank - 1], found = mst_histogram_quantile(&h, quantiles[i]);
        unsigned bucket = mst_histogram_bucket(exact);

        ck_assert_uint_ge(found, mst_histogram_lower(bucket));
        ck_assert_uint_le(found, mst_histogram_lower(bucket + 1));
        ck_assert_uint_le(found, h.max_ns);
    }
}
END_TEST

START_TEST(sums_saturate)
{
    struct mst_histogram a = { 0 }, b = { 0 };

    a.sum_ns = b.sum_ns = UINT64_MAX - 1;
    a.buckets[3] = UINT64_MAX;
    a.buckets[4] = b.buckets[3] = 5;
    a.max_ns = 3;
    b.max_ns = 2;
    mst_histogram_add(&a, &b);
    ck_assert_uint_eq(a.sum_ns, UINT64_MAX);
    ck_assert_uint_eq(a.buckets[3], UINT64_MAX);
    ck_assert_uint_eq(a.buckets[4], 5);
    ck_assert_uint_eq(a.max_ns, 3);
    ck_assert_uint_eq(mst_histogram_count(&a), UINT64_MAX);
    ck_assert_uint_le(mst_histogram_quantile(&a, 0.5), mst_histogram_lower(5));
}
END_TEST

int main(void)
{
    Suite *suite = suite_create("histogram");
    TCase *tests = tcase_create("histogram");

    tcase_add_test(tests, every_bucket_begins_where_the_one_before_ends);
    tcase_add_test(tests, no_bucket_is_wider_than_an_eighth);
    tcase_add_test(tests, powers_of_two_are_bounds);
    tcase_add_test(tests, nothing_observed_has_no_quantile);
    tcase_add_test(tests, one_observation_is_every_quantile);
    tcase_add_test(tests, a_maximum_not_written_yet_does_not_pull_quantiles_down);
    tcase_add_loop_test(tests, quantiles_lie_within_a_bucket_of_the_exact_ones, 0, 15);
    tcase_add_test(tests, sums_saturate);
    suite_add_tcase(suite, tests);
    return test_run(suite);
}
