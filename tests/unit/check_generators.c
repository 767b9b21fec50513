/* check_generators.c - clocks of load generators by their requests, and the files that several of
 * them write: tests/cases/generators has what k6 and Locust wrote. */
#include <stdlib.h>
#include <string.h>

#include "base/clock.h"
#include "harness.h"
#include "loadtools/loadtool.h"
#include "record/generator_clock.h"
#include "segment/format.h"
#include "stats/random.h"

#define CASES MST_TESTS_DIR "/cases/generators/"
#define START INT64_C(1795000000000000000)
#define US    ((int64_t)MST_NS_PER_US)
#define MS    ((int64_t)MST_NS_PER_MS)
#define S     ((int64_t)MST_NS_PER_S)

/* ---- clocks ---------------------------------------------------------------------- */

struct load {
    struct mst_spans clients, servers;
};

static void add(struct mst_spans *s, int64_t from, int64_t to, uint64_t id)
{
    s->items = realloc(s->items, (s->count + 1) * sizeof *s->items);
    ck_assert_ptr_nonnull(s->items);
    s->items[s->count++] = (struct mst_span){ from, to, id };
}

/* A load of `count` requests at random times of 20 s, each of up to 100 ms; every second one is
 * this client's, whose clock is `ahead`. */
static struct load make_load(size_t count, int64_t ahead, uint64_t seed, bool with_ids)
{
    struct load load = { 0 };
    size_t i;

    for (i = 0; i < count; i++) {
        int64_t from = START + (int64_t)mst_random_below(&seed, (size_t)(20 * S));
        int64_t to = from + 200 * US + (int64_t)mst_random_below(&seed, (size_t)(100 * MS));
        uint64_t id = with_ids ? i + 1 : MST_UNKNOWN;

        add(&load.servers, from, to, id);
        if (i % 2 == 0)
            add(&load.clients, from - 50 * US - (int64_t)mst_random_below(&seed, 500000) + ahead,
                to + 50 * US + (int64_t)mst_random_below(&seed, 500000) + ahead, id);
    }
    return load;
}

static void free_load(struct load *load)
{
    free(load->clients.items);
    free(load->servers.items);
}

static const struct { size_t count; int64_t ahead; bool ids; } clocks[] = {
    { 2000, 0, false }, { 2000, 300 * S, false }, { 2000, -300 * S, false },
    { 2000, 3600 * S, false }, { 2000, -37 * MS, false }, { 200, 5 * S, false },
    { 20000, 86400 * S, false }, { 2000, 300 * S, true }, { 2000, 0, true }, { 60, 7 * S, true },
};

START_TEST(test_offset)
{
    struct load load = make_load(clocks[_i].count, clocks[_i].ahead, 7, clocks[_i].ids);
    struct mst_generator_clock o;
    int64_t apart;

    ck_assert(mst_generator_clock_find(&o, &load.clients, &load.servers, 1));
    ck_assert_int_eq(o.answer, MST_CLOCK_KNOWN);
    apart = o.ahead_ns - clocks[_i].ahead;
    ck_assert_msg((uint64_t)llabs(apart) <= o.uncertainty_ns, "%lld ns apart, within %llu",
                  (long long)apart, (unsigned long long)o.uncertainty_ns);
    ck_assert_uint_le(o.uncertainty_ns, 2 * (uint64_t)MS);
    ck_assert_int_eq(o.by_id, clocks[_i].ids);
    ck_assert_uint_ge(o.fitting * 100, o.looked_at * 98);
    free_load(&load);
}
END_TEST

/* Whole seconds: the offset is known as well as that allows. */
START_TEST(test_coarse_instants)
{
    struct load load = make_load(2000, 300 * S, 7, false);
    struct mst_generator_clock o;
    size_t i;

    for (i = 0; i < load.clients.count; i++) {
        int64_t cut = load.clients.items[i].from_ns % S;

        load.clients.items[i].from_ns -= cut;
        load.clients.items[i].to_ns -= cut;
    }
    ck_assert(mst_generator_clock_find(&o, &load.clients, &load.servers, MST_NS_PER_S));
    if (o.answer == MST_CLOCK_KNOWN)
        ck_assert_uint_le((uint64_t)llabs(o.ahead_ns - 300 * S), o.uncertainty_ns);
    free_load(&load);
}
END_TEST

