/* verdict.c - what ran out, in one sentence, or that it cannot be told.
 *
 * Rules from the most certain to the least; the first that holds speaks.
 */
#include "analysis/steps.h"

#include <inttypes.h>
#include <stdarg.h>
#include <stdio.h>
#include <string.h>

#include "analysis/thresholds.h"
#include "base/clock.h"
#include "base/ratio.h"
#include "console/format.h"
#include "segment/fields.h"

static void say(struct mst_summary *s, const char *format, ...)
    __attribute__((format(printf, 2, 3)));

static void say(struct mst_summary *s, const char *format, ...)
{
    va_list args;

    va_start(args, format);
    vsnprintf(s->verdict, sizeof s->verdict, format, args);
    va_end(args);
}

/* Of the time that the server's requests took. */
static uint64_t part_milli(const struct mst_summary_server *server,
                           const struct mst_summary_times *part)
{
    uint64_t total = server->phases[MST_PHASE_TOTAL].sum_ns;

    if (total == MST_UNKNOWN || part->sum_ns == MST_UNKNOWN || total == 0)
        return 0;
    return mst_milli(part->sum_ns, total);
}

static uint64_t share_milli(const struct mst_summary_server *server, enum mst_phase phase)
{
    return part_milli(server, &server->phases[phase]);
}

/* Of the requests that waited at all. */
static uint64_t mean_of_waits(const struct mst_summary_server *server)
{
    uint64_t sum = server->phases[MST_PHASE_QUEUE].sum_ns;

    return server->waited > 0 && sum != MST_UNKNOWN ? sum / server->waited : 0;
}

bool mst_summary_waits(const struct mst_summary_server *server)
{
    const struct mst_summary_times *php = &server->phases[MST_PHASE_PHP_WAIT];

    if (mst_summary_is_php(server))
        return php->count > 0 && php->mean_ns >= MST_PHP_WAIT_MEAN_MIN_NS;
    return mean_of_waits(server) >= MST_QUEUE_MEAN_MIN_NS;
}

/* Where the limit of PHP's workers is not known (FPM does not export it), a number that
 * stayed the same for the whole load tells it. */
bool mst_summary_all_busy(const struct mst_summary_server *server)
{
    if (server->max_busy == MST_UNKNOWN || server->max_busy == 0)
        return false;
    if (server->workers_limit != MST_UNKNOWN)
        return server->max_busy >= server->workers_limit;
    return mst_summary_is_php(server) && server->mean_busy_milli != MST_UNKNOWN &&
           server->mean_busy_milli >= server->max_busy * MST_CONSTANT_BUSY_MILLI;
}

/* On kept-alive connections only the first request waits, so where all workers were busy
 * the mean of those that waited tells; else a few slow accepts are no news. */
static bool waited_for_workers(const struct mst_summary_server *server)
{
    return share_milli(server, MST_PHASE_QUEUE) >= MST_WAIT_SHARE_MILLI &&
           (server->phases[MST_PHASE_QUEUE].mean_ns >= MST_QUEUE_MEAN_MIN_NS ||
            (mst_summary_all_busy(server) && mst_summary_waits(server)));
}

/* Whether at least half of the busy workers' time went into a state. */
static bool mostly_in(const struct mst_summary_server *server, enum mst_state state)
{
    uint64_t in_state = server->mean_state_milli[state];

    return in_state != MST_UNKNOWN && server->mean_busy_milli != MST_UNKNOWN && in_state > 0 &&
           in_state * 2 >= server->mean_busy_milli;
}

/* All workers held, most by connections without a request. */
static bool starved_by_keepalive(const struct mst_summary_server *server)
{
    return mst_summary_all_busy(server) && mostly_in(server, MST_STATE_KEEPALIVE) &&
           share_milli(server, MST_PHASE_QUEUE) >= MST_WAIT_SHARE_MILLI &&
           (mst_summary_waits(server) ||
            server->phases[MST_PHASE_QUEUE].max_ns >= MST_LONG_WAIT_NS);
}

