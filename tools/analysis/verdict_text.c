/* verdict_text.c - the verdict's sentences: see verdict_text.h. */
#include "analysis/verdict_text.h"

#include <inttypes.h>
#include <stdarg.h>
#include <stdio.h>
#include <string.h>

#include "analysis/thresholds.h"
#include "base/ratio.h"
#include "console/format.h"
#include "segment/fields.h"

__attribute__((format(printf, 2, 3)))
static void say(struct mst_summary *s, const char *format, ...)
{
    va_list args;

    va_start(args, format);
    vsnprintf(s->verdict, sizeof s->verdict, format, args);
    va_end(args);
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

/* Whether the CPUs would have let more workers do more, only a run with more of
 * them can tell. */
static void remark_cpu(char remark[160], const struct mst_summary *s, bool cpu_bound)
{
    bool named = s->program_count > 0;
    const struct mst_summary_program *other = mst_program_of_others(s);

    remark[0] = '\0';
    if (cpu_bound && mst_cpu_is_ours(s))
        snprintf(remark, 160, "; the CPUs were %s busy too%s%s, so more workers may not help",
                 mst_format_percent(s->machine_busy_milli).text, named ? ", most with " : "",
                 named ? s->programs[0].name : "");
    else if (cpu_bound)
        snprintf(remark, 160, "; the CPUs were %s busy too, but mostly with other programs%s%s",
                 mst_format_percent(s->machine_busy_milli).text, other != NULL ? ", as " : "",
                 other != NULL ? other->name : "");
}

/* What they did, where it was not the application's work. */
static const char *remark_state(const struct mst_summary_server *server)
{
    return mst_mostly_in(server, MST_STATE_SENDING) ?
               "; most of their time they sent to clients that read slowly" :
           mst_mostly_in(server, MST_STATE_READING) ?
               "; most of their time they read from clients that sent slowly or nothing" :
           mst_mostly_in(server, MST_STATE_CLOSING) ?
               "; most of their time they waited for clients to close their connections" : "";
}

/* How long requests waited: each of them, or where the mean of all hides it the few that did. */
static void remark_waits(char remark[160], const struct mst_summary_server *server)
{
    const struct mst_summary_times *queue = &server->phases[MST_PHASE_QUEUE];
    const struct mst_formatted share = mst_format_percent(mst_phase_milli(server, MST_PHASE_QUEUE));

    if (queue->mean_ns >= MST_QUEUE_MEAN_MIN_NS)
        snprintf(remark, 160, "a request waited %s for one, %s of its time",
                 mst_format_time(queue->mean_ns).text, share.text);
    else
        snprintf(remark, 160, "%" PRIu64 " of %" PRIu64 " requests waited for one, %s in the mean "
                 "(%s of the time of all)", server->waited, server->requests,
                 mst_format_time(mst_mean_wait_ns(server)).text, share.text);
}

void mst_say_workers(struct mst_summary *s, const struct mst_summary_server *server,
                     bool cpu_bound)
{
    char cpu[160], waits[160];

    remark_cpu(cpu, s, cpu_bound);
    remark_waits(waits, server);
    say(s, "Apache's workers ran out: all %" PRIu64 " were busy (%s in the mean), and %s%s%s.",
        server->workers_limit, mst_format_milli(server->mean_busy_milli).text, waits,
        remark_state(server), cpu);
}

void mst_say_keepalive(struct mst_summary *s, const struct mst_summary_server *server)
{
    say(s, "Idle keep-alive connections held Apache's workers: of all %" PRIu64 ", %s in the mean "
        "waited for another request, and connections waited up to %s for one (%s of the requests' "
        "time): KeepAliveTimeout, more workers or the event MPM would help.",
        server->workers_limit, mst_format_milli(server->mean_state_milli[MST_STATE_KEEPALIVE]).text,
        mst_format_time(server->phases[MST_PHASE_QUEUE].max_ns).text,
        mst_format_percent(mst_phase_milli(server, MST_PHASE_QUEUE)).text);
}

/* Apache's workers, which wait for PHP's, may run out for that alone. */
void mst_say_php_workers(struct mst_summary *s, const struct mst_summary_server *server,
                         const struct mst_summary_server *php, bool cpu_bound)
{
    char cpu[160], busy[160], apache[160] = "";

    remark_cpu(cpu, s, cpu_bound);
    if (php->workers_limit != MST_UNKNOWN)
        snprintf(busy, sizeof busy, "all %" PRIu64 " were busy (%s in the mean)",
                 php->workers_limit, mst_format_milli(php->mean_busy_milli).text);
    else
        snprintf(busy, sizeof busy, "%" PRIu64 " were busy all the time (%s in the mean; their "
                 "limit is not known)", php->max_busy, mst_format_milli(php->mean_busy_milli).text);
    if (server != php && mst_waited_for_workers(server) && mst_summary_all_busy(server))
        snprintf(apache, sizeof apache, "; Apache's own %" PRIu64 " workers waited with them, and "
                 "requests %s for one of those", server->workers_limit,
                 mst_format_time(mst_mean_wait_ns(server)).text);
    say(s, "PHP's workers ran out: %s, and a request waited %s for one, %s of its time%s%s.", busy,
        mst_format_time(mst_php_wait(server)->mean_ns).text,
        mst_format_percent(mst_part_milli(server, mst_php_wait(server))).text, apache, cpu);
}

void mst_say_php_below_limit(struct mst_summary *s, const struct mst_summary_server *server,
                             const struct mst_summary_server *php)
{
    bool forked = php->forks != MST_UNKNOWN && php->forks > 0;
    char limit[32] = "";

    if (php->workers_limit != MST_UNKNOWN)
        snprintf(limit, sizeof limit, " of %" PRIu64, php->workers_limit);
    say(s, "Requests waited for PHP's workers (%s of their time) although at most %s%s were "
        "busy%s.",
        mst_format_percent(mst_part_milli(server, mst_php_wait(server))).text,
        mst_format_count(php->max_busy).text, limit, forked ?
        ": PHP's processes were started too slowly for this load" : ": cannot tell why");
}

/* "9 of 10", and where the limit is not known "9". */
static struct mst_formatted workers_of_limit(const struct mst_summary_server *server)
{
    struct mst_formatted h = mst_format_count(server->max_busy);
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
                 "another machine", s->client.tool, mst_format_percent(milli).text);
}

