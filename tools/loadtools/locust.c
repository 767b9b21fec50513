/* locust.c - Locust: its options and what it prints (--json).
 *
 * It writes no rows; mpmstat_rows.py, a locustfile of mpmstat's, does so in each of its processes,
 * for mpmstat import. The JSON on stdout has, for each name and method of a request,
 * sums and a table of how many requests took how long, rounded to two figures (and
 * whole milliseconds): the percentiles here are of that table, the mean and the
 * longest are exact. Times are as measured.
 *
 * Its "requests" include the failed ones, and its failures are answers with 4xx and
 * 5xx (unless the script says otherwise) and requests without an answer alike. It
 * leaves what is in flight at the end of its time. Only with --headless does it end
 * by itself; exit status 1 then says that there were failures (or that it could not
 * run at all).
 */
#include "loadtools/loadtool.h"

#include <jansson.h>
#include <signal.h>
#include <stdlib.h>
#include <string.h>

#include "base/clock.h"
#include "loadtools/text.h"

#define LOCUST_FAILURES  1u
#define LOCUST_GRACE_NS  (120 * MST_NS_PER_S)   /* users start and stop, statistics */
#define LOCUST_TIMES_MAX 4096u                  /* different rounded times */

static int prepare_locust(struct mst_plan *plan, char *const *argv, int rows_fd,
                          char error[MST_ERROR_MAX])
{
    static const struct mst_option headless = { { "--headless" }, false };
    static const struct mst_option json = { { "--json" }, false };
    static const struct mst_option users = { { "--users", "-u" }, false };
    static const struct mst_option duration = { { "--run-time", "-t" }, false };
    static const struct mst_option processes = { { "--processes" }, false };
    static const char *const insert[] = { "--json", NULL };
    bool add = rows_fd >= 0 && mst_option_given(argv, &headless) &&
               !mst_option_given(argv, &json);
    uint64_t duration_ns = mst_option_time(argv, &duration, MST_NS_PER_S, 0);

    if (mst_plan_init(plan, argv, 0, add ? insert : NULL, error) != 0)
        return -1;
    plan->added_for = "its results in a form that can be read";
    plan->stop_signal = SIGINT;
    plan->unhappy_status = LOCUST_FAILURES;
    plan->concurrency = mst_option_number(argv, &users, MST_UNKNOWN);
    plan->threads = mst_option(argv, &processes) == NULL ? 1 :
                    mst_option_number(argv, &processes, MST_UNKNOWN);
    plan->abandons = duration_ns > 0;
    if (duration_ns > 0)
        plan->timeout_ns = duration_ns + LOCUST_GRACE_NS;
    return 0;
}

/* ---- what it prints -------------------------------------------------------------- */

/* The table of times of all entries together. */
struct times {
    size_t   count;
    uint64_t total;
    struct { uint64_t ms, requests; } items[LOCUST_TIMES_MAX];
};

static void add_time(struct times *t, uint64_t ms, uint64_t requests)
{
    size_t i;

    t->total += requests;
    for (i = 0; i < t->count && t->items[i].ms != ms; i++)
        ;
    if (i == LOCUST_TIMES_MAX)
        return;
    if (i == t->count) {
        t->items[t->count].ms = ms;
        t->items[t->count++].requests = 0;
    }
    t->items[i].requests += requests;
}

static int by_time(const void *a, const void *b)
{
    const uint64_t *x = a, *y = b;

    return (*x > *y) - (*x < *y);
}

/* Nearest rank. The items are sorted. */
static uint64_t quantile(const struct times *t, uint64_t percent)
{
    uint64_t rank = (uint64_t)(((unsigned __int128)t->total * percent + 99) / 100), seen = 0;
    size_t i;

    for (i = 0; i < t->count; i++) {
        seen += t->items[i].requests;
        if (seen >= rank)
            return t->items[i].ms * MST_NS_PER_MS;
    }
    return MST_UNKNOWN;
}

