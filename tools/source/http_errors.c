/* http_errors.c - why a question got no good answer: see http_errors.h. */
#include "source/http_errors.h"

#include <errno.h>
#include <stdio.h>
#include <string.h>

static void say_timeout(const struct mst_http_trouble *t, char error[MST_ERROR_MAX])
{
    if (t->cut_short)
        mst_fail(error, "%s: no complete answer before the recording's end", t->url);
    else
        mst_fail(error, "%s: the server gave no complete answer within %ld.%ld s. If all workers "
                 "are busy, the question waits for a free one: run mpmstat status on the server "
                 "itself, which reads the board file",
                 t->url, t->timeout_ms / 1000, t->timeout_ms % 1000 / 100);
}

static void say_unconnected(const struct mst_http_trouble *t, char error[MST_ERROR_MAX])
{
    long os_error = 0;

    curl_easy_getinfo(t->curl, CURLINFO_OS_ERRNO, &os_error);
    if (os_error == ECONNREFUSED)
        mst_fail(error, "%s: connection refused: nothing listens there. Is the server running, and "
                 "is this its port?", t->url);
    else
        mst_fail(error, "%s: cannot connect: %s", t->url,
                 os_error != 0 ? strerror((int)os_error) : t->reason);
}

/* libcurl has no codes for what is wrong with a certificate. */
static void say_untrusted(const struct mst_http_trouble *t, const char *reason,
                          char error[MST_ERROR_MAX])
{
    const char *action = "--ca-file, or SSL_CERT_FILE, names a file with the authority to trust";

    if (strstr(reason, "expired") != NULL)
        action = "the server needs a new one, or one of the two clocks is wrong";
    else if (strstr(reason, "subject name") != NULL || strstr(reason, "hostname") != NULL)
        action = "the URL has to name the host as the certificate does";
    mst_fail(error, "%s: the server's certificate is not trusted: %s: %s", t->url, reason, action);
}

void mst_http_say_failure(const struct mst_http_trouble *t, CURLcode code,
                          char error[MST_ERROR_MAX])
{
    const char *reason = t->reason[0] != '\0' ? t->reason : curl_easy_strerror(code);

    switch (code) {
    case CURLE_OPERATION_TIMEDOUT:
        say_timeout(t, error);
        break;
    case CURLE_COULDNT_CONNECT:
        say_unconnected(t, error);
        break;
    case CURLE_COULDNT_RESOLVE_HOST:
        mst_fail(error, "%s: no host of this name is known here: is it spelt right, and does this "
                 "machine's name server know it?", t->url);
        break;
    case CURLE_SSL_CONNECT_ERROR:
        mst_fail(error, "%s: the TLS handshake failed (%s). If this port is for plain HTTP, use a "
                 "URL that begins with http://", t->url, reason);
        break;
    case CURLE_PEER_FAILED_VERIFICATION:
        say_untrusted(t, reason, error);
        break;
    case CURLE_SSL_CACERT_BADFILE:
        mst_fail(error, "%s: expected certificates of authorities (PEM) in the file that --ca-file "
                 "or SSL_CERT_FILE names: %s", t->url, reason);
        break;
    case CURLE_ABORTED_BY_CALLBACK:
        mst_fail(error, "%s: interrupted while waiting for the answer", t->url);
        break;
    case CURLE_WRITE_ERROR:
        mst_fail(error, t->too_large ?
                 "%s: the answer is larger than %u MiB; is this a status URL?" :
                 "%s: out of memory for an answer of at most %u MiB",
                 t->url, MST_HTTP_BODY_MAX >> 20);
        break;
    case CURLE_PARTIAL_FILE:
    case CURLE_GOT_NOTHING:
    case CURLE_RECV_ERROR:
        mst_fail(error, "%s: the connection ended before the answer was complete (%s)", t->url,
                 reason);
        break;
    default:
        mst_fail(error, "%s: no answer: %s", t->url, reason);
    }
}

/* Whether httpd or nginx says that it got plain HTTP on a port for TLS. */
static bool wants_tls(long status, const char *body)
{
    return status == 400 && body != NULL &&
           (strstr(body, "SSL-enabled server port") != NULL || strstr(body, "HTTPS port") != NULL);
}

static void say_other_status(const struct mst_http_trouble *t, long status, char said[160],
                             char error[MST_ERROR_MAX])
{
    char *location = NULL;

    if (status >= 300 && status < 400 &&
        curl_easy_getinfo(t->curl, CURLINFO_REDIRECT_URL, &location) == CURLE_OK &&
        location != NULL) {
        mst_printable(said, 160, location, strlen(location));
        mst_fail(error, "%s: the server redirects (%ld) to %s; name that URL if it is the status",
                 t->url, status, said);
    } else {
        mst_fail(error, "%s: expected 200, the server answered %ld%s%s%s", t->url, status,
                 said[0] != '\0' ? ": " : "", said,
                 status == 500 ? ". The server's error log says why" :
                 wants_tls(status, t->answer->body) ? ". This port expects TLS: use a URL that "
                 "begins with https://" : "");
    }
}

void mst_http_say_status(const struct mst_http_trouble *t, long status, char error[MST_ERROR_MAX])
{
    const struct mst_http_answer *a = t->answer;
    char said[160] = "";

    mst_printable(said, sizeof said, a->body != NULL ? a->body : "", a->length);
    switch (status) {
    case 401:
        mst_fail(error, t->has_token ?
                 "%s: the server refuses the token (401): the token file has to hold the token "
                 "that the server expects" :
                 "%s: the server wants a password (401): put user and password into ~/.netrc, or "
                 "name the file with its token (--token-file)", t->url);
        break;
    case 403:
        if (said[0] == '<')
            said[0] = '\0';   /* a page of httpd's own */
        mst_fail(error, "%s: the endpoint is local only (403): ask it on the server itself, or "
                 "allow this address in its <Location> (Require ip ...)%s%s%s", t->url,
                 t->has_token ? "; or the token is not the one that it expects" : "",
                 said[0] != '\0' ? "; the server says: " : "", said);
        break;
    case 404:
        mst_fail(error, "%s: not found (404): SetHandler mpm-status is missing there; the server's "
                 "configuration needs <Location /mpm-status> SetHandler mpm-status </Location>",
                 t->url);
        break;
    default:
        say_other_status(t, status, said, error);
    }
}
