/* answer.h - one answer of a status page: the boards that it shows, and its bytes. For the module's
 * handler and mpmstat serve, which differ in how they find boards and how they send bytes.
 *
 * An answer is made whole before any of it is sent: what it is made from is ten times as large or
 * more, and is freed before a slow reader takes its time.
 */
#ifndef MPMSTAT_ANSWER_H
#define MPMSTAT_ANSWER_H

#include "base/error.h"
#include "render/negotiate.h"
#include "render/render.h"

/* Headers of every answer, those that refuse too: name, value, name, value, ..., NULL. */
extern const char *const mst_answer_headers[];

/* The sentence for other methods than GET and HEAD. */
extern const char mst_answer_only_read[];

/* ---- bytes --------------------------------------------------------------------------- */

/* Begins as { 0 }; the owner frees `bytes`. */
struct mst_answer_text {
    char  *bytes;
    size_t used, room;
};

/* A sink's writer (sink.h) that appends; the context is a struct mst_answer_text. */
int mst_answer_write(void *text, const void *bytes, size_t n);

/* Gives freed memory back to the system, which malloc would keep for each of its arenas. Other
 * free memory is given back with it, which the process's other work soon needs again: so not after
 * each of many answers. Precondition: no other thread is in this function. */
void mst_answer_return_memory(const struct mst_answer_text *answer);

/* ---- boards ---------------------------------------------------------------------------- */

/* Begins as { 0 }. */
struct mst_status_answer {
    size_t                 count, unreadable_count;
    struct mst_snapshot   *snapshots;
    struct mst_unreadable *unreadable;
    bool                   failed;       /* out of memory: something is missing */
    const struct mst_own_metric *own;    /* borrowed */
    size_t                 own_count;
};

/* Adds a snapshot, and owns it from then on. */
void mst_answer_add(struct mst_status_answer *answer, const struct mst_snapshot *snapshot);

/* Adds a board that cannot be shown; both strings are borrowed until the answer is freed. */
void mst_answer_add_unreadable(struct mst_status_answer *answer, const char *board,
                               const char *reason);

/* Puts the boards into the order in which they are shown, Apache's first. NULL: out of memory. Free
 * it; the snapshots remain the answer's. */
const struct mst_snapshot **mst_answer_order(const struct mst_status_answer *answer);

/* Renders them as the query wants, Apache's boards first. Returns 0, or -1 with a sentence where
 * memory ran out. */
int mst_answer_render(const struct mst_status_answer *answer, const struct mst_status_query *query,
                      struct mst_answer_text *text, char error[MST_ERROR_MAX]);
void mst_answer_free(struct mst_status_answer *answer);

/* ---- one board's journal ------------------------------------------------------------------ */

/* Whether the query asks for no records, only for the cursor. */
bool mst_query_is_from_now(const struct mst_status_query *query);

/* Whether the query names the board of this path. */
bool mst_query_names(const struct mst_status_query *query, const char *path);

/* The sentence for a query whose board is not among those shown. Returns -1. */
int mst_query_no_board(const struct mst_status_query *query, char error[MST_ERROR_MAX]);

#endif