/* Rows of another run, an hour before: by time, and with the same ids. */
START_TEST(test_another_run)
{
    struct load here = make_load(2000, 0, 7, _i == 1);
    struct load there = make_load(2000, -3600 * S, 8, _i == 1);
    struct mst_generator_clock o;

    ck_assert(mst_generator_clock_find(&o, &there.clients, &here.servers, 1));
    ck_assert_int_eq(o.answer, MST_CLOCK_STRANGE);
    free_load(&here);
    free_load(&there);
}
END_TEST

/* Requests that tell nothing: too few; or all at once, so that each encloses many. */
START_TEST(test_unsure)
{
    struct load load = { 0 };
    struct mst_generator_clock o;
    int i, count = _i == 0 ? 3 : 500;

    for (i = 0; i < count; i++) {
        add(&load.clients, START + i, START + 5 * S, MST_UNKNOWN);
        add(&load.servers, START + 2 * S + i * MS, START + 2 * S + i * MS + 10, MST_UNKNOWN);
    }
    ck_assert(mst_generator_clock_find(&o, &load.clients, &load.servers, 1));
    if (o.answer == MST_CLOCK_KNOWN)
        ck_assert_uint_le((uint64_t)llabs(o.ahead_ns), o.uncertainty_ns);
    else
        ck_assert_int_eq(o.answer, MST_CLOCK_UNSURE);
    free_load(&load);
}
END_TEST

START_TEST(test_nothing)
{
    struct mst_spans none = { 0 };
    struct mst_generator_clock o;

    ck_assert(mst_generator_clock_find(&o, &none, &none, 1));
    ck_assert_int_eq(o.answer, MST_CLOCK_STRANGE);
}
END_TEST

/* ---- files ----------------------------------------------------------------------- */

struct taken { struct mst_row_totals totals; struct mst_client_row last; };

static int take(void *context, const struct mst_client_row *row)
{
    struct taken *taken = context;

    mst_row_totals_add(&taken->totals, row);
    taken->last = *row;
    return 0;
}

static long read_stream(FILE *stream, struct taken *taken, struct mst_rows_said *said)
{
    char line[512], error[MST_ERROR_MAX];
    const struct mst_loadtool *tool;
    long count;

    ck_assert_ptr_nonnull(stream);
    memset(taken, 0, sizeof *taken);
    ck_assert_ptr_nonnull(fgets(line, sizeof line, stream));
    tool = mst_loadtool_of_rows(line);
    ck_assert_ptr_nonnull(tool);
    rewind(stream);
    count = mst_loadtool_read_rows(tool, stream, 0, take, taken, said, error);
    fclose(stream);
    return count;
}

static long read_text(const char *text, struct taken *taken, struct mst_rows_said *said)
{
    return read_stream(fmemopen((void *)(uintptr_t)text, strlen(text), "r"), taken, said);
}

static const struct {
    const char *file;
    long rows;
    uint64_t step_ns;
    enum mst_rows_end end;
} files[] = {
    { "k6-segments/1.json", 3, 1, MST_ROWS_END_UNKNOWN },
    { "k6-segments/2.csv", 5, 1, MST_ROWS_END_UNKNOWN },
    { "locust-processes/1.csv", 28, 1000, MST_ROWS_ENDED },
};

START_TEST(test_real_files)
{
    char path[512];
    struct taken taken;
    struct mst_rows_said said;

    snprintf(path, sizeof path, CASES "%s", files[_i].file);
    ck_assert_int_eq(read_stream(fopen(path, "re"), &taken, &said), files[_i].rows);
    ck_assert_uint_eq(said.bad, 0);
    ck_assert_uint_eq(said.start_step_ns, files[_i].step_ns);
    ck_assert_int_eq(said.end, files[_i].end);
    ck_assert_uint_eq(taken.totals.failed, 0);
    ck_assert_uint_eq(taken.last.status, 200);
    ck_assert_uint_gt(taken.totals.first_start_ns, (uint64_t)START);
    ck_assert_uint_lt(taken.totals.last_end_ns - taken.totals.first_start_ns, 10 * MST_NS_PER_S);
}
END_TEST

#define POINT(metric, time, value, tags) \
    "{\"metric\":\"" metric "\",\"type\":\"Point\",\"data\":{\"time\":\"" time "\",\"value\":" \
    value ",\"tags\":{" tags "}}}\n"
#define REQUEST(time) POINT("http_reqs", time, "1", "\"status\":\"200\",\"mpmstat_id\":\"77\"") \
    POINT("http_req_duration", time, "10", "\"status\":\"200\"")

