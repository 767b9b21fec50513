/* check_compare.c - the bootstrap against known distributions, the sentences, and
 * comparisons of archives made by hand.
 */
#include <inttypes.h>
#include <jansson.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "analysis/compare.h"
#include "archive/writer.h"
#include "base/clock.h"
#include "harness.h"
#include "random_draws.h"
#include "report/comparison_steps.h"
#include "stats/bootstrap.h"

#define START  (UINT64_C(1700000000) * MST_NS_PER_S)
#define TRIALS 300

/* ---- the bootstrap ---------------------------------------------------------------- */

/* Values whose logarithms have a mean of 0: as runs scatter, and twelve times as much. */
static double draw(int kind, uint64_t *state)
{
    return kind == 0 ? exp(0.025 * draw_normal(state)) :
           kind == 1 ? exp(0.3 * draw_normal(state)) : exp(0.3 * (-log(draw_uniform(state)) - 1));
}

/* How often the interval holds the truth, which is 2. */
static double coverage(int kind, size_t count, bool paired)
{
    uint64_t state = 99;
    unsigned held = 0, trial;
    double a[20], b[20];
    struct mst_confidence interval;
    size_t i;

    for (trial = 0; trial < TRIALS; trial++) {
        for (i = 0; i < count; i++) {
            a[i] = draw(0, &state);
            b[i] = 2 * draw(kind, &state);
        }
        ck_assert(mst_bootstrap_ratio(&interval, a, count, b, count, paired));
        held += interval.low <= 2 && 2 <= interval.high;
    }
    return (double)held / TRIALS;
}

static const size_t coverage_counts[] = { 3, 5, 20 };

/* Of 300 trials 95 % is 0.91 to 0.98, three deviations; the skewed one loses a little. */
START_TEST(test_coverage)
{
    int kind = _i / 3;
    size_t count = coverage_counts[_i % 3];
    double unpaired = coverage(kind, count, false), paired = coverage(kind, count, true);
    double least = kind < 2 ? 0.91 : 0.86;

    ck_assert_msg(unpaired >= least && unpaired <= 0.985, "%d, %zu: %g", kind, count, unpaired);
    ck_assert_msg(paired >= least && paired <= 0.985, "%d, %zu pairs: %g", kind, count, paired);
}
END_TEST

START_TEST(test_identical)
{
    const double a[] = { 3.1, 2.9, 3.3, 3.0, 3.05 };
    struct mst_confidence interval;

    ck_assert(mst_bootstrap_ratio(&interval, a, 5, a, 5, false));
    ck_assert_msg(interval.ratio == 1 && interval.low < 1 && interval.high > 1, "%g",
                  interval.ratio);
    ck_assert(mst_bootstrap_ratio(&interval, a, 5, a, 5, true));
    ck_assert_msg(interval.ratio == 1 && interval.low == 1 && interval.high == 1, "%g",
                  interval.ratio);
}
END_TEST

/* A difference of 2 % below a drift of 50 %: only pairs can tell it. */
START_TEST(test_pairs_see_through_a_drift)
{
    const double a[] = { 10, 11, 12, 13.5, 15 };
    const double b[] = { 10.2, 11.25, 12.23, 13.8, 15.3 };
    struct mst_confidence interval;

    ck_assert(mst_bootstrap_ratio(&interval, a, 5, b, 5, true));
    ck_assert(interval.low > 1.01 && interval.high < 1.03);
    ck_assert(mst_bootstrap_ratio(&interval, a, 5, b, 5, false));
    ck_assert(interval.low < 1 && interval.high > 1);
}
END_TEST

START_TEST(test_the_same_each_time_and_both_ways)
{
    const double a[] = { 10, 11, 10.5, 10.2 }, b[] = { 12, 12.5, 12.2, 13 };
    struct mst_confidence one, again, other;

    mst_bootstrap_ratio(&one, a, 4, b, 4, false);
    mst_bootstrap_ratio(&again, a, 4, b, 4, false);
    mst_bootstrap_ratio(&other, b, 4, a, 4, false);
    ck_assert_mem_eq(&one, &again, sizeof one);
    ck_assert_double_eq_tol(one.ratio * other.ratio, 1, 1e-12);
    ck_assert_double_eq_tol(one.low * other.high, 1, 0.02);
}
END_TEST

START_TEST(test_noise)
{
    const double same[] = { 5, 5, 5, 5 }, two[] = { 10, 10, 12, 12 };

    ck_assert(mst_bootstrap_noise(same, 3) < 0);
    ck_assert(mst_bootstrap_noise(same, 4) == 0);
    ck_assert_double_eq_tol(mst_bootstrap_noise(two, 4), 0.2, 1e-9);
}
END_TEST

/* ---- sentences -------------------------------------------------------------------- */

