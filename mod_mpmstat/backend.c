/* backend.c - which backend a request is handed to, and how long until that answers: the interval
 * `backend`. Backends are the workers of mod_proxy, and the processes behind the handlers of CGI,
 * FastCGI and WSGI.
 *
 * The interval begins when mod_proxy, or the handler, is called. It ends when an output filter sees
 * the first data that comes back; where none does, when the response begins. Reading the client's
 * body meanwhile is `upload`, and is left out.
 *
 * mod_proxy need not be there: its hook is looked up among the loaded modules.
 */
#include "request.h"

#include <apr_strings.h>
#include <dlfcn.h>
#include <mod_proxy.h>

#include "write/worker.h"

static ap_filter_rec_t *backend_filter;

/* ---- the time ------------------------------------------------------------------------ */

/* How long the backend has had the request, less the upload in that time. */
static uint64_t time_at_backend(const struct mst_parts *parts, uint64_t now)
{
    uint64_t all = now - parts->handed_ns, upload = parts->upload_ns - parts->handed_upload_ns;

    return upload < all ? all - upload : 0;
}

static void end_wait(struct mst_parts *parts, uint64_t now)
{
    if (!parts->handed_ns)
        return;
    parts->backend_ns += time_at_backend(parts, now);
    parts->handed_ns = 0;
}

static apr_status_t see_answer(ap_filter_t *f, apr_bucket_brigade *bb)
{
    struct mst_timed *req = f->ctx;

    ap_remove_output_filter(f);
    end_wait(mst_parts_of(req), mst_connection_now(req->connection));
    return ap_pass_brigade(f->next, bb);
}

static void begin_wait(struct mst_timed *req, request_rec *r, uint32_t backend, uint64_t now)
{
    struct mst_parts *parts = mst_parts_of(req);

    parts->backend = backend;
    parts->handed_ns = now;
    parts->handed_upload_ns = parts->upload_ns;
    ap_add_output_filter_handle(backend_filter, req, r, r->connection);
}

/* ---- handlers ------------------------------------------------------------------------ */

void mst_backend_begin_handler(struct mst_timed *req, request_rec *r)
{
    static const char *const handing_over[] = {
        "cgi-script", "application/x-httpd-cgi", "fcgid-script", "fastcgi-script", "wsgi-script",
    };
    size_t i;

    for (i = 0; i < sizeof handing_over / sizeof *handing_over; i++)
        if (strcmp(r->handler, handing_over[i]) == 0)
            begin_wait(req, r, mst_ends_index(MST_END_BACKEND, r->handler, 0), req->handler_ns);
}

/* ---- mod_proxy ----------------------------------------------------------------------- */

/* A Unix socket and the URL behind it, as in ProxyPass. Where both do not fit into an other end's
 * name, only the URL's scheme is kept: behind a socket, its host does not name a machine. What
 * still does not fit is cut. */
static const char *name_of_socket(apr_pool_t *pool, const char *path, const char *url)
{
    const char *host = strstr(url, "://");

    if (strlen(path) + strlen(url) > MST_NAME_MAX - sizeof "unix:|" && host)
        url = apr_pstrndup(pool, url, (apr_size_t)(host - url) + 3);
    return apr_pstrcat(pool, "unix:", path, "|", url, NULL);
}

/* The backend's name as in ProxyPass: scheme, host and port, with a Unix socket before it.
 * mod_proxy's two default workers serve all URLs that no other worker serves, and have no such
 * name. */
static const char *name_of(const request_rec *r, const proxy_worker *worker,
                           const proxy_server_conf *conf, const char *url)
{
    const char *path = worker->s->uds_path, *host = strstr(url, "://");

    if (worker == conf->forward)
        return "forward";
    if (worker != conf->reverse)
        return path[0] ? name_of_socket(r->pool, path, worker->s->name) : worker->s->name;
    if (!host)
        return "reverse";
    url = apr_pstrndup(r->pool, url, (apr_size_t)(host - url) + 3 + strcspn(host + 3, "/?"));
    path = apr_table_get(r->notes, "uds_path");
    return path ? name_of_socket(r->pool, path, url) : url;
}

/* If a backend had the request already, mod_proxy now tries another one: its call has failed. */
static void count_failure(struct mst_timed *req, uint64_t now)
{
    struct mst_parts *parts = mst_parts_of(req);

    if (parts->handed_ns)
        mst_other_end_count(mst_recording.board, parts->backend,
                            (uint32_t)req->connection->thread->pid_worker,
                            time_at_backend(parts, now), true);
    end_wait(parts, now);
}

/* Runs first of mod_proxy's scheme_handler hooks; one of the later ones sends the request. */
static int see_hand_over(request_rec *r, proxy_worker *worker, proxy_server_conf *conf, char *url,
                         const char *proxy_host, apr_port_t proxy_port)
{
    struct mst_timed *req = mst_recording.board ? mst_timed_from(r) : NULL;
    uint64_t now, tenant;

    (void)proxy_host, (void)proxy_port;
    if (!req || req->first_ns)
        return DECLINED;
    now = mst_connection_now(req->connection);
    count_failure(req, now);
    /* .htaccess files can name any backend that is not a worker. */
    tenant = worker == conf->reverse ? mst_server_config_of(r->server)->tenant : 0;
    begin_wait(req, r, mst_ends_index(MST_END_BACKEND, name_of(r, worker, conf, url), tenant),
               now);
    return DECLINED;
}

typedef void register_scheme_handler(proxy_HOOK_scheme_handler_t *function,
                                     const char *const *before, const char *const *after,
                                     int order);

int mst_backend_find_proxy(apr_pool_t *pconf, apr_pool_t *plog, apr_pool_t *ptemp)
{
    register_scheme_handler *registering;
    void *symbol = dlsym(RTLD_DEFAULT, "proxy_hook_scheme_handler");

    (void)pconf, (void)plog, (void)ptemp;
    if (!symbol)
        return OK;
    memcpy(&registering, &symbol, sizeof registering);
    registering(see_hand_over, NULL, NULL, APR_HOOK_REALLY_FIRST);
    return OK;
}

void mst_backend_register_filter(void)
{
    backend_filter = ap_register_output_filter("MPMSTAT_BACKEND", see_answer, NULL,
                                               AP_FTYPE_RESOURCE - 1);
}