/* What all entries come to. */
struct sums { double total_ms, max_ms, bytes, requests, failures, from_s, to_s; };

static void add_entry(struct sums *s, struct times *t, const json_t *entry)
{
    double from_s = json_number_value(json_object_get(entry, "start_time"));
    double to_s = json_number_value(json_object_get(entry, "last_request_timestamp"));
    double max_ms = json_number_value(json_object_get(entry, "max_response_time"));
    const char *ms;
    json_t *count;

    s->requests += json_number_value(json_object_get(entry, "num_requests"));
    s->failures += json_number_value(json_object_get(entry, "num_failures"));
    s->total_ms += json_number_value(json_object_get(entry, "total_response_time"));
    s->bytes += json_number_value(json_object_get(entry, "total_content_length"));
    s->max_ms = max_ms > s->max_ms ? max_ms : s->max_ms;
    s->to_s = to_s > s->to_s ? to_s : s->to_s;
    if (from_s > 0 && (s->from_s <= 0 || from_s < s->from_s))
        s->from_s = from_s;
    json_object_foreach(json_object_get(entry, "response_times"), ms, count)
        if (json_integer_value(count) > 0)
            add_time(t, mst_field_number(ms, 1), (uint64_t)json_integer_value(count));
}

static uint64_t whole(double number)
{
    return number >= 0 && number < 9e15 ? (uint64_t)(number + 0.5) : MST_UNKNOWN;
}

/* To two figures, and no finer than a millisecond. */
static uint64_t rounding(double max_ms)
{
    uint64_t step = 1;

    while (max_ms >= 100 && step < 1000) {
        max_ms /= 10;
        step *= 10;
    }
    return step * MST_NS_PER_MS;
}

static void fill_locust(struct mst_client_result *r, struct times *t, const struct sums *s)
{
    r->requests = whole(s->requests);
    r->failed = whole(s->failures);
    r->bytes = whole(s->bytes);
    r->corrected = 0;
    if (s->to_s > s->from_s && s->from_s > 0) {
        r->duration_ns = whole((s->to_s - s->from_s) * 1e9);
        r->requests_per_1000s = whole(s->requests * 1000 / (s->to_s - s->from_s));
    }
    if (s->requests < 1)
        return;
    if (t->count > 0)
        qsort(t->items, t->count, sizeof *t->items, by_time);
    r->mean_ns = whole(s->total_ms / s->requests * 1e6);
    r->max_ns = whole(s->max_ms * 1e6);
    r->p50_ns = quantile(t, 50);
    r->p90_ns = quantile(t, 90);
    r->p99_ns = quantile(t, 99);
    r->time_step_ns = rounding(s->max_ms);
}

/* The array begins a line; before it can be what the script prints. */
static json_t *find_json(const struct mst_printed *printed)
{
    struct mst_output_text all = { printed->out, printed->out + printed->out_n };
    struct mst_output_text in = mst_text_from_last(all, "[\n");
    json_error_t where;

    if (mst_text_is_empty(in))
        in = mst_text_from_last(all, "[]");
    return json_loadb(in.at, (size_t)(in.end - in.at), JSON_DISABLE_EOF_CHECK, &where);
}

static int parse_locust(struct mst_client_result *r, const struct mst_plan *plan,
                        const struct mst_printed *printed, char error[MST_ERROR_MAX])
{
    json_t *root = find_json(printed), *entry;
    struct times *times = calloc(1, sizeof *times);
    struct sums sums = { 0 };
    bool found = json_is_array(root) && times != NULL;
    size_t i;

    mst_client_result_init(r);
    if (found) {
        json_array_foreach(root, i, entry)
            add_entry(&sums, times, entry);
        fill_locust(r, times, &sums);
        r->concurrency = plan->concurrency;
    } else {
        snprintf(error, MST_ERROR_MAX, "Locust printed no results that can be read: --headless "
                 "--json would");
    }
    free(times);
    json_decref(root);
    return found ? 0 : -1;
}

/* ---- the rows of mpmstat_rows.py ------------------------------------------------- */

