/* ab.c - ApacheBench: its options, what it prints, its rows (-g).
 *
 * Rows are sorted by the time taken, not by the start; starts are in whole
 * seconds, times in whole milliseconds. Failed requests are among them, as if
 * complete. "Time per request (mean)" is concurrency * time / requests and no
 * mean of anything that was measured: the mean here is the rows', or else that
 * of the line "Total:" in its table of times.
 *
 * "Failed requests" is a sum of kinds, and one request can be of two of them. A
 * "Length" failure is a complete answer of another length than the first one.
 */
#include "loadtools/loadtool.h"

#include <signal.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "base/clock.h"
#include "loadtools/text.h"

#define AB_OPTIONS     "+n:c:t:s:b:T:p:u:v:lrkVhwiIx:y:z:C:H:P:A:g:X:de:SqB:m:Z:f:E:"
#define AB_TIMEOUT_S   30u      /* ab's own -s, where the user says nothing */
#define AB_GRACE_S     60u      /* to connect, to sort and to print, after -t is over */
#define AB_ROWS_HEADER "starttime\tseconds\tctime\tdtime\tttime\twait"

/* ---- what the user asks of it ---------------------------------------------------- */

struct options {
    uint64_t    requests, concurrency, limit_s, timeout_s;
    const char *rows_path;
    bool        html, keeps_alive;
};

/* As ab reads them: a later -t takes back an earlier -n. What ab will refuse
 * is not our business: it says so itself. */
static void read_ab_options(struct options *o, int argc, char *const *argv)
{
    int option;

    *o = (struct options){ .requests = 1, .concurrency = 1, .timeout_s = AB_TIMEOUT_S };
    opterr = 0;
    optind = 0;
    while ((option = getopt(argc, argv, AB_OPTIONS)) != -1) {
        switch (option) {
        case 'n': o->requests = strtoull(optarg, NULL, 10); break;
        case 't':
            o->limit_s = strtoull(optarg, NULL, 10);
            o->requests = MST_UNKNOWN;
            break;
        case 'c': o->concurrency = strtoull(optarg, NULL, 10); break;
        case 'k': o->keeps_alive = true; break;
        case 's': o->timeout_s = strtoull(optarg, NULL, 10); break;
        case 'g': o->rows_path = optarg; break;
        case 'w': o->html = true; break;
        default:  break;
        }
    }
}

static int prepare_ab(struct mst_plan *plan, char *const *argv, int rows_fd,
                      char error[MST_ERROR_MAX])
{
    char path[32];
    const char *const insert[] = { "-g", path, NULL };
    struct options o;
    bool add;
    int argc = 0;

    while (argv[argc] != NULL)
        argc++;
    read_ab_options(&o, argc, argv);
    snprintf(path, sizeof path, "/dev/fd/%d", rows_fd);
    add = rows_fd >= 0 && o.rows_path == NULL && !o.html;   /* with -w it writes none */
    if (mst_plan_init(plan, argv, 0, add ? insert : NULL, error) != 0)
        return -1;
    plan->rows = add ? MST_ROWS_IN_FD : MST_ROWS_NONE;
    plan->row_start_step_ns = MST_NS_PER_S;
    plan->row_time_step_ns = MST_NS_PER_MS;
    plan->stop_signal = SIGINT;   /* it prints what it has; on SIGTERM it does not */
    plan->requested = o.requests;
    plan->concurrency = plan->connections = o.concurrency;
    plan->connects_anew = !o.keeps_alive;
    plan->keeps_alive = o.keeps_alive;
    plan->threads = 1;
    plan->abandons = o.limit_s > 0;
    if (o.limit_s > 0 && o.limit_s < UINT32_MAX && o.timeout_s < UINT32_MAX)
        plan->timeout_ns = (o.limit_s + o.timeout_s + AB_GRACE_S) * MST_NS_PER_S;
    return o.rows_path != NULL ? mst_plan_rows_at(plan, o.rows_path, error) : 0;
}

/* ---- what it prints -------------------------------------------------------------- */

static uint64_t number(struct mst_output_text in, const char *name, uint64_t scale)
{
    return mst_text_number(mst_text_line(in, name), scale, NULL);
}

/* The number behind `key` within the line of the kinds of failures. */
static uint64_t kind(struct mst_output_text in, const char *key)
{
    return mst_text_number(mst_text_behind(mst_text_line(in, "(Connect"), key), 1, NULL);
}

/* "Total:   200  201   0.6    201     203": the second column, and the last. With -S
 * the columns are three. */
static void parse_total(struct mst_client_result *r, struct mst_output_text in)
{
    struct mst_output_text line = mst_text_line(in, "Total: "), word, last = line;
    unsigned column = 0;

    while (word = mst_text_word(&line), !mst_text_is_empty(word)) {
        last = word;
        if (++column == 2)
            r->mean_ns = mst_text_number(word, MST_NS_PER_MS, NULL);
    }
    if (column >= 3)
        r->max_ns = mst_text_number(last, MST_NS_PER_MS, NULL);
}

