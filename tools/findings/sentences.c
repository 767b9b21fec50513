/* sentences.c - the sentences of what failed, and of workers and queues that ran out: see
 * sentences.h. */
#include "findings/sentences.h"

#include <inttypes.h>
#include <math.h>
#include <string.h>

#include "analysis/resources.h"
#include "analysis/thresholds.h"
#include "base/clock.h"
#include "base/ratio.h"
#include "console/format.h"
#include "findings/say.h"

/* "1 request", "2 requests". */
static const char *plural(uint64_t n)
{
    return n == 1 ? "" : "s";
}

/* Whether a load tool made the requests; else they are those that the server had anyhow. */
static bool of_a_load(const struct mst_budget *b)
{
    return b->s->client.tool != NULL;
}

/* ---- failed ------------------------------------------------------------------------------- */

void mst_say_answers(struct mst_finding *f, const struct mst_budget *b, uint64_t status,
                     uint64_t most, const char *label, const char *end)
{
    bool all_alike = most == f->requests;
    const char *so = of_a_load(b) && f->weight >= MST_WEIGHT_FIRST ?
                     ": this measures the error page" : "";
    char which[256];

    mst_say(which, sizeof which, "label %s%s%s", label, end[0] != '\0' ? ", from " : "", end);
    if (all_alike)
        MST_TEXT(f, "%" PRIu64 " of %" PRIu64 " answers were %" PRIu64 " (%s)%s.", f->requests,
                 b->front->requests, status, which, so);
    else
        MST_TEXT(f, "%" PRIu64 " of %" PRIu64 " answers were errors (%" PRIu64 " of them %" PRIu64
                 ", %s)%s.", f->requests, b->front->requests, most, status, which, so);
    if (status == 503 || status == 502 || status == 504)
        MST_ACTION(f, "Look whether the backend runs and what the error log says: 502 and 503 are "
                   "a backend that is down, full or died, 504 is ProxyTimeout.");
    else if (f->code == MST_CODE_ANSWERS_5XX)
        MST_ACTION(f, "The error log of the server and of the application has the reason.");
    else if (!of_a_load(b))
        MST_ACTION(f, "The access log has their URLs.");
    else
        MST_ACTION(f, "%s", status == 404 ? "Check the URL of the load." :
                   status == 401 || status == 403 ? "Check the access rules (Require) and what the "
                   "load tool sends." : "Check what the load tool sends.");
}

void mst_say_down(struct mst_finding *f, const struct mst_outage *o)
{
    struct mst_formatted since = mst_format_clock(o->since_ns);

    MST_TEXT(f, "PHP-FPM does not run: it %s %s%s. %" PRIu64 " of %" PRIu64 " requests that Apache "
             "handed to it since then were answered with 502 or 503 (%s).",
             o->was_stopped ? "was stopped at" : "was killed or crashed after", since.text,
             o->was_stopped ? ", or failed to start again at a reload then" : "", o->failed,
             o->answers, o->backend);
    if (o->was_stopped)
        MST_ACTION(f, "Start PHP-FPM. If that fails, php-fpm -t names the error in its "
                   "configuration.");
    else
        MST_ACTION(f, "Start PHP-FPM. Its log and the kernel's log (dmesg, for a lack of memory) "
                   "say why it ended.");
}

void mst_say_lengths(struct mst_finding *f, const struct mst_summary_client *c)
{
    MST_TEXT(f, "%" PRIu64 " of %s answers had another length than the first.", f->requests,
             mst_format_count(c->requests).text);
    MST_ACTION(f, "Where the page's length varies, ab -l accepts it; else compare the answers.");
}

void mst_say_aborts(struct mst_finding *f, const struct mst_budget *b, uint64_t aborted,
                    uint64_t timeouts)
{
    uint64_t mean = b->front->phases[MST_PHASE_TOTAL].mean_ns;

    if (timeouts >= aborted)
        MST_TEXT(f, "Clients gave up: %" PRIu64 " request%s ran into the load tool's time limit.",
                 timeouts, plural(timeouts));
    else
        MST_TEXT(f, "Clients left before they had the answer: %" PRIu64 " of %" PRIu64
                 " requests, which take %s on average.", aborted, b->front->requests,
                 mst_format_time(mean).text);
    MST_ACTION(f, "The server works for answers that nobody reads: shorten what makes them slow, "
               "or give the clients more time.");
}

