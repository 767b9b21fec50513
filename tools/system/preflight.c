/* preflight.c - what will spoil a measurement: see preflight.h. */
#include "system/preflight.h"

#include <inttypes.h>
#include <sched.h>
#include <stdarg.h>
#include <stdio.h>
#include <string.h>
#include <sys/resource.h>
#include <unistd.h>

#include "base/ratio.h"
#include "system/processes.h"

#define OPEN_FILES_SPARE 32u    /* that a load tool has open besides its connections */
#define BUSY_MILLI       600u   /* of all CPUs: a machine with nothing to do is far below */
#define CPUS_LOOKED_AT   1024

/* ---- reading --------------------------------------------------------------------- */

/* The numbers in a file of one line: how many there are. */
static int read_numbers(const char *path, uint64_t numbers[2])
{
    char text[256];

    numbers[0] = numbers[1] = MST_UNKNOWN;
    if (mst_proc_read(path, text, sizeof text) <= 0)
        return 0;
    return sscanf(text, "%" SCNu64 " %" SCNu64, &numbers[0], &numbers[1]);
}

/* "performance" is what measurements want; the first CPU with another one is told. */
static void read_governor(struct mst_preflight *p)
{
    long cpus = sysconf(_SC_NPROCESSORS_CONF), i;
    char path[96], text[sizeof p->governor];

    for (i = 0; i < cpus && i < CPUS_LOOKED_AT && p->governor[0] == '\0'; i++) {
        snprintf(path, sizeof path, "/sys/devices/system/cpu/cpu%ld/cpufreq/scaling_governor", i);
        if (mst_proc_read(path, text, sizeof text) <= 0)
            continue;
        text[strcspn(text, "\n")] = '\0';
        if (strcmp(text, "performance") != 0)
            snprintf(p->governor, sizeof p->governor, "%s", text);
    }
}

void mst_preflight_read(struct mst_preflight *p)
{
    uint64_t numbers[2];
    struct rlimit files;

    *p = (struct mst_preflight){ MST_UNKNOWN, MST_UNKNOWN, MST_UNKNOWN, MST_UNKNOWN, MST_UNKNOWN,
                                 MST_UNKNOWN, "" };
    if (getrlimit(RLIMIT_NOFILE, &files) == 0 && files.rlim_cur != RLIM_INFINITY)
        p->open_files = files.rlim_cur;
    if (read_numbers("/proc/sys/net/ipv4/ip_local_port_range", numbers) == 2 &&
        numbers[1] >= numbers[0])
        p->ports = numbers[1] - numbers[0] + 1;
    read_numbers("/proc/sys/net/ipv4/tcp_tw_reuse", numbers);
    p->port_reuse = numbers[0];
    read_numbers("/proc/sys/net/core/somaxconn", numbers);
    p->somaxconn = numbers[0];
    read_governor(p);
}

static bool known(uint64_t a, uint64_t b)
{
    return a != MST_UNKNOWN && b != MST_UNKNOWN;
}

void mst_preflight_sample(struct mst_preflight *p, const struct mst_machine *before,
                          const struct mst_machine *after)
{
    if (known(before->busy_ns, after->busy_ns) && known(before->total_ns, after->total_ns) &&
        after->total_ns > before->total_ns && after->busy_ns >= before->busy_ns)
        p->busy_milli = mst_milli(after->busy_ns - before->busy_ns,
                                  after->total_ns - before->total_ns);
    if (known(before->listen_overflows, after->listen_overflows) &&
        after->listen_overflows >= before->listen_overflows)
        p->overflows = after->listen_overflows - before->listen_overflows;
}

uint64_t mst_preflight_shared_cpus(uint64_t pid)
{
    cpu_set_t ours, theirs, both;

    if (pid == 0 || pid > INT32_MAX || sched_getaffinity(0, sizeof ours, &ours) != 0 ||
        sched_getaffinity((pid_t)pid, sizeof theirs, &theirs) != 0)
        return MST_UNKNOWN;
    CPU_AND(&both, &ours, &theirs);
    return (uint64_t)CPU_COUNT(&both);
}

/* ---- judging --------------------------------------------------------------------- */

struct judge {
    mst_preflight_say *say;
    void              *context;
    int                status;
};

__attribute__((format(printf, 2, 3)))
static void say(struct judge *j, const char *format, ...)
{
    char text[MST_ERROR_MAX];
    va_list args;

    if (j->status != 0)
        return;
    va_start(args, format);
    vsnprintf(text, sizeof text, format, args);
    va_end(args);
    j->status = j->say(j->context, text);
}

