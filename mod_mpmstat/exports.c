/* exports.c - what others learn of a request.
 *
 *   programs     CGI, FastCGI and PHP: the variable MPMSTAT (segment/handover.h), and MPMSTAT_ID,
 *                the id alone, set when the handler begins; with MPMStatTraceContext Parent, the
 *                request's span in the header traceparent
 *   access logs  MPMStatNotes: notes and MPMSTAT_ID, set when the request is complete
 *   browsers     MPMStatServerTiming: a Server-Timing header
 */
#include "request.h"

#include <apr_strings.h>
#include <http_core.h>
#include <http_protocol.h>
#include <http_request.h>
#include <util_filter.h>

#include "base/clock.h"
#include "base/host.h"
#include "segment/handover.h"

static ap_filter_rec_t *server_timing_filter;

static const char *id_text(apr_pool_t *p, uint64_t id)
{
    return apr_psprintf(p, "%" APR_UINT64_T_FMT, id);
}

/* ---- programs ------------------------------------------------------------------------ */

/* Whether the handler can hand the request to a program. One that is set by name can, except
 * default-handler; of those with a slash only media types application/x-httpd-* and proxy:* can. */
static bool may_be_program(const char *handler)
{
    static const char types[] = "application/x-httpd-", proxy[] = "proxy:";

    if (strncmp(handler, types, sizeof types - 1) == 0
        || strncmp(handler, proxy, sizeof proxy - 1) == 0)
        return true;
    return !strchr(handler, '/') && strcmp(handler, "default-handler") != 0;
}

/* From here on the request's upload moves the time that the program learns (upload.c). */
static void note_hand_over(const request_rec *r, char *text, uint64_t now)
{
    struct mst_timed *req = mst_timed_from(r);

    if (!req || !req->has_parts)
        return;   /* there is no body */
    req->parts.handover = text;
    req->parts.handover_ns = now - req->parts.upload_ns;
}

/* Puts the request's own span into the header traceparent, as that of which the program's are
 * children. Where the trace is not sampled, nobody exports that span: the header stays. */
static void hand_trace_on(request_rec *r, uint64_t id)
{
    const struct mst_span_of of = { mst_recording.started_ns, mst_recording.parent, id };
    struct mst_timed *req = mst_timed_from(r);
    struct mst_traceparent trace;
    char *text;

    if (!req || !mst_trace_take(req, r, &trace))
        return;
    trace.parent = mst_span_id(&of, MST_SPAN_SERVER);
    text = apr_palloc(r->pool, MST_TRACEPARENT_SIZE);
    mst_traceparent_format(&trace, text);
    apr_table_setn(r->headers_in, "traceparent", text);
}

void mst_exports_hand_over(request_rec *r)
{
    uint64_t id, now;
    char *text;

    if (!may_be_program(r->handler) || (id = mst_timing_id(r)) == 0)
        return;
    text = apr_palloc(r->pool, MST_HANDOVER_MAX);
    now = mst_now_ns();
    mst_handover_format(text, id, now, mst_place);
    note_hand_over(r, text, now);
    if (mst_dir_config_of(r)->trace_context == MST_TRACE_PARENT)
        hand_trace_on(r, id);
    apr_table_setn(r->subprocess_env, MST_HANDOVER_VARIABLE, text);
    apr_table_setn(r->subprocess_env, "MPMSTAT_ID", id_text(r->pool, id));
}

int mst_exports_find_place(apr_pool_t *pconf, apr_pool_t *plog, apr_pool_t *ptemp, server_rec *s)
{
    char boot_id[MST_HANDOVER_BOOT], boot[MST_HANDOVER_BOOT];

    (void)pconf, (void)plog, (void)ptemp, (void)s;
    mst_host_boot_id(boot_id, sizeof boot_id);
    mst_handover_boot(boot, boot_id);
    mst_handover_place(mst_place, boot, mst_host_namespace("time"));
    return OK;
}

/* ---- access logs --------------------------------------------------------------------- */

