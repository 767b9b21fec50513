/* check_capacity.c - the search for what a server takes, on servers that are a formula; when a load
 * is steady; which command makes which load. */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/clock.h"
#include "base/strings.h"
#include "capacity/search.h"
#include "harness.h"
#include "loadtools/level.h"
#include "loadtools/loadtool.h"
#include "record/steady.h"
#include "stats/random.h"

#define LEVELS_MOST 40u   /* no search takes more */
#define CLIENTS_MOST 1000u

/* ---- servers ---------------------------------------------------------------------- */

/* What a server answers at a level; `state` is for its chance. */
typedef struct mst_level server_function(uint64_t at, uint64_t *state);

static double noise(uint64_t *state)
{
    return 1 + 0.05 * ((double)(mst_random_word(state) % 2001) / 1000 - 1);
}

/* `workers` of them, 10 requests a second each. */
static double workers(uint64_t at, double workers)
{
    return 10 * ((double)at < workers ? (double)at : workers);
}

static struct mst_level two_workers(uint64_t at, uint64_t *state)
{
    (void)state;
    return (struct mst_level){ .at = at, .rate = workers(at, 2) };
}

static struct mst_level many_workers(uint64_t at, uint64_t *state)
{
    (void)state;
    return (struct mst_level){ .at = at, .rate = workers(at, 100) };
}

static struct mst_level noisy_workers(uint64_t at, uint64_t *state)
{
    return (struct mst_level){ .at = at, .rate = workers(at, 100) * noise(state) };
}

/* Behind the knee each more client costs the others something. */
static struct mst_level falling(uint64_t at, uint64_t *state)
{
    double beyond = at > 50 ? (double)at - 50 : 0;

    (void)state;
    return (struct mst_level){ .at = at, .rate = workers(at, 50) / (1 + beyond / 20) };
}

/* More processes are there from 6 clients on. */
static struct mst_level step(uint64_t at, uint64_t *state)
{
    (void)state;
    return (struct mst_level){ .at = at, .rate = workers(at, at < 6 ? 4 : 40) };
}

static struct mst_level one_worker(uint64_t at, uint64_t *state)
{
    (void)state;
    return (struct mst_level){ .at = at, .rate = workers(at, 1) };
}

static struct mst_level failing_from_70(uint64_t at, uint64_t *state)
{
    struct mst_level level = many_workers(at, state);

    level.is = at >= 70 ? MST_LEVEL_FAILED : MST_LEVEL_GOOD;
    return level;
}

static struct mst_level failing(uint64_t at, uint64_t *state)
{
    struct mst_level level = many_workers(at, state);

    level.is = MST_LEVEL_FAILED;
    return level;
}

/* Two workers, 100 ms each: with n clients a request takes n * 50 ms, and 300 ms are promised. */
static struct mst_level promising_300_ms(uint64_t at, uint64_t *state)
{
    struct mst_level level = two_workers(at, state);

    level.is = at > 6 ? MST_LEVEL_BROKEN : MST_LEVEL_GOOD;
    return level;
}

static struct mst_level weak_tool(uint64_t at, uint64_t *state)
{
    struct mst_level level = many_workers(at, state);

    level.is = at >= 32 ? MST_LEVEL_TOOL : MST_LEVEL_GOOD;
    return level;
}

/* Asked for a rate, it does up to 130 a second. */
static struct mst_level by_rate(uint64_t at, uint64_t *state)
{
    (void)state;
    return (struct mst_level){ .at = at, .rate = at < 130 ? (double)at : 130,
                               .is = at > 140 ? MST_LEVEL_SHORT : MST_LEVEL_GOOD };
}

/* Less than the first rate that is asked for. */
static struct mst_level slow_by_rate(uint64_t at, uint64_t *state)
{
    (void)state;
    return (struct mst_level){ .at = at, .rate = at < 3 ? (double)at : 3,
                               .is = at > 3 ? MST_LEVEL_SHORT : MST_LEVEL_GOOD };
}

/* ---- the search ------------------------------------------------------------------- */

struct searched {
    struct mst_search search;
    struct mst_level  levels[LEVELS_MOST];
    size_t            count;
    uint64_t          highest;
};

static void add(struct searched *d, struct mst_level level)
{
    size_t i = d->count++;

    for (; i > 0 && d->levels[i - 1].at > level.at; i--)
        d->levels[i] = d->levels[i - 1];
    ck_assert_msg(i == 0 || d->levels[i - 1].at < level.at, "%u again", (unsigned)level.at);
    d->levels[i] = level;
}

