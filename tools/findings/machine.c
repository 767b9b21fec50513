/* machine.c - the rules for CPUs, memory, disks, descriptors and ports, the server's and its
 * neighbours'. See rules.h. */
#include <stdlib.h>

#include "analysis/bottleneck.h"
#include "analysis/resources.h"
#include "analysis/thresholds.h"
#include "archive/query.h"
#include "base/ratio.h"
#include "findings/cpu.h"
#include "findings/demand.h"
#include "findings/rules.h"
#include "findings/sentences.h"

/* ---- memory -------------------------------------------------------------------------------- */

static bool stalled(uint64_t stall_ns, uint64_t duration_ns)
{
    return stall_ns != MST_UNKNOWN && duration_ns >= MST_VERDICT_RUN_MIN_NS &&
           stall_ns / MST_STALL_MILLI >= duration_ns / 1000;
}

static void find_kills(struct mst_inquiry *q, const struct mst_memory_shortage *found)
{
    struct mst_finding *f = mst_found(q, MST_CODE_MEMORY,
                                      found->of_groups ? MST_CERTAIN : MST_LIKELY, 0);

    f->share_milli = MST_UNKNOWN;
    f->weight = MST_WEIGHT_FIRST + 2000;   /* before the failures that follow from it */
    mst_found_number(f, "killed", found->kills);
    mst_found_number(f, "limit_bytes", q->b.front->memory_limit);
    mst_say_killed(f, &q->b, found);
}

/* Whether files take the requests' time because the kernel has no room to keep them: a group uses
 * all the memory that it may, and waited for it. Any group of a server that reads much fills its
 * memory with files: the waits tell that it is short. */
static bool reads_files_again(const struct mst_inquiry *q, uint64_t stall_ns)
{
    const struct mst_summary_resources *r;
    size_t i;

    if (stall_ns == MST_UNKNOWN || q->s->duration_ns < MST_VERDICT_RUN_MIN_NS ||
        !mst_budget_counts(&q->b, q->b.ns[MST_PART_WAITS + MST_WAIT_FILE]) ||
        mst_milli(stall_ns, q->s->duration_ns) < MST_STALL_FOR_FILES_MILLI)
        return false;
    for (i = 0; i < q->s->server_count; i++) {
        r = &q->s->servers[i].resources;
        if (r->group_memory_limit_bytes != MST_UNKNOWN && r->group_memory_bytes != MST_UNKNOWN &&
            r->group_memory_bytes / 1000 >=
                r->group_memory_limit_bytes / 1000 * MST_EXHAUSTED_MILLI / 1000)
            return true;
    }
    return false;
}

/* by_limit: whose it is, is told by what the machine had available. */
static void find_stall(struct mst_inquiry *q, enum mst_code code, bool of_groups,
                       uint64_t stall_ns, bool for_files, bool by_limit)
{
    struct mst_finding *f = mst_found(q, code, of_groups ? MST_CERTAIN : MST_LIKELY, 0);

    f->share_milli = mst_milli(stall_ns, q->s->duration_ns);
    f->share_of = MST_SHARE_OF_SPAN;
    f->weight = f->share_milli;
    if (code == MST_CODE_MEMORY_NEIGHBOUR)   /* it delayed none of the server's processes */
        f->weight = MST_HEADLINE_MILLI - 1;
    else if (of_groups)
        f->weight += MST_HEADLINE_MILLI;
    mst_found_number(f, "stall_ns", stall_ns);
    mst_found_answer(f, MST_READS_FILES_AGAIN, for_files ? MST_ANSWER_YES : MST_ANSWER_NO);
    mst_found_number(f, MST_AVAILABLE, by_limit ? q->s->memory_available : MST_UNKNOWN);
    mst_say_memory_short(f, q->s, of_groups, stall_ns, for_files);
}

/* Whether programs can wait for memory only in groups with a limit of their own, of which none is a
 * server's: the machine had plenty all the time. Under version 1 no pressure of groups is known. */
static bool is_of_other_groups(struct mst_inquiry *q)
{
    const struct mst_summary *s = q->s;
    uint64_t all, used_milli;
    size_t i;

    if (!mst_ram_read(&all, q->db, s->id)) {
        q->failed = true;
        return false;
    }
    if (s->memory_available == MST_UNKNOWN || all == MST_UNKNOWN ||
        mst_milli(s->memory_available, all) < MST_MEMORY_PLENTY_MILLI)
        return false;
    for (i = 0; i < s->server_count; i++) {
        used_milli = mst_group_memory_milli(&s->servers[i]);
        if (s->servers[i].local && used_milli != MST_UNKNOWN && used_milli >= MST_EXHAUSTED_MILLI)
            return false;
    }
    return true;
}

