/* sentences_machine.c - the sentences of memory, disks, descriptors, ports, CPUs and the load tool:
 * see sentences.h. */
#include "findings/sentences.h"

#include <inttypes.h>
#include <string.h>

#include "analysis/bottleneck.h"
#include "analysis/thresholds.h"
#include "base/ratio.h"
#include "console/format.h"
#include "findings/say.h"

/* ---- memory -------------------------------------------------------------------------------- */

/* With pm = dynamic a lower limit alone stops FPM from starting. */
static const char *how_fewer(const struct mst_summary *s)
{
    size_t i;

    for (i = 0; i < s->server_count; i++)
        if (s->servers[i].sapi_kind == MST_SAPI_FPM)
            return " PHP-FPM starts only where pm.start_servers and pm.max_spare_servers are at "
                   "most pm.max_children: lower them with it.";
    return "";
}

void mst_say_killed(struct mst_finding *f, const struct mst_budget *b,
                    const struct mst_memory_shortage *found)
{
    char limit[80] = "";

    if (b->front->memory_limit != MST_UNKNOWN)
        mst_say(limit, sizeof limit, " (its limit is %s)",
                mst_format_bytes(b->front->memory_limit).text);
    MST_TEXT(f, "Memory ran out: the kernel killed %" PRIu64 " process%s of %s%s.", found->kills,
             found->kills == 1 ? "" : "es", found->of_groups ? "the server's control group" :
             "this machine", found->of_groups ? limit : "");
    MST_ACTION(f, "Set fewer workers (pm.max_children, MaxRequestWorkers), or add memory%s.%s",
               found->of_groups ? " to the group (MemoryMax= of the unit)" : "", how_fewer(b->s));
}

void mst_say_memory_short(struct mst_finding *f, const struct mst_summary *s, bool of_groups,
                          uint64_t stall_ns, bool for_files)
{
    bool by_limit = mst_finding_number(f, MST_AVAILABLE) != MST_UNKNOWN;
    char others[160] = ", but not those of the server";

    if (by_limit)
        mst_say(others, sizeof others, ", in a control group at its limit, which is none of the "
                "servers': the machine had at least %s available",
                mst_format_bytes(s->memory_available).text);
    MST_TEXT(f, "Memory was short: during %s of the run, programs of %s waited for memory "
             "(pressure stall information)%s.",
             mst_format_percent(mst_milli(stall_ns, s->duration_ns)).text,
             of_groups ? "the server's control group" : "this machine",
             f->code == MST_CODE_MEMORY_NEIGHBOUR ? others :
             for_files ? ", and files were read from the disk again, for which there was no room" :
             "");
    if (by_limit)
        MST_ACTION(f, "See which group it is: memory.events and memory.max, or memory.failcnt and "
                   "memory.limit_in_bytes, of the groups below /sys/fs/cgroup.");
    else if (f->code == MST_CODE_MEMORY_NEIGHBOUR)
        MST_ACTION(f, "See which program it is, and give it a memory limit of its own.");
    else
        MST_ACTION(f, "Set fewer workers (pm.max_children, MaxRequestWorkers), or add memory%s.%s",
                   of_groups ? " to the group (MemoryMax= of the unit)" : "", how_fewer(s));
}

/* ---- disks, descriptors, ports ------------------------------------------------------------- */