static struct searched search(server_function *server, bool is_by_rate, uint64_t seed)
{
    const struct mst_search_bounds bounds = {
        .first = is_by_rate ? 10 : 1, .most = CLIENTS_MOST, .by_rate = is_by_rate,
    };
    struct searched d = { .count = 0 };
    uint64_t state = seed;

    for (;;) {
        mst_search(&d.search, &bounds, d.levels, d.count);
        if (d.search.next == 0)
            return d;
        ck_assert_uint_le(d.search.next, CLIENTS_MOST);
        ck_assert_uint_lt(d.count, LEVELS_MOST);
        d.highest = d.search.next > d.highest ? d.search.next : d.highest;
        add(&d, server(d.search.next, &state));
    }
}

static void expect(const struct searched *d, enum mst_search_end end, double rate, uint64_t low,
                   uint64_t high)
{
    const struct mst_search *s = &d->search;

    ck_assert_str_eq(mst_search_end_names[s->end], mst_search_end_names[end]);
    ck_assert(s->has_best);
    ck_assert_msg(d->levels[s->best].rate > 0.94 * rate && d->levels[s->best].rate < 1.06 * rate,
                  "%g, and not %g", d->levels[s->best].rate, rate);
    ck_assert_msg(d->levels[s->knee].at >= low && d->levels[s->knee].at <= high,
                  "%u, and not %u to %u", (unsigned)d->levels[s->knee].at, (unsigned)low,
                  (unsigned)high);
    ck_assert_msg(s->high - s->low <= (s->high / 10 > 1 ? s->high / 10 : 1), "%u to %u",
                  (unsigned)s->low, (unsigned)s->high);
}

START_TEST(test_linear_then_flat)
{
    struct searched d = search(two_workers, false, 1);

    expect(&d, MST_SEARCH_FLAT, 20, 2, 2);
    ck_assert_uint_le(d.highest, 8);
    d = search(many_workers, false, 1);
    expect(&d, MST_SEARCH_FLAT, 1000, 90, 100);
    ck_assert_uint_le(d.highest, 512);
    d = search(one_worker, false, 1);
    expect(&d, MST_SEARCH_FLAT, 10, 1, 1);
    ck_assert_uint_le(d.count, 3);
}
END_TEST

START_TEST(test_falls_behind_the_knee)
{
    struct searched d = search(falling, false, 1);

    expect(&d, MST_SEARCH_FLAT, 500, 42, 55);
}
END_TEST

START_TEST(test_noise)
{
    struct searched d;
    uint64_t seed;

    for (seed = 1; seed <= 200; seed++) {
        d = search(noisy_workers, false, seed);
        expect(&d, MST_SEARCH_FLAT, 1000, 80, 116);
        ck_assert_uint_le(d.count, 20);
    }
}
END_TEST

START_TEST(test_step)
{
    struct searched d = search(step, false, 1);

    expect(&d, MST_SEARCH_FLAT, 400, 36, 40);
}
END_TEST

START_TEST(test_failures)
{
    struct searched d = search(failing_from_70, false, 1);
    size_t i, failed = 0;

    expect(&d, MST_SEARCH_FAILED, 660, 62, 69);
    for (i = 0; i < d.count; i++)
        failed += d.levels[i].is == MST_LEVEL_FAILED;
    ck_assert_uint_le(failed, 4);
    d = search(failing, false, 1);
    ck_assert(!d.search.has_best);
    ck_assert_int_eq(d.search.end, MST_SEARCH_FAILED);
    ck_assert_uint_eq(d.count, 1);
}
END_TEST

START_TEST(test_promise)
{
    struct searched d = search(promising_300_ms, false, 1);

    expect(&d, MST_SEARCH_BROKEN, 20, 2, 2);
}
END_TEST

START_TEST(test_the_tool_is_the_limit)
{
    struct searched d = search(weak_tool, false, 1);

    ck_assert_int_eq(d.search.end, MST_SEARCH_TOOL);
    ck_assert_uint_eq(d.levels[d.search.best].at, 32);
    ck_assert_uint_eq(d.count, 6);
}
END_TEST

START_TEST(test_rates)
{
    struct searched d = search(by_rate, true, 1);

    expect(&d, MST_SEARCH_SHORT, 130, 120, 140);
    ck_assert_uint_le(d.highest, 160);
    d = search(slow_by_rate, true, 1);
    expect(&d, MST_SEARCH_SHORT, 3, 3, 3);
}
END_TEST

