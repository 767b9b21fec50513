/* measure.c - the figures of a study's run: see measure.h. */
#include "lab/report/measure.h"
#include "lab/report/parts.h"

#include <math.h>
#include <string.h>

#include "analysis/table.h"
#include "archive/query.h"
#include "base/clock.h"
#include "loadtools/loadtool.h"

/* ---- a run's values -------------------------------------------------------------- */

static double over(double part, double whole)
{
    return whole > 0 ? part / whole : NAN;
}

/* Failed requests and their share of all. Some tools do not count failed requests among their
 * requests: those are added to all. ab counts some failures twice: there are at most as many as
 * requests. */
static void measure_failures(double *v, const struct mst_summary_client *c)
{
    const struct mst_loadtool *tool = mst_loadtool_for(c->tool != NULL ? c->tool : "");
    uint64_t besides = mst_loadtool_failed_besides(tool, c->failed, c->failed_timeout);
    double all = v[MST_M_REQUESTS] + (besides != MST_UNKNOWN ? (double)besides : 0);

    v[MST_M_ERRORS] = fmin((double)mst_summary_failures(c), all);
    v[MST_M_ERROR_SHARE] = over(v[MST_M_ERRORS], all);
    v[MST_M_AVAILABILITY] = 1 - v[MST_M_ERROR_SHARE];
}

static void measure_client(double *v, const struct mst_summary *s)
{
    const struct mst_summary_client *c = &s->client;
    double duration = mst_cell_seconds(c->duration_ns);
    size_t i;

    if (!c->known)
        return;
    for (i = 0; i < MST_M_COUNT; i++)
        if (mst_metrics[i].study != NULL && mst_metrics[i].source == MST_FROM_CLIENT)
            v[i] = mst_cell(mst_metric_get(&mst_metrics[i], s)) /
                   mst_quantity_scale(mst_metrics[i].unit);
    v[MST_M_TAKEN] = isnan(duration) ? mst_cell_seconds(s->duration_ns) : duration;
    v[MST_M_TRANSFER] = over(v[MST_M_BYTES], v[MST_M_TAKEN]);
    v[MST_M_BETWEEN] = over(v[MST_M_TAKEN], v[MST_M_REQUESTS]);
    v[MST_M_CONCURRENCY] = v[MST_M_RATE] * v[MST_M_MEAN];
    measure_failures(v, c);
}

/* ---- servers --------------------------------------------------------------------- */

/* mod_php: its workers and processes are Apache's own. */
static bool is_within_apache(const struct mst_summary_server *server)
{
    return server->sapi_kind == MST_SAPI_MOD_PHP;
}

bool mst_study_is_front(const struct mst_summary *s, const struct mst_summary_server *server)
{
    const struct mst_summary_server *front = mst_summary_front(s);

    return server->producer == front->producer &&
           is_within_apache(server) == is_within_apache(front);
}

/* A PHP with workers of its own that served the load. One without requests may belong to another
 * user. */
static bool is_working_php(const struct mst_summary *s, const struct mst_summary_server *server)
{
    return mst_summary_is_php(server) && !is_within_apache(server) &&
           (server->requests > 0 || server == mst_summary_behind(s));
}

typedef bool is_meant(const struct mst_summary *s, const struct mst_summary_server *server);

/* The sum over the servers that are meant of the member at that offset, a uint64_t. NaN where one
 * of them does not know it. */
static double sum_of(const struct mst_summary *s, is_meant *meant, size_t offset)
{
    double sum = 0;
    uint64_t number;
    size_t i;

    for (i = 0; i < s->server_count; i++) {
        memcpy(&number, (const char *)&s->servers[i] + offset, sizeof number);
        sum += meant(s, &s->servers[i]) ? mst_cell(number) : 0;
    }
    return sum;
}

#define SUM_OF(s, meant, member) sum_of(s, meant, offsetof(struct mst_summary_server, member))

/* The only server that is meant (and had requests). Figures that cannot be added up, such as a
 * percentile, are known if there is just one. NULL: there are several, or none. */
static const struct mst_summary_server *only_one(const struct mst_summary *s, is_meant *meant,
                                                 bool with_requests)
{
    const struct mst_summary_server *only = NULL;
    size_t i;

    for (i = 0; i < s->server_count; i++) {
        const struct mst_summary_server *server = &s->servers[i];

        if (!meant(s, server) || (with_requests && server->requests == 0))
            continue;
        if (only != NULL)
            return NULL;
        only = server;
    }
    return only;
}

