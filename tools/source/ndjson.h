/* ndjson.h - the journal as a status URL sends it: lines of JSON into records.
 *
 * Pure functions over bytes that come from elsewhere: nothing in them is
 * trusted, every number has bounds. render/journal.c writes what this reads.
 */
#ifndef MPMSTAT_NDJSON_H
#define MPMSTAT_NDJSON_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "read/copy.h"
#include "read/tail.h"
#include "segment/format.h"
#include "render/cursor.h"

#define MST_NDJSON_LINE_MAX 4096u   /* bytes of a line; a real one has some 600 */

enum mst_ndjson_kind {
    MST_NDJSON_OTHER,       /* a record of a newer server that this build knows nothing of */
    MST_NDJSON_REQUEST,
    MST_NDJSON_LIFECYCLE,
    MST_NDJSON_PHP_REQUEST,
    MST_NDJSON_MARK,
    MST_NDJSON_DELIVERY,
    MST_NDJSON_TRAILER,
    MST_NDJSON_KINDS
};

struct mst_ndjson_line {
    enum mst_ndjson_kind kind;
    uint64_t ticket;
    uint64_t wall_ns;                /* since 1970: start of the request, time of the event */
    uint64_t request_wall_ns;        /* of a mark: when its request began */
    union {
        struct mst_request   request;    /* start_ns is 0 (only wall_ns is sent), the label's
                                          * index too (only its name is sent) */
        struct mst_lifecycle lifecycle;  /* time_ns is 0 */
        struct mst_php_request php_request;   /* as of a request */
        struct mst_mark        mark;          /* its two times are 0 */
        struct mst_delivery    delivery;      /* its time is 0 */
    } record;
    char label[MST_NAME_MAX];        /* of a request, Apache's or PHP's */
    char ends[MST_RECORD_ENDS][MST_NAME_MAX];   /* of the same; empty: none, or not known */
    char path[MST_PATH_NAME_MAX];    /* of an Apache's request; empty: none, or not known */
};

/* One whole answer. */
struct mst_ndjson {
    size_t                  count, room;
    struct mst_ndjson_line *lines;      /* records of all kinds, as sent */
    char                    next[MST_CURSOR_MAX];
    uint64_t                lost;       /* MST_UNKNOWN: the server cannot know */
    bool                    more;
};

/* Reads a whole answer: lines, at most `limit` of each kind, then the trailer, which tells
 * that nothing is missing. Zero *out before the first use; its memory is used again. Returns 0,
 * or -1 with a sentence that names the line; then *out has no lines. */
int  mst_ndjson_read(const char *bytes, size_t length, size_t limit, struct mst_ndjson *out,
                     char error[MST_ERROR_MAX]);
void mst_ndjson_free(struct mst_ndjson *out);

#endif
