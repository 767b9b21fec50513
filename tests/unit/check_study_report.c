/* check_study_report.c - a study's report: the names of figures, intervals, lines of cases,
 * and what becomes of each kind of claim.
 *
 * Archives are made with the archive's own schema: runs that have a load tool's results and
 * no server. tests/integration/lab/test_lab_report.py has whole reports.
 */
#include <inttypes.h>
#include <math.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "archive/writer.h"
#include "base/clock.h"
#include "harness.h"
#include "lab/report/estimates.h"
#include "lab/report/figures.h"
#include "lab/report/parts.h"
#include "lab/report/published.h"
#include "lab/report/report.h"
#include "stats/bootstrap.h"

#define START  (UINT64_C(1700000000) * MST_NS_PER_S)

/* ---- figures ---------------------------------------------------------------------- */

START_TEST(test_names)
{
    static const struct { const char *word; enum mst_metric_id metric; double scale; } w[] = {
        { "requests_per_second", MST_M_RATE, 1 }, { "mean_ms", MST_M_MEAN, 1e-3 },
        { "time_taken_s", MST_M_TAKEN, 1 }, { "transfer_kb_per_second", MST_M_TRANSFER, 1024 },
        { "availability_percent", MST_M_AVAILABILITY, 0.01 }, { "response_s", MST_M_MEAN, 1 },
        { "longest_s", MST_M_MAX, 1 },
        { "error_percent", MST_M_ERROR_SHARE, 0.01 }, { "peak_pss_mb", MST_M_PSS, 1e6 },
        { "php_peak_pss_mb", MST_M_PHP_PSS, 1e6 },
        { "transactions_per_second", MST_M_RATE, 1 }, { "longest_seconds", MST_M_MAX, 1 },
        { "spawn_all_s", MST_M_SPAWN_ALL, 1 }, { "furlongs", MST_M_COUNT, 0 },
        { "", MST_M_COUNT, 0 },
    };
    double scale;
    size_t i, k;

    for (i = 0; i < sizeof w / sizeof *w; i++) {
        ck_assert_msg(mst_study_metric_find(w[i].word, &scale) == w[i].metric, "%s", w[i].word);
        if (w[i].metric != MST_M_COUNT)
            ck_assert_double_eq_tol(scale, w[i].scale, 1e-9);
    }
    for (i = 0; i < MST_M_COUNT; i++)
        for (k = 0; k < i && mst_metrics[i].study != NULL; k++)
            ck_assert_pstr_ne(mst_metrics[i].study, mst_metrics[k].study);
}
END_TEST

START_TEST(test_numbers_as_text)
{
    ck_assert_str_eq(mst_study_format(MST_QUANTITY_TIME, 0.0000359).text, "35.9 µs");
    ck_assert_str_eq(mst_study_format(MST_QUANTITY_TIME, 1.02).text, "1.02 s");
    ck_assert_str_eq(mst_study_format(MST_QUANTITY_RATE, 45.04).text, "45.0/s");
    ck_assert_str_eq(mst_study_format(MST_QUANTITY_BYTE_RATE, 2.5e6).text, "2.50 MB/s");
    ck_assert_str_eq(mst_study_format(MST_QUANTITY_COUNT, 14).text, "14");
    ck_assert_str_eq(mst_study_format(MST_QUANTITY_SHARE, 0.9965).text, "99.7 %");
    ck_assert_str_eq(mst_study_format(MST_QUANTITY_TIME, NAN).text, "not known");
    ck_assert_str_eq(mst_study_ratio(1.347).text, "1.35");
}
END_TEST

/* A difference of means has its interval around it, in the values' unit, and also where they
 * are negative or 0. */
START_TEST(test_difference)
{
    const double a[] = { 7.4, 7.5, 7.6 }, b[] = { 4.4, 4.5, 4.6 }, zero[] = { 0, 0, 0 };
    struct mst_confidence i;

    ck_assert(mst_bootstrap_difference(&i, b, 3, a, 3));
    ck_assert_double_eq_tol(i.ratio, 3, 1e-9);
    ck_assert(i.low < 3 && i.high > 3 && i.low > 2.5 && i.high < 3.5);
    ck_assert(mst_bootstrap_difference(&i, a, 3, b, 3));
    ck_assert_double_eq_tol(i.ratio, -3, 1e-9);
    ck_assert(i.high < 0);
    ck_assert(mst_bootstrap_difference(&i, zero, 3, zero, 3));
    ck_assert_double_eq_tol(i.ratio, 0, 1e-12);
    ck_assert(!mst_bootstrap_difference(&i, a, 2, b, 3));
    ck_assert_double_eq_tol(i.ratio, 4.5 - 7.45, 1e-9);
}
END_TEST