void mst_say_cpu(struct mst_summary *s, const struct mst_summary_server *server)
{
    const struct mst_summary_program *other = mst_program_of_others(s);
    char tool[160], most[160] = "";

    remark_tool(tool, s);
    if (other != NULL)
        snprintf(most, sizeof most, " (most with %s, %s)", other->name,
                 mst_format_time(other->cpu_ns).text);
    if (!mst_cpu_is_ours(s))
        say(s, "Cannot tell: the CPUs were %s busy, but mostly with other programs than the "
            "server, PHP and %s%s: if they do not work for this server, stop them and measure "
            "again.", mst_format_percent(s->machine_busy_milli).text,
            s->client.tool != NULL ? s->client.tool : "mpmstat", most);
    else
        say(s, "The CPUs were the limit: %s busy%s%s, while at most %s workers were%s.",
            mst_format_percent(s->machine_busy_milli).text,
            s->program_count > 0 ? ", most with " : "",
            s->program_count > 0 ? s->programs[0].name : "", workers_of_limit(server).text, tool);
}

void mst_say_slow_clients(struct mst_summary *s, const struct mst_summary_server *server)
{
    say(s, "The clients, or the network to them, were slow: sending took %s of a request's time "
        "(%s in the mean), while at most %s workers were busy and the CPUs to %s.",
        mst_format_percent(mst_phase_milli(server, MST_PHASE_SEND)).text,
        mst_format_time(server->phases[MST_PHASE_SEND].mean_ns).text,
        workers_of_limit(server).text, mst_format_percent(s->machine_busy_milli).text);
}