/* Seconds with all nine decimals: nothing is rounded, and `sort -n` sorts them. */
static void note_time(request_rec *r, const char *name, uint64_t ns)
{
    if (ns == MST_UNKNOWN)
        return;
    apr_table_setn(r->notes, name,
                   apr_psprintf(r->pool, "%" APR_UINT64_T_FMT ".%09u", ns / MST_NS_PER_S,
                                (unsigned)(ns % MST_NS_PER_S)));
}

static void note(request_rec *r, const struct mst_request *record)
{
    const char *id = id_text(r->pool, record->id);

    apr_table_setn(r->subprocess_env, "MPMSTAT_ID", id);
    apr_table_setn(r->notes, "mpmstat-id", id);
    note_time(r, "mpmstat-queue", record->queue_ns);
    note_time(r, "mpmstat-read", record->read_ns);
    note_time(r, "mpmstat-handle", record->handle_ns);
    note_time(r, "mpmstat-send", record->send_ns);
    note_time(r, "mpmstat-total", record->queue_ns + record->read_ns + record->handle_ns
                                  + record->send_ns);
    note_time(r, "mpmstat-held", record->held_ns);
    note_time(r, "mpmstat-front", record->front_ns);
}

/* On the request that the client sent, for %<{mpmstat-queue}n, and on the one that internal
 * redirects made of it, for %{mpmstat-queue}n. */
static int note_times(request_rec *r)
{
    const struct mst_timed *req = mst_timed_of(r);
    struct mst_request record;
    request_rec *last = r;

    if (!req || req->dir->notes != 1 || !mst_record_times(req, &record))
        return DECLINED;
    while (last->next)
        last = last->next;
    note(r, &record);
    if (last != r)
        note(last, &record);
    return DECLINED;
}

/* Called as mst_exports_use_server_timing() is. The hook runs before mod_log_config writes its
 * line. */
void mst_exports_use_notes(void)
{
    ap_hook_log_transaction(note_times, NULL, NULL, APR_HOOK_FIRST);
}

/* ---- browsers ------------------------------------------------------------------------ */

/* Milliseconds, as the specification of Server-Timing asks for, with three decimals. */
#define DURATION ";dur=%" APR_UINT64_T_FMT ".%03u"
#define DURATION_OF(ns) (ns) / MST_NS_PER_MS, (unsigned)((ns) % MST_NS_PER_MS / MST_NS_PER_US)

/* The filter adds the header when the first brigade passes, before httpd sends the headers. It adds
 * to those in headers_out, so that the application's own Server-Timing stays. */
static apr_status_t add_server_timing(ap_filter_t *f, apr_bucket_brigade *bb)
{
    request_rec *r = f->r;
    struct mst_request now;

    ap_remove_output_filter(f);
    if (mst_timing_so_far(r, &now))
        apr_table_addn(r->headers_out, "Server-Timing",
                       apr_psprintf(r->pool,
                                    "queue" DURATION ", read" DURATION ", handle" DURATION,
                                    DURATION_OF(now.queue_ns), DURATION_OF(now.read_ns),
                                    DURATION_OF(now.handle_ns)));
    return ap_pass_brigade(f->next, bb);
}

static void insert_server_timing(request_rec *r)
{
    if (!r->main && mst_dir_config_of(r)->server_timing == 1)
        ap_add_output_filter_handle(server_timing_filter, NULL, r, r->connection);
}

/* httpd still takes hooks while it reads the configuration: where no directory wants the header,
 * requests do not pass here. */
void mst_exports_use_server_timing(void)
{
    ap_hook_insert_filter(insert_server_timing, NULL, NULL, APR_HOOK_LAST);
    ap_hook_insert_error_filter(insert_server_timing, NULL, NULL, APR_HOOK_LAST);
}

void mst_exports_register_filter(void)
{
    /* It runs after mod_headers, whose `Header set` would replace the header. */
    server_timing_filter = ap_register_output_filter("MPMSTAT_SERVER_TIMING", add_server_timing,
                                                     NULL, AP_FTYPE_PROTOCOL - 1);
}