/* The same instant in three time zones, and with a name that looks like a member. */
START_TEST(test_json)
{
    static const char *const texts[] = {
        "{\"type\":\"Metric\",\"metric\":\"http_reqs\"}\n" REQUEST("2026-11-23T04:58:08.25Z"),
        "{\"type\":\"Metric\",\"metric\":\"http_reqs\"}\n" REQUEST("2026-11-23T05:58:08.25+01:00"),
        "{\"type\":\"Metric\",\"metric\":\"http_reqs\"}\n" REQUEST("2026-11-22T23:28:08.25-05:30"),
        "{\"type\":\"Metric\",\"metric\":\"http_reqs\"}\n"
        POINT("http_reqs", "2026-11-23T04:58:08.25Z", "1",
              "\"name\":\"\\\"status\\\":\\\"500\\\"\",\"status\":\"200\",\"mpmstat_id\":\"77\"")
        POINT("http_req_duration", "2026-11-23T04:58:08.25Z", "10", ""),
    };
    struct taken taken;
    struct mst_rows_said said;

    ck_assert_int_eq(read_text(texts[_i], &taken, &said), 1);
    ck_assert_uint_eq(taken.last.start_ns, UINT64_C(1795409888240000000));
    ck_assert_uint_eq(taken.last.duration_ns, 10 * MST_NS_PER_MS);
    ck_assert_uint_eq(taken.last.status, 200);
    ck_assert_uint_eq(taken.last.client_id, 77);
}
END_TEST

START_TEST(test_dropped)
{
    struct taken taken;
    struct mst_rows_said said;

    ck_assert_int_eq(read_text("metric_name,timestamp,metric_value,status\n"
                               "dropped_iterations,1795000000000000000,3.0,\n"
                               "http_reqs,1795000000000000000,1.0,200\n"
                               "http_req_duration,1795000000000000000,5.5,200\n"
                               "dropped_iterations,1795000000000000000,4.0,\n"
                               "http_reqs,17950000000000000", &taken, &said), 1);
    ck_assert_uint_eq(said.dropped, 7);
    ck_assert_uint_eq(said.bad, 1);
}
END_TEST

/* A worker that was killed: no last line, and half of the one before. */
START_TEST(test_killed_locust)
{
    struct taken taken;
    struct mst_rows_said said;

    ck_assert_int_eq(read_text(MST_LOCUST_ROWS "host,7,2.47.0\n"
                               "c,1795000000000000000,100\n"
                               "r,1795000000000000000,5000000,200,,\n"
                               "r,1795000001000000000,5000000,0,timeout,\n"
                               "c,1795000002000000000,1900000100\n"
                               "r,17950000", &taken, &said), 2);
    ck_assert_int_eq(said.end, MST_ROWS_CUT_SHORT);
    ck_assert_uint_eq(said.cpu_ns, 1900000000);
    ck_assert_uint_eq(said.cpu_wall_ns, 2 * MST_NS_PER_S);
    ck_assert_uint_eq(taken.totals.failures[MST_FAILURE_TIMEOUT], 1);
    ck_assert_uint_eq(said.bad, 1);
}
END_TEST

START_TEST(test_strange_files)
{
    ck_assert_ptr_null(mst_loadtool_of_rows("root:x:0:0:root:/root:/bin/bash\n"));
    ck_assert_ptr_null(mst_loadtool_of_rows(""));
    ck_assert_ptr_null(mst_loadtool_of_rows("#mpmstat-locust-rows,2,host\n"));
}
END_TEST

int main(void)
{
    Suite *suite = suite_create("generators");
    TCase *tests = tcase_create("clocks"), *rows = tcase_create("files");

    tcase_set_timeout(tests, 60);
    tcase_add_loop_test(tests, test_offset, 0, sizeof clocks / sizeof *clocks);
    tcase_add_test(tests, test_coarse_instants);
    tcase_add_loop_test(tests, test_another_run, 0, 2);
    tcase_add_loop_test(tests, test_unsure, 0, 2);
    tcase_add_test(tests, test_nothing);
    tcase_add_loop_test(rows, test_real_files, 0, sizeof files / sizeof *files);
    tcase_add_loop_test(rows, test_json, 0, 4);
    tcase_add_test(rows, test_dropped);
    tcase_add_test(rows, test_killed_locust);
    tcase_add_test(rows, test_strange_files);
    suite_add_tcase(suite, tests);
    suite_add_tcase(suite, rows);
    return test_run(suite);
}
