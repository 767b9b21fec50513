/* journal_client.c - see journal_client.h. */
#include <jansson.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/clock.h"
#include "boards.h"
#include "harness.h"
#include "journal_client.h"
#include "read/tail.h"
#include "render/journal.h"
#include "segment/liveness.h"
#include "write/journal.h"
#include "write/worker.h"

const struct client newcomer = { .cursor = "start" };

struct mst_request request_at(uint64_t complete_ns)
{
    struct mst_request q = {
        .start_ns = complete_ns - 4 * MST_NS_PER_MS,
        .queue_ns = MST_NS_PER_MS, .read_ns = MST_NS_PER_MS, .handle_ns = MST_NS_PER_MS,
        .send_ns = MST_NS_PER_MS,
    };

    return q;
}

void write_requests(struct mst_board *b, unsigned n, uint64_t complete_ns)
{
    struct mst_request q = request_at(complete_ns);

    while (n-- > 0)
        mst_journal_request(b, &q);
}

static void take_trailer(struct client *c, const json_t *line)
{
    const json_t *lost = json_object_get(line, "lost");

    snprintf(c->cursor, sizeof c->cursor, "%s", json_string_value(json_object_get(line, "next")));
    ck_assert(json_is_integer(lost) || json_is_null(lost));
    c->forgot = json_is_null(lost);
    c->lost += (uint64_t)json_integer_value(lost);
    ck_assert(json_is_boolean(json_object_get(line, "more")));
    c->more = json_is_true(json_object_get(line, "more"));
    ck_assert_uint_eq(json_object_size(line), 3);
}

static void take_line(struct client *c, const json_t *line)
{
    c->lines++;
    if (json_object_get(line, "event") != NULL)
        return;
    ck_assert_uint_lt(c->given, sizeof c->tickets / sizeof c->tickets[0]);
    c->tickets[c->given++] = (uint64_t)json_integer_value(json_object_get(line, "ticket"));
}

void take_answer(struct client *c, char *text)
{
    char *line;
    bool ended = false;

    c->lines = 0;
    while ((line = strsep(&text, "\n")) != NULL && *line != '\0') {
        json_error_t problem;
        json_t *json = json_loads(line, JSON_REJECT_DUPLICATES, &problem);

        ck_assert_msg(json != NULL, "%s in %s", problem.text, line);
        ck_assert_msg(!ended, "a line after the trailer: %s", line);
        ended = json_object_get(json, "next") != NULL;
        (ended ? take_trailer : take_line)(c, json);
        json_decref(json);
    }
    ck_assert(ended);
}

void ask_for(struct client *c, const struct mst_board *b, size_t limit, bool lifecycle_only)
{
    char error[MST_ERROR_MAX] = "";
    struct mst_reader reader;
    struct test_kept kept;

    ck_assert_msg(mst_reader_open(&reader, b->path, error) == 0, "%s", error);
    test_kept_begin(&kept);
    ck_assert_msg(mst_render_journal(&kept.sink, &reader, c->cursor, limit, lifecycle_only, error)
                  == MST_JOURNAL_OK, "%s", error);
    ck_assert_int_eq(test_kept_end(&kept), 0);
    mst_reader_close(&reader);
    take_answer(c, kept.text);
    free(kept.text);
}

void ask(struct client *c, const struct mst_board *b, size_t limit)
{
    ask_for(c, b, limit, false);
}

void expect_all(const struct client *c, const struct mst_board *b)
{
    size_t i;

    for (i = 1; i < c->given; i++)
        ck_assert_uint_gt(c->tickets[i], c->tickets[i - 1]);
    ck_assert_uint_eq(c->given + c->lost, b->header->requests_written);
}

void begin(struct mst_board *b, uint32_t records)
{
    struct mst_layout layout = test_layout();

    layout.requests = records;
    test_board(b, &layout);
    ck_assert_int_ge(mst_header_running(b->header), 0);
}
