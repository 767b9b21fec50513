/* data.c - the JSON that the page's charts are drawn from, by assets/report.js: see groups.h.
 *
 * No more than one run's rows are in memory at a time.
 */
#include "analysis/resources.h"
#include "analysis/series.h"
#include "archive/archive.h"
#include "base/saturate.h"
#include "report/advice.h"
#include "report/cells.h"
#include "report/code.h"
#include "report/groups.h"
#include "segment/format.h"

#define BINS_OF_ALL  1500u   /* of all runs together: the page stays small */
#define BINS_MOST    300u    /* more cannot be told apart on a screen */
#define BINS_LEAST   60u
#define REQUESTS_A_BIN 100u  /* fewer would show noise, and a p99 would be their maximum */
#define BINS_OF_FEW  20u     /* but one bin shows nothing: a part of a run is seen in these */
#define POOLS_DRAWN  12u     /* lines of one chart that can be told apart */

static size_t clamp(size_t n, size_t least, size_t most)
{
    return n < least ? least : n > most ? most : n;
}

/* Bins of the samples, which are ten a second; and of the requests, wider where those are few. */
struct bins { struct mst_bins samples, requests; };

static bool make_bins(struct bins *bins, sqlite3 *db, const struct mst_report *report,
                      const struct mst_summary *s)
{
    const struct mst_summary_server *front = mst_summary_front(s);
    size_t most = clamp(BINS_OF_ALL / report->count, BINS_LEAST, BINS_MOST);
    uint64_t requests = front != NULL && front->requests > 0 ? front->requests :
                        s->client.known ? s->client.requests : 0;

    if (requests == MST_UNKNOWN || requests / REQUESTS_A_BIN > most)
        requests = most * REQUESTS_A_BIN;
    return mst_bins_make(&bins->samples, db, s, most, 0) &&
           mst_bins_make(&bins->requests, db, s,
                         clamp((size_t)(requests / REQUESTS_A_BIN), BINS_OF_FEW, most), 0);
}

/* When the verdict's findings held, where that is a part of the run. */
static void put_marked(struct mst_json *j, const struct mst_summary *s)
{
    const struct mst_when *when;
    size_t i;

    mst_json_begin(j, "marked", '[');
    for (i = 0; i < s->headline_count; i++) {
        when = &s->findings[i].when;
        if (!when->known)
            continue;
        mst_json_begin(j, NULL, '{');
        mst_json_string(j, "code", mst_code_names[s->findings[i].code]);
        mst_cell_json(j, "from", mst_cell_seconds(mst_subtract_saturated(when->from_ns,
                                                                         s->started_ns)));
        mst_cell_json(j, "to", mst_cell_seconds(mst_subtract_saturated(when->until_ns,
                                                                       s->started_ns)));
        mst_json_end(j, '}');
    }
    mst_json_end(j, ']');
}

static void put_table(struct mst_json *j, struct mst_table *table)
{
    mst_table_json(j, table);
    mst_table_free(table);
}

static void put_requests(struct mst_json *j, struct mst_series_requests *s)
{
    mst_cell_json(j, "bin_seconds", mst_cell_seconds(s->bins.width_ns));
    mst_cell_json(j, "requests", (double)s->count);
    mst_cell_json(j, "outside", (double)s->outside);
    put_table(j, &s->over_time);
    put_table(j, &s->spectrum);
    put_table(j, &s->heatmap);
}

static bool put_client(struct mst_json *j, sqlite3 *db, const struct mst_summary *run,
                       const struct mst_bins *bins)
{
    struct mst_series_requests s;
    uint64_t step = run->client.rows_start_step_ns;
    bool fine = mst_series_client(&s, db, run->id, bins, step);

    mst_json_line(j, 0);
    if (!fine || s.count == 0) {
        mst_json_string(j, "client", NULL);
        mst_series_requests_free(&s);
        return fine;
    }
    mst_json_begin(j, "client", '{');
    mst_json_string(j, "tool", run->client.tool);
    mst_cell_json(j, "start_step", mst_cell_seconds(step));
    put_requests(j, &s);
    mst_json_end(j, '}');
    return true;
}

/* Where pools tell more than their sum. */
static bool put_pools(struct mst_json *j, sqlite3 *db, const struct mst_summary_server *server,
                      const struct mst_bins *bins)
{
    struct mst_table table;
    bool fine = true;
    size_t i, drawn = 0;

    mst_json_begin(j, "pools", '[');
    for (i = 0; i < server->pool_count && drawn < POOLS_DRAWN && mst_pools_matter(server); i++) {
        if (!mst_pool_was_used(&server->pools[i]))
            continue;
        drawn++;
        fine = mst_series_pool(&table, db, server->id, &server->pools[i], bins) && fine;
        mst_json_begin(j, NULL, '{');
        mst_json_string(j, "pool", server->pools[i].label);
        put_table(j, &table);
        mst_json_end(j, '}');
    }
    mst_json_end(j, ']');
    return fine;
}

