/* metrics.c - the numbers of a run: see metrics.h. */
#include "report/metrics.h"

#include <stdio.h>
#include <string.h>

#include "base/clock.h"
#include "segment/format.h"

/* ---- getters --------------------------------------------------------------------- */

#define CLIENT(name, member) \
    static uint64_t name(const struct mst_summary *s) \
    { \
        return s->client.known ? s->client.member : MST_UNKNOWN; \
    }
#define SERVER(name, member) \
    static uint64_t name(const struct mst_summary *s) \
    { \
        const struct mst_summary_server *server = mst_summary_front(s); \
        return server != NULL ? server->member : MST_UNKNOWN; \
    }
#define PHASE(name, phase, member) \
    static uint64_t name(const struct mst_summary *s) \
    { \
        const struct mst_summary_server *server = mst_summary_front(s); \
        return server != NULL && server->phases[phase].count > 0 ? server->phases[phase].member \
                                                      : MST_UNKNOWN; \
    }

static uint64_t duration(const struct mst_summary *s) { return s->duration_ns; }

CLIENT(concurrency, concurrency)
CLIENT(client_requests, requests)
CLIENT(client_requested, requested)
CLIENT(client_unfinished, unfinished)
CLIENT(client_failed, failed)
CLIENT(failed_connect, failed_connect)
CLIENT(failed_receive, failed_receive)
CLIENT(failed_length, failed_length)
CLIENT(failed_timeout, failed_timeout)
CLIENT(client_non_2xx, non_2xx)
CLIENT(client_rate, requests_per_1000s)
CLIENT(client_mean, times.mean_ns)
CLIENT(client_p50, times.p50_ns)
CLIENT(client_p90, times.p90_ns)
CLIENT(client_p99, times.p99_ns)
CLIENT(client_max, times.max_ns)

SERVER(server_requests, requests)
SERVER(errors_5xx, errors_5xx)
SERVER(aborted, aborted)
PHASE(server_mean, MST_PHASE_TOTAL, mean_ns)
PHASE(server_p50, MST_PHASE_TOTAL, p50_ns)
PHASE(server_p90, MST_PHASE_TOTAL, p90_ns)
PHASE(server_p99, MST_PHASE_TOTAL, p99_ns)
PHASE(server_max, MST_PHASE_TOTAL, max_ns)
PHASE(queue_mean, MST_PHASE_QUEUE, mean_ns)
PHASE(read_mean, MST_PHASE_READ, mean_ns)
PHASE(handle_mean, MST_PHASE_HANDLE, mean_ns)
PHASE(send_mean, MST_PHASE_SEND, mean_ns)
PHASE(held_mean, MST_PHASE_HELD, mean_ns)

SERVER(workers_limit, workers_limit)
SERVER(workers_mean, mean_busy_milli)
SERVER(workers_max, max_busy)
SERVER(no_idle, no_idle_ns)
SERVER(forks, forks)
SERVER(exits, exits)
SERVER(forks_failed, forks_failed)
SERVER(shed, shed)
SERVER(queue_max, max_listen_queue)
SERVER(queue_limit, listen_queue_limit)
SERVER(peak_pss, peak_pss_bytes)
SERVER(peak_processes, peak_processes)
SERVER(server_cpu, cpu_ns)
SERVER(lost, lost)

#define PHP(name, member) \
    static uint64_t name(const struct mst_summary *s) \
    { \
        const struct mst_summary_server *php = mst_summary_behind(s); \
        return php != NULL ? php->member : MST_UNKNOWN; \
    }
PHP(php_requests, requests)
PHP(php_wait, phases[MST_PHASE_PHP_WAIT].mean_ns)
PHP(php_run, phases[MST_PHASE_PHP_RUN].mean_ns)
PHP(php_limit, workers_limit)
PHP(php_mean, mean_busy_milli)
PHP(php_max, max_busy)
PHP(php_pss, peak_pss_bytes)
PHP(php_processes, peak_processes)

