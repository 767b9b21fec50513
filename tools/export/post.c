/* post.c - sends requests of OTLP to a collector with libcurl: see post.h. */
#include "export/post.h"

#include <errno.h>
#include <jansson.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

#include "base/saturate.h"
#include "console/diag.h"
#include "console/stop.h"
#include "source/http.h"
#include "source/http_curl.h"

#define PATH "/v1/traces"
#define TIMEOUT_MS 30000L
#define ANSWER_MAX 65536u        /* bytes of an answer that are read */

struct mst_post {
    CURL              *curl;
    struct curl_slist *headers;
    char              *url;
    char               reason[CURL_ERROR_SIZE];   /* libcurl's own words */
    long               status;                    /* of the latest answer; 0: none */
    size_t             length;
    char               answer[ANSWER_MAX + 1];    /* the begin of a longer one */
    uint64_t           refused;
    char               why[256];
};

static size_t take_answer(char *bytes, size_t size, size_t count, void *context)
{
    struct mst_post *p = context;
    size_t room = ANSWER_MAX - p->length, n = size * count < room ? size * count : room;

    memcpy(p->answer + p->length, bytes, n);
    p->length += n;
    p->answer[p->length] = '\0';
    return size * count;
}

static int check_stop(void *context, curl_off_t dl_total, curl_off_t dl, curl_off_t ul_total,
                      curl_off_t ul)
{
    (void)context, (void)dl_total, (void)dl, (void)ul_total, (void)ul;
    return mst_stop_asked();
}

/* ---- opening ------------------------------------------------------------------------------- */

/* The URL of the traces, to be freed; NULL with a sentence. */
static char *url_of(const char *given, char error[MST_ERROR_MAX])
{
    CURLU *parts = curl_url();
    char *user = NULL, *url = NULL, shown[256];
    size_t length = strlen(given), path = strlen(PATH);

    mst_printable(shown, sizeof shown, given, length);
    if (parts == NULL || curl_url_set(parts, CURLUPART_URL, given, 0) != CURLUE_OK ||
        (strncmp(given, "http://", 7) != 0 && strncmp(given, "https://", 8) != 0)) {
        mst_fail(error, "expected --otlp to be the URL of a collector, http://HOST:4318, found "
                 "\"%s\"", shown);
    } else if (curl_url_get(parts, CURLUPART_USER, &user, 0) == CURLUE_OK) {
        mst_fail(error, "a URL with a user and a password in it would show them to everyone; put "
                 "them into ~/.netrc instead");
    } else {
        while (length > 0 && given[length - 1] == '/')
            length--;
        if (length >= path && strncmp(given + length - path, PATH, path) == 0)
            length -= path;
        if (asprintf(&url, "%.*s" PATH, (int)length, given) < 0) {
            url = NULL;
            mst_fail(error, "out of memory");
        }
    }
    curl_free(user);
    curl_url_cleanup(parts);
    return url;
}

static void set_options(struct mst_post *p)
{
    const char *ca_file = getenv("SSL_CERT_FILE");

    mst_http_set_defaults(p->curl, p->url);
    curl_easy_setopt(p->curl, CURLOPT_FORBID_REUSE, 0L);
    curl_easy_setopt(p->curl, CURLOPT_NETRC, (long)CURL_NETRC_OPTIONAL);
    curl_easy_setopt(p->curl, CURLOPT_TIMEOUT_MS, TIMEOUT_MS);
    curl_easy_setopt(p->curl, CURLOPT_ERRORBUFFER, p->reason);
    curl_easy_setopt(p->curl, CURLOPT_WRITEFUNCTION, take_answer);
    curl_easy_setopt(p->curl, CURLOPT_WRITEDATA, p);
    curl_easy_setopt(p->curl, CURLOPT_NOPROGRESS, 0L);
    curl_easy_setopt(p->curl, CURLOPT_XFERINFOFUNCTION, check_stop);
    curl_easy_setopt(p->curl, CURLOPT_POST, 1L);
    if (ca_file != NULL && *ca_file != '\0')
        curl_easy_setopt(p->curl, CURLOPT_CAINFO, ca_file);
}

int mst_post_add_header(struct mst_post *p, const char *header, char error[MST_ERROR_MAX])
{
    struct curl_slist *grown;

    if (strpbrk(header, "\r\n") != NULL || strchr(header, ':') == NULL || header[0] == ':')
        return mst_fail(error, "expected --header to be \"NAME: VALUE\", found one without a colon "
                        "or with an end of line");
    grown = curl_slist_append(p->headers, header);
    if (grown == NULL)
        return mst_fail(error, "out of memory");
    p->headers = grown;
    return 0;
}

struct mst_post *mst_post_open(const char *url, char error[MST_ERROR_MAX])
{
    struct mst_post *p = calloc(1, sizeof *p);

    if (p == NULL) {
        mst_fail(error, "out of memory");
        return NULL;
    }
    curl_global_init(CURL_GLOBAL_DEFAULT);
    p->url = url_of(url, error);
    p->curl = p->url != NULL ? curl_easy_init() : NULL;
    if (p->curl == NULL || mst_post_add_header(p, "Content-Type: application/json", error) != 0 ||
        mst_post_add_header(p, "Expect:", error) != 0) {
        mst_post_close(p);
        return NULL;
    }
    set_options(p);
    return p;
}

void mst_post_close(struct mst_post *p)
{
    if (p == NULL)
        return;
    curl_slist_free_all(p->headers);
    curl_easy_cleanup(p->curl);
    free(p->url);
    free(p);
}

/* ---- what the collector answers ------------------------------------------------------------ */

