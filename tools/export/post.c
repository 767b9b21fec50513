/* post.c - sends requests of OTLP to a collector with libcurl: see post.h. */
#include "export/post.h"

#include <errno.h>
#include <jansson.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>
#include <unistd.h>

#include "base/saturate.h"
#include "console/diag.h"
#include "console/stop.h"
#include "source/http.h"
#include "source/http_curl.h"

#define TIMEOUT_MS 30000L
#define ANSWER_MAX 65536u        /* bytes of an answer that are read */

const char *const mst_post_signal_names[MST_POST_SIGNALS] = {
    [MST_POST_TRACES] = "traces", [MST_POST_METRICS] = "metrics",
};

struct mst_post {
    CURL              *curl;
    struct curl_slist *headers;
    char              *urls[MST_POST_SIGNALS];
    const char        *url;                       /* of the latest try */
    bool             (*stops)(void *context);
    void              *stops_context;
    curl_off_t         retry_after_s;             /* as the latest answer says; 0: it does not */
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
    const struct mst_post *p = context;

    (void)dl_total, (void)dl, (void)ul_total, (void)ul;
    return p->stops(p->stops_context);
}

static bool is_interrupted(void *context)
{
    (void)context;
    return mst_stop_asked();
}

/* ---- opening ------------------------------------------------------------------------------- */

static int check_url(const char *url, char error[MST_ERROR_MAX])
{
    CURLU *parts = curl_url();
    char *user = NULL, shown[256];
    int result = 0;

    mst_printable(shown, sizeof shown, url, strlen(url));
    if (parts == NULL || curl_url_set(parts, CURLUPART_URL, url, 0) != CURLUE_OK ||
        (strncmp(url, "http://", 7) != 0 && strncmp(url, "https://", 8) != 0))
        result = mst_fail(error, "expected --otlp to be the URL of a collector, "
                          "http://HOST:4318, found \"%s\"", shown);
    else if (curl_url_get(parts, CURLUPART_USER, &user, 0) == CURLUE_OK)
        result = mst_fail(error, "a URL with a user and a password in it would show them to "
                          "everyone; put them into ~/.netrc instead");
    curl_free(user);
    curl_url_cleanup(parts);
    return result;
}

/* The given URL with each signal's path; the path that it has already is not a part of it. */
static int set_urls(struct mst_post *p, const char *given, char error[MST_ERROR_MAX])
{
    size_t length = strlen(given), path = strlen("/v1/traces");
    int i;

    if (check_url(given, error) != 0)
        return -1;
    while (length > 0 && given[length - 1] == '/')
        length--;
    if (length >= path && strncmp(given + length - path, "/v1/traces", path) == 0)
        length -= path;
    for (i = 0; i < MST_POST_SIGNALS; i++)
        if (asprintf(&p->urls[i], "%.*s/v1/%s", (int)length, given,
                     mst_post_signal_names[i]) < 0) {
            p->urls[i] = NULL;
            return mst_fail(error, "out of memory");
        }
    return 0;
}

static int set_options(struct mst_post *p, const char *ca_file, char error[MST_ERROR_MAX])
{
    if (ca_file == NULL)
        ca_file = getenv("SSL_CERT_FILE");
    else if (access(ca_file, R_OK) != 0)
        return mst_fail(error, "the file of authorities %.300s: %s", ca_file, strerror(errno));
    mst_http_set_defaults(p->curl, p->urls[MST_POST_TRACES]);
    curl_easy_setopt(p->curl, CURLOPT_FORBID_REUSE, 0L);
    curl_easy_setopt(p->curl, CURLOPT_NETRC, (long)CURL_NETRC_OPTIONAL);
    curl_easy_setopt(p->curl, CURLOPT_TIMEOUT_MS, TIMEOUT_MS);
    curl_easy_setopt(p->curl, CURLOPT_ERRORBUFFER, p->reason);
    curl_easy_setopt(p->curl, CURLOPT_WRITEFUNCTION, take_answer);
    curl_easy_setopt(p->curl, CURLOPT_WRITEDATA, p);
    curl_easy_setopt(p->curl, CURLOPT_NOPROGRESS, 0L);
    curl_easy_setopt(p->curl, CURLOPT_XFERINFOFUNCTION, check_stop);
    curl_easy_setopt(p->curl, CURLOPT_XFERINFODATA, p);
    curl_easy_setopt(p->curl, CURLOPT_POST, 1L);
    if (ca_file != NULL && *ca_file != '\0')
        curl_easy_setopt(p->curl, CURLOPT_CAINFO, ca_file);
    return 0;
}

