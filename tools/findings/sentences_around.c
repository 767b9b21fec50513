/* sentences_around.c - the sentences of what held workers, of what requests waited for, and of
 * what is around: see sentences.h. */
#include "findings/sentences.h"

#include <inttypes.h>
#include <stdlib.h>
#include <string.h>

#include "analysis/bottleneck.h"
#include "analysis/thresholds.h"
#include "base/clock.h"
#include "base/ratio.h"
#include "base/saturate.h"
#include "console/format.h"
#include "findings/findings.h"
#include "findings/inquiry.h"
#include "findings/say.h"
#include "segment/fields.h"

/* "12.3 ms a request (45.6 % of its time)". */
static void say_part(char text[80], const struct mst_budget *b, uint64_t ns)
{
    mst_say(text, 80, "%s a request (%s of its time)",
            mst_format_time(mst_budget_mean_ns(b, ns)).text,
            mst_format_percent(mst_budget_milli(b, ns)).text);
}

/* ---- held workers -------------------------------------------------------------------------- */

void mst_say_keepalive(struct mst_finding *f, const struct mst_budget *b)
{
    const struct mst_summary_server *server = b->front;

    MST_TEXT(f, "Idle keep-alive connections held Apache's workers: of all %" PRIu64 ", %s on "
             "average waited for another request, and connections waited up to %s for one (%s of "
             "the requests' time).", server->workers_limit,
             mst_format_milli(server->mean_state_milli[MST_STATE_KEEPALIVE]).text,
             mst_format_time(server->phases[MST_PHASE_QUEUE].max_ns).text,
             mst_format_percent(mst_budget_milli(b, b->ns[MST_PART_QUEUE])).text);
    MST_ACTION(f, "%s", MST_KEEPALIVE_ACTION);
}

static bool is_event(const struct mst_budget *b)
{
    return b->front->mpm != NULL && strcmp(b->front->mpm, "event") == 0;
}

void mst_say_sending(struct mst_finding *f, const struct mst_budget *b, uint64_t part_ns)
{
    char part[80];

    say_part(part, b, part_ns);
    switch (f->code) {
    case MST_CODE_SLOW_CLIENTS:
        MST_TEXT(f, "Clients read slowly: their receive windows were full for %s.",
                 part);
        MST_ACTION(f, is_event(b) ? "Put a proxy nearer to the clients in front, or make the "
                   "answers smaller (compression, images)." :
                   "Put a proxy in front that takes whole answers: a worker is held until the "
                   "client has nearly all. Or use the event MPM with PHP-FPM (mod_php needs "
                   "prefork): its workers do not wait for a client that reads slowly.");
        break;
    case MST_CODE_SLOW_NETWORK:
        MST_TEXT(f, "The network to the clients was slow: data was under way to clients that were "
                 "ready to read for %s.", part);
        MST_ACTION(f, "Make the answers smaller (compression, images), or use a faster network.");
        break;
    default:
        if (f->certainty == MST_LIKELY) {
            MST_TEXT(f, "Sending paused for %s because the server gave the kernel nothing to send. "
                     "The CPUs were full, and a worker that waits for a CPU sends nothing. A rate "
                     "limit or a filter would look the same.", part);
            break;
        }
        MST_TEXT(f, "The server itself sent slowly, with nothing of it under way, for %s: a "
                 "rate limit, a filter, or an application that streams.", part);
        MST_ACTION(f, "Look for mod_ratelimit, output filters and flushing in the application.");
    }
}

void mst_say_slow_sending(struct mst_finding *f, const struct mst_budget *b)
{
    char part[80];

    say_part(part, b, b->ns[MST_PART_SEND]);
    MST_TEXT(f, "The clients, or the network to them, were slow: sending took %s.",
             part);
    MST_ACTION(f, "Record again with this version of mpmstat: it tells the client from the "
               "network.");
}

void mst_say_late_delivery(struct mst_finding *f, const struct mst_budget *b)
{
    const struct mst_summary_interval *late = &b->front->intervals[MST_INTERVAL_UNDELIVERED];

    MST_TEXT(f, "%s: the kernel needed %s more on average to deliver %" PRIu64 " answers that "
             "Apache had sent.", f->code == MST_CODE_SLOW_CLIENTS ? "Clients read slowly" :
             "The network to the clients, or the clients, were slow",
             mst_format_time(late->requests > 0 ? late->times.sum_ns / late->requests : 0).text,
             late->requests);
    MST_ACTION(f, "Make the answers smaller, or use a faster network.");
}