/* Tested before what find_obstacle() finds, because it can be why the load failed. */
void mst_find_memory(struct mst_inquiry *q)
{
    const struct mst_summary_server *server = q->b.front;
    struct mst_memory_shortage found;
    bool for_files, by_limit;

    if (server == NULL || !server->local || q->s->duration_ns == MST_UNKNOWN)
        return;
    found = mst_find_memory_shortage(q->s, server);
    for_files = found.stall_of_groups && reads_files_again(q, found.stall_ns);
    if (found.kills != MST_UNKNOWN && found.kills > 0 && mst_load_was_hurt(q->s))
        find_kills(q, &found);
    else if (server->requests == 0)
        return;   /* it delayed none */
    else if (for_files || stalled(found.stall_ns, q->s->duration_ns)) {
        by_limit = !found.stall_of_groups && is_of_other_groups(q);
        find_stall(q, by_limit ? MST_CODE_MEMORY_NEIGHBOUR : MST_CODE_MEMORY,
                   found.stall_of_groups, found.stall_ns, for_files, by_limit);
    } else if (found.stall_of_groups && stalled(q->s->memory_stall_ns, q->s->duration_ns)) {
        find_stall(q, MST_CODE_MEMORY_NEIGHBOUR, false, q->s->memory_stall_ns, false, false);
    }
}

/* ---- CPUs ---------------------------------------------------------------------------------- */

/* CPU time that was spent on requests: what the servers' processes took, and where whose it was is
 * not known, all that the load tool did not take. */
static uint64_t spent_ns(const struct mst_inquiry *q, bool ours)
{
    const struct mst_summary *s = q->s;
    const struct mst_budget *b = &q->b;
    uint64_t cpu = b->front->cpu_ns != MST_UNKNOWN ? b->front->cpu_ns : 0, tool;

    if (!ours || s->cpus == MST_UNKNOWN) {
        if (b->php != NULL && b->php != b->front && b->php->cpu_ns != MST_UNKNOWN)
            cpu += b->php->cpu_ns;
        return cpu;
    }
    cpu = s->program_count > 0 ? mst_own_cpu_ns(s) : mst_cpu_worked_ns(s);
    tool = s->tool_cpu_ns != MST_UNKNOWN ? s->tool_cpu_ns : 0;
    return cpu > tool ? cpu - tool : 0;
}

/* The CPU time of requests, as many times longer as threads wait for a CPU. */
static uint64_t crowded_ns(const struct mst_inquiry *q, bool ours)
{
    const struct mst_summary *s = q->s;
    uint64_t crowd = 1000;

    if (s->max_runnable != MST_UNKNOWN && s->cpus != MST_UNKNOWN && s->cpus > 0 &&
        s->max_runnable > s->cpus)
        crowd = mst_milli(s->max_runnable, s->cpus);
    return (uint64_t)((unsigned __int128)spent_ns(q, ours) * crowd / 1000);
}

/* Whether that many waiting threads can have waited so long together. */
static bool is_explained(const struct mst_inquiry *q, uint64_t ns)
{
    return ns / MST_CPU_EXPLAINS_FACTOR <= crowded_ns(q, false);
}

bool mst_cpu_explains(const struct mst_inquiry *q, uint64_t ns)
{
    struct mst_cpu_seen seen;

    if (q->s->machine_busy_milli == MST_UNKNOWN && q->b.front->local) {
        seen = mst_cpu_see(&q->b);   /* in journals only the requests tell */
        return mst_cpu_seen_full(&seen);
    }
    return mst_cpu_is_full(q->s) && q->b.front->local &&
           (q->s->max_runnable == MST_UNKNOWN || q->b.front->cpu_ns == MST_UNKNOWN ||
            is_explained(q, ns));
}

bool mst_crowd_explains(const struct mst_inquiry *q, uint64_t ns)
{
    const struct mst_summary *s = q->s;

    return q->b.front->local && q->b.front->cpu_ns != MST_UNKNOWN && s->cpus != MST_UNKNOWN &&
           s->max_runnable != MST_UNKNOWN && s->max_runnable > s->cpus && is_explained(q, ns);
}

/* Time in which requests computed or were ready to: PHP says so of its own. Apache does not: other
 * programs are not blamed for what it took. */
