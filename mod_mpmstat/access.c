/* access.c - who may see the status page: clients that the server's own configuration lets in,
 * where that configuration puts the page. What .htaccess files say of either does not count:
 * tenants write them, and the page shows all virtual hosts. A client behind a proxy is not local.
 *
 * Only requests that have come to the handler mpm-status are checked here.
 */
#include "access.h"

#include <apr_strings.h>
#include <http_core.h>
#include <http_request.h>

APLOG_USE_MODULE(mpmstat);

/* ---- .htaccess files ----------------------------------------------------------------- */

/* Whether one was applied to the request, or to a request that was redirected to it. */
static bool is_overridden(const request_rec *r)
{
    const struct htaccess_result *file;

    for (file = r->htaccess; file; file = file->next)
        if (file->htaccess)
            return true;
    return false;
}

/* The look-ups of files that httpd keeps for the request, as if no file had been there. */
static const struct htaccess_result *none_found(const request_rec *r)
{
    const struct htaccess_result *file, *list = NULL;

    for (file = r->htaccess; file; file = file->next) {
        struct htaccess_result *none = apr_pmemdup(r->pool, file, sizeof *file);

        none->htaccess = NULL;
        none->next = list;
        list = none;
    }
    return list;
}

/* Path and query as the client, or a redirect, asked for them. NULL: they are not known. */
static const char *asked_for(const request_rec *r)
{
    const char *uri = r->unparsed_uri, *host;

    if (!uri || uri[0] == '/')
        return uri;
    host = strstr(uri, "://");
    return host ? strchr(host + strlen("://"), '/') : NULL;
}

/* Looks the request up once more, by the server's configuration alone, as far as access and
 * handler; the handler does not run. What httpd keeps of the first look-up, and would take again,
 * is put aside meanwhile: the files of each directory, and the merged sections. NULL: it cannot
 * be looked up. */
static request_rec *look_up_without_files(request_rec *r)
{
    static const apr_size_t walks[] = {
        AP_NOTE_DIRECTORY_WALK, AP_NOTE_LOCATION_WALK, AP_NOTE_FILE_WALK, AP_NOTE_IF_WALK,
    };
    const struct htaccess_result *files = r->htaccess;
    void *kept[sizeof walks / sizeof *walks];
    const char *uri = asked_for(r);
    request_rec *again;
    size_t i;

    if (!uri)
        return NULL;
    for (i = 0; i < sizeof walks / sizeof *walks; i++) {
        kept[i] = *ap_get_request_note(r, walks[i]);
        *ap_get_request_note(r, walks[i]) = NULL;
    }
    r->htaccess = none_found(r);
    again = ap_sub_req_method_uri(r->method, uri, r, NULL);
    r->htaccess = files;
    for (i = 0; i < sizeof walks / sizeof *walks; i++)
        *ap_get_request_note(r, walks[i]) = kept[i];
    return again;
}

static int refuse(request_rec *r, const char *sentence)
{
    ap_log_rerror(APLOG_MARK, APLOG_INFO, 0, r, MPMSTAT_LOGNO(40) "%s", sentence);
    return mst_refuse(r, HTTP_FORBIDDEN, sentence);
}

/* An .htaccess file may have put the page here, or may have let the client in. */
static int check_without_files(request_rec *r)
{
    request_rec *again = look_up_without_files(r);

    if (again && again->status == HTTP_UNAUTHORIZED) {
        r->err_headers_out = apr_table_overlay(r->pool, again->err_headers_out,
                                               r->err_headers_out);
        return HTTP_UNAUTHORIZED;
    }
    if (again && again->status == HTTP_OK && again->handler
        && strcmp(again->handler, "mpm-status") == 0 && !is_overridden(again))
        return DECLINED;
    if (again && again->status == HTTP_FORBIDDEN)
        return refuse(r, "the status page is for those only whom the server's own configuration "
                      "lets in here; what an .htaccess file allows does not count. Put Require "
                      "into the <Location> of the page");
    return refuse(r, "the handler mpm-status answers only where the server's own configuration "
                  "sets it, not where an .htaccess file does: put SetHandler mpm-status into a "
                  "<Location> of the server's configuration");
}

/* ---- proxies --------------------------------------------------------------------------- */

/* As "Require local" sees it. */
static bool is_local(const request_rec *r)
{
    static const struct { const char *address, *mask; } loopback[] = {
        { "127.0.0.0", "255.0.0.0" }, { "::1", NULL },
    };
    apr_ipsubnet_t *net;
    size_t i;

    for (i = 0; i < sizeof loopback / sizeof *loopback; i++)
        if (apr_ipsubnet_create(&net, loopback[i].address, loopback[i].mask, r->pool)
            == APR_SUCCESS && apr_ipsubnet_test(net, r->useragent_addr))
            return true;
    return apr_sockaddr_equal(r->connection->local_addr, r->useragent_addr);
}

/* The header by which a proxy says that it sent this for somebody else; NULL: none. */
static const char *proxys_header(const request_rec *r)
{
    static const char *const headers[] = {
        "Forwarded", "X-Forwarded-For", "X-Forwarded-Host", "X-Real-IP", "Via",
    };
    size_t i;

    for (i = 0; i < sizeof headers / sizeof *headers; i++)
        if (apr_table_get(r->headers_in, headers[i]))
            return headers[i];
    return NULL;
}

/* Where mod_remoteip has put the client's address in the place of the proxy's, Require has seen
 * that address, and the headers that are left say nothing more. */
static int check_proxy(request_rec *r)
{
    const char *header;

    if (mst_dir_config_of(r)->trust_proxy == 1
        || r->useragent_addr != r->connection->client_addr || !is_local(r)
        || (header = proxys_header(r)) == NULL)
        return DECLINED;
    return refuse(r, apr_psprintf(r->pool, "a request that came through a proxy (it has the "
                  "header %s) is not local: ask this server itself, or, if the proxy lets in "
                  "nobody who may not see this page, put MPMStatTrustProxy On into its "
                  "<Location>", header));
}

int mst_check_access(request_rec *r)
{
    int status = is_overridden(r) ? check_without_files(r) : DECLINED;

    return status == DECLINED ? check_proxy(r) : status;
}
