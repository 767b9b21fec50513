/* check_loadtools.c - the adapters over what the real load tools printed and wrote.
 *
 * A case is a folder of tests/cases/TOOL: argv (a word a line), stdout and stderr (where it
 * printed to them), rows where it wrote some (vegeta's: as `vegeta encode -to csv` printed them),
 * and expected.json: all that is to be read from them. `started`, where it is there, is
 * when the tool was started, in nanoseconds since 1970; a file `stopped` says that it
 * did not end by itself. A new case is a new folder: MPMSTAT_UPDATE_GOLDEN=1 writes
 * its expected.json, to be compared with the files by eye.
 */
#include <dirent.h>
#include <errno.h>
#include <inttypes.h>
#include <jansson.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/clock.h"
#include "harness.h"
#include "loadtools/loadtool.h"
#include "loadtools/text.h"

#define CASES     MST_TESTS_DIR "/cases"
#define ROWS_FD   9          /* the descriptor that a case's rows are said to go to */
#define CASES_MAX 512
#define FILE_MAX  (1 << 20)

static struct { const struct mst_loadtool *tool; char *name; } cases[CASES_MAX];
static size_t case_count;

/* ---- a case's files -------------------------------------------------------------- */

/* A tool that printed nothing to stdout or stderr has no such file. */
static FILE *open_file(int which, const char *file, const char *mode)
{
    char path[512];
    FILE *stream;

    snprintf(path, sizeof path, CASES "/%s/%s/%s", cases[which].tool->name, cases[which].name,
             file);
    stream = fopen(path, mode);
    return stream == NULL && strncmp(file, "std", 3) == 0 ? fopen("/dev/null", mode) : stream;
}

/* NULL where there is none, and one need not be. */
static char *read_file(int which, const char *file, bool needed, size_t *n)
{
    FILE *stream = open_file(which, file, "re");
    char *text;

    ck_assert_msg(stream != NULL || !needed, "%s: %s", file, strerror(errno));
    if (stream == NULL)
        return NULL;
    text = malloc(FILE_MAX);
    ck_assert_ptr_nonnull(text);
    *n = fread(text, 1, FILE_MAX - 1, stream);
    text[*n] = '\0';
    fclose(stream);
    return text;
}

