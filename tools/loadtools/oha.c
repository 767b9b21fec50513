/* oha.c - oha: its options, what it prints (JSON), its rows (CSV).
 *
 * Either comes on stdout. A row's start is an offset from the start of oha's work,
 * which is some milliseconds after that of its process; times are in nanoseconds.
 * Requests that failed have no row: so rows are asked for only where the number of
 * requests is known, since then what has no row has failed. With -z the JSON tells
 * more. Requests in flight at its end are aborted (unless told -w) and counted as
 * "aborted due to deadline", which is not a failure.
 *
 * With --latency-correction (and -q) a time counts from when the request should
 * have been sent; its row's start does not. A redirect that oha follows is no
 * request of its own.
 */
#include "loadtools/loadtool.h"

#include <jansson.h>
#include <signal.h>
#include <string.h>

#include "base/clock.h"
#include "loadtools/text.h"

#define OHA_REQUESTS    200u                  /* -n and -c, where the user says nothing */
#define OHA_CONNECTIONS 50u
#define OHA_GRACE_NS    (60 * MST_NS_PER_S)
#define OHA_START_STEP_NS (10 * MST_NS_PER_MS)
#define OHA_DEADLINE    "aborted due to deadline"
#define OHA_ROWS_HEADER "request-start,DNS,DNS+dialup,Response-delay,request-duration,bytes,status"

/* "200", "10k", "1.5m": thousands, millions. */
static uint64_t requests(char *const *argv)
{
    static const struct mst_option option = { { "-n" }, false };
    const char *value = mst_option(argv, &option);
    struct mst_output_text behind;
    uint64_t thousandths, factor;

    if (value == NULL)
        return OHA_REQUESTS;
    thousandths = mst_text_number((struct mst_output_text){ value, value + strlen(value) }, 1000,
                                  &behind);
    if (thousandths == MST_UNKNOWN)
        return MST_UNKNOWN;
    factor = mst_text_is_empty(behind) ? 1 : *behind.at == 'k' || *behind.at == 'K' ? 1000 :
             *behind.at == 'm' || *behind.at == 'M' ? 1000000 : 0;
    if (factor == 0 || thousandths > MST_UNKNOWN / 1000000 / 2)
        return MST_UNKNOWN;
    return thousandths * factor / 1000;
}

static void limits_of_oha(struct mst_plan *plan, char *const *argv)
{
    static const struct mst_option connections = { { "-c" }, false };
    static const struct mst_option parallel = { { "-p" }, false };
    static const struct mst_option duration = { { "-z" }, false };
    static const struct mst_option wait = { { "-w", "--wait-ongoing-requests-after-deadline" },
                                            false };
    static const struct mst_option correction = { { "--latency-correction" }, false };
    uint64_t duration_ns = mst_option_time(argv, &duration, MST_NS_PER_S, 0);
    uint64_t per_connection = mst_option_number(argv, &parallel, 1);

    plan->concurrency = plan->connections = mst_option_number(argv, &connections, OHA_CONNECTIONS);
    if (per_connection > 0 && per_connection < UINT32_MAX && plan->concurrency < UINT32_MAX)
        plan->concurrency *= per_connection;
    plan->corrected = mst_option_given(argv, &correction);
    if (mst_option(argv, &duration) == NULL) {
        plan->requested = requests(argv);
    } else if (!mst_option_given(argv, &wait)) {
        plan->abandons = true;
        plan->timeout_ns = duration_ns > 0 ? duration_ns + OHA_GRACE_NS : 0;
    }
}

static int prepare_oha(struct mst_plan *plan, char *const *argv, int rows_fd,
                       char error[MST_ERROR_MAX])
{
    static const struct mst_option format = { { "--output-format" }, false };
    static const struct mst_option output = { { "--output", "-o" }, false };
    static const struct mst_option old_json = { { "--json", "-j" }, false };
    const char *chosen = mst_option(argv, &format);
    struct mst_plan known = { .requested = MST_UNKNOWN };
    const char *insert[] = { "--output-format", "json", NULL };
    bool add = rows_fd >= 0 && chosen == NULL && !mst_option_given(argv, &old_json) &&
               mst_option(argv, &output) == NULL;

    limits_of_oha(&known, argv);
    if (known.requested != MST_UNKNOWN)
        insert[1] = "csv";
    if (mst_plan_init(plan, argv, 0, add ? insert : NULL, error) != 0)
        return -1;
    limits_of_oha(plan, argv);
    if (add)
        chosen = insert[1];
    if (add && strcmp(chosen, "json") == 0)
        plan->added_for = "its results in a form that can be read";
    plan->stop_signal = SIGINT;
    plan->row_start_step_ns = OHA_START_STEP_NS;
    plan->row_time_step_ns = 1;
    if (chosen == NULL || strcmp(chosen, "csv") != 0)
        return 0;
    if (mst_option(argv, &output) != NULL)
        return mst_plan_rows_at(plan, mst_option(argv, &output), error);
    plan->rows = MST_ROWS_ON_STDOUT;
    return 0;
}