START_TEST(test_interval_of_a_mean)
{
    const double values[] = { 98, 100, 102 };
    struct mst_confidence i;

    ck_assert(mst_bootstrap_interval(&i, values, 3));
    ck_assert_double_eq_tol(i.ratio, cbrt(98.0 * 100 * 102), 1e-9);
    ck_assert(i.low < 98.5 && i.low > 90 && i.high > 101.5 && i.high < 110);
    ck_assert(!mst_bootstrap_interval(&i, values, 2));
    ck_assert_double_eq(i.low, i.high);
}
END_TEST

/* ---- archives --------------------------------------------------------------------- */

struct made {
    struct mst_archive   *archive;
    struct mst_study_data data;
    struct mst_insights    findings;
    unsigned              steps;
};

static void sql(struct made *m, const char *format, ...) __attribute__((format(printf, 2, 3)));

static void sql(struct made *m, const char *format, ...)
{
    char statement[4096];
    va_list args;

    va_start(args, format);
    vsnprintf(statement, sizeof statement, format, args);
    va_end(args);
    ck_assert_msg(sqlite3_exec(mst_archive_db(m->archive), statement, NULL, NULL, NULL) ==
                  SQLITE_OK, "%s: %s", statement, sqlite3_errmsg(mst_archive_db(m->archive)));
}

/* A study with that text behind its title. */
static void begin(struct made *m, const char *text)
{
    char error[MST_ERROR_MAX] = "";

    *m = (struct made){ .archive = mst_archive_create(test_path(), NULL, error) };
    ck_assert_msg(m->archive != NULL, "%s", error);
    sql(m, "INSERT INTO studies (id, name, title, size, seed, text, started_ns, ended_ns, "
        "interrupted) VALUES (1, 'made', 'Made', 'full', 7, '%%%% study\ntitle = Made\n%s', 1, 2, "
        "0)", text);
}

/* A repetition of a case of the section `r`: a rate in requests/s, and failures. */
static void add(struct made *m, const char *stack, const char *parameters, unsigned repetition,
                double rate, unsigned failed)
{
    unsigned step = ++m->steps;

    sql(m, "INSERT INTO runs (id, command, started_ns, ended_ns, duration_ns, complete, outcome, "
        "mpmstat_version) VALUES (%u, '[]', %" PRIu64 ", %" PRIu64 ", 1000000000, 1, 'complete', "
        "'1')", step, START, START + MST_NS_PER_S);
    sql(m, "INSERT INTO client_results (run_id, requests, abandons, failed, requests_per_1000s, "
        "mean_ns, duration_ns) VALUES (%u, 100, 0, %u, %.0f, %.0f, 1000000000)", step, failed,
        rate * 1000, 1e9 / rate);
    sql(m, "INSERT INTO steps (study_id, ordinal, block, repetition, start, runs, stack, workload, "
        "load, parameters, state, run_id) VALUES (1, %u, %u, %u, %u, 'r', '%s', 'w', 'ab', '%s', "
        "'done', %u)", step, repetition, repetition, step, stack, parameters, step);
}

static void load(struct made *m)
{
    char error[MST_ERROR_MAX] = "";

    ck_assert_int_eq(mst_archive_commit(m->archive), 0);
    ck_assert(mst_study_in(m->archive));
    ck_assert_msg(mst_study_load(memory_of_test(), &m->data, m->archive, "study.db", error) == 0,
                  "%s", error);
    mst_insights_make(&m->findings, &m->data);
}

static void end(struct made *m)
{
    char error[MST_ERROR_MAX];

    mst_archive_close(m->archive, error);
}

#define RUNS "%% runs r\nstacks = a b\nworkload = w\nload = ab ${URL}\nrepetitions = 3\n"

/* ---- claims ----------------------------------------------------------------------- */

/* What becomes of one claim where a makes 60 +- 1 requests a second and b makes `b`, and
 * where that many of their requests fail. */
