/* check_study.c - studies' files and the plans that are made of them: what is understood,
 * what is refused and how, and that plans are fair and come out the same again.
 */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "archive/writer.h"
#include "harness.h"
#include "lab/files/study.h"
#include "lab/report/figures.h"
#include "lab/files/paths.h"
#include "lab/study/plan.h"

#define DATA    MST_TESTS_DIR "/../tools"    /* its lab/ has stacks, workloads and studies */
#define STUDIES 5

static const char sample[] =
    "# A sample.\n"
    "%% study\n"
    "title = A sample\n"
    "number = 7\n"
    "limit = 100\n"
    "quick.limit = 10\n"
    "%% runs sweep\n"
    "title = all of it\n"
    "stacks = prefork-static event-static\n"
    "workload = static\n"
    "load = ab -n ${N} -c ${CONCURRENCY} ${URL}\n"
    "CONCURRENCY = 100 200 ... 500\n"
    "quick.CONCURRENCY = 10 20\n"
    "N = ${CONCURRENCY} * 3\n"
    "BACKLOG = 64 4096\n"
    "event-static.WORKERS+THREADS = 100+25 400+50\n"
    "prefork-static.WORKERS = 64\n"
    "repetitions = 3\n"
    "quick.repetitions = 2\n"
    "limit = 30\n"
    "%% runs burst\n"
    "kind = spawn\n"
    "stacks = prefork-static\n"
    "workload = static\n"
    "load = ab -n 10 -c 10 ${URL}\n"
    "%% runs rising\n"
    "kind = ramp\n"
    "stacks = event-static\n"
    "workload = static\n"
    "from = 1\n"
    "to = 2 * 5\n"
    "over = 10\n"
    "%% published sweep\n"
    "system stack CONCURRENCY requests_per_second\n"
    "\"Apache 2.2\" event-static 100 12.5\n"
    "%% claims\n"
    "sweep: event-static[CONCURRENCY=500] > prefork-static@static[CONCURRENCY=500,BACKLOG=64] "
    "by requests_per_second times 2 \"Event is twice as fast.\"\n"
    "burst: prefork-static ~ 0 by errors \"Nothing fails.\"\n"
    "%% notes\n"
    "Some words.\n";

static void parse(struct mst_study *study, const char *text, enum mst_study_size size)
{
    char error[MST_ERROR_MAX] = "";

    ck_assert_msg(mst_study_parse(memory_of_test(), study, "sample", text, size, error) == 0, "%s",
                  error);
}

/* The value of a variable with that index, NULL: there is none. */
static const struct mst_variable *variable(const struct mst_runs *runs, const char *stack,
                                           const char *name)
{
    size_t i;

    for (i = 0; i < runs->variable_count; i++)
        if (strcmp(runs->variables[i].name, name) == 0 &&
            (stack == NULL ? runs->variables[i].stack == NULL
                           : runs->variables[i].stack != NULL &&
                             strcmp(runs->variables[i].stack, stack) == 0))
            return &runs->variables[i];
    return NULL;
}

/* ---- reading ----------------------------------------------------------------------- */

START_TEST(test_full)
{
    const struct mst_variable *v;
    const struct mst_runs *runs;
    struct mst_study s;

    parse(&s, sample, MST_STUDY_FULL);
    ck_assert_str_eq(s.name, "sample");
    ck_assert_str_eq(s.title, "A sample");
    ck_assert_uint_eq(s.number, 7);
    ck_assert_uint_eq(s.limit_ns, 100 * UINT64_C(1000000000));
    ck_assert_uint_eq(s.runs_count, 3);
    ck_assert_str_eq(s.year, "");
    ck_assert_str_eq(s.notes, "Some words.\n");
    runs = mst_study_runs(&s, "sweep");
    ck_assert_ptr_nonnull(runs);
    ck_assert_str_eq(runs->title, "all of it");
    ck_assert_uint_eq(runs->repetitions, 3);
    ck_assert_uint_eq(runs->limit_ns, 30 * UINT64_C(1000000000));
    ck_assert_str_eq(runs->stacks[1], "event-static");
    ck_assert_ptr_null(runs->stacks[2]);
    v = variable(runs, NULL, "CONCURRENCY");
    ck_assert_uint_eq(v->count, 5);
    ck_assert_str_eq(v->values[0], "100");
    ck_assert_str_eq(v->values[3], "400");
    ck_assert_str_eq(v->values[4], "500");
    ck_assert_str_eq(variable(runs, NULL, "N")->values[0], "${CONCURRENCY} * 3");
    v = variable(runs, "event-static", "THREADS");
    ck_assert(v->with_previous);
    ck_assert_str_eq(v->values[1], "50");
    ck_assert_str_eq(v[-1].name, "WORKERS");
    ck_assert_str_eq(v[-1].values[1], "400");
    runs = mst_study_runs(&s, "burst");
    ck_assert_int_eq(runs->kind, MST_RUNS_SPAWN);
    ck_assert_str_eq(runs->title, "burst");
    ck_assert_uint_eq(runs->warmup_ns, 0);
    runs = mst_study_runs(&s, "rising");
    ck_assert_int_eq(runs->kind, MST_RUNS_RAMP);
    ck_assert_ptr_null(runs->load);
    ck_assert_str_eq(runs->over, "10");
}
END_TEST

