/* status_json.h - a status URL's JSON back into snapshots.
 *
 * The inverse of render/json.c, and like it walks the field table: what a newer
 * server adds is left out, what an older one lacks is unknown. For verbs that
 * compute with a remote server's numbers, or show some of them.
 */
#ifndef MPMSTAT_STATUS_JSON_H
#define MPMSTAT_STATUS_JSON_H

#include <jansson.h>
#include <stddef.h>

#include "read/snapshot.h"

/* What an answer may hold, all boards together. Ten thousand workers have some 100,000
 * values, an Apache and sixteen PHPs at most 17 boards. A value that is two or three bytes
 * of text is some 300 bytes of memory, a label 20,000. */
#define MST_STATUS_VALUES 500000u    /* members and elements, however deep */
#define MST_STATUS_DEPTH  16u
#define MST_STATUS_BOARDS 64u
#define MST_STATUS_LABELS 4096u

/* Boards with their listeners, labels (their phases without histograms), slots and other ends. */
struct mst_status {
    size_t               count;
    struct mst_snapshot *boards;
    json_t              *root;     /* what the strings point into */
};

/* The document, checked to be {"boards": [{...}, ...]}. Its strings hold no NUL
 * and are UTF-8. NULL with a sentence. Free with json_decref. */
json_t *mst_status_load(const char *body, size_t length, char error[MST_ERROR_MAX]);

/* Returns 0, or -1 with a sentence. Free with mst_status_free. */
int  mst_status_parse(struct mst_status *status, const char *body, size_t length,
                      char error[MST_ERROR_MAX]);
void mst_status_free(struct mst_status *status);

/* RFC 3339 with up to nine decimals into nanoseconds since 1970; MST_UNKNOWN. */
uint64_t mst_instant_ns(const char *text);

#endif
