/* metrics.c - the figures of a run: see metrics.h. */
#include "report/metrics.h"

#include <stdio.h>
#include <string.h>

#include "analysis/resources.h"
#include "base/clock.h"
#include "base/ratio.h"
#include "base/saturate.h"
#include "segment/format.h"

/* ---- figures that are not a member of a summary --------------------------------------- */

static uint64_t server_rate(const struct mst_summary *s)
{
    const struct mst_summary_all all = mst_summary_fronts(s);

    return all.count > 0 ? all.rate_milli : MST_UNKNOWN;
}

static uint64_t queue_share(const struct mst_summary *s)
{
    const struct mst_summary_server *server = mst_summary_front(s);
    uint64_t total;

    if (server == NULL)
        return MST_UNKNOWN;
    total = server->phases[MST_PHASE_TOTAL].sum_ns;
    if (total == MST_UNKNOWN || total == 0 || server->phases[MST_PHASE_QUEUE].count == 0)
        return MST_UNKNOWN;
    return mst_milli(server->phases[MST_PHASE_QUEUE].sum_ns, total);
}

/* Of a PHP whose waits are not measured it is not known. */
static uint64_t part_of_run(const struct mst_summary *s, enum mst_part part)
{
    const struct mst_summary_server *php = mst_summary_behind(s);

    return php != NULL && php->measured > 0 ? php->parts[part].times.mean_ns : MST_UNKNOWN;
}

static uint64_t run_cpu(const struct mst_summary *s)
{
    return part_of_run(s, MST_PART_CPU);
}

static uint64_t run_cpu_wait(const struct mst_summary *s)
{
    return part_of_run(s, MST_PART_CPU_WAIT);
}

static uint64_t run_rest(const struct mst_summary *s)
{
    return part_of_run(s, MST_PART_REST);
}

/* The sum of a member of all servers that worked for the load. mod_php's workers are Apache's own
 * processes, and a server without requests was only recorded with the others. */
static uint64_t sum_of_servers(const struct mst_summary *s, size_t member)
{
    uint64_t sum = MST_UNKNOWN, one;
    size_t i;

    for (i = 0; i < s->server_count; i++) {
        const struct mst_summary_server *server = &s->servers[i];

        if (server->requests == 0 || server->sapi_kind == MST_SAPI_MOD_PHP)
            continue;
        memcpy(&one, (const char *)server + member, sizeof one);
        if (one == MST_UNKNOWN)
            return MST_UNKNOWN;
        sum = mst_add_saturated(mst_known(sum), one);
    }
    return sum;
}

/* CPU time for a request: a load with a time limit makes more of them on a faster server. */
static uint64_t cpu_each(const struct mst_summary *s)
{
    uint64_t cpu_ns = sum_of_servers(s, offsetof(struct mst_summary_server, cpu_ns));
    uint64_t requests = mst_summary_fronts(s).requests;

    return cpu_ns == MST_UNKNOWN || requests == 0 ? MST_UNKNOWN : cpu_ns / requests;
}

static uint64_t servers_pss(const struct mst_summary *s)
{
    return sum_of_servers(s, offsetof(struct mst_summary_server, peak_pss_bytes));
}

static uint64_t larger_known(uint64_t a, uint64_t b)
{
    return a == MST_UNKNOWN || (b != MST_UNKNOWN && b > a) ? b : a;
}

/* Of the server that came nearest to its limit. */
static uint64_t files_share(const struct mst_summary *s)
{
    uint64_t share = MST_UNKNOWN;
    size_t i;

    for (i = 0; i < s->server_count; i++)
        share = larger_known(share, mst_files_milli(&s->servers[i]));
    return share;
}

static uint64_t http2_share(const struct mst_summary *s)
{
    uint64_t share = MST_UNKNOWN;
    size_t i;

    for (i = 0; i < s->server_count; i++)
        share = larger_known(share, mst_http2_workers_milli(&s->servers[i]));
    return share;
}

static uint64_t group_cpu_share(const struct mst_summary *s)
{
    uint64_t share = MST_UNKNOWN;
    size_t i;

    for (i = 0; i < s->server_count; i++)
        share = larger_known(share, mst_group_cpu_milli(s, &s->servers[i]));
    return share;
}

