/* daemon.c - HTTP by libmicrohttpd: see daemon.h.
 *
 * Each connection has a thread, so that a slow client, or an answer that takes long to make, delays
 * no other client. clients.c limits their number and their time.
 */
#include "serve/daemon.h"

#include <gnutls/gnutls.h>
#include <gnutls/x509.h>
#include <microhttpd.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/clock.h"
#include "serve/address.h"
#include "serve/clients.h"
#include "serve/pages.h"

#define REQUEST_BYTES (32u << 10)    /* of a request's head, and of an answer's */
#define STACK_BYTES   (2u << 20)     /* of a connection's thread: SQLite is called by /explain */
#define STOP_NS       (5 * MST_NS_PER_S)
#define MAKE_TRIES    3u                 /* of an answer that finds no room once it is made */
#define TAKE_NS       MST_NS_PER_S       /* for libmicrohttpd's thread to take a connection */

struct mst_daemon {
    struct MHD_Daemon *http;
    struct mst_secrets secrets;
    struct mst_daemon_sources sources;
};

/* A request: from its first line until its answer is sent. */
struct request {
    struct mst_client *client;
    bool               is_whole;     /* the head has been seen */
    char              *query;        /* NULL: none */
    char               path[];       /* as sent; the query follows its NUL */
};

/* ---- answers ------------------------------------------------------------------------------- */

static void add_header(struct MHD_Response *response, const char *name, const char *value)
{
    MHD_add_response_header(response, name, value);
}

static void add_headers(struct MHD_Response *response, const struct mst_page *page)
{
    const char *const *header;
    char seconds[16];

    for (header = mst_answer_headers; *header != NULL; header += 2)
        add_header(response, header[0], header[1]);
    add_header(response, MHD_HTTP_HEADER_CONTENT_TYPE, page->type);
    if (page->policy != NULL)
        add_header(response, "Content-Security-Policy", page->policy);
    if (page->retry_s > 0) {
        snprintf(seconds, sizeof seconds, "%u", page->retry_s);
        add_header(response, MHD_HTTP_HEADER_RETRY_AFTER, seconds);
    }
    if (page->status == MHD_HTTP_UNAUTHORIZED) {
        add_header(response, MHD_HTTP_HEADER_WWW_AUTHENTICATE, "Bearer realm=\"mpmstat\"");
        add_header(response, MHD_HTTP_HEADER_WWW_AUTHENTICATE, "Basic realm=\"mpmstat\"");
    }
    if (page->status == MHD_HTTP_METHOD_NOT_ALLOWED)
        add_header(response, MHD_HTTP_HEADER_ALLOW, "GET,HEAD");
}

/* A text has twice the room that it uses, which a slow reader would keep. */
static void shrink(struct mst_answer_text *text)
{
    char *bytes = text->used > 0 ? realloc(text->bytes, text->used) : NULL;

    if (bytes != NULL)
        text->bytes = bytes;
}

/* Sends a page, and frees its text. MHD_NO: out of memory; the connection is closed. */
static enum MHD_Result send_page(struct MHD_Connection *connection, struct mst_page *page)
{
    struct MHD_Response *response =
        MHD_create_response_from_buffer(page->text.used, page->text.bytes, MHD_RESPMEM_MUST_FREE);
    enum MHD_Result result;

    if (response == NULL) {
        free(page->text.bytes);
        return MHD_NO;
    }
    add_headers(response, page);
    result = MHD_queue_response(connection, page->status, response);
    MHD_destroy_response(response);
    return result;
}

static enum MHD_Result refuse(struct MHD_Connection *connection, unsigned status,
                              const char *sentence)
{
    struct mst_page page = { 0 };

    if (mst_page_refuse(&page, status, sentence))
        return send_page(connection, &page);
    free(page.text.bytes);
    return MHD_NO;
}

/* ---- who may ask --------------------------------------------------------------------------- */

static const char *header_of(struct MHD_Connection *connection, const char *name)
{
    return MHD_lookup_connection_value(connection, MHD_HEADER_KIND, name);
}

/* A certificate that an authority of --client-ca has signed, for clients, which is valid now. */
static bool has_certificate(struct MHD_Connection *connection)
{
    const union MHD_ConnectionInfo *info =
        MHD_get_connection_info(connection, MHD_CONNECTION_INFO_GNUTLS_SESSION);
    char purpose[] = GNUTLS_KP_TLS_WWW_CLIENT;
    gnutls_typed_vdata_st wanted = {
        .type = GNUTLS_DT_KEY_PURPOSE_OID, .data = (unsigned char *)purpose,
    };
    unsigned problems;

    return info != NULL && info->tls_session != NULL
        && gnutls_certificate_verify_peers(info->tls_session, &wanted, 1, &problems) == 0
        && problems == 0;
}

/* Checks who may ask. Returns 0, or the status to refuse with and a sentence. Where no credentials
 * are configured, it checks the name in the header Host: if a page of another site asks through a
 * browser, the browser sends that site's name. */
