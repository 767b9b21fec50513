/* verdict.c - what ran out, in one sentence, or that nobody can tell.
 *
 * Rules from the most certain to the least; the first that holds speaks.
 */
#include "summary.h"

#include <inttypes.h>
#include <stdarg.h>
#include <stdio.h>
#include <string.h>

#include "clock.h"
#include "human.h"

#define CPU_BUSY_MILLI        950u    /* of all CPUs: nothing is left */
#define QUEUE_SHARE_MILLI     200u    /* of a request's time: waiting is what it did */
#define QUEUE_MEAN_MIN_NS     (10 * MST_NS_PER_MS)   /* a kernel jiffy: less is not measured */
#define LOOKS_MIN             5u      /* samples of the workers that a claim about them takes */
#define SHORT_RUN_NS          (MST_NS_PER_S / 2)

static void say(struct mst_summary *s, const char *format, ...)
    __attribute__((format(printf, 2, 3)));

static void say(struct mst_summary *s, const char *format, ...)
{
    va_list args;

    va_start(args, format);
    vsnprintf(s->verdict, sizeof s->verdict, format, args);
    va_end(args);
}

static uint64_t share_milli(const struct mst_summary_server *server, enum mst_phase phase)
{
    uint64_t total = server->phases[MST_PHASE_TOTAL].sum_ns, part = server->phases[phase].sum_ns;

    if (total == MST_UNKNOWN || part == MST_UNKNOWN || total == 0)
        return 0;
    return (uint64_t)((unsigned __int128)part * 1000 / total);
}

static bool waited_for_workers(const struct mst_summary_server *server)
{
    return share_milli(server, MST_PHASE_QUEUE) >= QUEUE_SHARE_MILLI &&
           server->phases[MST_PHASE_QUEUE].mean_ns >= QUEUE_MEAN_MIN_NS;
}

static enum mst_phase longest_phase(const struct mst_summary_server *server)
{
    static const enum mst_phase phases[] = { MST_PHASE_QUEUE, MST_PHASE_READ, MST_PHASE_HANDLE,
                                             MST_PHASE_SEND };
    enum mst_phase longest = MST_PHASE_QUEUE;
    size_t i;

    for (i = 1; i < sizeof phases / sizeof *phases; i++)
        if (share_milli(server, phases[i]) > share_milli(server, longest))
            longest = phases[i];
    return longest;
}

static const char *phase_meaning(enum mst_phase phase)
{
    switch (phase) {
    case MST_PHASE_QUEUE:  return "waiting for a worker";
    case MST_PHASE_READ:   return "reading requests";
    case MST_PHASE_HANDLE: return "the application, or what it waits for";
    default:               return "sending to the clients";
    }
}

/* Why nothing can be said about this run. NULL: something can. */
static const char *obstacle(const struct mst_summary *s, const struct mst_summary_server *server)
{
    if (strcmp(s->outcome, "unfinished") == 0)
        return "the recording did not come to its end";
    if (!s->complete)
        return strcmp(s->outcome, "failed") == 0 ? "the load tool failed" :
               strcmp(s->outcome, "timeout") == 0 ? "the load tool did not end in time" :
               "the run was interrupted";
    if (server == NULL || server->requests == 0)
        return "no request of the load was recorded";
    if (s->duration_ns == MST_UNKNOWN || s->duration_ns < SHORT_RUN_NS ||
        server->samples < LOOKS_MIN)
        return "the run was too short";
    if (server->restarts != 0)
        return "the server was started anew during the run";
    if (server->workers_limit == MST_UNKNOWN || server->max_busy == MST_UNKNOWN ||
        server->mean_busy_milli == MST_UNKNOWN)
        return "how busy the workers were is not known";
    return NULL;
}

/* Whether the CPUs would have let more workers do more, only a run with more of
 * them can tell. */
static void say_workers(struct mst_summary *s, const struct mst_summary_server *server,
                        bool cpu_bound)
{
    char cpu[128] = "";

    if (cpu_bound)
        snprintf(cpu, sizeof cpu, "; the CPUs were %s busy too%s%s, so more workers may not help",
                 mst_human_percent(s->machine_busy_milli).text,
                 s->program_count > 0 ? ", most with " : "",
                 s->program_count > 0 ? s->programs[0].name : "");
    say(s, "Apache's workers ran out: all %" PRIu64 " were busy (%s in the mean), and a request "
        "waited %s for one, %s of its time%s.", server->workers_limit,
        mst_human_milli(server->mean_busy_milli).text,
        mst_human_time(server->phases[MST_PHASE_QUEUE].mean_ns).text,
        mst_human_percent(share_milli(server, MST_PHASE_QUEUE)).text, cpu);
}

