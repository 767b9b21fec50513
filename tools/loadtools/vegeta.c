/* vegeta.c - vegeta attack: its options and its results.
 *
 * The results are binary, with every page in them unless it is told -max-body=0
 * (which reads the pages all the same), and `vegeta encode -to csv` makes lines of
 * them. A line is a request's start, in nanoseconds, and its time, as measured from
 * then on: vegeta sends at a constant rate whether the server answers or not, as
 * far as -max-workers go. A request without an answer has the code 0 and a sentence.
 * What is in flight at its end is waited for.
 */
#include "loadtools/loadtool.h"

#include <signal.h>
#include <string.h>

#include "base/clock.h"
#include "loadtools/text.h"

#define VEGETA_TIMEOUT_NS (30 * MST_NS_PER_S)   /* -timeout, where the user says nothing */
#define VEGETA_GRACE_NS   (30 * MST_NS_PER_S)

static void limits_of_vegeta(struct mst_plan *plan, char *const *argv)
{
    static const struct mst_option duration = { { "-duration" }, true };
    static const struct mst_option timeout = { { "-timeout" }, true };
    static const struct mst_option cpus = { { "-cpus" }, true };
    uint64_t duration_ns = mst_option_time(argv, &duration, 1, 0);

    plan->threads = mst_option_number(argv, &cpus, MST_UNKNOWN);
    if (duration_ns > 0)
        plan->timeout_ns = duration_ns + mst_option_time(argv, &timeout, 1, VEGETA_TIMEOUT_NS) +
                           VEGETA_GRACE_NS;
}

static int prepare_vegeta(struct mst_plan *plan, char *const *argv, int rows_fd,
                          char error[MST_ERROR_MAX])
{
    static const struct mst_option output = { { "-output" }, true };
    static const struct mst_option max_body = { { "-max-body" }, true };
    const char *path = mst_option(argv, &output), *insert[3] = { NULL };
    char fd_path[32], flag[48];
    size_t attack = mst_word(argv, "attack"), n = 0;

    snprintf(fd_path, sizeof fd_path, "/dev/fd/%d", rows_fd);
    snprintf(flag, sizeof flag, "-output=%s", fd_path);
    if (attack > 0 && rows_fd >= 0 && path == NULL)
        insert[n++] = flag;
    if (n > 0 && mst_option(argv, &max_body) == NULL)
        insert[n++] = "-max-body=0";
    if (mst_plan_init(plan, argv, attack, n > 0 ? insert : NULL, error) != 0)
        return -1;
    plan->row_start_step_ns = plan->row_time_step_ns = 1;
    plan->stop_signal = SIGINT;
    limits_of_vegeta(plan, argv);
    if (attack == 0 || (n == 0 && path == NULL))
        return 0;
    plan->rows = MST_ROWS_IN_FD;
    if (path != NULL && mst_plan_rows_at(plan, path, error) != 0)
        return -1;
    return mst_plan_convert(plan, (const char *const []){
        argv[0], "encode", "-to", "csv", path != NULL ? path : fd_path, NULL }, error);
}

/* start, code, latency, bytes out, bytes in, error, body, attack, number, and what is of
 * no use here; the number is also in the request, as X-Vegeta-Seq. Where the body is long
 * the line can be cut before it. */
static int read_vegeta_row(struct mst_row_reader *reader, struct mst_client_row *row, char *line)
{
    char *error;

    (void)reader;
    if (line == NULL)
        return 0;
    row->start_ns = mst_field_integer(mst_field(&line, ','));
    row->status = mst_field_integer(mst_field(&line, ','));
    row->duration_ns = mst_field_integer(mst_field(&line, ','));
    mst_field(&line, ',');
    mst_field(&line, ',');
    error = mst_field(&line, ',');
    if (row->start_ns == MST_UNKNOWN || row->status > 999 || row->duration_ns == MST_UNKNOWN ||
        error == NULL)
        return -1;
    if (row->status == MST_NO_ANSWER)
        row->failure = mst_failure_of(error, strlen(error));
    mst_field(&line, ',');
    mst_field(&line, ',');
    row->client_id = mst_field_integer(mst_field(&line, ','));
    return 1;
}

static const struct mst_level_flag level_flags[] = {
    { { { "-rate" }, true }, "{rate}", 0 },
    { { { "-duration" }, true }, "{seconds}s", 0 },
    { .value = NULL },
};

const struct mst_loadtool mst_loadtool_vegeta = {
    .name = "vegeta",
    .version_flag = "-version",
    .follows_redirects = true,
    .level_flags = level_flags,
    .level_word = "attack",
    .prepare = prepare_vegeta,
    .read_row = read_vegeta_row,
};