/* The times of a study's part at a server. NULL: it has none. PHP's time within handle and send
 * stands apart where it is known. */
static const struct mst_summary_times *times_of(const struct mst_summary_server *s,
                                                enum mst_metric_id part)
{
    const struct mst_summary_overlay *php = s->php.joined > 0 ? &s->php : NULL;
    bool is_php = mst_summary_is_php(s);

    switch (part) {
    case MST_M_PHP_WAIT:
        return is_php ? &s->phases[MST_PHASE_PHP_WAIT] : php != NULL ? &php->handle_wait : NULL;
    case MST_M_PHP_RUN:
        return is_php ? &s->phases[MST_PHASE_PHP_RUN] : php != NULL ? &php->handle_run : NULL;
    case MST_M_HANDLE:
        return php != NULL ? &php->handle_other : is_php ? NULL : &s->phases[MST_PHASE_HANDLE];
    case MST_M_SEND_PHP:
        return php != NULL ? &php->send_run : NULL;
    case MST_M_SEND:
        return php != NULL ? &php->send_other : is_php ? NULL : &s->phases[MST_PHASE_SEND];
    case MST_M_QUEUE:
        return is_php ? NULL : &s->phases[MST_PHASE_QUEUE];
    default:
        return is_php ? NULL : &s->phases[MST_PHASE_READ];
    }
}

/* A part's time in all requests. NaN: no server with requests has that part. */
static double sum_of_part(const struct mst_summary *s, enum mst_metric_id part)
{
    const struct mst_summary_times *times;
    bool any = false;
    double sum = 0;
    size_t i;

    for (i = 0; i < s->server_count; i++) {
        if (s->servers[i].requests == 0 || !mst_study_is_front(s, &s->servers[i]))
            continue;
        times = times_of(&s->servers[i], part);
        if (times == NULL)
            continue;
        sum += mst_cell_seconds(times->sum_ns);
        any = true;
    }
    return any ? sum : NAN;
}

static void measure_parts(double *v, const struct mst_summary *s)
{
    size_t i;

    for (i = 0; i < mst_study_part_count; i++)
        v[mst_study_parts[i]] = over(sum_of_part(s, mst_study_parts[i]),
                                     v[MST_M_SERVER_REQUESTS]);
}

static void measure_front(double *v, const struct mst_summary *s)
{
    const struct mst_summary_server *one = only_one(s, mst_study_is_front, false);
    const struct mst_summary_server *served = only_one(s, mst_study_is_front, true);

    v[MST_M_SERVER_REQUESTS] = SUM_OF(s, mst_study_is_front, requests);
    v[MST_M_5XX] = SUM_OF(s, mst_study_is_front, errors_5xx);
    v[MST_M_SERVER_MEAN] = over(
        SUM_OF(s, mst_study_is_front, phases[MST_PHASE_TOTAL].sum_ns) / (double)MST_NS_PER_S,
        SUM_OF(s, mst_study_is_front, phases[MST_PHASE_TOTAL].count));
    if (served != NULL) {
        v[MST_M_SERVER_P50] = mst_cell_seconds(served->phases[MST_PHASE_TOTAL].p50_ns);
        v[MST_M_SERVER_P99] = mst_cell_seconds(served->phases[MST_PHASE_TOTAL].p99_ns);
    }
    measure_parts(v, s);
    v[MST_M_OVERFLOWS] = mst_cell(s->listen_overflows);
    if (mst_summary_is_php(mst_summary_front(s)))
        return;   /* its workers are PHP's, below */
    v[MST_M_LIMIT] = SUM_OF(s, mst_study_is_front, workers_limit);
    v[MST_M_BUSY] = SUM_OF(s, mst_study_is_front, mean_busy_milli) / 1000;
    v[MST_M_OCCUPANCY] = over(v[MST_M_BUSY], v[MST_M_LIMIT]);
    if (one != NULL)
        v[MST_M_NO_IDLE] = mst_cell_seconds(one->no_idle_ns);
    v[MST_M_SHED] = SUM_OF(s, mst_study_is_front, shed);
}