static const struct {
    const char *claim;
    double      b;
    unsigned    a_failed, b_failed;
    enum mst_insight_kind kind;
    const char *said;
} claims[] = {
    { "a > b by requests_per_second", 40, 0, 0, MST_INSIGHT_HOLDS, "1.50 times as much" },
    { "a < b by requests_per_second", 40, 0, 0, MST_INSIGHT_FAILS, "1.50 times as much" },
    { "a > b by requests_per_second", 60.3, 0, 0, MST_INSIGHT_UNSURE, "the interval includes 1" },
    { "a ~ b by requests_per_second", 60.3, 0, 0, MST_INSIGHT_HOLDS, "1.00 times" },
    { "a ~ b by requests_per_second", 40, 0, 0, MST_INSIGHT_FAILS, "1.50 times" },
    { "a ~ b by requests_per_second", 54.6, 0, 0, MST_INSIGHT_UNSURE, "beyond 10 %" },
    { "a > b by requests_per_second times 1.4", 40, 0, 0, MST_INSIGHT_HOLDS, "1.50 times" },
    { "a > b by requests_per_second times 3", 40, 0, 0, MST_INSIGHT_FAILS,
      "the same way, but by less" },
    { "a < b by mean_ms", 40, 0, 0, MST_INSIGHT_HOLDS, "times as long" },
    { "a > b by requests_per_second apart 20", 40, 0, 0, MST_INSIGHT_HOLDS, "20.0/s was said" },
    { "a > b by requests_per_second apart 40", 40, 0, 0, MST_INSIGHT_FAILS,
      "the same way, but less" },
    { "b > a by requests_per_second apart 20", 40, 0, 0, MST_INSIGHT_FAILS, "other way round" },
    { "a > b by failed", 40, 5, 0, MST_INSIGHT_HOLDS, "more in each repetition" },
    { "a > b by failed", 40, 0, 5, MST_INSIGHT_FAILS, "less in each repetition" },
    { "a > b by failed", 40, 0, 0, MST_INSIGHT_FAILS, "0 in every repetition of both" },
    { "a ~ b by failed", 40, 0, 0, MST_INSIGHT_HOLDS, "0 in every repetition of both" },
    { "a ~ 0 by failed", 40, 0, 0, MST_INSIGHT_HOLDS,
      "0 with a; the same in each of 3 repetitions" },
    { "a ~ 0 by failed", 40, 5, 0, MST_INSIGHT_FAILS, "5 with a; the same in each of 3" },
    { "a > 0 by failed", 40, 5, 0, MST_INSIGHT_HOLDS, "5 with a" },
    { "a > 0 by failed", 40, 0, 0, MST_INSIGHT_FAILS, "0 with a" },
    { "a < 0 by failed", 40, 0, 0, MST_INSIGHT_FAILS, "0 with a; the same in each of 3" },
    { "a < 5 by failed", 40, 5, 0, MST_INSIGHT_FAILS, "5 with a; the same in each of 3" },
    { "a > 5 by failed", 40, 5, 0, MST_INSIGHT_FAILS, "5 with a; the same in each of 3" },
    { "a < 6 by failed", 40, 5, 0, MST_INSIGHT_HOLDS, "5 with a; the same in each of 3" },
    { "a < 100 by requests_per_second", 40, 0, 0, MST_INSIGHT_HOLDS, "60.0/s with a" },
    { "a < 10 by mean_ms", 40, 0, 0, MST_INSIGHT_FAILS, "16.7 ms" },
    { "a > b by furlongs", 40, 0, 0, MST_INSIGHT_UNSURE, "not a figure that mpmstat measures" },
    { "a > c by failed", 40, 0, 0, MST_INSIGHT_UNSURE, "No case that it is about" },
    { "a > b by spawn_all_s", 40, 0, 0, MST_INSIGHT_UNSURE, "the figure is not known" },
};

START_TEST(test_claim)
{
    char text[1024];
    struct made m;
    unsigned i;

    snprintf(text, sizeof text, "%s%%%% claims\nr: %s \"so it is\"\n", RUNS, claims[_i].claim);
    begin(&m, text);
    for (i = 1; i <= 3; i++) {
        add(&m, "a", "{}", i, 58 + i, claims[_i].a_failed);
        add(&m, "b", "{}", i, claims[_i].b * (1 + 0.01 * ((int)(i * i) % 3 - 1)),
            claims[_i].b_failed);
    }
    load(&m);
    ck_assert_str_eq(m.findings.items[0].claim, "so it is");
    ck_assert_msg(m.findings.items[0].kind == claims[_i].kind, "%s: %s", claims[_i].claim,
                  m.findings.items[0].text);
    ck_assert_msg(strstr(m.findings.items[0].text, claims[_i].said) != NULL, "%s: %s",
                  claims[_i].claim, m.findings.items[0].text);
    end(&m);
}
END_TEST

