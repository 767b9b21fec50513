/* sentences.c - the sentences of workers and queues that ran out: see sentences.h. */
#include "findings/sentences.h"

#include <inttypes.h>
#include <math.h>
#include <string.h>

#include "analysis/resources.h"
#include "analysis/thresholds.h"
#include "base/clock.h"
#include "base/ratio.h"
#include "console/format.h"
#include "findings/inquiry.h"
#include "findings/say.h"

/* ---- workers ------------------------------------------------------------------------------- */

/* How long requests waited: each of them, or where the mean of all hides it the few that did. */
static void say_waits(char text[160], const struct mst_budget *b)
{
    const struct mst_summary_server *server = b->front;
    uint64_t queue = b->ns[MST_PART_QUEUE];
    const struct mst_formatted share = mst_format_percent(mst_budget_milli(b, queue));

    if (server->phases[MST_PHASE_QUEUE].mean_ns >= MST_QUEUE_MEAN_MIN_NS)
        mst_say(text, 160, "a request waited %s for one, %s of its time",
                mst_format_time(mst_budget_mean_ns(b, queue)).text, share.text);
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

/* " (4.90 on average)"; of a server that was stopped and started it is not known: "". */
static void say_average(char text[48], const struct mst_summary_server *server)
{
    text[0] = '\0';
    if (server->mean_busy_milli != MST_UNKNOWN)
        mst_say(text, 48, " (%s on average)", mst_format_milli(server->mean_busy_milli).text);
}

void mst_say_apache_workers(struct mst_finding *f, const struct mst_budget *b)
{
    char waits[160], average[48];

    say_waits(waits, b);
    say_average(average, b->front);
    MST_TEXT(f, "Apache's workers ran out: all %" PRIu64 " were busy%s, and %s%s.",
             b->front->workers_limit, average, waits, say_state(b->front));
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

/* "all 5 were busy (4.90 on average)". Without a limit they are only known by their average. */
static void say_all_busy(char busy[160], const struct mst_summary_server *php)
{
    char average[48];

    say_average(average, php);
    if (php->workers_limit != MST_UNKNOWN)
        mst_say(busy, 160, "all %" PRIu64 " were busy%s", php->workers_limit, average);
    else
        mst_say(busy, 160, "%" PRIu64 " were busy all the time (%s on average; their limit is not "
                "known)", php->max_busy, mst_format_milli(php->mean_busy_milli).text);
}

void mst_say_php_workers(struct mst_finding *f, const struct mst_budget *b)
{
    char busy[160];

    say_all_busy(busy, b->php);
    MST_TEXT(f, "PHP's workers ran out: %s, and a request waited %s for one, %s of its time.",
             busy, mst_format_time(mst_php_wait(b->front)->mean_ns).text,
             mst_format_percent(mst_budget_milli(b, b->ns[MST_PART_PHP_WAIT])).text);
}

void mst_say_php_workers_late(struct mst_finding *f, const struct mst_summary_server *php)
{
    char busy[160];

    say_all_busy(busy, php);
    MST_TEXT(f, "PHP's workers ran out: %s, and a request that got one had waited %s for it; "
             "Apache no longer waited for many of them.", busy,
             mst_format_time(php->phases[MST_PHASE_PHP_WAIT].mean_ns).text);
}

void mst_say_work_after_answers(struct mst_finding *f, const struct mst_summary_server *php,
                                uint64_t mean_ns)
{
    char most[MST_NAME_MAX + 64] = "";

    if (php->end_count > 0)
        mst_say(most, sizeof most, ", and of all that PHP waited for, longest for %s",
                php->ends[0].name);
    MST_MORE(f, " A worker went on for %s on average after the answer was complete "
             "(fastcgi_finish_request(), a shutdown function)%s.", mst_format_time(mean_ns).text,
             most);
}

void mst_say_php_in_uploads(struct mst_finding *f, const struct mst_budget *b)
{
    MST_TEXT(f, "Requests waited for PHP's workers (%s of their time), which read the bodies of "
             "slow uploads meanwhile.",
             mst_format_percent(mst_budget_milli(b, b->ns[MST_PART_PHP_WAIT])).text);
}

void mst_say_php_queued(struct mst_finding *f, const struct mst_summary_server *php)
{
    char average[48];

    say_average(average, php);
    MST_TEXT(f, "PHP's workers ran out: all %" PRIu64 " were busy%s, and up to %" PRIu64
             " connections waited in its accept queue.", php->max_busy, average,
             php->max_listen_queue);
}

/* Memory and CPU that the workers take. */
static void say_needs(char text[224], const struct mst_workers_plan *plan)
{
    size_t used = 0;

    text[0] = '\0';
    if (plan->cpu_then_milli != MST_UNKNOWN && plan->next != MST_NEXT_CPU) {
        mst_say(text, 224, " That takes %s of the CPU time that the server can have.",
                mst_format_percent(plan->cpu_then_milli).text);
        used = strlen(text);
    }
    /* Where that is a part of the memory that matters. */
    if (plan->process_bytes > 0 && !plan->threaded && plan->workers > plan->processes_fit / 4)
        mst_say(text + used, 224 - used, " Each process takes at most %s: %" PRIu64
                " fit in 80 %% of the memory.",
                mst_format_bytes((uint64_t)plan->process_bytes).text, plan->processes_fit);
}

static const char *told(char text[32], enum mst_foreseen_measure what, double value)
{
    if (what == MST_FORESEEN_RATE)
        mst_say(text, 32, "%s", mst_format_real(value).text);
    else
        mst_say(text, 32, "%s", mst_format_seconds(value).text);
    return text;
}

/* "p95 63.0 ms (58.1 to 70.2) instead of 410 ms": the model's, its interval, and what was
 * measured. */
static void say_told(char *text, size_t size, const struct mst_foreseen *foreseen,
                     enum mst_foreseen_measure what)
{
    static const char *const before[MST_FORESEEN_COUNT] = {
        [MST_FORESEEN_RATE] = "about ", [MST_FORESEEN_P50] = "p50 ", [MST_FORESEEN_P95] = "p95 ",
    };
    const struct mst_model_estimate *e = &foreseen->then[what];
    char then[32], low[32], high[32], now[32];
    size_t used = strlen(text);

    if (isnan(e->value) || isnan(foreseen->now[what]))
        return;
    mst_say(text + used, size - used, "%s%s%s%s (%s to %s) instead of %s",
            used > 0 ? ", " : "", before[what], told(then, what, e->value),
            what == MST_FORESEEN_RATE ? " requests/s" : "", told(low, what, e->low),
            told(high, what, e->high), told(now, what, foreseen->now[what]));
}

void mst_say_foreseen(struct mst_finding *f, const char *condition,
                      const struct mst_foreseen *foreseen)
{
    char text[256] = "", busier[192] = "";
    unsigned what = foreseen->closed ? MST_FORESEEN_RATE : MST_FORESEEN_P50;

    if (!foreseen->known)
        return;
    for (; what < MST_FORESEEN_COUNT; what++)
        say_told(text, sizeof text, foreseen, what);
    if (foreseen->busier != NULL)
        mst_say(busier, sizeof busier, ", if %.80s answers %s requests at once as fast as %s now",
                foreseen->busier, mst_format_real(foreseen->busier_then).text,
                mst_format_real(foreseen->busier_now).text);
    MST_PREDICTED(f, "%s%s%s", text[0] != '\0' ? condition : "", text,
                  text[0] != '\0' ? busier : "");
}

/* Why more workers do not help, and what does. */
static void advise_no_more(struct mst_finding *f, const struct mst_workers_plan *plan)
{
    char called[MST_LIMIT_CALLED_MAX];

    switch (plan->next) {
    case MST_NEXT_ONE_BY_ONE:
        MST_ACTION(f, "Shorten what they wait for: it lets in one request at a time, so more "
                   "workers cannot help.");
        break;
    case MST_NEXT_CPU:
        MST_ACTION(f, "%s", plan->has_quota ?
                   "Make the requests cheaper, or give the control group a larger CPU quota. "
                   "More workers cannot help: it has used up its quota." :
                   "Make the requests cheaper, or add CPUs. More workers cannot help: the CPUs are "
                   "full.");
        break;
    case MST_NEXT_OTHER:
        MST_ACTION(f, "More of these workers alone cannot help: with them the limit is %s.",
                   mst_limit_called(called, plan->next_name));
        break;
    default:
        MST_ACTION(f, "Add memory, or make the processes smaller. More workers cannot help: no "
                   "more processes fit in the memory.");
        break;
    }
}

void mst_say_plan(struct mst_finding *f, const struct mst_workers_plan *plan, const char *directive)
{
    const char *only_if = plan->perhaps_one_by_one ? " That helps only if what they wait for lets "
                          "in several at a time: a thinned archive does not tell." : "";
    char needs[224], by[64] = "", stops[160] = "", called[MST_LIMIT_CALLED_MAX];

    if (plan->why_not != NULL) {
        MST_ACTION(f, "Set %s higher. How high is not known: %s. A recording of at least two "
                   "seconds and 100 requests that loses no record tells it.", directive,
                   plan->why_not);
        return;
    }
    if (plan->workers == MST_UNKNOWN) {
        MST_ACTION(f, "Set %s higher (now %" PRIu64 "): at times there were more requests than on "
                   "average (%" PRIu64 "), and an average does not tell how many.%s", directive,
                   plan->now, plan->wanted, only_if);
        return;
    }
    if (plan->workers <= plan->now) {
        advise_no_more(f, plan);
        return;
    }
    if (plan->next == MST_NEXT_CPU)
        MST_SAY(stops, "; from there on the CPUs are the limit");
    else if (plan->next == MST_NEXT_MEMORY)
        MST_SAY(stops, "; more do not fit in the memory");
    else if (plan->next != MST_NEXT_NONE)
        MST_SAY(stops, "; from there on the limit is %s",
                mst_limit_called(called, plan->next_name));
    say_needs(needs, plan);
    if (plan->by == MST_WANTED_BY_TOOL)
        mst_say(by, sizeof by, " (the load tool's concurrency)");
    else if (plan->by == MST_WANTED_AT_TIMES)
        mst_say(by, sizeof by, " (%s on average)", mst_format_real(plan->at_once).text);
    MST_ACTION(f, "Set %s to %" PRIu64 " (now %" PRIu64 "): %s%" PRIu64 " requests wanted to be "
               "served at once%s%s.%s%s", directive, plan->workers, plan->now,
               plan->by == MST_WANTED_AT_TIMES ? "up to " : "", plan->wanted, by, stops, needs,
               only_if);
    mst_say_foreseen(f, "", &plan->foreseen);
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

/* Behind processes that were started too slowly: there could not be enough of them either. */
static void say_too_few(char *text, size_t size, const struct mst_finding *f)
{
    uint64_t wanted = mst_finding_number(f, "wanted");

    text[0] = '\0';
    if (wanted != MST_UNKNOWN)
        mst_say(text, size, ", and the limit of %" PRIu64 " is too low for up to %" PRIu64
                " requests at once", mst_finding_number(f, "workers_limit"), wanted);
}

void mst_say_below_limit(struct mst_finding *f, const struct mst_budget *b)
{
    char when[96] = "", too_few[96];

    say_too_few(too_few, sizeof too_few, f);
    say_below_limit(when, b->front, b->front->phases[MST_PHASE_QUEUE].sum_ns);
    MST_TEXT(f, "Requests waited for workers (%s of their time)%s%s%s.",
             mst_format_percent(mst_budget_milli(b, b->ns[MST_PART_QUEUE])).text, when,
             f->code == MST_CODE_APACHE_SPAWNING ?
             ": Apache started its processes too slowly for this load" :
             f->code == MST_CODE_EVENT_CONNECTIONS ?
             ": event accepts no more connections in a process than AsyncRequestWorkerFactor "
             "allows" : ": cannot tell why", too_few);
    if (f->code == MST_CODE_APACHE_SPAWNING)
        MST_ACTION(f, "Start more processes before the load comes: set StartServers higher, and "
                   "MinSpareServers (prefork) or MinSpareThreads (worker, event).%s",
                   too_few[0] != '\0' ? " Set MaxRequestWorkers higher, too." : "");
    else if (f->code == MST_CODE_EVENT_CONNECTIONS)
        MST_ACTION(f, "Set AsyncRequestWorkerFactor higher.");
    else
        MST_ACTION(f, "Record again with MinSpareServers (prefork) or MinSpareThreads (worker, "
                   "event) at MaxRequestWorkers: if requests still wait, the start of processes is "
                   "not the cause.");
}

#define FCGID_STARTS "Let mod_fcgid start processes as they are wanted: FcgidSpawnScore 0, " \
    "FcgidTerminationScore 0. "

void mst_say_php_below_limit(struct mst_finding *f, const struct mst_budget *b, bool forked,
                             bool in_apache)
{
    char when[96] = "", too_few[96];

    say_too_few(too_few, sizeof too_few, f);
    say_below_limit(when, b->php, b->php->phases[MST_PHASE_PHP_WAIT].sum_ns);
    MST_TEXT(f, "Requests waited for PHP's workers (%s of their time)%s%s%s.",
             mst_format_percent(mst_budget_milli(b, b->ns[MST_PART_PHP_WAIT])).text, when, forked ?
             ": PHP's processes were started too slowly for this load" : in_apache ?
             ", nor any in PHP's accept queue: they were still in Apache, it seems without a "
             "connection to PHP" : ": cannot tell why", too_few);
    if (in_apache)
        MST_ACTION(f, "Look for a limit on connections to PHP, max= in ProxyPass, ProxySet or "
                   "<Proxy>: each child of Apache has as many at most.");
    if (forked && b->php->sapi_kind == MST_SAPI_FCGID)
        MST_ACTION(f, FCGID_STARTS "FcgidMinProcessesPerClass keeps them when they are idle.");
    else if (forked)
        MST_ACTION(f, "Start more before the load comes: larger pm.start_servers, with at least as "
                   "much in pm.max_spare_servers, or pm = static.%s",
                   too_few[0] != '\0' ? " Set pm.max_children higher, too." : "");
}

void mst_say_cgi_processes(struct mst_finding *f)
{
    MST_TEXT(f, "Each request started a PHP process of its own (CGI), and waited %s until PHP ran "
             "in it: %s of its time.",
             mst_format_time(mst_finding_number(f, "wait_mean_ns")).text,
             mst_format_percent(f->share_milli).text);
    MST_ACTION(f, "Use PHP-FPM, or mod_fcgid: their processes stay for the next request.");
}

void mst_say_fcgid_waits(struct mst_finding *f, const struct mst_budget *b, bool forked)
{
    uint64_t wanted = mst_finding_number(f, "wanted");
    char when[96], above[64] = "";

    say_below_limit(when, b->php, b->php->phases[MST_PHASE_PHP_WAIT].sum_ns);
    MST_TEXT(f, "Requests waited for PHP's workers (%s of their time)%s: where mod_fcgid finds no "
             "free process, the request sleeps for a whole second before it looks again. %s did, "
             "for up to %s.", mst_format_percent(f->share_milli).text, when,
             mst_format_count(f->requests).text,
             mst_format_time(mst_finding_number(f, "longest_ns")).text);
    if (wanted != MST_UNKNOWN)
        mst_say(above, sizeof above, ", %" PRIu64 " in this load", wanted);
    MST_ACTION(f, "Set %s above the number of requests at once%s, so that each finds a free "
               "process.%sOr use PHP-FPM: it hands a request over as soon as a process is free.",
               mst_workers_directive(b->php), above, forked ? " " FCGID_STARTS : " ");
}

void mst_advise_connections(struct mst_finding *f)
{
    MST_ACTION(f, "Remove enablereuse=on from ProxyPass or <Proxy>: mod_proxy_fcgi closes each "
               "connection after its request then. Or set pm.max_children to Apache's "
               "MaxRequestWorkers, if the memory is enough.");
}

void mst_say_php_connections(struct mst_finding *f, const struct mst_budget *b,
                             uint64_t connections_milli, uint64_t busy_milli)
{
    uint64_t queue = mst_finding_number(f, "queue");
    char waited[96];

    if (queue != MST_UNKNOWN)
        mst_say(waited, sizeof waited, "up to %" PRIu64 " connections waited in its accept queue",
                queue);
    else
        mst_say(waited, sizeof waited, "a request waited %s for one",
                mst_format_time(mst_php_wait(b->front)->mean_ns).text);
    MST_TEXT(f, "Idle connections of Apache held PHP's workers: of %s, %s had a connection%s, and "
             "%s of these ran a request, while %s.",
             mst_format_count(b->php->workers_limit).text, mst_format_milli(connections_milli).text,
             f->certainty == MST_CERTAIN ? " on average" : " in the end",
             mst_format_milli(busy_milli).text, waited);
    mst_advise_connections(f);
}

void mst_say_short_waits(struct mst_finding *f, const struct mst_budget *b)
{
    MST_TEXT(f, "Cannot tell: all %" PRIu64 " workers were busy at times (%s on average), and %s "
             "of a request's time is queue (waiting for a worker). But a wait takes only %s, which "
             "is hardly longer than the kernel's clock can measure.", b->front->workers_limit,
             mst_format_milli(b->front->mean_busy_milli).text,
             mst_format_percent(mst_budget_milli(b, b->ns[MST_PART_QUEUE])).text,
             mst_format_time(mst_mean_wait_ns(b->front)).text);
    MST_ACTION(f, "Measure again with more workers.");
}

/* ---- consequences -------------------------------------------------------------------------- */

/* "8 answers were 503". */
static void say_answers(char text[MST_CONSEQUENCE_MAX], const struct mst_finding *f)
{
    uint64_t status = mst_finding_number(f, "status");

    if (mst_finding_number(f, "with_that_status") == f->requests)
        mst_say(text, MST_CONSEQUENCE_MAX, "%s answers were %s", mst_format_count(f->requests).text,
                mst_format_count(status).text);
    else
        mst_say(text, MST_CONSEQUENCE_MAX, "%s answers were errors",
                mst_format_count(f->requests).text);
}

void mst_say_consequence(char text[MST_CONSEQUENCE_MAX], const struct mst_finding *f)
{
    const struct mst_formatted requests = mst_format_count(f->requests);

    text[0] = '\0';
    switch (f->code) {
    case MST_CODE_ANSWERS_4XX:
    case MST_CODE_ANSWERS_5XX:
        say_answers(text, f);
        break;
    case MST_CODE_CLIENT_ERRORS:
        mst_say(text, MST_CONSEQUENCE_MAX, "%s requests got no answer", requests.text);
        break;
    case MST_CODE_CLIENT_ABORTS:
        mst_say(text, MST_CONSEQUENCE_MAX, "clients gave up %s requests", requests.text);
        break;
    case MST_CODE_REQUESTS_DIED:
        mst_say(text, MST_CONSEQUENCE_MAX, "%s requests died with their process", requests.text);
        break;
    case MST_CODE_APACHE_WORKERS:
        mst_say(text, MST_CONSEQUENCE_MAX, "Apache's workers ran out");
        break;
    case MST_CODE_H2_WORKERS:
        mst_say(text, MST_CONSEQUENCE_MAX, "HTTP/2's workers ran out");
        break;
    case MST_CODE_PHP_WORKERS:
        mst_say(text, MST_CONSEQUENCE_MAX, "PHP's workers%s%.64s ran out",
                f->subject[0] != '\0' ? " of the pool " : "", f->subject);
        break;
    case MST_CODE_ACCEPT_QUEUE:
        mst_say(text, MST_CONSEQUENCE_MAX, "the accept queue was full");
        break;
    case MST_CODE_PHP_ACCEPT_QUEUE:
        mst_say(text, MST_CONSEQUENCE_MAX, "PHP's accept queue was full");
        break;
    case MST_CODE_EVENT_CONNECTIONS:
        mst_say(text, MST_CONSEQUENCE_MAX, "event accepted no more connections");
        break;
    case MST_CODE_SERVER_PACED:
        mst_say(text, MST_CONSEQUENCE_MAX, "the server sent slowly");
        break;
    case MST_CODE_BACKEND:
        mst_say(text, MST_CONSEQUENCE_MAX, mst_finding_number(f, MST_NONE_TAKEN_NS) != MST_UNKNOWN ?
                "Apache is stuck behind it" : "Apache waited for its backend");
        break;
    case MST_CODE_FILE:
        mst_say(text, MST_CONSEQUENCE_MAX, "PHP waited for files");
        break;
    default:
        break;
    }
}

/* ---- queues -------------------------------------------------------------------------------- */

void mst_say_php_queue(struct mst_finding *f, const struct mst_budget *b)
{
    const char *pool = b->php->listen_pool;

    MST_TEXT(f, "PHP's accept queue was full%s%.64s: %" PRIu64 " connections fit, and those beyond "
             "it failed or had to try again after a second.", pool != NULL ? ", of the pool " : "",
             pool != NULL ? pool : "", b->php->listen_queue_limit);
    MST_ACTION(f, "Set listen.backlog of the FPM pool higher (now %" PRIu64 "), then stop and "
               "start FPM: a reload keeps the socket. The kernel cuts it to net.core.somaxconn.",
               b->php->listen_queue_limit);
}

void mst_say_accept_queue(struct mst_finding *f, const struct mst_budget *b)
{
    MST_TEXT(f, "The accept queue was full: %s.", b->s->checks[MST_CHECK_ACCEPT_QUEUE].text);
    MST_ACTION(f, "Set ListenBacklog and net.core.somaxconn higher (now %s), and stop and start "
               "Apache; or have more workers take connections.",
               mst_format_count(b->front->listen_queue_limit).text);
}

void mst_say_h2_workers(struct mst_finding *f, const struct mst_budget *b)
{
    uint64_t limit = b->front->resources.http2_workers_limit;

    MST_TEXT(f, "HTTP/2's workers ran out: a request waited %s for one, %s of its time.",
             mst_format_time(mst_budget_mean_ns(b, b->ns[MST_PART_H2_WAIT])).text,
             mst_format_percent(f->share_milli).text);
    if (limit != MST_UNKNOWN)
        MST_ACTION(f, "Set H2MaxWorkers higher (now %" PRIu64 " for each child).", limit);
    else
        MST_ACTION(f, "Set H2MaxWorkers higher.");
}