void mst_say_client_errors(struct mst_finding *f, const struct mst_budget *b, uint64_t n)
{
    const struct mst_summary_client *c = &b->s->client;

    MST_TEXT(f, "%" PRIu64 " request%s of %s had no answer: %s connections failed, %s were reset "
             "or closed.", n, plural(n), c->tool,
             mst_format_count(c->failed_connect != MST_UNKNOWN ? c->failed_connect : 0).text,
             mst_format_count(c->failed_receive != MST_UNKNOWN ? c->failed_receive : 0).text);
    MST_ACTION(f, "Check that the server listens at that address, and its error log for what "
               "closed connections.");
}

void mst_say_deaths(struct mst_finding *f, const struct mst_summary_server *server, uint64_t n,
                    uint64_t killed)
{
    const char *what = mst_summary_is_php(server) ? "PHP" : "Apache";

    if (killed > 0)
        MST_TEXT(f, "%" PRIu64 " request%s died with their process: a signal ended %" PRIu64
                 " process%s of %s.", n, plural(n), killed, killed == 1 ? "" : "es", what);
    else
        MST_TEXT(f, "%" PRIu64 " request%s died with their process, which %s's parent ended.", n,
                 plural(n), what);
    MST_ACTION(f, "The error log says which signal (AH00051, AH00052, FPM's \"exited on "
               "signal\").");
}

void mst_say_fatal(struct mst_finding *f, const struct mst_summary_server *php)
{
    uint64_t timeouts = php->timeouts != MST_UNKNOWN ? php->timeouts : 0;
    char limit[96] = "", memory[96] = "";

    if (timeouts > 0)
        mst_say(limit, sizeof limit, ", %" PRIu64 " of them at max_execution_time", timeouts);
    if (php->max_memory_bytes != MST_UNKNOWN && php->max_memory_bytes > 0)
        mst_say(memory, sizeof memory, " (the largest request used %s)",
                mst_format_bytes(php->max_memory_bytes).text);
    MST_TEXT(f, "%" PRIu64 " of %" PRIu64 " PHP requests ended with a fatal error%s%s%s%s.",
             f->requests, php->requests, limit, f->subject[0] != '\0' ? ", most in " : "",
             f->subject, memory);
    MST_ACTION(f, "PHP's error log has the message: memory_limit, an uncaught exception, or a "
               "missing function.");
}

void mst_say_restarts(struct mst_finding *f, const struct mst_budget *b,
                      const struct mst_summary_server *server, uint64_t first_ns)
{
    bool anew = server->restarts != MST_UNKNOWN && server->restarts > 0;
    char when[64] = "", waited[96] = "";

    if (f->share_milli != MST_UNKNOWN)
        mst_say(waited, sizeof waited, " Requests waited for workers meanwhile (%s of the time of "
                "all requests).", mst_format_percent(f->share_milli).text);
    if (first_ns != MST_UNKNOWN)
        mst_say(when, sizeof when, ", first %s after the %s",
                mst_format_time(first_ns).text, of_a_load(b) ? "load's start" : "beginning");
    MST_TEXT(f, "%s was %s%s%s.%s", mst_summary_is_php(server) ? "PHP" : "Apache",
             anew ? "stopped and started" : "restarted",
             of_a_load(b) ? " while the load ran" : "", when, waited);
    MST_ACTION(f, "%s", of_a_load(b) ?
               "Measure again without the restart; for its cost compare the two." :
               "The error log says when, and often why (AH00493, AH00494, AH00171).");
}

/* ---- workers ------------------------------------------------------------------------------- */