/* Of the addresses towards which ports ran short. */
static bool put_ports(struct mst_json *j, sqlite3 *db, const struct mst_summary *s,
                      const struct mst_bins *bins)
{
    struct mst_table table;
    bool fine = true;
    size_t i;

    mst_json_begin(j, "ports", '[');
    for (i = 0; i < s->port_count; i++) {
        if (!mst_is_near_limit(mst_summary_milli(s->ports[i].ports, s->ports[i].limit)))
            continue;
        fine = mst_series_ports(&table, db, s->id, &s->ports[i], bins) && fine;
        mst_json_begin(j, NULL, '{');
        mst_json_string(j, "remote", s->ports[i].remote);
        mst_json_count(j, "limit", s->ports[i].limit);
        put_table(j, &table);
        mst_json_end(j, '}');
    }
    mst_json_end(j, ']');
    return fine;
}

static bool put_server(struct mst_json *j, sqlite3 *db,
                       const struct mst_summary_server *server, const struct bins *both)
{
    const struct mst_bins *bins = &both->samples;
    struct mst_series_requests s;
    struct mst_table table;
    bool fine;

    mst_series_server(&s, server, &both->requests);
    mst_json_begin(j, NULL, '{');
    mst_json_string(j, "producer", mst_producer_name(server->producer));
    mst_json_string(j, "mpm", server->mpm);
    mst_json_string(j, "target", mst_summary_called(server));
    put_requests(j, &s);
    put_table(j, &s.workers);
    put_table(j, &s.parts);
    fine = mst_series_occupancy(&table, db, server->id, bins);
    if (fine)
        put_table(j, &table);
    fine = fine && mst_series_memory(&table, db, server->id, bins);
    if (fine)
        put_table(j, &table);
    fine = fine && mst_series_group(&table, db, server->id, bins);
    if (fine)
        put_table(j, &table);
    fine = fine && mst_series_files(&table, db, server->id, bins);
    if (fine)
        put_table(j, &table);
    fine = fine && put_pools(j, db, server, bins) &&
           mst_series_lifecycle(&table, db, server->id, bins);
    if (fine)
        put_table(j, &table);
    put_table(j, &s.statuses);
    fine = fine && mst_code_data(j, server, db);
    mst_json_end(j, '}');
    return fine;
}

static bool put_run(struct mst_json *j, const struct mst_report *report, size_t at, size_t group)
{
    const struct mst_report_run *run = &report->runs[at];
    sqlite3 *db = mst_archive_db(run->archive);
    const struct mst_summary *s = &run->summary;
    struct bins bins;
    struct mst_table machine;
    bool fine = make_bins(&bins, db, report, s);
    size_t i;

    if (!fine)
        return false;
    mst_json_begin(j, NULL, '{');
    mst_json_string(j, "title", run->title);
    mst_json_string(j, "archive", run->path);
    mst_json_count(j, "group", group);
    mst_json_instant(j, "started", s->started_ns);
    mst_cell_json(j, "bin_seconds", mst_cell_seconds(bins.samples.width_ns));
    mst_cell_json(j, "bins", (double)bins.samples.count);
    mst_cell_json(j, "seconds", mst_cell_seconds(s->duration_ns));
    put_marked(j, s);
    fine = put_client(j, db, s, &bins.requests) &&
           mst_series_machine(&machine, db, s->id, &bins.samples);
    if (!fine)
        return false;
    put_table(j, &machine);
    if (!put_ports(j, db, s, &bins.samples))
        return false;
    mst_json_line(j, 0);
    mst_json_begin(j, "servers", '[');
    for (i = 0; i < s->server_count && fine; i++) {
        mst_json_line(j, 0);
        fine = put_server(j, db, &s->servers[i], &bins);
    }
    mst_json_end(j, ']');
    mst_json_end(j, '}');
    return fine;
}

/* The number of the group that a run is in. */
static size_t group_of(const struct mst_report_groups *groups, size_t run)
{
    size_t g, i;

    for (g = 0; g < groups->count; g++)
        for (i = 0; i < groups->items[g].count; i++)
            if (groups->items[g].runs[i] == run)
                return g;
    return 0;
}

static void put_usl(struct mst_json *j, const struct mst_report *report)
{
    struct mst_usl usl;
    size_t levels;

    mst_knee_fit(&usl, &levels, report);
    if (!usl.fits) {
        mst_json_string(j, "usl", NULL);
        return;
    }
    mst_json_begin(j, "usl", '{');
    mst_cell_json(j, "gamma", usl.gamma);
    mst_cell_json(j, "alpha", usl.alpha);
    mst_cell_json(j, "beta", usl.beta);
    mst_json_end(j, '}');
}

int mst_report_data(struct mst_sink *sink, const struct mst_report *report,
                    const struct mst_report_groups *groups, char error[MST_ERROR_MAX])
{
    struct mst_json json = { .out = sink }, *j = &json;
    size_t i;

    mst_json_begin(j, NULL, '{');
    mst_json_begin(j, "summaries", '[');
    for (i = 0; i < report->count; i++) {
        mst_json_line(j, 0);
        mst_json_value(j, NULL);
        mst_report_json(sink, &report->runs[i].summary);
    }
    mst_json_end(j, ']');
    mst_json_line(j, 0);
    put_usl(j, report);
    mst_json_line(j, 0);
    mst_json_begin(j, "runs", '[');
    for (i = 0; i < report->count; i++) {
        mst_json_line(j, 0);
        if (!put_run(j, report, i, group_of(groups, i)))
            return mst_archive_unreadable(report->runs[i].archive, error);
    }
    mst_json_end(j, ']');
    mst_json_end(j, '}');
    return 0;
}