static uint64_t computing_ns(const struct mst_inquiry *q, bool ours)
{
    const uint64_t *ns = q->b.ns;
    uint64_t sum = mst_budget_php_cpu_ns(&q->b) + ns[MST_PART_CPU_WAIT];

    if (!mst_budget_knows_run(&q->b))
        return crowded_ns(q, ours);
    if (ns[MST_PART_CPU_WAIT] == 0)
        sum += ns[MST_PART_REST];
    if (q->b.front != q->b.php && ours)
        sum += ns[MST_PART_HANDLE] + ns[MST_PART_READ] + ns[MST_PART_SEND] + ns[MST_PART_TLS] +
               ns[MST_PART_CHECKS];
    return sum;
}

/* Whether other programs can have worked for this server: its requests waited for a database or a
 * cache for a share of their time, and no unseen process took the CPUs. */
static bool waited_for_others(const struct mst_budget *b)
{
    const struct mst_summary_program *other = mst_program_of_others(b->s);

    return (other == NULL || other->owner != MST_PROC_UNSEEN) &&
           mst_budget_milli(b, b->ns[MST_PART_DATABASE] + b->ns[MST_PART_CACHE]) >=
               MST_HEADLINE_MILLI;
}

static void note_cpu(struct mst_finding *f, const struct mst_summary *s,
                     const struct mst_budget *b)
{
    mst_found_number(f, "busy_milli", s->machine_busy_milli);
    mst_found_number(f, "cpus", s->cpus);
    mst_found_number(f, "server_cpu_ns", b->front->cpu_ns);
    mst_found_number(f, "tool_cpu_ns", s->tool_cpu_ns);
    mst_found_number(f, "cpu_wait_ns",
                     mst_budget_knows_run(b) ? b->ns[MST_PART_CPU_WAIT] : MST_UNKNOWN);
}

static void find_full(struct mst_inquiry *q)
{
    const struct mst_summary *s = q->s;
    bool full = mst_cpu_is_full(s);
    bool ours = mst_cpu_is_ours(s), shared = !ours && waited_for_others(&q->b);
    uint64_t computing = computing_ns(q, ours);
    bool felt = mst_budget_milli(&q->b, computing) >= MST_FINDING_MILLI;
    bool measured = mst_budget_knows_run(&q->b);
    bool alone = mst_cpu_of_others_milli(s) < MST_HEADLINE_MILLI;
    struct mst_finding *f;

    if (!ours && !shared &&
        (measured ? !felt : mst_budget_mean_ns(&q->b, q->b.total_ns) < MST_QUICK_MEAN_NS))
        return;   /* they delayed nobody here */
    f = mst_found(q, ours || shared ? MST_CODE_CPU : MST_CODE_CPU_NEIGHBOUR,
                  full && (ours ? alone : measured && !shared) ? MST_CERTAIN : MST_LIKELY,
                  computing < q->b.total_ns ? computing : q->b.total_ns);
    f->weight = felt ? mst_weight_with_queue(&q->b, computing) : 0;
    /* Full CPUs delay what runs, however little of it is known. */
    if (shared || (full && ours))
        f->weight = f->weight > MST_CPU_FLOOR_MILLI ? f->weight : MST_CPU_FLOOR_MILLI;
    if (!full)    /* nearly full: others that explain as much come first */
        f->weight = f->weight * s->machine_busy_milli / 1000 * 3 / 4;
    note_cpu(f, s, &q->b);
    if (ours || shared)
        mst_say_cpu(f, &q->b, full);
    else
        mst_say_cpu_neighbour(f, &q->b);
}

/* How many CPUs a list names, as "0-3,8". */
static uint64_t count_cpus(const char *list)
{
    uint64_t count = 0;
    unsigned long first, last;
    char *end;

    while (*list != '\0') {
        first = last = strtoul(list, &end, 10);
        if (end == list)
            return MST_UNKNOWN;
        if (*end == '-')
            last = strtoul(end + 1, &end, 10);
        if (last < first)
            return MST_UNKNOWN;
        count += last - first + 1;
        list = end + (*end == ',');
    }
    return count;
}

/* CPUs that the processes of a server may use, as the recording began; MST_UNKNOWN. */
static uint64_t cpus_of(struct mst_inquiry *q, const struct mst_summary_server *server)
{
    struct mst_query row = mst_ask_environment(q->db, q->s, server, "cpus_allowed");
    uint64_t cpus = MST_UNKNOWN;

    if (mst_query_next(&row))
        cpus = count_cpus(mst_row_text(&row, "value"));
    q->failed |= !mst_query_done(&row);
    return cpus;
}

