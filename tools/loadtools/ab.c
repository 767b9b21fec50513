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
#include "loadtool.h"

#include <errno.h>
#include <signal.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "clock.h"

#define AB_OPTIONS     "+n:c:t:s:b:T:p:u:v:lrkVhwiIx:y:z:C:H:P:A:g:X:de:SqB:m:Z:f:E:"
#define AB_TIMEOUT_S   30u      /* ab's own -s, where the user says nothing */
#define AB_GRACE_S     60u      /* to connect, to sort and to print, after -t is over */
#define AB_ROWS_HEADER "starttime\tseconds\tctime\tdtime\tttime\twait"

/* ---- what the user asks of it ---------------------------------------------------- */

struct options {
    uint64_t    requests, limit_s, timeout_s;
    const char *rows_path;
    bool        html;
};

/* As ab reads them: a later -t takes back an earlier -n. What ab will refuse
 * is not our business: it says so itself. */
static void read_options(struct options *o, int argc, char *const *argv)
{
    int option;

    *o = (struct options){ .requests = 1, .timeout_s = AB_TIMEOUT_S };
    opterr = 0;
    optind = 0;
    while ((option = getopt(argc, argv, AB_OPTIONS)) != -1) {
        switch (option) {
        case 'n': o->requests = strtoull(optarg, NULL, 10); break;
        case 't':
            o->limit_s = strtoull(optarg, NULL, 10);
            o->requests = MST_UNKNOWN;
            break;
        case 's': o->timeout_s = strtoull(optarg, NULL, 10); break;
        case 'g': o->rows_path = optarg; break;
        case 'w': o->html = true; break;
        default:  break;
        }
    }
}

static int prepare(struct mst_plan *plan, char *const *argv, int rows_fd,
                   char error[MST_ERROR_MAX])
{
    char path[32];
    const char *const insert[] = { "-g", path, NULL };
    struct options o;
    bool add;
    int argc = 0;

    while (argv[argc] != NULL)
        argc++;
    read_options(&o, argc, argv);
    snprintf(path, sizeof path, "/dev/fd/%d", rows_fd);
    add = rows_fd >= 0 && o.rows_path == NULL && !o.html;   /* with -w it writes none */
    if (mst_plan_init(plan, argv, add ? insert : NULL) != 0)
        goto no_memory;
    if (o.rows_path != NULL) {
        plan->rows_path = strdup(o.rows_path);
        if (plan->rows_path == NULL) {
            mst_plan_free(plan);
            goto no_memory;
        }
    }
    plan->rows_in_fd = add;
    plan->stop_signal = SIGINT;   /* it prints what it has; on SIGTERM it does not */
    plan->requested = o.requests;
    plan->abandons = o.limit_s > 0;
    if (o.limit_s > 0 && o.limit_s < UINT32_MAX && o.timeout_s < UINT32_MAX)
        plan->timeout_ns = (o.limit_s + o.timeout_s + AB_GRACE_S) * MST_NS_PER_S;
    return 0;

no_memory:
    snprintf(error, MST_ERROR_MAX, "out of memory for the command");
    return -1;
}

/* ---- numbers --------------------------------------------------------------------- */

/* "12" or "12.345" at *text in units of 1/scale (a power of ten, at most 10^9):
 * digits beyond it are dropped. MST_UNKNOWN where there is no such number. */
static uint64_t decimal(const char *text, const char *end, uint64_t scale)
{
    const uint64_t most = UINT64_C(1) << 53;
    uint64_t value = 0;

    while (text < end && *text == ' ')
        text++;
    if (text == end || *text < '0' || *text > '9')
        return MST_UNKNOWN;
    for (; text < end && *text >= '0' && *text <= '9'; text++) {
        value = value * 10 + (uint64_t)(*text - '0');
        if (value > most)
            return MST_UNKNOWN;
    }
    if (value > most / scale)
        return MST_UNKNOWN;
    value *= scale;
    if (text < end && *text == '.')
        for (text++; text < end && *text >= '0' && *text <= '9' && scale > 1; text++) {
            scale /= 10;
            value += (uint64_t)(*text - '0') * scale;
        }
    return value;
}

/* ---- what it prints -------------------------------------------------------------- */

struct text { const char *at, *end; };

/* The text behind `name` at the beginning of a line. Empty: no such line. */
static struct text find_line(struct text in, const char *name)
{
    size_t n = strlen(name);
    const char *eol;

    for (; in.at < in.end; in.at = eol + 1) {
        eol = memchr(in.at, '\n', (size_t)(in.end - in.at));
        if (eol == NULL)
            break;              /* a line that it did not finish: not to be trusted */
        if ((size_t)(eol - in.at) >= n && memcmp(in.at, name, n) == 0)
            return (struct text){ in.at + n, eol };
    }
    return (struct text){ in.end, in.end };
}

static uint64_t number(struct text in, const char *name, uint64_t scale)
{
    struct text line = find_line(in, name);

    return decimal(line.at, line.end, scale);
}

/* The number behind `key` within the line `name`. */
static uint64_t number_within(struct text in, const char *name, const char *key)
{
    struct text line = find_line(in, name);
    const char *found = memmem(line.at, (size_t)(line.end - line.at), key, strlen(key));

    return found != NULL ? decimal(found + strlen(key), line.end, 1) : MST_UNKNOWN;
}

/* The results, which come last: with -v 4 pages are printed before them, and a
 * page may look like anything. */