static struct mst_comparison compare(const double *a, size_t a_count, const double *b,
                                     size_t b_count, double step)
{
    const struct mst_compare_input in = { a, b, a_count, b_count, a_count == b_count, step,
                                          .less = "B is faster", .more = "B is slower" };
    struct mst_comparison c;

    mst_compare(&c, &in);
    return c;
}

START_TEST(test_sentences)
{
    const double a[] = { 100, 101, 99 }, slower[] = { 112, 112.5, 111.5 };
    const double faster[] = { 88, 88.5, 88.3 }, near[] = { 101, 99, 100.5 };
    const double factor[] = { 2000, 2010, 2005 }, zero[] = { 0, 100, 100 };
    struct mst_comparison c;

    c = compare(a, 3, slower, 3, 0);
    ck_assert_msg(strncmp(c.text, "B is slower by 12 % (", 21) == 0, "%s", c.text);
    ck_assert_int_eq(c.change, MST_CHANGE_MORE);
    c = compare(a, 3, faster, 3, 0);
    ck_assert_msg(strncmp(c.text, "B is faster by 12 % (", 21) == 0, "%s", c.text);
    ck_assert_int_eq(c.change, MST_CHANGE_LESS);
    c = compare(a, 3, factor, 3, 0);
    ck_assert_msg(strncmp(c.text, "B is slower: 20 times as much (", 31) == 0, "%s", c.text);
    c = compare(a, 3, near, 3, 0);
    ck_assert_str_eq(c.text, "cannot tell: from 5.5 % less to 3.8 % more");
    c = compare(a, 1, slower, 1, 0);
    ck_assert_str_eq(c.text,
                     "cannot tell: 12 % more, but one run each; record with --repeat 5");
    c = compare(a, 2, slower, 3, 0);
    ck_assert_str_eq(c.text, "cannot tell: 11 % more, but 2 and 3 runs; it takes 3 each, better "
                     "five: --repeat 5");
    c = compare(a, 3, zero, 3, 0);
    ck_assert_str_eq(c.text, "cannot tell: there is a run in which it was 0");
    ck_assert(c.a > 0 && c.b > 66 && c.b < 67 && c.by[0] == '\0');
    c = compare(a, 1, zero, 1, 0);
    ck_assert_str_eq(c.by, "none in B");
    c = compare(a, 3, a, 3, 50);
    ck_assert_str_eq(c.text, "cannot tell: there is no difference at all");
    ck_assert(c.interval.ratio == 1);
}
END_TEST

/* Numbers as people read them: no percentage of thousands, no exponent, and never all of what is
 * not 0. */
START_TEST(test_differences)
{
    static const struct { double ratio; const char *by; } cases[] = {
        { 1, "the same" }, { 1.00001, "0 % more" }, { 1.0004, "0.04 % more" },
        { 0.954, "4.6 % less" }, { 2.48, "148 % more" }, { 3.2, "3.2 times as much" },
        { 26.4, "26 times as much" }, { 2595.86, "2600 times as much" },
        { 4321987, "4300000 times as much" }, { 0.004, "99.6 % less" },
        { 0.0004, "99.96 % less" }, { 1e-9, "99.99 % less" },
    };
    size_t i;

    for (i = 0; i < sizeof cases / sizeof *cases; i++) {
        const double a = 1e6, b = cases[i].ratio * a;

        ck_assert_str_eq(compare(&a, 1, &b, 1, 0).by, cases[i].by);
    }
}
END_TEST

/* A cause that half of the runs have, or fewer, is none that the other side changed from. */
START_TEST(test_causes)
{
    struct mst_comparison_table t = { .a = { .count = 5 }, .b = { .count = 4 } };
    char text[MST_COMPARISON_CAUSES_MAX];

    t.cause_a = (struct mst_comparison_cause){ MST_CODE_SLEEP, 5 };
    t.cause_b = (struct mst_comparison_cause){ MST_CODE_PHP_WORKERS, 3 };
    mst_comparison_causes(&t, text);
    ck_assert_str_eq(text, "The cause changed from sleep (5 of 5 runs) to php-workers (3 of 4).");
    t.cause_b.runs = 2;
    mst_comparison_causes(&t, text);
    ck_assert_str_eq(text, "Whether the cause changed is not known: it is not the same in most "
                     "runs of a side. Most often it is sleep in A (5 of 5 runs) and php-workers "
                     "in B (2 of 4).");
    t.cause_b = (struct mst_comparison_cause){ MST_CODE_SLEEP, 4 };
    mst_comparison_causes(&t, text);
    ck_assert_str_eq(text, "The cause is the same: sleep (5 of 5 and 4 of 4 runs).");
    t.cause_b = (struct mst_comparison_cause){ MST_CODE_TOO_SHORT, 4 };
    mst_comparison_causes(&t, text);
    ck_assert_str_eq(text, "Whether the cause changed is not known: what was found is sleep in A "
                     "and too-short in B.");
    t.cause_b.code = MST_CODE_COUNT;
    mst_comparison_causes(&t, text);
    ck_assert_str_eq(text, "");
}
END_TEST