/* The CPU time of what belongs to this run for certain: the servers, the load
 * tool, and any PHP. */
static uint64_t own_cpu(const struct mst_summary *s)
{
    uint64_t own = s->tool_cpu_ns != MST_UNKNOWN ? s->tool_cpu_ns : 0;
    size_t i;

    for (i = 0; i < s->server_count; i++)
        if (s->servers[i].cpu_ns != MST_UNKNOWN)
            own += s->servers[i].cpu_ns;
    for (i = 0; i < s->program_count; i++)
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

static void say_cpu(struct mst_summary *s, const struct mst_summary_server *server)
{
    if (!cpu_is_ours(s))
        say(s, "Cannot tell: the CPUs were %s busy, but mostly with other programs than the "
            "server, PHP and %s (most with %s, %s): if they do not work for this server, stop "
            "them and measure again.", mst_human_percent(s->machine_busy_milli).text,
            s->client.tool != NULL ? s->client.tool : "mpmstat", s->programs[0].name,
            mst_human_time(s->programs[0].cpu_ns).text);
    else
        say(s, "The CPUs were the limit: %s busy%s%s, while at most %" PRIu64 " of %" PRIu64
            " workers were.", mst_human_percent(s->machine_busy_milli).text,
            s->program_count > 0 ? ", most with " : "",
            s->program_count > 0 ? s->programs[0].name : "", server->max_busy,
            server->workers_limit);
}

static void say_nothing_ran_out(struct mst_summary *s, const struct mst_summary_server *server)
{
    enum mst_phase longest = longest_phase(server);

    say(s, "Nothing ran out: at most %" PRIu64 " of %" PRIu64 " workers were busy and the CPUs to "
        "%s; %s of a request's time is %s (%s).", server->max_busy, server->workers_limit,
        mst_human_percent(s->machine_busy_milli).text,
        mst_human_percent(share_milli(server, longest)).text, mst_phase_names[longest],
        phase_meaning(longest));
}

static void say_waited_below_limit(struct mst_summary *s, const struct mst_summary_server *server)
{
    bool forked = server->forks != MST_UNKNOWN && server->forks > 0;

    say(s, "Requests waited for workers (%s of their time) although at most %" PRIu64 " of %" PRIu64
        " were busy%s.", mst_human_percent(share_milli(server, MST_PHASE_QUEUE)).text,
        server->max_busy, server->workers_limit, forked ?
        ": Apache started its processes too slowly for this load" : ": cannot tell why");
}

static void judge(struct mst_summary *s, const struct mst_summary_server *server)
{
    bool waited = waited_for_workers(server);
    bool cpu_bound = s->machine_busy_milli != MST_UNKNOWN &&
                     s->machine_busy_milli >= CPU_BUSY_MILLI;

    if (s->checks[MST_CHECK_GENERATOR].ok == MST_ANSWER_NO)
        say(s, "%s was the limit, not the server: %s. What the server could do is not to be seen.",
            s->client.tool, s->checks[MST_CHECK_GENERATOR].text);
    else if (waited && server->max_busy >= server->workers_limit)
        say_workers(s, server, cpu_bound);
    else if (s->checks[MST_CHECK_ACCEPT_QUEUE].ok == MST_ANSWER_NO)
        say(s, "The accept queue was full: %s.", s->checks[MST_CHECK_ACCEPT_QUEUE].text);
    else if (cpu_bound)
        say_cpu(s, server);
    else if (waited)
        say_waited_below_limit(s, server);
    else if (s->machine_busy_milli == MST_UNKNOWN)
        say(s, "Cannot tell: the workers did not run out, and how busy the CPUs were is not "
            "known.");
    else
        say_nothing_ran_out(s, server);
}

void mst_summary_judge(struct mst_summary *s)
{
    const struct mst_summary_server *server = mst_summary_front(s);
    const char *why = obstacle(s, server);

    if (why != NULL)
        say(s, "Cannot tell: %s.", why);
    else
        judge(s, server);
}
