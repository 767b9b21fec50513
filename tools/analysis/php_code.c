/* php_code.c - the functions of PHP's code that a server was sampled in: see php_code.h. */
#include "analysis/php_code.h"

#include <stdlib.h>
#include <string.h>

#include "archive/query.h"

static const char *text_of(apr_pool_t *pool, struct mst_query *q, const char *column)
{
    const char *text = mst_row_text(q, column);

    return text != NULL ? apr_pstrdup(pool, text) : "";
}

static bool read_frames(struct mst_php_code *code, apr_pool_t *pool, sqlite3 *db, int64_t server_id)
{
    struct mst_query q = mst_query_ask(db,
        "SELECT frame, max(function) AS function, max(file) AS file, max(line) AS line "
        "FROM frames WHERE server_id = :id GROUP BY frame ORDER BY frame", server_id);
    struct mst_php_frame *frame;

    while (mst_query_next(&q)) {
        frame = mst_pool_append(pool, &code->frames, &code->frame_count, sizeof *frame);
        *frame = (struct mst_php_frame){
            .id = mst_row_number(&q, "frame"), .function = text_of(pool, &q, "function"),
            .file = text_of(pool, &q, "file"),
            .line = mst_row_is_null(&q, "line") ? 0 : mst_row_number(&q, "line"),
        };
    }
    return mst_query_done(&q);
}

static bool read_stacks(struct mst_php_code *code, apr_pool_t *pool, sqlite3 *db, int64_t server_id)
{
    struct mst_query q = mst_query_ask(db,
        "SELECT t.stack, max(t.caller) AS caller, max(t.frame) AS frame, "
        "coalesce(ns, 0) AS ns FROM stacks AS t LEFT JOIN (SELECT stack, "
        "sum(weight_ns) AS ns FROM php_samples WHERE server_id = :id AND kind = 'cpu' "
        "GROUP BY stack) AS s ON s.stack = t.stack WHERE t.server_id = :id "
        "GROUP BY t.stack ORDER BY t.stack", server_id);
    struct mst_php_stack *stack;

    while (mst_query_next(&q)) {
        stack = mst_pool_append(pool, &code->stacks, &code->stack_count, sizeof *stack);
        *stack = (struct mst_php_stack){
            .id = mst_row_number(&q, "stack"), .frame = mst_row_number(&q, "frame"),
            .caller = mst_row_is_null(&q, "caller") ? 0 : mst_row_number(&q, "caller"),
            .cpu_ns = mst_row_number(&q, "ns"),
        };
    }
    return mst_query_done(&q);
}

bool mst_php_code_read(struct mst_php_code *code, apr_pool_t *pool, sqlite3 *db, int64_t server_id)
{
    *code = (struct mst_php_code){ .frames = NULL };
    return !mst_query_has_table(db, "php_samples") ||
           (read_frames(code, pool, db, server_id) && read_stacks(code, pool, db, server_id));
}

/* Both structs begin with their id. */
static int by_id(const void *a, const void *b)
{
    uint64_t left, right;

    memcpy(&left, a, sizeof left);
    memcpy(&right, b, sizeof right);
    return (left > right) - (left < right);
}

static const void *find(uint64_t id, const void *items, size_t count, size_t size)
{
    return count > 0 ? bsearch(&id, items, count, size, by_id) : NULL;
}

size_t mst_php_code_walk(const struct mst_php_code *code, const struct mst_php_stack *stack,
                         const struct mst_php_frame **frames, size_t room)
{
    size_t depth = 0, i;

    for (; stack != NULL && depth < room; depth++) {
        frames[depth] = find(stack->frame, code->frames, code->frame_count, sizeof *code->frames);
        if (frames[depth] == NULL)
            break;
        stack = find(stack->caller, code->stacks, code->stack_count, sizeof *code->stacks);
    }
    for (i = 0; i < depth / 2; i++) {
        const struct mst_php_frame *inner = frames[i];

        frames[i] = frames[depth - 1 - i];
        frames[depth - 1 - i] = inner;
    }
    return depth;
}