void mst_advise_uploads(struct mst_finding *f)
{
    MST_ACTION(f, "Put a proxy in front that takes the whole body first, or set a shorter "
               "RequestReadTimeout (mod_reqtimeout) against clients that stall.");
}

void mst_say_uploads(struct mst_finding *f, const struct mst_budget *b)
{
    char part[80];

    say_part(part, b, b->ns[MST_PART_UPLOAD]);
    MST_TEXT(f, "Clients sent their requests' bodies slowly: a worker waited for them for %s.",
             part);
    mst_advise_uploads(f);
}

void mst_say_headers(struct mst_finding *f, const struct mst_budget *b)
{
    char part[80];

    say_part(part, b, b->ns[MST_PART_READ]);
    MST_TEXT(f, "Clients sent their requests' headers slowly: reading them took %s.", part);
    MST_ACTION(f, "Set a shorter RequestReadTimeout (mod_reqtimeout), which ends connections that "
               "send too slowly, or put a proxy in front that reads the whole request first. Each "
               "MPM holds a worker while it reads headers, event, too.");
}

void mst_say_holder(struct mst_finding *f, const struct mst_holders *holders,
                    uint64_t of_time_milli, uint64_t of_requests_milli)
{
    MST_TEXT(f, "%s %s held %s of the busy workers' time with %s of the requests.",
             holders->what, f->subject, mst_format_percent(of_time_milli).text,
             mst_format_percent(of_requests_milli).text);
    MST_ACTION(f, "Give it workers of its own (a pool, a server), or make it quicker: the others "
               "wait for it.");
}

void mst_say_stuck(struct mst_finding *f, const struct mst_summary_server *server)
{
    MST_TEXT(f, "%" PRIu64 " request%s still held workers (of %" PRIu64 ") when the recording "
             "ended.", f->requests, f->requests == 1 ? "" : "s", server->workers_limit);
    MST_ACTION(f, "Find the longest requests with mpmstat status, then the stack of such a "
               "process with gdb -p PID -batch -ex bt: it says what the process waits for.");
}

void mst_say_cold_start(struct mst_finding *f, const struct mst_cold *cold)
{
    enum mst_part longest = mst_part_longest(cold->parts_ns);

    MST_TEXT(f, "The first answer came %s after the first request: the %" PRIu64 " request%s that "
             "began before it took %s on average, %s of that %s (%s).",
             mst_format_time(cold->late_ns).text, cold->requests, cold->requests == 1 ? "" : "s",
             mst_format_time(cold->total_ns / cold->requests).text,
             mst_format_percent(mst_milli(cold->parts_ns[longest], cold->total_ns)).text,
             mst_parts[longest].name, mst_parts[longest].noun);
    MST_ACTION(f, "To measure the warm server, ask for the page a few times before the recording. "
               "Where users meet this after each deployment, do the same then.");
}

void mst_say_halted(struct mst_finding *f, const struct mst_halted *h)
{
    bool is_stopped = h->state != 'D';
    char until[48] = "", requests[64] = "";

    if (h->until_ns > h->since_ns)
        mst_say(until, sizeof until, " until %s", mst_format_clock(h->until_ns).text);
    if (h->requests > 0)
        mst_say(requests, sizeof requests, ", while it had %" PRIu64 " request%s", h->requests,
                h->requests == 1 ? "" : "s");
    MST_MORE(f, " Process %" PRIu64 " of %s was seen %s at %s%s%s.", h->pid,
             h->is_php ? "PHP" : "Apache",
             is_stopped ? "suspended (state T)" : "waiting uninterruptibly (state D)",
             mst_format_clock(h->since_ns).text, until, requests);
    if (is_stopped)
        MST_ACTION(f, "Look at TracerPid in /proc/%" PRIu64 "/status: 0 means that a signal "
                   "stopped it, and kill -CONT %" PRIu64 " continues it; else a debugger holds it.",
                   h->pid, h->pid);
    else
        MST_ACTION(f, "Look what it waits for in the kernel, mostly a disk or a file system of the "
                   "network: cat /proc/%" PRIu64 "/stack, dmesg.", h->pid);
}

