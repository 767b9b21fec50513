/* check_explain.c - how many workers were busy when, from what requests held them for. */
#include "explain/occupancy.h"
#include "harness.h"

struct steps { unsigned count; uint64_t at[16], most[16], busy_ns[16]; };

static int keep(void *context, uint64_t at_ns, uint64_t most, uint64_t busy_ns)
{
    struct steps *s = context;

    ck_assert_uint_lt(s->count, 16);
    s->at[s->count] = at_ns;
    s->most[s->count] = most;
    s->busy_ns[s->count++] = busy_ns;
    return 0;
}

/* Two workers: [10, 30] and [20, 40], then one that has one request after the other. */
START_TEST(test_most_and_time)
{
    struct mst_occupancy o = { 0 };
    struct steps s = { 0 };

    ck_assert(mst_occupancy_add(&o, 20, 40));
    ck_assert(mst_occupancy_add(&o, 10, 30));
    ck_assert(mst_occupancy_add(&o, 60, 70));
    ck_assert(mst_occupancy_add(&o, 70, 90));
    ck_assert_int_eq(mst_occupancy_sweep(&o, 0, 100, 4, keep, &s), 0);
    ck_assert_uint_eq(s.count, 4);
    ck_assert_uint_eq(s.at[0], 25);
    ck_assert_uint_eq(s.most[0], 2);
    ck_assert_uint_eq(s.busy_ns[0], 15 + 5);
    ck_assert_uint_eq(s.most[1], 2);
    ck_assert_uint_eq(s.busy_ns[1], 40);
    ck_assert_uint_eq(s.most[2], 1);
    ck_assert_uint_eq(s.busy_ns[2], 40 + 15);
    ck_assert_uint_eq(s.at[3], 100);
    ck_assert_uint_eq(s.most[3], 1);
    ck_assert_uint_eq(s.busy_ns[3], 40 + 30);
    mst_occupancy_free(&o);
}
END_TEST

/* What began before the window, and what has not ended in it. */
START_TEST(test_beyond_the_window)
{
    struct mst_occupancy o = { 0 };
    struct steps s = { 0 };

    ck_assert(mst_occupancy_add(&o, 0, 150));
    ck_assert(mst_occupancy_add(&o, 50, 120));
    ck_assert(mst_occupancy_add(&o, 180, 500));
    ck_assert(mst_occupancy_add(&o, 10, 20));
    ck_assert_int_eq(mst_occupancy_sweep(&o, 100, 200, 1, keep, &s), 0);
    ck_assert_uint_eq(s.most[0], 2);
    ck_assert_uint_eq(s.busy_ns[0], 50 + 20 + 20);
    mst_occupancy_free(&o);
}
END_TEST

START_TEST(test_no_time)
{
    struct mst_occupancy o = { 0 };
    struct steps s = { 0 };

    ck_assert(mst_occupancy_add(&o, 50, 50));
    ck_assert(mst_occupancy_add(&o, 60, 40));   /* a clock that went back */
    ck_assert_int_eq(mst_occupancy_sweep(&o, 0, 100, 1, keep, &s), 0);
    ck_assert_uint_le(s.most[0], 1);
    ck_assert_uint_eq(s.busy_ns[0], 0);
    mst_occupancy_free(&o);
}
END_TEST

START_TEST(test_none)
{
    struct mst_occupancy o = { 0 };
    struct steps s = { 0 };

    ck_assert_int_eq(mst_occupancy_sweep(&o, 7, 7, 3, keep, &s), 0);
    ck_assert_uint_eq(s.count, 3);
    ck_assert_uint_eq(s.at[2], 7);
    ck_assert_uint_eq(s.most[2], 0);
    mst_occupancy_free(&o);
}
END_TEST

/* Two that overlap, one inside another, and one alone; the window cuts the first and the last. */
START_TEST(test_any_busy)
{
    static const uint64_t spans[][2] = { { 0, 30 }, { 20, 40 }, { 25, 28 }, { 60, 70 },
                                         { 90, 200 } };
    struct mst_occupancy o = { 0 };
    struct steps s = { 0 };
    size_t i;

    for (i = 0; i < sizeof spans / sizeof *spans; i++)
        ck_assert(mst_occupancy_add(&o, spans[i][0], spans[i][1]));
    ck_assert_int_eq(mst_occupancy_sweep(&o, 10, 100, 1, keep, &s), 0);
    ck_assert_uint_eq(mst_occupancy_any_ns(&o, 10, 100), 30 + 10 + 10);
    ck_assert_uint_eq(mst_occupancy_any_ns(&o, 45, 55), 0);
    mst_occupancy_free(&o);
}
END_TEST

int main(void)
{
    Suite *suite = suite_create("explain");
    TCase *occupancy = tcase_create("occupancy");

    tcase_add_test(occupancy, test_most_and_time);
    tcase_add_test(occupancy, test_beyond_the_window);
    tcase_add_test(occupancy, test_no_time);
    tcase_add_test(occupancy, test_none);
    tcase_add_test(occupancy, test_any_busy);
    suite_add_tcase(suite, occupancy);
    return test_run(suite);
}
