/* sizing.c - advice on limits from a run's measurements: see sizing.h.
 *
 * Little's law: the mean number of workers that requests hold is the rate at which
 * requests arrive times the mean time that each holds one, whatever the order and
 * the distribution. Where no request waits, the number held scatters about that mean as
 * Poisson's distribution does: 99 % of the time it is below mean + 2.33 sqrt(mean).
 */
#include "analysis/sizing.h"

#include <inttypes.h>
#include <math.h>
#include <stdarg.h>
#include <stdio.h>
#include <string.h>

#include "analysis/thresholds.h"
#include "archive/query.h"
#include "base/clock.h"
#include "console/format.h"
#include "stats/distribution.h"

/* What holds workers of a server: an Apache's requests, or a PHP's. */
struct demand {
    uint64_t requests;
    double   rate, held, held_deviation;   /* per second, while the load ran; seconds */
    double   workers, low, high;           /* rate x held, and its 95 % interval */
};

/* What a process takes: of rounds with different numbers of them, the slope. */
struct per_process {
    bool   known, slope;
    double bytes, low, high;
};

__attribute__((format(printf, 3, 4)))
static void say(char *text, size_t size, const char *format, ...)
{
    va_list args;

    va_start(args, format);
    vsnprintf(text, size, format, args);
    va_end(args);
}

#define SAY(member, ...) say((member), sizeof (member), __VA_ARGS__)

static void cannot_tell(struct mst_advice *advice, const char *why)
{
    advice->known = false;
    SAY(advice->answer, "cannot tell");
    SAY(advice->arithmetic, "%s", why);
    advice->uncertainty[0] = '\0';
}

static struct mst_formatted seconds_text(double seconds)
{
    return mst_format_time((uint64_t)(seconds * (double)MST_NS_PER_S + 0.5));
}

static struct mst_formatted bytes_text(double bytes)
{
    return mst_format_bytes(bytes > 0 ? (uint64_t)bytes : 0);
}

/* ---- demand ---------------------------------------------------------------------- */

static const char apache_held[] =
    "SELECT count(*) AS requests, avg(held_ns) AS mean, avg(1.0 * held_ns * held_ns) AS squares, "
    "total(start_ns + queue_ns + read_ns + handle_ns + send_ns <= :ended_ns) AS in_time "
    "FROM server_requests WHERE server_id = :id AND no_worker = 0 AND ghost = 0 "
    "AND label <> '" MST_LABEL_STATUS_NAME "'";
static const char php_held[] =
    "SELECT count(*) AS requests, avg(run_ns) AS mean, avg(1.0 * run_ns * run_ns) AS squares, "
    "total(start_ns + run_ns <= :ended_ns) AS in_time FROM php_requests "
    "WHERE server_id = :id AND ghost = 0";

/* The interval takes requests as independent of each other. Those that ended after the load
 * are none of its rate; another machine's clock does not tell which these are. */
static bool read_demand(struct demand *d, sqlite3 *db, const struct mst_summary *run,
                        const struct mst_summary_server *server)
{
    const char *sql = mst_summary_is_php(server) ? php_held : apache_held;
    struct mst_query q = mst_query_ask(db, sql, server->id);
    double mean, squares, seconds = (double)run->duration_ns / (double)MST_NS_PER_S, relative;
    double in_time = 0;

    mst_query_set(&q, ":ended_ns", server->local && run->ended_ns != MST_UNKNOWN ?
                  (int64_t)run->ended_ns : INT64_MAX);
    memset(d, 0, sizeof *d);
    if (mst_query_next(&q)) {
        d->requests = mst_row_number(&q, "requests");
        mean = mst_row_real(&q, "mean") / (double)MST_NS_PER_S;
        squares = mst_row_real(&q, "squares") / 1e18;
        in_time = mst_row_real(&q, "in_time");
        d->held = mean;
        d->held_deviation = squares > mean * mean ? sqrt(squares - mean * mean) : 0;
    }
    if (!mst_query_done(&q))
        return false;
    if (d->requests == 0 || d->held <= 0)
        return true;
    d->rate = in_time / seconds;
    d->workers = d->rate * d->held;
    relative = MST_NORMAL_95_BOTH_SIDES *
               sqrt((1 + pow(d->held_deviation / d->held, 2)) / (double)d->requests);
    d->low = d->workers * (1 - relative);
    d->high = d->workers * (1 + relative);
    return true;
}

/* ---- memory ---------------------------------------------------------------------- */

