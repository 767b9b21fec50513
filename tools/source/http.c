/* http.c - one bounded GET with libcurl: see http.h. */
#include "source/http.h"
#include "source/http_curl.h"

#include <arpa/inet.h>
#include <errno.h>
#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <strings.h>

#include "base/clock.h"
#include "base/saturate.h"

#define CONNECT_TIMEOUT_MS 5000L

struct mst_http {
    CURL                        *curl;
    long                         timeout_ms;
    uint64_t                     deadline_ns;
    const volatile sig_atomic_t *stop;
    const struct mst_http_access *access;                   /* NULL: none */
    struct curl_slist           *headers;                   /* with its token; NULL: none */
    char                         reason[CURL_ERROR_SIZE];   /* libcurl's own words */
    struct mst_http_answer      *answer;                    /* being filled */
    size_t                       room;                      /* bytes allocated for its body */
    long                         status;                    /* of the latest answer */
    struct mst_http_times        times;                     /* of the latest question */
    bool                         too_large;
    bool                         cut_short;                 /* by the deadline */
};

/* ---- text from elsewhere --------------------------------------------------- */

void mst_printable(char *out, size_t room, const char *bytes, size_t length)
{
    size_t i;

    if (room == 0)
        return;
    for (i = 0; i < length && i + 1 < room; i++) {
        unsigned char c = (unsigned char)bytes[i];

        if (c == '\n' || c == '\r' || c == '\0')
            break;
        out[i] = c < ' ' || c > '~' ? '?' : (char)c;
    }
    out[i] = '\0';
}

/* ---- libcurl's callbacks --------------------------------------------------- */

static size_t take_body(char *bytes, size_t size, size_t count, void *context)
{
    struct mst_http *http = context;
    struct mst_http_answer *a = http->answer;
    size_t more = size * count, room = http->room;
    char *body;

    if (more > MST_HTTP_BODY_MAX - a->length) {
        http->too_large = true;
        return 0;
    }
    while (a->length + more + 1 > room)
        room = room == 0 ? 16384 : room * 2;
    if (room > MST_HTTP_BODY_MAX + 1)
        room = MST_HTTP_BODY_MAX + 1;
    if (room != http->room) {
        body = realloc(a->body, room);
        if (body == NULL)
            return 0;
        a->body = body;
        http->room = room;
    }
    memcpy(a->body + a->length, bytes, more);
    a->length += more;
    a->body[a->length] = '\0';
    return more;
}

static int check_stop(void *context, curl_off_t dl_total, curl_off_t dl, curl_off_t ul_total,
                      curl_off_t ul)
{
    const struct mst_http *http = context;

    (void)dl_total, (void)dl, (void)ul_total, (void)ul;
    return http->stop != NULL && *http->stop;
}

/* ---- the client ------------------------------------------------------------- */

static void start_libcurl(void)
{
    curl_global_init(CURL_GLOBAL_DEFAULT);
}

struct mst_http *mst_http_open(long timeout_ms)
{
    static pthread_once_t once = PTHREAD_ONCE_INIT;
    struct mst_http *http = calloc(1, sizeof *http);

    if (http == NULL)
        return NULL;
    pthread_once(&once, start_libcurl);
    http->timeout_ms = timeout_ms;
    http->deadline_ns = UINT64_MAX;
    http->curl = curl_easy_init();
    if (http->curl == NULL) {
        free(http);
        return NULL;
    }
    return http;
}

void mst_http_close(struct mst_http *http)
{
    if (http == NULL)
        return;
    curl_easy_cleanup(http->curl);
    curl_slist_free_all(http->headers);
    free(http);
}

int mst_http_set_access(struct mst_http *http, const struct mst_http_access *access)
{
    char *header;

    curl_slist_free_all(http->headers);
    http->headers = NULL;
    http->access = access;
    if (access == NULL || access->token == NULL)
        return 0;
    if (asprintf(&header, "Authorization: Bearer %s", access->token) < 0)
        return -1;
    http->headers = curl_slist_append(NULL, header);
    free(header);
    return http->headers != NULL ? 0 : -1;
}

void mst_http_set_stop(struct mst_http *http, const volatile sig_atomic_t *stop)
{
    http->stop = stop;
}

void mst_http_set_deadline(struct mst_http *http, uint64_t deadline_ns)
{
    http->deadline_ns = deadline_ns;
}