static struct text find_results(const char *output, size_t n)
{
    static const char first[] = "\nServer Software:";
    struct text in = { output, output + n }, results = { output + n, output + n };
    const char *found;

    while ((found = memmem(in.at, (size_t)(in.end - in.at), first, sizeof first - 1)) != NULL) {
        results.at = found + 1;
        in.at = found + 1;
    }
    return results;
}

/* "Total:   200  201   0.6    201     203": the second column, and the last. With -S
 * the columns are three. */
static void parse_total(struct mst_client_result *r, struct text in)
{
    struct text line = find_line(in, "Total: ");
    const char *at = line.at, *last = NULL;
    unsigned column = 0;

    while (at < line.end) {
        while (at < line.end && *at == ' ')
            at++;
        if (at == line.end)
            break;
        last = at;
        if (++column == 2)
            r->mean_ns = decimal(at, line.end, MST_NS_PER_MS);
        while (at < line.end && *at != ' ')
            at++;
    }
    if (column >= 3)
        r->max_ns = decimal(last, line.end, MST_NS_PER_MS);
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

static int parse(struct mst_client_result *r, const struct mst_plan *plan, const char *output,
                 size_t n, char error[MST_ERROR_MAX])
{
    static const char html[] = "Complete requests:</th>";
    struct text in = find_results(output, n);

    mst_client_result_init(r);
    r->requests = number(in, "Complete requests:", 1);
    if (r->requests == MST_UNKNOWN) {
        if (memmem(output, n, html, sizeof html - 1) != NULL)
            snprintf(error, MST_ERROR_MAX, "ab printed its results as HTML (-w), which is not "
                     "read: without -w its side would be here too");
        else
            snprintf(error, MST_ERROR_MAX, "ab printed no results");
        return -1;
    }
    r->failed = number(in, "Failed requests:", 1);
    r->failed_connect = number_within(in, "   (", "Connect: ");
    r->failed_receive = number_within(in, "   (", "Receive: ");
    r->failed_length = number_within(in, "   (", "Length: ");
    r->failed_other = number_within(in, "   (", "Exceptions: ");
    r->non_2xx = number(in, "Non-2xx responses:", 1);
    r->concurrency = number(in, "Concurrency Level:", 1);
    r->bytes = number(in, "Total transferred:", 1);
    r->duration_ns = number(in, "Time taken for tests:", MST_NS_PER_S);
    r->requests_per_1000s = number(in, "Requests per second:", 1000);
    r->unfinished = unfinished(r, plan);
    fill_in_zeros(r);
    parse_total(r, in);
    r->p50_ns = number(in, "  50% ", MST_NS_PER_MS);
    r->p90_ns = number(in, "  90% ", MST_NS_PER_MS);
    r->p99_ns = number(in, "  99% ", MST_NS_PER_MS);
    return 0;
}

/* ---- its rows -------------------------------------------------------------------- */

/* A whole number and the character behind it. */
static bool take_number(char **at, char behind, uint64_t *value)
{
    char *end;

    if (**at < '0' || **at > '9')
        return false;
    errno = 0;
    *value = strtoull(*at, &end, 10);
    if (errno != 0 || *end != behind || *value > UINT64_MAX / MST_NS_PER_S / 2)
        return false;
    *at = end + 1;
    return true;
}

/* "Sat Nov 21 07:53:13 2026\t1795247593\t0\t200\t200\t200\n" */
static bool parse_row(struct mst_client_row *row, char *line)
{
    uint64_t seconds, connect, processing, total, waiting;
    char *at = strchr(line, '\t');

    if (at == NULL)
        return false;
    at++;
    if (!take_number(&at, '\t', &seconds) || !take_number(&at, '\t', &connect) ||
        !take_number(&at, '\t', &processing) || !take_number(&at, '\t', &total) ||
        !take_number(&at, '\n', &waiting))
        return false;
    row->start_ns = seconds * MST_NS_PER_S;
    row->duration_ns = total * MST_NS_PER_MS;
    row->connect_ns = connect * MST_NS_PER_MS;
    row->wait_ns = waiting * MST_NS_PER_MS;
    row->status = MST_UNKNOWN;
    return true;
}

static long read_rows(FILE *rows, mst_take_row *take, void *context, uint64_t *bad,
                      char error[MST_ERROR_MAX])
{
    struct mst_client_row row;
    char line[256];
    long count = 0;

    *bad = 0;
    if (fgets(line, sizeof line, rows) == NULL)
        goto none;
    if (strcmp(line, AB_ROWS_HEADER "\n") != 0) {
        snprintf(error, MST_ERROR_MAX, "the file of rows is not what ab -g writes: its first "
                 "line should be \"starttime seconds ctime dtime ttime wait\"");
        return -1;
    }
    while (fgets(line, sizeof line, rows) != NULL) {
        if (!parse_row(&row, line))
            (*bad)++;
        else if (count++, take(context, &row) != 0)
            break;
    }
    if (!ferror(rows))
        return count;
none:
    if (ferror(rows))
        snprintf(error, MST_ERROR_MAX, "cannot read ab's rows: %s", strerror(errno));
    else
        snprintf(error, MST_ERROR_MAX, "ab wrote no rows");
    return -1;
}

const struct mst_loadtool mst_loadtool_ab = {
    .name = "ab",
    .single_threaded = true,
    .row_start_step_ns = MST_NS_PER_S,
    .row_time_step_ns = MST_NS_PER_MS,
    .prepare = prepare,
    .parse = parse,
    .read_rows = read_rows,
};