static uint64_t group_memory_share(const struct mst_summary *s)
{
    uint64_t share = MST_UNKNOWN;
    size_t i;

    for (i = 0; i < s->server_count; i++)
        share = larger_known(share, mst_group_memory_milli(&s->servers[i]));
    return share;
}

static uint64_t limit_reached(const struct mst_summary *s)
{
    const struct mst_summary_server *php = mst_summary_behind(s);

    return php != NULL ? mst_limits_reached(php) : MST_UNKNOWN;
}

/* ---- the table ------------------------------------------------------------------- */

static const char no_client[] = "the load tool did not report it, or its output was not understood";
static const char no_kind[] = "the load tool does not report failures of that kind";
static const char few_rows[] = "it takes 20 (p95) or 1000 (p99.9) requests for which the load "
                               "tool wrote a row";
static const char few_requests[] = "it takes 20 (p95) or 1000 (p99.9) requests";
static const char no_server[] = "no server was recorded, or it answered no request of the load";
static const char no_sample[] = "the server's board was not read during the load";
static const char no_kernel[] = "only root and the server's user see it, on the server's machine";
static const char no_process[] = "the server's processes could not be read";
static const char no_php[] = "no PHP was recorded: its extension was not loaded, or its board was "
                             "not among the targets";
static const char no_interval[] = "no request had it, or the server's mpmstat does not measure it";
static const char no_wait[] = "no request waited for it, or PHP's waits were not measured";
static const char no_limit[] = "this PHP is not FPM, or FPM's configuration was not found: set "
                               "mpmstat.workers_limit";
static const char no_memory[] = "the kernel does not report it, or mpmstat did not read it";
static const char no_group[] = "the server's control group has no such limit, or cannot be seen";
static const char no_http2[] = "there is no mod_http2, or the server's mpmstat does not measure it";
static const char no_ports[] = "few were in use, or the kernel did not tell";
static const char no_join[] = "the load tool's rows do not tell which request is which";
static const char no_end[] = "the recording did not come to its end";

/* The offset of a member. It compiles for a uint64_t only. */
#define MEMBER(type, name) \
    offsetof(struct type, name) + 0 * _Generic(((struct type *)0)->name, uint64_t: 0)

#define RUN(name, reason) \
    .source = MST_FROM_RUN, .member = MEMBER(mst_summary, name), .why = reason
#define CLIENT(name, reason) \
    .source = MST_FROM_CLIENT, .member = MEMBER(mst_summary_client, name), .why = reason
#define SERVER(name, reason) \
    .source = MST_FROM_SERVER, .member = MEMBER(mst_summary_server, name), .why = reason
#define PHASE(of, name, reason) \
    .source = MST_FROM_PHASE, .phase = MST_PHASE_##of, \
    .member = MEMBER(mst_summary_times, name), .why = reason
#define PHP(name, reason) \
    .source = MST_FROM_PHP, .member = MEMBER(mst_summary_server, name), .why = reason
#define INTERVAL(of, name, reason) \
    .source = MST_FROM_INTERVAL, .index = MST_INTERVAL_##of, \
    .member = MEMBER(mst_summary_times, name), .why = reason, .optional = true
#define WAIT(of, name, reason) \
    .source = MST_FROM_WAIT, .index = MST_WAIT_##of, \
    .member = MEMBER(mst_summary_times, name), .why = reason, .optional = true
#define OF_PART(of) \
    .source = MST_FROM_PART, .index = MST_PART_##of, \
    .member = MEMBER(mst_summary_interval, times.mean_ns), .why = no_interval, .optional = true
#define BY(function, reason) .source = MST_FROM_FUNCTION, .get = function, .why = reason
#define OPTIONAL .optional = true

#define REPORT(csv, of, text) .column = csv, .group = of, .label = text
#define BRIEF .brief = true
#define COLUMN(name) .column = name
#define STUDY(name, text) .study = name, .study_label = text
#define COMPARE(text, meaning) .compared = text, meaning
#define FASTER  .less = "B is faster", .more = "B is slower"
#define SLOWER  .less = "B is slower", .more = "B is faster"
#define SHORTER .less = "it is shorter in B", .more = "it is longer in B"
#define SAID(text) .said = text
#define MAIN    .shown = MST_SHOWN_MAIN
#define PART    .shown = MST_SHOWN_PART
#define INSTEAD .shown = MST_SHOWN_INSTEAD
#define NEEDS   .less = "B takes less", .more = "B takes more"

