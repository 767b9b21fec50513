/* http.h - the HTTP client: one GET, bounded in time and size.
 *
 * Only http and https, no redirects, no proxy, no connection kept: a kept one
 * would occupy a worker of the prefork and worker MPMs between two questions,
 * and so change what is measured.
 */
#ifndef MPMSTAT_HTTP_H
#define MPMSTAT_HTTP_H

#include <signal.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "base/error.h"

/* Bytes of an answer at most. A status of ten thousand workers with long paths has some 6 MB,
 * a journal's page of 10,000 requests with long labels and scripts some 20 MB. */
#define MST_HTTP_BODY_MAX (32u << 20)

/* A client: belongs to one thread at a time. */
struct mst_http;

struct mst_http_answer {
    char   content_type[128];   /* without parameters, lower case; empty: none was sent */
    char  *body;                /* with a NUL behind its end; NULL: it is empty */
    size_t length;
};

/* What a server is asked with. */
struct mst_http_access {
    char *ca_file;   /* the authorities to trust; NULL: $SSL_CERT_FILE's, or the system's */
    char *token;     /* a bearer token; NULL: none */
};

/* NULL: out of memory. timeout_ms bounds each answer as a whole. */
struct mst_http *mst_http_open(long timeout_ms);
void mst_http_close(struct mst_http *http);

/* All further questions are asked so. Borrows *access. NULL: with neither, as at open. 0, or -1:
 * out of memory. */
int mst_http_set_access(struct mst_http *http, const struct mst_http_access *access);

/* A get ends soon after *stop becomes nonzero. NULL: never. */
void mst_http_set_stop(struct mst_http *http, const volatile sig_atomic_t *stop);

/* A get ends at this instant (CLOCK_MONOTONIC) at the latest. UINT64_MAX: when the timeout
 * says, as at open. */
void mst_http_set_deadline(struct mst_http *http, uint64_t deadline_ns);

/* Asks a status URL: gets base?query. 0 where the answer is a 200, complete and not empty; free
 * it. Or -1 with a sentence that says what to do. */
int mst_http_get(struct mst_http *http, const char *base, const char *query,
                 struct mst_http_answer *answer, char error[MST_ERROR_MAX]);

/* Gets any page. 0 where the answer is complete, whatever its status; free it. Or -1 with a
 * sentence. */
int mst_http_get_page(struct mst_http *http, const char *url, struct mst_http_answer *answer,
                      char error[MST_ERROR_MAX]);

void mst_http_answer_free(struct mst_http_answer *answer);

/* When the latest question was sent, and when the first byte of its answer was there
 * (CLOCK_MONOTONIC): no later, and no earlier, than these. 0: it came to neither. */
struct mst_http_times { uint64_t sent_ns, first_ns; };
struct mst_http_times mst_http_times(const struct mst_http *http);

/* The status of the latest answer, whole or not; 0: there was none. */
long mst_http_status(const struct mst_http *http);

/* Whether the answer has the type that was asked for; if not, a sentence. */
int mst_http_expect_type(const struct mst_http_answer *answer, const char *base,
                         const char *content_type, char error[MST_ERROR_MAX]);

/* Whether the URL's host is this machine's loopback, by its name or address. */
bool mst_http_is_loopback(const char *url);

#endif
