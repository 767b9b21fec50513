/* down.c - the findings of servers that do not run, or that cannot be reached: Apache's, PHP-FPM's
 * master, its workers, its socket; and of a time in which PHP-FPM did not run. findings/down.c has
 * the one that a recording has, too. */
#include <inttypes.h>
#include <stdio.h>
#include <string.h>

#include "analysis/thresholds.h"
#include "archive/query.h"
#include "base/clock.h"
#include "console/format.h"
#include "explain/steps.h"
#include "findings/chains.h"
#include "findings/findings.h"
#include "findings/inquiry.h"
#include "findings/say.h"
#include "findings/sentences.h"
#include "system/proc.h"
#include "system/uninstrumented.h"

/* Apache answers a request for a PHP that it cannot reach with 502 or 503: so many of these answers
 * follow from the root; MST_UNKNOWN: all. */
static void take_failures(struct mst_explanation *e, const struct mst_finding *root,
                          uint64_t requests)
{
    struct mst_finding *f;
    uint64_t status;
    size_t i;

    for (i = 0; i < e->summary.finding_count; i++) {
        f = &e->summary.findings[i];
        status = mst_finding_number(f, "status");
        if (f->code == MST_CODE_ANSWERS_5XX && !f->caused_by.known &&
            (status == 502 || status == 503) && f->requests <= requests)
            mst_follows(f, root, false);
    }
}

static struct mst_finding new_finding(enum mst_code code, uint64_t weight)
{
    return (struct mst_finding){
        .code = code, .certainty = MST_CERTAIN, .share_milli = MST_UNKNOWN,
        .requests = MST_UNKNOWN, .weight = weight,
    };
}

/* ---- servers ------------------------------------------------------------------------------- */

static bool add_ended(struct mst_explanation *e, struct mst_explained_server *s)
{
    struct mst_finding f = new_finding(MST_CODE_SERVER_RESTARTED, 3 * MST_WEIGHT_FIRST);
    bool was_stopped = s->sample.stopped_ns != MST_UNKNOWN;
    uint64_t end_ns = was_stopped ? s->sample.stopped_ns : s->last_ns;
    char since[48] = "", without[512];

    snprintf(f.subject, sizeof f.subject, "%s", mst_source_called(s->source));
    if (was_stopped)
        snprintf(since, sizeof since, " at %s", mst_format_clock(s->sample.stopped_ns).text);
    s->is_without = mst_source_local(s->source) && end_ns != 0 &&
                    mst_uninstrumented_instead(mst_server_is_php(s) ? MST_ASK_PHP : MST_ASK_APACHE,
                                               mst_source_identity(s->source)->pid, end_ns,
                                               without, sizeof without);
    MST_TEXT(&f, "The server of %s %s: it %s%s. What follows is of the time before.",
             mst_source_called(s->source),
             s->is_without ? "is not recorded any more" : "does not run",
             was_stopped ? "was stopped" : "ended without being stopped (killed, or crashed)",
             since);
    if (s->is_without)
        MST_ACTION(&f, "%s.", without);
    else
        MST_ACTION(&f, "%s", was_stopped ? "Start the server." :
               "Look for the reason in the error log and in the kernel's log (dmesg, for a lack of "
               "memory), then start the server.");
    return mst_findings_add(&e->summary, &f);
}

/* Whether PHP has served requests since then: then another server is in front of it. */
static bool has_served_since(const struct mst_explanation *e, uint64_t end_ns)
{
    size_t i;

    for (i = 0; i < e->server_count; i++)
        if (mst_server_is_php(&e->servers[i]) && e->servers[i].last_ns > end_ns)
            return true;
    return false;
}

static bool is_missed(const struct mst_explanation *e, const struct mst_explained_server *s)
{
    uint64_t end_ns = s->sample.stopped_ns != MST_UNKNOWN ? s->sample.stopped_ns : s->last_ns;
    size_t i;

    if (!mst_server_is_php(s))
        return e->stuck_count == 0 && !has_served_since(e, end_ns);
    for (i = 0; i < e->summary.finding_count; i++)
        if (e->summary.findings[i].code == MST_CODE_PHP_DOWN)
            return true;
    return false;
}

static bool add_not_running(struct mst_explanation *e, struct mst_explained_server *s)
{
    if (s->is_running || s->workers_left > 0)
        return true;
    s->is_missed = is_missed(e, s);
    if (mst_server_is_php(s) && s->is_missed)
        return true;   /* findings/down.c has said so */
    return s->is_aside && !s->is_missed ? true : add_ended(e, s);
}

/* ---- PHP-FPM ------------------------------------------------------------------------------- */

static bool add_no_master(struct mst_explanation *e, const struct mst_explained_server *s)
{
    struct mst_finding f = new_finding(MST_CODE_PHP_DOWN, MST_WEIGHT_FIRST);

    if (s->workers_left == 0)
        return true;
    MST_TEXT(&f, "PHP-FPM's master process does not run (killed, or crashed), and %" PRIu64 " of "
             "its workers serve without it: none that ends is replaced.", s->workers_left);
    MST_ACTION(&f, "Restart PHP-FPM (Debian: systemctl restart php8.2-fpm, which ends these "
               "workers, too). Look for the reason in its log and in the kernel's log (dmesg, "
               "for a lack of memory).");
    mst_found_number(&f, "workers_left", s->workers_left);
    return mst_findings_add(&e->summary, &f);
}

