/* http_errors.h - why a question got no good answer, as a sentence that says what to do. For
 * http.c.
 */
#ifndef MPMSTAT_HTTP_ERRORS_H
#define MPMSTAT_HTTP_ERRORS_H

#include <curl/curl.h>
#include <stdbool.h>

#include "source/http.h"

/* What is known of the question. Borrows all. */
struct mst_http_trouble {
    CURL       *curl;
    const char *url;          /* printable */
    const char *reason;       /* libcurl's own words; empty: it has none */
    const struct mst_http_answer *answer;
    long        timeout_ms;   /* the client's */
    bool        cut_short;    /* by the deadline */
    bool        too_large;    /* the answer is */
    bool        has_token;    /* it was asked with a token */
};

/* libcurl failed with this code. */
void mst_http_say_failure(const struct mst_http_trouble *t, CURLcode code,
                          char error[MST_ERROR_MAX]);

/* The answer is complete, and its status is not 200. */
void mst_http_say_status(const struct mst_http_trouble *t, long status, char error[MST_ERROR_MAX]);

#endif
