/* hey.c - hey: its options, what it prints, its rows.
 *
 * hey prints a summary, or the rows (-o csv) in its place. Any other word behind -o is a template
 * of Go's (text/template) for what it has measured. mpmstat's has the rows, with times in
 * microseconds, and then the summary in hey's own words, so that nothing is hidden: why requests
 * failed, above all. A row's start is an offset from the start of hey's work, which is some
 * milliseconds after that of its process. Requests that failed have no row, and there are a million
 * rows at most: rows are asked for only where the number of requests is known. Times are as
 * measured; at the end of -z, the requests in flight are waited for.
 *
 * -n 20 -c 3 makes 18 requests, the same number on each connection.
 */
#include "loadtools/loadtool.h"

#include <signal.h>
#include <string.h>

#include "base/clock.h"
#include "loadtools/text.h"

#define HEY_REQUESTS   200u                  /* -n, -c, -t, where the user says nothing */
#define HEY_WORKERS    50u
#define HEY_TIMEOUT_S  20u
#define HEY_GRACE_NS   (30 * MST_NS_PER_S)
#define HEY_ROWS_MAX   1000000u              /* as in its source */
#define HEY_STEP_NS    (MST_NS_PER_MS / 10)
#define HEY_TEMPLATE_STEP_NS MST_NS_PER_US
#define HEY_START_STEP_NS (10 * MST_NS_PER_MS)
#define HEY_ROWS_HEADER "response-time,DNS+dialup,DNS,Request-write,Response-delay," \
                        "Response-read,status-code,offset"

#define SECONDS(value) "{{printf \"%.6f\" " value "}}"
#define OF_ROW(list)    SECONDS("(index $." list " $i)")
static const char template[] =
    HEY_ROWS_HEADER "{{range $i, $seconds := .Lats}}\n"
    SECONDS("$seconds") "," OF_ROW("ConnLats") "," OF_ROW("DnsLats") "," OF_ROW("ReqLats") ","
    OF_ROW("DelayLats") "," OF_ROW("ResLats") ",{{index $.StatusCodes $i}}," OF_ROW("Offsets")
    "{{end}}\nSummary:\n  Total:\t" SECONDS(".Total.Seconds") " secs\n"
    "  Slowest:\t" SECONDS(".Slowest") " secs\n  Fastest:\t" SECONDS(".Fastest") " secs\n"
    "  Average:\t" SECONDS(".Average") " secs\n  Requests/sec:\t{{printf \"%.4f\" .Rps}}\n"
    "  Total data:\t{{.SizeTotal}} bytes\n\n"
    /* hey has printf() print it all: a percent sign is two. */
    "Latency distribution:{{range .LatencyDistribution}}\n"
    "  {{.Percentage}}%% in " SECONDS(".Latency") " secs{{end}}\n\n"
    "Status code distribution:{{range $status, $count := .StatusCodeDist}}\n"
    "  [{{$status}}]\t{{$count}} responses{{end}}\n\n"
    "Error distribution:{{range $why, $count := .ErrorDist}}\n"
    "  [{{$count}}]\t{{$why}}{{end}}\n";

static const struct mst_option output = { { "-o" }, true };

static void limits_of_hey(struct mst_plan *plan, char *const *argv)
{
    static const struct mst_option requests = { { "-n" }, true };
    static const struct mst_option workers = { { "-c" }, true };
    static const struct mst_option duration = { { "-z" }, true };
    static const struct mst_option timeout = { { "-t" }, true };
    static const struct mst_option cpus = { { "-cpus" }, true };
    uint64_t duration_ns = mst_option_time(argv, &duration, 1, 0);
    uint64_t timeout_s = mst_option_number(argv, &timeout, HEY_TIMEOUT_S);

    plan->concurrency = plan->connections = mst_option_number(argv, &workers, HEY_WORKERS);
    plan->threads = mst_option_number(argv, &cpus, MST_UNKNOWN);
    if (duration_ns > 0) {
        if (timeout_s > 0 && timeout_s < UINT32_MAX)
            plan->timeout_ns = duration_ns + timeout_s * MST_NS_PER_S + HEY_GRACE_NS;
    } else if (plan->concurrency > 0) {
        plan->requested = mst_option_number(argv, &requests, HEY_REQUESTS);
        plan->requested -= plan->requested % plan->concurrency;
    }
}

static int prepare_hey(struct mst_plan *plan, char *const *argv, int rows_fd,
                       char error[MST_ERROR_MAX])
{
    static const char *const insert[] = { "-o", template, NULL };
    const char *format = mst_option(argv, &output);
    struct mst_plan known = { .requested = MST_UNKNOWN };
    bool add;

    limits_of_hey(&known, argv);
    add = rows_fd >= 0 && format == NULL && known.requested <= HEY_ROWS_MAX;
    if (mst_plan_init(plan, argv, 0, add ? insert : NULL, error) != 0 ||
        (add && mst_plan_call_added(plan, "-o (a template of rows and summary)", error) != 0))
        return -1;
    limits_of_hey(plan, argv);
    plan->stop_signal = SIGINT;
    if (add || (format != NULL && strcmp(format, "csv") == 0))
        plan->rows = MST_ROWS_ON_STDOUT;
    plan->row_start_step_ns = HEY_START_STEP_NS;
    plan->row_time_step_ns = add ? HEY_TEMPLATE_STEP_NS : HEY_STEP_NS;
    return 0;
}

/* ---- what it prints -------------------------------------------------------------- */

