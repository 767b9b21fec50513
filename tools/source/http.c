/* http.c - one bounded GET with libcurl: see http.h. */
#include "source/http.h"
#include "source/http_curl.h"
#include "source/http_errors.h"

#include <arpa/inet.h>
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
                 "%s: this is not a URL; expected http://HOST[:PORT]/PATH", shown);
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
    struct mst_http_trouble trouble;
    CURLcode code;
    int result = -1;

    *answer = (struct mst_http_answer){ 0 };
    if (url == NULL)
        return -1;
    mst_printable(shown, sizeof shown, base, strlen(base));
    code = get(http, url, CONNECT_TIMEOUT_MS, answer);
    trouble = (struct mst_http_trouble){
        .curl = http->curl, .url = shown, .reason = http->reason, .answer = answer,
        .timeout_ms = http->timeout_ms, .cut_short = http->cut_short,
        .too_large = http->too_large, .has_token = http->headers != NULL,
    };
    if (code != CURLE_OK) {
        mst_http_say_failure(&trouble, code, error);
    } else if (http->status != 200) {
        mst_http_say_status(&trouble, http->status, error);
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