/* How long this answer may take: 0 where there is no time left for one. */
static long time_left_ms(struct mst_http *http)
{
    uint64_t left_ms = mst_elapsed(mst_now_ns(), http->deadline_ns) / MST_NS_PER_MS;

    http->cut_short = left_ms < (uint64_t)http->timeout_ms;
    return http->cut_short ? (long)left_ms : http->timeout_ms;
}

/* The URL with our query behind its own; no fragment. NULL with a sentence.
 * Free it with curl_free. */
static char *build_url(const char *base, const char *query, char error[MST_ERROR_MAX])
{
    CURLU *parts = curl_url();
    char *url = NULL, *old = NULL, *user = NULL, shown[256];

    mst_printable(shown, sizeof shown, base, strlen(base));
    if (parts == NULL) {
        snprintf(error, MST_ERROR_MAX, "out of memory");
        return NULL;
    }
    if (curl_url_set(parts, CURLUPART_URL, base, 0) != CURLUE_OK) {
        snprintf(error, MST_ERROR_MAX,
                 "%s: this is no URL; expected http://HOST[:PORT]/PATH", shown);
    } else if (curl_url_get(parts, CURLUPART_USER, &user, 0) == CURLUE_OK) {
        snprintf(error, MST_ERROR_MAX,
                 "a URL with a user and a password in it would show them to everyone; put them "
                 "into ~/.netrc instead");
    } else if (curl_url_get(parts, CURLUPART_QUERY, &old, 0) == CURLUE_OK &&
               strstr(old, "format=") != NULL) {
        snprintf(error, MST_ERROR_MAX, "%s: give the URL without format=; mpmstat adds its own",
                 shown);
    } else if (curl_url_set(parts, CURLUPART_FRAGMENT, NULL, 0) != CURLUE_OK ||
               curl_url_set(parts, CURLUPART_QUERY, query, CURLU_APPENDQUERY) != CURLUE_OK ||
               curl_url_get(parts, CURLUPART_URL, &url, 0) != CURLUE_OK) {
        snprintf(error, MST_ERROR_MAX, "out of memory");
        url = NULL;
    }
    curl_free(user);
    curl_free(old);
    curl_url_cleanup(parts);
    return url;
}

void mst_http_set_defaults(CURL *curl, const char *url)
{
    curl_easy_setopt(curl, CURLOPT_URL, url);
#if LIBCURL_VERSION_NUM >= 0x075500
    curl_easy_setopt(curl, CURLOPT_PROTOCOLS_STR, "http,https");
#else
    curl_easy_setopt(curl, CURLOPT_PROTOCOLS, (long)(CURLPROTO_HTTP | CURLPROTO_HTTPS));
#endif
    curl_easy_setopt(curl, CURLOPT_FOLLOWLOCATION, 0L);
    curl_easy_setopt(curl, CURLOPT_PROXY, "");
    curl_easy_setopt(curl, CURLOPT_FORBID_REUSE, 1L);
    curl_easy_setopt(curl, CURLOPT_HTTP_VERSION, (long)CURL_HTTP_VERSION_1_1);
    curl_easy_setopt(curl, CURLOPT_USERAGENT, "mpmstat/" MPMSTAT_VERSION);
    curl_easy_setopt(curl, CURLOPT_NOSIGNAL, 1L);
}

static void set_options(struct mst_http *http, const char *url, long connect_ms, long timeout_ms)
{
    CURL *curl = http->curl;
    const char *ca_file = getenv("SSL_CERT_FILE");

    curl_easy_reset(curl);
    mst_http_set_defaults(curl, url);
    curl_easy_setopt(curl, CURLOPT_NETRC, (long)CURL_NETRC_OPTIONAL);
    curl_easy_setopt(curl, CURLOPT_CONNECTTIMEOUT_MS,
                     timeout_ms < connect_ms ? timeout_ms : connect_ms);
    curl_easy_setopt(curl, CURLOPT_TIMEOUT_MS, timeout_ms);
    curl_easy_setopt(curl, CURLOPT_ERRORBUFFER, http->reason);
    curl_easy_setopt(curl, CURLOPT_WRITEFUNCTION, take_body);
    curl_easy_setopt(curl, CURLOPT_WRITEDATA, http);
    curl_easy_setopt(curl, CURLOPT_NOPROGRESS, 0L);
    curl_easy_setopt(curl, CURLOPT_XFERINFOFUNCTION, check_stop);
    curl_easy_setopt(curl, CURLOPT_XFERINFODATA, http);
    if (http->access != NULL && http->access->ca_file != NULL)
        ca_file = http->access->ca_file;
    if (ca_file != NULL && *ca_file != '\0')
        curl_easy_setopt(curl, CURLOPT_CAINFO, ca_file);
    if (http->headers != NULL)
        curl_easy_setopt(curl, CURLOPT_HTTPHEADER, http->headers);
}