/* Time in `send` during which PHP still ran is not the clients'. */
static bool clients_are_slow(const struct mst_summary_server *server)
{
    const struct mst_summary_times *send = &server->phases[MST_PHASE_SEND];
    const struct mst_summary_times *others =
        server->php.joined > 0 ? &server->php.send_other : send;

    return part_milli(server, others) >= MST_SLOW_SEND_MILLI &&
           send->mean_ns >= MST_SLOW_SEND_MEAN_MIN_NS;
}

/* What requests spent on waiting for a PHP worker. */
static const struct mst_summary_times *php_wait(const struct mst_summary_server *server)
{
    return mst_summary_is_php(server) ? &server->phases[MST_PHASE_PHP_WAIT]
                                      : &server->php.handle_wait;
}

static bool waited_for_php(const struct mst_summary_server *server)
{
    const struct mst_summary_times *wait = php_wait(server);

    return wait->count > 0 && part_milli(server, wait) >= MST_WAIT_SHARE_MILLI &&
           wait->mean_ns >= MST_PHP_WAIT_MEAN_MIN_NS;
}

static enum mst_phase longest_phase(const struct mst_summary_server *server)
{
    static const enum mst_phase phases[] = { MST_PHASE_QUEUE, MST_PHASE_READ, MST_PHASE_HANDLE,
                                             MST_PHASE_SEND, MST_PHASE_PHP_WAIT,
                                             MST_PHASE_PHP_RUN };
    enum mst_phase longest = mst_summary_is_php(server) ? MST_PHASE_PHP_RUN : MST_PHASE_QUEUE;
    size_t i;

    for (i = 0; i < sizeof phases / sizeof *phases; i++)
        if (share_milli(server, phases[i]) > share_milli(server, longest))
            longest = phases[i];
    return longest;
}

static const char *phase_meaning(enum mst_phase phase)
{
    switch (phase) {
    case MST_PHASE_QUEUE:  return "waiting for a worker";
    case MST_PHASE_READ:   return "reading requests";
    case MST_PHASE_HANDLE:
    case MST_PHASE_PHP_RUN:
        return "the application, or what it waits for";
    case MST_PHASE_PHP_WAIT: return "waiting for a PHP worker";
    default:               return "sending to the clients";
    }
}

/* Why nothing can be said about this run. NULL: something can. */
static const char *obstacle(const struct mst_summary *s, const struct mst_summary_server *server)
{
    static const char *const incomplete[MST_OUTCOME_COUNT] = {
        [MST_OUTCOME_UNFINISHED] = "the recording did not come to its end",
        [MST_OUTCOME_COMPLETE] = "the run was interrupted",
        [MST_OUTCOME_FAILED] = "the load tool failed",
        [MST_OUTCOME_TIMEOUT] = "the load tool did not end in time",
        [MST_OUTCOME_INTERRUPTED] = "the run was interrupted",
    };

    if (!s->complete || s->outcome == MST_OUTCOME_UNFINISHED)
        return incomplete[s->outcome];
    if (server == NULL || server->requests == 0)
        return "no request of the load was recorded";
    if (s->duration_ns == MST_UNKNOWN || s->duration_ns < MST_VERDICT_RUN_MIN_NS ||
        server->samples < MST_SAMPLES_MIN)
        return "the run was too short";
    if (server->restarts != 0)
        return "the server was started anew during the run";
    if ((server->workers_limit == MST_UNKNOWN && !mst_summary_is_php(server)) ||
        server->max_busy == MST_UNKNOWN || server->mean_busy_milli == MST_UNKNOWN)
        return "how busy the workers were is not known";
    return NULL;
}

/* Whether the server's CPU time is known and in no other server's: that of php-cgi's processes,
 * which have no parent of their own, is mostly in Apache's. */
static bool has_own_cpu(const struct mst_summary_server *server)
{
    return server->cpu_ns != MST_UNKNOWN &&
           (!mst_summary_is_php(server) || server->sapi_kind == MST_SAPI_FPM);
}

