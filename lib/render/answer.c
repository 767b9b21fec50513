/* answer.c - one answer of a status page: see answer.h. */
#include "render/answer.h"

#include <errno.h>
#include <malloc.h>
#include <stdlib.h>
#include <string.h>

#include "base/array.h"
#include "base/clock.h"
#include "base/saturate.h"

/* Figures are of one moment, and Accept decides on the format. */
const char *const mst_answer_headers[] = {
    "Cache-Control", "no-store", "Vary", "Accept", "X-Content-Type-Options", "nosniff", NULL,
};

const char mst_answer_only_read[] = "the status page is only read: expected is GET or HEAD";

/* ---- bytes --------------------------------------------------------------------------- */

int mst_answer_write(void *text, const void *bytes, size_t n)
{
    struct mst_answer_text *t = text;

    if (n > t->room - t->used) {
        size_t room = 2 * (t->used + n);
        char *more = realloc(t->bytes, room);

        if (more == NULL)
            return ENOMEM;
        t->bytes = more;
        t->room = room;
    }
    memcpy(t->bytes + t->used, bytes, n);
    t->used += n;
    return 0;
}

#define TEXT_KEPT (512u << 10)   /* bytes of answers; they were made from ten times as much */

void mst_answer_return_memory(const struct mst_answer_text *answer)
{
#ifdef __GLIBC__
    static uint64_t returned_ns, answered;
    uint64_t now = mst_now_ns();

    answered += answer->used;
    if (answered < TEXT_KEPT && mst_elapsed(returned_ns, now) < MST_NS_PER_S)
        return;
    answered = 0;
    returned_ns = now;
    malloc_trim(0);
#else
    (void)answer;
#endif
}

/* ---- boards ---------------------------------------------------------------------------- */

void mst_answer_add(struct mst_status_answer *a, const struct mst_snapshot *snapshot)
{
    struct mst_snapshot *place = mst_append(&a->snapshots, &a->count, sizeof *place);

    if (place != NULL) {
        *place = *snapshot;
    } else {
        struct mst_snapshot lost = *snapshot;

        mst_snapshot_free(&lost);
        a->failed = true;
    }
}

void mst_answer_add_unreadable(struct mst_status_answer *a, const char *board, const char *reason)
{
    struct mst_unreadable *place = mst_append(&a->unreadable, &a->unreadable_count, sizeof *place);

    if (place != NULL)
        *place = (struct mst_unreadable){ .board = board, .reason = reason };
    a->failed |= place == NULL;
}

static bool is_apache(const struct mst_snapshot *board)
{
    return board->producer != NULL && strcmp(board->producer, "apache") == 0;
}

const struct mst_snapshot **mst_answer_order(const struct mst_status_answer *a)
{
    const struct mst_snapshot **boards = calloc(a->count + 1, sizeof *boards);
    size_t i, used = 0;

    if (boards == NULL || a->failed) {
        free(boards);
        return NULL;
    }
    for (i = 0; i < a->count; i++)
        if (is_apache(&a->snapshots[i]))
            boards[used++] = &a->snapshots[i];
    for (i = 0; i < a->count; i++)
        if (!is_apache(&a->snapshots[i]))
            boards[used++] = &a->snapshots[i];
    return boards;
}

int mst_answer_render(const struct mst_status_answer *a, const struct mst_status_query *query,
                      struct mst_answer_text *text, char error[MST_ERROR_MAX])
{
    const struct mst_snapshot **boards = mst_answer_order(a);
    struct mst_shown shown = {
        .boards = boards, .count = a->count, .unreadable = a->unreadable,
        .unreadable_count = a->unreadable_count, .histograms = query->histograms,
        .own = a->own, .own_count = a->own_count,
    };
    struct mst_sink sink;
    int result = -1;

    if (boards != NULL) {
        mst_sink_init(&sink, mst_answer_write, text);
        result = mst_render(&sink, query->format, &shown);
    }
    free(boards);
    return result == 0 ? 0 : mst_fail(error, "out of memory for the status");
}

void mst_answer_free(struct mst_status_answer *a)
{
    while (a->count > 0)
        mst_snapshot_free(&a->snapshots[--a->count]);
    free(a->snapshots);
    free(a->unreadable);
    *a = (struct mst_status_answer){ 0 };
}

/* ---- one board's journal ------------------------------------------------------------------ */

bool mst_query_is_from_now(const struct mst_status_query *query)
{
    return query->since[0] == '\0' || strcmp(query->since, "now") == 0;
}

bool mst_query_names(const struct mst_status_query *query, const char *path)
{
    const char *slash = strrchr(path, '/');

    if (query->board[0] == '/')
        return strcmp(query->board, path) == 0;
    return strcmp(query->board, slash != NULL ? slash + 1 : path) == 0;
}

int mst_query_no_board(const struct mst_status_query *query, char error[MST_ERROR_MAX])
{
    return mst_fail(error, "there is no board %s among those that are shown here; format=json "
                    "names them", query->board);
}