/* ---- what went wrong --------------------------------------------------------- */

static void describe_timeout(const struct mst_http *http, const char *url,
                             char error[MST_ERROR_MAX])
{
    if (http->cut_short)
        snprintf(error, MST_ERROR_MAX, "%s: no complete answer before the recording's end", url);
    else
        snprintf(error, MST_ERROR_MAX,
                 "%s: no complete answer within %ld.%ld s. Where all workers are busy, the status "
                 "waits behind the requests that keep them so: read the board file on the server "
                 "instead (mpmstat status, there)",
                 url, http->timeout_ms / 1000, http->timeout_ms % 1000 / 100);
}

static void describe_unconnected(struct mst_http *http, const char *url,
                                 char error[MST_ERROR_MAX])
{
    long os_error = 0;

    curl_easy_getinfo(http->curl, CURLINFO_OS_ERRNO, &os_error);
    if (os_error == ECONNREFUSED)
        snprintf(error, MST_ERROR_MAX,
                 "%s: connection refused: nothing listens there. Is the server running, and is "
                 "this its port?", url);
    else
        snprintf(error, MST_ERROR_MAX, "%s: cannot connect: %s", url,
                 os_error != 0 ? strerror((int)os_error) : http->reason);
}

/* libcurl has no codes for what is wrong with a certificate. */
static void describe_untrusted(const char *url, const char *reason, char error[MST_ERROR_MAX])
{
    const char *action = "--ca-file, or SSL_CERT_FILE, names a file with the authority to trust";

    if (strstr(reason, "expired") != NULL)
        action = "the server needs a new one, or one of the two clocks is wrong";
    else if (strstr(reason, "subject name") != NULL || strstr(reason, "hostname") != NULL)
        action = "the URL has to name the host as the certificate does";
    snprintf(error, MST_ERROR_MAX, "%s: the server's certificate is not trusted: %s: %s", url,
             reason, action);
}

static void describe_failure(struct mst_http *http, CURLcode code, const char *url,
                             char error[MST_ERROR_MAX])
{
    const char *reason = http->reason[0] != '\0' ? http->reason : curl_easy_strerror(code);

    switch (code) {
    case CURLE_OPERATION_TIMEDOUT:
        describe_timeout(http, url, error);
        break;
    case CURLE_COULDNT_CONNECT:
        describe_unconnected(http, url, error);
        break;
    case CURLE_COULDNT_RESOLVE_HOST:
        snprintf(error, MST_ERROR_MAX, "%s: no host of this name is known here: is it spelt right, "
                 "and does this machine's name server know it?", url);
        break;
    case CURLE_SSL_CONNECT_ERROR:
        snprintf(error, MST_ERROR_MAX, "%s: this port answers no TLS that is accepted here (%s). "
                 "Where it is one for plain HTTP, the URL begins with http://", url, reason);
        break;
    case CURLE_PEER_FAILED_VERIFICATION:
        describe_untrusted(url, reason, error);
        break;
    case CURLE_SSL_CACERT_BADFILE:
        snprintf(error, MST_ERROR_MAX, "%s: expected certificates of authorities (PEM) in the file "
                 "that --ca-file or SSL_CERT_FILE names: %s", url, reason);
        break;
    case CURLE_ABORTED_BY_CALLBACK:
        snprintf(error, MST_ERROR_MAX, "%s: interrupted while waiting for the answer", url);
        break;
    case CURLE_WRITE_ERROR:
        snprintf(error, MST_ERROR_MAX,
                 http->too_large ? "%s: the answer is larger than %u MiB; is this a status URL?"
                                 : "%s: out of memory for an answer of at most %u MiB",
                 url, MST_HTTP_BODY_MAX >> 20);
        break;
    case CURLE_PARTIAL_FILE:
    case CURLE_GOT_NOTHING:
    case CURLE_RECV_ERROR:
        snprintf(error, MST_ERROR_MAX,
                 "%s: the connection ended before the answer was complete (%s)", url, reason);
        break;
    default:
        snprintf(error, MST_ERROR_MAX, "%s: no answer: %s", url, reason);
    }
}