/* The CPU time of what belongs to this run: the load tool, and the servers with all processes below
 * their parents. Where no PHP was recorded, any program that is called so is taken for the
 * server's. */
static uint64_t own_cpu(const struct mst_summary *s)
{
    uint64_t own = s->tool_cpu_ns != MST_UNKNOWN ? s->tool_cpu_ns : 0;
    bool has_php = false;
    size_t i;

    for (i = 0; i < s->server_count; i++) {
        if (has_own_cpu(&s->servers[i]))
            own += s->servers[i].cpu_ns;
        has_php |= mst_summary_is_php(&s->servers[i]) && s->servers[i].cpu_ns != MST_UNKNOWN;
    }
    for (i = 0; i < s->program_count && !has_php; i++)
        if (strncmp(s->programs[i].name, "php", 3) == 0 && s->programs[i].cpu_ns != MST_UNKNOWN)
            own += s->programs[i].cpu_ns;
    return own;
}

/* Whether half of what the CPUs were busy with was this run's. Where the CPU of
 * the machine's programs is not known, it is taken to be. */
static bool cpu_is_ours(const struct mst_summary *s)
{
    unsigned __int128 busy;

    if (s->program_count == 0 || s->cpus == MST_UNKNOWN)
        return true;
    busy = (unsigned __int128)s->duration_ns * s->cpus * s->machine_busy_milli / 1000;
    return (unsigned __int128)own_cpu(s) * 2 >= busy;
}

/* Whether the CPUs would have let more workers do more, only a run with more of
 * them can tell. */
static void remark_cpu(char remark[160], const struct mst_summary *s, bool cpu_bound)
{
    bool named = s->program_count > 0;

    remark[0] = '\0';
    if (cpu_bound && cpu_is_ours(s))
        snprintf(remark, 160, "; the CPUs were %s busy too%s%s, so more workers may not help",
                 mst_human_percent(s->machine_busy_milli).text, named ? ", most with " : "",
                 named ? s->programs[0].name : "");
    else if (cpu_bound)
        snprintf(remark, 160, "; the CPUs were %s busy too, but mostly with other programs%s%s",
                 mst_human_percent(s->machine_busy_milli).text, named ? ", as " : "",
                 named ? s->programs[0].name : "");
}

/* What they did, where it was not the application's work. */
static const char *remark_state(const struct mst_summary_server *server)
{
    return mostly_in(server, MST_STATE_SENDING) ?
               "; most of their time they sent to clients that read slowly" :
           mostly_in(server, MST_STATE_READING) ?
               "; most of their time they read from clients that sent slowly or nothing" :
           mostly_in(server, MST_STATE_CLOSING) ?
               "; most of their time they waited for clients to close their connections" : "";
}

/* How long requests waited: each of them, or where the mean of all hides it the few that did. */
static void remark_waits(char remark[160], const struct mst_summary_server *server)
{
    const struct mst_summary_times *queue = &server->phases[MST_PHASE_QUEUE];
    const struct mst_human share = mst_human_percent(share_milli(server, MST_PHASE_QUEUE));

    if (queue->mean_ns >= MST_QUEUE_MEAN_MIN_NS)
        snprintf(remark, 160, "a request waited %s for one, %s of its time",
                 mst_human_time(queue->mean_ns).text, share.text);
    else
        snprintf(remark, 160, "%" PRIu64 " of %" PRIu64 " requests waited for one, %s in the mean "
                 "(%s of the time of all)", server->waited, server->requests,
                 mst_human_time(mean_of_waits(server)).text, share.text);
}

static void say_workers(struct mst_summary *s, const struct mst_summary_server *server,
                        bool cpu_bound)
{
    char cpu[160], waits[160];

    remark_cpu(cpu, s, cpu_bound);
    remark_waits(waits, server);
    say(s, "Apache's workers ran out: all %" PRIu64 " were busy (%s in the mean), and %s%s%s.",
        server->workers_limit, mst_human_milli(server->mean_busy_milli).text, waits,
        remark_state(server), cpu);
}