START_TEST(test_quick)
{
    const struct mst_runs *runs;
    struct mst_study s;

    parse(&s, sample, MST_STUDY_QUICK);
    ck_assert_uint_eq(s.limit_ns, 10 * UINT64_C(1000000000));
    runs = mst_study_runs(&s, "sweep");
    ck_assert_uint_eq(runs->repetitions, 2);
    ck_assert_uint_eq(variable(runs, NULL, "CONCURRENCY")->count, 2);
    ck_assert_str_eq(variable(runs, NULL, "CONCURRENCY")->values[1], "20");
    ck_assert_uint_eq(variable(runs, NULL, "BACKLOG")->count, 2);
}
END_TEST

START_TEST(test_published_and_claims)
{
    const struct mst_published *p;
    const struct mst_claim *c;
    struct mst_study s;

    parse(&s, sample, MST_STUDY_FULL);
    p = mst_study_published(&s, "sweep");
    ck_assert_ptr_nonnull(p);
    ck_assert_int_eq(mst_published_column(p, "requests_per_second"), 3);
    ck_assert_int_eq(mst_published_column(p, "nothing"), -1);
    ck_assert_str_eq(p->rows.items[1].words[0], "Apache 2.2");
    ck_assert_ptr_null(mst_study_published(&s, "burst"));
    ck_assert_uint_eq(s.claim_count, 2);
    c = &s.claims[0];
    ck_assert_str_eq(c->left.stack, "event-static");
    ck_assert_ptr_null(c->left.workload);
    ck_assert_str_eq(c->left.keys[0], "CONCURRENCY");
    ck_assert_str_eq(c->left.values[0], "500");
    ck_assert_str_eq(c->right.stack, "prefork-static");
    ck_assert_str_eq(c->right.workload, "static");
    ck_assert_uint_eq(c->right.key_count, 2);
    ck_assert_str_eq(c->right.values[1], "64");
    ck_assert_int_eq(c->relation, MST_CLAIM_MORE);
    ck_assert_str_eq(c->figure, "requests_per_second");
    ck_assert_double_eq(c->times, 2);
    ck_assert_str_eq(c->sentence, "Event is twice as fast.");
    c = &s.claims[1];
    ck_assert_int_eq(c->relation, MST_CLAIM_SAME);
    ck_assert_ptr_null(c->right.stack);
    ck_assert_double_eq(c->right.number, 0);
}
END_TEST

#define HEAD "%% study\ntitle = t\n"
#define RUNS HEAD "%% runs r\nstacks = event-static\nworkload = static\nload = ab ${URL}\n"