/* Whether httpd or nginx says that it got plain HTTP on a port for TLS. */
static bool wants_tls(long status, const char *body)
{
    return status == 400 && body != NULL &&
           (strstr(body, "SSL-enabled server port") != NULL || strstr(body, "HTTPS port") != NULL);
}

static void describe_status(struct mst_http *http, long status, const char *url,
                            char error[MST_ERROR_MAX])
{
    const struct mst_http_answer *a = http->answer;
    char said[160] = "", *location = NULL;

    mst_printable(said, sizeof said, a->body != NULL ? a->body : "", a->length);
    switch (status) {
    case 401:
        snprintf(error, MST_ERROR_MAX, http->headers != NULL ?
                 "%s: the server refuses the token (401): the token file has to hold the token "
                 "that the server expects" :
                 "%s: the server wants a password (401): put user and password into ~/.netrc, or "
                 "name the file with its token (--token-file)", url);
        break;
    case 403:
        if (said[0] == '<')
            said[0] = '\0';   /* a page of httpd's own */
        snprintf(error, MST_ERROR_MAX,
                 "%s: the endpoint is local only (403): ask it on the server itself, or allow "
                 "this address in its <Location> (Require ip ...)%s%s%s", url,
                 http->headers != NULL ? "; or the token is not the one that it expects" : "",
                 said[0] != '\0' ? "; the server says: " : "", said);
        break;
    case 404:
        snprintf(error, MST_ERROR_MAX,
                 "%s: not found (404): SetHandler mpm-status is missing there; the server's "
                 "configuration needs <Location /mpm-status> SetHandler mpm-status </Location>",
                 url);
        break;
    default:
        if (status >= 300 && status < 400 &&
            curl_easy_getinfo(http->curl, CURLINFO_REDIRECT_URL, &location) == CURLE_OK &&
            location != NULL) {
            mst_printable(said, sizeof said, location, strlen(location));
            snprintf(error, MST_ERROR_MAX,
                     "%s: the server redirects (%ld) to %s; name that URL if it is the status",
                     url, status, said);
        } else {
            snprintf(error, MST_ERROR_MAX, "%s: expected 200, the server answered %ld%s%s%s", url,
                     status, said[0] != '\0' ? ": " : "", said,
                     status == 500 ? ". The server's error log says why" :
                     wants_tls(status, a->body) ? ". This port is for TLS: the URL begins with "
                     "https://" : "");
        }
    }
}

/* ---- the question ------------------------------------------------------------ */

static void take_content_type(struct mst_http *http)
{
    struct mst_http_answer *a = http->answer;
    char *type = NULL, *c;

    curl_easy_getinfo(http->curl, CURLINFO_CONTENT_TYPE, &type);
    if (type == NULL)
        return;
    mst_printable(a->content_type, sizeof a->content_type, type, strcspn(type, "; "));
    for (c = a->content_type; *c != '\0'; c++)
        if (*c >= 'A' && *c <= 'Z')
            *c = (char)(*c - 'A' + 'a');
}

/* libcurl's times are in microseconds since it began. The question is sent after the connection and
 * its handshake (libcurl notes that it was only afterwards, when the answer can be there). */
static struct mst_http_times times_of(CURL *curl, uint64_t begun_ns, uint64_t ended_ns)
{
    curl_off_t sent_us = 0, tls_us = 0, first_us = 0, total_us = 0;

    if (curl_easy_getinfo(curl, CURLINFO_CONNECT_TIME_T, &sent_us) != CURLE_OK ||
        curl_easy_getinfo(curl, CURLINFO_APPCONNECT_TIME_T, &tls_us) != CURLE_OK ||
        curl_easy_getinfo(curl, CURLINFO_STARTTRANSFER_TIME_T, &first_us) != CURLE_OK ||
        curl_easy_getinfo(curl, CURLINFO_TOTAL_TIME_T, &total_us) != CURLE_OK ||
        sent_us <= 0 || first_us < sent_us || total_us < first_us)
        return (struct mst_http_times){ begun_ns, ended_ns };
    if (tls_us > sent_us && tls_us <= first_us)
        sent_us = tls_us;
    return (struct mst_http_times){
        begun_ns + (uint64_t)sent_us * MST_NS_PER_US,
        ended_ns - mst_elapsed((uint64_t)first_us, (uint64_t)total_us) * MST_NS_PER_US,
    };
}