struct sums { double n, x, y, xx, xy, yy; uint64_t counts; };

static bool read_memory_sums(struct sums *s, sqlite3 *db, int64_t server_id)
{
    struct mst_query q = mst_query_ask(db,
        "SELECT count(*) AS n, avg(processes) AS x, avg(pss_bytes) AS y, "
        "avg(1.0 * processes * processes) AS xx, avg(1.0 * processes * pss_bytes) AS xy, "
        "avg(1.0 * pss_bytes * pss_bytes) AS yy, count(DISTINCT processes) AS counts "
        "FROM memory_samples WHERE server_id = :id", server_id);

    memset(s, 0, sizeof *s);
    if (mst_query_next(&q))
        *s = (struct sums){
            .n = mst_row_real(&q, "n"), .x = mst_row_real(&q, "x"), .y = mst_row_real(&q, "y"),
            .xx = mst_row_real(&q, "xx"), .xy = mst_row_real(&q, "xy"),
            .yy = mst_row_real(&q, "yy"), .counts = mst_row_number(&q, "counts"),
        };
    return mst_query_done(&q);
}

/* Rounds with several numbers of processes: the slope of a line through them is one
 * more process. Else what there is divided by the processes, shared pages included:
 * more than one more would take. */
static bool read_per_process(struct per_process *p, sqlite3 *db, int64_t server_id)
{
    struct sums s;
    double var_x, error;

    memset(p, 0, sizeof *p);
    if (!read_memory_sums(&s, db, server_id))
        return false;
    if (s.n < 1 || s.x < 1)
        return true;
    p->known = true;
    var_x = s.xx - s.x * s.x;
    p->slope = s.counts >= MST_MEMORY_COUNTS_MIN && s.n >= MST_MEMORY_COUNTS_MIN + 2 && var_x > 0;
    if (!p->slope) {
        p->bytes = p->high = s.y / s.x;
        return true;
    }
    p->bytes = (s.xy - s.x * s.y) / var_x;
    error = s.yy - s.y * s.y - p->bytes * p->bytes * var_x;
    error = MST_NORMAL_95_BOTH_SIDES * sqrt(fmax(error, 0) / var_x / (s.n - 2));
    p->low = p->bytes - error;
    p->high = p->bytes + error;
    p->slope = p->low > 0;
    if (!p->slope)
        p->bytes = p->high = s.y / s.x;
    return true;
}

static bool read_ram(uint64_t *bytes, sqlite3 *db, int64_t run_id)
{
    struct mst_query q = mst_query_ask(db,
        "SELECT CAST(value AS INTEGER) AS bytes FROM environment WHERE run_id = :id "
        "AND name = 'memory_bytes'", run_id);

    *bytes = mst_query_next(&q) ? mst_row_number(&q, "bytes") : MST_UNKNOWN;
    return mst_query_done(&q);
}

static bool is_threaded(const struct mst_summary_server *server)
{
    return server->mpm != NULL &&
           (strcmp(server->mpm, "worker") == 0 || strcmp(server->mpm, "event") == 0);
}

/* What memory allows, behind the uncertainty. */
static void add_memory(struct mst_advice *advice, const struct per_process *p, uint64_t ram,
                       bool threaded)
{
    size_t used = strlen(advice->uncertainty);

    if (!p->known || ram == MST_UNKNOWN || p->high <= 0)
        say(advice->uncertainty + used, sizeof advice->uncertainty - used,
            "What memory allows is not known.");
    else
        say(advice->uncertainty + used, sizeof advice->uncertainty - used,
            "Memory: 80 %% of %s / %s a process (%s) = %.0f processes%s, where nothing else "
            "needs it.",
            mst_format_bytes(ram).text, bytes_text(p->high).text,
            p->slope ? "what one more takes, upper end" : "an upper bound: shared pages included",
            floor((double)ram * (MST_RAM_SHARE_MILLI / 1000.0) / p->high),
            threaded ? " of several workers each" : "");
}

/* ---- workers --------------------------------------------------------------------- */

static const char *too_little(const struct mst_summary *run, const struct demand *d)
{
    if (run->duration_ns == MST_UNKNOWN || run->duration_ns < MST_SIZING_RUN_MIN_NS)
        return "the run was shorter than two seconds, or did not come to its end";
    return d->requests < MST_SIZING_REQUESTS_MIN ? "fewer than 100 requests were recorded" : NULL;
}