static uint64_t overflows(const struct mst_summary *s) { return s->listen_overflows; }
static uint64_t machine_busy(const struct mst_summary *s) { return s->machine_busy_milli; }
static uint64_t tool_cpu(const struct mst_summary *s) { return s->tool_cpu_ns; }
static uint64_t memory_stall(const struct mst_summary *s) { return s->memory_stall_ns; }
static uint64_t oom_kills(const struct mst_summary *s) { return s->oom_kills; }
static uint64_t max_runnable(const struct mst_summary *s) { return s->max_runnable; }
static uint64_t cpu_stall(const struct mst_summary *s) { return s->cpu_stall_ns; }
static uint64_t tcp_retransmits(const struct mst_summary *s) { return s->tcp_retransmits; }
static uint64_t syn_retransmits(const struct mst_summary *s) { return s->syn_retransmits; }
static uint64_t join_p50(const struct mst_summary *s) { return s->client.join.apart.p50_ns; }
static uint64_t join_p99(const struct mst_summary *s) { return s->client.join.apart.p99_ns; }
static uint64_t recorder_cpu(const struct mst_summary *s) { return s->recorder_cpu_ns; }

static uint64_t server_rate(const struct mst_summary *s)
{
    const struct mst_summary_server *server = mst_summary_front(s);

    return server != NULL ? mst_summary_rate_milli(s, server) : MST_UNKNOWN;
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
    return (uint64_t)((unsigned __int128)server->phases[MST_PHASE_QUEUE].sum_ns * 1000 / total);
}

/* ---- the table ------------------------------------------------------------------- */

static const char no_client[] = "the load tool did not tell, or it was not understood";
static const char no_kind[] = "the load tool does not tell failures of that kind apart";
static const char no_server[] = "no server was recorded, or it answered no request of the load";
static const char no_sample[] = "the server's board was not read during the load";
static const char no_kernel[] = "it is seen only on the server's machine, by root or its user";
static const char no_process[] = "the server's processes could not be looked at";
static const char no_php[] = "no PHP was recorded: its extension was not loaded, or its board was "
                             "not among the targets";
static const char no_limit[] = "PHP does not tell pm.max_children: mpmstat.workers_limit can";
static const char no_memory[] = "this kernel does not tell, or mpmstat did not ask yet";
static const char no_join[] = "the load tool's rows do not tell which request is which";
static const char no_end[] = "the recording did not come to its end";

