/* check_metrics.c - the bounds of histograms in metrics: which there are, what is below them, how
 * wrong a quantile of Prometheus can be.
 */
#include <math.h>
#include <stdlib.h>

#include "base/clock.h"
#include "harness.h"
#include "render/metrics.h"
#include "stats/random.h"
#include "write/worker.h"   /* mst_histogram_record */

#define BOUNDS_MAX 200u

static const unsigned choices[] = { 1, 2, 4, 8 };

/* All bounds of an empty histogram. Returns their number. */
static size_t bounds(uint64_t to[BOUNDS_MAX], unsigned per_octave)
{
    struct mst_histogram h = { 0 };
    struct mst_bound b = { 0 };
    size_t count = 0;

    while (mst_bound_next(&b, &h, per_octave)) {
        ck_assert_uint_lt(count, BOUNDS_MAX);
        to[count++] = b.ns;
    }
    return count;
}

/* The guide's arithmetic: 29 powers of two, and in each of 17 octaves what is between them. */
START_TEST(there_are_as_many_as_the_guide_says)
{
    uint64_t all[BOUNDS_MAX];

    ck_assert_uint_eq(bounds(all, choices[_i]), 29 + 17 * (choices[_i] - 1));
}
END_TEST

START_TEST(each_choice_has_those_of_the_coarser_ones)
{
    uint64_t all[BOUNDS_MAX], coarse[BOUNDS_MAX];
    size_t count = bounds(all, choices[_i]), fewer = bounds(coarse, choices[_i] / 2), i, k = 0;

    for (i = 0; i < count; i++) {
        ck_assert(i == 0 || all[i] > all[i - 1]);
        k += k < fewer && all[i] == coarse[k];
    }
    ck_assert_uint_eq(k, fewer);
}
END_TEST

/* Version 0.1.0 had these only; rates of them go on. */
START_TEST(powers_of_two_are_always_there)
{
    uint64_t all[BOUNDS_MAX];
    unsigned exponent = 14;

    bounds(all, 1);
    for (; exponent <= 42; exponent++)
        ck_assert_uint_eq(all[exponent - 14], UINT64_C(1) << exponent);
}
END_TEST

START_TEST(what_is_below_is_counted_exactly)
{
    struct mst_histogram h = { 0 };
    struct mst_bound b = { 0 };
    uint64_t random = 1, values[1000];
    unsigned i, below;

    for (i = 0; i < 1000; i++) {
        values[i] = mst_random_word(&random) >> (mst_random_word(&random) % 64);
        mst_histogram_record(&h, values[i]);
    }
    while (mst_bound_next(&b, &h, choices[_i])) {
        for (i = below = 0; i < 1000; i++)
            below += values[i] < b.ns;
        ck_assert_uint_eq(b.below, below);
    }
}
END_TEST

/* As Prometheus does: linear between the bounds around it. All observations are at `ns`. */
static double quantile_of_one_time(const uint64_t *all, uint64_t ns, double q)
{
    size_t i = 0;

    while (all[i] <= ns)
        i++;
    return (double)all[i - 1] + q * (double)(all[i] - all[i - 1]);
}

/* No distribution is worse than one time alone, and of these the bucket's first. */
START_TEST(a_quantile_is_as_wrong_as_the_guide_says)
{
    static const double worst[] = { 0.99, 0.495, 0.2475, 0.12375 };
    static const double beyond_ten[] = { 0.86, 0.72, 0.45, 0.05 };   /* of all times */
    uint64_t all[BOUNDS_MAX], ns;
    double found = 0, wrong = 0, times = 0, error;

    bounds(all, choices[_i]);
    for (ns = MST_NS_PER_MS; ns < 60 * MST_NS_PER_S; ns += ns / 5000) {
        error = fabs(quantile_of_one_time(all, ns, 0.99) / (double)ns - 1);
        found = error > found ? error : found;
        wrong += error > 0.1;
        times++;
    }
    ck_assert_double_le(found, worst[_i] + 1e-9);
    ck_assert_double_ge(found, worst[_i] * 0.99);
    ck_assert_double_le(wrong / times, beyond_ten[_i]);
}
END_TEST

/* How far a value of the tallies' bucket can be from any of the native one. */
static double native_error(unsigned bucket, double index)
{
    double lower = (double)mst_histogram_lower(bucket) / 1e9;
    double upper = (double)mst_histogram_lower(bucket + 1) / 1e9;
    double base = 1 << MST_NATIVE_SCHEMA;

    return fmax(exp2(index / base) / lower - 1, 1 - exp2((index - 1) / base) / upper);
}

START_TEST(native_buckets_are_the_nearest)
{
    unsigned bucket;

    for (bucket = 1; bucket < MST_HIST_BUCKETS - 1; bucket++) {
        double index = (double)mst_native_index(bucket), error = native_error(bucket, index);

        ck_assert_double_le(error, 0.078);
        ck_assert_double_le(error, native_error(bucket, index - 1));
        ck_assert_double_le(error, native_error(bucket, index + 1));
        ck_assert(mst_native_index(bucket + 1) > mst_native_index(bucket) + 1);
    }
}
END_TEST

int main(void)
{
    Suite *suite = suite_create("metrics");
    TCase *tests = tcase_create("metrics");

    tcase_add_loop_test(tests, there_are_as_many_as_the_guide_says, 0, 4);
    tcase_add_loop_test(tests, each_choice_has_those_of_the_coarser_ones, 1, 4);
    tcase_add_test(tests, powers_of_two_are_always_there);
    tcase_add_loop_test(tests, what_is_below_is_counted_exactly, 0, 4);
    tcase_add_loop_test(tests, a_quantile_is_as_wrong_as_the_guide_says, 0, 4);
    tcase_add_test(tests, native_buckets_are_the_nearest);
    suite_add_tcase(suite, tests);
    return test_run(suite);
}