static void say_keepalive(struct mst_summary *s, const struct mst_summary_server *server)
{
    say(s, "Idle keep-alive connections held Apache's workers: of all %" PRIu64 ", %s in the mean "
        "waited for another request, and connections waited up to %s for one (%s of the requests' "
        "time): KeepAliveTimeout, more workers or the event MPM would help.",
        server->workers_limit, mst_human_milli(server->mean_state_milli[MST_STATE_KEEPALIVE]).text,
        mst_human_time(server->phases[MST_PHASE_QUEUE].max_ns).text,
        mst_human_percent(share_milli(server, MST_PHASE_QUEUE)).text);
}

/* Apache's workers, which wait for PHP's, may run out for that alone. */
static void say_php_workers(struct mst_summary *s, const struct mst_summary_server *server,
                            const struct mst_summary_server *php, bool cpu_bound)
{
    char cpu[160], busy[160], apache[160] = "";

    remark_cpu(cpu, s, cpu_bound);
    if (php->workers_limit != MST_UNKNOWN)
        snprintf(busy, sizeof busy, "all %" PRIu64 " were busy (%s in the mean)",
                 php->workers_limit, mst_human_milli(php->mean_busy_milli).text);
    else
        snprintf(busy, sizeof busy, "%" PRIu64 " were busy all the time (%s in the mean; their "
                 "limit is not known)", php->max_busy, mst_human_milli(php->mean_busy_milli).text);
    if (server != php && waited_for_workers(server) && mst_summary_all_busy(server))
        snprintf(apache, sizeof apache, "; Apache's own %" PRIu64 " workers waited with them, and "
                 "requests %s for one of those", server->workers_limit,
                 mst_human_time(mean_of_waits(server)).text);
    say(s, "PHP's workers ran out: %s, and a request waited %s for one, %s of its time%s%s.", busy,
        mst_human_time(php_wait(server)->mean_ns).text,
        mst_human_percent(part_milli(server, php_wait(server))).text, apache, cpu);
}

static void say_php_below_limit(struct mst_summary *s, const struct mst_summary_server *server,
                                const struct mst_summary_server *php)
{
    bool forked = php->forks != MST_UNKNOWN && php->forks > 0;
    char limit[32] = "";

    if (php->workers_limit != MST_UNKNOWN)
        snprintf(limit, sizeof limit, " of %" PRIu64, php->workers_limit);
    say(s, "Requests waited for PHP's workers (%s of their time) although at most %s%s were "
        "busy%s.",
        mst_human_percent(part_milli(server, php_wait(server))).text,
        mst_human_count(php->max_busy).text, limit, forked ?
        ": PHP's processes were started too slowly for this load" : ": cannot tell why");
}

/* "9 of 10", and where the limit is not known "9". */
static struct mst_human workers_of_limit(const struct mst_summary_server *server)
{
    struct mst_human h = mst_human_count(server->max_busy);
    size_t used = strlen(h.text);

    if (server->workers_limit != MST_UNKNOWN)
        snprintf(h.text + used, sizeof h.text - used, " of %" PRIu64, server->workers_limit);
    return h;
}

/* The load tool's part of what the CPUs were busy with. */
static void remark_tool(char remark[160], const struct mst_summary *s)
{
    uint64_t busy_ns, milli;

    remark[0] = '\0';
    if (s->cpus == MST_UNKNOWN || s->tool_cpu_ns == MST_UNKNOWN || s->client.tool == NULL)
        return;
    busy_ns = (uint64_t)((unsigned __int128)s->duration_ns * s->cpus * s->machine_busy_milli /
                         1000);
    milli = busy_ns > 0 ? mst_milli(s->tool_cpu_ns, busy_ns) : 0;
    if (milli >= MST_TOOL_SHARE_MILLI)
        snprintf(remark, 160, "; %s itself took %s of that, which the server would have from "
                 "another machine", s->client.tool, mst_human_percent(milli).text);
}