/* Ten ticks against eleven of the same clock can be one time. */
START_TEST(test_resolution)
{
    const double ten[] = { 10, 10, 10 }, eleven[] = { 11, 11, 11 }, twenty[] = { 20, 20, 20 };

    ck_assert_int_eq(compare(ten, 3, eleven, 3, 0).change, MST_CHANGE_MORE);
    ck_assert_int_eq(compare(ten, 3, eleven, 3, 1.1).change, MST_CHANGE_UNSURE);
    ck_assert_int_eq(compare(ten, 3, twenty, 3, 1.1).change, MST_CHANGE_MORE);
}
END_TEST

START_TEST(test_limit)
{
    struct mst_comparison c = { .bounded = true, .interval = { 1.1, 1.06, 1.14, 4 } };

    ck_assert_int_eq(mst_compare_limit(&c, false, 0.05), MST_LIMIT_BEYOND);
    ck_assert_int_eq(mst_compare_limit(&c, false, 0.1), MST_LIMIT_UNSURE);
    ck_assert_int_eq(mst_compare_limit(&c, false, 0.2), MST_LIMIT_WITHIN);
    ck_assert_int_eq(mst_compare_limit(&c, true, 0.05), MST_LIMIT_WITHIN);
    c.interval = (struct mst_confidence){ 0.9, 0.88, 0.94, 4 };
    ck_assert_int_eq(mst_compare_limit(&c, true, 0.05), MST_LIMIT_BEYOND);
    ck_assert_int_eq(mst_compare_limit(&c, true, 0.1), MST_LIMIT_UNSURE);
    ck_assert_int_eq(mst_compare_limit(&c, false, 0), MST_LIMIT_WITHIN);
    c.bounded = false;
    ck_assert_int_eq(mst_compare_limit(&c, false, 0), MST_LIMIT_UNSURE);
}
END_TEST

/* ---- archives --------------------------------------------------------------------- */

/* A run of ab that began at `second` and made that many requests a second. */
static void add_run(struct mst_archive *archive, const char *name, unsigned repetition,
                    unsigned second, uint64_t rate_milli, const char *url, const char *cpus)
{
    char *command[] = { (char[]){ "ab" }, (char[]){ "-c" }, (char[]){ "2" }, strdup(url), NULL };
    const struct mst_archive_run run = { .name = name, .argv = command, .tool = "ab",
                                         .started_ns = START + second * MST_NS_PER_S,
                                         .repetition = repetition };
    const struct mst_archive_run_end end = {
        .outcome = MST_OUTCOME_COMPLETE, .complete = true, .started_ns = run.started_ns,
        .ended_ns = run.started_ns + MST_NS_PER_S, .duration_ns = MST_NS_PER_S,
        .exit_signal = MST_UNKNOWN,
    };
    const struct mst_plan plan = { .requested = 1000 };
    struct mst_client_result result;
    int64_t id;

    mst_client_result_init(&result);
    result.requests = 1000;
    result.failed = 0;
    result.requests_per_1000s = rate_milli;
    result.mean_ns = 2 * MST_NS_PER_S * 1000 / rate_milli * 1000;
    ck_assert_int_eq(mst_archive_begin_run(archive, &run, &id), 0);
    ck_assert_int_eq(mst_archive_add_client_result(archive, id, &result, &plan), 0);
    ck_assert_int_eq(mst_archive_add_environment(archive, id, "cpus", cpus), 0);
    ck_assert_int_eq(mst_archive_add_environment(archive, id, "load_average", name), 0);
    ck_assert_int_eq(mst_archive_end_run(archive, id, &end), 0);
    free(command[3]);
}

static struct mst_archive *create(const char *path)
{
    char error[MST_ERROR_MAX];
    struct mst_archive *archive = mst_archive_create(path, NULL, error);

    ck_assert_msg(archive != NULL, "%s", error);
    return archive;
}

/* Runs of "fast" and "slow", which took turns. */
static const char *interleaved(void)
{
    const char *path = test_path();
    struct mst_archive *archive = create(path);
    char error[MST_ERROR_MAX];
    unsigned i;

    for (i = 0; i < 4; i++) {
        add_run(archive, "fast", i + 1, 10 * i + i % 2, 1000000 + i * 1000, "http://x/1", "2");
        add_run(archive, "slow", i + 1, 10 * i + 1 - i % 2, 800000 + i * 900, "http://x/2", "2");
    }
    ck_assert_int_eq(mst_archive_close(archive, error), 0);
    return path;
}

