/* resources_text.c - limits, pools and disks of a run for a terminal: see resources.h. */
#include <inttypes.h>
#include <stdio.h>

#include "analysis/resources.h"
#include "console/format.h"
#include "doc/lines.h"
#include "report/resources.h"

/* Of what came near to its limit, or stalled. */
static void put_text(struct mst_sink *sink, const char *name, const char *text)
{
    mst_wrapped_styled(sink, MST_STYLE_WARNING, name, MST_TEXT_INDENT, MST_TEXT_WIDTH, text);
}

static void put_files(struct mst_sink *sink, const struct mst_summary_server *server)
{
    const struct mst_summary_resources *r = &server->resources;
    char text[128];

    if (!mst_is_near_limit(mst_files_milli(server)))
        return;
    snprintf(text, sizeof text, "process %" PRIu64 " had %" PRIu64 " files open, limit %" PRIu64,
             r->files_pid, r->files, r->files_limit);
    put_text(sink, "  files", text);
}

static void put_http2_workers(struct mst_sink *sink, const struct mst_summary_server *server)
{
    const struct mst_summary_resources *r = &server->resources;
    char text[128];

    if (!mst_is_near_limit(mst_http2_workers_milli(server)))
        return;
    snprintf(text, sizeof text, "workers %" PRIu64 " of %" PRIu64 " in the fullest child; "
             "all of them busy for %s of the load", r->http2_workers, r->http2_workers_limit,
             mst_format_percent(r->http2_full_milli).text);
    put_text(sink, "  HTTP/2", text);
}

static void put_group(struct mst_sink *sink, const struct mst_summary *s,
                      const struct mst_summary_server *server)
{
    const struct mst_summary_resources *r = &server->resources;
    uint64_t cpu_milli = mst_summary_milli(r->group_cpu_ns, s->duration_ns);
    bool throttled = r->group_throttled_ns != MST_UNKNOWN && r->group_throttled_ns > 0;
    char text[256];

    if (mst_is_near_limit(mst_group_cpu_milli(s, server)) || throttled) {
        snprintf(text, sizeof text, "its control group used %s CPUs on average, limit %s; the "
                 "limit stopped processes for %s, summed over the CPUs",
                 mst_format_milli(cpu_milli).text, mst_format_milli(r->group_cpu_limit_milli).text,
                 mst_format_time(r->group_throttled_ns).text);
        put_text(sink, "  CPU limit", text);
    }
    if (mst_is_near_limit(mst_group_memory_milli(server))) {
        snprintf(text, sizeof text, "its control group had %s, limit %s",
                 mst_format_bytes(r->group_memory_bytes).text,
                 mst_format_bytes(r->group_memory_limit_bytes).text);
        put_text(sink, "  mem limit", text);
    }
    if (mst_is_stalled(s, r->group_io_stall_ns)) {
        snprintf(text, sizeof text, "processes of its control group waited for a disk for %s",
                 mst_format_time(r->group_io_stall_ns).text);
        put_text(sink, "  disk", text);
    }
}

void mst_resources_text(struct mst_sink *sink, const struct mst_summary *s,
                        const struct mst_summary_server *server)
{
    const struct mst_doc doc = mst_doc_text(sink, MST_TEXT_WIDTH);

    mst_pools_put(&doc, s, server);
    put_http2_workers(sink, server);
    put_files(sink, server);
    put_group(sink, s, server);
}

void mst_machine_resources_text(struct mst_sink *sink, const struct mst_summary *s)
{
    char text[256];
    size_t i;

    for (i = 0; i < s->port_count; i++) {
        const struct mst_summary_port *port = &s->ports[i];

        if (!mst_is_near_limit(mst_summary_milli(port->ports, port->limit)))
            break;
        snprintf(text, sizeof text, "%" PRIu64 " of %" PRIu64 " local ports were in use towards "
                 "%.64s", port->ports, port->limit, port->remote);
        put_text(sink, "  ports", text);
    }
    if (mst_is_stalled(s, s->io_stall_ns)) {
        snprintf(text, sizeof text, "programs of the machine waited for a disk for %s, at most %s "
                 "threads at once", mst_format_time(s->io_stall_ns).text,
                 mst_format_count(s->max_blocked).text);
        put_text(sink, "  disks", text);
    }
}
