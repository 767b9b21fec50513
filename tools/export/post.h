/* post.h - sends requests of OTLP to a collector over HTTP, and tells what it answers. */
#ifndef MPMSTAT_EXPORT_POST_H
#define MPMSTAT_EXPORT_POST_H

#include <stddef.h>
#include <stdint.h>

#include "base/error.h"

#define MST_POST_TRIES 5u        /* of one request; in between 1, 2, 4 and 8 seconds, or what the
                                  * collector says, MST_POST_PAUSE_S at most */
#define MST_POST_PAUSE_S 30u

struct mst_post;

/* `url` is the collector's, to which /v1/traces is added unless it ends so. NULL with a
 * sentence. */
struct mst_post *mst_post_open(const char *url, char error[MST_ERROR_MAX]);
void mst_post_close(struct mst_post *post);

/* A header to send: "Authorization: Bearer ...". */
int mst_post_add_header(struct mst_post *post, const char *header, char error[MST_ERROR_MAX]);

/* Sends one. What a collector that is busy (429, 502, 503, 504) refuses is sent again. 0, or -1
 * with a sentence. It is a mst_export_send. */
int mst_post_send(void *post, const char *json, size_t length, char error[MST_ERROR_MAX]);

/* How many spans the collector has refused so far, though it took the requests, and why: its words
 * about the latest; "" none. */
uint64_t mst_post_refused(const struct mst_post *post, const char **why);

/* Where it sends to. */
const char *mst_post_url(const struct mst_post *post);

#endif