void mst_say_churn(struct mst_finding *f, const struct mst_summary_server *server)
{
    MST_TEXT(f, "%s's processes were short-lived: %" PRIu64 " ended, after %s requests each on "
             "average, and others were started for them.",
             mst_summary_is_php(server) ? "PHP" : "Apache", server->exits,
             mst_format_milli(mst_milli(server->requests, server->exits)).text);
    MST_ACTION(f, "Set %s", server->sapi_kind == MST_SAPI_FCGID ?
               "FcgidMaxRequestsPerProcess and PHP_FCGI_MAX_REQUESTS (FcgidInitialEnv) much higher "
               "(0 is no limit, for an application that leaks no memory), or FcgidIdleTimeout." :
               mst_summary_is_php(server) ?
               "pm.max_requests much higher (0 is no limit, for an application that leaks no "
               "memory); with pm = ondemand also pm.process_idle_timeout." :
               "MaxConnectionsPerChild much higher (0 is no limit, for an application that leaks "
               "no memory); where it is 0, MaxSpareServers or MaxSpareThreads.");
}

/* ---- waited for ---------------------------------------------------------------------------- */

static const char *const wait_names[MST_WAIT_COUNT] = {
#define MST_WAIT_PART(id, name, colour, span, what, meaning, action) [MST_WAIT_##id] = what,
#include "segment/parts.def"
};
static const char *const wait_actions[MST_WAIT_COUNT] = {
#define MST_WAIT_PART(id, name, colour, span, what, meaning, action) [MST_WAIT_##id] = action,
#include "segment/parts.def"
};

const char *mst_wait_action(const char *wait)
{
    int i;

    for (i = 0; i < MST_WAIT_COUNT; i++)
        if (strcmp(mst_wait_names[i], wait) == 0)
            return wait_actions[i];
    return NULL;
}

/* "mysql 127.0.0.1:3306: 3.0 calls a request, 12 ms each". */
static void say_end(char text[256], const struct mst_summary_end *end, uint64_t requests)
{
    text[0] = '\0';
    if (end == NULL)
        return;
    if (end->calls == MST_UNKNOWN || end->calls == 0 || requests == 0)
        mst_say(text, 256, " (%s)", end->name);
    else
        mst_say(text, 256, " (%s: %s calls a request, %s each)", end->name,
                mst_format_milli(mst_milli(end->calls, requests)).text,
                mst_format_time(end->end_ns / end->calls).text);
}

/* Whether most of the calls' time was spent before the other end had a question. */
static bool is_connecting(const struct mst_summary_end *end)
{
    return end != NULL && end->connect_ns != MST_UNKNOWN && end->end_ns > 0 &&
           end->connect_ns >= end->end_ns / 2;
}

/* Hardly anything but that. */
static bool mostly_connects(const struct mst_summary_end *end)
{
    return is_connecting(end) && end->connect_ns / 9 >= (end->end_ns - end->connect_ns);
}

/* Adds it, and another action. */
static void say_connecting(struct mst_finding *f, const struct mst_summary_end *end,
                           uint64_t requests)
{
    MST_MORE(f, " Connecting, which begins with the look-up of a name, took %s of these %s a "
             "request.",
             mst_format_time(end->connect_ns / requests).text,
             mst_format_time(end->end_ns / requests).text);
    MST_ACTION(f, "Look why connecting is slow: the look-up of a name (use an address, or a "
               "caching resolver), the network, or the server's own threads and access checks. "
               "Persistent connections spare most of it.");
}

static const char *const one_at_a_time[] = {
    [MST_ANSWER_NO] = "", [MST_ANSWER_YES] = "; it let in one request at a time",
    [MST_ANSWER_UNKNOWN] =
        "; a thinned archive does not tell whether it let in one request at a time",
};
#define WHOLE_TELLS " Only an archive that is not thinned tells whether more workers can help: " \
                    "report a later time (--from), or record with a longer --thin-after."

void mst_say_wait(struct mst_finding *f, const struct mst_budget *b, enum mst_wait wait,
                  const struct mst_summary_end *end, enum mst_answer one_by_one)
{
    static const char *const workers[] = {
        [MST_ANSWER_NO] = "", [MST_ANSWER_UNKNOWN] = WHOLE_TELLS,
        [MST_ANSWER_YES] = " More workers cannot help: they would wait there, too.",
    };
    uint64_t ns = b->ns[MST_PART_WAITS + wait];
    char part[80], which[256], of_run[64] = "";

    say_part(part, b, ns);
    say_end(which, end, b->front->requests);
    if (b->ns[MST_PART_PHP_WAIT] > ns)
        mst_say(of_run, sizeof of_run, " and %s of PHP's running time",
                mst_format_percent(mst_budget_run_milli(b, ns)).text);
    MST_TEXT(f, "PHP waited for %s%s for %s%s%s%s.",
             mostly_connects(end) ? "connections to " : "", wait_names[wait], part, of_run, which,
             one_at_a_time[one_by_one]);
    MST_ACTION(f, "%s%s", wait_actions[wait], workers[one_by_one]);
    if (is_connecting(end) && b->front->requests > 0)
        say_connecting(f, end, b->front->requests);
}

