/* trace.c - what a request's headers say of who sent it: the load tool's number, the trace that it
 * is a part of (W3C Trace Context).
 */
#include "request.h"

#include <apr_lib.h>
#include <apr_strings.h>

uint64_t mst_trace_client_id(const request_rec *r)
{
    const char *text = apr_table_get(r->headers_in, "X-MPMStat-Id");
    char *end;
    apr_int64_t id;

    if (!text)
        text = apr_table_get(r->headers_in, "X-Vegeta-Seq");
    if (!text || !apr_isdigit(*text))
        return 0;
    id = apr_strtoi64(text, &end, 10);
    return *end == '\0' && id < (apr_int64_t)1 << 53 ? (uint64_t)id + 1 : 0;
}

/* httpd joins several headers of this name with commas. The text is then malformed, and the request
 * has no trace. */
static bool read_trace(const request_rec *r, struct mst_traceparent *trace)
{
    const char *text = apr_table_get(r->headers_in, "traceparent");

    return text && mst_traceparent_parse(text, trace);
}

static void keep_trace(struct mst_parts *parts, const struct mst_traceparent *trace)
{
    parts->trace_high = trace->trace_high;
    parts->trace_low = trace->trace_low;
    parts->trace_parent = trace->parent;
    parts->trace_flags = trace->flags;
}

bool mst_trace_take(struct mst_timed *req, const request_rec *r, struct mst_traceparent *trace)
{
    struct mst_parts *parts;

    if (!read_trace(r, trace) || !(trace->flags & MST_TRACE_SAMPLED))
        return false;
    parts = mst_parts_of(req);
    if (parts->has_trace)
        return false;
    keep_trace(parts, trace);
    parts->has_trace = true;
    return true;
}

void mst_trace_note(struct mst_timed *req, const request_rec *r)
{
    struct mst_traceparent trace;

    if (!req->has_parts || !req->parts.has_trace) {
        if (!read_trace(r, &trace))
            return;
        keep_trace(mst_parts_of(req), &trace);
    }
    req->status_flags |= (uint64_t)req->parts.trace_flags << MST_TRACE_FLAGS_SHIFT;
}
