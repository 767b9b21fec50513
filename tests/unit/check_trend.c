/* check_trend.c - series of recordings with known changes: which of them are told. */
#include <math.h>
#include <stdio.h>

#include "analysis/trend.h"
#include "harness.h"
#include "random_draws.h"

#define POINTS 20
#define SERIES 200

/* A rate of 100 that scatters by 2 %, after `truth`. */
static void make(struct mst_trend_point *points, size_t count, double (*truth)(size_t i),
                 uint64_t *state)
{
    size_t i;

    for (i = 0; i < count; i++)
        points[i].value = 100 * truth(i) * exp(0.02 * draw_normal(state));
    mst_trend_find(points, count, true, 0.01);
}

static double same(size_t i)     { return i < POINTS ? 1 : 0; }
static double step(size_t i)     { return i < 8 ? 1 : 1.3; }
static double first(size_t i)    { return i < 2 ? 1.3 : 1; }
static double drifting(size_t i) { return 1 + 0.01 * (double)i; }

/* Where a change is told; POINTS: nowhere. */
static size_t change_of(const struct mst_trend_point *points, size_t count)
{
    size_t i = 0;

    while (i < count && points[i].trend != MST_TREND_CHANGED)
        i++;
    return i < count ? i : POINTS;
}

START_TEST(test_a_step)
{
    struct mst_trend_point points[POINTS];
    uint64_t state = 5;

    make(points, POINTS, step, &state);
    ck_assert_uint_eq(change_of(points, POINTS), 8);
    ck_assert_double_eq_tol(points[8].before, 100, 3);
    ck_assert(!mst_trend_find_drift(points, POINTS, true, 0.05).found);
}
END_TEST

/* Nothing is before them, so the rest tells. */
START_TEST(test_the_first_recordings)
{
    struct mst_trend_point points[POINTS];
    uint64_t state = 5;

    make(points, POINTS, first, &state);
    ck_assert_uint_eq(change_of(points, POINTS), 2);
    ck_assert_double_eq_tol(points[2].before, 130, 4);
    make(points, 4, first, &state);
    ck_assert_uint_eq(change_of(points, 4), POINTS);
}
END_TEST

/* No step of it is beyond the noise at once; together they are 19 %. */
START_TEST(test_a_drift)
{
    struct mst_trend_point points[POINTS];
    struct mst_trend_drift drift;
    unsigned i, found = 0;
    uint64_t state = 5;

    for (i = 0; i < SERIES; i++) {
        make(points, POINTS, drifting, &state);
        drift = mst_trend_find_drift(points, POINTS, true, 0.05);
        found += drift.found;
        ck_assert_double_eq_tol(drift.first, 100, 6);
        ck_assert_double_eq_tol(drift.last, 119, 7);
    }
    printf("a drift of 19 %%: %u of %d\n", found, SERIES);
    ck_assert_uint_ge(found, SERIES * 8 / 10);
    points[3].value = points[9].value = -1;
    drift = mst_trend_find_drift(points, POINTS, true, 0.05);
    ck_assert_uint_eq(drift.values, POINTS - 2);
    ck_assert(!mst_trend_find_drift(points, MST_TREND_DRIFT_MIN - 1, true, 0.05).found);
}
END_TEST

START_TEST(test_nothing)
{
    struct mst_trend_point points[POINTS];
    unsigned i, drifts = 0, changes = 0;
    uint64_t state = 5;

    for (i = 0; i < SERIES; i++) {
        make(points, POINTS, same, &state);
        drifts += mst_trend_find_drift(points, POINTS, true, 0.05).found;
        changes += change_of(points, POINTS) < POINTS;
    }
    printf("nothing changes: %u drifts, %u changes of %d\n", drifts, changes, SERIES);
    ck_assert_uint_le(drifts, SERIES / 100);
    ck_assert_uint_le(changes, SERIES / 10);
}
END_TEST

int main(void)
{
    Suite *suite = suite_create("trend");
    TCase *all = tcase_create("trend");

    tcase_add_test(all, test_a_step);
    tcase_add_test(all, test_the_first_recordings);
    tcase_add_test(all, test_a_drift);
    tcase_add_test(all, test_nothing);
    suite_add_tcase(suite, all);
    return test_run(suite);
}