void mst_say_disk(struct mst_finding *f, const struct mst_summary *s, bool of_group,
                  uint64_t stall_ns, const struct mst_disk_use *use)
{
    char whose[160] = "";

    if (use->of_others)
        mst_say(whose, sizeof whose, ". Other programs read and wrote %s (%s most), the servers "
                "and %s %s", mst_format_bytes(use->others_bytes).text, use->other->name,
                s->client.tool != NULL ? s->client.tool : "mpmstat",
                mst_format_bytes(use->own_bytes).text);
    if (f->code == MST_CODE_DISK_NEIGHBOUR)
        mst_say(f->subject, sizeof f->subject, "%s", use->other->name);
    MST_TEXT(f, "Disks were slow: during %s of the run, programs of %s waited for a disk (pressure "
             "stall information)%s.", mst_format_percent(mst_milli(stall_ns, s->duration_ns)).text,
             of_group ? "the server's control group" : "this machine", whose);
    if (f->code == MST_CODE_DISK_NEIGHBOUR)
        MST_ACTION(f, "Look whether %s works for this server. If it does not, let it run at "
                   "another hour, or limit what it may read and write (IOReadBandwidthMax= and "
                   "IOWriteBandwidthMax= of its unit; ionice acts with some schedulers only, see "
                   "/sys/block/*/queue/scheduler).", f->subject);
    else
        MST_ACTION(f, "Find the disk with iostat -x; use a faster one, call fsync() less often, or "
               "give more memory to the page cache.");
}

void mst_say_descriptors(struct mst_finding *f, const struct mst_summary_server *server)
{
    MST_TEXT(f, "File descriptors ran out: process %" PRIu64 " of %s had %" PRIu64 " open, and its "
             "limit is %" PRIu64 ".", server->resources.files_pid,
             mst_summary_is_php(server) ? "PHP" : "Apache", server->resources.files,
             server->resources.files_limit);
    MST_ACTION(f, "%s", mst_summary_is_php(server) ? "Set rlimit_files of the pool higher." :
               "Set the limit of open files higher, then stop and start Apache: Debian's "
               "apachectl sets APACHE_ULIMIT_MAX_FILES of /etc/apache2/envvars (8192, whatever "
               "LimitNOFILE of the unit says), as \"ulimit -n 65536\".");
}

void mst_say_ports(struct mst_finding *f, const struct mst_summary_port *port)
{
    MST_TEXT(f, "Local ports ran out: %" PRIu64 " of %" PRIu64 " were in use towards %s.",
             port->ports, port->limit, port->remote);
    MST_ACTION(f, "Let connections to it be used again: a load tool by keep-alive (ab -k), "
               "Apache's proxy without disablereuse=on and proxy-nokeepalive; for PHP-FPM on "
               "this machine use a Unix socket. Else widen net.ipv4.ip_local_port_range.");
}

/* ---- CPUs ---------------------------------------------------------------------------------- */

/* The load tool's part of what the CPUs were busy with. */
static void say_tool(char text[160], const struct mst_summary *s)
{
    uint64_t busy_ns, milli;

    text[0] = '\0';
    if (s->cpus == MST_UNKNOWN || s->tool_cpu_ns == MST_UNKNOWN || s->client.tool == NULL)
        return;
    busy_ns = (uint64_t)((unsigned __int128)s->duration_ns * s->cpus * s->machine_busy_milli /
                         1000);
    milli = busy_ns > 0 ? mst_milli(s->tool_cpu_ns, busy_ns) : 0;
    if (milli >= MST_TOOL_SHARE_MILLI)
        mst_say(text, 160, "; %s itself took %s of that, which the server would have if it ran on "
                "another machine", s->client.tool, mst_format_percent(milli).text);
}

/* "9 of 10", and where the limit is not known "9". */
static struct mst_formatted workers_of_limit(const struct mst_summary_server *server)
{
    struct mst_formatted h = mst_format_count(server->max_busy);
    size_t used = strlen(h.text);

    if (server->workers_limit != MST_UNKNOWN)
        mst_say(h.text + used, sizeof h.text - used, " of %" PRIu64, server->workers_limit);
    return h;
}

/* The busiest program of the servers, or another one that took more: a database on this machine.
 * Of an older archive, which does not tell whose it is, the busiest of all. */
static const char *busiest_program(const struct mst_summary *s)
{
    const struct mst_summary_program *other = mst_program_of_others(s);
    size_t i;

    for (i = 0; i < s->program_count; i++)
        if (&s->programs[i] == other || s->programs[i].owner == MST_PROC_SERVER ||
            s->programs[i].owner == MST_PROC_OWNER_COUNT)
            return s->programs[i].name;
    return NULL;
}