START_TEST(test_most)
{
    const struct mst_search_bounds bounds = { .first = 1, .most = 6 };
    static const struct mst_level levels[] = { { .at = 1, .rate = 10 }, { .at = 2, .rate = 20 },
                                               { .at = 4, .rate = 40 }, { .at = 6, .rate = 60 } };
    struct mst_search s;

    mst_search(&s, &bounds, levels, 3);
    ck_assert_uint_eq(s.next, 6);
    mst_search(&s, &bounds, levels, 4);
    ck_assert_uint_eq(s.next, 0);
    ck_assert_int_eq(s.end, MST_SEARCH_MOST);
    ck_assert_uint_eq(s.best, 3);
}
END_TEST

/* ---- steady ------------------------------------------------------------------------ */

typedef bool is_steady_t(const struct mst_steady *steady, uint64_t for_ns);

/* When a load that does rate(ns) requests until then is steady; 0: not within 20 s. */
static double steady_after(double (*requests)(double seconds), is_steady_t *is_steady)
{
    struct mst_steady steady = { 0 };
    double at;

    for (at = 0; at < 20; at += 0.1) {
        mst_steady_see(&steady, (uint64_t)(at * MST_NS_PER_S) + 5, (uint64_t)requests(at));
        if (is_steady(&steady, 3 * MST_NS_PER_S))
            return at;
    }
    return 0;
}

static double at_once(double s)   { return 100 * s; }
static double after_2_s(double s) { return s < 2 ? 0 : 100 * (s - 2); }
static double warming(double s)   { return s < 0.4 ? 10 * s : 4 + 100 * (s - 0.4); }
static double growing(double s)   { return 10 * s * s; }
static double slow(double s)      { return s; }

START_TEST(test_steady)
{
    struct mst_steady steady = { 0 };
    uint64_t i;

    ck_assert_double_eq_tol(steady_after(at_once, mst_steady_is), 3, 0.25);
    ck_assert_double_eq_tol(steady_after(after_2_s, mst_steady_is), 5, 0.25);
    ck_assert_double_gt(steady_after(warming, mst_steady_is), 10);
    ck_assert_double_eq(steady_after(growing, mst_steady_is), 0);
    /* However it began: the warm-up is over, and its last three seconds are alike. */
    ck_assert_double_eq_tol(steady_after(at_once, mst_steady_lately), 3, 0.25);
    ck_assert_double_lt(steady_after(warming, mst_steady_lately),
                        steady_after(warming, mst_steady_is) - 2);
    ck_assert_double_eq_tol(steady_after(slow, mst_steady_is), 4, 0.25);

    /* More looks than are kept. */
    for (i = 0; i < 10 * MST_STEADY_LOOKS; i++)
        mst_steady_see(&steady, i * MST_NS_PER_S / 10, 10 * i);
    ck_assert(mst_steady_is(&steady, 3 * MST_NS_PER_S));
}
END_TEST

/* ---- commands ---------------------------------------------------------------------- */

/* The words of a text, which stay good until the next call of the same slot. */
static char **words_of(const char *text, size_t slot)
{
    static char copies[2][256], *words[2][16];
    char *rest = copies[slot];
    size_t n = 0;

    snprintf(copies[slot], sizeof copies[slot], "%s", text);
    while ((words[slot][n] = strsep(&rest, " ")) != NULL)
        n++;
    return words[slot];
}

/* The command of a text with a load of 12, or what is wrong with it. */
static const char *at_12(const char *text)
{
    static char shown[512];
    char error[MST_ERROR_MAX], **filled, *joined;
    struct mst_level_command c;

    if (mst_level_command_make(&c, words_of(text, 0), error) != 0) {
        snprintf(shown, sizeof shown, "error: %.500s", error);
    } else {
        filled = mst_level_words(&c, 12, 20);
        joined = mst_strings_join(filled);
        snprintf(shown, sizeof shown, "%s%s", c.by_rate ? "rate " : "", joined);
        free(joined);
        mst_strings_free_items(filled);
    }
    mst_level_command_free(&c);
    return shown;
}

