/* check_sequence.c - Student's quantiles against known ones, and sequences of pairs of simulated
 * runs: how often they decide, and for what.
 */
#include <math.h>
#include <stdio.h>

#include "analysis/sequence.h"
#include "harness.h"
#include "random_draws.h"
#include "stats/distribution.h"

#define SEQUENCES 200
#define SCATTER   0.03   /* of a run, in logarithms: a shared machine */

START_TEST(test_students_quantiles)
{
    /* From W. S. Gosset's table. */
    ck_assert_double_eq_tol(mst_student(0.95, 1), 12.706, 0.0005);
    ck_assert_double_eq_tol(mst_student(0.95, 2), 4.303, 0.0005);
    ck_assert_double_eq_tol(mst_student(0.95, 9.9), 2.262, 0.0005);
    ck_assert_double_eq_tol(mst_student(0.95, 30), 2.042, 0.0005);
    ck_assert_double_eq_tol(mst_student(0.99, 4), 4.604, 0.0005);
    ck_assert_double_eq_tol(mst_student(0.99, 11), 3.106, 0.0005);
    ck_assert_double_eq_tol(mst_student(0.8, 3), 1.638, 0.0005);
    ck_assert_double_eq_tol(mst_student(0.95, 1e9), 1.962, 0.0005);
}
END_TEST

/* What sequences decided, and after how many pairs on average. */
struct outcomes { unsigned different, wrong_way, same; double pairs; };

/* The truth: that many times as much in B. */
static struct outcomes go_on(double truth, double limit)
{
    double a[MST_SEQUENCE_LAST], b[MST_SEQUENCE_LAST];
    struct outcomes out = { 0 };
    struct mst_comparison c;
    uint64_t state = 11;
    unsigned i;

    for (i = 0; i < SEQUENCES; i++) {
        enum mst_decision decision = MST_DECISION_NONE;
        size_t pairs = 0;

        while (decision == MST_DECISION_NONE && pairs < MST_SEQUENCE_LAST) {
            a[pairs] = exp(SCATTER * draw_normal(&state));
            b[pairs] = truth * exp(SCATTER * draw_normal(&state));
            pairs++;
            decision = mst_sequence_look(&c, a, b, pairs, limit);
        }
        out.different += decision == MST_DECISION_DIFFERENT;
        out.wrong_way += decision == MST_DECISION_DIFFERENT &&
                         (c.interval.ratio > 1) != (truth > 1);
        out.same += decision == MST_DECISION_SAME;
        out.pairs += (double)pairs / SEQUENCES;
    }
    return out;
}

/* A server against itself: a difference is a false alarm. */
START_TEST(test_false_alarms)
{
    struct outcomes out = go_on(1, 0.05);

    printf("the same server: %u false alarms of %d, %u the same, after %.1f pairs\n", out.different,
           SEQUENCES, out.same, out.pairs);
    ck_assert_uint_le(out.different, SEQUENCES / 20);
    ck_assert_uint_ge(out.same, SEQUENCES * 9 / 10);
    ck_assert(out.pairs < 20);
}
END_TEST

START_TEST(test_a_difference)
{
    struct outcomes out = go_on(1.05, 0.05);

    printf("5 %% more: %u found of %d, %u the same, after %.1f pairs\n", out.different, SEQUENCES,
           out.same, out.pairs);
    ck_assert_uint_ge(out.different, SEQUENCES * 9 / 10);
    ck_assert_uint_eq(out.wrong_way, 0);
    ck_assert(out.pairs < 20);
    out = go_on(1 / 1.3, 0.05);
    ck_assert_uint_eq(out.different, SEQUENCES);
    ck_assert_uint_eq(out.wrong_way, 0);
    ck_assert(out.pairs < 5.5);
}
END_TEST

/* As many find a difference of 5 % with five pairs, at which nobody looks before. */
START_TEST(test_five_pairs)
{
    struct mst_compare_input in = { .a_count = 5, .b_count = 5, .paired = true };
    struct mst_comparison c;
    double a[5], b[5];
    uint64_t state = 11;
    unsigned i, found = 0;
    size_t k;

    in.a = a;
    in.b = b;
    in.less = in.more = "";
    for (i = 0; i < SEQUENCES; i++) {
        for (k = 0; k < 5; k++) {
            a[k] = exp(SCATTER * draw_normal(&state));
            b[k] = 1.05 * exp(SCATTER * draw_normal(&state));
        }
        mst_compare(&c, &in);
        found += c.change == MST_CHANGE_MORE;
    }
    printf("5 %% more, five pairs: %u found of %d\n", found, SEQUENCES);
    ck_assert_uint_le(found, SEQUENCES * 6 / 10);
    ck_assert_uint_ge(found, SEQUENCES * 2 / 10);
    /* What the comparison says of itself: 4 of 5 find it. */
    ck_assert_double_gt(c.smallest, 0.03);
    ck_assert_double_lt(c.smallest, 0.15);
}
END_TEST

START_TEST(test_few_pairs_decide_nothing)
{
    const double a[] = { 1, 1.001, 0.999 }, b[] = { 2, 2.001, 1.999 };
    struct mst_comparison c;

    ck_assert_int_eq(mst_sequence_look(&c, a, b, 1, 0.05), MST_DECISION_NONE);
    ck_assert_int_eq(mst_sequence_look(&c, a, b, 3, 0.05), MST_DECISION_NONE);
}
END_TEST

int main(void)
{
    Suite *suite = suite_create("sequence");
    TCase *all = tcase_create("sequence");

    tcase_set_timeout(all, 60);
    tcase_add_test(all, test_students_quantiles);
    tcase_add_test(all, test_false_alarms);
    tcase_add_test(all, test_a_difference);
    tcase_add_test(all, test_five_pairs);
    tcase_add_test(all, test_few_pairs_decide_nothing);
    suite_add_tcase(suite, all);
    return test_run(suite);
}