/* One GET of this URL, into *answer. */
static CURLcode get(struct mst_http *http, const char *url, long connect_ms,
                    struct mst_http_answer *answer)
{
    CURLcode code = CURLE_OPERATION_TIMEDOUT;
    long timeout_ms = time_left_ms(http);
    uint64_t begun_ns;

    http->answer = answer;
    http->status = 0;
    http->room = 0;
    http->too_large = false;
    http->reason[0] = '\0';
    set_options(http, url, connect_ms, timeout_ms);
    begun_ns = mst_now_ns();
    if (timeout_ms > 0)   /* 0 would be without limit */
        code = curl_easy_perform(http->curl);
    http->times = times_of(http->curl, begun_ns, mst_now_ns());
    curl_easy_getinfo(http->curl, CURLINFO_RESPONSE_CODE, &http->status);
    return code;
}

void mst_http_answer_free(struct mst_http_answer *answer)
{
    free(answer->body);
    *answer = (struct mst_http_answer){ 0 };
}

int mst_http_get(struct mst_http *http, const char *base, const char *query,
                 struct mst_http_answer *answer, char error[MST_ERROR_MAX])
{
    char *url = build_url(base, query, error), shown[256];
    CURLcode code;
    int result = -1;

    *answer = (struct mst_http_answer){ 0 };
    if (url == NULL)
        return -1;
    mst_printable(shown, sizeof shown, base, strlen(base));
    code = get(http, url, CONNECT_TIMEOUT_MS, answer);
    if (code != CURLE_OK) {
        describe_failure(http, code, shown, error);
    } else if (http->status != 200) {
        describe_status(http, http->status, shown, error);
    } else if (answer->length == 0) {
        snprintf(error, MST_ERROR_MAX, "%s: the answer is empty; is this a status URL?", shown);
    } else {
        take_content_type(http);
        result = 0;
    }
    if (result != 0)
        mst_http_answer_free(answer);
    http->answer = NULL;
    curl_free(url);
    return result;
}

int mst_http_get_page(struct mst_http *http, const char *url, struct mst_http_answer *answer,
                      char error[MST_ERROR_MAX])
{
    CURLcode code;

    *answer = (struct mst_http_answer){ 0 };
    code = get(http, url, http->timeout_ms, answer);
    http->answer = NULL;
    if (code == CURLE_OK)
        return 0;
    mst_fail(error, "%s: expected a page, found none: %s", url, curl_easy_strerror(code));
    mst_http_answer_free(answer);
    return -1;
}

struct mst_http_times mst_http_times(const struct mst_http *http)
{
    return http->times;
}

long mst_http_status(const struct mst_http *http)
{
    return http->status;
}

int mst_http_expect_type(const struct mst_http_answer *answer, const char *base,
                         const char *content_type, char error[MST_ERROR_MAX])
{
    char shown[256];

    if (strcmp(answer->content_type, content_type) == 0)
        return 0;
    mst_printable(shown, sizeof shown, base, strlen(base));
    return mst_fail(error, "%s: expected %s, found %s: this is not mpmstat's status (SetHandler "
                    "mpm-status)", shown, content_type,
                    answer->content_type[0] != '\0' ? answer->content_type : "no content type");
}

bool mst_http_is_loopback(const char *url)
{
    CURLU *parts = curl_url();
    unsigned char address[4];
    char *host = NULL;
    bool loopback = false;

    if (parts != NULL && curl_url_set(parts, CURLUPART_URL, url, 0) == CURLUE_OK &&
        curl_url_get(parts, CURLUPART_HOST, &host, 0) == CURLUE_OK)
        loopback = strcasecmp(host, "localhost") == 0 || strcmp(host, "[::1]") == 0 ||
                   (inet_pton(AF_INET, host, address) == 1 && address[0] == 127);
    curl_free(host);
    curl_url_cleanup(parts);
    return loopback;
}
