/* cpus.c - CPUs that servers and their control groups may use, and what a request takes of them. */
#include <inttypes.h>
#include <sched.h>
#include <stdio.h>

#include "archive/writer.h"
#include "explain/steps.h"
#include "system/cgroup.h"
#include "system/proc.h"

#define REQUESTS_MIN 100u   /* of fewer, starting Apache's processes is a large part */

/* MST_UNKNOWN: it is on another machine. */
static uint64_t cpus_of(const struct mst_explained_server *s)
{
    uint64_t pid = mst_source_identity(s->source)->pid;
    cpu_set_t cpus;

    return mst_source_local(s->source) && pid > 0 && pid <= INT32_MAX &&
           sched_getaffinity((pid_t)pid, sizeof cpus, &cpus) == 0 ? (uint64_t)CPU_COUNT(&cpus)
                                                                  : MST_UNKNOWN;
}

static void look_at_limits(struct mst_explanation *e)
{
    struct mst_explained_server *s;
    struct mst_cgroup_watch group;

    for (s = e->servers; s < e->servers + e->server_count; s++) {
        s->cpu_limit_milli = MST_UNKNOWN;
        if (!s->is_running || !mst_source_local(s->source))
            continue;
        mst_cgroup_watch(&group, mst_source_identity(s->source)->pid);
        s->cpu_limit_milli = group.cpu_limit_milli;
    }
}

int mst_explain_add_cpus(struct mst_explanation *e)
{
    uint64_t cpus = MST_UNKNOWN, here;
    char text[32];
    size_t i;

    look_at_limits(e);
    for (i = 0; i < e->server_count; i++) {
        if (!e->servers[i].is_running)
            continue;
        here = cpus_of(&e->servers[i]);
        if (here == MST_UNKNOWN || (cpus != MST_UNKNOWN && cpus != here))
            return 0;
        cpus = here;
    }
    if (cpus == MST_UNKNOWN)
        return 0;
    snprintf(text, sizeof text, "%" PRIu64, cpus);
    return mst_archive_add_environment(e->archive, e->run_id, "cpus", text);
}

/* CPU time of all its processes since its start, those that ended included; of PHP in them, too. */
static uint64_t spent_ns(const struct mst_explained_server *s)
{
    struct mst_proc parent;
    uint64_t sum;
    size_t i;

    if (!mst_proc_stat(mst_source_identity(s->source)->pid, &parent))
        return 0;
    sum = parent.waited_ns;
    for (i = 0; i < s->sample.process_count; i++)
        sum += mst_proc_cpu(s->sample.processes[i].pid);
    return sum;
}

/* PHP that runs in this Apache has the same parent. */
static uint64_t spent_in_php_ns(const struct mst_explanation *e,
                                const struct mst_explained_server *apache)
{
    uint64_t sum = 0;
    size_t i;

    for (i = 0; i < e->server_count; i++)
        if (mst_server_is_php(&e->servers[i]) && mst_source_local(e->servers[i].source) &&
            mst_source_identity(e->servers[i].source)->pid ==
                mst_source_identity(apache->source)->pid)
            sum += e->servers[i].php_cpu_ns;
    return sum;
}

/* 0: not known. */
static uint64_t request_cpu_ns(const struct mst_explanation *e,
                               const struct mst_explained_server *s)
{
    uint64_t requests = mst_known(s->sample.requests) + mst_known(s->sample.requests_status);
    uint64_t spent, in_php;

    if (mst_server_is_php(s) || !s->is_running || !mst_source_local(s->source) ||
        requests < REQUESTS_MIN)
        return 0;
    spent = spent_ns(s);
    in_php = spent_in_php_ns(e, s);
    return spent > in_php ? (spent - in_php) / requests : 0;
}

void mst_explain_note_cpu(struct mst_explanation *e)
{
    struct mst_summary_server *summary;
    size_t i;

    for (i = 0; i < e->server_count; i++) {
        summary = mst_explain_summary_of(e, &e->servers[i]);
        if (summary == NULL)
            continue;
        summary->request_cpu_ns = request_cpu_ns(e, &e->servers[i]);
        summary->any_busy_ns = e->servers[i].any_busy_ns;
    }
}
