/* hooks.c - which of the module's functions runs when: registers them all, and passes on the
 * hooks that several files want. The files below call each other in one direction only
 * (mod_mpmstat.h has the picture). */
#include "request.h"

#include <ap_mpm.h>
#include <http_connection.h>
#include <http_core.h>
#include <http_protocol.h>
#include <http_request.h>

#include "access.h"
#include "answer_limit.h"
#include "base/clock.h"
#include "listeners.h"
#include "write/busy.h"

/* ---- the server and its processes ---------------------------------------------------- */

static void child_init(apr_pool_t *pchild, server_rec *s)
{
    mst_processes_join(pchild, s);
    mst_answers_reset();
}

/* Runs in the parent, every ten seconds. */
static int monitor(apr_pool_t *p, server_rec *s)
{
    struct mst_board *b = mst_recording.board;

    (void)p;
    if (!b)
        return DECLINED;
    mst_recording_report_loss(s);
    mst_forks_report_helpers(b);
    mst_forks_sweep(b);
    mst_processes_sweep(b);
    mst_busy_tell(b, mst_now_ns());
    return DECLINED;
}

static void error_log(const ap_errorlog_info *info, const char *line)
{
    (void)info;
    if (mst_recording.pid)
        mst_forks_read_log(line);
    else
        mst_processes_read_log(line);
}

/* ---- requests ------------------------------------------------------------------------ */

/* Notes the call of the first handler that makes content. A handler that redirects makes none. */
static inline void begin_handler(struct mst_timed *req, uint32_t handler)
{
    req->handler_ns = mst_connection_now(req->connection);
    req->handler = handler;
}

/* The handler was set by name, or it is the media type of a program. */
static MST_SELDOM int before_named_handler(request_rec *r)
{
    struct mst_timed *req = mst_timed_from(r);

    if (strcmp(r->handler, "redirect-handler") == 0)
        return DECLINED;
    if (req && !req->handler_ns) {
        begin_handler(req, mst_ends_index(MST_END_HANDLER, r->handler,
                                          mst_server_config_of(r->server)->tenant));
        mst_backend_begin_handler(req, r);
    }
    if (strcmp(r->handler, "mpm-status") == 0)
        return mst_handle_status(r);
    mst_exports_hand_over(r);
    return DECLINED;
}

/* Whether httpd's default handler serves r. Where no handler was set, httpd takes the media type
 * for one, or "" where that is not known either. Of those types only PHP's and CGI's are
 * programs'. */
static inline bool is_default(const request_rec *r)
{
    static const char programs[] = "application/x-httpd-";
    const char *handler = r->handler;

    if (!handler)
        return true;
    if (handler != r->content_type)
        return handler[0] == '\0';
    return handler[0] != 'a' || strncmp(handler, programs, sizeof programs - 1) != 0;
}

/* One handler hook for all files that have something to do before the content is made. */
static int before_handler(request_rec *r)
{
    struct mst_timed *req = mst_timed_of(r);

    if (req)
        mst_timing_apply_config(req, r);
    else if (r->prev)
        req = mst_timed_from(r);
    if (!is_default(r))
        return before_named_handler(r);
    if (req && !req->handler_ns)
        begin_handler(req, mst_recording.default_end);
    return DECLINED;
}

/* As end_log(), where there is more to do. */
static MST_SELDOM int end_log_and_more(struct mst_timed *req, const conn_rec *c)
{
    struct mst_connection *conn = req->connection;

    mst_record_logged(req, c);
    if (conn->stream)
        mst_http2_end_stream(conn);
    if (mst_recording.forks_running)
        mst_forks_check();
    return DECLINED;
}

/* Runs after other modules' log hooks. */
static int end_log(request_rec *r)
{
    struct mst_timed *req = mst_timed_of(r);

    if (!req || !req->complete_ns)
        return DECLINED;
    return req->connection->stream || mst_recording.forks_running
        ? end_log_and_more(req, r->connection) : mst_record_logged(req, r->connection);
}

/* ---- registering --------------------------------------------------------------------- */

static void register_server_hooks(void)
{
    ap_hook_pre_config(mst_config_reset, NULL, NULL, APR_HOOK_MIDDLE);
    /* Before other modules fork their helpers (cgid, fcgid). */
    ap_hook_post_config(mst_recording_open, NULL, NULL, APR_HOOK_REALLY_FIRST);
    ap_hook_post_config(mst_exports_find_place, NULL, NULL, APR_HOOK_MIDDLE);
    ap_hook_post_config(mst_listeners_note_sockets, NULL, NULL, APR_HOOK_MIDDLE);
    ap_hook_child_init(child_init, NULL, NULL, APR_HOOK_FIRST);
    /* Before core's own hook (MIDDLE), which ends generations. */
    ap_hook_child_status(mst_processes_child_status, NULL, NULL, APR_HOOK_REALLY_FIRST);
    ap_hook_monitor(monitor, NULL, NULL, APR_HOOK_MIDDLE);
    ap_hook_error_log(error_log, NULL, NULL, APR_HOOK_MIDDLE);
}

static void register_request_hooks(void)
{
    mst_connections_register_filter();
    mst_http2_register_filter();
    mst_exports_register_filter();
    mst_upload_register_filter();
    mst_tls_register_filter();
    mst_backend_register_filter();
    ap_hook_pre_config(mst_backend_find_proxy, NULL, NULL, APR_HOOK_MIDDLE);
    ap_hook_pre_connection(mst_tls_watch, NULL, NULL, APR_HOOK_LAST);   /* after mod_ssl */
    ap_hook_pre_connection(mst_connections_begin, NULL, NULL, APR_HOOK_REALLY_FIRST);
    ap_hook_pre_close_connection(mst_connections_close, NULL, NULL, APR_HOOK_REALLY_FIRST);
    ap_hook_suspend_connection(mst_connections_suspend, NULL, NULL, APR_HOOK_LAST);
    ap_hook_resume_connection(mst_connections_resume, NULL, NULL, APR_HOOK_FIRST);
    ap_hook_protocol_switch(mst_http2_protocol_switch, NULL, NULL, APR_HOOK_REALLY_FIRST);
    ap_hook_post_read_request(mst_timing_begin, NULL, NULL, APR_HOOK_REALLY_FIRST);
    ap_hook_open_htaccess(mst_access_open_htaccess, NULL, NULL, APR_HOOK_REALLY_FIRST);
    ap_hook_handler(before_handler, NULL, NULL, APR_HOOK_REALLY_FIRST);
    ap_hook_log_transaction(mst_timing_complete, NULL, NULL, APR_HOOK_REALLY_FIRST);
    ap_hook_log_transaction(end_log, NULL, NULL, APR_HOOK_REALLY_LAST);
}

void mst_hooks_register(apr_pool_t *p)
{
    (void)p;
    register_server_hooks();
    register_request_hooks();
}
