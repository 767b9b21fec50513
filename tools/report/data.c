/* data.c - the JSON that the page's charts are drawn from: see report.h.
 *
 * Read by assets/report.js. Run by run: no more than one run's rows are in
 * memory at a time.
 */
#include <stdio.h>
#include <string.h>

#include "archive/archive.h"
#include "archive/query.h"
#include "report/report.h"
#include "report/series.h"
#include "segment/format.h"

#define BINS_OF_ALL  1500u   /* of all runs together: the page stays small */
#define BINS_MOST    300u    /* more cannot be told apart on a screen */
#define BINS_LEAST   60u
#define BINS_FEW     30u     /* where there are few requests */
#define REQUESTS_A_BIN 8u

static size_t clamp(size_t n, size_t least, size_t most)
{
    return n < least ? least : n > most ? most : n;
}

/* Few requests in a bin would show noise. */
static size_t bins_for(const struct mst_report *report, const struct mst_summary *s)
{
    const struct mst_summary_server *front = mst_summary_front(s);
    size_t most = clamp(BINS_OF_ALL / report->count, BINS_LEAST, BINS_MOST);
    uint64_t requests = front != NULL && front->requests > 0 ? front->requests :
                        s->client.known ? s->client.requests : 0;

    if (requests == MST_UNKNOWN || requests / REQUESTS_A_BIN > most)
        return most;
    return clamp((size_t)(requests / REQUESTS_A_BIN), BINS_FEW, most);
}

static void member(struct mst_sink *sink, const char *name, double value)
{
    mst_sink_puts(sink, ", ");
    mst_sink_json_string(sink, name);
    mst_sink_puts(sink, ": ");
    mst_cell_put(sink, value, "null");
}

static void put_table(struct mst_sink *sink, struct mst_table *table)
{
    mst_sink_puts(sink, ",\n");
    mst_table_json(sink, table);
    mst_table_free(table);
}

static void put_requests(struct mst_sink *sink, struct mst_series_requests *s)
{
    member(sink, "bin_seconds", mst_cell_seconds(s->bins.width_ns));
    member(sink, "requests", (double)s->count);
    member(sink, "outside", (double)s->outside);
    put_table(sink, &s->over_time);
    put_table(sink, &s->spectrum);
    put_table(sink, &s->heatmap);
}

static uint64_t client_step(sqlite3 *db, int64_t run_id)
{
    struct mst_query q = mst_query_ask(db, "SELECT rows_start_step_ns FROM client_results "
                                           "WHERE run_id = :id", run_id);
    uint64_t step = mst_query_next(&q) ? mst_row_number(&q, "rows_start_step_ns") : MST_UNKNOWN;

    return mst_query_done(&q) ? step : MST_UNKNOWN;
}

static bool put_client(struct mst_sink *sink, sqlite3 *db, const struct mst_summary *run,
                       const struct mst_bins *bins)
{
    struct mst_series_requests s;
    uint64_t step = client_step(db, run->id);
    bool fine = mst_series_client(&s, db, run->id, bins, step);

    mst_sink_puts(sink, ",\n\"client\": ");
    if (!fine || s.count == 0) {
        mst_sink_puts(sink, "null");
        mst_series_requests_free(&s);
        return fine;
    }
    mst_sink_puts(sink, "{\"tool\": ");
    mst_sink_json_string(sink, run->client.tool);
    member(sink, "start_step", mst_cell_seconds(step));
    put_requests(sink, &s);
    mst_sink_puts(sink, "}");
    return true;
}

static bool put_server(struct mst_sink *sink, sqlite3 *db, const struct mst_summary *run,
                       const struct mst_summary_server *server, const struct mst_bins *bins)
{
    struct mst_series_requests s;
    struct mst_table workers = { 0 }, table;
    bool fine = mst_series_server(&s, db, run, server, bins, &workers);

    mst_sink_puts(sink, "{\"producer\": ");
    mst_sink_json_string(sink, mst_producer_name(server->producer));
    mst_sink_puts(sink, ", \"mpm\": ");
    mst_sink_json_string(sink, server->mpm);
    mst_sink_puts(sink, ", \"target\": ");
    mst_sink_json_string(sink, server->target);
    put_requests(sink, &s);
    put_table(sink, &workers);
    fine = fine && mst_series_occupancy(&table, db, server->id, bins);
    if (fine)
        put_table(sink, &table);
    fine = fine && mst_series_memory(&table, db, server->id, bins);
    if (fine)
        put_table(sink, &table);
    fine = fine && mst_series_lifecycle(&table, db, server->id, bins);
    if (fine)
        put_table(sink, &table);
    fine = fine && mst_series_statuses(&table, db, server);
    if (fine)
        put_table(sink, &table);
    mst_sink_puts(sink, "}");
    return fine;
}

static bool put_run(struct mst_sink *sink, const struct mst_report_run *run, size_t most)
{
    sqlite3 *db = mst_archive_db(run->archive);
    const struct mst_summary *s = &run->summary;
    struct mst_bins bins;
    struct mst_table machine;
    bool fine = mst_bins_make(&bins, db, s, most, 0);
    size_t i;

    if (!fine)
        return false;
    mst_sink_puts(sink, "{\"title\": ");
    mst_sink_json_string(sink, run->title);
    mst_sink_puts(sink, ", \"archive\": ");
    mst_sink_json_string(sink, run->path);
    member(sink, "bin_seconds", mst_cell_seconds(bins.width_ns));
    member(sink, "bins", (double)bins.count);
    member(sink, "seconds", mst_cell_seconds(s->duration_ns));
    fine = put_client(sink, db, s, &bins) && mst_series_machine(&machine, db, s->id, &bins);
    if (!fine)
        return false;
    put_table(sink, &machine);
    mst_sink_puts(sink, ",\n\"servers\": [");
    for (i = 0; i < s->server_count && fine; i++) {
        mst_sink_puts(sink, i > 0 ? ",\n" : "");
        fine = put_server(sink, db, s, &s->servers[i], &bins);
    }
    mst_sink_puts(sink, "]}");
    return fine;
}

static void put_usl(struct mst_sink *sink, const struct mst_report *report)
{
    struct mst_usl usl;
    char ignored[768];

    mst_report_knee(&usl, report, ignored, sizeof ignored);
    if (!usl.fits) {
        mst_sink_puts(sink, "null");
        return;
    }
    mst_sink_puts(sink, "{\"gamma\": ");
    mst_cell_put(sink, usl.gamma, "null");
    member(sink, "alpha", usl.alpha);
    member(sink, "beta", usl.beta);
    mst_sink_puts(sink, "}");
}

int mst_report_data(struct mst_sink *sink, const struct mst_report *report,
                    char error[MST_ERROR_MAX])
{
    size_t i;

    mst_sink_puts(sink, "{\"summaries\": [");
    for (i = 0; i < report->count; i++) {
        mst_sink_puts(sink, i > 0 ? ",\n" : "");
        mst_report_json(sink, &report->runs[i].summary);
    }
    mst_sink_puts(sink, "],\n\"usl\": ");
    put_usl(sink, report);
    mst_sink_puts(sink, ",\n\"runs\": [");
    for (i = 0; i < report->count; i++) {
        mst_sink_puts(sink, i > 0 ? ",\n" : "");
        if (put_run(sink, &report->runs[i], bins_for(report, &report->runs[i].summary)))
            continue;
        return mst_report_unreadable(&report->runs[i], error);
    }
    mst_sink_puts(sink, "]}");
    return 0;
}