void mst_say_own_end(struct mst_finding *f, const char *end)
{
    MST_MORE(f, " %.80s is this server itself: each such call takes a second worker while the "
             "first one waits, and where all workers wait so, none is left to answer.",
             strchr(end, ' ') + 1);
    MST_ACTION(f, "Call the code itself instead of its URL, or make these calls outside of "
               "requests (cron, a queue). A second pool of PHP for them keeps the two apart.");
    f->predicted[0] = '\0';
}

void mst_say_after_php(struct mst_finding *f, const struct mst_budget *b, uint64_t ns)
{
    char part[80];

    say_part(part, b, ns);
    MST_TEXT(f, "Requests took %s after PHP had ended, before Apache had the answer. It reads then "
             "what PHP said, and writes PHP's error messages to its own error log: cannot tell "
             "which of these it was.", part);
    MST_ACTION(f, "Look at Apache's error log: how much PHP writes there, and whether the program "
               "or the disk behind it is slow (strace -f -p PID of a worker).");
}

void mst_say_backend(struct mst_finding *f, const struct mst_budget *b, uint64_t ns,
                     const struct mst_summary_end *end, enum mst_answer one_by_one)
{
    char part[80], which[256];

    say_part(part, b, ns);
    say_end(which, end, f->requests);
    MST_TEXT(f, "Apache waited for its backend for %s%s%s.", part, which,
             one_at_a_time[one_by_one]);
    if (one_by_one == MST_ANSWER_YES)
        MST_ACTION(f, "Have the backend serve more requests at once: more workers in Apache "
                   "cannot help.");
    else
        MST_ACTION(f, "Look at the backend's own log and load; where it is PHP, install the "
                   "extension mpmstat, which tells what PHP waits for.%s",
                   one_by_one == MST_ANSWER_UNKNOWN ? WHOLE_TELLS : "");
}

void mst_say_whose(struct mst_finding *f, const struct mst_holder *h)
{
    MST_MORE(f, " %s has %s of this %s, and %s of the requests.", h->name,
             mst_format_percent(mst_holder_of_time_milli(h)).text,
             f->code == MST_CODE_APPLICATION_CPU || f->code == MST_CODE_CANNOT_TELL ? "time"
                                                                               : "wait",
             mst_format_percent(mst_holder_of_requests_milli(h)).text);
}

void mst_say_script(struct mst_finding *f, const struct mst_holder *h)
{
    size_t length = strlen(f->action);

    mst_say(f->action + length, sizeof f->action - length, " Begin with %s.", h->name);
}

/* Whether Apache's processes used as much CPU as most of this takes. */
static bool compute(const struct mst_budget *b, uint64_t ns)
{
    return b->front != b->php && b->front->cpu_ns != MST_UNKNOWN && b->front->cpu_ns >= ns / 2;
}

void mst_say_own(struct mst_finding *f, const struct mst_budget *b, uint64_t ns)
{
    char part[80];

    say_part(part, b, ns);
    if (f->code == MST_CODE_TLS) {
        MST_TEXT(f, "TLS handshakes took %s.", part);
        MST_ACTION(f, "Keep connections alive, resume sessions, or use an ECDSA certificate.");
    } else {
        MST_TEXT(f, "The checks before the application (access control, look-ups of names, "
                 "rewriting) took %s.", part);
        MST_ACTION(f, "%s", compute(b, ns) ?
                   "They compute: have fewer rules and lines in .htaccess, which is read again for "
                   "each request (better in the server's configuration, with AllowOverride None), "
                   "and cheaper passwords." :
                   "Use addresses instead of host names in Require, set HostnameLookups Off, "
                   "and have fewer rewriting rules.");
    }
}

void mst_say_logging(struct mst_finding *f, const struct mst_budget *b)
{
    MST_TEXT(f, "Workers waited for their log: %s a request, %s of the time that it held its "
             "worker.", mst_format_time(mst_budget_mean_ns(b, b->log_ns)).text,
             mst_format_percent(f->share_milli).text);
    MST_ACTION(f, "See what the log is written to: a slow program behind a pipe, a slow disk, or "
               "names that HostnameLookups asks for. More workers would wait there, too.");
}