/* A line for each request: r,START_NS,DURATION_NS,STATUS,FAILURE,ID; about every second, and at the
 * end, one with the CPU time that the process has used: c,TIME_NS,CPU_NS and e,TIME_NS,CPU_NS. */
enum field { KIND, START, DURATION, STATUS, FAILURE, ID, FIELDS };

static int read_rows_header(struct mst_row_reader *reader, char *line, char error[MST_ERROR_MAX])
{
    if (strncmp(line, MST_LOCUST_ROWS, sizeof MST_LOCUST_ROWS - 1) != 0)
        return mst_fail(error, "the file's first line should begin with " MST_LOCUST_ROWS);
    reader->said.start_step_ns = MST_NS_PER_US;   /* Python's clock is a double */
    reader->said.end = MST_ROWS_CUT_SHORT;
    return 0;
}

/* From the first such line to the last. Its columns keep the first. */
static int take_cpu(struct mst_row_reader *reader, char *const fields[FIELDS])
{
    uint64_t at = mst_field_integer(fields[START]), cpu = mst_field_integer(fields[DURATION]);

    if (at == MST_UNKNOWN || cpu == MST_UNKNOWN)
        return -1;
    if (!reader->has_row) {
        reader->columns[0] = at;
        reader->columns[1] = cpu;
        reader->has_row = true;
    }
    if (at >= reader->columns[0] && cpu >= reader->columns[1]) {
        reader->said.cpu_wall_ns = at - reader->columns[0];
        reader->said.cpu_ns = cpu - reader->columns[1];
    }
    if (fields[KIND][0] == 'e')
        reader->said.end = MST_ROWS_ENDED;
    return 0;
}

static enum mst_failure failure_of(const char *word)
{
    return strcmp(word, "connect") == 0 ? MST_FAILURE_CONNECT :
           strcmp(word, "receive") == 0 ? MST_FAILURE_RECEIVE :
           strcmp(word, "timeout") == 0 ? MST_FAILURE_TIMEOUT : MST_FAILURE_OTHER;
}

static int read_rows_row(struct mst_row_reader *reader, struct mst_client_row *row, char *line)
{
    char *fields[FIELDS] = { NULL };
    size_t i;

    if (line == NULL)
        return 0;
    for (i = 0; i < FIELDS && (fields[i] = mst_field(&line, ',')) != NULL; i++)
        ;
    if (i == 3 && (fields[KIND][0] == 'c' || fields[KIND][0] == 'e'))
        return take_cpu(reader, fields);
    if (i < FIELDS || strcmp(fields[KIND], "r") != 0)
        return -1;
    row->start_ns = mst_field_integer(fields[START]);
    row->duration_ns = mst_field_integer(fields[DURATION]);
    row->status = mst_field_integer(fields[STATUS]);
    row->failure = failure_of(fields[FAILURE]);
    row->client_id = mst_field_integer(fields[ID]);
    return row->start_ns == MST_UNKNOWN || row->duration_ns == MST_UNKNOWN ||
           row->status == MST_UNKNOWN ? -1 : 1;
}

const struct mst_loadtool mst_loadtool_locust_rows = {
    .name = "locust rows",
    .read_header = read_rows_header,
    .read_row = read_rows_row,
};

/* All users begin at once. */
static const struct mst_level_flag level_flags[] = {
    { { { "-u", "--users" }, false }, "{clients}", 0 },
    { { { "-r", "--spawn-rate" }, false }, "{clients}", 0 },
    { { { "-t", "--run-time" }, false }, "{seconds}s", 0 },
    { { { "--headless" }, false }, "", 0 },
    { .value = NULL },
};

const struct mst_loadtool mst_loadtool_locust = {
    .name = "locust",
    .version_flag = "--version",
    .follows_redirects = true,
    .failed_from_status = 400,
    .failed_among = MST_FAILED_AMONG,
    .level_flags = level_flags,
    .prepare = prepare_locust,
    .parse = parse_locust,
};