/* A number, or as OTLP's JSON has 64-bit integers, a string. */
static uint64_t integer_of(const json_t *value)
{
    if (json_is_string(value))
        return strtoull(json_string_value(value), NULL, 10);
    return json_is_integer(value) && json_integer_value(value) > 0
        ? (uint64_t)json_integer_value(value) : 0;
}

static void keep_words(struct mst_post *p, const json_t *message)
{
    const char *text = json_string_value(message);

    if (text != NULL)
        mst_printable(p->why, sizeof p->why, text, strlen(text));
}

/* Counts what it refused of a request that it took. */
static void read_partial_success(struct mst_post *p)
{
    json_t *answer = json_loadb(p->answer, p->length, 0, NULL);
    const json_t *partial = json_object_get(answer, "partialSuccess");

    p->refused = mst_add_saturated(p->refused,
                                   integer_of(json_object_get(partial, "rejectedSpans")));
    keep_words(p, json_object_get(partial, "errorMessage"));
    json_decref(answer);
}

/* Its own words, from a Status in JSON or plain text. */
static void read_words(struct mst_post *p)
{
    json_t *answer = json_loadb(p->answer, p->length, 0, NULL);

    mst_printable(p->why, sizeof p->why, p->answer, p->length);
    keep_words(p, json_object_get(answer, "message"));
    json_decref(answer);
}

static int tell_status(struct mst_post *p, char error[MST_ERROR_MAX])
{
    const char *what_to_do = ". Its log says why";

    read_words(p);
    switch (p->status) {
    case 401: case 403:
        what_to_do = ". Give what it wants with --header \"Authorization: ...\"";
        break;
    case 404: case 405:
        what_to_do = ". Is this a collector, and does it receive OTLP over HTTP there?";
        break;
    case 413:
        what_to_do = ". Raise its limit of a request's size (max_request_body_size) above 2 MiB";
        break;
    case 415:
        what_to_do = ". It has to take OTLP in JSON (application/json)";
        break;
    case 429: case 502: case 503: case 504:
        what_to_do = ". It stayed so through all tries: export later, or less";
        break;
    default:
        break;
    }
    return mst_fail(error, "%s: expected 200, the collector answered %ld%s%s%s", p->url, p->status,
                    p->why[0] != '\0' ? ": " : "", p->why, what_to_do);
}

static int tell_failure(struct mst_post *p, CURLcode code, char error[MST_ERROR_MAX])
{
    long os_error = 0;

    curl_easy_getinfo(p->curl, CURLINFO_OS_ERRNO, &os_error);
    if (code == CURLE_ABORTED_BY_CALLBACK)
        return mst_fail(error, "%s: interrupted; what was sent before stays there", p->url);
    if (code == CURLE_COULDNT_CONNECT && os_error == ECONNREFUSED)
        return mst_fail(error, "%s: connection refused: nothing listens there. Is the collector "
                        "running, and is this its port for HTTP (4318)?", p->url);
    if (code == CURLE_UNSUPPORTED_PROTOCOL || code == CURLE_WEIRD_SERVER_REPLY)
        return mst_fail(error, "%s: the answer is no HTTP/1.1. Is this the port for gRPC (4317)? "
                        "Name that for HTTP (4318)", p->url);
    return mst_fail(error, "%s: no answer: %s", p->url,
                    p->reason[0] != '\0' ? p->reason : curl_easy_strerror(code));
}

/* ---- sending ------------------------------------------------------------------------------- */

static bool is_busy(long status)
{
    return status == 429 || status == 502 || status == 503 || status == 504;
}

/* How long to wait before the next try; ^C ends the wait. */
static void pause_before(struct mst_post *p, unsigned tries)
{
    struct timespec pause = { 1 << (tries - 1), 0 };
    curl_off_t said = 0;

    if (curl_easy_getinfo(p->curl, CURLINFO_RETRY_AFTER, &said) == CURLE_OK && said > 0)
        pause.tv_sec = said < (curl_off_t)MST_POST_PAUSE_S ? (time_t)said : MST_POST_PAUSE_S;
    mst_progress("the collector is busy (%ld): next try in %ld s", p->status, (long)pause.tv_sec);
    nanosleep(&pause, NULL);
}

static CURLcode post_once(struct mst_post *p, const char *json, size_t length)
{
    CURLcode code;

    p->length = 0;
    p->answer[0] = p->reason[0] = p->why[0] = '\0';
    p->status = 0;
    curl_easy_setopt(p->curl, CURLOPT_HTTPHEADER, p->headers);
    curl_easy_setopt(p->curl, CURLOPT_POSTFIELDS, json);
    curl_easy_setopt(p->curl, CURLOPT_POSTFIELDSIZE_LARGE, (curl_off_t)length);
    code = curl_easy_perform(p->curl);
    curl_easy_getinfo(p->curl, CURLINFO_RESPONSE_CODE, &p->status);
    return code;
}

int mst_post_send(void *post, const char *json, size_t length, char error[MST_ERROR_MAX])
{
    struct mst_post *p = post;
    unsigned tries = 0;
    CURLcode code;

    do {
        if (tries > 0)
            pause_before(p, tries);
        if (mst_stop_asked())
            return tell_failure(p, CURLE_ABORTED_BY_CALLBACK, error);
        code = post_once(p, json, length);
    } while (code == CURLE_OK && is_busy(p->status) && ++tries < MST_POST_TRIES);
    if (code != CURLE_OK)
        return tell_failure(p, code, error);
    if (p->status < 200 || p->status > 299)
        return tell_status(p, error);
    read_partial_success(p);
    return 0;
}

uint64_t mst_post_refused(const struct mst_post *p, const char **why)
{
    *why = p->why;
    return p->refused;
}

const char *mst_post_url(const struct mst_post *p)
{
    return p->url;
}