void mst_say_serial(struct mst_finding *f)
{
    MST_MORE(f, " Requests were let in one at a time.");
    MST_ACTION(f, "%s", f->code == MST_CODE_CHECKS ?
               "Look for what serves one request at a time before the application: a RewriteMap "
               "of the type prg, or an authentication provider. More workers would wait there, too."
               : "Look for a filter that serves one request at a time (an external program, a "
               "lock). More workers would wait there, too.");
}

const char *mst_or_opcache(const struct mst_summary_server *php)
{
    return php->opcache.state == MST_OPCACHE_ON ? "" : "; use OPcache";
}

static uint64_t free_in(const struct mst_opcache *o)
{
    return mst_subtract_saturated(o->limit_bytes, mst_add_saturated(o->used_bytes,
                                                                    mst_known(o->wasted_bytes)));
}

/* OPcache calls itself full where it has no more than 64 KiB (its source: MIN_FREE_MEMORY). Before,
 * it has no room for large scripts. */
static bool is_nearly_full(const struct mst_opcache *o)
{
    return o->state == MST_OPCACHE_FULL ||
           mst_milli(free_in(o), o->limit_bytes) < MST_OPCACHE_FREE_MILLI;
}

/* It compiles again, for each request, what it has no room for. */
static void say_full(struct mst_finding *f, const struct mst_opcache *o)
{
    uint64_t mib = o->limit_bytes >> 20;

    if (mst_known(o->keys) >= o->keys_limit) {
        MST_MORE(f, " OPcache is full: all of its %s names of scripts are used.",
                 mst_format_count(o->keys_limit).text);
        MST_ACTION(f, "Set opcache.max_accelerated_files to more than the application has files, "
                   "twice as many at first: %" PRIu64 ".", 2 * o->keys_limit);
    } else {
        MST_MORE(f, " OPcache is %sfull: %s scripts are in it, and %s of %s are used.",
                 o->state == MST_OPCACHE_FULL ? "" : "nearly ", mst_format_count(o->scripts).text,
                 mst_format_bytes(o->used_bytes).text, mst_format_bytes(o->limit_bytes).text);
        MST_ACTION(f, "Set opcache.memory_consumption to %" PRIu64 " (now %" PRIu64 ").", 2 * mib,
                   mib);
    }
}

/* Why scripts are compiled, as far as OPcache tells it. */
static void say_opcache(struct mst_finding *f, const struct mst_summary_server *php)
{
    const struct mst_opcache *o = &php->opcache;

    if (o->state == MST_OPCACHE_OFF) {
        MST_MORE(f, " OPcache is off.");
        MST_ACTION(f, "Switch OPcache on: opcache.enable = 1 in php.ini, and for the pool or the "
                   "virtual host, if it is off there; where php -m does not list it, install it.");
    } else if (o->state == MST_OPCACHE_UNKNOWN || o->limit_bytes == MST_UNKNOWN) {
        MST_ACTION(f, "Look at opcache_get_status(): whether OPcache is on (opcache.enable), "
                   "whether it is full (opcache.memory_consumption, "
                   "opcache.max_accelerated_files), and whether something resets it, or changes "
                   "the files.");
    } else if (mst_known(o->restarts) > 0 || o->state == MST_OPCACHE_RESTARTING) {
        MST_MORE(f, " OPcache was restarted meanwhile.");
        MST_ACTION(f, "Look for what restarts it: opcache_reset() in the application or a "
                   "deployment, or too little memory for scripts that change "
                   "(opcache.memory_consumption).");
    } else if (is_nearly_full(o)) {
        say_full(f, o);
    } else {
        MST_MORE(f, " OPcache is on, and %s of its %s are free.",
                 mst_format_bytes(free_in(o)).text, mst_format_bytes(o->limit_bytes).text);
        if (2 * f->requests < php->requests)
            MST_ACTION(f, "Few requests compiled: those after a start, or after files had "
                       "changed. Warm PHP up before the load, or see opcache.preload.");
        else
            MST_ACTION(f, "Look for scripts that it cannot keep: files that are written "
                       "again and again (templates, caches), or that are younger than "
                       "opcache.file_update_protection, eval(), and what "
                       "opcache.blacklist_filename names.");
    }
}

void mst_say_compiling(struct mst_finding *f, const struct mst_budget *b)
{
    uint64_t uncached = b->php->uncached;
    char part[80], scripts[96] = "";

    say_part(part, b, b->ns[MST_PART_COMPILE]);
    if (uncached != MST_UNKNOWN && b->php->requests > 0)
        mst_say(scripts, sizeof scripts, "; OPcache did not have the script of %s of the requests",
                mst_format_percent(mst_milli(uncached, b->php->requests)).text);
    MST_TEXT(f, "PHP compiled scripts for %s, %s of its CPU time%s.", part,
             mst_format_percent(mst_finding_number(f, MST_OF_CPU)).text, scripts);
    say_opcache(f, b->php);
}