static unsigned check_access(const struct mst_secrets *secrets, struct MHD_Connection *connection,
                             const char **sentence)
{
    const char *host = header_of(connection, MHD_HTTP_HEADER_HOST);

    if (secrets->client_ca != NULL && !has_certificate(connection)) {
        *sentence = "this needs a client's certificate that an authority of --client-ca has "
                    "signed (curl --cert FILE --key FILE)";
        return MHD_HTTP_FORBIDDEN;
    }
    if (secrets->has_token
        && !mst_secrets_have_token(secrets, header_of(connection,
                                                      MHD_HTTP_HEADER_AUTHORIZATION))) {
        *sentence = "this needs the token of --token-file (curl -H 'Authorization: Bearer TOKEN'; "
                    "in a browser, the user " MST_TOKEN_USER " with the token as password)";
        return MHD_HTTP_UNAUTHORIZED;
    }
    if (secrets->client_ca == NULL && !secrets->has_token && host != NULL
        && !mst_serve_host_is_loopback(host)) {
        *sentence = "this answers to 127.0.0.1, [::1] and localhost only, so that no other site's "
                    "page can ask through a browser here: ask by one of these names (a proxy in "
                    "front of it has to send such a Host)";
        return MHD_HTTP_FORBIDDEN;
    }
    return 0;
}

/* ---- requests ------------------------------------------------------------------------------ */

/* Begins a request, with its target as sent. NULL: out of memory, now or for its client. */
static void *on_target(void *context, const char *target, struct MHD_Connection *connection)
{
    const union MHD_ConnectionInfo *info =
        MHD_get_connection_info(connection, MHD_CONNECTION_INFO_SOCKET_CONTEXT);
    size_t length = strlen(target);
    struct mst_client *client = info != NULL ? info->socket_context : NULL;
    struct request *r = client != NULL ? calloc(1, sizeof *r + length + 1) : NULL;

    (void)context;
    if (r == NULL)
        return NULL;
    r->client = client;
    memcpy(r->path, target, length + 1);
    r->query = strchr(r->path, '?');
    if (r->query != NULL)
        *r->query++ = '\0';
    return r;
}

static void on_completed(void *context, struct MHD_Connection *connection, void **request,
                         enum MHD_RequestTerminationCode reason)
{
    struct request *r = *request;

    (void)context;
    (void)connection;
    (void)reason;
    if (r != NULL)
        mst_client_answered(r->client);
    free(r);
    *request = NULL;
}

/* What can be said before the rest of the request is there. MHD_YES: nothing, it goes on. */
static enum MHD_Result look_at_head(struct MHD_Connection *connection, const char *method)
{
    const char *length = header_of(connection, MHD_HTTP_HEADER_CONTENT_LENGTH);

    if (strcmp(method, MHD_HTTP_METHOD_GET) != 0 && strcmp(method, MHD_HTTP_METHOD_HEAD) != 0)
        return refuse(connection, MHD_HTTP_METHOD_NOT_ALLOWED, mst_answer_only_read);
    if (header_of(connection, MHD_HTTP_HEADER_TRANSFER_ENCODING) != NULL
        || (length != NULL && strcmp(length, "0") != 0))
        return refuse(connection, MHD_HTTP_BAD_REQUEST, "expected a request without a body");
    return MHD_YES;
}

static enum MHD_Result answer(const struct mst_daemon *daemon, struct MHD_Connection *connection,
                              const struct request *r)
{
    const struct mst_page_request request = {
        .path = r->path, .query = r->query,
        .accept = header_of(connection, MHD_HTTP_HEADER_ACCEPT),
        .targets = daemon->sources.targets, .target_count = daemon->sources.target_count,
        .telemetry = daemon->sources.telemetry,
    };
    bool is_public = strcmp(r->path, MST_PAGE_HEALTH) == 0;
    const char *sentence = NULL;
    unsigned refused = is_public ? 0 : check_access(&daemon->secrets, connection, &sentence);
    struct mst_page page;
    unsigned tries;

    if (refused != 0)
        return refuse(connection, refused, sentence);
    for (tries = 0; tries < MAKE_TRIES && mst_clients_make_answer_room(); tries++) {
        if (!mst_page_make(&page, &request)) {
            free(page.text.bytes);
            return refuse(connection, MHD_HTTP_INTERNAL_SERVER_ERROR, "out of memory");
        }
        shrink(&page.text);
        if (mst_client_holds(r->client, page.text.used))
            return send_page(connection, &page);
        free(page.text.bytes);   /* others have made theirs at the same time */
    }
    return refuse(connection, MHD_HTTP_SERVICE_UNAVAILABLE, "clients that read slowly keep too "
                  "many answers here: ask again in a second");
}