/* How long requests waited: each of them, or where the mean of all hides it the few that did. */
static void say_waits(char text[160], const struct mst_budget *b)
{
    const struct mst_summary_server *server = b->front;
    const struct mst_formatted share = mst_format_percent(mst_budget_milli(b, b->queue_ns));

    if (server->phases[MST_PHASE_QUEUE].mean_ns >= MST_QUEUE_MEAN_MIN_NS)
        mst_say(text, 160, "a request waited %s for one, %s of its time",
                mst_format_time(mst_budget_mean_ns(b, b->queue_ns)).text, share.text);
    else
        mst_say(text, 160, "%" PRIu64 " of %" PRIu64 " requests waited for one, %s on average "
                "(%s of the time of all)", server->waited, server->requests,
                mst_format_time(mst_mean_wait_ns(server)).text, share.text);
}

/* What they did, where it was not the application's work. */
static const char *say_state(const struct mst_summary_server *server)
{
    return mst_mostly_in(server, MST_STATE_SENDING) ?
               "; most of their time they sent answers" :
           mst_mostly_in(server, MST_STATE_READING) ?
               "; most of their time they read from clients that sent slowly or nothing" :
           mst_mostly_in(server, MST_STATE_LOGGING) ?
               "; most of their time they waited for the log" :
           mst_mostly_in(server, MST_STATE_CLOSING) ?
               "; most of their time they waited for clients to close their connections" : "";
}

void mst_say_apache_workers(struct mst_finding *f, const struct mst_budget *b)
{
    char waits[160];

    say_waits(waits, b);
    MST_TEXT(f, "Apache's workers ran out: all %" PRIu64 " were busy (%s on average), and %s%s.",
             b->front->workers_limit, mst_format_milli(b->front->mean_busy_milli).text, waits,
             say_state(b->front));
}

void mst_say_pool(struct mst_finding *f, const struct mst_budget *b,
                  const struct mst_summary_pool *pool)
{
    MST_TEXT(f, "PHP's workers of the pool %s ran out: all %" PRIu64 " were busy (%s on average), "
             "and its requests waited %s for one, %s of the time of all.", pool->label,
             pool->workers_limit, mst_format_milli(pool->mean_busy_milli).text,
             mst_format_time(mst_pool_mean_wait_ns(pool)).text,
             mst_format_percent(mst_budget_milli(b, pool->wait_sum_ns)).text);
}

void mst_say_php_workers(struct mst_finding *f, const struct mst_budget *b, bool apache_too)
{
    const struct mst_summary_server *php = b->php;
    char busy[160], apache[160] = "";

    if (php->workers_limit != MST_UNKNOWN)
        mst_say(busy, sizeof busy, "all %" PRIu64 " were busy (%s on average)",
                php->workers_limit, mst_format_milli(php->mean_busy_milli).text);
    else
        mst_say(busy, sizeof busy, "%" PRIu64 " were busy all the time (%s on average; their limit "
                "is not known)", php->max_busy, mst_format_milli(php->mean_busy_milli).text);
    if (apache_too)
        mst_say(apache, sizeof apache, "; Apache's own %" PRIu64 " workers waited with them, and "
                "requests %s for one of those", b->front->workers_limit,
                mst_format_time(mst_mean_wait_ns(b->front)).text);
    MST_TEXT(f, "PHP's workers ran out: %s, and a request waited %s for one, %s of its time%s.",
             busy, mst_format_time(mst_php_wait(b->front)->mean_ns).text,
             mst_format_percent(mst_budget_milli(b, b->php_wait_ns)).text, apache);
}

void mst_say_php_queued(struct mst_finding *f, const struct mst_summary_server *php)
{
    MST_TEXT(f, "PHP's workers ran out: all %" PRIu64 " were busy (%s on average), and up to %"
             PRIu64 " connections waited in its accept queue.", php->max_busy,
             mst_format_milli(php->mean_busy_milli).text, php->max_listen_queue);
}

/* Memory and CPU that the workers take. */
static void say_needs(char text[224], const struct mst_plan *plan)
{
    size_t used = 0;

    text[0] = '\0';
    if (plan->cpu_then_milli != MST_UNKNOWN) {
        mst_say(text, 224, " That takes %s of the CPU time that the server can have.",
                mst_format_percent(plan->cpu_then_milli).text);
        used = strlen(text);
    }
    if (plan->process_bytes > 0 && !plan->threaded)
        mst_say(text + used, 224 - used, " Each process takes at most %s: %" PRIu64
                " fit in 80 %% of the memory.",
                mst_format_bytes((uint64_t)plan->process_bytes).text, plan->processes_fit);
}

