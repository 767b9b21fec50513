/* others.c - see others.h. */
#include "lab/servers/others.h"

#include <inttypes.h>

#include "segment/format.h"

static uint64_t cpu_of_all(struct mst_others *others)
{
    uint64_t sum = 0, one;
    size_t i;

    for (i = 0; i < others->count; i++) {
        one = mst_processes_cpu(&others->items[i]);
        if (one == MST_UNKNOWN)
            return MST_UNKNOWN;
        sum += one;
    }
    return sum;
}

void mst_others_begin(apr_pool_t *pool, struct mst_others *others,
                      const struct mst_servers *servers)
{
    size_t count = mst_servers_count(servers), i;

    *others = (struct mst_others){ .items = apr_pcalloc(pool, count * sizeof *others->items) };
    for (i = 0; i < count; i++)
        if (!mst_stack_has_board(mst_servers_item(servers, i)->kind))
            mst_processes_init(&others->items[others->count++],
                               (uint64_t)mst_servers_item(servers, i)->pid, NULL);
    others->cpu_ns = cpu_of_all(others);
}

static int take_nothing(void *context, uint64_t wall_ns, const struct mst_proc *process,
                        uint64_t cost_ns)
{
    (void)context, (void)wall_ns, (void)process, (void)cost_ns;
    return 0;
}

static int keep(struct mst_archive *archive, int64_t run_id, const char *name, uint64_t value)
{
    char text[32];

    snprintf(text, sizeof text, "%" PRIu64, value);
    return mst_archive_add_environment(archive, run_id, name, text);
}

int mst_others_keep(struct mst_others *others, struct mst_archive *archive, int64_t run_id)
{
    struct mst_memory_round all = { 0 }, one;
    uint64_t cpu_ns = cpu_of_all(others);
    size_t i;

    if (others->count == 0 || run_id == 0 || cpu_ns == MST_UNKNOWN ||
        others->cpu_ns == MST_UNKNOWN || cpu_ns < others->cpu_ns)
        return 0;
    for (i = 0; i < others->count; i++) {
        if (mst_processes_tick(&others->items[i], true, take_nothing, NULL, &one) != 1)
            return 0;
        all.pss_bytes += one.pss_bytes;
        all.rss_bytes += one.rss_bytes;
        all.processes += one.processes;
    }
    if (keep(archive, run_id, "others_pss_bytes", all.pss_bytes) != 0 ||
        keep(archive, run_id, "others_rss_bytes", all.rss_bytes) != 0 ||
        keep(archive, run_id, "others_processes", all.processes) != 0 ||
        keep(archive, run_id, "others_cpu_ns", cpu_ns - others->cpu_ns) != 0)
        return -1;
    return mst_archive_commit(archive);
}

void mst_others_end(struct mst_others *others)
{
    while (others->count > 0)
        mst_processes_free(&others->items[--others->count]);
}