/* libmicrohttpd calls it when a request's head is there, and again when all of it is. */
static enum MHD_Result on_request(void *daemon, struct MHD_Connection *connection, const char *path,
                                  const char *method, const char *version, const char *body,
                                  size_t *body_bytes, void **request)
{
    struct request *r = *request;

    (void)path;
    (void)version;
    (void)body;
    if (r == NULL || *body_bytes > 0)
        return MHD_NO;
    if (r->is_whole)
        return answer(daemon, connection, r);
    r->is_whole = true;
    mst_client_asks(r->client);
    return look_at_head(connection, method);
}

static void on_connection(void *context, struct MHD_Connection *connection, void **client,
                          enum MHD_ConnectionNotificationCode what)
{
    const union MHD_ConnectionInfo *info;

    (void)context;
    if (what == MHD_CONNECTION_NOTIFY_STARTED) {
        info = MHD_get_connection_info(connection, MHD_CONNECTION_INFO_CONNECTION_FD);
        *client = info != NULL ? mst_client_add(info->connect_fd) : NULL;
    } else if (*client != NULL) {
        mst_client_remove(*client);
        *client = NULL;
    }
}

/* ---- start and stop ------------------------------------------------------------------------ */

static struct MHD_Daemon *start_http(struct mst_daemon *daemon)
{
    static char priorities[] = "NORMAL:-VERS-ALL:+VERS-TLS1.3:+VERS-TLS1.2";
    const struct mst_secrets *s = &daemon->secrets;
    unsigned flags = MHD_USE_INTERNAL_POLLING_THREAD | MHD_USE_THREAD_PER_CONNECTION | MHD_USE_POLL
                   | MHD_USE_NO_LISTEN_SOCKET | MHD_USE_ITC;
    struct MHD_OptionItem tls[5] = { { MHD_OPTION_END, 0, NULL } };
    unsigned count = 0;

    if (s->certificate != NULL) {
        flags |= MHD_USE_TLS;
        tls[count++] = (struct MHD_OptionItem){ MHD_OPTION_HTTPS_MEM_CERT, 0, s->certificate };
        tls[count++] = (struct MHD_OptionItem){ MHD_OPTION_HTTPS_MEM_KEY, 0, s->key };
        tls[count++] = (struct MHD_OptionItem){ MHD_OPTION_HTTPS_PRIORITIES, 0, priorities };
        if (s->client_ca != NULL)
            tls[count++] = (struct MHD_OptionItem){ MHD_OPTION_HTTPS_MEM_TRUST, 0, s->client_ca };
        tls[count] = (struct MHD_OptionItem){ MHD_OPTION_END, 0, NULL };
    }
    /* libmicrohttpd must never reach its own limit: 0.9.75 then keeps a lock for good, and neither
     * answers nor ends any more. clients.c has the limit that counts. */
    return MHD_start_daemon(flags, 0, NULL, NULL, on_request, daemon,
                            MHD_OPTION_URI_LOG_CALLBACK, on_target, NULL,
                            MHD_OPTION_NOTIFY_COMPLETED, on_completed, NULL,
                            MHD_OPTION_NOTIFY_CONNECTION, on_connection, NULL,
                            MHD_OPTION_CONNECTION_LIMIT, 2 * MST_CLIENTS_ALL_MAX,
                            MHD_OPTION_CONNECTION_MEMORY_LIMIT, (size_t)REQUEST_BYTES,
                            MHD_OPTION_THREAD_STACK_SIZE, (size_t)STACK_BYTES,
                            MHD_OPTION_ARRAY, tls, MHD_OPTION_END);
}

struct mst_daemon *mst_daemon_start(struct mst_secrets *secrets,
                                    const struct mst_daemon_sources *sources,
                                    char error[MST_ERROR_MAX])
{
    struct mst_daemon *daemon = calloc(1, sizeof *daemon);

    if (daemon != NULL) {
        *daemon = (struct mst_daemon){ .secrets = *secrets, .sources = *sources };
        daemon->http = start_http(daemon);
        if (daemon->http != NULL)
            return daemon;
    }
    mst_fail(error, "libmicrohttpd %s cannot start: %s", MHD_get_version(), secrets->certificate
             != NULL && MHD_is_feature_supported(MHD_FEATURE_TLS) != MHD_YES ?
             "it is built without TLS" : "too little memory, or too many threads");
    mst_secrets_free(secrets);
    free(daemon);
    return NULL;
}

void mst_daemon_take(struct mst_daemon *daemon, int fd, const struct sockaddr *from,
                     socklen_t from_bytes)
{
    uint64_t added = mst_clients_added();

    /* Its thread adds the connection later. Without the wait, any number could be on their way to
     * it, beyond all limits. Where it cannot, it has closed the connection. */
    if (MHD_add_connection(daemon->http, fd, from, from_bytes) == MHD_YES)
        mst_clients_wait_added(added + 1, TAKE_NS);
}

void mst_daemon_stop(struct mst_daemon *daemon)
{
    mst_clients_end(STOP_NS);
    MHD_stop_daemon(daemon->http);
    mst_secrets_free(&daemon->secrets);
    free(daemon);
}