void mst_say_nothing_ran_out(struct mst_summary *s, const struct mst_summary_server *server)
{
    enum mst_phase longest = mst_longest_phase(server);
    char php[48] = "";

    if (longest == MST_PHASE_HANDLE && server->php.joined > 0)
        snprintf(php, sizeof php, ", %s php_run",
                 mst_format_percent(mst_part_milli(server, &server->php.handle_run)).text);
    say(s, "Nothing ran out: at most %s workers were busy and the CPUs to "
        "%s; %s of a request's time is %s (%s%s).", workers_of_limit(server).text,
        mst_format_percent(s->machine_busy_milli).text,
        mst_format_percent(mst_phase_milli(server, longest)).text, mst_phase_names[longest],
        phase_meaning(longest), php);
}

void mst_say_waited_below_limit(struct mst_summary *s, const struct mst_summary_server *server)
{
    bool forked = server->forks != MST_UNKNOWN && server->forks > 0;

    say(s, "Requests waited for workers (%s of their time) although at most %" PRIu64 " of %" PRIu64
        " were busy%s.", mst_format_percent(mst_phase_milli(server, MST_PHASE_QUEUE)).text,
        server->max_busy, server->workers_limit, forked ?
        ": Apache started its processes too slowly for this load" : ": cannot tell why");
}

void mst_say_short_waits(struct mst_summary *s, const struct mst_summary_server *server)
{
    say(s, "Cannot tell: all %" PRIu64 " workers were busy at times (%s in the mean), and %s of a "
        "request's time is queue (%s), but in waits of %s, which is hardly more than the kernel's "
        "clock can tell: measure again with more workers.", server->workers_limit,
        mst_format_milli(server->mean_busy_milli).text,
        mst_format_percent(mst_phase_milli(server, MST_PHASE_QUEUE)).text,
        phase_meaning(MST_PHASE_QUEUE), mst_format_time(mst_mean_wait_ns(server)).text);
}

/* The group's memory limit: "", or in parentheses. */
static void remark_limit(char remark[80], const struct mst_summary_server *server)
{
    remark[0] = '\0';
    if (server->memory_limit != MST_UNKNOWN)
        snprintf(remark, 80, " (it may have %s)", mst_format_bytes(server->memory_limit).text);
}

void mst_say_killed(struct mst_summary *s, const struct mst_summary_server *server,
                    const struct mst_memory_shortage *found)
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

void mst_say_memory_short(struct mst_summary *s, const struct mst_memory_shortage *found)
{
    say(s, "Memory was short: for %s of the run programs of %s waited for it (pressure stall "
        "information): fewer workers, or more memory.",
        mst_format_percent(mst_milli(found->stall_ns, s->duration_ns)).text,
        found->of_groups ? "the server's control group" : "this machine");
}

void mst_say_throttled(struct mst_summary *s, const struct mst_summary_server *throttled)
{
    say(s, "The CPUs were the limit: the control group of the %s had used up its share of them, "
        "and was held up for at least %s in %s of load, whatever else the machine's CPUs had to "
        "do.", mst_producer_name(throttled->producer),
        mst_format_time(mst_throttled_at_least(s, throttled)).text,
        mst_format_time(s->duration_ns).text);
}

void mst_say_perhaps_throttled(struct mst_summary *s,
                               const struct mst_summary_server *throttled)
{
    say(s, "Cannot tell: the control group of the %s had used up its share of the CPUs at times, "
        "and was held up for at least %s and at most %s in %s of load: measure again with a larger "
        "share.", mst_producer_name(throttled->producer),
        mst_format_time(mst_throttled_at_least(s, throttled)).text,
        mst_format_time(mst_throttled_at_most(s, throttled)).text,
        mst_format_time(s->duration_ns).text);
}

void mst_say_generator(struct mst_summary *s)
{
    say(s, "%s was the limit, not the server: %s. What the server could do is not to be seen.",
        s->client.tool, s->checks[MST_CHECK_GENERATOR].text);
}

void mst_say_accept_queue(struct mst_summary *s)
{
    say(s, "The accept queue was full: %s.", s->checks[MST_CHECK_ACCEPT_QUEUE].text);
}

void mst_say_cannot_tell(struct mst_summary *s, const char *why)
{
    say(s, "Cannot tell: %s.", why);
}
