/* rows.c - reads the lines that load tools write for each request, and adds them up. */
#include "loadtools/loadtool.h"

#include <errno.h>
#include <inttypes.h>
#include <string.h>

#define USERS_BUSY 0.9   /* of the time of all; in the rest an iteration ends and one begins */
#define LINE_MAX_BYTES 16384u   /* a longer one is cut: what is read of it comes first */

/* The next line without its end. 1; 0: there is none; -1: it was not finished. */
static int next_line(FILE *rows, char line[LINE_MAX_BYTES])
{
    size_t n;
    int c;

    if (fgets(line, LINE_MAX_BYTES, rows) == NULL)
        return 0;
    n = strlen(line);   /* a NUL in it: the rest is lost, and the line no row */
    if (n > 0 && line[n - 1] == '\n') {
        line[n - 1] = '\0';
        if (n > 1 && line[n - 2] == '\r')
            line[n - 2] = '\0';
        return 1;
    }
    if (n + 1 < LINE_MAX_BYTES)
        return -1;
    while ((c = getc(rows)) != EOF && c != '\n')
        ;
    return c == '\n' ? 1 : -1;
}

/* What a row says where the adapter does not. */
static struct mst_client_row unknown_row(void)
{
    return (struct mst_client_row){ MST_UNKNOWN, MST_UNKNOWN, MST_UNKNOWN, MST_UNKNOWN,
                                    MST_UNKNOWN, MST_FAILURE_OTHER, MST_UNKNOWN };
}

/* 0, or -1: a sentence. */
static int begin(const struct mst_loadtool *tool, FILE *rows, struct mst_row_reader *reader,
                 char line[LINE_MAX_BYTES], char error[MST_ERROR_MAX])
{
    int c;

    if (tool->read_header == NULL) {
        c = getc(rows);
        if (c != EOF && ungetc(c, rows) != EOF)
            return 0;
    } else if (next_line(rows, line) != 0) {
        return tool->read_header(reader, line, error);
    }
    if (ferror(rows))
        snprintf(error, MST_ERROR_MAX, "cannot read %s's rows: %s", tool->name, strerror(errno));
    else
        snprintf(error, MST_ERROR_MAX, "%s wrote no rows", tool->name);
    return -1;
}

long mst_loadtool_read_rows(const struct mst_loadtool *tool, FILE *rows, uint64_t started_ns,
                            mst_take_row *take, void *context, struct mst_rows_said *said,
                            char error[MST_ERROR_MAX])
{
    struct mst_row_reader reader = { .started_ns = started_ns, .row = unknown_row() };
    struct mst_client_row row;
    char line[LINE_MAX_BYTES];
    int status = begin(tool, rows, &reader, line, error), made;
    long count = 0;

    *said = (struct mst_rows_said){ 0 };
    if (status != 0)
        return -1;
    do {
        status = next_line(rows, line);
        row = unknown_row();
        made = status < 0 ? -1 : tool->read_row(&reader, &row, status > 0 ? line : NULL);
        reader.said.bad += made < 0;
        *said = reader.said;
        if (made > 0 && (count++, take(context, &row) != 0))
            return count;
    } while (status != 0);
    if (!ferror(rows) && (count > 0 || said->bad == 0))
        return count;
    if (ferror(rows))
        snprintf(error, MST_ERROR_MAX, "cannot read %s's rows: %s", tool->name, strerror(errno));
    else
        snprintf(error, MST_ERROR_MAX, "not one of %" PRIu64 " lines is a row as %s writes them",
                 said->bad, tool->name);
    return -1;
}

void mst_row_totals_add(struct mst_row_totals *t, const struct mst_client_row *row)
{
    uint64_t end_ns = row->start_ns + row->duration_ns;

    if (t->rows++ == 0 || row->start_ns < t->first_start_ns)
        t->first_start_ns = row->start_ns;
    if (end_ns > t->last_end_ns)
        t->last_end_ns = end_ns;
    if (row->status == MST_NO_ANSWER) {
        t->failed++;
        t->failures[row->failure]++;
        return;
    }
    t->answered_ns += row->duration_ns;
    if (row->duration_ns > t->max_ns)
        t->max_ns = row->duration_ns;
    if (row->status == MST_UNKNOWN)
        t->status_unknown = true;
    else
        t->non_2xx += row->status < 200 || row->status > 299;
}

/* Users whose number changes are a ramp, or are called when a request is due. The same number of
 * users can wait to be called, too: then they are idle for a part of the time. */
uint64_t mst_rows_users(const struct mst_rows_said *said, const struct mst_row_totals *t)
{
    double user_ns = (double)said->users_most * (double)(t->last_end_ns - t->first_start_ns);

    return said->counts_users && said->users_least == said->users_most && said->dropped == 0 &&
           (double)said->iterations_ns >= USERS_BUSY * user_ns ? said->users_most : 0;
}

static void failures_from_rows(struct mst_client_result *r, const struct mst_loadtool *tool,
                               const struct mst_plan *plan, const struct mst_row_totals *t,
                               bool ended)
{
    bool counted = plan->requested != MST_UNKNOWN && plan->requested >= t->rows;

    if (!tool->rows_omit_failures) {
        r->failed = t->failed;
        r->failed_connect = t->failures[MST_FAILURE_CONNECT];
        r->failed_receive = t->failures[MST_FAILURE_RECEIVE];
        r->failed_timeout = t->failures[MST_FAILURE_TIMEOUT];
        r->failed_other = t->failures[MST_FAILURE_OTHER];
        r->failed_length = 0;
    } else if (ended && counted && t->bad == 0) {
        r->failed = plan->requested - t->rows;
    }
    if (counted && t->bad == 0)
        r->unfinished = ended ? 0 : plan->requested - t->rows;
}

void mst_client_result_from_rows(struct mst_client_result *r, const struct mst_loadtool *tool,
                                 const struct mst_plan *plan, const struct mst_row_totals *t,
                                 bool ended)
{
    uint64_t span_ns = t->last_end_ns - t->first_start_ns;

    mst_client_result_init(r);
    failures_from_rows(r, tool, plan, t, ended);
    r->requests = t->rows - t->failed;
    r->non_2xx = t->status_unknown ? MST_UNKNOWN : t->non_2xx;
    r->concurrency = plan->concurrency == MST_UNKNOWN && t->users > 0 ? t->users :
                     plan->concurrency;
    if (span_ns > 0) {
        r->duration_ns = span_ns;
        r->requests_per_1000s = (uint64_t)((unsigned __int128)r->requests * 1000000000000u /
                                           span_ns);
    }
    if (r->requests > 0) {
        r->mean_ns = t->answered_ns / r->requests;
        r->max_ns = t->max_ns;
    }
    r->time_step_ns = plan->row_time_step_ns;
    r->corrected = plan->corrected;
}