static bool has_file(int which, const char *file)
{
    FILE *stream = open_file(which, file, "re");

    if (stream != NULL)
        fclose(stream);
    return stream != NULL;
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

/* ---- as JSON --------------------------------------------------------------------- */

static json_t *number(uint64_t n)
{
    return n == MST_UNKNOWN ? json_null() : json_integer((json_int_t)n);
}

static json_t *text_or_null(const char *text)
{
    return text != NULL ? json_string(text) : json_null();
}

static json_t *words(char *const *argv)
{
    json_t *array;

    if (argv == NULL)
        return json_null();
    for (array = json_array(); *argv != NULL; argv++)
        json_array_append_new(array, json_string(*argv));
    return array;
}

static json_t *plan_as_json(const struct mst_plan *p)
{
    static const char *const places[] = {
        [MST_ROWS_NONE] = "none", [MST_ROWS_IN_FD] = "in the descriptor",
        [MST_ROWS_AT_PATH] = "at the path", [MST_ROWS_ON_STDOUT] = "on stdout",
    };
    bool rows = p->rows != MST_ROWS_NONE;

    ck_assert_int_eq(p->stop_signal, SIGINT);
    return json_pack("{s:o, s:s, s:o, s:o, s:o, s:o, s:o, s:o, s:o, s:o, s:o, s:b, s:b}",
                     "added", text_or_null(p->added), "rows", places[p->rows],
                     "rows_path", text_or_null(p->rows_path), "convert", words(p->convert),
                     "row_start_step_ns", number(rows ? p->row_start_step_ns : MST_UNKNOWN),
                     "row_time_step_ns", number(rows ? p->row_time_step_ns : MST_UNKNOWN),
                     "requested", number(p->requested), "concurrency", number(p->concurrency),
                     "threads", number(p->threads),
                     "timeout_seconds", number(p->timeout_ns / MST_NS_PER_S),
                     "unhappy_status", number(p->unhappy_status),
                     "abandons", p->abandons, "corrected", p->corrected);
}

static json_t *result_as_json(const struct mst_client_result *r)
{
    const struct { const char *name; uint64_t value; } members[] = {
        { "requests", r->requests }, { "failed", r->failed }, { "unfinished", r->unfinished },
        { "failed_connect", r->failed_connect }, { "failed_receive", r->failed_receive },
        { "failed_length", r->failed_length }, { "failed_timeout", r->failed_timeout },
        { "failed_other", r->failed_other }, { "non_2xx", r->non_2xx },
        { "concurrency", r->concurrency }, { "bytes", r->bytes },
        { "duration_ns", r->duration_ns }, { "requests_per_1000s", r->requests_per_1000s },
        { "mean_ns", r->mean_ns }, { "p50_ns", r->p50_ns }, { "p90_ns", r->p90_ns },
        { "p99_ns", r->p99_ns }, { "max_ns", r->max_ns }, { "time_step_ns", r->time_step_ns },
        { "corrected", r->corrected },
    };
    json_t *object = json_object();
    size_t i;

    ck_assert_uint_eq(sizeof members / sizeof *members, sizeof *r / sizeof(uint64_t));
    for (i = 0; i < sizeof members / sizeof *members; i++)
        json_object_set_new(object, members[i].name, number(members[i].value));
    return object;
}

/* ---- rows ------------------------------------------------------------------------ */

struct sums {
    struct mst_row_totals totals;
    uint64_t duration_ns, connect_ns, wait_ns, statuses, client_ids;
};

static void add(uint64_t *sum, uint64_t value)
{
    *sum = *sum == MST_UNKNOWN || value == MST_UNKNOWN ? MST_UNKNOWN : *sum + value;
}

static int add_row(void *context, const struct mst_client_row *row)
{
    struct sums *sums = context;

    ck_assert(row->start_ns != MST_UNKNOWN && row->duration_ns != MST_UNKNOWN);
    mst_row_totals_add(&sums->totals, row);
    add(&sums->duration_ns, row->duration_ns);
    add(&sums->connect_ns, row->connect_ns);
    add(&sums->wait_ns, row->wait_ns);
    add(&sums->statuses, row->status);
    add(&sums->client_ids, row->client_id);
    return 0;
}

static json_t *rows_as_json(long count, uint64_t bad, const struct sums *s)
{
    const struct mst_row_totals *t = &s->totals;

    ck_assert_uint_eq(t->rows, (uint64_t)count);
    return json_pack("{s:o, s:o, s:o, s:o, s:o, s:o, s:o, s:o, s:o, s:o, s:o, s:o, s:o, s:o, "
                     "s:o}",
                     "count", number(t->rows), "bad", number(bad), "failed", number(t->failed),
                     "failed_connect", number(t->failures[MST_FAILURE_CONNECT]),
                     "failed_receive", number(t->failures[MST_FAILURE_RECEIVE]),
                     "failed_timeout", number(t->failures[MST_FAILURE_TIMEOUT]),
                     "failed_other", number(t->failures[MST_FAILURE_OTHER]),
                     "sum_of_statuses", number(s->statuses),
                     "sum_of_client_ids", number(s->client_ids),
                     "sum_of_durations_ns", number(s->duration_ns),
                     "sum_of_connects_ns", number(s->connect_ns),
                     "sum_of_waits_ns", number(s->wait_ns), "longest_ns", number(t->max_ns),
                     "first_start_ns", number(t->first_start_ns),
                     "last_end_ns", number(t->last_end_ns));
}

static uint64_t started(int which)
{
    size_t n;
    char *text = read_file(which, "started", false, &n);
    uint64_t ns = text != NULL ? strtoull(text, NULL, 10) : 0;

    free(text);
    return ns;
}

/* What its rows are; *totals stays empty where there are none. */
static json_t *read_rows(int which, const struct mst_plan *plan, struct mst_row_totals *totals)
{
    const char *file = plan->rows == MST_ROWS_ON_STDOUT ? "stdout" : "rows";
    FILE *stream = plan->rows != MST_ROWS_NONE ? open_file(which, file, "re") : NULL;
    struct sums sums = { .totals = { 0 } };
    char error[MST_ERROR_MAX] = "";
    struct mst_rows_said said = { 0 };
    long count;

    if (stream == NULL)
        return json_null();
    count = mst_loadtool_read_rows(cases[which].tool, stream, started(which), add_row, &sums,
                                   &said, error);
    fclose(stream);
    if (count < 0)
        return json_string(error);
    *totals = sums.totals;
    totals->bad = said.bad;
    totals->users = mst_rows_users(&said, totals);
    return rows_as_json(count, said.bad, &sums);
}

/* ---- a case ---------------------------------------------------------------------- */

static size_t words_of(char *const *argv)
{
    size_t n = 0;

    while (argv[n] != NULL)
        n++;
    return n;
}

/* Nothing of the user's is changed: what is added stands in one place. */
static void check_command(const struct mst_plan *plan, char *const *argv)
{
    size_t added = words_of(plan->argv) - words_of(argv), at, i;

    ck_assert_int_eq(plan->added != NULL, added > 0);
    for (at = 0; argv[at] != NULL && strcmp(plan->argv[at], argv[at]) == 0; at++)
        ;
    ck_assert_msg(at > 0, "the command itself was changed to %s", plan->argv[0]);
    for (i = at; argv[i] != NULL; i++)
        ck_assert_str_eq(plan->argv[i + added], argv[i]);
    ck_assert_ptr_null(plan->argv[i + added]);
}

/* The result as a recording would have it: the tool's own, or else its rows'. */
static json_t *read_result(int which, const struct mst_plan *plan,
                           const struct mst_row_totals *totals, bool has_rows)
{
    const struct mst_loadtool *tool = cases[which].tool;
    char error[MST_ERROR_MAX] = "nothing is read of what it prints";
    struct mst_client_result result;
    struct mst_printed printed;
    char *out, *err;
    int status = -1;

    printed.out = out = read_file(which, "stdout", true, &printed.out_n);
    printed.err = err = read_file(which, "stderr", true, &printed.err_n);
    if (tool->parse != NULL)
        status = tool->parse(&result, plan, &printed, error);
    free(out);
    free(err);
    if (status == 0)
        return result_as_json(&result);
    if (!has_rows)
        return json_string(error);
    mst_client_result_from_rows(&result, tool, plan, totals, !has_file(which, "stopped"));
    return result_as_json(&result);
}

static json_t *read_case(int which)
{
    const struct mst_loadtool *tool = cases[which].tool;
    struct mst_row_totals totals = { 0 };
    char *argv[64], *text, error[MST_ERROR_MAX] = "";
    json_t *plan_json, *rows, *result;
    struct mst_plan plan;
    size_t n;

    text = read_file(which, "argv", true, &n);
    split(text, argv, sizeof argv / sizeof *argv);
    ck_assert_ptr_eq(mst_loadtool_for(argv[0]), tool);
    ck_assert_int_eq(tool->prepare(&plan, argv, ROWS_FD, error), 0);
    check_command(&plan, argv);
    plan_json = plan_as_json(&plan);
    rows = read_rows(which, &plan, &totals);
    result = read_result(which, &plan, &totals, json_is_object(rows));
    mst_plan_free(&plan);
    free(text);
    return json_pack("{s:o, s:o, s:o}", "plan", plan_json, "result", result, "rows", rows);
}

/* Says which members of `is` are not as in `should`. */
static void compare(int which, const char *part, const json_t *is, const json_t *should)
{
    char *left = json_dumps(is, JSON_ENCODE_ANY | JSON_INDENT(1));
    char *right = json_dumps(should, JSON_ENCODE_ANY | JSON_INDENT(1));
    const char *name;
    json_t *member;

    if (json_is_object(is) && json_is_object(should))
        json_object_foreach((json_t *)(uintptr_t)is, name, member)
            if (!json_equal(member, json_object_get(should, name)))
                fprintf(stderr, "%s/%s: %s.%s differs\n", cases[which].tool->name,
                        cases[which].name, part, name);
    ck_assert_msg(json_equal(is, should), "%s/%s: %s is %s and should be %s",
                  cases[which].tool->name, cases[which].name, part, left,
                  right != NULL ? right : "there");
    free(left);
    free(right);
}

static void accept_as_expected(int which, const json_t *is)
{
    FILE *stream = open_file(which, "expected.json", "we");

    ck_assert_msg(stream != NULL, "expected.json: %s", strerror(errno));
    ck_assert_int_eq(json_dumpf(is, stream, JSON_INDENT(1)), 0);
    fputc('\n', stream);
    ck_assert_int_eq(fclose(stream), 0);
}

START_TEST(test_case)
{
    json_t *is = read_case(_i), *should;
    json_error_t error;
    FILE *stream;

    if (getenv("MPMSTAT_UPDATE_GOLDEN") != NULL)
        accept_as_expected(_i, is);
    stream = open_file(_i, "expected.json", "re");
    should = stream != NULL ? json_loadf(stream, 0, &error) : NULL;
    ck_assert_msg(should != NULL, "%s/%s: no expected.json, or it is not JSON",
                  cases[_i].tool->name, cases[_i].name);
    fclose(stream);
    compare(_i, "plan", json_object_get(is, "plan"), json_object_get(should, "plan"));
    compare(_i, "rows", json_object_get(is, "rows"), json_object_get(should, "rows"));
    compare(_i, "result", json_object_get(is, "result"), json_object_get(should, "result"));
    json_decref(is);
    json_decref(should);
}
END_TEST

/* ---- every prefix of what a tool wrote ------------------------------------------- */

static int ignore_row(void *context, const struct mst_client_row *row)
{
    (void)context;
    (void)row;
    return 0;
}

/* A tool can be killed at any byte: that must never be worse than a sentence. The
 * copy is of just that size, for the sanitizer. */
static char *cut(const char *text, size_t n)
{
    char *copy = malloc(n + 1);

    ck_assert_ptr_nonnull(copy);
    memcpy(copy, text, n);
    copy[n] = '\0';
    return copy;
}

static void parse_cut(int which, const struct mst_plan *plan, const char *text, size_t n)
{
    char *copy = cut(text, n), error[MST_ERROR_MAX] = "";
    const struct mst_printed printed = { copy, copy, n, n };
    struct mst_client_result result;

    if (cases[which].tool->parse != NULL &&
        cases[which].tool->parse(&result, plan, &printed, error) != 0)
        ck_assert_str_ne(error, "");
    free(copy);
}

/* Of rows that were fine only the last line can be bad. */
static void read_cut(int which, const char *text, size_t n)
{
    char *copy = cut(text, n), error[MST_ERROR_MAX];
    FILE *stream = fmemopen(copy, n + 1, "r");
    struct mst_rows_said said = { 0 };

    ck_assert_ptr_nonnull(stream);
    copy[n] = '\n';   /* else the line would be bad for that alone */
    mst_loadtool_read_rows(cases[which].tool, stream, 0, ignore_row, NULL, &said, error);
    ck_assert_msg(said.bad <= 1, "%" PRIu64 " lines are bad of what was cut once", said.bad);
    fclose(stream);
    free(copy);
}

START_TEST(test_cut)
{
    static const char *const files[] = { "stdout", "stderr", "rows" };
    char *argv[64], *text, *words_text, error[MST_ERROR_MAX];
    struct mst_row_totals totals = { 0 };
    struct mst_plan plan;
    size_t i, n, at;
    json_t *rows;
    bool are_rows;

    words_text = read_file(_i, "argv", true, &n);
    split(words_text, argv, sizeof argv / sizeof *argv);
    ck_assert_int_eq(cases[_i].tool->prepare(&plan, argv, ROWS_FD, error), 0);
    rows = read_rows(_i, &plan, &totals);
    for (i = 0; i < sizeof files / sizeof *files; i++) {
        text = read_file(_i, files[i], false, &n);
        are_rows = strcmp(files[i], plan.rows == MST_ROWS_ON_STDOUT ? "stdout" : "rows") == 0 &&
                   json_is_object(rows) && json_integer_value(json_object_get(rows, "bad")) == 0;
        for (at = 0; text != NULL && at < n; at += 1 + n / 200) {
            parse_cut(_i, &plan, text, at);
            if (are_rows)
                read_cut(_i, text, at);
        }
        free(text);
    }
    json_decref(rows);
    mst_plan_free(&plan);
    free(words_text);
}
END_TEST

/* ---- what no case shows ---------------------------------------------------------- */

/* --no-flags: none is added, whatever the tool. */
START_TEST(test_no_flags)
{
    const struct mst_loadtool *tool;
    char words_of[5][24] = { "", "run", "attack", "--headless", "http://127.0.0.1/" };
    char *argv[] = { words_of[0], words_of[1], words_of[2], words_of[3], words_of[4], NULL };
    char error[MST_ERROR_MAX];
    struct mst_plan plan;
    size_t i, k;

    for (i = 0; (tool = mst_loadtool_at(i)) != NULL; i++) {
        snprintf(words_of[0], sizeof words_of[0], "%s", tool->name);
        ck_assert_int_eq(tool->prepare(&plan, argv, -1, error), 0);
        ck_assert_ptr_null(plan.added);
        ck_assert_int_eq(plan.rows, MST_ROWS_NONE);
        for (k = 0; argv[k] != NULL; k++)
            ck_assert_str_eq(plan.argv[k], argv[k]);
        ck_assert_ptr_null(plan.argv[k]);
        mst_plan_free(&plan);
    }
    ck_assert_uint_eq(i, 10);
}
END_TEST

/* An --out that is added would end the outputs that K6_OUT names; one of the user's has done so. */
static const struct { const char *k6_out, *words; bool adds, says; } outputs[] = {
    { "", "run\nload.js", true, false }, { " ", "run\nload.js", true, false },
    { "influxdb=http://127.0.0.1:8086/k6", "run\nload.js", false, true },
    { "influxdb", "run\n--out\njson=results\nload.js", true, false },
    { "influxdb", "run\n-o\njson=results\nload.js", true, false },
    { "influxdb", "run\n--out=csv=rows.csv\nload.js", false, false },
};

START_TEST(test_outputs_of_k6)
{
    char command[] = "k6", text[64], *argv[8] = { command }, error[MST_ERROR_MAX];
    struct mst_plan plan;
    int status;

    snprintf(text, sizeof text, "%s", outputs[_i].words);
    split(text, argv + 1, 7);
    setenv("K6_OUT", outputs[_i].k6_out, 1);
    status = mst_loadtool_k6.prepare(&plan, argv, ROWS_FD, error);
    unsetenv("K6_OUT");
    ck_assert_int_eq(status, 0);
    ck_assert_msg((plan.added != NULL) == outputs[_i].adds, "K6_OUT=\"%s\" k6 %s",
                  outputs[_i].k6_out, outputs[_i].words);
    ck_assert_int_eq(plan.why_not_added != NULL, outputs[_i].says);
    check_command(&plan, argv);
    mst_plan_free(&plan);
}
END_TEST

START_TEST(test_which_adapter)
{
    ck_assert_ptr_eq(mst_loadtool_for("ab"), &mst_loadtool_ab);
    ck_assert_ptr_eq(mst_loadtool_for("/usr/bin/ab"), &mst_loadtool_ab);
    ck_assert_ptr_eq(mst_loadtool_for("./k6"), &mst_loadtool_k6);
    ck_assert_ptr_eq(mst_loadtool_for("abc"), &mst_loadtool_generic);
    ck_assert_ptr_eq(mst_loadtool_for("wrk2"), &mst_loadtool_generic);
    ck_assert_ptr_eq(mst_loadtool_for("ab/"), &mst_loadtool_generic);
    ck_assert_ptr_eq(mst_loadtool_for(""), &mst_loadtool_generic);
    ck_assert_str_eq(mst_loadtool_names(),
                     "ab, siege, wrk, hey, h2load, oha, k6, vegeta, locust, "
                     "tsung");
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

/* How many requests a case's load was in truth: what its argv asked for where that is a
 * number, else by what the server of the case does. */
static const struct { const char *tool, *name; json_int_t made; } loads[] = {
    { "siege", "reset", 3 * 4 }, { "siege", "unavailable", 3 * 2 },
    { "siege", "some-not-found", 3 * 4 }, { "wrk", "timeouts", 47 },
    { "wrk", "reset", 12263 + 6131 }, { "ab", "refused-r", 30 }, { "ab", "lengths", 12 },
    { "locust", "some-not-found", 34 }, { "h2load", "reset", 12 }, { "hey", "refused-rows", 6 },
    { "oha", "refused", 3 }, { "k6", "refused", 3 },
};

/* What came on top of `requests` makes it all requests, whichever of them a tool counts. */
START_TEST(test_failed_besides)
{
    const char *const names[] = { "requests", "failed", "failed_timeout" };
    uint64_t numbers[3];
    json_t *is, *value;
    size_t which = 0, i;

    while (which < case_count && (strcmp(cases[which].tool->name, loads[_i].tool) != 0 ||
                                  strcmp(cases[which].name, loads[_i].name) != 0))
        which++;
    ck_assert_msg(which < case_count, "no case %s/%s", loads[_i].tool, loads[_i].name);
    is = read_case((int)which);
    for (i = 0; i < 3; i++) {
        value = json_object_get(json_object_get(is, "result"), names[i]);
        numbers[i] = json_is_integer(value) ? (uint64_t)json_integer_value(value) : MST_UNKNOWN;
    }
    ck_assert_uint_eq(numbers[0] + mst_loadtool_failed_besides(cases[which].tool, numbers[1],
                                                               numbers[2]), loads[_i].made);
    json_decref(is);
}
END_TEST

static int stop_at_second(void *context, const struct mst_client_row *row)
{
    (void)row;
    return ++*(int *)context == 2;
}

START_TEST(test_taker_stops)
{
    char rows[] = "1000001\t200\t5\n1000002\t200\t5\n1000003\t200\t5\n";
    FILE *stream = fmemopen(rows, sizeof rows - 1, "r");
    char error[MST_ERROR_MAX];
    struct mst_rows_said said;
    int taken = 0;

    ck_assert_ptr_nonnull(stream);
    ck_assert_int_eq(mst_loadtool_read_rows(&mst_loadtool_h2load, stream, 0, stop_at_second,
                                            &taken, &said, error), 2);
    ck_assert_int_eq(taken, 2);
    fclose(stream);
}
END_TEST

static const struct { const char *text; uint64_t bare_ns, ns, step_ns; } times[] = {
    { "250us", 1, 250000, 1000 }, { "  1.50ms rest", 1, 1500000, 10000 },
    { "0.20 secs", 1, 200000000, 10000000 }, { "52.50 ms", 1, 52500000, 10000 },
    { "3.00s ", 1, 3000000000, 10000000 }, { "1m2.5s", 1, 62500000000, 100000000 },
    { "1h", 1, 3600000000000, 3600000000000 }, { "12\302\265s", 1, 12000, 1000 },
    { "7", 1000, 7000, 1000 }, { "0,05", 1000000000, 50000000, 10000000 },
    { "1.123456789123s", 1, 1123456789, 1 }, { "5M", 1, 300000000000, 60000000000 },
    { "", 1, MST_UNKNOWN, MST_UNKNOWN }, { "-1s", 1, MST_UNKNOWN, MST_UNKNOWN },
    { "nan", 1, MST_UNKNOWN, MST_UNKNOWN }, { "9007199254740993h", 1, MST_UNKNOWN, MST_UNKNOWN },
};

START_TEST(test_times)
{
    struct mst_output_text in = { times[_i].text, times[_i].text + strlen(times[_i].text) };
    uint64_t step_ns, ns = mst_text_time(in, times[_i].bare_ns, &step_ns);

    ck_assert_msg(ns == times[_i].ns && step_ns == times[_i].step_ns, "%s: %" PRIu64 " %" PRIu64,
                  times[_i].text, ns, step_ns);
}
END_TEST

/* The words behind the command are one string of each line. */
static const struct { const char *words; bool go; uint64_t number; } options[] = {
    { "-c\n12", false, 12 }, { "-c12", false, 12 }, { "-c=12", true, 12 }, { "--c=12", true, 12 },
    { "--count\n12", false, 12 }, { "--count=12", false, 12 }, { "-c\n1\n-c\n12", false, 12 },
    { "-cpus\n3\n-c\n12", true, 12 }, { "-c\n12\n-cpus\n3", true, 12 },
    { "-c12", true, 7 }, { "-c", false, 7 }, { "-c\nx", false, 7 }, { "--counter=9", false, 7 },
    { "--\n-c\n12", false, 7 }, { "http://127.0.0.1/", false, 7 }, { "", false, 7 },
};

START_TEST(test_options)
{
    const struct mst_option option = { { "-c", "--count" }, options[_i].go };
    char command[] = "tool", text[64], *argv[8] = { command };

    snprintf(text, sizeof text, "%s", options[_i].words);
    split(text, argv + 1, 7);
    ck_assert_msg(mst_option_number(argv, &option, 7) == options[_i].number, "%s: %" PRIu64,
                  options[_i].words, mst_option_number(argv, &option, 7));
}
END_TEST

/* A line of any length is one line. */
START_TEST(test_long_line)
{
    size_t n = 100000, length;
    char *rows = malloc(n + 64), error[MST_ERROR_MAX];
    struct sums sums = { .totals = { 0 } };
    struct mst_rows_said said;
    FILE *stream;

    ck_assert_ptr_nonnull(rows);
    length = (size_t)snprintf(rows, 64, "1795259072512400072,200,7,0,0,,");
    memset(rows + length, 'A', n - length);
    snprintf(rows + n, 64, ",,0,GET\n1795259072512400072,200,7,0,0,,,,1,GET,,\n");
    stream = fmemopen(rows, strlen(rows), "r");
    ck_assert_ptr_nonnull(stream);
    ck_assert_int_eq(mst_loadtool_read_rows(&mst_loadtool_vegeta, stream, 0, add_row, &sums, &said,
                                            error), 2);
    ck_assert_uint_eq(said.bad, 0);
    fclose(stream);
    free(rows);
}
END_TEST

static void find_cases(const struct mst_loadtool *tool)
{
    char path[512];
    struct dirent *entry;
    DIR *dir;

    snprintf(path, sizeof path, CASES "/%s", tool->name);
    dir = opendir(path);
    while (dir != NULL && (entry = readdir(dir)) != NULL)
        if (entry->d_name[0] != '.' && case_count < CASES_MAX) {
            cases[case_count].tool = tool;
            cases[case_count++].name = strdup(entry->d_name);
        }
    if (dir != NULL)
        closedir(dir);
}

int main(void)
{
    Suite *suite = suite_create("loadtools");
    TCase *all = tcase_create("cases"), *others = tcase_create("others");
    size_t i, before;
    int status;

    for (i = 0; mst_loadtool_at(i) != NULL; i++) {
        before = case_count;
        find_cases(mst_loadtool_at(i));
        if (case_count < before + 4) {
            fprintf(stderr, "there should be 4 cases or more in " CASES "/%s, not %zu\n",
                    mst_loadtool_at(i)->name, case_count - before);
            return 1;
        }
    }
    tcase_add_loop_test(all, test_case, 0, (int)case_count);
    tcase_add_loop_test(all, test_cut, 0, (int)case_count);
    tcase_add_test(others, test_no_flags);
    tcase_add_loop_test(others, test_outputs_of_k6, 0, (int)(sizeof outputs / sizeof *outputs));
    tcase_add_test(others, test_which_adapter);
    tcase_add_test(others, test_generic);
    tcase_add_loop_test(others, test_failed_besides, 0, (int)(sizeof loads / sizeof *loads));
    tcase_add_test(others, test_taker_stops);
    tcase_add_loop_test(others, test_times, 0, (int)(sizeof times / sizeof *times));
    tcase_add_loop_test(others, test_options, 0, (int)(sizeof options / sizeof *options));
    tcase_add_test(others, test_long_line);
    suite_add_tcase(suite, all);
    suite_add_tcase(suite, others);
    status = test_run(suite);
    for (i = 0; i < case_count; i++)
        free(cases[i].name);
    return status;
}
