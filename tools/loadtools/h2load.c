/* h2load.c - h2load: its options, what it prints, its rows (--log-file).
 *
 * A row is a request's start and duration in microseconds, both measured, and the
 * status (-1: a stream that failed). Requests that died with their connection, and
 * those that were never sent because of it, have no row; the summary counts them
 * as errored. The file is appended to: rows from before the run are an earlier one's.
 *
 * "failed" in its summary includes answers with 4xx and 5xx; "errored" are those
 * without an answer, and of these some are "timeout". Its times of requests are as
 * measured. With -D what is in flight at the end is abandoned.
 */
#include "loadtools/loadtool.h"

#include <signal.h>
#include <string.h>

#include "base/clock.h"
#include "loadtools/text.h"

#define H2LOAD_THREADS  1u
#define H2LOAD_GRACE_NS (60 * MST_NS_PER_S)

static void limits_of_h2load(struct mst_plan *plan, char *const *argv)
{
    static const struct mst_option requests = { { "--requests", "-n" }, false };
    static const struct mst_option clients = { { "--clients", "-c" }, false };
    static const struct mst_option streams = { { "--max-concurrent-streams", "-m" }, false };
    static const struct mst_option threads = { { "--threads", "-t" }, false };
    static const struct mst_option duration = { { "--duration", "-D" }, false };
    static const struct mst_option warm_up = { { "--warm-up-time" }, false };
    static const struct mst_option script = { { "--timing-script-file" }, false };
    uint64_t duration_ns = mst_option_time(argv, &duration, MST_NS_PER_S, 0);
    uint64_t per_client = mst_option_number(argv, &streams, 1);

    plan->concurrency = plan->connections = mst_option_number(argv, &clients, 1);
    if (per_client > 0 && per_client < UINT32_MAX && plan->concurrency < UINT32_MAX)
        plan->concurrency *= per_client;
    plan->threads = mst_option_number(argv, &threads, H2LOAD_THREADS);
    if (duration_ns > 0) {
        plan->abandons = true;
        plan->timeout_ns = duration_ns + mst_option_time(argv, &warm_up, MST_NS_PER_S, 0) +
                           H2LOAD_GRACE_NS;
    } else if (mst_option(argv, &script) == NULL) {
        plan->requested = mst_option_number(argv, &requests, 1);
    }
}

static int prepare_h2load(struct mst_plan *plan, char *const *argv, int rows_fd,
                          char error[MST_ERROR_MAX])
{
    static const struct mst_option log = { { "--log-file" }, false };
    const char *path = mst_option(argv, &log);
    bool add = rows_fd >= 0 && path == NULL;
    char flag[48];
    const char *const insert[] = { flag, NULL };

    snprintf(flag, sizeof flag, "--log-file=/dev/fd/%d", rows_fd);
    if (mst_plan_init(plan, argv, 0, add ? insert : NULL, error) != 0)
        return -1;
    plan->rows = add ? MST_ROWS_IN_FD : MST_ROWS_NONE;
    plan->row_start_step_ns = plan->row_time_step_ns = MST_NS_PER_US;
    plan->stop_signal = SIGINT;
    limits_of_h2load(plan, argv);
    return path != NULL ? mst_plan_rows_at(plan, path, error) : 0;
}

/* ---- what it prints -------------------------------------------------------------- */

/* Sums up "8 2xx, 0 3xx, 4 4xx, 0 5xx". */
static void parse_statuses(struct mst_client_result *r, struct mst_output_text line)
{
    static const char *const classes[] = { " 2xx", " 3xx", " 4xx", " 5xx" };
    uint64_t counts[4], i;

    for (i = 0; i < 4; i++) {
        counts[i] = mst_text_number_before(line, classes[i]);
        if (counts[i] == MST_UNKNOWN)
            return;
    }
    r->non_2xx = counts[1] + counts[2] + counts[3];
    r->requests = counts[0] + r->non_2xx;
}

static void parse_failures(struct mst_client_result *r, struct mst_output_text line)
{
    uint64_t total = mst_text_number_before(line, " total"), left;

    r->failed = mst_text_number_before(line, " errored");
    r->failed_timeout = mst_text_number_before(line, " timeout");
    if (r->failed == 0)
        r->failed_connect = r->failed_receive = r->failed_length = r->failed_other = 0;
    if (total == MST_UNKNOWN || r->failed == MST_UNKNOWN)
        return;
    left = r->requests + r->failed;
    r->unfinished = total > left ? total - left : 0;
}