/* ---- what it prints -------------------------------------------------------------- */

/* Seconds, or what it counts a second, in units of 1/scale. */
static uint64_t number(const json_t *object, const char *name, double scale)
{
    const json_t *value = json_object_get(object, name);
    double number = json_number_value(value) * scale;

    return json_is_number(value) && number >= 0 && number < 9e15 ? (uint64_t)(number + 0.5) :
           MST_UNKNOWN;
}

static void add_statuses(struct mst_client_result *r, json_t *statuses)
{
    const char *status;
    json_t *count;

    r->requests = r->non_2xx = 0;
    json_object_foreach(statuses, status, count) {
        r->requests += (uint64_t)json_integer_value(count);
        if (status[0] != '2')
            r->non_2xx += (uint64_t)json_integer_value(count);
    }
}

static void add_errors(struct mst_client_result *r, json_t *errors)
{
    const char *why;
    json_t *count;

    mst_client_result_add_failures(r, MST_FAILURE_OTHER, 0);
    json_object_foreach(errors, why, count)
        if (strcmp(why, OHA_DEADLINE) != 0)
            mst_client_result_add_failures(r, mst_failure_of(why, strlen(why)),
                                           (uint64_t)json_integer_value(count));
}

static void fill_oha(struct mst_client_result *r, const struct mst_plan *plan, const json_t *root)
{
    const json_t *summary = json_object_get(root, "summary");
    const json_t *percentiles = json_object_get(root, "latencyPercentiles");

    add_statuses(r, json_object_get(root, "statusCodeDistribution"));
    add_errors(r, json_object_get(root, "errorDistribution"));
    r->concurrency = plan->concurrency;
    r->duration_ns = number(summary, "total", 1e9);
    r->bytes = number(summary, "totalData", 1);
    r->requests_per_1000s = number(summary, "requestsPerSec", 1000);
    if (plan->requested != MST_UNKNOWN && plan->requested >= r->requests + r->failed)
        r->unfinished = plan->requested - r->requests - r->failed;
    r->mean_ns = number(summary, "average", 1e9);
    r->max_ns = number(summary, "slowest", 1e9);
    r->p50_ns = number(percentiles, "p50", 1e9);
    r->p90_ns = number(percentiles, "p90", 1e9);
    r->p99_ns = number(percentiles, "p99", 1e9);
    r->time_step_ns = 1;
    r->corrected = plan->corrected;
}

static int parse_oha(struct mst_client_result *r, const struct mst_plan *plan,
                     const struct mst_printed *printed, char error[MST_ERROR_MAX])
{
    json_error_t where;
    json_t *root = json_loadb(printed->out, printed->out_n, 0, &where);
    bool found = json_is_object(json_object_get(root, "statusCodeDistribution")) &&
                 json_is_object(json_object_get(root, "errorDistribution"));

    mst_client_result_init(r);
    if (found)
        fill_oha(r, plan, root);
    else
        snprintf(error, MST_ERROR_MAX, "oha printed no results that can be read: "
                 "--output-format json or csv would");
    json_decref(root);
    return found ? 0 : -1;
}

/* ---- its rows -------------------------------------------------------------------- */

static int read_oha_header(struct mst_row_reader *reader, char *line, char error[MST_ERROR_MAX])
{
    (void)reader;
    if (strcmp(line, OHA_ROWS_HEADER) == 0)
        return 0;
    return mst_fail(error, "what oha wrote has no rows: its first line should be \""
                    OHA_ROWS_HEADER "\"");
}

static int read_oha_row(struct mst_row_reader *reader, struct mst_client_row *row, char *line)
{
    uint64_t values[7];   /* in the header's order */
    size_t i;

    if (line == NULL)
        return 0;
    for (i = 0; i < 7; i++) {
        values[i] = mst_field_number(mst_field(&line, ','), i >= 5 ? 1 : MST_NS_PER_S);
        if (values[i] == MST_UNKNOWN)
            return -1;
    }
    if (line != NULL)
        return -1;
    row->start_ns = reader->started_ns + values[0];
    row->connect_ns = values[2];
    row->wait_ns = values[3];
    row->duration_ns = values[4];
    row->status = values[6];
    return 1;
}

static const struct mst_level_flag level_flags[] = {
    { { { "-c" }, false }, "{clients}", 0 },
    { { { "-z" }, false }, "{seconds}s", 0 },
    { { { "-n" }, false }, NULL, 0 },
    { .value = NULL },
};

const struct mst_loadtool mst_loadtool_oha = {
    .name = "oha",
    .version_flag = "--version",
    .rows_omit_failures = true,
    .follows_redirects = true,
    .failure_mark = "\"errorDistribution\": {\n",
    .level_flags = level_flags,
    .prepare = prepare_oha,
    .parse = parse_oha,
    .read_header = read_oha_header,
    .read_row = read_oha_row,
};