static void say_cpu(struct mst_summary *s, const struct mst_summary_server *server)
{
    char tool[160];

    remark_tool(tool, s);
    if (!cpu_is_ours(s))
        say(s, "Cannot tell: the CPUs were %s busy, but mostly with other programs than the "
            "server, PHP and %s (most with %s, %s): if they do not work for this server, stop "
            "them and measure again.", mst_human_percent(s->machine_busy_milli).text,
            s->client.tool != NULL ? s->client.tool : "mpmstat", s->programs[0].name,
            mst_human_time(s->programs[0].cpu_ns).text);
    else
        say(s, "The CPUs were the limit: %s busy%s%s, while at most %s workers were%s.",
            mst_human_percent(s->machine_busy_milli).text,
            s->program_count > 0 ? ", most with " : "",
            s->program_count > 0 ? s->programs[0].name : "", workers_of_limit(server).text, tool);
}

static void say_slow_clients(struct mst_summary *s, const struct mst_summary_server *server)
{
    say(s, "The clients, or the network to them, were slow: sending took %s of a request's time "
        "(%s in the mean), while at most %s workers were busy and the CPUs to %s.",
        mst_human_percent(share_milli(server, MST_PHASE_SEND)).text,
        mst_human_time(server->phases[MST_PHASE_SEND].mean_ns).text,
        workers_of_limit(server).text, mst_human_percent(s->machine_busy_milli).text);
}

static void say_nothing_ran_out(struct mst_summary *s, const struct mst_summary_server *server)
{
    enum mst_phase longest = longest_phase(server);
    char php[48] = "";

    if (longest == MST_PHASE_HANDLE && server->php.joined > 0)
        snprintf(php, sizeof php, ", %s php_run",
                 mst_human_percent(part_milli(server, &server->php.handle_run)).text);
    say(s, "Nothing ran out: at most %s workers were busy and the CPUs to "
        "%s; %s of a request's time is %s (%s%s).", workers_of_limit(server).text,
        mst_human_percent(s->machine_busy_milli).text,
        mst_human_percent(share_milli(server, longest)).text, mst_phase_names[longest],
        phase_meaning(longest), php);
}

static void say_waited_below_limit(struct mst_summary *s, const struct mst_summary_server *server)
{
    bool forked = server->forks != MST_UNKNOWN && server->forks > 0;

    say(s, "Requests waited for workers (%s of their time) although at most %" PRIu64 " of %" PRIu64
        " were busy%s.", mst_human_percent(share_milli(server, MST_PHASE_QUEUE)).text,
        server->max_busy, server->workers_limit, forked ?
        ": Apache started its processes too slowly for this load" : ": cannot tell why");
}

/* All workers busy and the time of requests waiting, but in steps of the kernel's clock. */
static bool waits_are_too_short(const struct mst_summary_server *server)
{
    return mst_summary_all_busy(server) &&
           share_milli(server, MST_PHASE_QUEUE) >= MST_WAIT_SHARE_MILLI;
}

static void say_short_waits(struct mst_summary *s, const struct mst_summary_server *server)
{
    say(s, "Cannot tell: all %" PRIu64 " workers were busy at times (%s in the mean), and %s of a "
        "request's time is queue (%s), but in waits of %s, which is hardly more than the kernel's "
        "clock can tell: measure again with more workers.", server->workers_limit,
        mst_human_milli(server->mean_busy_milli).text,
        mst_human_percent(share_milli(server, MST_PHASE_QUEUE)).text,
        phase_meaning(MST_PHASE_QUEUE), mst_human_time(mean_of_waits(server)).text);
}

/* Whether anything of this load may be among what the kernel killed. */
static bool load_was_hurt(const struct mst_summary *s)
{
    size_t i;

    for (i = 0; i < s->server_count; i++)
        if (s->servers[i].killed > 0 || s->servers[i].errors_5xx > 0)
            return true;
    return s->outcome == MST_OUTCOME_FAILED;
}