static void measure_php(double *v, const struct mst_summary *s)
{
    const struct mst_summary_server *one = only_one(s, is_working_php, false);

    v[MST_M_PHP_LIMIT] = SUM_OF(s, is_working_php, workers_limit);
    v[MST_M_PHP_BUSY] = SUM_OF(s, is_working_php, mean_busy_milli) / 1000;
    v[MST_M_PHP_OCCUPANCY] = over(v[MST_M_PHP_BUSY], v[MST_M_PHP_LIMIT]);
    v[MST_M_PHP_PSS] = SUM_OF(s, is_working_php, peak_pss_bytes);
    if (one != NULL)
        v[MST_M_PHP_NO_IDLE] = mst_cell_seconds(one->no_idle_ns);
}

/* ---- processes ------------------------------------------------------------------- */

/* What lab/servers/others.c wrote down of the servers that cannot be recorded; NaN: nothing. */
static double others(const struct mst_summary *s, const char *name, sqlite3 *db)
{
    struct mst_query q = mst_query_ask(db, "SELECT CAST(value AS INTEGER) AS value "
                                       "FROM environment WHERE run_id = :id AND name = :name",
                                       s->id);
    double value;

    mst_query_set_text(&q, ":name", name);
    value = mst_query_next(&q) ? (double)mst_row_number(&q, "value") : NAN;
    mst_query_done(&q);
    return value;
}

bool mst_study_is_whole(const struct mst_summary *s, const struct mst_study_servers *servers,
                        sqlite3 *db)
{
    size_t apache = 0, fpm = 0, i;

    for (i = 0; i < s->server_count; i++) {
        apache += !mst_summary_is_php(&s->servers[i]);
        fpm += s->servers[i].sapi_kind == MST_SAPI_FPM;
    }
    return (servers->others == 0 || isfinite(others(s, "others_pss_bytes", db))) &&
           apache >= servers->apache && fpm >= servers->fpm;
}

static bool has_processes(const struct mst_summary *s, const struct mst_summary_server *server)
{
    (void)s;
    return !is_within_apache(server);   /* those are counted with Apache */
}

/* Of all servers together; not known where one of them was not recorded. The programs' CPU times
 * do not help there: they are by name, and other processes may have the same name. */
static void measure_processes(double *v, const struct mst_summary *s,
                              const struct mst_study_servers *servers, sqlite3 *db)
{
    bool with_others = servers->others > 0;
    double cpu = SUM_OF(s, has_processes, cpu_ns);

    v[MST_M_EXITS] = SUM_OF(s, has_processes, exits);
    v[MST_M_KILLED] = SUM_OF(s, has_processes, killed);
    if (!mst_study_is_whole(s, servers, db))
        return;
    v[MST_M_PSS] = SUM_OF(s, has_processes, peak_pss_bytes);
    v[MST_M_RSS] = SUM_OF(s, has_processes, peak_rss_bytes);
    v[MST_M_PROCESSES] = SUM_OF(s, has_processes, peak_processes);
    if (with_others) {
        v[MST_M_PSS] += others(s, "others_pss_bytes", db);
        v[MST_M_RSS] += others(s, "others_rss_bytes", db);
        v[MST_M_PROCESSES] += others(s, "others_processes", db);
        cpu += others(s, "others_cpu_ns", db);
    }
    v[MST_M_PSS_EACH] = over(v[MST_M_PSS], v[MST_M_PROCESSES]);
    v[MST_M_RSS_EACH] = over(v[MST_M_RSS], v[MST_M_PROCESSES]);
    v[MST_M_CPU_EACH] = over(cpu / (double)MST_NS_PER_S, v[MST_M_SERVER_REQUESTS]);
}

/* How busy the machine was while there were requests, by the samples that are closest to the first
 * and the last one: a load tool may take long to start and to end (tsung some 10 s). */