static const struct { const char *text, *says; } bad[] = {
    { "", "expected a section %% study" },
    { "%% study\n%% runs r\n", "sample:1: expected \"title = ...\"" },
    { HEAD, "expected a section %% runs NAME" },
    { HEAD "colour = red\n", "sample:3: there is no \"colour\" here" },
    { HEAD "%% runs\n", "sample:3: expected a name after runs" },
    { HEAD "%% stack s\n", "sample:3: expected a section study, runs" },
    { HEAD "%% runs r\nworkload = static\nload = ab\n", "sample:3: expected \"stacks = ...\"" },
    { RUNS "%% runs r\n", "sample:7: there is a section runs r already" },
    { RUNS "kind = slow\n", "sample:7: expected load, spawn or ramp for kind, found \"slow\"" },
    { RUNS "from = 5\n", "only runs of the kind ramp" },
    { RUNS "kind = ramp\n", "sample:6: a ramp has no load of its own" },
    { RUNS "repetitions = some\n", "sample:7: expected a whole number from 0 to 1000" },
    { RUNS "repetitions = 1001\n", "found \"1001\"" },
    { RUNS "limit = 0\n", "expected a limit of a second or more" },
    { RUNS "C = 1 ... 5\n", "sample:7: expected A B ... Z" },
    { RUNS "C = 1 3 ... 6\n", "in equal steps" },
    { RUNS "C = 3 1 ... 0\n", "expected A B ... Z" },
    { RUNS "C = 1 2 ... 100000\n", "at most 1000" },
    { RUNS "C =\n", "sample:7: expected a value, found none" },
    { RUNS "A+B = 1+2 3\n", "sample:7: expected 2 values with + between them" },
    { RUNS "A+B = 1+2+3\n", "expected 2 values" },
    { RUNS "A+b = 1+2\n", "there is no \"A+b\" here" },
    { RUNS "speed = 3\n", "sample:7: there is no \"speed\" here" },
    { RUNS "%% published q\nstack mean_ms\nevent-static 1\n", "expected a section %% runs q" },
    { RUNS "%% published r\nstack mean_ms\n", "one or more with figures" },
    { RUNS "%% published r\nstack mean_ms\nevent-static\n", "expected 2 words" },
    { RUNS "%% claims\nr event-static > 1 by mean_ms \"x\"\n", "sample:8: expected RUNS: STACK" },
    { RUNS "%% claims\nr: 1 > event-static by mean_ms \"x\"\n", "expected RUNS: STACK" },
    { RUNS "%% claims\nr: event-static = 1 by mean_ms \"x\"\n", "expected RUNS: STACK" },
    { RUNS "%% claims\nr: event-static > 1 by mean_ms\n", "expected RUNS: STACK" },
    { RUNS "%% claims\nr: event-static > 1 by mean_ms \"x\" y\n", "expected RUNS: STACK" },
    { RUNS "%% claims\nr: event-static[C] > 1 by mean_ms \"x\"\n", "expected RUNS: STACK" },
    { RUNS "%% claims\nr: event-static[] > 1 by mean_ms \"x\"\n", "expected RUNS: STACK" },
    { RUNS "%% claims\nr: event-static > 1 by mean_ms times 0 \"x\"\n", "expected RUNS: STACK" },
    { RUNS "%% claims\nq: event-static > 1 by mean_ms \"x\"\n", "expected a section %% runs q" },
};

START_TEST(test_refused)
{
    char error[MST_ERROR_MAX] = "";
    struct mst_study s;

    ck_assert_msg(mst_study_parse(memory_of_test(), &s, "sample", bad[_i].text, MST_STUDY_FULL,
                                  error) == -1, "taken: %s", bad[_i].text);
    ck_assert_msg(strstr(error, bad[_i].says) != NULL, "expected \"%s\": %s", bad[_i].says, error);
}
END_TEST

/* ---- plans ------------------------------------------------------------------------- */

static int make(struct mst_schedule *schedule, const struct mst_study *study, uint64_t seed,
                char *const *only, char error[MST_ERROR_MAX])
{
    const struct mst_schedule_options options = { .seed = seed, .only = only };

    ck_assert_int_eq(setenv("MPMSTAT_DATADIR", DATA, 1), 0);
    return mst_schedule_make(memory_of_test(), schedule, study, &options, error);
}

static void plan(struct mst_schedule *schedule, const struct mst_study *study, uint64_t seed)
{
    char error[MST_ERROR_MAX] = "";

    ck_assert_msg(make(schedule, study, seed, NULL, error) == 0, "%s", error);
}

static const struct mst_planned *find_case(const struct mst_schedule *s, const char *stack,
                                           const char *parameters)
{
    size_t i;

    for (i = 0; i < s->case_count; i++)
        if (strcmp(s->cases[i].stack->name, stack) == 0 &&
            strcmp(s->cases[i].parameters, parameters) == 0)
            return &s->cases[i];
    return NULL;
}

