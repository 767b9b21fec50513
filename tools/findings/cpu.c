/* cpu.c - what requests themselves tell of the CPUs: see cpu.h. */
#include "findings/cpu.h"

#include "analysis/thresholds.h"
#include "base/ratio.h"

/* What no PHP computed is not known: a static file's work, a backend's. */
static bool is_all_php(const struct mst_budget *b)
{
    return mst_budget_knows_run(b) &&
           (b->front == b->php ||
            (b->front->php.joined * 1000 >= b->front->requests * MST_CPU_PHP_MILLI &&
             mst_budget_milli(b, b->ns[MST_PART_BACKEND]) < MST_FINDING_MILLI));
}

static void see_cpus(struct mst_cpu_seen *seen, const struct mst_budget *b)
{
    uint64_t quota_milli = b->php->resources.group_cpu_limit_milli;

    seen->has_quota = quota_milli != MST_UNKNOWN &&
                      (b->s->cpus == MST_UNKNOWN || quota_milli < b->s->cpus * 1000);
    seen->cpus_milli = seen->has_quota ? quota_milli :
                       b->s->cpus == MST_UNKNOWN ? MST_UNKNOWN : b->s->cpus * 1000;
}

/* Both in one container, it seems. */
static bool has_php_quota(const struct mst_summary_server *front,
                          const struct mst_summary_server *php)
{
    return front->resources.group_cpu_limit_milli == php->resources.group_cpu_limit_milli;
}

struct mst_cpu_seen mst_cpu_see(const struct mst_budget *b)
{
    struct mst_cpu_seen seen = { .used_milli = MST_UNKNOWN, .cpus_milli = MST_UNKNOWN };
    const struct mst_summary_server *counted = b->php;
    uint64_t under_load_ns;

    if (!b->front->local || !is_all_php(b))
        return seen;
    seen.known = true;
    see_cpus(&seen, b);
    seen.cpu_ns = mst_budget_php_cpu_ns(b);
    if (!seen.has_quota || has_php_quota(b->front, b->php)) {
        seen.cpu_ns += b->front->requests * b->front->request_cpu_ns;
        counted = b->front;
    }
    seen.waited_milli = mst_budget_run_milli(b, b->ns[MST_PART_CPU_WAIT]);
    under_load_ns = mst_summary_under_load_ns(b->s, b->front);
    if (counted->any_busy_ns > 0 && counted->any_busy_ns < under_load_ns)
        under_load_ns = counted->any_busy_ns;
    if (seen.cpus_milli != MST_UNKNOWN && seen.cpus_milli > 0 && under_load_ns > 0)
        seen.used_milli = mst_milli(mst_scale(seen.cpu_ns, 1000, seen.cpus_milli), under_load_ns);
    return seen;
}

bool mst_cpu_seen_full(const struct mst_cpu_seen *seen)
{
    return seen->known && (seen->waited_milli >= MST_CPU_WAITED_MILLI ||
                           (seen->waited_milli >= MST_CPU_QUEUED_MILLI &&
                            seen->used_milli != MST_UNKNOWN &&
                            seen->used_milli >= MST_CPU_MUCH_MILLI));
}

bool mst_cpu_seen_short(const struct mst_cpu_seen *seen)
{
    return seen->known && seen->waited_milli >= MST_CPU_SHORT_MILLI;
}
