/* resources.c - how near a run came to the limits around it: see resources.h. */
#include "analysis/resources.h"

uint64_t mst_files_milli(const struct mst_summary_server *server)
{
    return mst_summary_milli(server->resources.files, server->resources.files_limit);
}

uint64_t mst_group_cpu_milli(const struct mst_summary *s, const struct mst_summary_server *server)
{
    const struct mst_summary_resources *r = &server->resources;
    uint64_t cpus_milli = mst_summary_milli(r->group_cpu_ns, s->duration_ns);

    return mst_summary_milli(cpus_milli, r->group_cpu_limit_milli);
}

uint64_t mst_group_memory_milli(const struct mst_summary_server *server)
{
    return mst_summary_milli(server->resources.group_memory_bytes,
                             server->resources.group_memory_limit_bytes);
}

uint64_t mst_http2_workers_milli(const struct mst_summary_server *server)
{
    return mst_summary_milli(server->resources.http2_workers,
                             server->resources.http2_workers_limit);
}

uint64_t mst_ports_milli(const struct mst_summary *s)
{
    return s->port_count > 0 ? mst_summary_milli(s->ports[0].ports, s->ports[0].limit)
                             : MST_UNKNOWN;
}

bool mst_is_near_limit(uint64_t milli)
{
    return milli != MST_UNKNOWN && milli >= MST_NEAR_LIMIT_MILLI;
}

bool mst_is_stalled(const struct mst_summary *s, uint64_t stall_ns)
{
    uint64_t share = mst_summary_milli(stall_ns, s->duration_ns);

    return share != MST_UNKNOWN && share >= MST_STALL_SHOWN_MILLI;
}

uint64_t mst_limits_reached(const struct mst_summary_server *server)
{
    uint64_t sum = MST_UNKNOWN;
    size_t i;

    for (i = 0; i < server->pool_count; i++)
        if (server->pools[i].limit_reached != MST_UNKNOWN)
            sum = mst_known(sum) + server->pools[i].limit_reached;
    return sum;
}

static bool is_some(uint64_t n)
{
    return n != MST_UNKNOWN && n > 0;
}

bool mst_pool_was_used(const struct mst_summary_pool *pool)
{
    return pool->requests > 0 || is_some(pool->max_busy) || is_some(pool->limit_reached);
}

bool mst_pools_matter(const struct mst_summary_server *server)
{
    size_t i, used = 0;

    for (i = 0; i < server->pool_count; i++) {
        if (is_some(server->pools[i].limit_reached) || is_some(server->pools[i].at_limit_milli))
            return true;
        used += mst_pool_was_used(&server->pools[i]);
    }
    return used > 1;
}

uint64_t mst_pool_mean_wait_ns(const struct mst_summary_pool *pool)
{
    return pool->waited > 0 && pool->wait_sum_ns != MST_UNKNOWN ? pool->wait_sum_ns / pool->waited
                                                                : MST_UNKNOWN;
}

uint64_t mst_pool_mean_run_ns(const struct mst_summary_pool *pool)
{
    return pool->requests > 0 && pool->run_sum_ns != MST_UNKNOWN
               ? pool->run_sum_ns / pool->requests : MST_UNKNOWN;
}