/* ---- headers ------------------------------------------------------------------------------- */

/* `where` is what the user wrote it into. */
static int add_header(struct mst_post *p, const char *header, const char *where,
                      char error[MST_ERROR_MAX])
{
    struct curl_slist *grown;

    if (strpbrk(header, "\r\n") != NULL || strchr(header, ':') == NULL || header[0] == ':')
        return mst_fail(error, "expected \"NAME: VALUE\" in %.300s, found a header without a colon "
                        "or with an end of line", where);
    grown = curl_slist_append(p->headers, header);
    if (grown == NULL)
        return mst_fail(error, "out of memory");
    p->headers = grown;
    return 0;
}

/* OTEL_EXPORTER_OTLP_HEADERS has secrets, which a command line would show: "name=value,...". */
static int add_environment(struct mst_post *p, char error[MST_ERROR_MAX])
{
    static const char variable[] = "OTEL_EXPORTER_OTLP_HEADERS";
    const char *given = getenv(variable);
    char *all = given != NULL ? strdup(given) : NULL, *rest = all, *one, *equals;
    int status = given != NULL && all == NULL ? mst_fail(error, "out of memory") : 0;

    while (status == 0 && (one = strsep(&rest, ",")) != NULL) {
        equals = strchr(one, '=');
        if (equals != NULL)
            *equals = ':';
        if (*one != '\0')
            status = add_header(p, one, variable, error);
    }
    free(all);
    return status;
}

/* Empty lines, and those that begin with a #, are none. */
static int add_file(struct mst_post *p, const char *path, char error[MST_ERROR_MAX])
{
    FILE *file = fopen(path, "re");
    char *line = NULL;
    size_t room = 0;
    int status = 0;

    if (file == NULL)
        return mst_fail(error, "the header file %.300s: %s", path, strerror(errno));
    while (status == 0 && getline(&line, &room, file) >= 0) {
        line[strcspn(line, "\r\n")] = '\0';
        if (line[0] != '\0' && line[0] != '#')
            status = add_header(p, line, path, error);
    }
    if (status == 0 && ferror(file))
        status = mst_fail(error, "the header file %.300s cannot be read", path);
    free(line);
    fclose(file);
    return status;
}

static int add_headers(struct mst_post *p, const struct mst_post_settings *s,
                       char error[MST_ERROR_MAX])
{
    size_t i;

    if (add_header(p, "Content-Type: application/json", "", error) != 0 ||
        add_header(p, "Expect:", "", error) != 0 || add_environment(p, error) != 0 ||
        (s->header_file != NULL && add_file(p, s->header_file, error) != 0))
        return -1;
    for (i = 0; i < s->header_count; i++)
        if (add_header(p, s->headers[i], "--header", error) != 0)
            return -1;
    return 0;
}

struct mst_post *mst_post_open(const struct mst_post_settings *s, char error[MST_ERROR_MAX])
{
    struct mst_post *p = calloc(1, sizeof *p);

    if (p == NULL) {
        mst_fail(error, "out of memory");
        return NULL;
    }
    curl_global_init(CURL_GLOBAL_DEFAULT);
    p->stops = is_interrupted;
    if (set_urls(p, s->url, error) == 0 && (p->curl = curl_easy_init()) == NULL)
        mst_fail(error, "out of memory");
    if (p->curl != NULL && set_options(p, s->ca_file, error) == 0 &&
        add_headers(p, s, error) == 0)
        return p;
    mst_post_close(p);
    return NULL;
}

void mst_post_close(struct mst_post *p)
{
    int i;

    if (p == NULL)
        return;
    curl_slist_free_all(p->headers);
    curl_easy_cleanup(p->curl);
    for (i = 0; i < MST_POST_SIGNALS; i++)
        free(p->urls[i]);
    free(p);
}