/* "#NAME" behind the path; "" nothing. */
static void read_side(struct mst_compare_side *side, const char *path, const char *run)
{
    static char given[2][4096];
    static unsigned which;
    char error[MST_ERROR_MAX];

    which = !which;
    snprintf(given[which], sizeof given[which], "%s%s", path, run);
    ck_assert_msg(mst_compare_side_read(memory_of_test(), side, given[which], error) == 0, "%s",
                  error);
}

static bool has(const struct mst_list *sentences, const char *words)
{
    size_t i;

    for (i = 0; i < sentences->count; i++)
        if (strstr(sentences->items[i], words) != NULL)
            return true;
    return false;
}

static bool has_warning(const struct mst_comparison_table *t, const char *words)
{
    return has(&t->warnings, words);
}

static bool has_obstacle(const struct mst_comparison_table *t, const char *words)
{
    return has(&t->obstacles, words);
}

/* Changes an archive by hand. */
static void change(const char *path, const char *sql)
{
    char error[MST_ERROR_MAX];
    struct mst_archive *archive = create(path);

    ck_assert_int_eq(sqlite3_exec(mst_archive_db(archive), sql, NULL, NULL, NULL), SQLITE_OK);
    ck_assert_int_eq(mst_archive_close(archive, error), 0);
}

static int keep(void *context, const void *bytes, size_t n)
{
    char *text = context;
    size_t used = strlen(text);

    ck_assert_uint_lt(used + n, 16384);
    memcpy(text + used, bytes, n);
    text[used + n] = '\0';
    return 0;
}

static void make(struct mst_comparison_table *t, const char *path, const char *a, const char *b)
{
    read_side(&t->a, path, a);
    read_side(&t->b, path, b);
    mst_comparison_make(t, NULL, 0);
}

START_TEST(test_interleaved_runs_are_pairs)
{
    struct mst_comparison_table t = { .pool = memory_of_test(), .limit = 0.05 };
    const char *path = interleaved();

    read_side(&t.a, path, "#fast");
    read_side(&t.b, path, "#slow");
    mst_comparison_make(&t, NULL, 0);
    ck_assert(t.paired);
    ck_assert_uint_eq(t.a.count, 4);
    ck_assert_uint_eq(t.warnings.count, 0);
    ck_assert_int_eq(t.verdict, MST_LIMIT_BEYOND);
    ck_assert_str_eq(t.rows[0].metric->column, "client_requests_per_second");
    ck_assert_msg(strncmp(t.rows[0].result.text, "B is slower by 20 % (20 to 20 %)", 30) == 0, "%s",
                  t.rows[0].result.text);
    mst_comparison_end(&t);
}
END_TEST

START_TEST(test_what_differs_is_said)
{
    struct mst_comparison_table t = { .pool = memory_of_test(), .limit = -1 };
    struct mst_archive *archive;
    char error[MST_ERROR_MAX];
    char a[4096], b[4096];
    unsigned i;

    snprintf(a, sizeof a, "%s", test_path());
    snprintf(b, sizeof b, "%s", test_path());
    archive = create(a);
    for (i = 0; i < 3; i++)
        add_run(archive, "one", i + 1, 10 * i, 1000000, "http://x/1", "2");
    ck_assert_int_eq(mst_archive_close(archive, error), 0);
    archive = create(b);
    for (i = 0; i < 3; i++)
        add_run(archive, "two", i + 1, 100 + 10 * i, 1000000, i > 1 ? "x" : "http://x/1", "4");
    ck_assert_int_eq(mst_archive_close(archive, error), 0);
    read_side(&t.a, a, "");
    read_side(&t.b, b, "");
    mst_comparison_make(&t, NULL, 0);
    ck_assert(!t.paired);
    ck_assert(has_warning(&t, "cpus differs: \"2\" in run 1 of A, \"4\" in run 1 of B"));
    ck_assert(has_obstacle(&t, "the load differs: \"URL\" in run 1 of A, \"x\" in run 3 of B"));
    ck_assert(has_warning(&t, "the runs of B are not repetitions of each other"));
    ck_assert(has_warning(&t, "not made alternately"));
    ck_assert(!has_warning(&t, "load_average"));
    ck_assert_int_eq(t.verdict, MST_LIMIT_UNSURE);
    mst_comparison_end(&t);
}
END_TEST

START_TEST(test_an_unfinished_run_leaves_with_its_pair)
{
    struct mst_comparison_table t = { .pool = memory_of_test(), .limit = -1 };
    const char *path = interleaved();
    struct mst_archive *archive = create(path);
    char error[MST_ERROR_MAX];

    ck_assert_int_eq(sqlite3_exec(mst_archive_db(archive), "UPDATE runs SET complete = 0 WHERE "
                                  "name = 'slow' AND repetition = 2", NULL, NULL, NULL), SQLITE_OK);
    mst_archive_close(archive, error);
    read_side(&t.a, path, "#fast");
    read_side(&t.b, path, "#slow");
    mst_comparison_make(&t, NULL, 0);
    ck_assert(t.paired);
    ck_assert_uint_eq(t.a.count, 3);
    ck_assert_uint_eq(t.a.runs[1].repetition, 3);
    ck_assert(has_warning(&t, "1 run of B did not come to an end, and is left out"));
    ck_assert(has_warning(&t, "1 run of A without a counterpart is left out"));
    mst_comparison_end(&t);
}
END_TEST