/* The mean that clients would see: as many requests at once, at that rate. */
static struct mst_formatted mean_at(const struct mst_plan *plan, double rate)
{
    return mst_format_time((uint64_t)(plan->at_once / rate * (double)MST_NS_PER_S));
}

void mst_say_plan(struct mst_finding *f, const struct mst_plan *plan, const char *directive,
                  bool spawns)
{
    static const char *const stops[] = {
        [MST_NEXT_NONE] = "",
        [MST_NEXT_CPU] = "; from there on the CPUs are the limit",
        [MST_NEXT_MEMORY] = "; more do not fit in the memory",
    };
    const char *only_if = plan->perhaps_one_by_one ? " That helps only if what they wait for lets "
                          "in several at a time: a thinned archive does not tell." : "";
    char needs[224], spawning[128] = "", by[64] = "";

    if (!plan->known) {
        MST_ACTION(f, "Set %s higher; how high takes a run of two seconds and 100 requests.",
                   directive);
        return;
    }
    if (plan->next == MST_NEXT_ONE_BY_ONE) {
        MST_ACTION(f, "More workers cannot help: what they wait for lets in one request at a time. "
                   "Shorten that.");
        return;
    }
    if (plan->workers <= plan->now) {
        MST_ACTION(f, "More workers cannot help: %s.", plan->next == MST_NEXT_CPU ?
                   "the CPUs are full. Make the requests cheaper, or add CPUs" :
                   "no more processes fit in the memory");
        return;
    }
    if (plan->workers == MST_UNKNOWN) {
        MST_ACTION(f, "Set %s higher (now %" PRIu64 "): at times there were more requests than on "
                   "average (%" PRIu64 "), and an average does not tell how many.%s", directive,
                   plan->now, plan->wanted, only_if);
        return;
    }
    say_needs(needs, plan);
    if (spawns)
        mst_say(spawning, sizeof spawning, " and pm.start_servers with it (or pm = static): FPM "
                "starts few processes at a time");
    if (plan->by == MST_WANTED_BY_TOOL)
        mst_say(by, sizeof by, " (the load tool's concurrency)");
    else if (plan->by == MST_WANTED_AT_TIMES)
        mst_say(by, sizeof by, " (%.3g on average)", plan->at_once);
    MST_ACTION(f, "Set %s to %" PRIu64 " (now %" PRIu64 ")%s: %s%" PRIu64 " requests wanted to be "
               "served at once%s%s.%s%s", directive, plan->workers, plan->now, spawning,
               plan->by == MST_WANTED_AT_TIMES ? "up to " : "", plan->wanted, by,
               stops[plan->next], needs, only_if);
    if (isnan(plan->then))
        return;
    MST_PREDICTED(f, "about %.3g requests/s instead of %.3g, and %s instead of %s for a request, "
                  "if one holds its worker for %s as now", plan->then, plan->rate,
                  mean_at(plan, plan->then).text, mean_at(plan, plan->rate).text,
                  mst_format_time((uint64_t)(plan->held * (double)MST_NS_PER_S)).text);
}

/* That they waited while some of its workers were still to be started, or that no sample was at the
 * limit. */
static void say_below_limit(char text[96], const struct mst_summary_server *server,
                            uint64_t waited_ns)
{
    char limit[32] = "";

    if (server->workers_limit != MST_UNKNOWN)
        mst_say(limit, sizeof limit, " of %" PRIu64, server->workers_limit);
    if (mst_summary_started_late(server) && mst_summary_all_busy(server))
        mst_say(text, 96, ", %s of that while not all %s were busy",
                mst_format_percent(1000 - mst_milli(server->waited_at_limit_ns, waited_ns)).text,
                mst_format_count(server->max_busy).text);
    else
        mst_say(text, 96, " although no sample found more than %s%s busy",
                mst_format_count(server->max_busy).text, limit);
}

