/* check_ab.c - the adapter for ab over what the real ab printed and wrote.
 *
 * A case is a folder of tests/cases/ab: argv (a word a line), stdout, stderr,
 * rows.tsv where it wrote one, and expected.json: what is to be read from them.
 * A new case is a new folder.
 */
#include <dirent.h>
#include <errno.h>
#include <inttypes.h>
#include <jansson.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "clock.h"
#include "harness.h"
#include "loadtools/loadtool.h"

#define CASES    MST_TESTS_DIR "/cases/ab"
#define ROWS_FD  9          /* the descriptor that a case's rows are said to go to */
#define CASES_MAX 128

static char  *names[CASES_MAX];
static size_t case_count;

/* ---- a case's files -------------------------------------------------------------- */

static FILE *open_file(const char *name, const char *file)
{
    char path[512];

    snprintf(path, sizeof path, CASES "/%s/%s", name, file);
    return fopen(path, "re");
}

static char *read_file(const char *name, const char *file, size_t *n)
{
    FILE *stream = open_file(name, file);
    char *text = malloc(1 << 20);

    ck_assert_msg(stream != NULL && text != NULL, "%s/%s: %s", name, file, strerror(errno));
    *n = fread(text, 1, (1 << 20) - 1, stream);
    text[*n] = '\0';
    fclose(stream);
    return text;
}

static json_t *read_expected(const char *name)
{
    FILE *stream = open_file(name, "expected.json");
    json_error_t error;
    json_t *expected;

    ck_assert_msg(stream != NULL, "%s/expected.json: %s", name, strerror(errno));
    expected = json_loadf(stream, 0, &error);
    ck_assert_msg(expected != NULL, "%s/expected.json: %s", name, error.text);
    fclose(stream);
    return expected;
}

/* The words of argv; `text` holds them. */
static void split(char *text, char **argv, size_t room)
{
    size_t n = 0;
    char *at, *save = NULL;

    for (at = strtok_r(text, "\n", &save); at != NULL; at = strtok_r(NULL, "\n", &save)) {
        ck_assert(n + 1 < room);
        argv[n++] = at;
    }
    argv[n] = NULL;
}

/* ---- what is expected ------------------------------------------------------------ */

static void expect(const char *name, const char *what, uint64_t is, const json_t *should)
{
    uint64_t wanted = json_is_null(should) ? MST_UNKNOWN : (uint64_t)json_integer_value(should);

    ck_assert_msg(should != NULL, "%s: expected.json has no %s", name, what);
    ck_assert_msg(is == wanted, "%s: %s is %" PRIu64 " and should be %" PRIu64 " (%" PRIu64
                  " is: not known)", name, what, is, wanted, MST_UNKNOWN);
}

static void expect_text(const char *name, const char *what, const char *is, const json_t *should)
{
    const char *wanted = json_string_value(should);

    ck_assert_msg((is == NULL) == (wanted == NULL) &&
                  (is == NULL || strcmp(is, wanted) == 0), "%s: %s is \"%s\" and should be \"%s\"",
                  name, what, is != NULL ? is : "(none)", wanted != NULL ? wanted : "(none)");
}

static void expect_error(const char *name, const char *is, const json_t *should)
{
    ck_assert_msg(json_is_string(should) && strstr(is, json_string_value(should)) != NULL,
                  "%s: says \"%s\"", name, is);
}

/* Nothing of the user's is changed, and what is added comes first. */
static void check_plan(const char *name, const struct mst_plan *plan, char **argv,
                       const json_t *expected)
{
    size_t added = plan->added != NULL ? 2 : 0, i;

    expect_text(name, "added", plan->added, json_object_get(expected, "added"));
    expect_text(name, "rows_path", plan->rows_path, json_object_get(expected, "rows_path"));
    expect(name, "requested", plan->requested, json_object_get(expected, "requested"));
    expect(name, "timeout", plan->timeout_ns / MST_NS_PER_S,
           json_object_get(expected, "timeout_seconds"));
    ck_assert_msg(plan->abandons == json_is_true(json_object_get(expected, "abandons")), "%s",
                  name);
    ck_assert_msg(plan->rows_in_fd == (added > 0), "%s", name);
    ck_assert_int_eq(plan->stop_signal, SIGINT);
    ck_assert_str_eq(plan->argv[0], argv[0]);
    for (i = 1; argv[i] != NULL; i++)
        ck_assert_str_eq(plan->argv[i + added], argv[i]);
    ck_assert_ptr_null(plan->argv[i + added]);
}

