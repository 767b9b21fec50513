/* php_code.c - PHP's code that a server was sampled in: see php_code.h. */
#include "analysis/php_code.h"

#include <stdlib.h>
#include <string.h>

#include "archive/query.h"
#include "base/array.h"
#include "base/saturate.h"
#include "read/call_place.h"
#include "segment/fields.h"
#include "segment/format.h"

const char *mst_code_kind_name(unsigned kind)
{
    return kind == MST_SPENT_CPU ? "cpu" : mst_wait_names[kind - 1];
}

uint64_t mst_code_waiting_ns(const struct mst_code_times *times)
{
    uint64_t ns = 0;
    unsigned kind;

    for (kind = 1; kind < MST_SPENT_KINDS; kind++)
        ns = mst_add_saturated(ns, times->ns[kind]);
    return ns;
}

uint64_t mst_code_total_ns(const struct mst_code_times *times)
{
    return mst_add_saturated(times->ns[MST_SPENT_CPU], mst_code_waiting_ns(times));
}

/* MST_SPENT_KINDS: a later version's. */
static unsigned kind_of(const char *name)
{
    unsigned kind = 0;

    while (kind < MST_SPENT_KINDS && (name == NULL || strcmp(name, mst_code_kind_name(kind)) != 0))
        kind++;
    return kind;
}

static char *text_of(struct mst_query *q, const char *column)
{
    const char *text = mst_row_text(q, column);

    return strdup(text != NULL ? text : "");
}

static bool read_frames(struct mst_php_code *code, sqlite3 *db, int64_t server_id)
{
    struct mst_query q = mst_query_ask(db,
        "SELECT frame, max(function) AS function, max(file) AS file, max(line) AS line "
        "FROM frames WHERE server_id = :id GROUP BY frame ORDER BY frame", server_id);
    bool has_room = true;

    while (has_room && mst_query_next(&q)) {
        struct mst_php_frame frame = {
            .id = mst_row_number(&q, "frame"),
            .line = mst_row_is_null(&q, "line") ? 0 : mst_row_number(&q, "line"),
            .function = text_of(&q, "function"), .file = text_of(&q, "file"),
        };

        has_room = frame.function != NULL && frame.file != NULL &&
                   mst_grow(&code->frames, &code->frame_room, code->frame_count,
                            sizeof *code->frames);
        if (has_room) {
            code->frames[code->frame_count++] = frame;
        } else {
            free(frame.function);
            free(frame.file);
        }
    }
    return mst_query_done(&q) && has_room;
}

static bool read_stacks(struct mst_php_code *code, sqlite3 *db, int64_t server_id)
{
    struct mst_query q = mst_query_ask(db,
        "SELECT stack, max(caller) AS caller, max(frame) AS frame FROM stacks "
        "WHERE server_id = :id GROUP BY stack ORDER BY stack", server_id);
    bool has_room = true;

    while (has_room && mst_query_next(&q)) {
        has_room = mst_grow(&code->stacks, &code->stack_room, code->stack_count,
                            sizeof *code->stacks);
        if (has_room)
            code->stacks[code->stack_count++] = (struct mst_php_stack){
                .id = mst_row_number(&q, "stack"), .frame = mst_row_number(&q, "frame"),
                .caller = mst_row_is_null(&q, "caller") ? 0 : mst_row_number(&q, "caller"),
            };
    }
    return mst_query_done(&q) && has_room;
}

/* Both structs begin with their id. */
static int by_id(const void *a, const void *b)
{
    uint64_t left, right;

    memcpy(&left, a, sizeof left);
    memcpy(&right, b, sizeof right);
    return (left > right) - (left < right);
}

static void *find(uint64_t id, void *items, size_t count, size_t size)
{
    return count > 0 ? bsearch(&id, items, count, size, by_id) : NULL;
}

static bool read_samples(struct mst_php_code *code, sqlite3 *db, int64_t server_id)
{
    struct mst_query q = mst_query_ask(db,
        "SELECT stack, kind, sum(weight_ns) AS ns, count(*) AS samples FROM php_samples "
        "WHERE server_id = :id GROUP BY stack, kind", server_id);

    while (mst_query_next(&q)) {
        struct mst_php_stack *stack = find(mst_row_number(&q, "stack"), code->stacks,
                                           code->stack_count, sizeof *code->stacks);
        unsigned kind = kind_of(mst_row_text(&q, "kind"));

        if (stack == NULL || kind == MST_SPENT_KINDS)
            continue;
        stack->times.ns[kind] = mst_row_number(&q, "ns");
        stack->times.samples[kind] = mst_row_number(&q, "samples");
    }
    return mst_query_done(&q);
}

bool mst_php_code_read(struct mst_php_code *code, sqlite3 *db, int64_t server_id)
{
    *code = (struct mst_php_code){ .frames = NULL };
    return !mst_query_has_table(db, "php_samples") ||
           (read_frames(code, db, server_id) && read_stacks(code, db, server_id) &&
            read_samples(code, db, server_id));
}

void mst_php_code_free(struct mst_php_code *code)
{
    size_t i;

    for (i = 0; i < code->frame_count; i++) {
        free(code->frames[i].function);
        free(code->frames[i].file);
    }
    free(code->frames);
    free(code->stacks);
    *code = (struct mst_php_code){ .frames = NULL };
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

const struct mst_php_frame *mst_php_code_named(const struct mst_php_code *code,
                                               const struct mst_php_stack *stack)
{
    const struct mst_php_frame *frames[MST_STACK_DEPTH + 1];
    size_t depth = mst_php_code_walk(code, stack, frames, MST_STACK_DEPTH + 1), i;
    struct mst_call_choice choice = { 0 };
    uint64_t chosen;

    for (i = depth; i > 0; i--)
        mst_call_choose(&choice, i - 1, frames[i - 1]->file);
    return mst_call_chosen(&choice, &chosen) ? frames[chosen] : NULL;
}

const struct mst_php_frame *mst_php_code_named_of(const struct mst_php_code *code, uint64_t stack)
{
    return mst_php_code_named(code, find(stack, code->stacks, code->stack_count,
                                         sizeof *code->stacks));
}
