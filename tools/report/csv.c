/* csv.c - runs, or their seconds, as lines of a table: see report.h.
 *
 * The format is RFC 4180's with \n at the end of a line. What is not known is empty.
 */
#include "analysis/series.h"
#include "archive/archive.h"
#include "base/clock.h"
#include "report/cells.h"
#include "report/metrics.h"
#include "report/report.h"
#include "segment/format.h"

static void put_number(struct mst_sink *sink, int64_t number)
{
    mst_sink_i64(sink, number);
    mst_sink_char(sink, ',');
}

static void put_text(struct mst_sink *sink, const char *text)
{
    mst_sink_csv_string(sink, text);
    mst_sink_char(sink, ',');
}

/* Ends a line with the column `thinned`: whether the archive has only some of the requests. */
static void end_line(struct mst_sink *sink, const struct mst_report_run *run)
{
    mst_sink_puts(sink, run->summary.thinned_of > 0 ? ",yes\n" : ",no\n");
}

/* ---- a line a run ---------------------------------------------------------------- */

static void put_run(struct mst_sink *sink, const struct mst_report_run *run)
{
    static const char *const answers[] = {
        [MST_ANSWER_NO] = "no", [MST_ANSWER_YES] = "yes", [MST_ANSWER_UNKNOWN] = "",
    };
    const struct mst_summary *s = &run->summary;
    size_t i;

    put_text(sink, run->path);
    put_number(sink, s->id);
    put_text(sink, s->name);
    put_text(sink, s->command_line);
    if (s->started_ns != MST_UNKNOWN)
        mst_sink_instant(sink, s->started_ns);
    mst_sink_char(sink, ',');
    put_text(sink, mst_outcome_names[s->outcome]);
    for (i = 0; i < MST_M_COUNT; i++) {
        if (mst_metrics[i].group == NULL)
            continue;
        mst_quantity_put(sink, mst_metrics[i].unit, mst_metric_get(&mst_metrics[i], s), "");
        mst_sink_char(sink, ',');
    }
    for (i = 0; i < MST_CHECK_COUNT; i++)
        put_text(sink, answers[s->checks[i].ok]);
    mst_sink_csv_string(sink, s->verdict);
    end_line(sink, run);
}

void mst_report_csv(struct mst_sink *sink, const struct mst_report *report)
{
    const char *name;
    size_t i;

    mst_sink_puts(sink, "archive,run,name,command,started,outcome,");
    for (i = 0; i < MST_M_COUNT; i++)
        if (mst_metrics[i].group != NULL)
            put_text(sink, mst_metrics[i].column);
    for (i = 0; i < MST_CHECK_COUNT; i++) {
        mst_sink_puts(sink, "check_");
        for (name = report->runs[0].summary.checks[i].name; *name != '\0'; name++)
            mst_sink_char(sink, *name == '-' ? '_' : *name);
        mst_sink_char(sink, ',');
    }
    mst_sink_puts(sink, "verdict,thinned\n");
    for (i = 0; i < report->count; i++)
        put_run(sink, &report->runs[i]);
}

/* ---- a line a second ------------------------------------------------------------- */

static void put_seconds(struct mst_sink *sink, const struct mst_report_run *run,
                        const struct mst_summary_server *server,
                        const struct mst_series_requests *s)
{
    const struct mst_table *table = &s->over_time;
    size_t row, column;

    for (row = 0; row < table->rows; row++) {
        put_text(sink, run->path);
        put_number(sink, run->summary.id);
        put_text(sink, run->summary.name);
        mst_sink_csv_string(sink, mst_producer_name(server->producer));
        for (column = 0; column < table->width; column++) {
            mst_sink_char(sink, ',');
            mst_real_put(sink, table->cells[row * table->width + column], "");
        }
        end_line(sink, run);
    }
}

static bool put_run_seconds(struct mst_sink *sink, const struct mst_report_run *run)
{
    const struct mst_summary_server *front = mst_summary_front(&run->summary);
    sqlite3 *db = mst_archive_db(run->archive);
    struct mst_series_requests s;
    struct mst_bins bins;

    if (front == NULL)
        return true;
    if (!mst_bins_make(&bins, db, &run->summary, 0, MST_NS_PER_S))
        return false;
    mst_series_server(&s, front, &bins);
    put_seconds(sink, run, front, &s);
    mst_series_requests_free(&s);
    return true;
}

int mst_report_csv_series(struct mst_sink *sink, const struct mst_report *report,
                          char error[MST_ERROR_MAX])
{
    size_t i;

    mst_sink_puts(sink, "archive,run,name,producer");
    for (i = 0; i < mst_over_time_count; i++) {
        mst_sink_char(sink, ',');
        mst_sink_puts(sink, mst_over_time_columns[i]);
    }
    mst_sink_puts(sink, ",thinned\n");
    for (i = 0; i < report->count; i++)
        if (!put_run_seconds(sink, &report->runs[i]))
            return mst_archive_unreadable(report->runs[i].archive, error);
    return 0;
}