/* The next line that begins with "  [", behind the bracket; empty: the list has ended. */
static struct mst_output_text next_item(struct mst_output_text *in)
{
    const char *eol = memchr(in->at, '\n', (size_t)(in->end - in->at));
    struct mst_output_text item = { in->end, in->end };

    if (eol != NULL && eol - in->at > 3 && memcmp(in->at, "  [", 3) == 0) {
        item = (struct mst_output_text){ in->at + 3, eol };
        in->at = eol + 1;
    }
    return item;
}

/* "  [404]\t4 responses" */
static void parse_statuses(struct mst_client_result *r, struct mst_output_text in)
{
    struct mst_output_text item;
    uint64_t status, count;

    r->requests = r->non_2xx = 0;
    while (item = next_item(&in), !mst_text_is_empty(item)) {
        status = mst_text_number(item, 1, NULL);
        count = mst_text_number(mst_text_behind(item, "]"), 1, NULL);
        if (status == MST_UNKNOWN || count == MST_UNKNOWN) {
            r->requests = MST_UNKNOWN;
            return;
        }
        r->requests += count;
        r->non_2xx += status < 200 || status > 299 ? count : 0;
    }
}

/* "  [6]\tGet "http://127.0.0.1:1/": dial tcp ...: connect: connection refused" */
static void parse_errors(struct mst_client_result *r, struct mst_output_text in)
{
    struct mst_output_text item, why;
    uint64_t count;

    mst_client_result_add_failures(r, MST_FAILURE_OTHER, 0);   /* none so far */
    while (item = next_item(&in), !mst_text_is_empty(item)) {
        count = mst_text_number(item, 1, NULL);
        if (count == MST_UNKNOWN)
            return;
        why = mst_text_behind(item, "\": ");   /* behind the URL, which can be like anything */
        mst_client_result_add_failures(r, mst_failure_of(why.at, (size_t)(why.end - why.at)),
                                       count);
    }
}

static uint64_t seconds(struct mst_output_text in, const char *name)
{
    return mst_text_number(mst_text_line(in, name), MST_NS_PER_S, NULL);
}

static int parse_hey(struct mst_client_result *r, const struct mst_plan *plan,
                     const struct mst_printed *printed, char error[MST_ERROR_MAX])
{
    struct mst_output_text all = { printed->out, printed->out + printed->out_n };
    struct mst_output_text in = mst_text_from_last(all, "Summary:");
    struct mst_output_text statuses = mst_text_behind(in, "\nStatus code distribution:\n");

    mst_client_result_init(r);
    parse_statuses(r, statuses);
    if (mst_text_is_empty(statuses) || r->requests == MST_UNKNOWN)
        return mst_fail(error, "hey printed no %s", plan->rows == MST_ROWS_ON_STDOUT ? "rows"
                                                                                     : "results");
    parse_errors(r, mst_text_behind(statuses, "\nError distribution:\n"));
    r->concurrency = plan->concurrency;
    r->duration_ns = seconds(in, "Total:");
    r->requests_per_1000s = mst_text_number(mst_text_line(in, "Requests/sec:"), 1000, NULL);
    r->bytes = mst_text_number(mst_text_line(in, "Total data:"), 1, NULL);
    if (r->requests > 0) {
        r->mean_ns = seconds(in, "Average:");
        r->max_ns = seconds(in, "Slowest:");
        r->p50_ns = seconds(in, "50% in ");
        r->p90_ns = seconds(in, "90% in ");
        r->p99_ns = seconds(in, "99% in ");
        r->time_step_ns = plan->row_time_step_ns;
    }
    if (plan->requested != MST_UNKNOWN && plan->requested >= r->requests + r->failed)
        r->unfinished = plan->requested - r->requests - r->failed;
    r->corrected = 0;
    return 0;
}

/* ---- its rows -------------------------------------------------------------------- */

static int read_hey_header(struct mst_row_reader *reader, char *line, char error[MST_ERROR_MAX])
{
    (void)reader;
    if (strcmp(line, HEY_ROWS_HEADER) == 0)
        return 0;
    return mst_fail(error, "what hey printed has no rows: its first line should be \""
                    HEY_ROWS_HEADER "\"");
}

static int read_hey_row(struct mst_row_reader *reader, struct mst_client_row *row, char *line)
{
    uint64_t values[8];   /* in the header's order */
    size_t i;

    if (line != NULL && strcmp(line, "Summary:") == 0)
        reader->said.end = MST_ROWS_ENDED;
    if (line == NULL || reader->said.end == MST_ROWS_ENDED)
        return 0;
    for (i = 0; i < 8; i++) {
        values[i] = mst_field_number(mst_field(&line, ','), i == 6 ? 1 : MST_NS_PER_S);
        if (values[i] == MST_UNKNOWN)
            return -1;
    }
    if (line != NULL)
        return -1;
    row->start_ns = reader->started_ns + values[7];
    row->duration_ns = values[0];
    row->connect_ns = values[1];
    row->wait_ns = values[4];
    row->status = values[6];
    return 1;
}

static const struct mst_level_flag level_flags[] = {
    { { { "-c" }, true }, "{clients}", 0 },
    { { { "-z" }, true }, "{seconds}s", 0 },
    { { { "-n" }, true }, NULL, 0 },
    { .value = NULL },
};

const struct mst_loadtool mst_loadtool_hey = {
    .name = "hey",
    .package = "hey",
    .rows_omit_failures = true,
    .follows_redirects = true,
    .failure_mark = "Error distribution:\n",
    .level_flags = level_flags,
    .prepare = prepare_hey,
    .parse = parse_hey,
    .read_header = read_hey_header,
    .read_row = read_hey_row,
};