static bool is_the_kernels(uint64_t kernel_milli)
{
    return kernel_milli != MST_UNKNOWN && kernel_milli >= MST_KERNEL_MILLI;
}

/* The kernel's part of computing, where it has most: ", 84 % of it in the kernel"; else "". */
static void say_kernel(char text[48], uint64_t kernel_milli)
{
    text[0] = '\0';
    if (is_the_kernels(kernel_milli))
        mst_say(text, 48, ", %s of it in the kernel", mst_format_percent(kernel_milli).text);
}

static const char count_system_calls[] =
    "Count the system calls of a worker (strace -c -f -p PID). Frequent causes: directories with "
    "many files (sessions, a cache), and memory that each request allocates again.";

void mst_say_computing(struct mst_finding *f, const struct mst_budget *b, uint64_t kernel_milli)
{
    char part[80], kernel[48];

    say_part(part, b, b->ns[MST_PART_CPU]);
    say_kernel(kernel, kernel_milli);
    MST_TEXT(f, "PHP computed for %s%s.", part, kernel);
    if (is_the_kernels(kernel_milli))
        MST_ACTION(f, "%s", count_system_calls);
    else
        MST_ACTION(f, "Find the functions with a profiler; spare work, or keep results in a "
                   "cache%s.", mst_or_opcache(b->php));
}

void mst_say_unseen(struct mst_finding *f, const struct mst_budget *b, uint64_t ns)
{
    char part[80];

    say_part(part, b, ns);
    if (b->php != NULL && b->php->measured > b->php->requests / 2 &&
        b->ns[MST_PART_REST] > b->ns[MST_PART_HANDLE]) {
        MST_TEXT(f, "PHP neither computed nor was in a call that is timed for %s; what it did "
                 "is not measured.", part);
        MST_ACTION(f, "Look at a worker of PHP while it does that: perf trace -p PID, gdb -p PID "
                   "(bt). It can wait until Apache takes its output (a filter that computes), for "
                   "a page of memory, or in a library.");
        return;
    }
    MST_TEXT(f, "The application, or what it waits for, took %s; what it did is not measured.",
             part);
    MST_ACTION(f, "%s", b->php != NULL ?
               "Set mpmstat.waits = 1 in php.ini: it tells what PHP waited for." :
               "Where it is PHP, install the extension mpmstat: it tells what PHP waited for.");
}

/* ---- around -------------------------------------------------------------------------------- */

static void say_common(char text[256], const struct mst_budget *b, const struct mst_slow_tail *t)
{
    const struct mst_formatted slow = mst_format_percent(t->common_slow_milli);
    const struct mst_formatted all = mst_format_percent(t->common_all_milli);

    switch (t->common) {
    case MST_COMMON_PAGE:
    case MST_COMMON_LABEL:
        mst_say(text, 256, "; %s of them are of %s, which has %s of all", slow.text, t->value,
                all.text);
        break;
    case MST_COMMON_FIRST:
        mst_say(text, 256, "; %s of them are the first of their connection, as are %s of all",
                slow.text, all.text);
        break;
    case MST_COMMON_UNCACHED:
        mst_say(text, 256, "; for %s of them OPcache did not have the script yet", slow.text);
        break;
    case MST_COMMON_SECOND:
        mst_say(text, 256, "; %s of them began within a second from %s on, as did %s of all",
                slow.text, mst_format_clock(b->s->started_ns + strtoull(t->value, NULL, 10) *
                                            MST_NS_PER_S).text, all.text);
        break;
    case MST_COMMON_PROCESS:
        mst_say(text, 256, "; %s of them were process %s's, which had %s of all", slow.text,
                t->value, all.text);
        break;
    default:
        text[0] = '\0';
    }
}

/* Whether a wait of that kind is for a server, which has a log of its own. */
static bool is_for_server(const char *kind)
{
    enum mst_code code = mst_code_of(kind);

    return code == MST_CODE_DATABASE || code == MST_CODE_CACHE || code == MST_CODE_HTTP ||
           code == MST_CODE_MAIL || code == MST_CODE_STREAM;
}