#define COUNT MST_METRIC_COUNT
#define MILLI MST_METRIC_MILLI
#define TIME  MST_METRIC_TIME
#define BYTES MST_METRIC_BYTES
#define SHARE MST_METRIC_SHARE
const struct mst_metric mst_metrics[] = {
    { "duration_seconds", "The run", "duration", TIME, duration, no_end, true },
    { "concurrency", "The run", "concurrency", COUNT, concurrency, no_client, true },
    { "client_requests", "Client", "requests", COUNT, client_requests, no_client, false },
    { "client_failed", "Client", "failed", COUNT, client_failed, no_client, true },
    { "client_requested", "Client", "planned", COUNT, client_requested, no_client, false },
    { "client_unfinished", "Client", "planned, never done", COUNT, client_unfinished, no_client,
      false },
    { "client_failed_connect", "Client", "failed to connect", COUNT, failed_connect, no_kind,
      false },
    { "client_failed_receive", "Client", "failed to receive", COUNT, failed_receive, no_kind,
      false },
    { "client_failed_length", "Client", "of another length", COUNT, failed_length, no_kind, false },
    { "client_failed_timeout", "Client", "timed out", COUNT, failed_timeout, no_kind, false },
    { "client_non_2xx", "Client", "not 2xx", COUNT, client_non_2xx, no_kind, false },
    { "client_requests_per_second", "Client", "requests/s", MILLI, client_rate, no_client,
      true },
    { "client_mean_seconds", "Client", "mean", TIME, client_mean, no_client, false },
    { "client_p50_seconds", "Client", "p50", TIME, client_p50, no_client, true },
    { "client_p90_seconds", "Client", "p90", TIME, client_p90, no_client, false },
    { "client_p99_seconds", "Client", "p99", TIME, client_p99, no_client, true },
    { "client_max_seconds", "Client", "max", TIME, client_max, no_client, false },
    { "client_minus_server_p50_seconds", "Client", "client - server, p50", TIME,
      join_p50, no_join, false },
    { "client_minus_server_p99_seconds", "Client", "client - server, p99", TIME,
      join_p99, no_join, false },
    { "client_cpu_seconds", "Client", "CPU time", TIME, tool_cpu, no_end, false },
    { "server_requests", "Server", "requests", COUNT, server_requests, no_server, true },
    { "server_errors_5xx", "Server", "5xx", COUNT, errors_5xx, no_server, true },
    { "server_aborted", "Server", "aborted by the client", COUNT, aborted, no_server,
      false },
    { "server_requests_per_second", "Server", "requests/s", MILLI, server_rate, no_server,
      false },
    { "server_mean_seconds", "Server", "mean", TIME, server_mean, no_server, false },
    { "server_p50_seconds", "Server", "p50", TIME, server_p50, no_server, false },
    { "server_p90_seconds", "Server", "p90", TIME, server_p90, no_server, false },
    { "server_p99_seconds", "Server", "p99", TIME, server_p99, no_server, false },
    { "server_max_seconds", "Server", "max", TIME, server_max, no_server, false },
    { "queue_mean_seconds", "Where the time went", "queue, mean", TIME, queue_mean,
      no_server, true },
    { "read_mean_seconds", "Where the time went", "read, mean", TIME, read_mean,
      no_server, false },
    { "handle_mean_seconds", "Where the time went", "handle, mean", TIME, handle_mean,
      no_server, true },
    { "send_mean_seconds", "Where the time went", "send, mean", TIME, send_mean,
      no_server, false },
    { "held_mean_seconds", "Where the time went", "held a worker, mean", TIME, held_mean,
      no_server, false },
    { "queue_share", "Where the time went", "queue's share", SHARE, queue_share,
      no_server, false },
    { "workers_limit", "Workers", "limit", COUNT, workers_limit, no_sample, true },
    { "workers_busy_mean", "Workers", "busy, mean", MILLI, workers_mean, no_sample, true },
    { "workers_busy_max", "Workers", "busy, most seen", COUNT, workers_max, no_sample,
      false },
    { "no_idle_worker_seconds", "Workers", "time with none idle", TIME, no_idle,
      no_sample, false },
    { "php_requests", "PHP", "requests", COUNT, php_requests, no_php, false },
    { "php_wait_mean_seconds", "PHP", "waited for a worker, mean", TIME, php_wait, no_php, false },
    { "php_run_mean_seconds", "PHP", "ran, mean", TIME, php_run, no_php, false },
    { "php_workers_limit", "PHP", "workers, limit", COUNT, php_limit, no_limit, false },
    { "php_workers_busy_mean", "PHP", "workers busy, mean", MILLI, php_mean, no_php, false },
    { "php_workers_busy_max", "PHP", "workers busy, most seen", COUNT, php_max, no_php, false },
    { "php_peak_pss_bytes", "PHP", "PSS, most", BYTES, php_pss, no_php, false },
    { "php_peak_pss_processes", "PHP", "processes then", COUNT, php_processes, no_php, false },
    { "forks", "Processes", "forked", COUNT, forks, no_sample, false },
    { "exits", "Processes", "ended", COUNT, exits, no_sample, false },
    { "forks_failed", "Processes", "forks refused", COUNT, forks_failed, no_sample,
      false },
    { "connections_shed", "Connections", "kept-alive, shed", COUNT, shed, no_sample,
      false },
    { "accept_queue_max", "Connections", "accept queue, most seen", COUNT, queue_max,
      no_kernel, false },
    { "accept_queue_limit", "Connections", "accept queue, limit", COUNT, queue_limit,
      no_kernel, false },
    { "listen_overflows", "Connections", "found it full (machine)", COUNT, overflows,
      no_kernel, false },
    { "peak_pss_bytes", "Memory and CPU", "PSS, most", BYTES, peak_pss, no_process, true },
    { "peak_pss_processes", "Memory and CPU", "processes then", COUNT, peak_processes,
      no_process, false },
    { "server_cpu_seconds", "Memory and CPU", "server's CPU time", TIME, server_cpu,
      no_process, false },
    { "machine_cpu_busy", "Memory and CPU", "machine's CPUs busy", SHARE, machine_busy,
      no_end, true },
    { "tcp_retransmits", "Memory and CPU", "TCP segments sent again", COUNT,
      tcp_retransmits, no_end, false },
    { "syn_retransmits", "Memory and CPU", "of these, SYNs", COUNT,
      syn_retransmits, no_end, false },
    { "max_runnable", "Memory and CPU", "threads at a CPU, at most",
      COUNT, max_runnable, no_end, false },
    { "cpu_stall_seconds", "Memory and CPU", "waited for a CPU (machine)", TIME, cpu_stall,
      no_memory, false },
    { "memory_stall_seconds", "Memory and CPU", "waited for memory (machine)", TIME, memory_stall,
      no_memory, false },
    { "oom_kills", "Memory and CPU", "killed for want of it (machine)", COUNT, oom_kills,
      no_memory, false },
    { "recorder_cpu_seconds", "Recording", "CPU time of the recording", TIME, recorder_cpu,
      no_end, false },
    { "records_lost", "Recording", "journal records lost", COUNT, lost, no_end, false },
};
const size_t mst_metric_count = sizeof mst_metrics / sizeof *mst_metrics;