static bool measure_machine(double *v, const struct mst_summary *s, sqlite3 *db)
{
    struct mst_query q = mst_query_ask(db,
        "WITH requests AS (SELECT min(start_ns) AS first, max(start_ns + queue_ns + read_ns + "
        "handle_ns + send_ns) AS last FROM server_requests WHERE ghost = 0 AND label <> '"
        MST_LABEL_STATUS_NAME "' AND server_id IN (SELECT id FROM servers WHERE run_id = :id) "
        "UNION ALL SELECT min(start_ns), max(start_ns + run_ns) FROM php_requests WHERE ghost = 0 "
        "AND server_id IN (SELECT id FROM servers WHERE run_id = :id)), "
        "readings AS (SELECT * FROM machine_samples WHERE run_id = :id), "
        "span AS (SELECT (SELECT max(time_ns) FROM readings WHERE time_ns <= min(first)) AS first, "
        "(SELECT min(time_ns) FROM readings WHERE time_ns >= max(last)) AS last FROM requests) "
        "SELECT max(busy_ns) - min(busy_ns) AS busy_ns, max(total_ns) - min(total_ns) AS total_ns "
        "FROM readings, span WHERE time_ns BETWEEN span.first AND span.last", s->id);

    v[MST_M_MACHINE] = mst_cell(s->machine_busy_milli) / 1000;
    if (mst_query_next(&q) && mst_row_number(&q, "total_ns") != MST_UNKNOWN)
        v[MST_M_MACHINE] = over(mst_cell(mst_row_number(&q, "busy_ns")),
                                mst_cell(mst_row_number(&q, "total_ns")));
    return mst_query_done(&q);
}

/* Figures that a summary does not have. */
static bool measure_rows(double *v, const struct mst_summary *s, sqlite3 *db)
{
    struct mst_query client = mst_query_ask(db,
        "SELECT avg(connect_ns) AS connect_ns, avg(duration_ns - connect_ns) AS processing_ns "
        "FROM client_requests WHERE run_id = :id AND connect_ns IS NOT NULL", s->id);
    struct mst_query forks = mst_query_ask(db,
        "SELECT count(*) AS forks FROM lifecycle JOIN servers ON servers.id = server_id "
        "JOIN runs ON runs.id = run_id WHERE run_id = :id AND event = 'fork' "
        "AND coalesce(sapi, '') <> 'apache2handler' AND time_ns >= runs.started_ns", s->id);
    struct mst_query pages = mst_query_ask(db,
        "SELECT min(bytes) AS least, max(bytes) AS most FROM server_requests "
        "JOIN servers ON servers.id = server_id WHERE run_id = :id AND ghost = 0 "
        "AND status BETWEEN 200 AND 299 AND bytes > 0 AND aborted = 0 "
        "AND label <> '" MST_LABEL_STATUS_NAME "'", s->id);
    bool fine;

    if (mst_query_next(&client) && !mst_row_is_null(&client, "connect_ns")) {
        v[MST_M_CONNECT] = mst_row_real(&client, "connect_ns") / (double)MST_NS_PER_S;
        v[MST_M_PROCESSING] = mst_row_real(&client, "processing_ns") / (double)MST_NS_PER_S;
    }
    if (mst_query_next(&forks) && s->server_count > 0) {
        v[MST_M_FORKS] = mst_cell(mst_row_number(&forks, "forks"));
        v[MST_M_FORKS_EACH] = over(v[MST_M_FORKS], v[MST_M_SERVER_REQUESTS]);
    }
    if (mst_query_next(&pages)) {
        v[MST_M_PAGE_MIN] = mst_cell(mst_row_number(&pages, "least"));
        v[MST_M_PAGE_MAX] = mst_cell(mst_row_number(&pages, "most"));
    }
    fine = mst_query_done(&client);
    fine = mst_query_done(&forks) && fine;
    return mst_query_done(&pages) && fine;
}

bool mst_study_measure(double values[MST_M_COUNT], const struct mst_summary *s,
                       const struct mst_study_servers *servers, sqlite3 *db)
{
    const struct mst_summary_server *php = mst_summary_behind(s);
    enum mst_answer generator = s->checks[MST_CHECK_GENERATOR].ok;
    int i;

    for (i = 0; i < MST_M_COUNT; i++)
        values[i] = NAN;
    measure_client(values, s);
    if (s->server_count > 0) {
        measure_front(values, s);
        measure_processes(values, s, servers, db);
    }
    if (php != NULL && !is_within_apache(php))
        measure_php(values, s);
    if (generator != MST_ANSWER_UNKNOWN)
        values[MST_M_GENERATOR] = generator == MST_ANSWER_NO;
    return measure_machine(values, s, db) && measure_rows(values, s, db);
}