static void check_result(const char *name, const struct mst_client_result *r,
                         const json_t *expected)
{
    const struct { const char *name; uint64_t value; } members[] = {
        { "requests", r->requests }, { "failed", r->failed }, { "unfinished", r->unfinished },
        { "failed_connect", r->failed_connect }, { "failed_receive", r->failed_receive },
        { "failed_length", r->failed_length }, { "failed_other", r->failed_other },
        { "non_2xx", r->non_2xx }, { "concurrency", r->concurrency }, { "bytes", r->bytes },
        { "duration_ns", r->duration_ns }, { "requests_per_1000s", r->requests_per_1000s },
        { "mean_ns", r->mean_ns }, { "p50_ns", r->p50_ns }, { "p90_ns", r->p90_ns },
        { "p99_ns", r->p99_ns }, { "max_ns", r->max_ns },
    };
    size_t i;

    for (i = 0; i < sizeof members / sizeof *members; i++)
        expect(name, members[i].name, members[i].value,
               json_object_get(expected, members[i].name));
    ck_assert_uint_eq(sizeof members / sizeof *members, json_object_size(expected));
    ck_assert_uint_eq(sizeof members / sizeof *members, sizeof *r / sizeof(uint64_t));
}

struct sums { uint64_t start, connect, duration, wait; };

static int add_row(void *context, const struct mst_client_row *row)
{
    struct sums *sums = context;

    ck_assert_uint_eq(row->start_ns % MST_NS_PER_S, 0);
    ck_assert_uint_eq(row->status, MST_UNKNOWN);
    sums->start += row->start_ns / MST_NS_PER_S;
    sums->connect += row->connect_ns / MST_NS_PER_MS;
    sums->duration += row->duration_ns / MST_NS_PER_MS;
    sums->wait += row->wait_ns / MST_NS_PER_MS;
    return 0;
}

static void check_rows(const char *name, const json_t *expected)
{
    const json_t *rows = json_object_get(expected, "rows");
    const json_t *wrong = json_object_get(expected, "rows_error");
    struct sums sums = { 0 };
    char error[MST_ERROR_MAX] = "";
    FILE *stream = open_file(name, "rows.tsv");
    uint64_t bad = 0;
    long count;

    ck_assert_msg((stream != NULL) == (json_is_object(rows) || json_is_string(wrong)), "%s", name);
    if (stream == NULL)
        return;
    count = mst_loadtool_ab.read_rows(stream, add_row, &sums, &bad, error);
    fclose(stream);
    if (json_is_string(wrong)) {
        ck_assert_int_eq(count, -1);
        expect_error(name, error, wrong);
        return;
    }
    ck_assert_msg(count >= 0, "%s: %s", name, error);
    expect(name, "rows", (uint64_t)count, json_object_get(rows, "count"));
    expect(name, "bad rows", bad, json_object_get(rows, "bad"));
    expect(name, "starts", sums.start, json_object_get(rows, "start_seconds"));
    expect(name, "connects", sums.connect, json_object_get(rows, "connect_ms"));
    expect(name, "durations", sums.duration, json_object_get(rows, "duration_ms"));
    expect(name, "waits", sums.wait, json_object_get(rows, "wait_ms"));
}

START_TEST(test_case)
{
    const char *name = names[_i];
    json_t *expected = read_expected(name), *result = json_object_get(expected, "result");
    char *argv[64], *words, *output, error[MST_ERROR_MAX] = "";
    struct mst_client_result r;
    struct mst_plan plan;
    size_t n;
    int status;

    words = read_file(name, "argv", &n);
    split(words, argv, sizeof argv / sizeof *argv);
    ck_assert_ptr_eq(mst_loadtool_for(argv[0]), &mst_loadtool_ab);
    ck_assert_int_eq(mst_loadtool_ab.prepare(&plan, argv, ROWS_FD, error), 0);
    check_plan(name, &plan, argv, expected);

    output = read_file(name, "stdout", &n);
    status = mst_loadtool_ab.parse(&r, &plan, output, n, error);
    if (json_is_null(result)) {
        ck_assert_msg(status == -1, "%s: results where there are none", name);
        expect_error(name, error, json_object_get(expected, "error"));
    } else {
        ck_assert_msg(status == 0, "%s: %s", name, error);
        check_result(name, &r, result);
    }
    check_rows(name, expected);
    mst_plan_free(&plan);
    free(words);
    free(output);
    json_decref(expected);
}
END_TEST

