/* tsung.c - tsung: its options and its rows.
 *
 * With dumptraffic="protocol" or "protocol_local" in its configuration it writes a line for
 * each answer into tsung*.dump, below a directory that is named after the minute: the time
 * of the answer and how long it took since the request was sent. Connecting is not in it,
 * and what had no answer has no line: tsung.log says how many users there were; each
 * is taken to make one request. Of those without an answer only the number is known;
 * they have rows that begin, and end, when tsung did.
 *
 * tsung holds its lines back for 5 s ("protocol") or 2 s, and ends without writing what it
 * holds then: also answers may have no line, which are not failures. tsung.log counts
 * answers, too: those without a line are lines that are not rows. None is lost where each
 * user stays for that long after its last answer (a thinktime).
 *
 * Users arrive by chance (a Poisson process) at the rate that the configuration says.
 */
#include "loadtools/loadtool.h"

#include <signal.h>
#include <string.h>

#include "base/clock.h"
#include "loadtools/text.h"

#define TSUNG_HEADER "#date;pid;id;http method;host;URL;HTTP status;size;duration;"
#define US_PER_S     1000000u
#define FAILED       "failed"
#define LOST         "lost"
#define NO_STATUS    "error_"   /* instead of a status: the connection ended first */
#define COLUMNS      6u      /* between the date and the status */

/* Prints the rows, and adds one for each answer that the dump lost and each user without an answer.
 * If only the log has answers, no rows were requested: prints "none". */
static const char script[] =
    "exec awk '"
    "function head() { if (!headed++) print \"" TSUNG_HEADER "\" } "
    "FILENAME ~ /tsung\\.log$/ { if ($2 == \"users_count\") users = $4; "
    "if ($2 ~ /^[1-5][0-9][0-9]$/) answered[$2] = $4; "
    "if ($2 == \"stats:\" && $3 == \"dump\") ended = $5; next } "
    "!/^#/ { head(); print; rows++; good += $0 !~ /;" NO_STATUS "/ } "
    "END { for (status in answered) sum += answered[status]; "
    "if (!rows && sum) { print \"none\"; exit } head(); "
    "for (; good < sum; good++) { print ended \";" LOST "\"; rows++ } "
    "for (; rows < users; rows++) print ended \";" FAILED "\" }' "
    "\"$0\"/*/tsung.log \"$0\"/*/tsung*.dump";

static int prepare_tsung(struct mst_plan *plan, char *const *argv, int rows_fd,
                         char error[MST_ERROR_MAX])
{
    static const struct mst_option directory = { { "-l" }, false };
    const char *log = mst_option(argv, &directory);

    if (mst_plan_init(plan, argv, 0, NULL, error) != 0)
        return -1;
    plan->stop_signal = SIGINT;
    plan->connects_anew = true;
    plan->row_start_step_ns = plan->row_time_step_ns = MST_NS_PER_US;
    if (log == NULL || rows_fd < 0)
        return 0;
    plan->rows = MST_ROWS_IN_FD;
    return mst_plan_convert(plan, (const char *const []){ "sh", "-c", script, log, NULL }, error);
}

static int read_tsung_header(struct mst_row_reader *reader, char *line, char error[MST_ERROR_MAX])
{
    (void)reader;
    if (strncmp(line, TSUNG_HEADER, strlen(TSUNG_HEADER)) == 0)
        return 0;
    return mst_fail(error, "expected rows of tsung, found none: set dumptraffic=\"protocol_local\" "
                    "in its configuration, and use sessions of HTTP");
}

/* "1795274354.517194;<0.194.0>;1;get;127.0.0.1;/;200;113;206.928;-;;;" */
static int read_tsung_row(struct mst_row_reader *reader, struct mst_client_row *row, char *line)
{
    uint64_t ended_ns;
    const char *field;
    size_t i;

    (void)reader;
    if (line == NULL)
        return 0;
    ended_ns = mst_field_number(mst_field(&line, ';'), US_PER_S);
    if (ended_ns == MST_UNKNOWN || ended_ns > INT64_MAX / MST_NS_PER_US)
        return -1;
    ended_ns *= MST_NS_PER_US;
    field = mst_field(&line, ';');
    if (field != NULL && strcmp(field, LOST) == 0)
        return -1;
    if (field != NULL && strcmp(field, FAILED) == 0 && line == NULL) {
        row->start_ns = ended_ns;
        row->duration_ns = 0;
        row->status = MST_NO_ANSWER;
        row->failure = MST_FAILURE_OTHER;
        return 1;
    }
    for (i = 2; i < COLUMNS; i++)
        mst_field(&line, ';');
    field = mst_field(&line, ';');
    if (field != NULL && strncmp(field, NO_STATUS, strlen(NO_STATUS)) == 0) {
        row->status = MST_NO_ANSWER;
        row->failure = MST_FAILURE_RECEIVE;
    } else {
        row->status = mst_field_integer(field);
    }
    mst_field(&line, ';');
    row->duration_ns = mst_field_number(mst_field(&line, ';'), MST_NS_PER_MS);
    if (row->status > 999 || row->duration_ns > ended_ns)
        return -1;
    row->start_ns = ended_ns - row->duration_ns;
    return 1;
}

const struct mst_loadtool mst_loadtool_tsung = {
    .name = "tsung",
    .package = "tsung",
    .version_flag = "-v",
    .prepare = prepare_tsung,
    .read_header = read_tsung_header,
    .read_row = read_tsung_row,
};
