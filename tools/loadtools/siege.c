/* siege.c - siege: its options and what it prints.
 *
 * It writes no rows and no percentiles, and of the bytes only hundredths of a megabyte
 * (2^20): from one megabyte on they are known to half a per cent, below not at all.
 * As JSON (json_output in siege.conf, or -j) the results come on stdout, else as text
 * on stderr; some versions print that text's times in milliseconds. It counts clock
 * ticks: times are in steps of 10 ms.
 *
 * "transactions" are answers, "successful" ones those with a status below 400 (or 401,
 * 407). "failed" are requests without an answer, and answers with 408 or 5xx: these
 * are not transactions, and there is no telling them apart. It follows redirects and,
 * unless told --no-parser, fetches what a page refers to: how many requests it is
 * to make cannot be told. At the end of -t what is in flight is abandoned.
 *
 * It can hang at that end and then ignores SIGINT and SIGTERM: the watchdog's kill
 * is what ends it.
 */
#include "loadtools/loadtool.h"

#include <signal.h>

#include "base/clock.h"
#include "loadtools/text.h"

#define SIEGE_GRACE_NS  (60 * MST_NS_PER_S)   /* its socket timeout is 30 s */
#define SIEGE_USERS     25u                   /* -c, where the user says nothing */
#define SIEGE_USERS_MAX 255u                  /* more are cut, unless siege.conf has a limit */
#define SIEGE_STEP_NS   (10 * MST_NS_PER_MS)
#define SIEGE_MEGABYTE  (UINT64_C(1) << 20)
#define SIEGE_BYTES_MAX (UINT64_C(1) << 40)   /* in hundredths: no run has more */

static int prepare_siege(struct mst_plan *plan, char *const *argv, int rows_fd,
                         char error[MST_ERROR_MAX])
{
    static const struct mst_option duration = { { "--time", "-t" }, false };
    static const struct mst_option users = { { "--concurrent", "-c" }, false };
    uint64_t duration_ns = mst_option_time(argv, &duration, 60 * MST_NS_PER_S, 0);

    (void)rows_fd;
    if (mst_plan_init(plan, argv, 0, NULL, error) != 0)
        return -1;
    plan->stop_signal = SIGINT;
    plan->concurrency = mst_option_number(argv, &users, SIEGE_USERS);
    if (plan->concurrency > SIEGE_USERS_MAX)
        plan->concurrency = MST_UNKNOWN;
    plan->connections = plan->concurrency;
    if (duration_ns > 0) {
        plan->abandons = true;
        plan->timeout_ns = duration_ns + SIEGE_GRACE_NS;
    }
    return 0;
}

/* A number by its name in the JSON, or else in the text. */
static struct mst_output_text value(const struct mst_output_text *json,
                                    const struct mst_output_text *text, const char *key,
                                    const char *name)
{
    return mst_text_is_empty(*json) ? mst_text_line(*text, name) : mst_text_behind(*json, key);
}

static uint64_t time_value(const struct mst_output_text *json, const struct mst_output_text *text,
                           const char *key, const char *name)
{
    return mst_text_time(value(json, text, key, name), MST_NS_PER_S, NULL);
}

/* The object it prints last; empty: none, or it has no end. */
static struct mst_output_text find_json(const struct mst_printed *printed)
{
    struct mst_output_text all = { printed->out, printed->out + printed->out_n };
    struct mst_output_text in = mst_text_from_last(all, "{\t\"transactions\":");

    if (mst_text_is_empty(in))
        in = mst_text_from_last(all, "{\n\t\"transactions\":");
    if (mst_text_is_empty(mst_text_behind(in, "\n}")))
        in.at = in.end;
    return in;
}

static uint64_t bytes(const struct mst_output_text *json, const struct mst_output_text *text)
{
    uint64_t hundredths = mst_text_number(value(json, text, "\"data_transferred\":",
                                                "Data transferred:"), 100, NULL);

    if (hundredths < 100 || hundredths > SIEGE_BYTES_MAX)
        return MST_UNKNOWN;
    return hundredths * SIEGE_MEGABYTE / 100;
}

static uint64_t users(const struct mst_plan *plan, struct mst_output_text err)
{
    uint64_t said = mst_text_number(mst_text_behind(err, "** Preparing "), 1, NULL);

    return said != MST_UNKNOWN ? said : plan->concurrency;
}

static int parse_siege(struct mst_client_result *r, const struct mst_plan *plan,
                       const struct mst_printed *printed, char error[MST_ERROR_MAX])
{
    struct mst_output_text err = { printed->err, printed->err + printed->err_n };
    struct mst_output_text json = find_json(printed);
    struct mst_output_text text = mst_text_from_last(err, "Transactions:");
    uint64_t good, elapsed_ns;

    mst_client_result_init(r);
    r->requests = mst_text_number(value(&json, &text, "\"transactions\":", "Transactions:"), 1,
                                  NULL);
    r->failed = mst_text_number(value(&json, &text, "\"failed_transactions\":",
                                      "Failed transactions:"), 1, NULL);
    if (r->requests == MST_UNKNOWN || r->failed == MST_UNKNOWN)
        return mst_fail(error, "siege printed no results");
    good = mst_text_number(value(&json, &text, "\"successful_transactions\":",
                                 "Successful transactions:"), 1, NULL);
    if (good <= r->requests)
        r->non_2xx = r->requests - good;
    if (r->failed == 0)
        r->failed_connect = r->failed_receive = r->failed_timeout = r->failed_other = 0;
    r->failed_length = 0;
    r->concurrency = users(plan, err);
    r->bytes = bytes(&json, &text);
    elapsed_ns = time_value(&json, &text, "\"elapsed_time\":", "Elapsed time:");
    if (elapsed_ns > 0) {   /* else no tick of its clock has passed, and it divides by none */
        r->duration_ns = elapsed_ns;
        r->requests_per_1000s = mst_text_number(value(&json, &text, "\"transaction_rate\":",
                                                      "Transaction rate:"), 1000, NULL);
    }
    if (r->requests > 0) {
        r->mean_ns = time_value(&json, &text, "\"response_time\":", "Response time:");
        r->max_ns = time_value(&json, &text, "\"longest_transaction\":", "Longest transaction:");
        r->time_step_ns = SIEGE_STEP_NS;
    }
    r->corrected = 0;
    return 0;
}

static const struct mst_level_flag level_flags[] = {
    { { { "-c", "--concurrent" }, false }, "{clients}", 0 },
    { { { "-t", "--time" }, false }, "{seconds}S", 0 },
    { { { "-r", "--reps" }, false }, NULL, 0 },
    { .value = NULL },
};

const struct mst_loadtool mst_loadtool_siege = {
    .name = "siege",
    .package = "siege",
    .version_flag = "--version",
    .follows_redirects = true,
    .failed_from_status = 500,
    .failure_mark = "error\033[0m] ",
    .level_flags = level_flags,
    .clients_most = SIEGE_USERS_MAX,
    .prepare = prepare_siege,
    .parse = parse_siege,
};