/* Whether an earlier server of the run is in the same group: its numbers are these. */
static bool is_told_already(const struct mst_summary *s, size_t which)
{
    size_t i;

    for (i = 0; i < which; i++)
        if (s->servers[i].cgroup != NULL && strcmp(s->servers[i].cgroup,
                                                   s->servers[which].cgroup) == 0)
            return true;
    return false;
}

/* Whose memory it was: the kills and the longest stall of the servers' control groups, which
 * are theirs alone; where those of the server are not known, the machine's. */
struct shortage { bool of_groups; uint64_t kills, stall_ns; };

static struct shortage find_shortage(const struct mst_summary *s,
                                     const struct mst_summary_server *server)
{
    struct shortage found = { false, s->oom_kills, s->memory_stall_ns };
    const struct mst_summary_server *other;
    size_t i;

    if (server->cgroup == NULL || server->oom_kills == MST_UNKNOWN)
        return found;
    found = (struct shortage){ true, 0, server->memory_stall_ns };
    for (i = 0; i < s->server_count; i++) {
        other = &s->servers[i];
        if (other->cgroup == NULL || is_told_already(s, i))
            continue;
        if (other->oom_kills != MST_UNKNOWN)
            found.kills += other->oom_kills;
        if (other->memory_stall_ns != MST_UNKNOWN &&
            (found.stall_ns == MST_UNKNOWN || other->memory_stall_ns > found.stall_ns))
            found.stall_ns = other->memory_stall_ns;
    }
    if (found.stall_ns == MST_UNKNOWN)
        found.stall_ns = s->memory_stall_ns;
    return found;
}

/* What it may have: "", or in parentheses. */
static void remark_limit(char remark[80], const struct mst_summary_server *server)
{
    remark[0] = '\0';
    if (server->memory_limit != MST_UNKNOWN)
        snprintf(remark, 80, " (it may have %s)", mst_human_bytes(server->memory_limit).text);
}

static void say_killed(struct mst_summary *s, const struct mst_summary_server *server,
                       const struct shortage *found)
{
    char limit[80];

    remark_limit(limit, server);
    if (found->of_groups)
        say(s, "Memory ran out: the kernel killed %" PRIu64 " process%s of the server's control "
            "group%s for want of it: fewer workers, or more memory for the group.", found->kills,
            found->kills == 1 ? "" : "es", limit);
    else
        say(s, "Memory ran out: the kernel killed %" PRIu64 " process%s of this machine for want "
            "of it: fewer workers, or more memory (of the cgroup, where that has a limit).",
            found->kills, found->kills == 1 ? "" : "es");
}

/* On the server's own machine; also where the load came to nothing for it. */
static bool memory_ran_out(struct mst_summary *s, const struct mst_summary_server *server)
{
    struct shortage found;

    if (server == NULL || !server->local || s->duration_ns == MST_UNKNOWN)
        return false;
    found = find_shortage(s, server);
    if (found.kills != MST_UNKNOWN && found.kills > 0 && load_was_hurt(s))
        say_killed(s, server, &found);
    else if (found.stall_ns != MST_UNKNOWN && s->duration_ns >= MST_VERDICT_RUN_MIN_NS &&
             found.stall_ns / MST_STALL_MILLI >= s->duration_ns / 1000)
        say(s, "Memory was short: for %s of the run programs of %s waited for it (pressure stall "
            "information): fewer workers, or more memory.",
            mst_human_percent(mst_milli(found.stall_ns, s->duration_ns)).text,
            found.of_groups ? "the server's control group" : "this machine");
    else
        return false;
    return true;
}

/* The server that its control group's share of the CPUs held up most. NULL: none was. */
static const struct mst_summary_server *throttled_server(const struct mst_summary *s)
{
    const struct mst_summary_server *most = NULL, *server;
    size_t i;

    for (i = 0; i < s->server_count; i++) {
        server = &s->servers[i];
        if (server->throttled_ns != MST_UNKNOWN &&
            server->throttled_ns / MST_THROTTLED_MILLI >= s->duration_ns / 1000 &&
            (most == NULL || server->throttled_ns > most->throttled_ns))
            most = server;
    }
    return most;
}