static bool add_lost_socket(struct mst_explanation *e, const struct mst_explained_server *s)
{
    struct mst_finding f = new_finding(MST_CODE_PHP_DOWN, 3 * MST_WEIGHT_FIRST);

    if (s->lost_socket[0] == '\0')
        return true;
    snprintf(f.subject, sizeof f.subject, "%s", s->lost_socket);
    MST_TEXT(&f, "PHP-FPM runs and cannot be reached: it listens on %s, and that file was removed.",
             s->lost_socket);
    MST_ACTION(&f, "Restart PHP-FPM: it makes the file again. Then look for what removes it.");
    take_failures(e, &f, MST_UNKNOWN);
    return mst_findings_add(&e->summary, &f);
}

/* With pm = ondemand there is none at first, for a moment. */
static bool add_no_workers(struct mst_explanation *e, const struct mst_explained_server *s)
{
    uint64_t queue = mst_known(s->sample.listen_queue);
    struct mst_finding f = new_finding(MST_CODE_PHP_DOWN, 3 * MST_WEIGHT_FIRST);

    if (!s->is_running || !mst_server_is_fpm(s) || !mst_source_local(s->source) ||
        s->sample.process_count > 0 || queue == 0)
        return true;
    f.certainty = MST_LIKELY;
    MST_TEXT(&f, "PHP-FPM's master process runs, but has no worker, and %" PRIu64 " connection%s "
             "in its accept queue.", queue, queue > 1 ? "s wait" : " waits");
    MST_ACTION(&f, "Look in PHP-FPM's log why its workers end, or cannot be started.");
    mst_found_number(&f, "queue", queue);
    take_failures(e, &f, MST_UNKNOWN);
    return mst_findings_add(&e->summary, &f);
}

/* Whether an Apache has had a request for so long that PHP should have taken it. */
static bool apache_waits(const struct mst_explanation *e)
{
    struct mst_held held;
    size_t i;

    for (i = 0; i < e->server_count; i++)
        if (!mst_server_is_php(&e->servers[i]) &&
            mst_present_is_long(&e->servers[i].now, MST_STUCK_NS, &held))
            return true;
    return false;
}

static uint64_t apaches_requests(const struct mst_explanation *e)
{
    uint64_t requests = 0;
    size_t i, k;

    for (i = 0; i < e->server_count; i++)
        for (k = 0; !e->servers[i].now.is_php && k < e->servers[i].now.worker_count; k++)
            requests += e->servers[i].now.workers[k].has_request;
    return requests;
}

/* The server's processes that are stopped, and one of them; pid 0: none is. */
struct stopped {
    uint64_t pid, count;
};

static struct stopped find_stopped(const struct mst_explained_server *s)
{
    struct stopped stopped = { 0 };
    struct mst_proc process;
    size_t i;

    for (i = 0; i < s->sample.process_count; i++)
        if (mst_proc_stat(s->sample.processes[i].pid, &process) &&
            mst_proc_is_stopped(&process) && stopped.count++ == 0)
            stopped.pid = process.pid;
    return stopped;
}

/* No script runs, and connections wait: the workers are stopped; or each has a connection, of which
 * it reads a request, or which is idle. An FPM worker reads all of a request before it runs the
 * script, which is when the extension first sees it. Of idle connections there are more than Apache
 * has requests. */
static void judge_no_script(struct mst_finding *f, const struct mst_explanation *e,
                            const struct mst_explained_server *s, uint64_t stopped_pid)
{
    uint64_t connections = s->sample.connections;
    uint64_t now_ns = mst_realtime_ns();
    const struct mst_halted halted = {
        .pid = stopped_pid, .since_ns = now_ns, .until_ns = now_ns, .state = 'T',
        .is_php = true,
    };

    if (stopped_pid != 0) {
        f->code = MST_CODE_STUCK_REQUESTS;
        mst_found_number(f, MST_STOPPED_PID, stopped_pid);
        mst_say_halted(f, &halted);
    } else if (connections != MST_UNKNOWN && connections < s->sample.process_count &&
               s->now.pool_count < 2) {   /* else those of another pool can be idle */
        f->code = MST_CODE_CANNOT_TELL;
        f->certainty = MST_CANNOT_TELL;
        MST_MORE(f, " They do not accept connections: cannot tell why.");
        MST_ACTION(f, "Look at the stack of such a process: gdb -p PID -batch -ex bt.");
    } else if (connections != MST_UNKNOWN &&
               connections + mst_known(s->sample.listen_queue) > apaches_requests(e)) {
        f->code = MST_CODE_PHP_CONNECTIONS;
        f->certainty = MST_LIKELY;
        MST_MORE(f, " They have idle connections of Apache: these, and those that wait, are more "
                 "than Apache has requests.");
        mst_advise_connections(f);
    } else {
        f->code = MST_CODE_SLOW_UPLOAD;
        f->certainty = MST_LIKELY;
        MST_MORE(f, " It seems that they read requests whose bodies clients send slowly: a worker "
                 "is taken from a request's first byte on.");
        mst_advise_uploads(f);
    }
}