void mst_post_set_stop(struct mst_post *p, bool (*stops)(void *context), void *context)
{
    p->stops = stops;
    p->stops_context = context;
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
    p->refused = mst_add_saturated(p->refused,
                                   integer_of(json_object_get(partial, "rejectedDataPoints")));
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
        what_to_do = ". Give what it wants with --header \"Authorization: ...\", or in a "
                     "--header-file";
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
        return mst_fail(error, "%s: the answer is not HTTP/1.1. Is this the port for gRPC (4317)? "
                        "Name that for HTTP (4318)", p->url);
    return mst_fail(error, "%s: no answer: %s", p->url,
                    p->reason[0] != '\0' ? p->reason : curl_easy_strerror(code));
}

/* ---- sending ------------------------------------------------------------------------------- */

static bool is_busy(long status)
{
    return status == 429 || status == 502 || status == 503 || status == 504;
}

unsigned mst_post_pause_s(const struct mst_post *p, unsigned tries)
{
    if (p->retry_after_s > 0)
        return p->retry_after_s < (curl_off_t)MST_POST_PAUSE_S ? (unsigned)p->retry_after_s
                                                                : MST_POST_PAUSE_S;
    return tries < 6 ? 1u << (tries - 1) : MST_POST_PAUSE_S;
}

static CURLcode post_once(struct mst_post *p, enum mst_post_signal signal, const char *json,
                          size_t length)
{
    CURLcode code;

    p->length = 0;
    p->answer[0] = p->reason[0] = p->why[0] = '\0';
    p->status = 0;
    p->retry_after_s = 0;
    p->url = p->urls[signal];
    curl_easy_setopt(p->curl, CURLOPT_URL, p->url);
    curl_easy_setopt(p->curl, CURLOPT_HTTPHEADER, p->headers);
    curl_easy_setopt(p->curl, CURLOPT_POSTFIELDS, json);
    curl_easy_setopt(p->curl, CURLOPT_POSTFIELDSIZE_LARGE, (curl_off_t)length);
    code = curl_easy_perform(p->curl);
    curl_easy_getinfo(p->curl, CURLINFO_RESPONSE_CODE, &p->status);
    curl_easy_getinfo(p->curl, CURLINFO_RETRY_AFTER, &p->retry_after_s);
    return code;
}

enum mst_post_result mst_post_try(struct mst_post *p, enum mst_post_signal signal,
                                  const char *json, size_t length, char error[MST_ERROR_MAX])
{
    CURLcode code = post_once(p, signal, json, length);

    if (code != CURLE_OK) {
        tell_failure(p, code, error);
        return MST_POST_LATER;
    }
    if (p->status < 200 || p->status > 299) {
        tell_status(p, error);
        return is_busy(p->status) ? MST_POST_LATER : MST_POST_REFUSED;
    }
    read_partial_success(p);
    return MST_POST_TAKEN;
}

int mst_post_send(void *post, const struct mst_export_batch *batch, char error[MST_ERROR_MAX])
{
    enum mst_post_result result = MST_POST_LATER;
    struct timespec pause = { 0 };
    struct mst_post *p = post;
    unsigned tries = 0;

    do {
        if (tries > 0) {
            pause.tv_sec = mst_post_pause_s(p, tries);
            mst_progress("the collector is busy (%ld): next try in %ld s", p->status,
                         (long)pause.tv_sec);
            nanosleep(&pause, NULL);   /* ^C ends it */
        }
        p->url = p->urls[MST_POST_TRACES];
        if (mst_stop_asked())
            return tell_failure(p, CURLE_ABORTED_BY_CALLBACK, error);
        result = mst_post_try(p, MST_POST_TRACES, batch->json, batch->length, error);
    } while (result == MST_POST_LATER && is_busy(p->status) && ++tries < MST_POST_TRIES);
    return result == MST_POST_TAKEN ? 0 : -1;
}

uint64_t mst_post_refused(const struct mst_post *p, const char **why)
{
    *why = p->why;
    return p->refused;
}

const char *mst_post_url(const struct mst_post *p, enum mst_post_signal signal)
{
    return p->urls[signal];
}