/* The kernel adds up what each CPU was held up for: all of them may have been at once. */
static uint64_t throttled_at_least(const struct mst_summary *s,
                                   const struct mst_summary_server *throttled)
{
    return s->cpus != MST_UNKNOWN && s->cpus > 0 ? throttled->throttled_ns / s->cpus : 0;
}

/* Or one after the other. */
static uint64_t throttled_at_most(const struct mst_summary *s,
                                  const struct mst_summary_server *throttled)
{
    return throttled->throttled_ns < s->duration_ns ? throttled->throttled_ns : s->duration_ns;
}

static void say_throttled(struct mst_summary *s, const struct mst_summary_server *throttled)
{
    say(s, "The CPUs were the limit: the control group of the %s had used up its share of them, "
        "and was held up for at least %s in %s of load, whatever else the machine's CPUs had to "
        "do.", mst_producer_name(throttled->producer),
        mst_human_time(throttled_at_least(s, throttled)).text,
        mst_human_time(s->duration_ns).text);
}

static void say_perhaps_throttled(struct mst_summary *s,
                                  const struct mst_summary_server *throttled)
{
    say(s, "Cannot tell: the control group of the %s had used up its share of the CPUs at times, "
        "and was held up for at least %s and at most %s in %s of load: measure again with a larger "
        "share.", mst_producer_name(throttled->producer),
        mst_human_time(throttled_at_least(s, throttled)).text,
        mst_human_time(throttled_at_most(s, throttled)).text,
        mst_human_time(s->duration_ns).text);
}

static void judge(struct mst_summary *s, const struct mst_summary_server *server)
{
    const struct mst_summary_server *php = mst_summary_behind(s);
    bool waited = waited_for_workers(server), php_waited = php != NULL && waited_for_php(server);
    bool cpu_bound = s->machine_busy_milli != MST_UNKNOWN &&
                     s->machine_busy_milli >= MST_CPU_FULL_MILLI;
    const struct mst_summary_server *throttled = throttled_server(s);

    if (s->checks[MST_CHECK_GENERATOR].ok == MST_ANSWER_NO)
        say(s, "%s was the limit, not the server: %s. What the server could do is not to be seen.",
            s->client.tool, s->checks[MST_CHECK_GENERATOR].text);
    else if (php_waited && mst_summary_all_busy(php))
        say_php_workers(s, server, php, cpu_bound);
    else if (starved_by_keepalive(server))
        say_keepalive(s, server);
    else if (waited && mst_summary_all_busy(server))
        say_workers(s, server, cpu_bound);
    else if (s->checks[MST_CHECK_ACCEPT_QUEUE].ok == MST_ANSWER_NO)
        say(s, "The accept queue was full: %s.", s->checks[MST_CHECK_ACCEPT_QUEUE].text);
    else if (throttled != NULL &&
             throttled_at_least(s, throttled) / MST_THROTTLED_MILLI >= s->duration_ns / 1000)
        say_throttled(s, throttled);
    else if (cpu_bound)
        say_cpu(s, server);
    else if (php_waited)
        say_php_below_limit(s, server, php);
    else if (waited)
        say_waited_below_limit(s, server);
    else if (waits_are_too_short(server))
        say_short_waits(s, server);
    else if (throttled != NULL)
        say_perhaps_throttled(s, throttled);
    else if (s->machine_busy_milli == MST_UNKNOWN)
        say(s, "Cannot tell: the workers did not run out, and how busy the CPUs were is not "
            "known.");
    else if (clients_are_slow(server))
        say_slow_clients(s, server);
    else
        say_nothing_ran_out(s, server);
}

void mst_summary_judge(struct mst_summary *s)
{
    const struct mst_summary_server *server = mst_summary_front(s);
    const char *why = obstacle(s, server);

    if (memory_ran_out(s, server))
        return;
    if (why != NULL)
        say(s, "Cannot tell: %s.", why);
    else
        judge(s, server);
}