void mst_say_stall(struct mst_finding *f, const struct mst_stall *stall)
{
    char what[MST_WAIT_WORDS_MAX], whose[48 + sizeof stall->page] = "";

    mst_wait_words(what, stall->kind, stall->end);
    if (stall->of_page == stall->requests)
        mst_say(whose, sizeof whose, " (all for %s)", stall->page);
    else if (stall->of_page > 0)
        mst_say(whose, sizeof whose, " (%" PRIu64 " of them for %s)", stall->of_page, stall->page);
    MST_TEXT(f, "PHP stood still from %s to %s (%s): %" PRIu64 " requests%s waited for %s, and "
             "those that came later waited behind them.", mst_format_clock(stall->from_ns).text,
             mst_format_clock(stall->until_ns).text,
             mst_format_time(stall->until_ns - stall->from_ns).text, stall->requests, whose, what);
    if (is_for_server(stall->kind))
        MST_ACTION(f, "Look what %s did then, in its own log.",
                   stall->end[0] != '\0' ? stall->end : stall->kind);
    else
        MST_ACTION(f, "%s", mst_wait_action(stall->kind));
}

void mst_say_when(struct mst_finding *f, const struct mst_summary *s)
{
    if (s->client.tool != NULL)
        MST_MORE(f, " Most of this was from %s to %s after the load's start.",
                 mst_format_time(f->when.from_ns - s->started_ns).text,
                 mst_format_time(f->when.until_ns - s->started_ns).text);
    else
        MST_MORE(f, " Most of this was from %s to %s.", mst_format_clock(f->when.from_ns).text,
                 mst_format_clock(f->when.until_ns).text);
}

void mst_say_tail(struct mst_finding *f, const struct mst_budget *b, const struct mst_slow_tail *t)
{
    char common[256], part[160], wait[MST_WAIT_WORDS_MAX], kernel[48];

    say_common(common, b, t);
    say_kernel(kernel, t->kernel_milli);
    mst_say(part, sizeof part, "%s%s", mst_parts[t->part].noun, kernel);
    if (t->wait[0] != '\0') {
        mst_wait_words(wait, t->wait, t->wait_end);
        mst_say(part, sizeof part, "PHP's waiting for %s", wait);
    }
    MST_TEXT(f, "%" PRIu64 " of %" PRIu64 " requests took more than %s, the median takes %s: what "
             "made them slow is mostly %s%s.", t->slow, b->front->requests,
             mst_format_time(t->border_ns).text, mst_format_time(t->median_ns).text,
             part, common);
    MST_ACTION(f, "%s", is_the_kernels(t->kernel_milli) ? count_system_calls :
               "Look at these requests alone: the page of a recording (mpmstat report -o "
               "run.html) lists the slowest.");
}

void mst_say_beyond(struct mst_finding *f, const struct mst_budget *b, uint64_t apart_ns)
{
    const struct mst_summary *s = b->s;
    char retries[96] = "";

    if (s->syn_retransmits != MST_UNKNOWN && s->syn_retransmits > 0)
        mst_say(retries, sizeof retries, "; %" PRIu64 " connections had to send their SYN again",
                s->syn_retransmits);
    MST_TEXT(f, "The client saw %s more for a request than the server knows of (%s of its %s)%s.",
             mst_format_time(apart_ns).text, mst_format_percent(f->share_milli).text,
             mst_format_time(s->client.times.mean_ns).text, retries);
    if (mst_cpu_is_full(s) && b->front->local && s->tool_cpu_ns != MST_UNKNOWN)
        MST_ACTION(f, "Run the load tool on another machine: the CPUs were %s busy, and it had to "
                   "wait for one, too.", mst_format_percent(s->machine_busy_milli).text);
    else
        MST_ACTION(f, "Look at what is between them (a proxy, the network), and at the load tool's "
                   "own work.");
}

static void say_before(char *text, size_t size, const char *before)
{
    char after[sizeof ((struct mst_finding *)NULL)->text];

    mst_say(after, sizeof after, "%s", text);
    mst_say(text, size, "%s%s", before, after);
}

void mst_say_servers(struct mst_finding *f, const char *other, size_t servers, bool same_action)
{
    char whose[256], where[80];

    mst_say(where, sizeof where, "%.60s: ", f->server);
    if (f->servers == 1)
        mst_say(whose, sizeof whose, "%s", where);
    else if (f->servers == servers)
        mst_say(whose, sizeof whose, "All %zu servers, %.60s the most: ", servers, f->server);
    else if (other != NULL)
        mst_say(whose, sizeof whose, "%.60s and %.60s: ", f->server, other);
    else
        mst_say(whose, sizeof whose, "%zu of %zu servers, %.60s the most: ", f->servers, servers,
                f->server);
    say_before(f->text, sizeof f->text, whose);
    if (f->action[0] != '\0' && (f->servers == 1 || !same_action))
        say_before(f->action, sizeof f->action, where);
    if (f->predicted[0] != '\0')
        say_before(f->predicted, sizeof f->predicted, where);
}