START_TEST(test_adapters_set_the_load)
{
    static const char *const cases[][2] = {
        { "ab http://h/", "ab -c 12 -t 20 http://h/" },
        { "ab -k -n 1000 -c10 http://h/", "ab -c 12 -t 20 -k http://h/" },
        { "wrk http://h/", "wrk -c 12 -d 20s -t 2 http://h/" },
        { "wrk -t16 --connections 4 http://h/", "wrk -c 12 -d 20s -t 12 http://h/" },
        { "wrk -c {clients} http://h/", "wrk -d 20s -t 2 -c 12 http://h/" },
        { "wrk -c {clients} -d {seconds} http://h/", "wrk -t 2 -c 12 -d 20 http://h/" },
        { "hey -n 10 --c=3 http://h/", "hey -c 12 -z 20s http://h/" },
        { "hey -c 2 -q {rate} http://h/", "rate hey -z 20s -c 2 -q 12 http://h/" },
        { "siege -b http://h/", "siege -c 12 -t 20S -b http://h/" },
        { "oha -z 5s http://h/", "oha -c 12 -z 20s http://h/" },
        { "h2load -t 2 http://h/", "h2load -c 12 -D 20 -t 2 http://h/" },
        { "k6 run -i 5 load.js", "k6 run --vus 12 --duration 20s load.js" },
        { "vegeta attack -targets=t", "rate vegeta attack -rate 12 -duration 20s -targets=t" },
        { "locust -f l.py --headless -H http://h",
          "locust -u 12 -r 12 -t 20s --headless -f l.py -H http://h" },
        { "./load.sh {clients}x{clients} {seconds}", "./load.sh 12x12 20" },
        { "./load.sh --rate={rate}", "rate ./load.sh --rate=12" },
    };
    size_t i;

    for (i = 0; i < sizeof cases / sizeof *cases; i++)
        ck_assert_str_eq(at_12(cases[i][0]), cases[i][1]);
}
END_TEST

/* wrk would have 6 connections of 7 on two threads. */
START_TEST(test_threads_of_a_level)
{
    static const char *const cases[][2] = {
        { "wrk -t 4 http://h/", "wrk -c 7 -d 20s -t 1 http://h/" },
        { "wrk -t 8 http://h/", "wrk -c 7 -d 20s -t 7 http://h/" },
        { "h2load -t 4 http://h/", "h2load -c 7 -D 20 -t 4 http://h/" },
        { "h2load -t 8 http://h/", "h2load -c 7 -D 20 -t 7 http://h/" },
    };
    struct mst_level_command c;
    char error[MST_ERROR_MAX], **words, *joined;
    size_t i;

    for (i = 0; i < sizeof cases / sizeof *cases; i++) {
        ck_assert_int_eq(mst_level_command_make(&c, words_of(cases[i][0], 0), error), 0);
        words = mst_level_words(&c, 7, 20);
        joined = mst_strings_join(words);
        ck_assert_str_eq(joined, cases[i][1]);
        free(joined);
        mst_strings_free_items(words);
        mst_level_command_free(&c);
    }
}
END_TEST

START_TEST(test_what_no_adapter_can_set)
{
    ck_assert_ptr_nonnull(strstr(at_12("./load.sh -c 10"), "write {clients} or {rate}"));
    ck_assert_ptr_nonnull(strstr(at_12("tsung start"), "write {clients} or {rate}"));
    ck_assert_ptr_nonnull(strstr(at_12("ab -c {clients} -n {rate}"), "{clients} and {rate}"));
    ck_assert_ptr_nonnull(strstr(at_12("k6 archive x.js"), "expected \"k6 run\""));
    ck_assert_ptr_nonnull(strstr(at_12("ab -kc10 http://h/"), "another number of them"));
}
END_TEST

START_TEST(test_the_same_command)
{
    char **was = words_of("ab -g /dev/fd/77 -c 12 -t 20 -k http://h/", 1), error[MST_ERROR_MAX];
    struct mst_level_command c;

    ck_assert_int_eq(mst_level_command_make(&c, words_of("ab -k http://h/", 0), error), 0);
    ck_assert_str_eq(c.set, "-c, -t");
    ck_assert(mst_level_was(&c, 12, 20, was));
    ck_assert(!mst_level_was(&c, 13, 20, was));
    mst_level_command_free(&c);
    ck_assert_int_eq(mst_level_command_make(&c, words_of("ab http://h/", 0), error), 0);
    ck_assert(!mst_level_was(&c, 12, 20, was));
    mst_level_command_free(&c);
}
END_TEST

int main(void)
{
    Suite *suite = suite_create("capacity");
    TCase *tests = tcase_create("capacity");

    tcase_add_test(tests, test_linear_then_flat);
    tcase_add_test(tests, test_falls_behind_the_knee);
    tcase_add_test(tests, test_noise);
    tcase_add_test(tests, test_step);
    tcase_add_test(tests, test_failures);
    tcase_add_test(tests, test_promise);
    tcase_add_test(tests, test_the_tool_is_the_limit);
    tcase_add_test(tests, test_rates);
    tcase_add_test(tests, test_most);
    tcase_add_test(tests, test_steady);
    tcase_add_test(tests, test_adapters_set_the_load);
    tcase_add_test(tests, test_threads_of_a_level);
    tcase_add_test(tests, test_what_no_adapter_can_set);
    tcase_add_test(tests, test_the_same_command);
    suite_add_tcase(suite, tests);
    return test_run(suite);
}