/* 7 of 4000 change nothing; a page whose length varies is not a failure. */
START_TEST(test_few_failures_are_said)
{
    struct mst_comparison_table t = { .pool = memory_of_test(), .limit = 0.05 };
    const char *path = interleaved();

    change(path,
        "UPDATE client_results SET failed = 9, failed_length = 9 WHERE run_id = 1;"
        "UPDATE client_results SET failed = 9, failed_length = 2, non_2xx = 3 WHERE run_id = 2;"
        "INSERT INTO notes VALUES (1, 1, 'a note')");
    make(&t, path, "#fast", "#slow");
    ck_assert(has_warning(&t, "requests failed or had another status than 2xx (7 of 4000 of B; "
                          "none of A): what fails is often fast"));
    ck_assert(has_warning(&t, "1 of the 4 runs of A and 0 of the 4 of B have notes"));
    ck_assert_uint_eq(t.warnings.count, 2);
    ck_assert_uint_eq(t.obstacles.count, 0);
    ck_assert_int_eq(t.verdict, MST_LIMIT_BEYOND);
    mst_comparison_end(&t);
}
END_TEST

/* A side that fails is neither fast enough nor a measure for the other one. */
START_TEST(test_failures_forbid_a_comparison)
{
    static const char fails[] = "UPDATE client_results SET failed = 1000 WHERE run_id IN "
                                "(SELECT id FROM runs WHERE name = 'fast')";
    struct mst_comparison_table t = { .pool = memory_of_test(), .limit = 0.05 }, u = t;
    struct mst_comparison_table v = { .pool = memory_of_test(), .limit = -1 };
    const char *path = interleaved();

    make(&t, path, "#slow", "#fast");
    ck_assert_int_eq(t.verdict, MST_LIMIT_WITHIN);
    ck_assert_uint_eq(t.obstacles.count, 0);
    mst_comparison_end(&t);
    change(path, fails);
    t = (struct mst_comparison_table){ .pool = memory_of_test(), .limit = 0.05 };
    make(&t, path, "#slow", "#fast");
    ck_assert_int_eq(t.verdict, MST_LIMIT_UNSURE);
    ck_assert_msg(strstr(t.sentence, "A and B do not compare: requests failed or had another "
                         "status than 2xx (4000 of 4000 of B; none of A). Cannot tell whether B "
                         "is slower by more than 5 %: ") == t.sentence, "%s", t.sentence);
    mst_comparison_end(&t);
    make(&u, path, "#fast", "#slow");
    ck_assert_int_eq(u.verdict, MST_LIMIT_UNSURE);
    mst_comparison_end(&u);
    make(&v, path, "#slow", "#fast");
    ck_assert_msg(strstr(v.sentence, " What was seen: 2.00 s a request instead of ") != NULL &&
                  strstr(v.sentence, "faster") == NULL, "%s", v.sentence);
    mst_comparison_end(&v);
}
END_TEST

START_TEST(test_a_slower_side_that_fails_is_slower)
{
    struct mst_comparison_table t = { .pool = memory_of_test(), .limit = 0.05 };
    const char *path = interleaved();

    change(path, "UPDATE client_results SET failed = 500 WHERE run_id IN "
                 "(SELECT id FROM runs WHERE name = 'slow')");
    make(&t, path, "#fast", "#slow");
    ck_assert_int_eq(t.verdict, MST_LIMIT_BEYOND);
    mst_comparison_end(&t);
}
END_TEST

/* Other clients are another load; only more requests of the same are not. */
START_TEST(test_loads)
{
    struct mst_comparison_table t = { .pool = memory_of_test(), .limit = -1 }, u = t;
    const char *path = interleaved();

    change(path, "UPDATE runs SET command = '[\"ab\",\"-n\",\"1000\",\"-c\",\"2\",\"http://x/\"]';"
                 "UPDATE runs SET command = '[\"ab\",\"-n\",\"900\",\"-c\",\"2\",\"http://x/\"]' "
                 "WHERE name = 'slow'; UPDATE client_results SET requested = 900 WHERE run_id IN "
                 "(SELECT id FROM runs WHERE name = 'slow')");
    make(&t, path, "#fast", "#slow");
    ck_assert_uint_eq(t.obstacles.count, 0);
    ck_assert(has_warning(&t, "another number of requests: 1000 in run 1 of A, 900 in run 2 of B"));
    mst_comparison_end(&t);
    change(path, "UPDATE runs SET command = '[\"ab\",\"-n\",\"900\",\"-c\",\"20\",\"http://x/\"]' "
                 "WHERE name = 'slow'");
    make(&u, path, "#fast", "#slow");
    ck_assert(has_obstacle(&u, "the load differs: \"-c 2\" in run 1 of A, \"-c 20\" in run 2 "
                           "of B"));
    mst_comparison_end(&u);
}
END_TEST