/* None waits in the queue where each worker had a connection before it was stopped: accept() can
 * return one that came after the signal. */
static bool add_no_script(struct mst_explanation *e, const struct mst_explained_server *s)
{
    uint64_t queue = mst_known(s->sample.listen_queue), workers = s->sample.process_count;
    struct mst_finding f = new_finding(MST_CODE_CANNOT_TELL, 3 * MST_WEIGHT_FIRST);
    struct stopped stopped;

    if (!s->is_running || !mst_server_is_fpm(s) || !mst_source_local(s->source) || workers == 0 ||
        s->now.worker_count > 0 || !apache_waits(e))
        return true;
    stopped = find_stopped(s);
    if (queue == 0 && stopped.count < workers)
        return true;
    MST_TEXT(&f, "PHP-FPM takes no request: none of its %" PRIu64 " worker%s runs a script",
             workers, workers == 1 ? "" : "s");
    if (queue > 0)
        MST_MORE(&f, ", and %" PRIu64 " connection%s in its accept queue", queue,
                 queue == 1 ? " waits" : "s wait");
    MST_MORE(&f, ".");
    judge_no_script(&f, e, s, stopped.pid);
    mst_found_number(&f, "queue", queue);
    mst_found_number(&f, "workers", workers);
    return mst_findings_add(&e->summary, &f);
}

/* ---- a time without PHP-FPM ---------------------------------------------------------------- */

/* The requests for PHP that failed one after the other until it was started. */
static const char outage_before[] =
    "SELECT count(*) AS failed, min(start_ns) AS since, max(backend) AS backend "
    "FROM server_requests WHERE backend LIKE '%fcgi://%' AND start_ns < :id AND start_ns > "
    "coalesce((SELECT max(start_ns) FROM server_requests WHERE backend LIKE '%fcgi://%' "
    "AND start_ns < :id AND status NOT IN (502, 503)), 0)";

/* Of several FPMs it is not known whose requests these were. */
static struct mst_explained_server *only_fpm(const struct mst_explanation *e)
{
    struct mst_explained_server *found = NULL;
    size_t i;

    for (i = 0; i < e->server_count; i++)
        if (mst_server_is_fpm(&e->servers[i])) {
            if (found != NULL)
                return NULL;
            found = &e->servers[i];
        }
    return found;
}

bool mst_explain_outage(struct mst_explanation *e)
{
    const struct mst_explained_server *fpm = only_fpm(e);
    struct mst_outage *o = &e->outage;
    uint64_t started_ns;
    struct mst_query q;

    if (fpm == NULL || !fpm->is_running)
        return true;
    started_ns = mst_source_identity(fpm->source)->started_wall_ns;
    if (started_ns == MST_UNKNOWN || started_ns > INT64_MAX)
        return true;
    q = mst_query_ask(mst_archive_db(e->archive), outage_before, (int64_t)started_ns);
    if (mst_query_next(&q)) {
        o->failed = mst_row_number(&q, "failed");
        o->since_ns = mst_row_number(&q, "since");
        mst_row_copy(&q, "backend", o->backend, sizeof o->backend);
    }
    return mst_query_done(&q);
}

static bool add_outage(struct mst_explanation *e)
{
    const struct mst_explained_server *fpm = only_fpm(e);
    struct mst_finding f = new_finding(MST_CODE_PHP_DOWN, MST_WEIGHT_FIRST + 2000);
    const struct mst_outage *o = &e->outage;

    if (fpm == NULL || o->failed == 0)
        return true;
    f.certainty = MST_LIKELY;
    f.requests = o->failed;
    snprintf(f.subject, sizeof f.subject, "%s", o->backend);
    MST_TEXT(&f, "PHP-FPM was started at %s, and did not run before: from %s on, all requests that "
             "Apache handed to it, %" PRIu64 ", were answered with 502 or 503 (%s).",
             mst_format_clock(mst_source_identity(fpm->source)->started_wall_ns).text,
             mst_format_clock(o->since_ns).text, o->failed, o->backend);
    MST_ACTION(&f, "Look in PHP-FPM's log why it ended.");
    mst_found_number(&f, "failed", o->failed);
    take_failures(e, &f, o->failed);
    return mst_findings_add(&e->summary, &f);
}

bool mst_explain_down(struct mst_explanation *e)
{
    bool fine = add_outage(e);
    size_t i;

    for (i = 0; i < e->server_count && fine; i++) {
        struct mst_explained_server *s = &e->servers[i];

        fine = add_not_running(e, s) && add_no_master(e, s) && add_lost_socket(e, s) &&
               add_no_workers(e, s) && add_no_script(e, s);
    }
    return fine;
}
