/* access.c - who may see the status page: clients that the server's own configuration lets in,
 * where that configuration puts the page. What .htaccess files say of either does not count:
 * tenants write them, and the page shows all virtual hosts. A client that comes through a proxy is
 * not local.
 *
 * For a page that a <Location> puts there, .htaccess files are not read at all. Else the rules by
 * which an application, as WordPress, takes every URL that is not a file would take the page's, and
 * it would not exist. RewriteEngine Off in the <Location> stops mod_rewrite's rules alone, and each
 * configuration would need it. What else sets the handler (<Directory>, <Files>, <If>) is not known
 * before .htaccess files are read, so those requests are checked once they are at the handler.
 */
#include "access.h"

#include <ap_expr.h>
#include <apr_strings.h>
#include <http_core.h>
#include <http_request.h>

APLOG_USE_MODULE(mpmstat);

/* ---- .htaccess files ----------------------------------------------------------------- */

/* Without calls: for most URLs the second character tells. */
static bool begins_with(const char *uri, const char *path)
{
    while (*path && *path == *uri) {
        path++;
        uri++;
    }
    return !*path;
}

/* Whether a <Location> that can match the URL, or the whole virtual host, sets any handler. This is
 * asked for each directory in which httpd looks for a file, and takes some sixty instructions; what
 * httpd merges takes some three hundred. */
static bool may_have_handler(const request_rec *r)
{
    const core_server_config *server = ap_get_core_module_config(r->server->module_config);
    const core_dir_config *section = ap_get_core_module_config(r->server->lookup_defaults);
    ap_conf_vector_t *const *locations = (ap_conf_vector_t *const *)server->sec_url->elts;
    int i;

    if (section->expr_handler)
        return true;
    for (i = 0; i < server->sec_url->nelts; i++) {
        section = ap_get_core_module_config(locations[i]);
        if (section->expr_handler && (section->r || section->d_is_fnmatch
                                      || begins_with(r->uri, section->d)))
            return true;
    }
    return false;
}

/* Whether a <Location>, or the whole virtual host, sets the page's handler. httpd has compared the
 * URL with those sections before, and keeps the result: this only merges it. */
static bool is_location_of_page(request_rec *r)
{
    ap_conf_vector_t *of_directory = r->per_dir_config;
    const core_dir_config *location;
    const char *handler, *error;

    r->per_dir_config = r->server->lookup_defaults;
    ap_location_walk(r);
    location = ap_get_core_module_config(r->per_dir_config);
    r->per_dir_config = of_directory;
    if (!location->expr_handler)
        return false;
    handler = ap_expr_str_exec(r, location->expr_handler, &error);
    return handler && ap_cstr_casecmp(handler, "mpm-status") == 0;
}

apr_status_t mst_access_open_htaccess(request_rec *r, const char *directory, const char *name,
                                      ap_configfile_t **file, const char **path)
{
    (void)directory;
    (void)name;
    (void)file;
    (void)path;
    return may_have_handler(r) && is_location_of_page(r) ? APR_ENOENT : AP_DECLINED;
}

/* Whether an .htaccess file was applied to the request, or to one that was redirected to it. */
static bool is_overridden(const request_rec *r)
{
    const struct htaccess_result *file;

    for (file = r->htaccess; file; file = file->next)
        if (file->htaccess)
            return true;
    return false;
}

/* The list of files that httpd keeps for the request, as it would be if there were none. */
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

/* Path and query as the client, or a redirect, asked for them. NULL: not known. */
static const char *asked_for(const request_rec *r)
{
    const char *uri = r->unparsed_uri, *host;

    if (!uri || uri[0] == '/')
        return uri;
    host = strstr(uri, "://");
    return host ? strchr(host + strlen("://"), '/') : NULL;
}

/* Looks the request up once more, by the server's configuration alone, as far as its access and
 * its handler; the handler does not run. Meanwhile what httpd keeps of the first look-up is taken
 * off the request, as httpd would use it again: the files of each directory, and the merged
 * sections. NULL: it cannot be looked up. */
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

static int forbid(request_rec *r, const char *reason, const char **sentence)
{
    ap_log_rerror(APLOG_MARK, APLOG_INFO, 0, r, MPMSTAT_LOGNO(40) "%s", reason);
    *sentence = reason;
    return HTTP_FORBIDDEN;
}

/* Checks the request as if there were no .htaccess files: one of them may have put the page here,
 * or may have let the client in. */
static int check_without_files(request_rec *r, const char **sentence)
{
    request_rec *again = look_up_without_files(r);

    if (again && again->status == HTTP_UNAUTHORIZED) {
        r->err_headers_out = apr_table_overlay(r->pool, again->err_headers_out,
                                               r->err_headers_out);
        return HTTP_UNAUTHORIZED;
    }
    if (again && again->status == HTTP_OK && again->handler
        && strcmp(again->handler, "mpm-status") == 0 && !is_overridden(again))
        return OK;
    if (again && again->status == HTTP_FORBIDDEN)
        return forbid(r, "the status page is for those only whom the server's own configuration "
                      "lets in here; what an .htaccess file allows does not count. Put Require "
                      "into the <Location> of the page", sentence);
    return forbid(r, "the handler mpm-status answers only where the server's own configuration "
                  "sets it, not where an .htaccess file does: put SetHandler mpm-status into a "
                  "<Location> of the server's configuration", sentence);
}

/* ---- proxies ------------------------------------------------------------------------- */

/* The same test as that of "Require local". */
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

/* The header by which a proxy says that it passes on another client's request; NULL: none. */
static const char *proxy_header(const request_rec *r)
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

/* Where mod_remoteip has replaced the proxy's address by the client's, Require has tested the
 * client's, and the headers that are left say nothing more. */
static int check_proxy(request_rec *r, const char **sentence)
{
    const char *header;

    if (mst_dir_config_of(r)->trust_proxy == 1
        || r->useragent_addr != r->connection->client_addr || !is_local(r)
        || (header = proxy_header(r)) == NULL)
        return OK;
    return forbid(r, apr_psprintf(r->pool, "a request that came through a proxy (it has the "
                  "header %s) is not local: ask this server itself, or, if the proxy lets in "
                  "nobody who may not see this page, put MPMStatTrustProxy On into its "
                  "<Location>", header), sentence);
}

int mst_check_access(request_rec *r, const char **sentence)
{
    int status = is_overridden(r) ? check_without_files(r, sentence) : OK;

    return status == OK ? check_proxy(r, sentence) : status;
}