START_TEST(test_one_run_each_is_one_remark)
{
    struct mst_comparison_table t = { .pool = memory_of_test(), .limit = -1 };
    char text[16384] = "";
    struct mst_sink sink;

    make(&t, interleaved(), "#1", "#2");
    ck_assert_str_eq(t.sentence, "B was slower: 2.50 s a request instead of 2.00 s, 25 % more; 800 "
                     "requests/s instead of 1000, 20 % less. One run each cannot tell whether that "
                     "is chance: record both with --repeat 5 --interleave.");
    mst_sink_init(&sink, keep, text);
    mst_comparison_text(&sink, &t);
    mst_sink_flush(&sink);
    ck_assert_msg(strstr(text, "cannot tell:") == NULL && strstr(text, "A/A") == NULL, "%s", text);
    ck_assert_msg(strstr(text, "             A       B\n"
                         "  client, req/s    1000     800  20 % less\n"
                         "  client, mean   2.00 s  2.50 s  25 % more\n") != NULL, "%s", text);
    mst_comparison_end(&t);
}
END_TEST

/* ---- servers ---------------------------------------------------------------------- */

enum { APACHE, PHP, IDLE, SERVERS };

/* An Apache that handed 10 requests to a PHP, and another one that was recorded beside it. */
static struct mst_compare_run run_of(struct mst_summary_server servers[SERVERS], enum mst_sapi sapi)
{
    struct mst_compare_run run = { .summary = { .server_count = SERVERS, .servers = servers } };

    run.summary.checks[MST_CHECK_STEADY].ok = MST_ANSWER_UNKNOWN;
    memset(servers, 0, SERVERS * sizeof *servers);
    servers[APACHE] = (struct mst_summary_server){ .producer = MST_PRODUCER_APACHE, .requests = 10,
        .cpu_ns = 1000, .peak_pss_bytes = 6000000 };
    servers[PHP] = (struct mst_summary_server){ .producer = MST_PRODUCER_PHP, .requests = 10,
        .sapi_kind = sapi, .cpu_ns = 9000, .peak_pss_bytes = 30000000 };
    servers[IDLE] = (struct mst_summary_server){ .producer = MST_PRODUCER_APACHE, .requests = 0,
        .cpu_ns = 70000, .peak_pss_bytes = 90000000 };
    if (sapi == MST_SAPI_MOD_PHP)
        servers[PHP].cpu_ns = servers[PHP].peak_pss_bytes = MST_UNKNOWN;
    return run;
}

/* mod_php's processes are Apache's; FPM's are its own. */
START_TEST(test_all_servers_count)
{
    struct mst_summary_server servers[SERVERS];
    struct mst_compare_run run = run_of(servers, MST_SAPI_FPM);
    const struct mst_metric *cpu = &mst_metrics[MST_M_CPU_EACH];
    const struct mst_metric *memory = &mst_metrics[MST_M_SERVERS_PSS];

    ck_assert_uint_eq(mst_metric_get(cpu, &run.summary), 1000);
    ck_assert_uint_eq(mst_metric_get(memory, &run.summary), 36000000);
    servers[PHP].cpu_ns = MST_UNKNOWN;
    ck_assert_uint_eq(mst_metric_get(cpu, &run.summary), MST_UNKNOWN);
    run = run_of(servers, MST_SAPI_MOD_PHP);
    ck_assert_uint_eq(mst_metric_get(cpu, &run.summary), 100);
    ck_assert_uint_eq(mst_metric_get(memory, &run.summary), 6000000);
}
END_TEST

/* The sum of servers is none of all where a PHP behind Apache was not recorded. */
START_TEST(test_a_backend_that_was_not_recorded)
{
    struct mst_summary_server a[SERVERS], b[SERVERS];
    struct mst_compare_run run_a = run_of(a, MST_SAPI_MOD_PHP), run_b = run_of(b, MST_SAPI_FPM);
    struct mst_comparison_table t = { .pool = memory_of_test(),
                                      .a = { .runs = &run_a, .count = 1 },
                                      .b = { .runs = &run_b, .count = 1 } };

    ck_assert(mst_comparison_same_servers(&t));
    b[PHP].requests = 0;
    b[APACHE].intervals[MST_INTERVAL_BACKEND].times.count = 10;
    ck_assert(!mst_comparison_same_servers(&t));
    mst_comparison_find_differences(&t);
    ck_assert(has_warning(&t, "was not recorded in all runs"));
}
END_TEST