void mst_say_odd(struct mst_finding *f, const struct mst_summary_server *server, size_t peers)
{
    MST_TEXT(f, "%.160s is the odd one of the %zu %s servers of this run.", f->subject, peers,
             mst_summary_is_php(server) ? "PHP" : "Apache");
    MST_ACTION(f, "Compare its configuration and hardware with those of the other servers, and a "
               "request to it with one to a peer; or take it out of the load balancer.");
}

void mst_say_odd_in(struct mst_finding *f, const struct mst_summary_server *server,
                    enum mst_odd which, uint64_t value, uint64_t usual)
{
    size_t used = strlen(f->text);
    char *text = f->text + used;
    size_t room = sizeof f->text - used;
    bool is_php = mst_summary_is_php(server);

    switch (which) {
    case MST_ODD_LIMIT:
        mst_say(text, room, " It has %" PRIu64 " workers (%s) where most have %" PRIu64 ".", value,
                mst_workers_directive(server), usual);
        break;
    case MST_ODD_TIME:
        mst_say(text, room, " Half of its requests took %s or more; usual is %s.",
                mst_format_time(value).text, mst_format_time(usual).text);
        break;
    case MST_ODD_WAIT:
        mst_say(text, room, " Requests waited %s for %s worker on average; usual is %s.",
                mst_format_time(value).text, is_php ? "a PHP" : "an Apache",
                mst_format_time(usual).text);
        break;
    case MST_ODD_BUSY:
        mst_say(text, room, " Its workers were %s busy; usual is %s.",
                mst_format_percent(value).text, mst_format_percent(usual).text);
        break;
    default:
        mst_say(text, room, " Of its answers %s were 5xx; usual is %s.",
                mst_format_percent(value).text, mst_format_percent(usual).text);
    }
}

void mst_say_nothing(struct mst_finding *f, const struct mst_budget *b)
{
    enum mst_part longest = mst_part_longest(b->ns);
    char limit[32] = "", cpus[48] = "", where[96] = "";

    if (b->fleet)
        mst_say(where, sizeof where, " on %.60s, which had most requests,",
                mst_summary_called(b->front));

    if (b->front->workers_limit != MST_UNKNOWN)
        mst_say(limit, sizeof limit, " of %" PRIu64, b->front->workers_limit);
    if (b->s->machine_busy_milli != MST_UNKNOWN)
        mst_say(cpus, sizeof cpus, " and the CPUs were %s busy",
                mst_format_percent(b->s->machine_busy_milli).text);
    MST_TEXT(f, "Nothing ran out:%s at most %s%s workers were busy%s; a request takes %s, %s of "
             "it %s (%s).", where, mst_format_count(b->front->max_busy).text, limit, cpus,
             mst_format_time(b->front->phases[MST_PHASE_TOTAL].mean_ns).text,
             mst_format_percent(mst_summary_milli(b->ns[longest], b->total_ns)).text,
             mst_parts[longest].name, mst_parts[longest].noun);
}

/* How many requests a load of that length makes, to two figures. */
static uint64_t requests_in(const struct mst_summary *s, uint64_t ns)
{
    uint64_t n = mst_scale(s->client.requested, ns, s->duration_ns), unit = 1;

    while (n / unit >= 100)
        unit *= 10;
    return (n / unit + (n % unit > 0)) * unit;
}

void mst_say_obstacle(struct mst_finding *f, const struct mst_summary *s, const char *why)
{
    const struct mst_formatted enough = mst_format_time(MST_ENOUGH_RUN_NS);

    MST_TEXT(f, "Cannot tell: %s.", why);
    if (f->code != MST_CODE_TOO_SHORT)
        return;
    if (s->client.tool == NULL || s->client.requested == MST_UNKNOWN || s->client.requested == 0 ||
        s->duration_ns == MST_UNKNOWN || s->duration_ns == 0 || s->duration_ns >= MST_ENOUGH_RUN_NS)
        MST_ACTION(f, "Record at least %s.", enough.text);
    else
        MST_ACTION(f, "Record at least %s: %" PRIu64 " requests instead of %" PRIu64 ".",
                   enough.text, requests_in(s, MST_ENOUGH_RUN_NS), s->client.requested);
}