/* A server that may use some of the CPUs only, and had used these up, whatever the others did. */
static bool find_pinned(struct mst_inquiry *q, const struct mst_summary_server *server)
{
    uint64_t cpus, computing, busy_milli;
    struct mst_finding *f;

    if (server == NULL || !server->local || server->cpu_ns == MST_UNKNOWN ||
        q->s->machine_cpus == MST_UNKNOWN || q->s->duration_ns < MST_VERDICT_RUN_MIN_NS)
        return false;
    cpus = cpus_of(q, server);
    if (cpus == MST_UNKNOWN || cpus == 0 || cpus >= q->s->machine_cpus)
        return false;
    computing = computing_ns(q, true);
    busy_milli = mst_milli(server->cpu_ns, q->s->duration_ns * cpus);
    if (busy_milli < MST_CPU_MUCH_MILLI || mst_budget_milli(&q->b, computing) < MST_FINDING_MILLI)
        return false;
    f = mst_found(q, MST_CODE_CPU, MST_CERTAIN,
                  computing < q->b.total_ns ? computing : q->b.total_ns);
    f->weight = mst_weight_with_queue(&q->b, computing);
    f->weight = f->weight > MST_CPU_FLOOR_MILLI ? f->weight : MST_CPU_FLOOR_MILLI;
    note_cpu(f, q->s, &q->b);
    mst_found_number(f, "cpus", cpus);
    mst_say_pinned(f, &q->b, server, cpus, busy_milli);
    return true;
}

/* The same where only the requests tell: a run of journals (mpmstat explain). */
static void find_full_by_requests(struct mst_inquiry *q)
{
    const struct mst_budget *b = &q->b;
    struct mst_cpu_seen seen = mst_cpu_see(b);
    uint64_t computing = computing_ns(q, true);
    bool ours = seen.used_milli == MST_UNKNOWN || seen.used_milli >= MST_CPU_OURS_MILLI;
    struct mst_finding *f;

    if (!mst_cpu_seen_full(&seen) || mst_budget_milli(b, computing) < MST_FINDING_MILLI)
        return;
    f = mst_found(q, ours ? MST_CODE_CPU : MST_CODE_CPU_NEIGHBOUR,
                  seen.used_milli != MST_UNKNOWN && seen.used_milli >= MST_CPU_MUCH_MILLI ?
                  MST_CERTAIN : MST_LIKELY, computing < b->total_ns ? computing : b->total_ns);
    f->weight = mst_weight_with_queue(b, computing);
    mst_found_number(f, "cpus", b->s->cpus);
    mst_found_number(f, "used_milli", seen.used_milli);
    mst_found_number(f, "cpu_ns", seen.cpu_ns);
    mst_found_number(f, "cpu_wait_ns", b->ns[MST_PART_CPU_WAIT]);
    mst_say_cpu_by_requests(f, b, &seen, ours);
}

/* For a virtual machine these CPUs were busy. Who waits for a CPU waits longer by as much as the
 * stolen time is more than what was worked. */
static void find_stolen(struct mst_inquiry *q)
{
    const struct mst_summary *s = q->s;
    uint64_t stolen = s->machine_stolen_milli, computing = computing_ns(q, true);
    struct mst_finding *f;

    if (stolen == MST_UNKNOWN || stolen < MST_STOLEN_MILLI || stolen > s->machine_busy_milli)
        return;
    f = mst_found(q, MST_CODE_CPU_STOLEN, MST_CERTAIN, 0);
    f->share_milli = stolen;
    f->share_of = MST_SHARE_OF_SPAN;
    f->weight = mst_scale(mst_weight_with_queue(&q->b, computing), stolen, s->machine_busy_milli);
    mst_found_number(f, "stolen_milli", stolen);
    mst_found_number(f, "busy_milli", s->machine_busy_milli);
    mst_say_stolen(f, s);
}

static void find_quota(struct mst_inquiry *q, const struct mst_summary_server *throttled)
{
    uint64_t least = mst_throttled_at_least(q->s, throttled);
    uint64_t most = mst_throttled_at_most(q->s, throttled);
    bool certain = mst_is_throttled_for_sure(q->s, throttled);
    struct mst_finding *f = mst_found(q, MST_CODE_CPU_QUOTA, certain ? MST_CERTAIN : MST_LIKELY,
                                      0);

    f->share_milli = mst_milli(least, q->s->duration_ns);
    f->share_of = MST_SHARE_OF_SPAN;
    f->weight = mst_weight_with_queue(&q->b, computing_ns(q, false));
    if (f->weight < mst_milli(most, q->s->duration_ns))
        f->weight = mst_milli(most, q->s->duration_ns);
    mst_found_number(f, "throttled_ns", throttled->throttled_ns);
    mst_say_quota(f, q->s, throttled, certain);
}