/* What was changed comes before all else that differs. */
START_TEST(test_other_kinds_come_first)
{
    struct mst_summary_server a[SERVERS], b[SERVERS];
    struct mst_compare_run run_a = run_of(a, MST_SAPI_MOD_PHP), run_b = run_of(b, MST_SAPI_FPM);
    struct mst_comparison_table t = { .pool = memory_of_test(),
                                      .a = { .runs = &run_a, .count = 1 },
                                      .b = { .runs = &run_b, .count = 1 } };

    a[APACHE].server = b[APACHE].server = (char[]){ "Apache/2.4.66" };
    a[APACHE].mpm = (char[]){ "prefork" };
    b[APACHE].mpm = (char[]){ "event" };
    a[PHP].server = b[PHP].server = (char[]){ "PHP/8.2.29" };
    a[PHP].sapi = (char[]){ "apache2handler" };
    b[PHP].sapi = (char[]){ "fpm-fcgi" };
    a[PHP].workers_limit = MST_UNKNOWN;
    a[APACHE].workers_limit = 5;
    b[APACHE].workers_limit = 150;
    mst_comparison_find_differences(&t);
    ck_assert_uint_eq(t.warnings.count, 2);
    ck_assert_str_eq(t.warnings.items[0], "the servers are of different kinds: Apache/2.4.66 "
                     "prefork with PHP/8.2.29 apache2handler in A, Apache/2.4.66 event with "
                     "PHP/8.2.29 fpm-fcgi in B");
    ck_assert_str_eq(t.warnings.items[1], "the server's limit of workers differs: 5 in A, 150 in "
                     "B");
}
END_TEST

START_TEST(test_sides_that_are_none)
{
    static const char *const bad[][2] = {
        { "", "has runs of several names (\"fast\", \"slow\")" },
        { "#none", "there is no run \"none\" in" },
        { ".gone#1", "cannot open the archive" },
    };
    const char *path = interleaved();
    struct mst_compare_side side;
    char error[MST_ERROR_MAX], given[4096];
    size_t i;

    for (i = 0; i < sizeof bad / sizeof *bad; i++) {
        snprintf(given, sizeof given, "%s%s", path, bad[i][0]);
        ck_assert_int_eq(mst_compare_side_read(memory_of_test(), &side, given, error), -1);
        ck_assert_msg(strstr(error, bad[i][1]) != NULL, "%s", error);
        mst_compare_side_close(&side);
    }
}
END_TEST

/* In the file's name, and in the run's. */
START_TEST(test_number_signs)
{
    struct mst_compare_side side;
    struct mst_archive *archive;
    char path[4096], error[MST_ERROR_MAX];

    snprintf(path, sizeof path, "%s#1.db", test_path());
    archive = create(path);
    add_run(archive, "#2#3", 1, 0, 1000, "http://x/", "2");
    ck_assert_int_eq(mst_archive_close(archive, error), 0);
    read_side(&side, path, "");
    ck_assert_uint_eq(side.count, 1);
    mst_compare_side_close(&side);
    read_side(&side, path, "##2#3");
    ck_assert_uint_eq(side.count, 1);
    mst_compare_side_close(&side);
}
END_TEST

/* ---- text and JSON ---------------------------------------------------------------- */

START_TEST(test_output)
{
    struct mst_comparison_table t = { .pool = memory_of_test(), .limit = 0.05 };
    const char *path = interleaved();
    char text[16384] = "", json[16384] = "";
    struct mst_sink sink;
    json_t *root, *first;
    int flag;

    read_side(&t.a, path, "#fast");
    read_side(&t.b, path, "#slow");
    mst_comparison_make(&t, NULL, 0);
    mst_sink_init(&sink, keep, text);
    mst_comparison_text(&sink, &t);
    mst_sink_flush(&sink);
    ck_assert_msg(strstr(text, "  client, req/s *    1001     801") != NULL, "%s", text);
    ck_assert_msg(strstr(text, "B is slower by more than 5 %: 2.50 s a request instead of 2.0") ==
                  text, "%s", text);
    mst_sink_init(&sink, keep, json);
    mst_comparison_json(&sink, &t);
    mst_sink_flush(&sink);
    root = json_loads(json, 0, NULL);
    ck_assert_msg(root != NULL, "%s", json);
    ck_assert(json_is_true(json_object_get(root, "paired")));
    ck_assert(json_is_true(json_object_get(root, "slower")));
    ck_assert_str_eq(json_string_value(json_object_get(root, "sentence")), t.sentence);
    ck_assert_uint_eq(json_array_size(json_object_get(root, "obstacles")), 0);
    ck_assert_uint_eq(json_array_size(json_object_get(json_object_get(root, "b"), "runs")), 4);
    first = json_array_get(json_object_get(root, "metrics"), 0);
    ck_assert_str_eq(json_string_value(json_object_get(first, "change")), "less");
    ck_assert_double_eq_tol(json_number_value(json_object_get(first, "a")), 1001.5, 0.01);
    ck_assert_double_eq_tol(json_number_value(json_object_get(first, "ratio")), 0.8, 0.001);
    ck_assert_int_eq(json_unpack(first, "{s:b}", "gate", &flag), 0);
    ck_assert_int_eq(flag, 1);
    json_decref(root);
    mst_comparison_end(&t);
}
END_TEST