void mst_say_below_limit(struct mst_finding *f, const struct mst_budget *b)
{
    char when[96] = "";

    say_below_limit(when, b->front, b->front->phases[MST_PHASE_QUEUE].sum_ns);
    MST_TEXT(f, "Requests waited for workers (%s of their time)%s%s.",
             mst_format_percent(mst_budget_milli(b, b->queue_ns)).text, when,
             f->code == MST_CODE_APACHE_SPAWNING ?
             ": Apache started its processes too slowly for this load" :
             f->code == MST_CODE_EVENT_CONNECTIONS ?
             ": event accepts no more connections in a process than AsyncRequestWorkerFactor "
             "allows" : ": cannot tell why");
    if (f->code == MST_CODE_APACHE_SPAWNING)
        MST_ACTION(f, "Start more processes before the load comes: StartServers, and "
                   "MinSpareServers or MinSpareThreads.");
    else if (f->code == MST_CODE_EVENT_CONNECTIONS)
        MST_ACTION(f, "Set AsyncRequestWorkerFactor or ThreadsPerChild higher.");
    else
        MST_ACTION(f, "The CPUs' figures and a run with StartServers at the limit would tell.");
}

void mst_say_php_below_limit(struct mst_finding *f, const struct mst_budget *b, bool forked)
{
    char when[96] = "";

    say_below_limit(when, b->php, b->php->phases[MST_PHASE_PHP_WAIT].sum_ns);
    MST_TEXT(f, "Requests waited for PHP's workers (%s of their time)%s%s.",
             mst_format_percent(mst_budget_milli(b, b->php_wait_ns)).text, when, forked ?
             ": PHP's processes were started too slowly for this load" : ": cannot tell why");
    if (forked)
        MST_ACTION(f, "Start more before the load comes: pm = static, or larger pm.start_servers "
                   "and pm.min_spare_servers.");
}

void mst_say_short_waits(struct mst_finding *f, const struct mst_budget *b)
{
    MST_TEXT(f, "Cannot tell: all %" PRIu64 " workers were busy at times (%s on average), and %s "
             "of a request's time is queue (waiting for a worker), but in waits of %s, which is "
             "hardly more than the kernel's clock can tell.", b->front->workers_limit,
             mst_format_milli(b->front->mean_busy_milli).text,
             mst_format_percent(mst_budget_milli(b, b->queue_ns)).text,
             mst_format_time(mst_mean_wait_ns(b->front)).text);
    MST_ACTION(f, "Measure again with more workers.");
}

/* ---- queues -------------------------------------------------------------------------------- */

void mst_say_php_queue(struct mst_finding *f, const struct mst_budget *b)
{
    const char *pool = b->php->listen_pool;

    MST_TEXT(f, "PHP's accept queue was full%s%.64s: %" PRIu64 " connections fit, and those beyond "
             "it failed or had to try again after a second.", pool != NULL ? ", of the pool " : "",
             pool != NULL ? pool : "", b->php->listen_queue_limit);
    MST_ACTION(f, "Set listen.backlog of the FPM pool higher (now %" PRIu64 "); the kernel cuts it "
               "to net.core.somaxconn.", b->php->listen_queue_limit);
}

void mst_say_accept_queue(struct mst_finding *f, const struct mst_budget *b)
{
    MST_TEXT(f, "The accept queue was full: %s.", b->s->checks[MST_CHECK_ACCEPT_QUEUE].text);
    MST_ACTION(f, "Set ListenBacklog and net.core.somaxconn higher (now %s), or have more workers "
               "take connections.", mst_format_count(b->front->listen_queue_limit).text);
}

void mst_say_h2_workers(struct mst_finding *f, const struct mst_budget *b)
{
    uint64_t limit = b->front->resources.http2_workers_limit;

    MST_TEXT(f, "HTTP/2's workers ran out: a request waited %s for one, %s of its time.",
             mst_format_time(mst_budget_mean_ns(b, b->h2_wait_ns)).text,
             mst_format_percent(f->share_milli).text);
    if (limit != MST_UNKNOWN)
        MST_ACTION(f, "Set H2MaxWorkers higher (now %" PRIu64 " for each child).", limit);
    else
        MST_ACTION(f, "Set H2MaxWorkers higher.");
}