void mst_find_cpu(struct mst_inquiry *q)
{
    const struct mst_summary_server *throttled = mst_throttled_server(q->s);

    if (throttled != NULL)
        find_quota(q, throttled);
    if (q->s->machine_busy_milli == MST_UNKNOWN) {
        find_full_by_requests(q);
    } else if (q->b.front->local) {
        find_stolen(q);
        if (!find_pinned(q, q->b.php) && !(q->b.front != q->b.php && find_pinned(q, q->b.front)) &&
            q->s->machine_busy_milli >= MST_CPU_MUCH_MILLI)
            find_full(q);
    }
}

/* ---- disks, descriptors, ports ------------------------------------------------------------- */

/* PHP measures its waits for files. A disk that is busy for others, or behind the page cache,
 * delays nobody here. Whose processes waited (pressure) does not tell who kept the disk busy: the
 * bytes of each program do. Where PHP waits for a database, another program can be that. */
static void find_disk(struct mst_inquiry *q)
{
    const struct mst_disk_use use = mst_disk_use_of(q->s);
    const struct mst_summary_server *front = q->b.front;
    bool of_group = front->resources.group_io_stall_ns != MST_UNKNOWN;
    uint64_t stall = of_group ? front->resources.group_io_stall_ns : q->s->io_stall_ns;
    uint64_t waited = q->b.ns[MST_PART_FILE] + q->b.ns[MST_PART_DATABASE];
    bool felt = mst_budget_milli(&q->b, waited) >= MST_FINDING_MILLI ||
                !mst_budget_knows_run(&q->b);
    struct mst_finding *f;

    if (!front->local || stall == MST_UNKNOWN ||
        mst_milli(stall, q->s->duration_ns) < MST_STALL_MILLI)
        return;
    f = mst_found(q, use.of_others && !mst_budget_counts(&q->b, q->b.ns[MST_PART_DATABASE]) ?
                  MST_CODE_DISK_NEIGHBOUR : MST_CODE_DISK, MST_LIKELY, 0);
    f->share_milli = mst_milli(stall, q->s->duration_ns);
    f->share_of = MST_SHARE_OF_SPAN;
    f->weight = f->share_milli;
    if (!felt)
        mst_found_no_headline(f);
    mst_found_number(f, "stall_ns", stall);
    mst_found_number(f, "own_bytes", use.own_bytes);
    mst_found_number(f, "others_bytes", use.others_bytes);
    mst_say_disk(f, q->s, of_group, stall, &use);
}

/* What ran out is the reason of the failures that it made. */
static void weigh_exhausted(struct mst_inquiry *q, struct mst_finding *f)
{
    const char *name = mst_summary_called(q->b.front);
    bool failures = q->b.front->errors_5xx > 0 ||
                    mst_findings_get(q->s, MST_CODE_CLIENT_ERRORS, name) != NULL ||
                    mst_findings_get(q->s, MST_CODE_ANSWERS_4XX, name) != NULL ||
                    mst_findings_get(q->s, MST_CODE_CLIENT_ABORTS, name) != NULL;

    f->share_milli = MST_UNKNOWN;
    f->weight = failures ? MST_WEIGHT_FIRST + 1500 : MST_HEADLINE_MILLI;
}

static void find_descriptors(struct mst_inquiry *q)
{
    const struct mst_summary_server *server;
    struct mst_finding *f;
    uint64_t milli;
    size_t i;

    for (i = 0; i < q->s->server_count; i++) {
        server = &q->s->servers[i];
        milli = mst_files_milli(server);
        if (milli == MST_UNKNOWN || milli < MST_EXHAUSTED_MILLI)
            continue;
        f = mst_found(q, MST_CODE_DESCRIPTORS, MST_LIKELY, 0);
        f->of = server;
        weigh_exhausted(q, f);
        mst_found_number(f, "files", server->resources.files);
        mst_found_number(f, "files_limit", server->resources.files_limit);
        mst_say_descriptors(f, server);
    }
}

static void find_ports(struct mst_inquiry *q)
{
    uint64_t milli = mst_ports_milli(q->s);
    struct mst_finding *f;

    if (milli == MST_UNKNOWN || milli < MST_EXHAUSTED_MILLI)
        return;
    f = mst_found(q, MST_CODE_LOCAL_PORTS, MST_LIKELY, 0);
    weigh_exhausted(q, f);
    mst_found_subject(f, q->s->ports[0].remote);
    mst_found_number(f, "ports", q->s->ports[0].ports);
    mst_found_number(f, "ports_limit", q->s->ports[0].limit);
    mst_say_ports(f, &q->s->ports[0]);
}

void mst_find_exhausted(struct mst_inquiry *q)
{
    find_disk(q);
    find_descriptors(q);
    find_ports(q);
}