/* ---- as text --------------------------------------------------------------------- */

struct mst_human mst_metric_human(enum mst_metric_unit unit, uint64_t value)
{
    if (value == MST_UNKNOWN)
        return (struct mst_human){ "not known" };
    switch (unit) {
    case MST_METRIC_MILLI: return mst_human_milli(value);
    case MST_METRIC_TIME:  return mst_human_time(value);
    case MST_METRIC_BYTES: return mst_human_bytes(value);
    case MST_METRIC_SHARE: return mst_human_percent(value);
    default:               return mst_human_count(value);
    }
}

struct mst_human mst_human_micro(struct mst_human human)
{
    size_t length = strlen(human.text);

    if (length > 3 && strcmp(human.text + length - 3, " us") == 0)
        snprintf(human.text + length - 2, sizeof human.text - length + 2, "µs");
    return human;
}

void mst_metric_put(struct mst_sink *sink, enum mst_metric_unit unit, uint64_t value,
                    const char *unknown)
{
    char fraction[8];

    if (value == MST_UNKNOWN) {
        mst_sink_puts(sink, unknown);
    } else if (unit == MST_METRIC_TIME) {
        mst_sink_seconds(sink, value);
    } else if (unit == MST_METRIC_MILLI || unit == MST_METRIC_SHARE) {
        snprintf(fraction, sizeof fraction, ".%03u", (unsigned)(value % 1000));
        mst_sink_u64(sink, value / 1000);
        mst_sink_puts(sink, fraction);
    } else {
        mst_sink_u64(sink, value);
    }
}

const char *mst_metric_why(const struct mst_metric *metric, const struct mst_summary *s)
{
    const struct mst_summary_server *server = mst_summary_front(s);

    if ((metric->why == no_client || metric->why == no_kind || metric->why == no_join) &&
        s->client.tool == NULL)
        return "no load tool was run";
    if (metric->why == no_kind && !s->client.known)
        return no_client;
    if (metric->why == no_limit && mst_summary_behind(s) == NULL)
        return no_php;
    if (metric->why == no_process && server != NULL && server->unknown != NULL)
        return server->unknown;
    return metric->why;
}
