/* wrk.c - wrk: its options and what it prints.
 *
 * It writes no rows. Percentiles come with --latency. Its latencies are corrected
 * for coordinated omission: where a request took twice the mean interval between
 * a connection's requests or more, wrk adds the ones that would have been sent
 * meanwhile (stats_correct), to the mean and the percentiles alike. Where no
 * request took that long the times are as measured.
 *
 * "requests" are answers, whatever their status. A "timeout" is an answer, too,
 * later than --timeout: it is among the requests, and missing from the latencies. A
 * "read" error can be a connection that the server closed after its last answer.
 * Times are printed with three to five figures. A test is for a time: what is in
 * flight at its end is abandoned.
 */
#include "loadtools/loadtool.h"

#include <signal.h>

#include "base/clock.h"
#include "loadtools/text.h"

#define WRK_CONNECTIONS 10u
#define WRK_THREADS   2u
#define WRK_SECONDS   10u                   /* -d and --timeout, where the user says nothing */
#define WRK_TIMEOUT_S 2u
#define WRK_GRACE_NS  (30 * MST_NS_PER_S)
#define WRK_CLOCK_NS  MST_NS_PER_US

static int prepare_wrk(struct mst_plan *plan, char *const *argv, int rows_fd,
                       char error[MST_ERROR_MAX])
{
    static const struct mst_option latency = { { "--latency", "-L" }, false };
    static const struct mst_option duration = { { "--duration", "-d" }, false };
    static const struct mst_option timeout = { { "--timeout", "-T" }, false };
    static const struct mst_option threads = { { "--threads", "-t" }, false };
    static const struct mst_option connections = { { "--connections", "-c" }, false };
    static const char *const insert[] = { "--latency", NULL };
    bool add = rows_fd >= 0 && !mst_option_given(argv, &latency);

    if (mst_plan_init(plan, argv, 0, add ? insert : NULL, error) != 0)
        return -1;
    plan->added_for = "its percentiles";
    plan->stop_signal = SIGINT;
    plan->threads = mst_option_number(argv, &threads, WRK_THREADS);
    plan->connections = mst_option_number(argv, &connections, WRK_CONNECTIONS);
    plan->abandons = true;
    plan->timeout_ns = mst_option_time(argv, &duration, MST_NS_PER_S, WRK_SECONDS * MST_NS_PER_S) +
                       mst_option_time(argv, &timeout, MST_NS_PER_S,
                                       WRK_TIMEOUT_S * MST_NS_PER_S) + WRK_GRACE_NS;
    return 0;
}

/* "    Latency   192.79us    1.17ms  16.74ms   98.35%": mean, deviation, longest. */
static void parse_latency(struct mst_client_result *r, struct mst_output_text in)
{
    struct mst_output_text line = mst_text_line(in, "Latency  ");
    struct mst_output_text mean = mst_text_word(&line), longest;
    uint64_t max_ns;

    mst_text_word(&line);
    longest = mst_text_word(&line);
    max_ns = mst_text_time(longest, 1, NULL);
    if (max_ns == 0 || max_ns == MST_UNKNOWN)
        return;             /* nothing was measured */
    r->max_ns = max_ns;
    r->mean_ns = mst_text_time(mean, 1, &r->time_step_ns);
    if (r->time_step_ns < WRK_CLOCK_NS)
        r->time_step_ns = WRK_CLOCK_NS;
    r->p50_ns = mst_text_time(mst_text_line(in, "50% "), 1, NULL);
    r->p90_ns = mst_text_time(mst_text_line(in, "90% "), 1, NULL);
    r->p99_ns = mst_text_time(mst_text_line(in, "99% "), 1, NULL);
}

static void parse_errors(struct mst_client_result *r, struct mst_output_text in)
{
    struct mst_output_text line = mst_text_line(in, "Socket errors:");

    if (mst_text_is_empty(line)) {
        r->failed = r->failed_connect = r->failed_receive = r->failed_timeout = 0;
        r->failed_other = r->failed_length = 0;
        return;
    }
    r->failed_connect = mst_text_number(mst_text_behind(line, "connect "), 1, NULL);
    r->failed_receive = mst_text_number(mst_text_behind(line, "read "), 1, NULL);
    r->failed_other = mst_text_number(mst_text_behind(line, "write "), 1, NULL);
    r->failed_timeout = mst_text_number(mst_text_behind(line, "timeout "), 1, NULL);
    r->failed_length = 0;
    if (r->failed_connect != MST_UNKNOWN && r->failed_receive != MST_UNKNOWN &&
        r->failed_other != MST_UNKNOWN && r->failed_timeout != MST_UNKNOWN)
        r->failed = r->failed_connect + r->failed_receive + r->failed_other + r->failed_timeout;
}

/* Whether stats_correct() had anything to add. */
static uint64_t corrected(const struct mst_client_result *r)
{
    uint64_t each;

    if (r->max_ns == MST_UNKNOWN)
        return 0;
    if (r->concurrency == MST_UNKNOWN || r->concurrency == 0 || r->duration_ns == MST_UNKNOWN)
        return 1;
    each = r->requests / r->concurrency;
    /* Both are rounded to three figures: where that matters, 1. */
    return each > 0 && r->max_ns >= r->duration_ns / each * 2 * 98 / 100;
}

static int parse_wrk(struct mst_client_result *r, const struct mst_plan *plan,
                     const struct mst_printed *printed, char error[MST_ERROR_MAX])
{
    struct mst_output_text all = { printed->out, printed->out + printed->out_n };
    struct mst_output_text in = mst_text_from_last(all, "  Thread Stats"), sum;

    (void)plan;
    mst_client_result_init(r);
    r->requests = mst_text_number_before(in, " requests in ");
    r->requests_per_1000s = mst_text_number(mst_text_line(in, "Requests/sec:"), 1000, NULL);
    if (r->requests == MST_UNKNOWN || r->requests_per_1000s == MST_UNKNOWN)
        return mst_fail(error, "wrk printed no results");
    sum = mst_text_behind(in, " requests in ");
    r->duration_ns = mst_text_time(sum, 1, NULL);
    r->bytes = mst_text_bytes(mst_text_behind(sum, ", "));
    r->concurrency = mst_text_number(mst_text_behind(all, " threads and "), 1, NULL);
    r->non_2xx = mst_text_number(mst_text_line(in, "Non-2xx or 3xx responses:"), 1, NULL);
    if (r->non_2xx == MST_UNKNOWN)
        r->non_2xx = 0;
    parse_errors(r, in);
    parse_latency(r, in);
    r->corrected = corrected(r);
    return 0;
}

/* It gives each thread the same number of connections, and leaves out those that remain. */
static const struct mst_level_flag level_flags[] = {
    { { { "-c", "--connections" }, false }, "{clients}", 0 },
    { { { "-d", "--duration" }, false }, "{seconds}s", 0 },
    { { { "-t", "--threads" }, false }, "{equal-threads}", WRK_THREADS },
    { .value = NULL },
};

const struct mst_loadtool mst_loadtool_wrk = {
    .name = "wrk",
    .package = "wrk",
    .version_flag = "-v",
    .failed_among = MST_FAILED_TIMEOUTS_AMONG,
    .failure_mark = "Socket errors: ",
    .level_flags = level_flags,
    .prepare = prepare_wrk,
    .parse = parse_wrk,
};