/* Markdown's parts: a sentence, an empty line, a table; then what to beware of and, folded, the
 * rest. */
START_TEST(test_markdown)
{
    static const char *const names[] = { "a|b", "`code`", "<b>", "two\nlines", "**", "[x](y)" };
    struct mst_comparison_table t = { .pool = memory_of_test(), .limit = _i % 2 == 0 ? -1 : 0.05 };
    const char *path = test_path();
    struct mst_archive *archive = create(path);
    char error[MST_ERROR_MAX], name[32], text[16384] = "", *line, *rest;
    struct mst_sink sink;
    unsigned i;

    for (i = 0; i < 8; i++)
        add_run(archive, i % 2 == 0 ? "plain" : names[_i / 2], i / 2 + 1, 10 * i,
                (i % 2 == 0 ? 1000000 : 800000) + i * 900, "http://x/", "2");
    ck_assert_int_eq(mst_archive_close(archive, error), 0);
    read_side(&t.a, path, "#plain");
    snprintf(name, sizeof name, "#%s", names[_i / 2]);
    read_side(&t.b, path, name);
    mst_comparison_make(&t, NULL, 0);
    mst_sink_init(&sink, keep, text);
    mst_comparison_markdown(&sink, &t);
    mst_sink_flush(&sink);
    line = strtok_r(text, "\n", &rest);
    ck_assert_msg(strncmp(line, "**", 2) == 0 && strcmp(line + strlen(line) - 3, ".**") == 0,
                  "%s", line);
    ck_assert_msg(strstr(line, "B is slower") != NULL, "%s", line);
    line = strtok_r(NULL, "\n", &rest);
    ck_assert_msg(strncmp(line, "|  | A: plain (4 runs) | B: ", 27) == 0, "%s", line);
    for (i = 0; line != NULL && line[0] == '|'; line = strtok_r(NULL, "\n", &rest), i++) {
        unsigned bars = 0;
        const char *at;

        for (at = line; *at != '\0'; at++)
            bars += *at == '|' && (at == line || at[-1] != '\\');
        ck_assert_msg(bars == 6, "%u columns: %s", bars, line);
        ck_assert_msg(strpbrk(line, "<>") == NULL, "%s", line);
    }
    ck_assert_uint_gt(i, 3);
    ck_assert_msg(line != NULL && line[0] != '|', "%s", line);
    mst_comparison_end(&t);
}
END_TEST

/* ---- all of it -------------------------------------------------------------------- */

int main(void)
{
    Suite *suite = suite_create("compare");
    TCase *bootstrap = tcase_create("bootstrap"), *sentences = tcase_create("sentences");
    TCase *archives = tcase_create("archives");

    /* Each alone, for the time that a test may take. */
    tcase_add_loop_test(bootstrap, test_coverage, 0, 9);
    tcase_add_test(bootstrap, test_identical);
    tcase_add_test(bootstrap, test_pairs_see_through_a_drift);
    tcase_add_test(bootstrap, test_the_same_each_time_and_both_ways);
    tcase_add_test(bootstrap, test_noise);
    tcase_add_test(sentences, test_sentences);
    tcase_add_test(sentences, test_differences);
    tcase_add_test(sentences, test_resolution);
    tcase_add_test(sentences, test_causes);
    tcase_add_test(sentences, test_limit);
    tcase_add_test(archives, test_interleaved_runs_are_pairs);
    tcase_add_test(archives, test_what_differs_is_said);
    tcase_add_test(archives, test_an_unfinished_run_leaves_with_its_pair);
    tcase_add_test(archives, test_few_failures_are_said);
    tcase_add_test(archives, test_failures_forbid_a_comparison);
    tcase_add_test(archives, test_a_slower_side_that_fails_is_slower);
    tcase_add_test(archives, test_loads);
    tcase_add_test(archives, test_one_run_each_is_one_remark);
    tcase_add_test(archives, test_all_servers_count);
    tcase_add_test(archives, test_a_backend_that_was_not_recorded);
    tcase_add_test(archives, test_other_kinds_come_first);
    tcase_add_test(archives, test_sides_that_are_none);
    tcase_add_test(archives, test_number_signs);
    tcase_add_test(archives, test_output);
    tcase_add_loop_test(archives, test_markdown, 0, 12);
    suite_add_tcase(suite, bootstrap);
    suite_add_tcase(suite, sentences);
    suite_add_tcase(suite, archives);
    return test_run(suite);
}