/* ab leaves lines out whose number is 0. They are 0 where a later line is there. */
static void fill_in_zeros(struct mst_client_result *r)
{
    if (r->non_2xx == MST_UNKNOWN && r->bytes != MST_UNKNOWN)
        r->non_2xx = 0;
    if (r->failed == 0)
        r->failed_connect = r->failed_receive = r->failed_length = r->failed_other = 0;
}

static uint64_t unfinished(const struct mst_client_result *r, const struct mst_plan *plan)
{
    if (r->requests == MST_UNKNOWN || plan->requested == MST_UNKNOWN)
        return MST_UNKNOWN;
    return plan->requested > r->requests ? plan->requested - r->requests : 0;
}

/* The results come last: with -v 4 pages are printed before them, and a page may
 * look like anything. */
static int parse_ab(struct mst_client_result *r, const struct mst_plan *plan,
                    const struct mst_printed *printed, char error[MST_ERROR_MAX])
{
    static const char html[] = "Complete requests:</th>";
    struct mst_output_text all = { printed->out, printed->out + printed->out_n };
    struct mst_output_text in = mst_text_from_last(all, "Server Software:");

    mst_client_result_init(r);
    r->requests = number(in, "Complete requests:", 1);
    if (r->requests == MST_UNKNOWN) {
        if (!mst_text_is_empty(mst_text_behind(all, html)))
            snprintf(error, MST_ERROR_MAX, "ab printed its results as HTML (-w), which is not "
                     "read: without -w its side would be here too");
        else
            snprintf(error, MST_ERROR_MAX, "ab printed no results");
        return -1;
    }
    r->failed = number(in, "Failed requests:", 1);
    r->failed_connect = kind(in, ": ");
    r->failed_receive = kind(in, "Receive: ");
    r->failed_length = kind(in, "Length: ");
    r->failed_other = kind(in, "Exceptions: ");
    r->non_2xx = number(in, "Non-2xx responses:", 1);
    r->concurrency = number(in, "Concurrency Level:", 1);
    r->bytes = number(in, "Total transferred:", 1);
    r->duration_ns = number(in, "Time taken for tests:", MST_NS_PER_S);
    r->requests_per_1000s = number(in, "Requests per second:", 1000);
    r->unfinished = unfinished(r, plan);
    fill_in_zeros(r);
    parse_total(r, in);
    r->p50_ns = number(in, "50% ", MST_NS_PER_MS);
    r->p90_ns = number(in, "90% ", MST_NS_PER_MS);
    r->p99_ns = number(in, "99% ", MST_NS_PER_MS);
    r->time_step_ns = MST_NS_PER_MS;
    r->corrected = 0;
    return 0;
}

/* ---- its rows -------------------------------------------------------------------- */

static int read_ab_header(struct mst_row_reader *reader, char *line, char error[MST_ERROR_MAX])
{
    (void)reader;
    if (strcmp(line, AB_ROWS_HEADER) == 0)
        return 0;
    return mst_fail(error, "the file of rows is not what ab -g writes: its first line should be "
                    "\"starttime seconds ctime dtime ttime wait\"");
}

/* "Sat Nov 21 07:53:13 2026\t1795247593\t0\t200\t200\t200" */
static int read_ab_row(struct mst_row_reader *reader, struct mst_client_row *row, char *line)
{
    const uint64_t most = UINT64_MAX / MST_NS_PER_S / 2;
    uint64_t numbers[5];   /* seconds, connect, processing, total, waiting */
    size_t i;

    (void)reader;
    if (line == NULL || strchr(line, '"') != NULL)
        return line == NULL ? 0 : -1;
    mst_field(&line, '\t');
    for (i = 0; i < 5; i++) {
        numbers[i] = mst_field_integer(mst_field(&line, '\t'));
        if (numbers[i] > most)
            return -1;
    }
    if (line != NULL)
        return -1;
    row->start_ns = numbers[0] * MST_NS_PER_S;
    row->connect_ns = numbers[1] * MST_NS_PER_MS;
    row->duration_ns = numbers[3] * MST_NS_PER_MS;
    row->wait_ns = numbers[4] * MST_NS_PER_MS;
    return 1;
}

/* With -t it makes 50000 requests at most: -n would be fewer, or not known. */
static const struct mst_level_flag level_flags[] = {
    { { { "-c" }, false }, "{clients}", 0 },
    { { { "-t" }, false }, "{seconds}", 0 },
    { { { "-n" }, false }, NULL, 0 },
    { .value = NULL },
};

const struct mst_loadtool mst_loadtool_ab = {
    .name = "ab",
    .package = "apache2-utils",
    .version_flag = "-V",
    .failed_among = MST_FAILED_AMONG,
    .level_flags = level_flags,
    .prepare = prepare_ab,
    .parse = parse_ab,
    .read_header = read_ab_header,
    .read_row = read_ab_row,
};