START_TEST(test_cases)
{
    const struct mst_planned *c;
    struct mst_schedule s;
    struct mst_study study;

    parse(&study, sample, MST_STUDY_FULL);
    plan(&s, &study, 1);
    /* prefork 5 x 2; event 5 x 2 x 2, its workers and threads together; a burst, a ramp */
    ck_assert_uint_eq(s.case_count, 10 + 20 + 1 + 1);
    c = find_case(&s, "event-static",
                  "{\"BACKLOG\":64,\"CONCURRENCY\":300,\"N\":900,\"THREADS\":50,\"WORKERS\":400}");
    ck_assert_ptr_nonnull(c);
    ck_assert_str_eq(c->load, "ab -n 900 -c 300 ${URL}");
    ck_assert_uint_eq(c->given.count, 3);
    ck_assert_str_eq(mst_parameters_get(&c->given, "WORKERS"), "400");
    ck_assert_ptr_null(mst_parameters_get(&c->given, "N"));
    ck_assert_ptr_null(find_case(&s, "event-static", "{\"BACKLOG\":64,\"CONCURRENCY\":300,"
                                 "\"N\":900,\"THREADS\":25,\"WORKERS\":400}"));
    ck_assert_ptr_nonnull(find_case(&s, "prefork-static", "{\"BACKLOG\":4096,\"CONCURRENCY\":100,"
                                    "\"N\":300,\"WORKERS\":64}"));
    c = find_case(&s, "event-static", "{}");
    ck_assert_str_eq(c->from, "1");
    ck_assert_str_eq(c->load, "");
}
END_TEST

/* Each block has each case once; a start has one set of servers, and is not come back to. */
START_TEST(test_blocks)
{
    struct mst_schedule s;
    struct mst_study study;
    unsigned *seen;
    size_t i;

    parse(&study, sample, MST_STUDY_FULL);
    plan(&s, &study, 7);
    ck_assert_uint_eq(s.step_count, 3 * 30 + 2);
    seen = calloc(s.case_count, sizeof *seen);
    ck_assert_ptr_nonnull(seen);
    for (i = 0; i < s.step_count; i++) {
        const struct mst_step *step = &s.steps[i], *before = i > 0 ? step - 1 : NULL;

        ck_assert_uint_eq(step->ordinal, i + 1);
        ck_assert_uint_eq(step->repetition, ++seen[step->of - s.cases]);
        ck_assert_uint_eq(step->block, step->repetition);
        if (before == NULL)
            continue;
        ck_assert_uint_ge(step->block, before->block);
        ck_assert(step->start == before->start || step->start == before->start + 1);
        if (step->start == before->start) {
            ck_assert_ptr_eq(step->of->stack, before->of->stack);
            ck_assert_uint_eq(step->block, before->block);
            ck_assert_int_ne(step->of->runs->kind, MST_RUNS_SPAWN);
            ck_assert_int_ne(before->of->runs->kind, MST_RUNS_SPAWN);
        }
    }
    for (i = 0; i < s.case_count; i++)
        ck_assert_uint_eq(seen[i], s.cases[i].runs->repetitions);
    /* In a block: prefork with 2 backlogs; event with 2 and 2; the ramp has what it has. */
    ck_assert_uint_eq(s.steps[s.step_count - 1].start, 3 * (2 + 4) + 2);
    free(seen);
}
END_TEST

static bool same_order(const struct mst_schedule *a, const struct mst_schedule *b)
{
    size_t i;

    for (i = 0; i < a->step_count; i++)
        if (a->steps[i].of - a->cases != b->steps[i].of - b->cases)
            return false;
    return true;
}

START_TEST(test_the_seed_decides)
{
    struct mst_schedule a, b, c;
    struct mst_study study;

    parse(&study, sample, MST_STUDY_FULL);
    plan(&a, &study, 42);
    plan(&b, &study, 42);
    plan(&c, &study, 43);
    ck_assert(same_order(&a, &b));
    ck_assert(!same_order(&a, &c));
}
END_TEST