/* Where requests wait for a worker of this server. */
static const struct mst_summary_times *waiting(const struct mst_summary_server *server)
{
    return &server->phases[mst_summary_is_php(server) ? MST_PHASE_PHP_WAIT : MST_PHASE_QUEUE];
}

/* The verdict's condition, with the lower threshold MST_SIZING_WAIT_SHARE_MILLI. */
static bool ran_out(const struct mst_summary_server *server)
{
    uint64_t total = server->phases[MST_PHASE_TOTAL].sum_ns;

    return total != MST_UNKNOWN && total > 0 && mst_summary_all_busy(server) &&
           mst_summary_waits(server) &&
           (double)waiting(server)->sum_ns > MST_SIZING_WAIT_SHARE_MILLI / 1000.0 * (double)total;
}

static bool cpu_is_full(const struct mst_summary *run)
{
    return run->machine_busy_milli != MST_UNKNOWN && run->machine_busy_milli >= MST_CPU_FULL_MILLI;
}

/* Whether connections without a request held workers, too: not on event. */
static bool keepalive_holds(const struct mst_summary_server *server)
{
    uint64_t idle = server->mean_state_milli[MST_STATE_KEEPALIVE], busy = server->mean_busy_milli;

    return idle != MST_UNKNOWN && busy != MST_UNKNOWN &&
           (double)idle > MST_KEEPALIVE_SHARE_MILLI / 1000.0 * (double)busy;
}

/* Says how many requests there were at once on average, waiting and with a worker. Returns how
 * many. */
static double add_at_once(char *text, size_t size, const struct mst_summary_server *server,
                          const struct demand *d)
{
    double waited = (double)waiting(server)->mean_ns / (double)MST_NS_PER_S;
    double busy = (double)server->mean_busy_milli / 1000, all = d->rate * (d->held + waited);

    if (!keepalive_holds(server)) {
        say(text, size, "%.4g/s x (%s held + %s waited) = %.3g requests at once", d->rate,
            seconds_text(d->held).text, seconds_text(waited).text, all);
        return all;
    }
    all = busy + d->rate * waited;
    say(text, size, "%.3g workers busy in the mean (%s of them with idle keep-alive connections) "
        "+ %.4g/s x %s waited = %.3g at once", busy,
        mst_format_milli(server->mean_state_milli[MST_STATE_KEEPALIVE]).text, d->rate,
        seconds_text(waited).text, all);
    return all;
}

/* Requests waited: all that were there, waiting or held, could have had a worker. They may
 * wait although there are workers enough on average: then the average gives no number. */
static void advise_more(struct mst_advice *advice, const struct mst_summary *run,
                        const struct mst_summary_server *server, const struct demand *d)
{
    uint64_t limit = server->workers_limit != MST_UNKNOWN ? server->workers_limit
                                                          : server->max_busy;
    char at_once[256], now[32] = "now";
    double all = ceil(add_at_once(at_once, sizeof at_once, server, d));

    if (cpu_is_full(run)) {
        cannot_tell(advice, "requests waited for workers, but the CPUs were busy too: more workers "
                            "would share them, and a request would hold its worker for longer");
        return;
    }
    advice->known = true;
    if (server->workers_limit != MST_UNKNOWN)
        snprintf(now, sizeof now, "%" PRIu64, limit);
    if (all > (double)limit) {
        SAY(advice->answer, "more than %s: up to %.0f", now, all);
        SAY(advice->arithmetic, "Requests waited for workers. %s: with a worker each, none of them "
            "would have waited.", at_once);
    } else {
        SAY(advice->answer, "more than %s", now);
        SAY(advice->arithmetic, "Requests waited for workers. %s, in the mean, for %" PRIu64
            " workers: at times there were more, and a mean does not tell how many.", at_once,
            limit);
    }
    SAY(advice->uncertainty, "If a request takes no longer with more of them at once, which only a "
        "run with more workers can show; and for as many clients as in this run. ");
}

static void advise_enough(struct mst_advice *advice, const struct mst_summary_server *server,
                          const struct demand *d)
{
    double most = d->high + MST_NORMAL_99_ONE_SIDE * sqrt(d->high);
    uint64_t seen = server->max_busy != MST_UNKNOWN ? server->max_busy : 0;
    double answer = fmax(ceil(most), (double)seen);

    advice->known = true;
    SAY(advice->answer, "%.0f for this load", answer);
    SAY(advice->arithmetic, "%.4g requests/s x %s held = %.3g workers in the mean; with arrivals "
        "at random 99 %% of the time at most %.0f. At most %s were seen busy.", d->rate,
        seconds_text(d->held).text, d->workers, ceil(most),
        mst_format_count(server->max_busy).text);
    SAY(advice->uncertainty, "95 %% interval of the mean: %.3g to %.3g. Another rate: the same "
        "time held, times that rate. ", d->low, d->high);
}