const struct mst_metric mst_metrics[MST_M_COUNT] = {
#define METRIC(id, in, ...) [MST_M_##id] = { .unit = MST_QUANTITY_##in, __VA_ARGS__ },
#include "report/metrics.def"
};

/* ---- in a summary ----------------------------------------------------------------- */

static const void *times_of(const struct mst_summary_interval *interval)
{
    return interval->times.count > 0 ? &interval->times : NULL;
}

/* What the metric is a member of; NULL: the run has no such thing. */
static const void *owner_of(const struct mst_metric *metric, const struct mst_summary *s,
                            const struct mst_summary_server *front,
                            const struct mst_summary_server *behind)
{
    switch (metric->source) {
    case MST_FROM_RUN:
        return s;
    case MST_FROM_CLIENT:
        return s->client.known ? &s->client : NULL;
    case MST_FROM_SERVER:
        return front;
    case MST_FROM_PHASE:
        return front != NULL && front->phases[metric->phase].count > 0 ?
               &front->phases[metric->phase] : NULL;
    case MST_FROM_PHP:
        return behind;
    case MST_FROM_INTERVAL:
        return front != NULL ? times_of(&front->intervals[metric->index]) : NULL;
    case MST_FROM_PART:
        return front != NULL && front->phases[MST_PHASE_TOTAL].count > 0 ?
               &front->parts[metric->index] : NULL;
    case MST_FROM_WAIT:
        return behind != NULL ? times_of(&behind->parts[MST_PART_WAITS + metric->index]) : NULL;
    default:
        return NULL;
    }
}

/* A server; or where there are several of its kind, one with what is known of all together. */
static const struct mst_summary_server *with_peers(struct mst_summary_server *room,
                                                   const struct mst_summary *s,
                                                   const struct mst_summary_server *one)
{
    struct mst_summary_all all;
    size_t k;

    if (one == NULL)
        return NULL;
    all = mst_summary_all(s, mst_summary_is_php(one));
    if (all.count < 2)
        return one;
    *room = *one;
    room->requests = all.requests;
    room->errors_5xx = all.errors_5xx;
    room->aborted = all.aborted;
    room->mean_busy_milli = all.mean_busy_milli;
    room->workers_limit = all.workers_limit;
    memcpy(room->phases, all.phases, sizeof room->phases);
    for (k = 0; k < MST_INTERVAL_COUNT; k++)
        room->intervals[k].times = all.intervals[k];
    memcpy(room->parts, all.parts, sizeof room->parts);
    return room;
}

uint64_t mst_metric_get(const struct mst_metric *metric, const struct mst_summary *s)
{
    struct mst_summary_server fronts, behinds;
    const char *owner;
    uint64_t value = MST_UNKNOWN;

    if (metric->source == MST_FROM_FUNCTION)
        return metric->get(s);
    owner = owner_of(metric, s, with_peers(&fronts, s, mst_summary_front(s)),
                     with_peers(&behinds, s, mst_summary_behind(s)));
    if (owner != NULL)
        memcpy(&value, owner + metric->member, sizeof value);
    return value;
}

bool mst_metric_is_had(const struct mst_metric *metric, uint64_t value)
{
    return value != MST_UNKNOWN && (metric->source != MST_FROM_PART || value > 0);
}

/* ---- as text --------------------------------------------------------------------- */

void mst_put_milli(struct mst_json *j, const char *key, uint64_t milli)
{
    mst_json_value(j, key);
    mst_quantity_put(j->out, MST_QUANTITY_MEAN, milli, "null");
}

const char *mst_metric_why(const struct mst_metric *metric, const struct mst_summary *s)
{
    const struct mst_summary_server *server = mst_summary_front(s);

    if ((metric->why == no_client || metric->why == no_kind || metric->why == no_join ||
         metric->why == few_rows) && s->client.tool == NULL)
        return "no load tool was run";
    if ((metric->why == no_kind || metric->why == few_rows) && !s->client.known)
        return no_client;
    if (metric->why == few_requests && (server == NULL || server->requests == 0))
        return no_server;
    if (metric->why == no_limit && mst_summary_behind(s) == NULL)
        return no_php;
    if (metric->why == no_process && server != NULL && server->unknown != NULL)
        return server->unknown;
    return metric->why;
}
