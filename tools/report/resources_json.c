/* resources_json.c - limits, pools and disks of a run as JSON: see resources.h. */
#include "analysis/resources.h"
#include "report/metrics.h"
#include "report/resources.h"
#include "segment/fields.h"

static void put_waits(struct mst_json *j, const struct mst_summary_pool *pool)
{
    int i;

    if (pool->measured == 0) {
        mst_json_string(j, "waits", NULL);
        return;
    }
    mst_json_begin(j, "waits", '{');
    for (i = 0; i < MST_WAIT_COUNT; i++)
        if (pool->waits_sum_ns[i] > 0)
            mst_json_seconds(j, mst_wait_names[i], pool->waits_sum_ns[i]);
    mst_json_end(j, '}');
}

static void put_pools(struct mst_json *j, const struct mst_summary_server *server)
{
    size_t i;

    mst_json_line(j, 3);
    mst_json_begin(j, "pools", '[');
    for (i = 0; i < server->pool_count; i++) {
        const struct mst_summary_pool *p = &server->pools[i];

        mst_json_line(j, 4);
        mst_json_begin(j, NULL, '{');
        mst_json_string(j, "pool", p->label);
        mst_json_count(j, "workers_limit", p->workers_limit);
        mst_put_milli(j, "mean_busy", p->mean_busy_milli);
        mst_json_count(j, "max_busy", p->max_busy);
        mst_put_milli(j, "at_limit", p->at_limit_milli);
        mst_json_count(j, "limit_reached", p->limit_reached);
        mst_json_count(j, "requests", p->requests);
        mst_json_seconds(j, "php_wait_seconds", p->wait_sum_ns);
        mst_json_seconds(j, "php_wait_mean_seconds", mst_pool_mean_wait_ns(p));
        mst_json_seconds(j, "php_wait_max_seconds", p->wait_max_ns);
        mst_json_seconds(j, "php_run_seconds", p->run_sum_ns);
        mst_json_seconds(j, "php_run_mean_seconds", mst_pool_mean_run_ns(p));
        put_waits(j, p);
        mst_json_count(j, "max_request_memory_bytes", p->max_memory_bytes);
        mst_json_end(j, '}');
    }
    mst_json_end(j, ']');
}

void mst_resources_json(struct mst_json *j, const struct mst_summary_server *server)
{
    const struct mst_summary_resources *r = &server->resources;

    mst_json_line(j, 3);
    mst_json_begin(j, "resources", '{');
    mst_json_count(j, "open_files", r->files);
    mst_json_count(j, "open_files_limit", r->files_limit);
    mst_json_count(j, "open_files_pid", r->files_pid);
    mst_json_seconds(j, "group_cpu_seconds", r->group_cpu_ns);
    mst_put_milli(j, "group_cpu_limit", r->group_cpu_limit_milli);
    mst_json_seconds(j, "group_throttled_seconds", r->group_throttled_ns);
    mst_json_count(j, "group_memory_bytes", r->group_memory_bytes);
    mst_json_count(j, "group_memory_limit_bytes", r->group_memory_limit_bytes);
    mst_json_seconds(j, "group_io_stall_seconds", r->group_io_stall_ns);
    mst_json_count(j, "http2_workers_max", r->http2_workers);
    mst_json_count(j, "http2_workers_limit", r->http2_workers_limit);
    mst_put_milli(j, "http2_workers_full", r->http2_full_milli);
    mst_json_end(j, '}');
    if (mst_summary_is_php(server))
        put_pools(j, server);
}

void mst_machine_resources_json(struct mst_json *j, const struct mst_summary *s)
{
    size_t i;

    mst_json_seconds(j, "io_stall_seconds", s->io_stall_ns);
    mst_json_count(j, "max_blocked", s->max_blocked);
    mst_json_line(j, 2);
    mst_json_begin(j, "ports", '[');
    for (i = 0; i < s->port_count; i++) {
        mst_json_begin(j, NULL, '{');
        mst_json_string(j, "remote", s->ports[i].remote);
        mst_json_count(j, "max", s->ports[i].ports);
        mst_json_count(j, "limit", s->ports[i].limit);
        mst_json_end(j, '}');
    }
    mst_json_end(j, ']');
}