/* That nothing failed once tells nothing. */
START_TEST(test_too_few)
{
    struct made m;

    begin(&m, RUNS "%% claims\nr: a > b by failed \"one\"\n"
          "r: a > b by requests_per_second \"two\"\nr: a > 0 by failed \"three\"\n");
    add(&m, "a", "{}", 1, 60, 0);
    add(&m, "b", "{}", 1, 40, 0);
    load(&m);
    ck_assert_int_eq(m.findings.items[0].kind, MST_INSIGHT_UNSURE);
    ck_assert_ptr_nonnull(strstr(m.findings.items[0].text, "too few repetitions"));
    ck_assert_int_eq(m.findings.items[1].kind, MST_INSIGHT_UNSURE);
    ck_assert_ptr_nonnull(strstr(m.findings.items[1].text, "it takes 3 each"));
    ck_assert_int_eq(m.findings.items[2].kind, MST_INSIGHT_UNSURE);
    end(&m);
}
END_TEST

/* The same sentence of several cases is said once; that it holds not everywhere is that it
 * does not hold. */
START_TEST(test_one_sentence_of_several_cases)
{
    struct made m;
    unsigned i, at;

    begin(&m, "%% runs r\nstacks = a b\nworkload = w\nload = ab ${URL}\nCONCURRENCY = 1 2 3\n"
          "repetitions = 3\n%% claims\n"
          "r: a[CONCURRENCY=1] > b[CONCURRENCY=1] by requests_per_second \"always\"\n"
          "r: a[CONCURRENCY=3] > b[CONCURRENCY=3] by requests_per_second \"always\"\n"
          "r: a > b by requests_per_second \"everywhere\"\n");
    for (i = 1; i <= 3; i++)
        for (at = 1; at <= 3; at++) {
            char parameters[64];

            snprintf(parameters, sizeof parameters, "{\"CONCURRENCY\": %u}", at);
            add(&m, "a", parameters, i, 60 + i, 0);
            add(&m, "b", parameters, i, at < 3 ? 40 - i : 80 + i, 0);
        }
    load(&m);
    ck_assert_uint_ge(m.findings.count, 2);
    ck_assert_str_eq(m.findings.items[1].claim, "everywhere");
    ck_assert_int_eq(m.findings.items[0].kind, MST_INSIGHT_FAILS);
    ck_assert_ptr_nonnull(strstr(m.findings.items[0].text, "In 1 of 2 cases it holds, in 1 it does "
                                 "not"));
    ck_assert_ptr_nonnull(strstr(m.findings.items[1].text, "In 2 of 3 cases it holds"));
    end(&m);
}
END_TEST

/* ---- failures --------------------------------------------------------------------- */

/* What a load tool said, and the share of its requests that came to nothing. */
static const struct {
    const char *tool;
    unsigned requests, failed, of_length, timeouts, non_2xx;
    double share;
} shares[] = {
    { "siege", 20, 40, 0, 0, 0, 40.0 / 60 }, { "siege", 20, 40, 0, 0, 5, 45.0 / 60 },
    { "siege", 0, 6, 0, 0, 0, 1 }, { "siege", 12, 0, 0, 0, 4, 4.0 / 12 },
    { "wrk", 47, 4, 0, 4, 0, 4.0 / 47 }, { "wrk", 12263, 6131, 0, 0, 0, 6131.0 / 18394 },
    { "wrk", 80, 20, 0, 10, 10, 20.0 / 90 }, { "hey", 5, 15, 0, 5, 5, 1 },
    { "ab", 100, 14, 14, 0, 0, 0 }, { "ab", 100, 60, 20, 0, 30, 0.4 },
    { "ab", 30, 45, 0, 0, 0, 1 }, { "locust", 34, 11, 0, 0, 0, 11.0 / 34 },
    { "generic", 10, 0, 0, 0, 0, 0 },
};