static bool advise_workers(struct mst_advice *advice, const struct mst_summary *run,
                           const struct mst_summary_server *server, sqlite3 *db, uint64_t ram)
{
    struct per_process process;
    struct demand d;
    const char *why;

    if (!read_demand(&d, db, run, server) || !read_per_process(&process, db, server->id))
        return false;
    why = too_little(run, &d);
    if (why == NULL && server->lost != 0)
        why = "records of requests were lost, or it is not known how many";
    if (why != NULL)
        cannot_tell(advice, why);
    else if (ran_out(server))
        advise_more(advice, run, server, &d);
    else
        advise_enough(advice, server, &d);
    if (advice->known)
        add_memory(advice, &process, ram, is_threaded(server));
    return true;
}

/* ---- the accept queue ------------------------------------------------------------ */

static void advise_backlog(struct mst_advice *advice, const struct mst_summary *run,
                           const struct mst_summary_server *server)
{
    uint64_t longest, limit;

    if (server == NULL || server->max_listen_queue == MST_UNKNOWN ||
        server->listen_queue_limit == MST_UNKNOWN) {
        cannot_tell(advice, "the length of the accept queue is not known: it is seen on the "
                            "server's machine only, by root or the server's user");
        return;
    }
    longest = server->max_listen_queue;
    limit = server->listen_queue_limit;
    advice->known = true;
    SAY(advice->uncertainty, "Of each listening socket by itself, seen at the fullest. It was "
        "looked at ten times a second: between two looks it may have been longer. The kernel cuts "
        "ListenBacklog to net.core.somaxconn.");
    if (server->local && run->listen_overflows != MST_UNKNOWN && run->listen_overflows > 0) {
        SAY(advice->answer, "more than %" PRIu64, limit);
        SAY(advice->arithmetic, "Connections found a queue full %" PRIu64 " times on this machine, "
            "and had to try again after 0.2 s or more; %" PRIu64 " may wait here.",
            run->listen_overflows, limit);
    } else if (longest * 2 > limit) {
        SAY(advice->answer, "%" PRIu64 ", twice what was seen", longest * 2);
        SAY(advice->arithmetic, "At most %" PRIu64 " of %" PRIu64 " connections were seen waiting, "
            "and none was refused: little is left.", longest, limit);
    } else {
        SAY(advice->answer, "%" PRIu64 ", as it is", limit);
        SAY(advice->arithmetic, "At most %" PRIu64 " connections were seen waiting, and %" PRIu64
            " may%s.", longest, limit, limit == MST_DEFAULT_BACKLOG ? " (the default)" : "");
    }
}

/* ---- all of it ------------------------------------------------------------------- */

bool mst_sizing_make(struct mst_sizing *sizing, const struct mst_summary *run, sqlite3 *db)
{
    static const char *const directives[MST_ADVICE_COUNT] = {
        [MST_ADVICE_WORKERS] = "MaxRequestWorkers", [MST_ADVICE_PHP] = "pm.max_children",
        [MST_ADVICE_BACKLOG] = "ListenBacklog",
    };
    const struct mst_summary_server *front = mst_summary_front(run);
    const struct mst_summary_server *php = mst_summary_behind(run);
    struct mst_advice *advice = sizing->advice;
    uint64_t ram;
    int i;

    memset(sizing, 0, sizeof *sizing);
    for (i = 0; i < MST_ADVICE_COUNT; i++)
        advice[i].directive = directives[i];
    if (!read_ram(&ram, db, run->id))
        return false;
    advise_backlog(&advice[MST_ADVICE_BACKLOG], run, front);
    if (front == NULL || mst_summary_is_php(front))
        cannot_tell(&advice[MST_ADVICE_WORKERS], "no Apache was recorded");
    else if (!advise_workers(&advice[MST_ADVICE_WORKERS], run, front, db, ram))
        return false;
    if (php == NULL)
        cannot_tell(&advice[MST_ADVICE_PHP], "no PHP was recorded: its extension was not loaded, "
                    "or its board was not among the targets");
    else if (!advise_workers(&advice[MST_ADVICE_PHP], run, php, db, ram))
        return false;
    return true;
}
