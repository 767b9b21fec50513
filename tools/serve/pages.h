/* pages.h - what mpmstat serve answers at each path, without the transport.
 *
 * Each answer looks up which boards there are, and is made from what they have at that moment. It
 * is complete before any of it is sent.
 */
#ifndef MPMSTAT_SERVE_PAGES_H
#define MPMSTAT_SERVE_PAGES_H

#include "render/answer.h"

struct mst_telemetry;

struct mst_page_request {
    const char  *path, *query;     /* as sent, not decoded; query: NULL none */
    const char  *accept;           /* NULL: no such header */
    char *const *targets;          /* as the user named them; none: this machine's */
    size_t       target_count;
    struct mst_telemetry *telemetry;   /* whose figures are among the metrics; NULL: none */
};

struct mst_page {
    unsigned    status;            /* HTTP's */
    const char *type;              /* of the content */
    const char *policy;            /* Content-Security-Policy; NULL: none */
    unsigned    retry_s;           /* Retry-After; 0: none */
    struct mst_answer_text text;   /* the caller frees its bytes */
};

/* Where no credentials are asked for: it says only that this program answers. */
#define MST_PAGE_HEALTH "/healthz"

/* Makes the answer to a GET. False: out of memory. */
bool mst_page_make(struct mst_page *page, const struct mst_page_request *request);

/* Makes an answer that refuses, with a sentence. False: out of memory. */
bool mst_page_refuse(struct mst_page *page, unsigned status, const char *sentence);

/* What /explain was asked for. Returns 0, or -1 with a sentence for a 400. `query` and `accept` as
 * above. */
struct mst_explain_query { bool is_json; uint64_t last_ns; };
int mst_explain_query_parse(struct mst_explain_query *q, const char *query, const char *accept,
                            char error[MST_ERROR_MAX]);

#endif