/* A table whose columns differ by version: a line with their names, a line with
 * the times. */
static void parse_times(struct mst_client_result *r, struct mst_output_text in)
{
    const struct { const char *name; uint64_t *time; } columns[] = {
        { "max", &r->max_ns }, { "mean", &r->mean_ns }, { "median", &r->p50_ns },
        { "p90", &r->p90_ns }, { "p99", &r->p99_ns },
    };
    struct mst_output_text names = mst_text_line(in, "min "), name;
    struct mst_output_text times = mst_text_line(in, "time for request:"), time;
    uint64_t step;
    size_t i;

    mst_text_word(&times);   /* the shortest */
    while (name = mst_text_word(&names), time = mst_text_word(&times),
           !mst_text_is_empty(name) && !mst_text_is_empty(time))
        for (i = 0; i < sizeof columns / sizeof *columns; i++)
            if ((size_t)(name.end - name.at) == strlen(columns[i].name) &&
                memcmp(name.at, columns[i].name, strlen(columns[i].name)) == 0) {
                *columns[i].time = mst_text_time(time, 1, &step);
                if (columns[i].time == &r->mean_ns)
                    r->time_step_ns = step < MST_NS_PER_US ? MST_NS_PER_US : step;
            }
}

static int parse_h2load(struct mst_client_result *r, const struct mst_plan *plan,
                        const struct mst_printed *printed, char error[MST_ERROR_MAX])
{
    struct mst_output_text all = { printed->out, printed->out + printed->out_n }, line;
    struct mst_output_text in = mst_text_from_last(all, "finished in ");

    mst_client_result_init(r);
    parse_statuses(r, mst_text_line(in, "status codes:"));
    if (r->requests == MST_UNKNOWN)
        return mst_fail(error, "h2load printed no results");
    parse_failures(r, mst_text_line(in, "requests:"));
    line = mst_text_line(in, "finished in ");
    r->duration_ns = mst_text_time(line, 1, NULL);
    r->requests_per_1000s = mst_text_number(mst_text_behind(line, ", "), 1000, NULL);
    r->bytes = mst_text_number(mst_text_behind(mst_text_line(in, "traffic:"), "("), 1, NULL);
    r->concurrency = plan->concurrency;
    r->corrected = 0;
    if (r->requests > 0)
        parse_times(r, in);
    return 0;
}

/* ---- its rows -------------------------------------------------------------------- */

static int read_h2load_row(struct mst_row_reader *reader, struct mst_client_row *row, char *line)
{
    const uint64_t most = UINT64_MAX / MST_NS_PER_US / 4;
    uint64_t start_us, duration_us;
    char *status;

    if (line == NULL)
        return 0;
    start_us = mst_field_integer(mst_field(&line, '\t'));
    status = mst_field(&line, '\t');
    duration_us = mst_field_integer(mst_field(&line, '\t'));
    if (status == NULL || start_us > most || duration_us > most)
        return -1;
    row->start_ns = start_us * MST_NS_PER_US;
    row->duration_ns = duration_us * MST_NS_PER_US;
    row->status = strcmp(status, "-1") == 0 ? MST_NO_ANSWER : mst_field_integer(status);
    if (row->status == MST_UNKNOWN)
        return -1;
    return row->start_ns >= reader->started_ns;
}

/* It takes no more threads than clients. */
static const struct mst_level_flag level_flags[] = {
    { { { "-c", "--clients" }, false }, "{clients}", 0 },
    { { { "-D", "--duration" }, false }, "{seconds}", 0 },
    { { { "-t", "--threads" }, false }, "{threads}", H2LOAD_THREADS },
    { { { "-n", "--requests" }, false }, NULL, 0 },
    { .value = NULL },
};

const struct mst_loadtool mst_loadtool_h2load = {
    .name = "h2load",
    .package = "nghttp2-client",
    .version_flag = "--version",
    .level_flags = level_flags,
    .prepare = prepare_h2load,
    .parse = parse_h2load,
    .read_row = read_h2load_row,
};
