/* arrivals.c - how the recorded requests came, and what was measured of them: see building.h. */
#include <math.h>
#include <stdlib.h>
#include <string.h>
#include <strings.h>

#include "analysis/configured.h"
#include "model/building.h"

#define KEPT             1.05     /* requests for each connection: more, and it is kept */
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

/* The mean time of all servers' requests, as these count them. */
static double servers_mean(const struct mst_model_run *r)
{
    double sum = 0;
    size_t i;

    for (i = 0; i < r->server_count; i++)
        sum += mst_in_seconds(r->servers[i].front->phases[MST_PHASE_TOTAL].mean_ns) *
               (double)r->servers[i].front->requests;
    return sum / (double)r->requests;
}

static void measure_server(struct mst_model_view *v, const struct mst_summary *s)
{
    enum mst_measure i;

    for (i = 0; i < MST_MEASURE_COUNT; i++)
        v->measured[i] = mst_model_measured(s, v->server, v->by_client, i);
}

/* Of all requests of several servers, as the load tool has them, or else as these do. */
static void measure_all(struct mst_building *b, struct mst_model_view *v)
{
    static const unsigned per_mille[MST_MEASURE_COUNT] = {
        [MST_MEASURE_P50] = 500, [MST_MEASURE_P90] = 900, [MST_MEASURE_P95] = 950,
        [MST_MEASURE_P99] = 990,
    };
    const struct mst_model_run *r = b->r;
    double sum = 0;
    enum mst_measure m;
    size_t i;

    for (i = 0; i < r->server_count; i++)
        sum += mst_model_measured(r->summary, r->servers[i].front, false, MST_MEASURE_RATE);
    v->measured[MST_MEASURE_RATE] = sum;
    v->measured[MST_MEASURE_MEAN] = v->by_client ? mst_in_seconds(r->summary->client.times.mean_ns)
                                                 : NAN;
    if (isnan(v->measured[MST_MEASURE_MEAN]))
        v->measured[MST_MEASURE_MEAN] = servers_mean(r);
    mst_values_sort(&b->totals);
    for (m = MST_MEASURE_P50; m <= MST_MEASURE_P99; m++)
        v->measured[m] = v->by_client ?
                         mst_model_measured(r->summary, r->servers[0].front, true, m) :
                         mst_in_seconds(mst_values_quantile(&b->totals, per_mille[m]));
}