void mst_say_cpu(struct mst_finding *f, const struct mst_budget *b, bool full)
{
    const struct mst_summary *s = b->s;
    const char *busiest = busiest_program(s);
    char tool[160], others[64] = "", more[128] = "add CPUs";
    uint64_t milli = mst_cpu_of_others_milli(s);

    if (milli >= MST_HEADLINE_MILLI)
        mst_say(others, sizeof others, "; other programs had %s of that",
                mst_format_percent(milli).text);
    say_tool(tool, s);
    MST_TEXT(f, "%s: %s busy%s%s, while at most %s workers were busy%s%s.",
             full ? "The CPUs were the limit" : "The CPUs were nearly full",
             mst_format_percent(s->machine_busy_milli).text,
             busiest != NULL ? ", mostly with " : "", busiest != NULL ? busiest : "",
             workers_of_limit(b->front).text, tool, others);
    if (s->cpus < s->machine_cpus)
        mst_say(more, sizeof more, "let the servers use more than %" PRIu64 " of the machine's %"
                PRIu64 " CPUs (their CPU affinity, or a cpuset)", s->cpus, s->machine_cpus);
    MST_ACTION(f, "Make the requests cheaper (OPcache, a cache in front, a profiler), or %s%s. "
               "More workers cannot help.", more, tool[0] != '\0' ?
               "; run the load tool on another machine" : "");
}

void mst_say_pinned(struct mst_finding *f, const struct mst_budget *b,
                    const struct mst_summary_server *server, uint64_t cpus, uint64_t busy_milli)
{
    const char *who = mst_summary_is_php(server) ? "PHP" : "Apache";

    MST_TEXT(f, "The CPUs that %s may use were the limit: these are %" PRIu64 " of the machine's %"
             PRIu64 ", it used %s of them, and at most %s workers were busy.", who, cpus,
             b->s->machine_cpus, mst_format_percent(busy_milli < 1000 ? busy_milli : 1000).text,
             workers_of_limit(b->front).text);
    MST_ACTION(f, "Let %s use more CPUs: see its CPU affinity (taskset -cp PID; CPUAffinity= and "
               "AllowedCPUs= of its unit). More workers cannot help.", who);
}

void mst_say_cpu_by_requests(struct mst_finding *f, const struct mst_budget *b,
                             const struct mst_cpu_seen *seen, bool ours)
{
    bool by_apache = seen->cpu_ns > mst_budget_php_cpu_ns(b);
    char used[160] = "", cpus[96] = "the CPU";

    if (seen->has_quota)
        mst_say(cpus, sizeof cpus, "the %s CPUs that %s control group may use",
                mst_format_milli(seen->cpus_milli).text, by_apache ? "their" : "its");
    else if (b->s->cpus != 1)
        mst_say(cpus, sizeof cpus, "the %" PRIu64 " CPUs", b->s->cpus);
    if (seen->used_milli != MST_UNKNOWN)
        mst_say(used, sizeof used, " %s %s of %s", by_apache ?
                "PHP, and Apache by its average since its start, took" : "PHP took",
                mst_format_percent(seen->used_milli < 1000 ? seen->used_milli : 1000).text, cpus);
    if (ours)
        MST_TEXT(f, "The CPUs were the limit: PHP waited for one for %s of the time that its "
                 "requests ran, and computed for %s.%s%s",
                 mst_format_percent(seen->waited_milli).text,
                 mst_format_percent(mst_budget_run_milli(b, mst_budget_php_cpu_ns(b))).text,
                 used,
                 used[0] != '\0' ? "." : "");
    else
        MST_TEXT(f, "The CPUs were full, it seems with other programs: PHP waited for one for %s "
                 "of the time that its requests ran, and meanwhile%s.",
                 mst_format_percent(seen->waited_milli).text, used);
    if (ours)
        MST_ACTION(f, "More workers cannot help. Make the requests cheaper (OPcache, a cache in "
                   "front, a profiler), or %s.", seen->has_quota ? "give the control group a "
                   "larger CPU quota (CPUQuota= of the unit, cpu.max)" :
                   b->s->cpus == MST_UNKNOWN ? "add CPUs; where PHP may not use all of them (its "
                   "CPU affinity), let it" : "add CPUs");
    else
        MST_ACTION(f, "Look which programs these are (top), and whether they work for this "
                   "server.");
}