/* Whether a tool counts the failed among its requests or not, never more than all fail. */
START_TEST(test_share_that_failed)
{
    const double *v;
    struct made m;

    begin(&m, RUNS);
    add(&m, "a", "{}", 1, 60, 0);
    sql(&m, "UPDATE runs SET tool = '%s'", shares[_i].tool);
    sql(&m, "UPDATE client_results SET requests = %u, failed = %u, failed_length = %u, "
        "failed_timeout = %u, non_2xx = %u", shares[_i].requests, shares[_i].failed,
        shares[_i].of_length, shares[_i].timeouts, shares[_i].non_2xx);
    load(&m);
    v = m.data.sections[0].cases[0].runs[0].values;
    ck_assert_double_eq_tol(v[MST_M_ERROR_SHARE], shares[_i].share, 1e-9);
    ck_assert_double_eq_tol(v[MST_M_AVAILABILITY], 1 - shares[_i].share, 1e-9);
    ck_assert_double_eq(v[MST_M_REQUESTS], shares[_i].requests);
    end(&m);
}
END_TEST

/* ---- lines ------------------------------------------------------------------------ */

/* x is the concurrency; what follows from it is not told, and what is a stack's own not
 * either; limits make a line each. */
START_TEST(test_lines)
{
    static const char *const limits[] = { "100", "20" };
    char parameters[160];
    const struct mst_study_section *s;
    struct made m;
    unsigned limit, at;

    begin(&m, "%% runs r\nstacks = b a\nworkload = w\nload = ab ${URL}\nWORKERS = 100 20\n"
          "CONCURRENCY = 10 5 200\nREQUESTS = ${CONCURRENCY} * 2\nb.START = ${WORKERS}\n"
          "repetitions = 1\n");
    for (limit = 0; limit < 2; limit++)
        for (at = 5; at <= 200; at *= at == 5 ? 2 : 20) {
            snprintf(parameters, sizeof parameters, "{\"WORKERS\": %s, \"CONCURRENCY\": \"%u\", "
                     "\"REQUESTS\": %u}", limits[limit], at, at * 2);
            add(&m, "a", parameters, 1, 10, 0);
            snprintf(parameters, sizeof parameters, "{\"WORKERS\": %s, \"CONCURRENCY\": \"%u\", "
                     "\"REQUESTS\": %u, \"START\": %s}", limits[limit], at, at * 2, limits[limit]);
            add(&m, "b", parameters, 1, 10, 0);
        }
    load(&m);
    s = &m.data.sections[0];
    ck_assert_str_eq(s->x_name, "CONCURRENCY");
    ck_assert_uint_eq(s->line_count, 4);
    ck_assert_str_eq(s->lines[0].label, "b, workers 20");
    ck_assert_str_eq(s->lines[3].label, "a, workers 100");
    ck_assert_uint_eq(s->lines[0].count, 3);
    ck_assert_double_eq(s->cases[0].x, 5);
    ck_assert_double_eq(s->cases[2].x, 200);
    end(&m);
}
END_TEST

/* ---- what was published ----------------------------------------------------------- */

START_TEST(test_published)
{
    const struct mst_study_section *s;
    struct made m;

    begin(&m, RUNS "%% published r\nsystem stack requests_per_second mean_ms\n"
          "\"the old\" a 2.5 18877\n\"the new\" b,c 5 -\n");
    add(&m, "a", "{}", 1, 10, 0);
    add(&m, "b", "{}", 1, 30, 0);
    load(&m);
    s = &m.data.sections[0];
    ck_assert(mst_published_is(s, 1, &s->cases[0]) && !mst_published_is(s, 1, &s->cases[1]));
    ck_assert(mst_published_is(s, 2, &s->cases[1]) && !mst_published_is(s, 2, &s->cases[0]));
    ck_assert_double_eq_tol(mst_published_value(s, 1, MST_M_MEAN), 18.877, 1e-9);
    ck_assert(isnan(mst_published_value(s, 2, MST_M_MEAN)));
    ck_assert(isnan(mst_published_value(s, 2, MST_M_P99)));
    ck_assert_ptr_eq(mst_reference_of(s), &s->cases[0]);
    end(&m);
}
END_TEST

int main(void)
{
    Suite *suite = suite_create("study_report");
    TCase *tests = tcase_create("study_report");

    tcase_add_test(tests, test_names);
    tcase_add_test(tests, test_numbers_as_text);
    tcase_add_test(tests, test_difference);
    tcase_add_test(tests, test_interval_of_a_mean);
    tcase_add_loop_test(tests, test_claim, 0, sizeof claims / sizeof *claims);
    tcase_add_test(tests, test_too_few);
    tcase_add_test(tests, test_one_sentence_of_several_cases);
    tcase_add_loop_test(tests, test_share_that_failed, 0, sizeof shares / sizeof *shares);
    tcase_add_test(tests, test_lines);
    tcase_add_test(tests, test_published);
    suite_add_tcase(suite, tests);
    return test_run(suite);
}