void mst_building_measure(struct mst_building *b)
{
    struct mst_model_run *r = b->r;
    const struct mst_summary_client *c = &r->summary->client;
    bool fleet = r->server_count > 1, by_client = c->known && c->times.p50_ns != MST_UNKNOWN &&
                                                  !c->corrected;
    size_t i, count = fleet ? 1 + r->server_count : 1;

    r->view = r->views = apr_pcalloc(r->pool, count * sizeof *r->views);
    r->view_count = count;
    r->view->by_client = by_client;
    r->view->step = by_client ? mst_or_zero(mst_in_seconds(c->time_step_ns)) : 0;
    for (i = 1; i < count; i++) {
        r->views[i].server = r->servers[i - 1].front;
        measure_server(&r->views[i], r->summary);
    }
    if (fleet) {
        measure_all(b, r->view);
    } else {
        r->view->server = r->servers[0].front;
        measure_server(r->view, r->summary);
    }
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

/* Prefork's and worker's connections keep a worker while they are idle; event's do not. */
bool mst_building_make_keepalive(struct mst_building *b)
{
    static const char sql[] = "SELECT count(*) AS number FROM server_requests WHERE "
                              "server_id = :id AND ghost = 0 AND nth = 0";
    struct mst_model_run *r = b->r;
    const struct mst_summary_server *front = b->at->front;
    struct mst_model_load *load = &r->system.load;
    const char *mpm = front->mpm;
    struct mst_query q;
    double connections, seconds = NAN;
    const char *value;
    bool are_kept;

    if (mpm == NULL)
        return true;
    q = mst_query_ask(r->db, sql, front->id);
    connections = mst_query_next(&q) ? mst_row_real(&q, "number") : 0;
    if (!mst_query_done(&q))
        return false;
    are_kept = connections > 0 && (double)front->requests > KEPT * connections;
    if (strcmp(mpm, "event") == 0) {
        b->at->is_kept_by_event = are_kept;
        return true;
    }
    if (mst_query_has_table(r->db, "settings")) {
        q = mst_configured_ask(r->db, front, "", "KeepAliveTimeout", NULL);
        if (mst_query_next(&q) && (value = mst_row_text(&q, "value")) != NULL)
            seconds = mst_model_seconds(value);
        if (!mst_query_done(&q))
            return false;
    }
    if (are_kept) {
        load->requests_a_connection = (double)front->requests / connections;
        load->keepalive_timeout = seconds > 0 ? seconds : DEFAULT_TIMEOUT;
    }
    return true;
}

/* How much longer a request takes for the client than for the server: where it is known of each
 * request, else of their middle. A mean has the time in which the load begins and ends, too; of
 * several servers only that is known. */
static double outside_of(const struct mst_model_run *r)
{
    const struct mst_summary_client *c = &r->summary->client;
    double server;

    if (c->join.by != MST_JOIN_NONE && c->join.apart.count > 0)
        return mst_in_seconds(c->join.apart.p50_ns);
    if (r->server_count > 1)
        return fmax(r->view->measured[MST_MEASURE_MEAN] - servers_mean(r), 0);
    server = mst_in_seconds(r->servers[0].front->phases[MST_PHASE_TOTAL].p50_ns);
    return fmax(mst_or_zero(r->view->measured[MST_MEASURE_P50] - server), 0);
}

static int by_instant(const void *a, const void *b)
{
    const struct mst_arrival *x = a, *y = b;

    return x->ns != y->ns ? (x->ns > y->ns) - (x->ns < y->ns)
                          : (x->front > y->front) - (x->front < y->front);
}

/* From each arrival to the next one, and to which front each was. */
static void take_arrivals(struct mst_building *b)
{
    struct mst_model_run *r = b->r;
    struct mst_model_load *load = &r->system.load;
    double *gaps = apr_palloc(r->pool, (b->arrival_count + 1) * sizeof *gaps);
    uint32_t *turns = apr_palloc(r->pool, (b->arrival_count + 1) * sizeof *turns);
    size_t i;

    if (b->arrival_count > 0)
        qsort(b->arrivals, b->arrival_count, sizeof *b->arrivals, by_instant);
    for (i = 0; i < b->arrival_count; i++) {
        turns[i] = b->arrivals[i].front;
        if (i > 0)
            gaps[i - 1] = mst_in_seconds(b->arrivals[i].ns - b->arrivals[i - 1].ns);
    }
    load->gaps = gaps;
    load->gap_count = b->arrival_count > 0 ? b->arrival_count - 1 : 0;
    load->turns = turns;
    load->turn_count = r->server_count > 1 ? load->gap_count : 0;
}

/* Of kept connections, the workers tell: what waits for a kept worker when the load ends has no
 * answer, and is in no mean. */
static double kept_seconds(const struct mst_model_run *r)
{
    uint64_t kept = r->servers[0].front->mean_state_milli[MST_STATE_KEEPALIVE];

    return r->system.load.keepalive_timeout > 0 && kept != MST_UNKNOWN ?
           (double)kept / 1000 / r->view->measured[MST_MEASURE_RATE] : NAN;
}

void mst_building_make_load(struct mst_building *b)
{
    struct mst_model_run *r = b->r;
    const struct mst_summary_client *c = &r->summary->client;
    struct mst_model_load *load = &r->system.load;
    double cycle, ends;

    r->outside_most = r->view->by_client ? outside_of(r) : 0;
    load->rate = r->view->measured[MST_MEASURE_RATE];
    take_arrivals(b);
    load->arrivals = MST_ARRIVALS_RECORDED;
    if (!c->known || c->concurrency == MST_UNKNOWN || c->concurrency == 0 ||
        c->concurrency > CLIENTS_MOST)
        return;
    load->arrivals = MST_ARRIVALS_CLOSED;
    load->clients = (uint32_t)c->concurrency;
    cycle = (double)load->clients / load->rate;
    /* As the load ends, each client has a request that is half done, or none to do any more. */
    ends = r->view->measured[MST_MEASURE_MEAN] / 2 * load->clients / (double)r->requests;
    load->think = fmax(cycle - r->view->measured[MST_MEASURE_MEAN] - ends, 0);
    if (!isnan(kept_seconds(r)))
        load->think = kept_seconds(r);
}