void mst_say_stolen(struct mst_finding *f, const struct mst_summary *s)
{
    MST_TEXT(f, "The hypervisor gave %s of this machine's CPU time to other machines (steal): the "
             "CPUs were %s busy with it, and %s without.",
             mst_format_percent(s->machine_stolen_milli).text,
             mst_format_percent(s->machine_busy_milli).text,
             mst_format_percent(s->machine_busy_milli - s->machine_stolen_milli).text);
    MST_ACTION(f, "Measure again at another hour, or on dedicated CPUs; ask the provider. Do not "
               "compare this run with others.");
}

void mst_say_cpu_neighbour(struct mst_finding *f, const struct mst_budget *b)
{
    const struct mst_summary_program *other = mst_program_of_others(b->s);
    const struct mst_summary *s = b->s;
    bool mostly = mst_cpu_of_others_milli(s) >= 500;
    char most[160] = "";

    if (other != NULL) {
        mst_say(most, sizeof most, " (most with %s, %s)", other->name,
                mst_format_time(other->cpu_ns).text);
        mst_say(f->subject, sizeof f->subject, "%s", other->name);
    }
    MST_TEXT(f, "The CPUs were %s busy, %s with other programs than the server, PHP and "
             "%s%s.", mst_format_percent(s->machine_busy_milli).text,
             mostly ? "but mostly" : "and nearly half of that",
             s->client.tool != NULL ? s->client.tool : "mpmstat", most);
    MST_ACTION(f, "Stop them if they do not work for this server, and measure again.");
}

void mst_say_quota(struct mst_finding *f, const struct mst_summary *s,
                   const struct mst_summary_server *throttled, bool certain)
{
    const char *whose = mst_summary_is_php(throttled) ? "PHP" : "Apache";

    if (certain)
        MST_TEXT(f, "The CPUs were the limit: the control group of %s had used up its CPU "
                 "quota, and was throttled for at least %s in %s of load.", whose,
                 mst_format_time(mst_throttled_at_least(s, throttled)).text,
                 mst_format_time(s->duration_ns).text);
    else
        MST_TEXT(f, "The control group of %s had used up its CPU quota at times, and "
                 "was throttled for at least %s and at most %s in %s of load.", whose,
                 mst_format_time(mst_throttled_at_least(s, throttled)).text,
                 mst_format_time(mst_throttled_at_most(s, throttled)).text,
                 mst_format_time(s->duration_ns).text);
    MST_ACTION(f, "Give the group a larger quota (CPUQuota= of the unit, cpu.max), and measure "
               "again.");
}

/* ---- the load tool ------------------------------------------------------------------------- */

void mst_say_generator(struct mst_finding *f, const struct mst_budget *b)
{
    const struct mst_summary_generator *limit = mst_summary_limit(b->s);

    MST_TEXT(f, "%s was the limit, not the server: %s. This run does not show how much the "
             "server can do.",
             limit != NULL ? limit->name : b->s->client.tool,
             b->s->checks[MST_CHECK_GENERATOR].text);
    MST_ACTION(f, "Use more load tools at once, one with more threads, or a faster one.");
}

void mst_say_idle_server(struct mst_finding *f, const struct mst_budget *b, uint64_t idle_milli,
                         uint64_t used_milli)
{
    MST_TEXT(f, "%s was the limit, not the server: for %s of the run the server had no request, "
             "while %s took %s of a CPU.", b->s->client.tool,
             mst_format_percent(idle_milli).text, b->s->client.tool,
             mst_format_percent(used_milli).text);
    MST_ACTION(f, "Use a load tool with more connections at once, or a faster one.");
}