/* ---- what no case shows ---------------------------------------------------------- */

START_TEST(test_no_rows_wanted)
{
    char ab[] = "ab", url[] = "http://127.0.0.1/", *argv[] = { ab, url, NULL };
    char error[MST_ERROR_MAX];
    struct mst_plan plan;

    ck_assert_int_eq(mst_loadtool_ab.prepare(&plan, argv, -1, error), 0);
    ck_assert_ptr_null(plan.added);
    ck_assert(!plan.rows_in_fd);
    ck_assert_uint_eq(plan.requested, 1);
    mst_plan_free(&plan);
}
END_TEST

START_TEST(test_which_adapter)
{
    ck_assert_ptr_eq(mst_loadtool_for("ab"), &mst_loadtool_ab);
    ck_assert_ptr_eq(mst_loadtool_for("/usr/bin/ab"), &mst_loadtool_ab);
    ck_assert_ptr_eq(mst_loadtool_for("abc"), &mst_loadtool_generic);
    ck_assert_ptr_eq(mst_loadtool_for("ab/"), &mst_loadtool_generic);
    ck_assert_ptr_eq(mst_loadtool_for(""), &mst_loadtool_generic);
    ck_assert_str_eq(mst_loadtool_names(), "ab");
}
END_TEST

START_TEST(test_generic)
{
    char sh[] = "sh", option[] = "-c", script[] = "true";
    char *argv[] = { sh, option, script, NULL };
    char error[MST_ERROR_MAX];
    struct mst_plan plan;

    ck_assert_int_eq(mst_loadtool_generic.prepare(&plan, argv, ROWS_FD, error), 0);
    ck_assert_str_eq(plan.argv[2], "true");
    ck_assert_ptr_null(plan.argv[3]);
    ck_assert_ptr_null(plan.added);
    ck_assert_int_eq(plan.stop_signal, SIGTERM);
    mst_plan_free(&plan);
}
END_TEST

static int stop_at_second(void *context, const struct mst_client_row *row)
{
    (void)row;
    return ++*(int *)context == 2;
}

START_TEST(test_taker_stops)
{
    FILE *rows = open_file("plain", "rows.tsv");
    char error[MST_ERROR_MAX];
    uint64_t bad;
    int taken = 0;

    ck_assert_ptr_nonnull(rows);
    ck_assert_int_eq(mst_loadtool_ab.read_rows(rows, stop_at_second, &taken, &bad, error), 2);
    ck_assert_int_eq(taken, 2);
    fclose(rows);
}
END_TEST

static void find_cases(void)
{
    DIR *dir = opendir(CASES);
    struct dirent *entry;

    while (dir != NULL && (entry = readdir(dir)) != NULL)
        if (entry->d_name[0] != '.' && case_count < CASES_MAX)
            names[case_count++] = strdup(entry->d_name);
    if (dir != NULL)
        closedir(dir);
}

int main(void)
{
    Suite *suite = suite_create("ab");
    TCase *cases = tcase_create("cases"), *others = tcase_create("others");
    size_t i;
    int status;

    find_cases();
    if (case_count < 30) {
        fprintf(stderr, "there should be 30 cases or more in %s, not %zu\n", CASES, case_count);
        return 1;
    }
    tcase_add_loop_test(cases, test_case, 0, (int)case_count);
    tcase_add_test(others, test_no_rows_wanted);
    tcase_add_test(others, test_which_adapter);
    tcase_add_test(others, test_generic);
    tcase_add_test(others, test_taker_stops);
    suite_add_tcase(suite, cases);
    suite_add_tcase(suite, others);
    status = test_run(suite);
    for (i = 0; i < case_count; i++)
        free(names[i]);
    return status;
}