static void judge_machine(struct judge *j, const struct mst_preflight *p)
{
    if (p->busy_milli != MST_UNKNOWN && p->busy_milli >= BUSY_MILLI)
        say(j, "the machine's CPUs were %" PRIu64 " %% busy before the load began: another load? "
            "End it first, for the two share the CPUs", p->busy_milli / 10);
    if (p->overflows != MST_UNKNOWN && p->overflows > 0)
        say(j, "%" PRIu64 " connections found an accept queue full before the load began: another "
            "load is on this machine; end it first", p->overflows);
    if (p->governor[0] != '\0')
        say(j, "the CPUs' frequency changes with the load (governor \"%s\"), and with it what is "
            "measured: cpupower frequency-set -g performance", p->governor);
}

static bool is_loopback(const struct mst_plan *plan)
{
    static const char *const hosts[] = { "://127.", "://localhost", "://[::1]" };
    size_t i, k;

    for (i = 0; plan->argv[i] != NULL; i++)
        for (k = 0; k < sizeof hosts / sizeof *hosts; k++)
            if (strstr(plan->argv[i], hosts[k]) != NULL)
                return true;
    return false;
}

/* A port rests for a minute after its connection, unless the kernel may take it again. */
static void judge_ports(struct judge *j, const struct mst_preflight *p,
                        const struct mst_plan *plan)
{
    if (!plan->connects_anew || !known(plan->requested, p->ports) || plan->requested <= p->ports ||
        p->port_reuse == 1 || p->port_reuse == MST_UNKNOWN ||
        (p->port_reuse == 2 && is_loopback(plan)))
        return;
    say(j, "%" PRIu64 " requests with a connection each need more local ports than there are in a "
        "minute (%" PRIu64 "): keep connections alive, set net.ipv4.tcp_tw_reuse to 1, or widen "
        "net.ipv4.ip_local_port_range", plan->requested, p->ports);
}

int mst_preflight_judge(const struct mst_preflight *p, const struct mst_plan *plan,
                        mst_preflight_say *taker, void *context)
{
    struct judge j = { taker, context, 0 };

    judge_machine(&j, p);
    if (known(plan->connections, p->open_files) &&
        plan->connections + OPEN_FILES_SPARE > p->open_files)
        say(&j, "%" PRIu64 " connections at once need more open files than the load tool may have "
            "(%" PRIu64 "): ulimit -n %" PRIu64, plan->connections, p->open_files,
            plan->connections + 1024);
    judge_ports(&j, p, plan);
    return j.status;
}

/* An accept queue of n takes n + 1. All connections can be for the same one of several. */
static void judge_queue(struct judge *j, const struct mst_preflight *p,
                        const struct mst_plan *plan, const struct mst_preflight_server *s)
{
    if (!known(plan->connections, s->queue_limit) || plan->connections <= s->queue_limit + 1)
        return;
    if (s->local && s->queue_limit == p->somaxconn)
        say(j, "%" PRIu64 " connections at once may overflow the accept queue of %.200s, which "
            "net.core.somaxconn limits to %" PRIu64 ": raise that, and ListenBacklog, and restart "
            "the server", plan->connections, s->name, s->queue_limit);
    else
        say(j, "%" PRIu64 " connections at once may overflow the accept queue of %.200s, which "
            "takes %" PRIu64 ": raise ListenBacklog (and net.core.somaxconn, where that is less) "
            "and restart the server", plan->connections, s->name, s->queue_limit);
}

int mst_preflight_judge_server(const struct mst_preflight *p, const struct mst_plan *plan,
                               const struct mst_preflight_server *server,
                               mst_preflight_say *taker, void *context)
{
    struct judge j = { taker, context, 0 };

    judge_queue(&j, p, plan, server);
    if (strcmp(server->mpm, "prefork") == 0 && plan->keeps_alive &&
        known(plan->connections, server->workers_limit) &&
        plan->connections > server->workers_limit)
        say(&j, "%" PRIu64 " kept-alive connections are more than the %" PRIu64 " workers of "
            "%.200s: on prefork each keeps a worker while it is idle, and the others wait. Fewer "
            "connections, or more workers, or KeepAlive Off", plan->connections,
            server->workers_limit, server->name);
    return j.status;
}