START_TEST(test_only)
{
    char event[] = "event-static", other[] = "other", error[MST_ERROR_MAX] = "";
    char *only[] = { event, NULL }, *wrong[] = { event, other, NULL };
    struct mst_schedule s;
    struct mst_study study;
    size_t i;

    parse(&study, sample, MST_STUDY_FULL);
    ck_assert_msg(make(&s, &study, 1, only, error) == 0, "%s", error);
    ck_assert_uint_eq(s.case_count, 21);
    for (i = 0; i < s.case_count; i++)
        ck_assert_str_eq(s.cases[i].stack->name, "event-static");
    ck_assert_int_eq(make(&s, &study, 1, wrong, error), -1);
    ck_assert_msg(strstr(error, "has no stack \"other\"") != NULL, "%s", error);
}
END_TEST

static const struct { const char *text, *says; } bad_plans[] = {
    { RUNS "SPED = 5\n", "sample:7: SPED is of no use" },
    { RUNS "prefork-static.WORKERS = 5\n", "sample:7: WORKERS is of no use: it is not a "
                                           "parameter of prefork-static" },
    { HEAD "%% runs r\nstacks = none\nworkload = static\nload = ab ${URL}\n", "none" },
    { HEAD "%% runs r\nstacks = event-static\nworkload = none\nload = ab ${URL}\n", "none" },
    { HEAD "%% runs r\nstacks = event-static\nworkload = loop\nload = ab ${URL}\n", "loop" },
    { RUNS "repetitions = 0\n", "nothing to run" },
    { HEAD "%% runs r\nstacks = event-static\nworkload = static\nload = ab ${WHAT}\n", "WHAT" },
    { RUNS "WORKERS = 1 2 ... 1000\nSPARE_MIN = 1 2 ... 1000\n", "at most 10000 cases" },
};

START_TEST(test_plans_refused)
{
    char error[MST_ERROR_MAX] = "";
    struct mst_schedule s;
    struct mst_study study;

    parse(&study, bad_plans[_i].text, MST_STUDY_FULL);
    ck_assert_int_eq(make(&s, &study, 1, NULL, error), -1);
    ck_assert_msg(strstr(error, bad_plans[_i].says) != NULL, "expected \"%s\": %s",
                  bad_plans[_i].says, error);
}
END_TEST

/* ---- the studies that there are ----------------------------------------------------- */

static int count_study(void *context, const char *path)
{
    const char **paths = context;

    while (*paths != NULL)
        paths++;
    *paths = strdup(path);
    return 0;
}

static void check_claims(const struct mst_study *study)
{
    double scale;
    size_t i;

    for (i = 0; i < study->claim_count; i++)
        ck_assert_msg(mst_study_metric_find(study->claims[i].figure, &scale) != MST_M_COUNT,
                      "%s:%u: there is no figure %s", study->text.path, study->claims[i].line,
                      study->claims[i].figure);
}

/* Every one makes a plan at both sizes, and what it claims can be measured. */
START_TEST(test_studies)
{
    const char *paths[STUDIES + 2] = { NULL };
    char error[MST_ERROR_MAX] = "";
    bool numbers[STUDIES + 1] = { false };
    struct mst_schedule s;
    struct mst_study study;
    size_t i;

    ck_assert_int_eq(setenv("MPMSTAT_DATADIR", DATA, 1), 0);
    mst_lab_each("study", count_study, paths);
    for (i = 0; i < 2 * STUDIES; i++) {
        ck_assert_ptr_nonnull(paths[i / 2]);
        ck_assert_msg(mst_study_read(memory_of_test(), &study, paths[i / 2],
                                     (enum mst_study_size)(i % 2), error) == 0, "%s", error);
        ck_assert_msg(make(&s, &study, 1, NULL, error) == 0, "%s", error);
        ck_assert_uint_le(study.number, STUDIES);
        numbers[study.number] = true;
        check_claims(&study);
        ck_assert_uint_gt(study.claim_count, 0);
        if (study.size == MST_STUDY_QUICK)
            ck_assert_uint_lt(s.about_ns, UINT64_C(900000000000));
    }
    ck_assert_ptr_null(paths[STUDIES]);
    for (i = 1; i <= STUDIES; i++)
        ck_assert(numbers[i]);
    for (i = 0; i < STUDIES; i++)
        free((char *)paths[i]);
}
END_TEST

/* ---- in the archive ----------------------------------------------------------------- */

