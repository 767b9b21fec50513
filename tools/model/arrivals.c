/* arrivals.c - how the recorded requests came, and what was measured of them: see building.h. */
#include <math.h>
#include <stdlib.h>
#include <string.h>
#include <strings.h>

#include "analysis/configured.h"
#include "model/building.h"

#define CLIENTS_MOST     100000u  /* no load tool has more */
#define DEFAULT_TIMEOUT  5.0      /* Apache's KeepAliveTimeout, in seconds */

const char *const mst_measure_names[MST_MEASURE_COUNT] = {
    [MST_MEASURE_RATE] = "requests_per_second", [MST_MEASURE_MEAN] = "mean_seconds",
    [MST_MEASURE_P50] = "p50_seconds", [MST_MEASURE_P90] = "p90_seconds",
    [MST_MEASURE_P95] = "p95_seconds", [MST_MEASURE_P99] = "p99_seconds",
};

double mst_model_measured(const struct mst_summary *s, const struct mst_summary_server *front,
                          bool by_client, enum mst_measure measure)
{
    static const enum mst_percentile percentiles[MST_MEASURE_COUNT] = {
        [MST_MEASURE_P50] = MST_P50, [MST_MEASURE_P90] = MST_P90, [MST_MEASURE_P95] = MST_P95,
        [MST_MEASURE_P99] = MST_P99,
    };
    const struct mst_summary_times *server = &front->phases[MST_PHASE_TOTAL];
    const struct mst_summary_times *times = by_client ? &s->client.times : server;
    uint64_t rate = mst_summary_rate_milli(s, front);

    if (measure == MST_MEASURE_RATE)
        return rate != MST_UNKNOWN ? (double)rate / 1000 : NAN;
    if (by_client && (!s->client.known || s->client.corrected))
        return NAN;
    if (measure == MST_MEASURE_MEAN)
        return mst_in_seconds(times->mean_ns != MST_UNKNOWN ? times->mean_ns : server->mean_ns);
    return mst_in_seconds(mst_summary_percentile(times, percentiles[measure]));
}

void mst_building_measure(struct mst_model_run *r)
{
    const struct mst_summary_client *c = &r->summary->client;
    enum mst_measure i;

    r->by_client = c->known && c->times.p50_ns != MST_UNKNOWN && !c->corrected;
    r->step = r->by_client ? mst_or_zero(mst_in_seconds(c->time_step_ns)) : 0;
    for (i = 0; i < MST_MEASURE_COUNT; i++)
        r->measured[i] = mst_model_measured(r->summary, r->front, r->by_client, i);
}

/* The units are those of httpd's ap_timeout_parameter_parse(), which looks at their beginning. */
double mst_model_seconds(const char *text)
{
    static const struct { const char *name; double seconds; } units[] = {
        { "ms", 0.001 }, { "s", 1 }, { "mi", 60 }, { "h", 3600 },
    };
    char *unit;
    double number = strtod(text, &unit);
    size_t i;

    if (unit == text || !(number >= 0))
        return NAN;
    if (*unit == '\0')
        return number;
    for (i = 0; i < sizeof units / sizeof *units; i++)
        if (strncasecmp(unit, units[i].name, strlen(units[i].name)) == 0)
            return number * units[i].seconds;
    return NAN;
}

/* Prefork's and worker's connections keep a worker while they are idle. */
bool mst_building_make_keepalive(struct mst_model_run *r)
{
    static const char sql[] = "SELECT count(*) AS number FROM server_requests WHERE "
                              "server_id = :id AND ghost = 0 AND nth = 0";
    struct mst_model_load *load = &r->system.load;
    const char *mpm = r->front->mpm;
    struct mst_query q;
    double connections, seconds = NAN;
    const char *value;

    if (mpm == NULL || strcmp(mpm, "event") == 0)
        return true;
    q = mst_query_ask(r->db, sql, r->front->id);
    connections = mst_query_next(&q) ? mst_row_real(&q, "number") : 0;
    if (!mst_query_done(&q))
        return false;
    if (mst_query_has_table(r->db, "settings")) {
        q = mst_configured_ask(r->db, r->front, "", "KeepAliveTimeout", NULL);
        if (mst_query_next(&q) && (value = mst_row_text(&q, "value")) != NULL)
            seconds = mst_model_seconds(value);
        if (!mst_query_done(&q))
            return false;
    }
    if (connections > 0 && (double)r->front->requests > 1.05 * connections) {
        load->requests_a_connection = (double)r->front->requests / connections;
        load->keepalive_timeout = seconds > 0 ? seconds : DEFAULT_TIMEOUT;
    }
    return true;
}

/* How much longer a request takes for the client than for the server: where it is known of each
 * request, else of their middle. A mean has the time in which the load begins and ends, too. */
static double outside_of(const struct mst_model_run *r)
{
    const struct mst_summary_client *c = &r->summary->client;
    double server;

    if (c->join.by != MST_JOIN_NONE && c->join.apart.count > 0)
        return mst_in_seconds(c->join.apart.p50_ns);
    server = mst_in_seconds(r->front->phases[MST_PHASE_TOTAL].p50_ns);
    return fmax(mst_or_zero(r->measured[MST_MEASURE_P50] - server), 0);
}

void mst_building_make_load(struct mst_building *b)
{
    struct mst_model_run *r = b->r;
    const struct mst_summary_client *c = &r->summary->client;
    struct mst_model_load *load = &r->system.load;
    double *gaps, cycle, ends;
    size_t i;

    r->outside_most = r->by_client ? outside_of(r) : 0;
    load->rate = r->measured[MST_MEASURE_RATE];
    mst_values_sort(&b->starts);
    gaps = apr_palloc(r->pool, (b->starts.count + 1) * sizeof *gaps);
    for (i = 1; i < b->starts.count; i++)
        gaps[i - 1] = mst_in_seconds(b->starts.items[i] - b->starts.items[i - 1]);
    load->gaps = gaps;
    load->gap_count = b->starts.count > 0 ? b->starts.count - 1 : 0;
    load->arrivals = MST_ARRIVALS_RECORDED;
    if (!c->known || c->concurrency == MST_UNKNOWN || c->concurrency == 0 ||
        c->concurrency > CLIENTS_MOST)
        return;
    load->arrivals = MST_ARRIVALS_CLOSED;
    load->clients = (uint32_t)c->concurrency;
    cycle = (double)load->clients / r->measured[MST_MEASURE_RATE];
    /* As the load ends, each client has a request that is half done, or none to do any more. */
    ends = r->measured[MST_MEASURE_MEAN] / 2 * load->clients / (double)r->front->requests;
    load->think = fmax(cycle - r->measured[MST_MEASURE_MEAN] - ends, 0);
    /* Of kept connections, the workers tell: what waits for a kept worker when the load ends has
     * no answer, and is in no mean. */
    if (load->keepalive_timeout > 0 &&
        r->front->mean_state_milli[MST_STATE_KEEPALIVE] != MST_UNKNOWN)
        load->think = (double)r->front->mean_state_milli[MST_STATE_KEEPALIVE] / 1000 /
                      r->measured[MST_MEASURE_RATE];
}