static int64_t ask(struct mst_archive *a, const char *sql)
{
    sqlite3_stmt *statement;
    int64_t value;

    ck_assert_int_eq(sqlite3_prepare_v2(mst_archive_db(a), sql, -1, &statement, NULL), SQLITE_OK);
    ck_assert_int_eq(sqlite3_step(statement), SQLITE_ROW);
    value = sqlite3_column_int64(statement, 0);
    sqlite3_finalize(statement);
    return value;
}

static int64_t add_study(struct mst_archive *a)
{
    const struct mst_archive_study study = { .name = "s", .title = "t", .size = "quick",
                                             .text = sample, .seed = 9, .started_ns = 5 };
    struct mst_archive_step step = { .block = 1, .repetition = 1, .start = 1, .runs = "r",
                                     .stack = "e", .workload = "w", .load = "ab",
                                     .parameters = "{}" };
    int64_t id;

    ck_assert_int_eq(mst_archive_begin_study(a, &study, &id), 0);
    ck_assert_int_eq(mst_archive_add_study_file(a, id, "stack", "e", "text"), 0);
    for (step.ordinal = 1; step.ordinal <= 3; step.ordinal++)
        ck_assert_int_eq(mst_archive_add_step(a, id, &step), 0);
    ck_assert_int_eq(mst_archive_commit(a), 0);
    return id;
}

/* A step is planned, runs, and has come to something; one that was killed is planned again. */
START_TEST(test_archive)
{
    char error[MST_ERROR_MAX] = "";
    struct mst_archive *a = mst_archive_create(test_path(), NULL, error);
    const struct mst_archive_step_end failed = {
        .state = MST_STEP_STATE_FAILED, .run_id = MST_UNKNOWN, .failure = "it broke",
        .page_bytes = 7, .ended_ns = 20, .warmup_ns = MST_UNKNOWN, .load = "ab URL",
    };
    int64_t id;
    bool any;

    ck_assert_msg(a != NULL, "%s", error);
    id = add_study(a);
    ck_assert_int_eq(ask(a, "SELECT count(*) FROM steps WHERE state = 'planned'"), 3);
    ck_assert_int_eq(mst_archive_begin_step(a, id, 1, 10), 0);
    ck_assert_int_eq(mst_archive_end_step(a, id, 1, &failed), 0);
    ck_assert_int_eq(ask(a, "SELECT count(*) FROM steps WHERE state = 'failed' AND "
                            "failure = 'it broke' AND run_id IS NULL AND page_bytes = 7 AND "
                            "load = 'ab URL' AND started_ns = 10 AND ended_ns = 20"), 1);
    ck_assert_int_eq(mst_archive_replan_steps(a, id, &any), 0);
    ck_assert(!any);
    ck_assert_int_eq(mst_archive_begin_step(a, id, 2, 30), 0);
    ck_assert_int_eq(mst_archive_replan_steps(a, id, &any), 0);
    ck_assert(any);
    ck_assert_int_eq(ask(a, "SELECT count(*) FROM steps WHERE state = 'planned' AND "
                            "started_ns IS NULL"), 2);
    ck_assert_int_eq(mst_archive_interrupt_study(a, id), 0);
    ck_assert_int_eq(mst_archive_end_study(a, id, 40), 0);
    ck_assert_int_eq(ask(a, "SELECT count(*) FROM studies WHERE interrupted = 1 AND "
                            "ended_ns = 40 AND seed = 9"), 1);
    ck_assert_int_eq(mst_archive_close(a, error), 0);
}
END_TEST

int main(void)
{
    Suite *suite = suite_create("study");
    TCase *all = tcase_create("study");

    tcase_add_test(all, test_full);
    tcase_add_test(all, test_quick);
    tcase_add_test(all, test_published_and_claims);
    tcase_add_loop_test(all, test_refused, 0, sizeof bad / sizeof *bad);
    tcase_add_test(all, test_cases);
    tcase_add_test(all, test_blocks);
    tcase_add_test(all, test_the_seed_decides);
    tcase_add_test(all, test_only);
    tcase_add_loop_test(all, test_plans_refused, 0, sizeof bad_plans / sizeof *bad_plans);
    tcase_add_test(all, test_studies);
    tcase_add_test(all, test_archive);
    suite_add_tcase(suite, all);
    return test_run(suite);
}
